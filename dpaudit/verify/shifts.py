"""For a given difference between the data, what is the cheapest shift of the draws that keeps a class?

A class is a polyhedron of the draws: rows ≥ 0, and equalities = 0 for released numbers. If the data differ by δ,
shifting all draws by d keeps the class if A·d + B·δ ≥ 0 and C·d + D·δ = 0: constants and the data themselves cancel.
The density ratio of the shifted draws is at most exp(Σ |d|/scale), provided that each draw is shifted in a direction
that its law allows (`dpaudit.program.noise`), and discrete draws by whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.program.symbolic.linear import Affine, LinearProgram, Rational, whole_where_possible
from dpaudit.program.symbolic.tree import NoiseDraw, draw_name

_MOST_TRIES = 200  # nodes of the branch and bound for integer shifts

Cut = tuple[Mapping[int, Rational], Rational]
"""A constraint on the shifts: coefficients by draw, and the least value of their sum."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How the draws of a class follow a difference of the data."""

    difference: tuple[Rational, ...]  # of each variable of the data
    shift: tuple[Rational, ...]  # of each draw
    cost: Fraction  # Σ |shift|/scale, in nats


class Shifter:
    """Finds shifts for one class, for one difference after another."""

    def __init__(
        self, rows: Sequence[Affine], equalities: Sequence[Affine], draws: Sequence[NoiseDraw], variables: Sequence[str]
    ) -> None:
        """Describe a class."""
        self._rows = list(dict.fromkeys(Affine(row.terms) for row in rows))
        self._equalities = list(dict.fromkeys(Affine(equality.terms) for equality in equalities))
        self._draws = draws
        self._variables = variables
        self._columns = [(k, sign) for k, draw in enumerate(draws) for sign in draw.law.shifts or ()]
        # the costs as whole numbers, times a common factor
        factor = math.lcm(*(draw.scale.numerator for draw in draws))
        self._costs = [whole_where_possible(factor / draws[k].scale) for k, _ in self._columns]
        self._program = self._made([])

    def _made(self, cuts: Sequence[Cut]) -> LinearProgram:
        """Return the programme: rows and equalities hold for any difference, cuts for the present one."""
        program = LinearProgram(self._costs, parameters=len(self._variables) + 1)
        for linear, factors in [(row, (1,)) for row in self._rows] + [(row, (1, -1)) for row in self._equalities]:
            for factor in factors:
                row = self._row({k: factor * number for k, number in self._of_draws(linear).items()})
                side = [-factor * linear.terms.get(name, 0) for name in self._variables]
                if row or any(side):
                    program.require_at_least(row, [*side, 0])
        for of_draws, least in cuts:
            program.require_at_least(self._row(of_draws), [0] * len(self._variables) + [least])
        return program

    def _of_draws(self, linear: Affine) -> dict[int, Rational]:
        names = {k: draw_name(k) for k in range(len(self._draws))}
        return {k: linear.terms[name] for k, name in names.items() if name in linear.terms}

    def _row(self, of_draws: Mapping[int, Rational]) -> dict[int, Rational]:
        return {column: sign * of_draws[k] for column, (k, sign) in enumerate(self._columns) if k in of_draws}

    def cheapest(self, difference: Sequence[Rational]) -> Shift | None:
        """Return the cheapest shift for a difference of the data, or None if there is none.

        With discrete draws, if the search for integer shifts gets too long, it is the best one found.
        """
        whole = [k for k, draw in enumerate(self._draws) if draw.is_discrete]
        cuts = self._cuts(whole, difference) if whole else []
        if cuts is None:
            return None
        best: Shift | None = None
        pending = [cuts]
        tries = 0
        while pending and tries < _MOST_TRIES:
            tries += 1
            cuts = pending.pop()
            found = self._solved(self._made(cuts) if cuts else self._program, difference)
            if found is None or (best is not None and found.cost >= best.cost):
                continue
            broken = next((k for k in whole if Fraction(found.shift[k]).denominator != 1), None)
            if broken is None:
                best = found
            else:
                value = math.floor(found.shift[broken])
                pending += [[*cuts, ({broken: 1}, value + 1)], [*cuts, ({broken: -1}, -value)]]
        if best is not None:
            self._check(best)
        return best

    def _cuts(self, whole: Sequence[int], difference: Sequence[Rational]) -> list[Cut] | None:
        """Return the cuts that rows over discrete draws imply; None if no integer shift exists (Gomory 1958).

        A row Σ a·d ≥ s with integers a of greatest common divisor g implies Σ (a/g)·d ≥ ⌈s/g⌉ for integers d.
        """
        of_data = dict(zip(self._variables, difference, strict=True))
        cuts: list[Cut] = []
        for linear, factors in [(row, (1,)) for row in self._rows] + [(row, (1, -1)) for row in self._equalities]:
            of_draws = self._of_draws(linear)
            if not of_draws or not of_draws.keys() <= set(whole):
                continue
            common = math.lcm(*(Fraction(number).denominator for number in of_draws.values()))
            divisor = Fraction(math.gcd(*(int(number * common) for number in of_draws.values())), common)
            least = -linear.along(of_data) / divisor
            if len(factors) == 2 and least.denominator != 1:
                return None
            for factor in factors:
                row = {k: whole_where_possible(factor * number / divisor) for k, number in of_draws.items()}
                cuts.append((row, math.ceil(factor * least)))
        return cuts

    def _solved(self, program: LinearProgram, difference: Sequence[Rational]) -> Shift | None:
        values = program.minimise([*difference, 1])
        if values is None:
            return None
        shift: list[Rational] = [0] * len(self._draws)
        for (k, sign), value in zip(self._columns, values, strict=True):
            shift[k] += sign * value
        return Shift(tuple(difference), tuple(shift), self.cost(shift))

    def cost(self, shift: Sequence[Rational]) -> Fraction:
        """Return Σ |shift|/scale."""
        return sum((abs(Fraction(d)) / draw.scale for d, draw in zip(shift, self._draws, strict=True)), Fraction(0))

    def _check(self, found: Shift) -> None:
        """Verify the answer of the linear programme; a wrong one is a bug of dpaudit."""
        direction: Mapping[str, Rational] = {
            **dict(zip(self._variables, found.difference, strict=True)),
            **{draw_name(k): d for k, d in enumerate(found.shift)},
        }
        allowed = all(
            not d or (1 if d > 0 else -1) in (draw.law.shifts or ())
            for d, draw in zip(found.shift, self._draws, strict=True)
        )
        kept = all(row.along(direction) >= 0 for row in self._rows)
        if not allowed or not kept or any(equality.along(direction) for equality in self._equalities):
            raise AssertionError("the linear programme returned a shift that leaves its class")
