"""Is the tree the program? Concrete runs of the program, compared with the tree on the same draws.

A proof is about the tree. That the tree is the program is shown by running it: every run must make the draws of
the tree's path, and return that path's output. A run that comes so close to a branch that rounding may decide
it is passed over, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.budget import spend
from dpaudit.program.coverage import Coverage
from dpaudit.program.linear import Linear
from dpaudit.program.outcome import Raised, run_once
from dpaudit.program.scalar import ScalarNoise
from dpaudit.program.simplex import Rational
from dpaudit.program.tree import Leaf, Output, Tree, draw_name
from dpaudit.settings import lent

_CLOSE = 1e-9
_LARGE = (1.0,) * 9 + (1e9, 1.0, 1.0, 1e100)  # of data, in some runs
_SPREADS = (0.0, 0.5, 2.0, 8.0)  # of the data, in units of the largest scale of a draw


@dataclass(frozen=True, slots=True)
class Agreement:
    """What concrete runs showed.

    Attributes:
        runs: how many were compared.
        passed_over: how many were not, being too close to a branch.
        leaves: how many of the tree's leaves they came to.
        disagreement: the first run that differs, in words; None where all agree.
        paths: how many leaves there are that runs can come to; None where they were not all looked at.
        missed: how many of those that were looked for no run could be compared with.
    """

    runs: int
    passed_over: int
    leaves: int
    disagreement: str | None
    paths: int | None = None
    missed: int = 0


class _Recorder(ScalarNoise):
    """A scalar reading that writes down what was asked and what was drawn."""

    __slots__ = ("made",)

    def __init__(self, rng: np.random.Generator, tape: Sequence[Any] = ()) -> None:
        super().__init__(rng, tape)
        self.made: list[tuple[tuple[Any, ...], Any]] = []

    def _draw(self, method: str, *arguments: Any) -> Any:
        value = super()._draw(method, *arguments)
        self.made.append(((method, *arguments), value))
        return value

    def _pick(self, weights: Sequence[float]) -> int:
        index = super()._pick(weights)
        self.made.append((("choice", *weights), index))
        return index


class Compared:
    """Runs that are compared with what was read, counted.

    Attributes:
        runs: how many agreed; passed_over: how many came too close to a branch to say.
        seen: the nodes of the leaves that they came to.
        missed: leaves that were looked for, and no run could be compared with.
        disagreement: the first run that differs, in words.
        coverage: what the runs came through in the program's own code, where that is followed.
    """

    def __init__(self, coverage: Coverage | None = None) -> None:
        self.runs = self.passed_over = 0
        self.seen: set[int] = set()
        self.missed: list[Leaf] = []
        self.disagreement: str | None = None
        self.coverage = coverage

    def run(
        self,
        tree: Tree,
        program: Callable[..., Any],
        data: Any,
        values: Mapping[str, Any],
        parameters: Mapping[str, Any],
        tape: Sequence[Any],
        rng: np.random.Generator,
    ) -> None:
        """Run a program once on data and draws, and compare.

        Args:
            tree: what was read.
            program: called as ``program(data, noise, **parameters)``.
            data: what it is given; not changed, so that a list is copied.
            values: of the variables of the data.
            parameters: plain or exact.
            tape: what the first draws come to.
            rng: draws what comes after them.
        """
        plain = {name: _plain(value) for name, value in parameters.items()}
        noise = _Recorder(rng, tape)
        given = list(data) if type(data) is list else data
        with lent(), self.coverage.following() if self.coverage is not None else nullcontext():
            output = run_once(lambda drawn: program(given, drawn, **plain), noise)
        point: dict[str, Rational] = {name: Fraction(_number(value)) for name, value in values.items()}
        draws = [_as_tree_draw(asked, value) for asked, value in noise.made]
        try:
            leaf, margin = tree.follow(point, draws)
        except IndexError:
            leaf, margin = None, None
        all_values = {**point, **{draw_name(number): value for number, value in enumerate(draws)}}
        widened = any(isinstance(value, int) for value in values.values())
        if leaf is not None and _same_draws(leaf, noise.made) and _same(leaf.output, output, all_values, widened):
            self.runs += 1
            self.seen.add(leaf.node)
            return
        if _is_close(leaf, margin, all_values):
            self.passed_over += 1
        elif self.disagreement is None:
            self.disagreement = _told(data, noise.made, output, leaf)

    def add(self, other: Compared) -> None:
        """Count the runs of a part of the program too."""
        self.runs += other.runs
        self.passed_over += other.passed_over
        self.missed += other.missed
        self.disagreement = self.disagreement or other.disagreement

    def agreement(self, paths: int | None = None) -> Agreement:
        """Return what the runs showed."""
        return Agreement(self.runs, self.passed_over, len(self.seen), self.disagreement, paths, len(self.missed))


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_close(leaf: Leaf | None, margin: Fraction | None, values: Mapping[str, Rational]) -> bool:
    """Whether rounding may have decided a branch: the numbers that it compared nearly cancel."""
    if margin is None or all(Fraction(number).denominator == 1 for number in values.values()):
        return False
    if margin > _CLOSE * (1 + max((abs(Fraction(number)) for number in values.values()), default=Fraction(0))):
        return False
    if leaf is None or not leaf.conditions:
        return True
    return any(
        abs(Fraction(each.expression.at(values)))
        <= _CLOSE
        * sum(
            (abs(Fraction(number * values[name])) for name, number in each.expression.terms.items()),
            abs(Fraction(each.expression.constant)),
        )
        for each in leaf.conditions
    )


def agree(
    tree: Tree,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    length: int,
    *,
    integer: bool = False,
    runs: int = 100,
    seed: int = 0,
) -> Agreement:
    """Run a program on random answers q0 … q{length − 1} and random draws, and compare with its tree."""
    compared = Compared()
    compare_at_random(tree, function, parameters, length, compared, integer=integer, runs=runs, seed=seed)
    return compared.agreement()


def compare_at_random(
    tree: Tree,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    length: int,
    compared: Compared,
    *,
    integer: bool = False,
    runs: int = 100,
    seed: int = 0,
) -> None:
    """Compare runs on random answers and random draws: also on equal, large and neighbouring answers."""
    rng = np.random.default_rng(seed)
    widest = max((float(draw.scale) for leaf in tree.leaves for draw in leaf.draws), default=1.0)
    before: list[Any] = []
    for run in range(runs):
        spend()
        centre = rng.normal(0, widest) if run % 2 else 0.0
        size = _LARGE[run % len(_LARGE)]
        data: list[Any] = (size * (centre + rng.normal(0, 1, length) * widest * _SPREADS[run % len(_SPREADS)])).tolist()
        if run % 5 == 4 and before:  # a neighbour of the last one
            data = [value + move for value, move in zip(before, rng.integers(-1, 2, length).tolist(), strict=True)]
        if integer or run % 7 == 6:
            data = [round(value) for value in data]
        if run % 9 == 8:
            data = [np.float64(value) if isinstance(value, float) else value for value in data]
        if run % 11 == 10 and data:  # one object, many times
            data = data[:1] * length
        before = data
        compared.run(tree, function, data, {f"q{k}": value for k, value in enumerate(data)}, parameters, (), rng)
        if compared.disagreement is not None:
            return


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _as_tree_draw(asked: tuple[Any, ...], value: Any) -> Rational:
    """Return the value of the tree's draw that gives a draw of the program."""
    method = asked[0]
    if method == "uniform":
        return Fraction(value) - Fraction(float(asked[1]))
    if method == "bernoulli":
        return (Fraction(float(asked[1])) + (0 if value else 1)) / 2
    if method == "choice":
        weights = [Fraction(weight) for weight in asked[1:]]
        middle: Fraction = (sum(weights[:value], Fraction(0)) + weights[value] / 2) / sum(weights, Fraction(0))
        return middle
    return Fraction(value)


