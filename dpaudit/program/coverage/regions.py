"""Does the program do on every path what was read there? Runs from the region of each path, compared with the path.

Random runs reach only common paths. So data and draws are also chosen from the region that the conditions of a path
describe: one point far inside (by a linear programme), and others along a random walk through the region (hit and run:
Smith 1984). Such a run must draw, branch and return what the path says, with plain floats, NumPy floats, and integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.coverage.agreement import ComparedRuns, RunInput
from dpaudit.program.scalar import Tape
from dpaudit.program.symbolic.budget import spend
from dpaudit.program.symbolic.linear import Constraint
from dpaudit.program.symbolic.noise import Unknown
from dpaudit.program.symbolic.tree import ProgramPath, ProgramTree, draw_name, program_value, supports

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
    if isinstance(data, Unknown):
        return [(data.name, data.is_whole)]
    if type(data) in (list, tuple):
        return [found for member in data for found in _unknowns(member)]
    if type(data) is dict:
        return [found for member in data.values() for found in _unknowns(member)]
    return []


def _filled(data: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(data, Unknown):
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
    found = [_rounded(centre, whole, depth)]
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
                found.append(_rounded(here, whole, float(np.min(rows @ here + sides, initial=widest))))
    return [dict(zip(variables, map(float, point), strict=True)) for point in found]


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
    found = linprog(
        np.r_[np.zeros(count), -np.ones(many)],
        A_ub=np.c_[-rows, np.eye(many)][sharp],
        b_ub=sides[sharp],
        A_eq=np.c_[rows, np.zeros((many, many))][equal] if equal.any() else None,
        b_eq=-sides[equal] if equal.any() else None,
        bounds=[(-box, box)] * count + [(0, 1)] * many,
        method="highs",
    )
    return equal | (found.x[count:] <= 0) if found.success and found.x is not None else equal


def _deepest(
    rows: np.ndarray[Any, Any], sides: np.ndarray[Any, Any], sharp: np.ndarray[Any, Any], box: float, depth: float
) -> tuple[np.ndarray[Any, Any], float] | None:
    """Return the point farthest from all edges, up to a depth, and its distance."""
    from scipy.optimize import linprog  # takes 0.1 s, which most audits do not need

    count = rows.shape[1]
    if not count:
        return np.zeros(0), depth
    weights: np.ndarray[Any, Any] = np.abs(rows).sum(axis=1, keepdims=True)
    found = linprog(
        np.r_[np.zeros(count), -1.0],
        A_ub=np.c_[-rows[sharp], weights[sharp]] if sharp.any() else None,
        b_ub=sides[sharp] if sharp.any() else None,
        A_eq=np.c_[rows[~sharp], 0 * weights[~sharp]] if not sharp.all() else None,
        b_eq=-sides[~sharp] if not sharp.all() else None,
        bounds=[(-box, box)] * count + [(0, depth)],
        method="highs",
    )
    deepest = found.x
    if not found.success or deepest is None or not deepest[-1] > 0:
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
        found = program_value(draw, point[draw_name(number)])
        made.append((("pick" if draw.asked[0] == "choice" else draw.asked[0], *map(float, draw.asked[1:])), found))
    return made
