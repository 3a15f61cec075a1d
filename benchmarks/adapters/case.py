"""What is audited of a library: mechanisms with their pairs, and what is known of those that break their claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """One audit of a library.

    Attributes:
        name: of the case, unique within its library.
        make: returns the mechanism, or the library's own object; called only when the case is run.
        pairs: neighbouring datasets, where the mechanism names none.
        runs: executions, fixed.
        relation: in place of the mechanism's own.
        note: for a case that is violated: the cause in the library's source, and whether the library documents it.
        documented: whether the library's documentation says so; empty where nothing is wrong.
        grid: for a case whose low-order bits leak: how its noise is added.
        options: further arguments of the audit.
    """

    name: str
    make: Callable[[], Any]
    pairs: Sequence[tuple[Any, Any]] | None = None
    runs: int = 20_000
    relation: str | None = None
    note: str = ""
    documented: str = ""
    grid: str = ""
    options: dict[str, Any] = field(default_factory=dict)
