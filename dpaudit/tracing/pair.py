"""What do a few runs on a pair of neighbours show? Recorded on D, replayed on D′, and held against each other.

For each direction: a recorded run; a run with the same noise, which has to return the same; a frozen run on the other
dataset; the cheapest shift of the noise; and a run on the other dataset with shifted noise, which has to return what
was recorded. Where code branches on noise there are several paths, some of them forced by extreme noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpaudit.privacy import Claim
from dpaudit.targets.signature import Shape
from dpaudit.tracing.certain import Certain, certain, constant_choice, constant_line
from dpaudit.tracing.enumerated import enumerated
from dpaudit.tracing.findings import Found, Path, Traced, Word
from dpaudit.tracing.forced import forced, noises
from dpaudit.tracing.path import DIVERGED, Task, follow_path, wider
from dpaudit.tracing.runs import Closing, Run, Target
from dpaudit.tracing.telling import LEAST

PATHS = 24
"""Paths of each direction that are tried where code branches on noise."""
_UNSEEDED = "Draw from a generator that is given no seed."
_PUBLIC_KEYS = "Release the same keys and shape for all data: those of a public list, with 0 where there is nothing."
_FRESH = 4  # runs with noise of their own that say what is constant
_RARER = 8  # times as many runs where what is seldom may tell the sides apart
_EXTREMES = (1e-9, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-9)


def trace_pair(
    target: Target,
    pair: tuple[Any, Any],
    claim: Claim | None,
    *,
    seed: int,
    paths: int = PATHS,
    quick: bool = False,
) -> Traced:
    """Return what a few runs show on a pair."""
    before = target.runs
    task = Task(target, pair, claim, seed, quick, LEAST * min(paths - 1, _RARER))
    recorded: tuple[list[Run], list[Run]] = ([], [])
    tried: list[Path] = []
    for side in (0, 1):
        tried += _direction(task, side, 1 if quick else paths, recorded)
    open_ = target.closes is not Closing.NO or any(_unfollowed(path) or path.checked is False for path in tried)
    sure = None if quick or open_ else _certain(task, recorded)
    if not quick:
        _say_constant(tried, recorded, target.seeded_at_import(pair[0], seed))
    if sure is not None:
        _say_certain(tried, sure, claim)
    tried.sort(key=lambda path: path.rank, reverse=True)
    unseen = dict.fromkeys(text for runs in recorded for each in runs for text in each.recorder.unseen)
    seconds = float(np.median([each.seconds for runs in recorded for each in runs]))
    return Traced(tried, sure, target.runs - before, seconds, list(unseen))


def first_look(
    target: Target, pair: tuple[Any, Any], claim: Claim | None, seed: int, known: list[tuple[Any, Run]]
) -> Path:
    """Return what one run shows that is frozen to a run on the first dataset."""
    if not known or known[0][0] is not pair[0]:
        known[:] = [(pair[0], target.run(pair[0], seed))]
    return follow_path(Task(target, pair, claim, seed, True), 0, known[0][1], seed, first=False)


def _unfollowed(path: Path) -> bool:
    """Whether a path says that not all of the run was followed."""
    return any(each.word is Word.NOT_SEEN and "follow" in each.text for each in path.found)


def _say_constant(tried: list[Path], recorded: tuple[list[Run], list[Run]], at_import: str) -> None:
    """Say where noise is the same in every run, or process: it hides nothing, whatever its scale."""
    for side, runs in enumerate(recorded):
        own = [each.recorder for each in runs if each.recorder.given is None]
        where = constant_line(own) or constant_choice(own)
        path = next(path for path in tried if path.side == side)
        if where is not None and path.word < Word.LEAKS:
            seeds = next((f", seeded with {seed} at {line}" for line, seed in own[0].seeds), "")
            text = f"the noise is the same in every run{seeds}"
            path.found.insert(0, Found(Word.NOT_SUPPORTED, text, where, instead=_UNSEEDED))
        elif at_import and path.word < Word.LEAKS:
            text = "the noise is the same in every process: a fixed seed, as the module is imported"
            path.found.insert(0, Found(Word.NOT_SUPPORTED, text, at_import, instead=_UNSEEDED))


def _say_certain(tried: list[Path], sure: Certain, claim: Claim | None) -> None:
    """Put what is certain first; where it is the whole loss, nothing else is said."""
    worst = max(tried, key=lambda path: path.rank)
    violated = claim is not None and sure.epsilon > claim.value
    if violated or sure.epsilon == math.inf:
        word = Word.LEAKS if sure.leaks else Word.VIOLATED
        constant = next((each for each in worst.found if each.instead == _UNSEEDED), None)
        if constant is None:
            keys = _PUBLIC_KEYS if sure.where and "another form" in sure.why else ""
            instead = (
                keys or next((each.instead for each in worst.found if each.instead), "") or wider(sure.steps, claim)
            )
            worst.found.insert(0, Found(word, sure.why, sure.where, _met_first(worst), instead))
        else:  # its line says more than the place in the output
            text = f"{constant.text}: {sure.where} holds {sure.why}" if not sure.steps else constant.text
            worst.found.insert(0, Found(word, text, constant.where, _met_first(worst), constant.instead))
    elif sure.whole and claim is not None:
        for path in tried:
            path.found = [Found(Word.SUPPORTED, f"all ways through its choices were tried: ε = {sure.epsilon:.4g}")]


def _met_first(path: Path) -> str:
    return next((each.met for each in path.found if each.met), "")


def _direction(task: Task, side: int, paths: int, recorded: tuple[list[Run], list[Run]]) -> Iterator[Path]:
    """Yield what is found on the paths that begin on one side; their recorded runs are kept."""
    for number, given in zip(range(paths), noises(recorded[side]), strict=False):
        seed = task.seed + 101 * number
        first = number == 0 and not task.quick
        for again in (False, True):
            run = task.target.run(task.pair[side], seed + 13 * side, given=given)
            if run.raised and task.target.wants_floats(task.pair[side], seed):
                run = task.target.run(task.pair[side], seed + 13 * side, given=given)
            path = follow_path(task, side, run, seed, first=first)
            if _diverged(path) and task.target.closes is Closing.NO and Closing.DIVERGES not in task.target.wanted:
                run, path = _closing(task, side, run, path, seed, first=first)
            if again or not first or not _unfollowed(path):
                break  # else what is imported and made at the first call has taken part in it
        recorded[side].append(run)
        yield path
        if not path.branches or path.word >= Word.NOT_SUPPORTED:
            return


def _diverged(path: Path) -> bool:
    return any(each.text == DIVERGED for each in path.found)


def _closing(task: Task, side: int, run: Run, path: Path, seed: int, *, first: bool) -> tuple[Run, Path]:
    """Try runs that close, once for a target: what is computed of released numbers then decides alike on both sides."""
    task.target.wanted.add(Closing.DIVERGES)
    task.target.closes = Closing.DIVERGES
    other = task.target.run(task.pair[side], seed + 13 * side)
    found = follow_path(task, side, other, seed, first=first)
    if _unfollowed(found) or found.runs is None:
        task.target.closes = Closing.NO
        return run, path
    return other, found


# --- what is certain --------------------------------------------------------------------------------------


def _certain(task: Task, recorded: tuple[list[Run], list[Run]]) -> Certain | None:
    """Make the runs that a certain statement takes, where there may be one."""
    target, pair, claim, seed = task.target, task.pair, task.claim, task.seed
    first = [runs[0] for runs in recorded]
    if any(each.output is None or each.recorder.unseen for each in first):
        return None
    kinds = {event.kind for each in first for event in each.recorder.events}
    if "unit" in kinds:
        return None
    if not kinds:
        if target.mechanism.shape is not Shape.PROGRAM:
            return None  # its randomness may be where nobody looked
        sides = tuple(
            [runs[0], *(target.run(data, seed + 17 * k) for k in range(1, _FRESH))]
            for runs, data in zip(recorded, pair, strict=True)
        )
        return certain((sides[0], sides[1]), claim)
    if kinds == {"choice"}:
        # what cannot be read cannot be told apart
        return None if any(each.unread for each in first) else enumerated(target, pair, claim, seed)
    for data, runs in zip(pair, recorded, strict=True):
        runs += [target.run(data, seed + 1009 * (number + 1)) for number in range(_FRESH)]
    linear = kinds == {"draw"}
    sides = tuple(_more(target, data, runs, seed, linear) for runs, data in zip(recorded, pair, strict=True))
    return certain((sides[0], sides[1]), claim)


def _more(target: Target, data: Any, recorded: Sequence[Run], seed: int, linear: bool) -> list[Run]:
    """Return fresh runs, and where nothing is decided runs with extreme noise: all of them have to agree."""
    fresh = [each for each in recorded if each.recorder.given is None][-_FRESH:]
    if not linear or constant_line([each.recorder for each in fresh]) is not None:
        return fresh
    extremes = [
        forced(recorded[0].recorder, quantile, pattern) for quantile in _EXTREMES for pattern in ("all", "in turn")
    ]
    return [*fresh, *(target.run(data, seed + 1, given=noise) for noise in extremes if noise is not None)]
