"""What the tests of this folder compute over and over is computed once."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def remembering(*given: Any, **named: Any) -> Any:
        key = repr((given, sorted(named.items())))
        if key not in known:
            found = function(*given, **named)
            known[key] = list(found) if isinstance(found, Iterator) else found
        return copy.copy(known[key])

    return remembering


@pytest.fixture(scope="session")
def remembering() -> Iterator[None]:
    """Checks of records that differ in one place do not integrate, search and invert the same again."""
    names = ("sampled", "certain", "sequential")
    sampled, certain, sequential = (importlib.import_module(f"dpaudit.review.check.{name}") for name in names)
    wanted = {
        sampled: ("foresee", "second_opinion", "lower_bound"),
        certain: ("event_probabilities", "leaves_of", "check_certificate"),
        sequential: ("log_wealth", "sequential_bound", "foresee_sequential"),
    }
    patch = pytest.MonkeyPatch()
    for module, names in wanted.items():
        for name in names:
            patch.setattr(module, name, _remembered(getattr(module, name)))
    yield
    patch.undo()
