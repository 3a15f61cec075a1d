"""Does a program agree with its tree? Runs at random answers and draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpaudit.program.agreement import Agreement, ComparedRuns, compare_at_random
from dpaudit.program.symbolic.tree import ProgramTree


def agree(
    tree: ProgramTree, function: Callable[..., Any], parameters: Mapping[str, Any], length: int, **options: Any
) -> Agreement:
    """Compare runs with a tree; the options are those of `compare_at_random`."""
    compared = ComparedRuns()
    compare_at_random(tree, function, parameters, length, compared, **options)
    return compared.agreement()
