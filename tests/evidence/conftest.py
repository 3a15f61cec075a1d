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
def remembered() -> list[tuple[Any, str, Callable[..., Any]]]:
    """The functions that remember, one memory of each for all tests."""
    wanted = {
        "review.check.sampled": (
            "foresee",
            "foresee_sequential",
            "log_wealth",
            "lower_bound",
            "second_opinion",
            "sequential_bound",
        ),
        "review.check.certain": ("event_probabilities",),
        "verify.proofs.answers": ("leaves_of",),
        "verify.proofs.kind": ("check_certificate",),
        "review.check.against": ("check_certificate",),
        "review.check.listed": ("others_say",),
        "evidence.evidence": ("content_id",),
    }
    modules = {name: importlib.import_module(f"dpaudit.{name}") for name in wanted}
    return [
        (modules[home], name, _remembered(getattr(modules[home], name))) for home, own in wanted.items() for name in own
    ]


@pytest.fixture
def remembering(remembered: list[tuple[Any, str, Callable[..., Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks of records that differ in one place do not integrate, search and invert the same again."""
    for module, name, function in remembered:
        monkeypatch.setattr(module, name, function)
