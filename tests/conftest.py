"""What all tests share: seeds, examples and drawings that are the same every time, and no slower than they need be."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# a busy machine draws slowly, and that is no finding
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_collection_finish() -> None:
    """Thousands of tests that were collected are looked through for garbage no more."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_fresh_seed() -> Iterator[None]:
    """Where a test names no seed, it gets the same one every time: tests end as they ended before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.auditing.seeds.fresh_seed", lambda: 0)
        yield


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages with frames for drawings: for tests of their words. Drawings take most of a page's time."""

    def frame(_figure: Any, file: io.StringIO, **_options: Any) -> None:
        file.write('<svg viewBox="0 0 1 1"></svg>')

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", frame)
