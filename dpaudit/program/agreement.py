"""Does the tree describe the program? Concrete runs of the program, compared with the tree on the same draws.

A proof is about the tree. Concrete runs test that the tree describes the program: every run must make the draws of the
tree's path and return that path's output. A run that comes so close to a branch that rounding may decide it is skipped
and counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpaudit.program.noise import Noise, ScalarNoise, Tape
from dpaudit.program.outcome import Raised, run_once
from dpaudit.program.symbolic.linear import Affine, Constraint, Rational, as_float, spend
from dpaudit.program.symbolic.noise import UnknownNumber
from dpaudit.program.symbolic.tree import (
    DEPTH,
    Output,
    ProgramPath,
    ProgramTree,
    draw_name,
    program_value,
    supports,
    tree_value,
)
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
    """

    def __init__(self) -> None:
        self.runs = self.passed_over = 0
        self.seen: set[int] = set()
        self.missed: list[ProgramPath] = []
        self.disagreement: str | None = None

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
        plain = {name: _as_python(value) for name, value in parameters.items()}
        ran: list[tuple[RunInput, list[tuple[tuple[Any, ...], Any]], Any]] = []
        with lent():
            for each in given:
                spend(15)
                noise = _Recorder(rng, each.tape)
                data = list(each.data) if type(each.data) is list else each.data
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
        values = {name: _python_number(value) for name, value in given.values.items()}
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


def _python_number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _taken_down(output: Any, depth: int = 0) -> Any:
    """Return a copy of an output that no later run can change, to the depth to which outputs are read."""
    kind = type(output)
    if depth <= DEPTH:
        if kind in (list, tuple):
            return kind([_taken_down(member, depth + 1) for member in output])
        if kind is dict:
            return {_taken_down(key, depth + 1): _taken_down(member, depth + 1) for key, member in output.items()}
    return _python_number(output)


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


def _as_python(value: Any) -> Any:
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


# --- Does the program do on every path what was read there? ---
#
# Random runs reach only common paths. So data and draws are also chosen from the region that the conditions of a path
# describe: one point far inside (by a linear programme), and others along a random walk through the region (hit and
# run: Smith 1984). Such a run must draw, branch and return what the path says, with plain floats, NumPy floats, and
# integers.

MOST_PATHS = 40  # whose regions are searched, besides those that random runs reached; chosen to take seconds
_BOX, _WIDE = 30.0, 1e6  # bounds on a region, in units of the largest scale
_STEPS = 6  # of a random walk, enough to leave the first point
_FINE = 16  # a point is rounded to a sixteenth of its distance from the region's edge


