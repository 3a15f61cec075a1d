"""What is a condition on unknown numbers, and which conditions contradict each other?

Expressions are linear over exact fractions. A contradiction is never taken on trust: its reason is a Farkas vector,
multipliers with which the conditions add up to the falsehood 0 > 0 or 0 ≥ 1 (Farkas 1902; Schrijver 1986,
Corollary 7.1e), and anyone can check the sum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dpaudit.errors import UsageError
from dpaudit.settings import Taken

# --- How much work may reading and proving a program be? A number of steps, which every long loop counts ---
#
# Steps are the same on every machine, so that what a proof says never depends on how fast it is, or how busy. A user
# may limit the seconds, too. If either is used up before there is a proof, the error names what was too large, and
# there are no partial results. What is only looked for beside a proof, a counterexample, has a budget of its own: where
# that is used up, the proof stays.


class SpentError(BaseException):
    """The budget is used up; no ``except Exception`` of a program may swallow it."""


@dataclass(slots=True)
class Budget:
    """A budget, and what it was spent on."""

    steps: int | None  # in total, each about ten microseconds of work; None for no limit
    seconds: float | None  # in total (`Taken`); None for no limit
    taken: Taken = field(default_factory=Taken)  # since it began
    used: int = 0  # how many steps were counted
    doing: str = "reading it"  # the current activity
    paths: int = 0  # how many were read; for an enumeration, how many traces were followed
    branches: Counter[str] = field(default_factory=Counter)  # how many new branches each line of the program made

    def count(self, steps: int) -> None:
        """Count steps; raise `SpentError` if there are too many, or the seconds are over."""
        self.used += steps
        if self.is_over_steps or self.is_over_time:
            raise SpentError

    @property
    def is_over_steps(self) -> bool:
        """Whether more steps were counted than there may be."""
        return self.steps is not None and self.used > self.steps

    @property
    def is_over_time(self) -> bool:
        """Whether the seconds are over, on the clock and, but for a process that waits, of the CPU."""
        seconds, taken = self.seconds, self.taken
        return seconds is not None and taken.on_the_clock() > seconds and taken.seconds() > seconds

    def message(self, name: str) -> str:
        """Return the error message for a budget that is used up."""
        limit = f"{self.steps:,} steps" if self.is_over_steps else f"{self.seconds:g} s"
        option = "steps=, --steps" if self.is_over_steps else "time_budget=, --time-budget"
        text = f"{name} is too large for {limit}: they were over while {self.doing}"
        if self.paths:
            text += f", {self.paths:,} paths so far"
        if self.branches:
            line, times = self.branches.most_common(1)[0]
            text += f"; the line that keeps branching is {line}, {times:,} of {self.branches.total():,} branches"
        return (
            f"{text}. Take fewer answers or a smaller domain, write a maximum as noise.argmax(values), which is one "
            f"branch, or allow more ({option})"
        )


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget(steps: int | None, seconds: float | None, name: str) -> Iterator[None]:
    """Limit the work inside to so many steps, and seconds.

    Args:
        steps: None for no limit.
        seconds: None for no limit.
        name: of the program, for the message.

    Raises:
        UsageError: when either is used up.
    """
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
        raise UsageError(f"steps is a whole number above 0, not {steps!r}")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0):
        raise UsageError(f"a time budget is a number of seconds above 0, not {seconds!r}")
    limits = Budget(steps, seconds)
    token = _BUDGET.set(limits)
    try:
        yield
    except SpentError:
        raise UsageError(limits.message(name)) from None
    finally:
        _BUDGET.reset(token)


@contextmanager
def beside() -> Iterator[None]:
    """Do something that a proof does not need, with as many steps again: where they are used up, it is left."""
    limits = _BUDGET.get()
    if limits is None:
        yield
        return
    token = _BUDGET.set(Budget(limits.steps, limits.seconds, limits.taken))
    try:
        yield
    except SpentError:
        pass
    finally:
        _BUDGET.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps of the budget; raise `SpentError` if it is used up."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.count(steps)


def now(doing: str) -> None:
    """Name the current activity; the error message completes 'they were over while' with it."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.doing = doing
    spend()


def count_path() -> None:
    """Count a path."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.paths += 1
    spend(5)


def count_branch(line: str) -> None:
    """Count a new branch that a line of the program makes."""
    limits = _BUDGET.get()
    if limits is not None:
        limits.branches[line] += 1


# --- What is the cheapest point of a polyhedron, exactly? ---
#
# Minimise c·x over x ≥ 0 and A·x ≥ b, in fractions, where no cost is negative. With such costs the slack basis is dual
# feasible, so the dual simplex method (Lemke 1954) needs no first phase; choosing the smallest index among equals
# (Bland 1977), it terminates. The right-hand side b is linear in *parameters*: a tableau that is optimal for some
# parameters stays dual feasible for all, and the next optimum is only a few steps away.
#
# Most coefficients are 0, 1 or −1, so rows are sparse, and a number stays a Python integer as long as possible.

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
        opposite = seen.get(frozenset((name, -value) for name, value in terms.items()))
        if opposite is not None:
            other, other_factor, other_constant = opposite
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
