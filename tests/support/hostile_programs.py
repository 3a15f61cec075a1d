"""How are hostile programs listed, and what is the result of trying to prove one?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dpaudit as dp

NAMED = {"ids": lambda each: getattr(each, "__name__", None) or getattr(getattr(each, "step", None), "__name__", None)}


def listed(programs: list[Any]) -> Callable[[Any], Any]:
    """Return a decorator that appends a program to a list."""

    def note(program: Any) -> Any:
        programs.append(program)
        return program

    return note


def verdict_of(program: Any, **options: Any) -> Any:
    """Return the verdict of a proof, or None if the program is refused."""
    try:
        return dp.prove(program, claim="epsilon=20", runs=0, seed=0, **options)
    except dp.UsageError:
        return None


def assert_not_proved(program: Any) -> None:
    """Assert that a program is refused, or not proved with its open end in the reason."""
    found = verdict_of(program, length=2, relation="queries")
    if found is not None:
        assert found.verdict is not dp.Verdict.PROVED
        assert found.upper is None and found.exact is None and found.proof.certificate is None
        assert found.proof.comparison.open_ends and found.proof.comparison.open_ends[0] in found.reason
