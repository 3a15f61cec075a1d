"""Does the program release what was read of it, and does a record move it no farther? Runs on neighbouring frames.

Every run is recorded on one frame, and a run on a neighbour frozen to it, released values and all: the two must release
the same kinds of things, return the same, and no private value may move by more than was derived. That is evidence that
the reading is right, and no proof of it. It also shows the pair that loses most, which an audit looks at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpaudit.decimals import decimal_of
from dpaudit.neighbours import Relation
from dpaudit.program.coverage.watching import WatchedProgram
from dpaudit.program.outcome import Raised, same
from dpaudit.program.symbolic.budget import spend
from dpaudit.program.tracked.movement import Ball
from dpaudit.program.tracked.reading import Releases
from dpaudit.program.tracked.rows import ColumnDomain
from dpaudit.settings import lent
from dpaudit.tracing.recording import Recorder
from dpaudit.tracing.released import FLIPPED, Released, released, run_released
from dpaudit.verify.releases.frames import FrameMaker
from dpaudit.verify.releases.kinds import conditions_of, kinds_of, moved

PAIRS = 200
GIVEN_PAIRS = 10  # of given data, which may be large
_SPREADS = (1.0, 1.0, 0.0, 30.0)
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Compared:
    """What runs on neighbouring frames showed.

    Attributes:
        runs: how many runs on random frames were compared with what was read.
        passed_over: how many were not, because the data of one side alone have a key that a threshold cuts.
        disagreement: the first thing that differs from what was read, in words; None where all agree.
        worst: the pair that loses most.
        raised: how many runs raised an exception.
        changed: whether the program changed the frame that it was given.
    """

    runs: int
    passed_over: int
    disagreement: str | None
    worst: tuple[Any, Any]
    raised: int
    changed: bool = False


def compare(
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    domain: Mapping[str, ColumnDomain],
    relation: Relation,
    releases: Releases | None,
    *,
    notion: str,
    watched: WatchedProgram | None,
    seed: int = 0,
    pairs: int = PAIRS,
    data: Any = None,
) -> Compared:
    """Run a program on random neighbouring frames.

    Args:
        function: called as ``function(frame, noise, **parameters)``.
        parameters: plain.
        domain: what the columns hold.
        relation: which frames are neighbours.
        releases: what was read; None where the program was refused, and only the worst pair is wanted.
        notion: in which the loss of a pair counts: "epsilon", "rho" or "mu".
        watched: what is told which code runs came through; None to follow nothing.
        seed: of the frames, and of the noise.
        pairs: how many.
        data: a frame over the domain of which neighbours are tried, too; the pair that is returned is never of it.
    """
    rng = np.random.default_rng(seed)
    maker = FrameMaker(domain, relation, rng, _marks(releases, watched))
    allowed = None if releases is None else _Allowed(releases, replace=relation.kind == "replace")
    disagreement, worst, most, raising, over = None, None, -1.0, 0, 0
    with lent():
        given_pairs = 0 if data is None or not len(data) else GIVEN_PAIRS
        for number in range(pairs + given_pairs):
            spend(400)
            pair = maker.pair() if number < pairs else maker.neighbours(data)
            outputs: list[Any] = []
            recorders: list[Recorder] = []
            for frame in pair:
                given = frame.copy()
                call = partial(_called, function, given, dict(parameters))
                spread = _SPREADS[number % len(_SPREADS)]
                with nullcontext() if watched is None else watched.runs.following():
                    output, recorder = run_released(call, [seed, number], spread, *recorders)
                outputs.append(output)
                recorders.append(recorder)
                if not frame.equals(given):
                    why = "the program changes its data; it must work on a copy"
                    shown = pair if worst is None else worst
                    return Compared(2 * number + len(outputs), over, why, shown, raising, changed=True)
            raising += sum(isinstance(output, Raised) for output in outputs)
            first, second = map(list, map(released, recorders))
            loss, told = _difference(first, second, recorders, outputs, notion)
            if allowed is not None and allowed.is_cut(first, second, recorders[1].diverged):
                over += 2 * (number < pairs)
            elif told is None and allowed is not None:
                told = allowed.exceeded(first, second)
                disagreement = disagreement or told
            else:
                disagreement = disagreement or told
            if number < pairs and (
                loss > most or (loss == most and worst is not None and len(pair[0]) < len(worst[0]))
            ):
                worst, most = pair, loss
    assert worst is not None
    return Compared(2 * pairs - over, over, disagreement, worst, raising)


def _marks(releases: Releases | None, watched: WatchedProgram | None) -> list[Fraction]:
    """Return the numbers that decide something: those of conditions, and those that stand in the program."""
    found: dict[Fraction, None] = {}
    for release in () if releases is None else releases.lines:
        for movement in release.values:
            for each in conditions_of(movement):
                if isinstance(each.operand, Fraction):
                    found.setdefault(each.operand)
    pending: list[Any] = [] if watched is None else [code.co_consts for code in watched.coverage.ran]
    while pending:
        value = pending.pop()
        if isinstance(value, tuple | frozenset):
            pending += value
        elif type(value) is int or (type(value) is float and math.isfinite(value)):
            found.setdefault(decimal_of(value))
    return list(found)


def _called(function: Callable[..., Any], frame: Any, parameters: Mapping[str, Any], noise: Any) -> Any:
    return function(frame, noise, **parameters)


def _difference(
    first: Sequence[Released],
    second: Sequence[Released],
    recorders: Sequence[Recorder],
    outputs: Sequence[Any],
    notion: str,
) -> tuple[float, str | None]:
    """Return what two runs lose that released the same, infinite where they can be told apart, and why."""
    if any(each.too_long for each in recorders):
        return math.inf, "a run does more with its noise than is followed"
    where = recorders[1].diverged
    for one, other in zip(first, second, strict=False):
        if not one.is_like(other):
            where = where or other.where
            return math.inf, f"{where}: a neighbour releases another number of things there, or at another scale"
    if where is not None or len(first) != len(second):
        return math.inf, (
            f"{where}: a neighbour makes more releases, or fewer, or of another size, when all that was released is "
            "the same"
        )
    if not same(*outputs):
        return math.inf, "a neighbour returns something else when all that was released is the same"
    loss = 0.0
    for one, other in zip(first, second, strict=True):
        far = np.abs(one.values - other.values) / one.scale
        if not np.all(np.isfinite(far)):
            return math.inf, f"{one.where}: noise on a number that is not finite"
        if one.law in ("select", "propose_test_release"):
            eta = float(np.ptp((one.values - other.values) / one.scale))
            loss += eta if notion == "epsilon" else eta**2 / 8
        else:
            loss += float(np.sum(far) if notion == "epsilon" and "gaussian" not in one.law else np.sum(far**2) / 2)
    return loss, None


class _Allowed:
    """How far each release may move each of its values, by the line of the program that makes it."""

    def __init__(self, releases: Releases, *, replace: bool) -> None:
        self._limits: dict[str, list[tuple[str, list[tuple[float, float]]]]] = {}
        for release in dict.fromkeys(release for path in releases.paths for release in path):
            kinds = kinds_of([release], releases.columns)
            limits = []
            for movement in release.values:
                ends = [moved(movement, one, other) for one in kinds for other in (kinds if replace else (None,))]
                low, high = min(low for low, _ in ends), max(high for _, high in ends)
                if not replace:
                    low, high = min(low, -high), max(high, -low)
                limits.append((_over(low, release.scale), _over(high, release.scale)))
            is_ball = isinstance(release.values[0], Ball)
            law = "ball" if is_ball else "keys" if release.law == "laplace_threshold" else release.law
            for line in releases.lines.get(release, (release.line,)):
                self._limits.setdefault(line.partition(" (")[0], []).append((law, limits))

    def is_cut(self, first: Sequence[Released], second: Sequence[Released], diverged: str | None) -> bool:
        """Whether two runs have different keys where a threshold cuts those of the data: there, a δ is paid."""
        unlike = [one for one, other in zip(first, second, strict=False) if one.keys != other.keys]
        if not unlike and diverged is not None:
            unlike = [each for each in first[len(second) : len(second) + 1] if each.where == diverged]
        return any(law == "keys" for each in unlike for law, _ in self._limits.get(each.line, ()))

    def exceeded(self, first: Sequence[Released], second: Sequence[Released]) -> str | None:
        """Say where a value moved farther than was derived; None where none did."""
        for one, other in zip(first, second, strict=True):
            known = self._limits.get(one.line)
            if known is None:
                return f"{one.where}: a run releases something there, and the reading does not"
            room = _SLACK * (1 + float(np.max(np.abs(one.values), initial=0.0))) / one.scale + _SLACK
            apart = (other.values - one.values) / one.scale
            if not any(_allows(law, limits, one.law, apart, room) for law, limits in known):
                return f"{one.where}: a record moves a value by more than was derived"
        return None


def _allows(law: str, limits: list[tuple[float, float]], ran: str, apart: Any, room: float) -> bool:
    if law == "ball":
        return ran == "gaussian" and float(np.linalg.norm(apart)) <= limits[0][1] + room
    if law == FLIPPED == ran:  # one bit for each record: how many differ
        return int(np.count_nonzero(apart)) <= max(-limits[0][0], limits[0][1])
    if law == "keys":  # of the data: one limit for all
        law, limits = "laplace", limits * len(apart)
    if law != ran or len(limits) != len(apart):
        return False
    return all(low - room <= value <= high + room for (low, high), value in zip(limits, apart, strict=True))


def _over(value: Fraction, scale: Fraction) -> float:
    return float(value / scale)
