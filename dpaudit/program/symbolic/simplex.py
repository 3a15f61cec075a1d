"""What is the cheapest point of a polyhedron, exactly?

Minimise c·x over x ≥ 0 and A·x ≥ b, in fractions, where no cost is negative. With such costs the slack basis is dual
feasible, so the dual simplex method (Lemke 1954) needs no first phase; choosing the smallest index among equals
(Bland 1977), it terminates. The right-hand side b is linear in *parameters*: a tableau that is optimal for some
parameters stays dual feasible for all, and the next optimum is only a few steps away.

Most coefficients are 0, 1 or −1, so rows are sparse, and a number stays a Python integer as long as possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpaudit.program.symbolic.budget import spend

Rational = int | Fraction
Row = dict[int, Rational]


def whole_where_possible(number: Rational) -> Rational:
    """Return a fraction that is a whole number as an int, which is faster; anything else unchanged."""
    return number.numerator if type(number) is Fraction and number.denominator == 1 else number


class LinearProgram:
    """A linear programme that is solved repeatedly for different right-hand sides.

    Columns 0, 1, … are the unknowns x; the next ones are the slacks A·x − b of the rows, in order.
    """

    def __init__(self, costs: Sequence[Rational], parameters: int) -> None:
        """Start a programme without rows."""
        self._unknowns = len(costs)
        self._parameters = parameters
        self._costs: Row = {column: cost for column, cost in enumerate(costs) if cost}
        self._rows: dict[int, Row] = {}  # for each basic column: its coefficients over the other columns …
        self._sides: dict[int, list[Rational]] = {}  # … and its constant, a coefficient for each parameter

    def require_at_least(self, row: Mapping[int, Rational], side: Sequence[Rational]) -> None:
        """Add the row Σ row·x ≥ Σ side·parameter; only before the first `minimise`."""
        slack = self._unknowns + len(self._rows)
        self._rows[slack] = {column: number for column, number in row.items() if number}
        self._sides[slack] = [-number for number in side]

    def minimise(self, parameters: Sequence[Rational]) -> list[Rational] | None:
        """Return a cheapest x at these parameters, or None if no x satisfies all rows."""
        active = [(position, value) for position, value in enumerate(parameters) if value]
        while True:
            spend(1 + len(self._rows) // 4)
            leaving = min((b for b in self._rows if self._value(b, active) < 0), default=None)
            if leaving is None:
                break
            entering = self._entering(self._rows[leaving])
            if entering is None:
                return None
            self._pivot(leaving, entering)
        values = {column: self._value(column, active) for column in self._rows if column < self._unknowns}
        return [values.get(column, 0) for column in range(self._unknowns)]

    def _value(self, basic: int, active: Sequence[tuple[int, Rational]]) -> Rational:
        side = self._sides[basic]
        return sum(side[position] * value for position, value in active)

    def _entering(self, row: Row) -> int | None:
        """Return the column with the smallest cost ratio (the dual ratio test)."""
        best, least = None, (Fraction(0), 0)
        for column, number in row.items():
            if number > 0:
                ratio = Fraction(self._costs.get(column, 0)) / number, column
                if best is None or ratio < least:
                    best, least = column, ratio
        return best

    def _pivot(self, leaving: int, entering: int) -> None:
        row, side = self._rows.pop(leaving), self._sides.pop(leaving)
        pivot = row.pop(entering)
        inverse: Rational = pivot if pivot in (1, -1) else 1 / Fraction(pivot)
        # leaving = pivot·entering + rest, solved for entering
        row = {column: whole_where_possible(-inverse * number) for column, number in row.items()}
        row[leaving] = whole_where_possible(inverse)
        side = [whole_where_possible(-inverse * number) for number in side]
        for basic, other in self._rows.items():
            factor = other.pop(entering, 0)
            if factor:
                _add(other, factor, row)
                self._sides[basic] = [
                    whole_where_possible(own + factor * number) if number else own
                    for own, number in zip(self._sides[basic], side, strict=True)
                ]
        factor = self._costs.pop(entering, 0)
        if factor:
            _add(self._costs, factor, row)
        self._rows[entering], self._sides[entering] = row, side


def _add(target: Row, factor: Rational, row: Row) -> None:
    spend(1 + len(row) // 2)
    for column, number in row.items():
        total = target.get(column, 0) + factor * number
        if total:
            target[column] = whole_where_possible(total)
        else:
            del target[column]
