"""Does the tree describe the program? Concrete runs of the program, compared with the tree on the same draws.

A proof is about the tree. Concrete runs test that the tree describes the program: every run must make the draws of the
tree's path and return that path's output. A run that comes so close to a branch that rounding may decide it is skipped
and counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpaudit.program.coverage.instructions import Coverage, Unfollowed
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import Raised, run_once
from dpaudit.program.scalar import Asked, ScalarNoise
from dpaudit.program.symbolic.budget import spend
from dpaudit.program.symbolic.linear import Affine, as_float
from dpaudit.program.symbolic.simplex import Rational
from dpaudit.program.symbolic.tree import DEPTH, Output, ProgramPath, ProgramTree, draw_name, tree_value
from dpaudit.settings import lent

_CLOSE = 1e-9  # relative; far more than rounding explains
_LARGE = (1.0,) * 9 + (1e9, 1.0, 1.0, 1e100)  # factors of the data, one run after another
_KINDS: dict[str, Any] = {
    "none": type(None),
    **{kind.__name__: kind for kind in (bool, int, float, str, list, tuple, dict)},
}
_SPREADS = (0.0, 0.5, 2.0, 8.0)  # of the data, in units of the largest scale of a draw


@dataclass(frozen=True, slots=True)
class Agreement:
    """What concrete runs showed."""

    runs: int  # how many were compared
    passed_over: int  # how many were skipped, being too close to a branch
    leaves: int  # how many of the tree's leaves they reached
    disagreement: str | None  # the first run that differs, in words; None if all agree
    paths: int | None = None  # how many leaves runs can reach; None if not all were looked at
    missed: int = 0  # for how many of the leaves that were looked for no run could be compared


@dataclass(frozen=True, slots=True)
class RunInput:
    """The input of one run."""

    data: Any  # never changed; lists are copied
    values: Mapping[str, Any]  # of the variables of the data
    tape: Sequence[Any] = ()  # the values of the first draws


class _Point:
    """The values of all variables of a run: as floats, which decide where they can, and exactly."""

    def __init__(self, values: Mapping[str, Rational | float]) -> None:
        self._values = values
        self.floats = {name: as_float(value) for name, value in values.items()}

    @cached_property
    def exact(self) -> dict[str, Rational]:
        return {name: Fraction(value) for name, value in self._values.items()}


class _Recorder(ScalarNoise):
    """A scalar reading that records what was asked and what was drawn."""

    __slots__ = ("made",)

    def __init__(self, rng: np.random.Generator, tape: Sequence[Any] = ()) -> None:
        super().__init__(rng, tape)
        self.made: list[tuple[tuple[Any, ...], Any]] = []

    def _next(self, asked: Asked, make: Callable[[], Any]) -> Any:
        with Unfollowed():
            return super()._next(asked, make)

    def _draw(self, method: str, *arguments: Any) -> Any:
        value = super()._draw(method, *arguments)
        self.made.append(((method, *arguments), value))
        return value

    def _pick(self, weights: Sequence[float]) -> int:
        index = super()._pick(weights)
        self.made.append((("choice", *weights), index))
        return index


class ComparedRuns:
    """Counts of runs that were compared with the tree.

    Attributes:
        runs: how many agreed; passed_over: how many came too close to a branch to decide.
        seen: the nodes of the leaves that they reached.
        missed: leaves that were looked for, but no run could be compared.
        disagreement: the first run that differs, in words.
        coverage: what the runs executed of the program's own code, if that is followed.
    """

    def __init__(self, coverage: Coverage | None = None) -> None:
        self.runs = self.passed_over = 0
        self.seen: set[int] = set()
        self.missed: list[ProgramPath] = []
        self.disagreement: str | None = None
        self.coverage = coverage

    def run(
        self,
        tree: ProgramTree,
        program: Callable[..., Any],
        given: Iterable[RunInput],
        parameters: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> None:
        """Run a program once on each input, then compare the outputs with the tree.

        As in a block of an audit, the target's settings are in force during all runs. Each output is copied before the
        next run, and compared under dpaudit's own settings.

        Args:
            tree: the program as it was read.
            program: called as ``program(data, noise, **parameters)``.
            given: the inputs. An iterator may draw from ``rng`` between two runs.
            parameters: plain or exact.
            rng: makes the draws beyond the given ones.
        """
        plain = {name: _plain(value) for name, value in parameters.items()}
        ran: list[tuple[RunInput, list[tuple[tuple[Any, ...], Any]], Any]] = []
        with lent():
            for each in given:
                spend(15)
                noise = _Recorder(rng, each.tape)
                data = list(each.data) if type(each.data) is list else each.data
                with self.coverage.following() if self.coverage is not None else nullcontext():
                    output = run_once(partial(_called, program, data, plain), noise)
                ran.append((each, noise.made, _taken_down(output)))
        for each, made, output in ran:
            if self.disagreement is None:
                self._compare(tree, each, made, output)

    def _compare(
        self, tree: ProgramTree, given: RunInput, made: list[tuple[tuple[Any, ...], Any]], output: Any
    ) -> None:
        draws = [tree_value(asked, value) for asked, value in made]
        names = [draw_name(number) for number in range(len(draws))]
        values = {name: _number(value) for name, value in given.values.items()}
        point = _Point({**values, **dict(zip(names, draws, strict=True))})
        widened = any(isinstance(value, int) for value in given.values.values())

        def is_as_read(leaf: ProgramPath | None) -> bool:
            return leaf is not None and _same_draws(leaf, made) and _same(leaf.output, output, point, widened)

        leaf, margin = tree.surely(point.floats, [point.floats[name] for name in names]), None
        is_same = is_as_read(leaf)
        if not is_same:
            try:
                leaf, margin = tree.follow(
                    {name: point.exact[name] for name in values}, [point.exact[n] for n in names]
                )
            except IndexError:
                leaf, margin = None, None
            is_same = is_as_read(leaf)
        if is_same and leaf is not None:
            self.runs += 1
            self.seen.add(leaf.node)
            return
        if _is_close(leaf, margin, point.exact):
            self.passed_over += 1
        elif self.disagreement is None:
            self.disagreement = _difference(given.data, made, output, leaf)

    def add(self, other: ComparedRuns) -> None:
        """Add the runs of another part of the program."""
        self.runs += other.runs
        self.passed_over += other.passed_over
        self.missed += other.missed
        self.disagreement = self.disagreement or other.disagreement

    def agreement(self, paths: int | None = None) -> Agreement:
        """Return what the runs showed."""
        return Agreement(self.runs, self.passed_over, len(self.seen), self.disagreement, paths, len(self.missed))


def _called(program: Callable[..., Any], data: Any, parameters: Mapping[str, Any], noise: Noise) -> Any:
    return program(data, noise, **parameters)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _taken_down(output: Any, depth: int = 0) -> Any:
    """Return a copy of an output that no later run can change, to the depth to which outputs are read."""
    kind = type(output)
    if depth <= DEPTH:
        if kind in (list, tuple):
            return kind([_taken_down(member, depth + 1) for member in output])
        if kind is dict:
            return {_taken_down(key, depth + 1): _taken_down(member, depth + 1) for key, member in output.items()}
    return _number(output)


def _is_close(leaf: ProgramPath | None, margin: Fraction | None, values: Mapping[str, Rational]) -> bool:
    """Whether rounding may have decided a branch, because the compared numbers nearly cancel."""
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


def compare_at_random(
    tree: ProgramTree,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    length: int,
    compared: ComparedRuns,
    *,
    integer: bool = False,
    runs: int = 100,
    seed: int = 0,
) -> None:
    """Compare runs on random answers and random draws, also on equal, large and neighbouring answers."""
    rng = np.random.default_rng(seed)
    compared.run(tree, function, _at_random(tree, length, integer, runs, rng), parameters, rng)


def _at_random(
    tree: ProgramTree, length: int, integer: bool, runs: int, rng: np.random.Generator
) -> Iterator[RunInput]:
    widest = max((float(draw.scale) for leaf in tree.leaves for draw in leaf.draws), default=1.0)
    before: list[Any] = []
    for run in range(runs):
        centre = rng.normal(0, widest) if run % 2 else 0.0
        size = _LARGE[run % len(_LARGE)]
        data: list[Any] = (size * (centre + rng.normal(0, 1, length) * widest * _SPREADS[run % len(_SPREADS)])).tolist()
        if run % 5 == 4 and before:  # a neighbour of the previous dataset
            data = [value + move for value, move in zip(before, rng.integers(-1, 2, length).tolist(), strict=True)]
        if integer or run % 7 == 6:
            data = [round(value) for value in data]
        if run % 9 == 8:
            data = [np.float64(value) if isinstance(value, float) else value for value in data]
        if run % 11 == 10 and data:  # the same object in every place
            data = data[:1] * length
        before = data
        yield RunInput(data, {f"q{k}": value for k, value in enumerate(data)})


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _same_draws(leaf: ProgramPath, made: Sequence[tuple[tuple[Any, ...], Any]]) -> bool:
    def alike(read: tuple[Any, ...], ran: tuple[Any, ...]) -> bool:
        return (
            len(read) == len(ran)
            and read[0] == ran[0]
            and all(math.isclose(float(a), float(b), rel_tol=_CLOSE) for a, b in zip(read[1:], ran[1:], strict=True))
        )

    return len(made) == len(leaf.draws) and all(
        alike(draw.asked, asked) for draw, (asked, _) in zip(leaf.draws, made, strict=True)
    )


def _same(read: Output, ran: Any, point: _Point, widened: bool = False) -> bool:
    """Whether an output of the tree, at this point, equals an output of the program in type and value.

    ``widened``: real data were given as whole numbers, so an int may stand for a float.
    """
    kind = read[0]
    if kind == "exception":
        return isinstance(ran, Raised) and str(ran).removeprefix("raises ") == read[1]
    if widened and kind == "float" and type(ran) is int:
        ran = float(ran)
    if type(ran) is not _KINDS[kind]:
        return False
    if kind in ("int", "float"):
        if not isinstance(read[1], Affine):
            return bool(str(ran) == read[1])
        if type(ran) is float and ran:
            about, error = read[1].near(point.floats)
            if abs(ran - about) + error <= 0.9 * _CLOSE * (1 + abs(about) - error):
                return True  # any rounding is allowed here
        values = point.exact
        exact = Fraction(read[1].at(values))
        size = max(
            abs(exact), *(abs(Fraction(number * values[name])) for name, number in read[1].terms.items()), Fraction(0)
        )
        if ran == 0 and exact == 0:
            return math.copysign(1, ran) > 0  # the reading refuses what may be −0.0
        return math.isfinite(ran) and abs(Fraction(ran) - exact) <= Fraction(_CLOSE) * (1 + size)
    if kind in ("list", "tuple"):
        members = read[1:]
        return len(members) == len(ran) and all(_same(a, b, point, widened) for a, b in zip(members, ran, strict=True))
    if kind == "dict":
        pairs = list(ran.items())
        return len(pairs) == len(read) - 1 and all(
            _same(a, key, point, widened) and _same(b, value, point, widened)
            for (a, b), (key, value) in zip(read[1:], pairs, strict=True)
        )
    return kind == "none" or bool(ran == read[1])


def _difference(data: Sequence[Any], made: Sequence[Any], output: Any, leaf: ProgramPath | None) -> str:
    tree = "no path"
    if leaf is not None:
        asked = ", ".join(str(draw.asked[0]) for draw in leaf.draws)
        tree = f"one that draws {asked or 'nothing'} and returns {leaf.output!r:.200}"
    return f"on data {list(data)} and draws {made!r:.300} it returns {output!r:.200}, where the tree has {tree}"
