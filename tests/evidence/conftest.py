"""What the tests of this folder compute over and over is computed once."""

from __future__ import annotations

import copy
import hashlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[bytes, Any] = {}

    def remembering(*given: Any, **named: Any) -> Any:
        key = hashlib.sha256(repr((given, sorted(named.items()))).encode()).digest()
        if key not in known:
            found = function(*given, **named)
            known[key] = list(found) if isinstance(found, Iterator) else found
        return copy.copy(known[key])

    return remembering


@pytest.fixture(scope="session")
def remembering() -> Iterator[None]:
    """Checks of records that differ in one place do not integrate, search and invert the same again."""
    names = ("review.check.sampled", "review.check.certain", "review.check.sequential", "evidence.evidence")
    sampled, certain, sequential, evidence = (importlib.import_module(f"dpaudit.{name}") for name in names)
    wanted = {
        sampled: ("foresee", "second_opinion", "lower_bound"),
        certain: ("event_probabilities", "leaves_of", "check_certificate"),
        sequential: ("log_wealth", "sequential_bound", "foresee_sequential"),
        evidence: ("content_id",),
    }
    patch = pytest.MonkeyPatch()
    for module, names in wanted.items():
        for name in names:
            patch.setattr(module, name, _remembered(getattr(module, name)))
    yield
    patch.undo()