def _same_draws(leaf: Leaf, made: Sequence[tuple[tuple[Any, ...], Any]]) -> bool:
    def alike(read: tuple[Any, ...], ran: tuple[Any, ...]) -> bool:
        return (
            len(read) == len(ran)
            and read[0] == ran[0]
            and all(math.isclose(float(a), float(b), rel_tol=_CLOSE) for a, b in zip(read[1:], ran[1:], strict=True))
        )

    return len(made) == len(leaf.draws) and all(
        alike(draw.asked, asked) for draw, (asked, _) in zip(leaf.draws, made, strict=True)
    )


def _same(read: Output, ran: Any, values: Mapping[str, Rational], widened: bool = False) -> bool:
    """Whether an output of the tree, at these values, is one of the program, in type and value.

    ``widened``: data that are real numbers were given as whole ones, so that an int may stand for a float.
    """
    if isinstance(ran, np.generic):
        ran = ran.item()
    kind = read[0]
    if kind == "exception":
        return isinstance(ran, Raised) and str(ran).removeprefix("raises ") == read[1]
    if widened and kind == "float" and type(ran) is int:
        ran = float(ran)
    if kind != {type(None): "none"}.get(type(ran), type(ran).__name__):
        return False
    if kind in ("int", "float"):
        if not isinstance(read[1], Linear):
            return bool(str(ran) == read[1])
        exact = Fraction(read[1].at(values))
        size = max(
            abs(exact), *(abs(Fraction(number * values[name])) for name, number in read[1].terms.items()), Fraction(0)
        )
        if ran == 0 and exact == 0:
            return math.copysign(1, ran) > 0  # the reading refuses what may be −0.0
        return math.isfinite(ran) and abs(Fraction(ran) - exact) <= Fraction(_CLOSE) * (1 + size)
    if kind in ("list", "tuple"):
        members = read[1:]
        return len(members) == len(ran) and all(_same(a, b, values, widened) for a, b in zip(members, ran, strict=True))
    if kind == "dict":
        pairs = list(ran.items())
        return len(pairs) == len(read) - 1 and all(
            _same(a, key, values, widened) and _same(b, value, values, widened)
            for (a, b), (key, value) in zip(read[1:], pairs, strict=True)
        )
    return kind == "none" or bool(ran == read[1])


def _told(data: Sequence[Any], made: Sequence[Any], output: Any, leaf: Leaf | None) -> str:
    tree = "no path"
    if leaf is not None:
        asked = ", ".join(str(draw.asked[0]) for draw in leaf.draws)
        tree = f"one that draws {asked or 'nothing'} and returns {leaf.output!r:.200}"
    return f"on data {list(data)} and draws {made!r:.300} it returns {output!r:.200}, where the tree has {tree}"
