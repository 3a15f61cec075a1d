"""What is the cheapest point of a large polyhedron, approximately? A linear programme in floats, by HiGHS.

With many unknowns, the exact method of `dpaudit.program.symbolic.linear` is too slow. The solution found here is only
a suggestion: callers prove its worth in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.program.symbolic.tree import NoiseDraw, draw_name


@dataclass(frozen=True, slots=True)
class Shifts:
    """The unknown shifts of some draws."""

    columns: Mapping[str, Mapping[int, float]]  # for each draw, the unknowns that sum up to its shift, with their signs
    costs: Mapping[int, float]  # of each of these unknowns


class FloatLinearProgram:
    """Numbered unknowns, and the conditions on them."""

    def __init__(self) -> None:
        self._bounds: list[tuple[float | None, None]] = []
        self._rows: dict[bool, list[tuple[Mapping[int, float], float]]] = {True: [], False: []}

    def unknown(self, *, free: bool = False) -> int:
        """Return a new unknown, at least 0 unless it is free."""
        self._bounds.append((None if free else 0.0, None))
        return len(self._bounds) - 1

    def shifts(self, draws: Sequence[NoiseDraw], unit: Fraction) -> Shifts:
        """Return new unknowns for the shifts of draws, whose costs are given times ``unit``."""
        columns: dict[str, dict[int, float]] = {}
        costs: dict[int, float] = {}
        for number, draw in enumerate(draws):
            columns[draw_name(number)] = {self.unknown(): float(sign) for sign in draw.law.shifts or ()}
            costs.update((column, float(unit / draw.scale)) for column in columns[draw_name(number)])
        return Shifts(columns, costs)

    def require(self, row: Mapping[int, float], side: float, *, exactly: bool) -> None:
        """Require Σ row·unknown ≥ side."""
        self._rows[exactly].append((row, side))

    def minimise(self, unknown: int) -> list[float] | None:
        """Return the solution that minimises one unknown, or None if HiGHS finds none."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        def matrix(exactly: bool) -> tuple[Any, list[float] | None]:
            rows = self._rows[exactly]
            if not rows:
                return None, None
            entries = [(r, column, value) for r, (row, _) in enumerate(rows) for column, value in row.items()]
            at = [e[0] for e in entries], [e[1] for e in entries]
            sign = 1.0 if exactly else -1.0
            shape = (len(rows), len(self._bounds))
            return coo_array(([sign * e[2] for e in entries], at), shape=shape).tocsr(), [sign * s for _, s in rows]

        costs = [0.0] * len(self._bounds)
        costs[unknown] = 1.0
        (upper, sides), (equal, values) = matrix(False), matrix(True)
        found = linprog(costs, upper, sides, equal, values, self._bounds, method="highs")
        return None if found.status != 0 or found.x is None else [float(value) for value in found.x]