def compare_regions(
    tree: ProgramTree,
    program: Callable[..., Any],
    data: Any,
    parameters: Mapping[str, Any],
    compared: ComparedRuns,
    *,
    seed: int = 0,
    most: int = MOST_PATHS,
) -> None:
    """Compare runs from the regions of paths that no run has reached yet."""
    rng = np.random.default_rng(seed)
    names = dict(_unknowns(data))
    left = [leaf for leaf in tree.leaves if not leaf.is_null and leaf.node not in compared.seen]
    chosen = left if len(left) <= most else [left[len(left) * place // most] for place in range(most)]
    widest = max((float(draw.scale) for leaf in chosen for draw in leaf.draws), default=1.0)
    given = []
    for place, leaf in enumerate(chosen):
        spend(10)
        for number, point in enumerate(_points(leaf, names, widest, rng)):
            tape = _tape(leaf, point)
            kinds: list[Callable[[Any], Any]] = [_float] if number else [_float, np.float64]
            if not number and place % 4 == 0:
                kinds.append(round)
            for kind in kinds:
                values = {name: (round if names[name] else kind)(point[name]) for name in names}
                given.append(RunInput(_filled(data, values), values, tape))
    compared.run(tree, program, given, parameters, rng)
    compared.missed += [leaf for leaf in chosen if leaf.node not in compared.seen]


def _float(value: float) -> float:
    return float(value)


def _unknowns(data: Any) -> list[tuple[str, bool]]:
    if isinstance(data, UnknownNumber):
        return [(data.name, data.is_whole)]
    if type(data) in (list, tuple):
        return [unknown for member in data for unknown in _unknowns(member)]
    if type(data) is dict:
        return [unknown for member in data.values() for unknown in _unknowns(member)]
    return []


def _filled(data: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(data, UnknownNumber):
        return values[data.name]
    if type(data) in (list, tuple):
        return type(data)(_filled(member, values) for member in data)
    if type(data) is dict:
        return {key: _filled(member, values) for key, member in data.items()}
    return float(data) if isinstance(data, Fraction) else data


def _points(
    leaf: ProgramPath, names: Mapping[str, bool], widest: float, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return points of a region: one far inside and two of a random walk; none if none was found."""
    variables = [*names, *(draw_name(number) for number in range(len(leaf.draws)))]
    whole = [*names.values(), *(draw.is_discrete for draw in leaf.draws)]
    rows, sides, equal = _matrix([*leaf.conditions, *supports(leaf.draws)], variables)
    far = 4.0 * len(variables) if any(whole) else widest
    for box in (_BOX * widest, _WIDE * widest, _WIDE**2 * widest):
        inside = _deepest(rows, sides, ~equal, box, far)
        if inside is not None:
            break
    else:  # perhaps the region is flat, as where some data are equal
        box = _BOX * widest
        equal = _tight(rows, sides, equal, box)
        inside = _deepest(rows, sides, ~equal, box, far)
        if inside is None:
            return []
    centre, depth = inside
    points = [_rounded(centre, whole, depth)]
    here = centre
    if not equal.any():
        for step in range(_STEPS):
            way = rng.normal(size=len(variables))
            along, room = rows @ way, rows @ here + sides
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = -room / along
            low = max([*ends[along > 1e-12], -box], default=-box)
            high = min([*ends[along < -1e-12], box], default=box)
            if not low < high:
                break
            here = here + way * (low + (high - low) * rng.uniform(0.02, 0.98))
            if step % 3 == 2:
                points.append(_rounded(here, whole, float(np.min(rows @ here + sides, initial=widest))))
    return [dict(zip(variables, map(float, point), strict=True)) for point in points]


def _matrix(
    conditions: Sequence[Constraint], variables: Sequence[str]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return rows, sides and a mask of equalities for rows·v + sides ≥ 0; each row's largest coefficient is 1."""
    rows, sides, equal = [], [], []
    for condition in conditions:
        terms = condition.expression.terms
        if not terms:
            continue
        size = max(abs(Fraction(number)) for number in terms.values())
        rows.append([float(Fraction(terms.get(name, 0)) / size) for name in variables])
        sides.append(float(Fraction(condition.expression.constant) / size))
        equal.append(condition.sign == "=")
    shape = (len(rows), len(variables))
    return np.array(rows, dtype=float).reshape(shape), np.array(sides, dtype=float), np.array(equal, dtype=bool)


def _tight(
    rows: np.ndarray[Any, Any], sides: np.ndarray[Any, Any], equal: np.ndarray[Any, Any], box: float
) -> np.ndarray[Any, Any]:
    """Return a mask of the equalities, and of the rows that are 0 in all of the region."""
    from scipy.optimize import linprog

    count, many = rows.shape[1], len(rows)
    sharp = ~equal
    if not count or not sharp.any():
        return equal
    solution = linprog(
        np.r_[np.zeros(count), -np.ones(many)],
        A_ub=np.c_[-rows, np.eye(many)][sharp],
        b_ub=sides[sharp],
        A_eq=np.c_[rows, np.zeros((many, many))][equal] if equal.any() else None,
        b_eq=-sides[equal] if equal.any() else None,
        bounds=[(-box, box)] * count + [(0, 1)] * many,
        method="highs",
    )
    return equal | (solution.x[count:] <= 0) if solution.success and solution.x is not None else equal


def _deepest(
    rows: np.ndarray[Any, Any], sides: np.ndarray[Any, Any], sharp: np.ndarray[Any, Any], box: float, depth: float
) -> tuple[np.ndarray[Any, Any], float] | None:
    """Return the point farthest from all edges, up to a depth, and its distance."""
    from scipy.optimize import linprog  # takes 0.1 s, which most audits do not need

    count = rows.shape[1]
    if not count:
        return np.zeros(0), depth
    weights: np.ndarray[Any, Any] = np.abs(rows).sum(axis=1, keepdims=True)
    solution = linprog(
        np.r_[np.zeros(count), -1.0],
        A_ub=np.c_[-rows[sharp], weights[sharp]] if sharp.any() else None,
        b_ub=sides[sharp] if sharp.any() else None,
        A_eq=np.c_[rows[~sharp], 0 * weights[~sharp]] if not sharp.all() else None,
        b_eq=-sides[~sharp] if not sharp.all() else None,
        bounds=[(-box, box)] * count + [(0, depth)],
        method="highs",
    )
    deepest = solution.x
    if not solution.success or deepest is None or not deepest[-1] > 0:
        return None
    return deepest[:-1], float(deepest[-1])


def _rounded(point: np.ndarray[Any, Any], whole: Sequence[bool], depth: float) -> np.ndarray[Any, Any]:
    """Round a point to few bits, so that sums of its numbers are exact, and integer variables to integers."""
    fine = 2.0 ** math.floor(math.log2(max(depth, 1e-30) / _FINE))
    return np.where(whole, np.round(point), np.round(point / fine) * fine)


def _tape(leaf: ProgramPath, point: Mapping[str, float]) -> Tape:
    """Return the draws of the program for which the tree's draws are those of a point."""
    made: Tape = []
    for number, draw in enumerate(leaf.draws):
        drawn_value = program_value(draw, point[draw_name(number)])
        made.append(
            (("pick" if draw.asked[0] == "choice" else draw.asked[0], *map(float, draw.asked[1:])), drawn_value)
        )
    return made
