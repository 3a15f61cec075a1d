"""The same promises as tests among others, by the plugin for pytest that comes with dpaudit: `python -m pytest`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import release

PAIRS = [([12, 250, 40], [12, 40])]


@pytest.mark.parametrize("function", [release.visitors, release.total])
def test_a_release_keeps_its_claim(dp_audit, function):
    """Green as long as the noise is what the claim needs."""
    dp_audit(function, claim="epsilon=1", relation="add-remove", pairs=PAIRS)


def test_too_little_noise_would_be_seen(dp_audit):
    """Twice the epsilon is half the noise: a test that could not see that would be worth nothing."""
    dp_audit(
        release.total,
        parameters={"epsilon": 2.0},
        claim="epsilon=1",
        relation="add-remove",
        pairs=PAIRS,
        expect="violated",
    )
