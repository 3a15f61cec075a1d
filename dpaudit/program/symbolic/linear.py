"""What is a condition on unknown numbers, and which conditions contradict each other?

Expressions are linear over exact fractions. A contradiction is never taken on trust: its reason is a Farkas vector,
multipliers with which the conditions add up to the falsehood 0 > 0 or 0 ≥ 1 (Farkas 1902; Schrijver 1986,
Corollary 7.1e), and anyone can check the sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpaudit.program.symbolic.budget import spend
from dpaudit.program.symbolic.simplex import LinearProgram, Rational, whole_where_possible

_LEAST = 1e-290  # below it, rounding is no longer relative

Sign = Literal[">", ">=", "="]
Farkas = tuple[tuple[int, Fraction], ...]
"""The multipliers that are not 0, each with the number of its condition, in ascending order."""


class Affine:
    """Σ coefficient·variable + constant; immutable."""

    __slots__ = ("_floats", "_key", "constant", "terms")

    def __init__(self, terms: Mapping[str, Rational] | None = None, constant: Rational = 0) -> None:
        self.terms: dict[str, Rational] = {name: number for name, number in (terms or {}).items() if number}
        self.constant: Rational = constant
        self._key: tuple[frozenset[tuple[str, Rational]], Rational] | None = None
        self._floats: tuple[tuple[tuple[str, float], ...], float] | None = None

    @classmethod
    def variable(cls, name: str) -> Affine:
        """Return the expression that is one variable."""
        return cls({name: 1})

    @property
    def is_constant(self) -> bool:
        """Whether it contains no variable."""
        return not self.terms

    def _plus(self, other: Affine, factor: Rational) -> Affine:
        terms = dict(self.terms)
        for name, number in other.terms.items():
            terms[name] = whole_where_possible(terms.get(name, 0) + factor * number)
        return Affine(terms, whole_where_possible(self.constant + factor * other.constant))

    def __add__(self, other: Affine) -> Affine:
        return self._plus(other, 1)

    def __sub__(self, other: Affine) -> Affine:
        return self._plus(other, -1)

    def __neg__(self) -> Affine:
        return self.times(-1)

    def times(self, factor: Rational) -> Affine:
        """Return the expression times a number."""
        scaled = {name: whole_where_possible(factor * number) for name, number in self.terms.items()}
        return Affine(scaled, whole_where_possible(factor * self.constant))

    def at(self, point: Mapping[str, Rational]) -> Rational:
        """Return the value at a point, which names every variable."""
        value = self.constant
        for name, number in self.terms.items():
            value += number * point[name]
        return value

    def near(self, point: Mapping[str, float]) -> tuple[float, float]:
        """Return the approximate value at a point and a bound on its error; not finite if unknown.

        Each term is rounded three times, and the sum once per term (Higham 2002, Accuracy and Stability of Numerical
        Algorithms, equation 3.5). The bound is doubled, since its own sum is rounded too.
        """
        if self._floats is None:
            rounded = tuple((name, as_float(number)) for name, number in self.terms.items())
            self._floats = rounded, as_float(self.constant)
        terms, value = self._floats
        size = abs(value)
        for name, number in terms:
            part = number * point[name]
            value += part
            size += abs(part)
        return value, size * (len(terms) + 4) * 2.0**-52 + _LEAST

    def along(self, direction: Mapping[str, Rational]) -> Rational:
        """Return the change of the value along a direction; variables that it does not name do not change."""
        change: Rational = 0
        for name, number in self.terms.items():
            change += number * direction.get(name, 0)
        return change

    @property
    def key(self) -> tuple[frozenset[tuple[str, Rational]], Rational]:
        """A key that is equal for equal expressions only."""
        if self._key is None:
            self._key = frozenset(self.terms.items()), self.constant
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        parts = [f"{'' if number == 1 else f'{number}·'}{name}" for name, number in sorted(self.terms.items())]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "− ")


def as_float(number: Rational | float) -> float:
    """Return the nearest float of a number (a float unchanged); NaN if the relative error would not be bounded."""
    if isinstance(number, float):
        return number
    try:
        value = float(number)
    except OverflowError:
        return math.nan
    return value if not number or abs(value) > _LEAST else math.nan


@dataclass(frozen=True, slots=True)
class Constraint:
    """An expression and its sign: it is > 0, ≥ 0 or = 0."""

    expression: Affine
    sign: Sign

    @property
    def negation(self) -> Constraint:
        """The negation of > or ≥; that of an equality is not a single condition."""
        return Constraint(-self.expression, ">=" if self.sign == ">" else ">")

    def holds(self, point: Mapping[str, Rational]) -> bool:
        """Whether a point satisfies it."""
        value = self.expression.at(point)
        return value == 0 if self.sign == "=" else value > 0 or (value == 0 and self.sign == ">=")

    def __str__(self) -> str:
        return f"{self.expression} {self.sign.replace('>=', '≥')} 0"


def contradiction(conditions: Sequence[Constraint], continuous: Iterable[str] = ()) -> Farkas | None:
    """Return a Farkas vector that shows that no point satisfies all conditions, or None if there is none."""
    spend(2 * len(conditions))
    smooth = frozenset(continuous)
    strict = [
        condition.sign == ">" or (condition.sign == ">=" and not smooth.isdisjoint(condition.expression.terms))
        for condition in conditions
    ]
    direct = _opposites(conditions, strict)
    if direct is not None:
        return direct
    # multipliers λ ≥ 0 (an equality has two, λ⁺ − λ⁻): no variable is left in Σ λ·e, its constant κ is ≤ 0,
    # and Σ λ over the strict ones − κ ≥ 1, so that κ < 0 or a strict condition takes part
    sources: list[tuple[int, int]] = []
    balance: dict[str, dict[int, Rational]] = {}
    constant: dict[int, Rational] = {}
    weight: dict[int, Rational] = {}
    for number, condition in enumerate(conditions):
        for turned in (1, -1) if condition.sign == "=" else (1,):
            column = len(sources)
            sources.append((number, turned))
            for name, coefficient in condition.expression.terms.items():
                balance.setdefault(name, {})[column] = turned * coefficient
            constant[column] = turned * condition.expression.constant
            weight[column] = strict[number] - constant[column]
    program = LinearProgram([1] * len(sources), parameters=1)
    for row in balance.values():
        program.require_at_least(row, [0])
        program.require_at_least({column: -number for column, number in row.items()}, [0])
    program.require_at_least({column: -number for column, number in constant.items()}, [0])
    program.require_at_least(weight, [1])
    solution = program.minimise([1])
    if solution is None:
        return None
    multipliers: dict[int, Fraction] = {}
    for (number, turned), multiplier in zip(sources, solution, strict=True):
        if multiplier:
            multipliers[number] = multipliers.get(number, Fraction(0)) + turned * multiplier
    vector = tuple((number, value) for number, value in sorted(multipliers.items()) if value)
    if not adds_up(conditions, vector, smooth):
        raise AssertionError("the linear programme returned multipliers that show no contradiction")
    return vector


def _opposites(conditions: Sequence[Constraint], strict: Sequence[bool]) -> Farkas | None:
    """Return the multipliers of two conditions that are opposite up to a factor; None if there are none.

    The linear programme would find them too, but this is much faster.
    """
    seen: dict[frozenset[tuple[str, Fraction]], tuple[int, Fraction, Fraction]] = {}
    for number, condition in enumerate(conditions):
        if condition.sign == "=" or not condition.expression.terms:
            continue
        leading = Fraction(condition.expression.terms[min(condition.expression.terms)])
        factor = 1 / abs(leading)
        terms = {name: factor * value for name, value in condition.expression.terms.items()}
        constant = factor * condition.expression.constant
        found = seen.get(frozenset((name, -value) for name, value in terms.items()))
        if found is not None:
            other, other_factor, other_constant = found
            total = constant + other_constant
            if total < 0 or (total == 0 and (strict[number] or strict[other])):
                return (other, other_factor), (number, factor)
        tightest = seen.get(frozenset(terms.items()))
        if tightest is None or constant < tightest[2]:
            seen[frozenset(terms.items())] = number, factor, constant
    return None


def adds_up(conditions: Sequence[Constraint], vector: Farkas, continuous: Iterable[str] = ()) -> bool:
    """Whether a Farkas vector shows that the conditions contradict each other."""
    smooth = frozenset(continuous)
    total, strict = Affine(), False
    for number, multiplier in vector:
        condition = conditions[number]
        if multiplier < 0 and condition.sign != "=":
            return False
        total = total + condition.expression.times(multiplier)
        mentions = not smooth.isdisjoint(condition.expression.terms)
        strict |= multiplier > 0 and (condition.sign == ">" or (condition.sign == ">=" and mentions))
    return total.is_constant and (total.constant < 0 or (total.constant == 0 and strict))
