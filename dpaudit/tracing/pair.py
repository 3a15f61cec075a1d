"""What do a few runs on a pair of neighbours show? Recorded on D, replayed on D′, and held against each other.

For each direction: a recorded run; a run with the same noise, which has to return the same; a frozen run on the other
dataset; the cheapest shift of the noise; and a run on the other dataset with shifted noise, which has to return what
was recorded. Where code branches on noise there are several paths, some of them forced by extreme noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.privacy import Claim
from dpaudit.targets.mechanism import Shape
from dpaudit.tracing.alignment import Conditions, conditions
from dpaudit.tracing.certain import Certain, certain, constant_line, repeated
from dpaudit.tracing.enumerated import enumerated
from dpaudit.tracing.laws import extreme
from dpaudit.tracing.price import OPEN, OVER, Price, priced
from dpaudit.tracing.recording import Recorder
from dpaudit.tracing.runs import Run, Target
from dpaudit.tracing.shift import Shift, Shifted, cheapest

PATHS = 24
"""Paths of each direction that are tried where code branches on noise."""
_FRESH = 4  # runs with noise of their own that say what is constant
_REPEATED = 32  # runs of a side that say whether an output is the same every time
_OFTEN = 12  # of them in which a key has to be there, if it is never there on the other side
_EXTREMES = (1e-9, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-9)


class Word(IntEnum):
    """What is found on a path; the later, the worse."""

    NOT_SEEN = 0
    SUPPORTED = 1
    NOT_PRICED = 2
    NOT_SUPPORTED = 3
    VIOLATED = 4
    LEAKS = 5

    def __str__(self) -> str:
        return WORDS[self]


WORDS = {
    Word.NOT_SEEN: "not seen",
    Word.SUPPORTED: "supported on this path",
    Word.NOT_PRICED: "not priced",
    Word.NOT_SUPPORTED: "not supported",
    Word.VIOLATED: "violated, given the stated laws",
    Word.LEAKS: "leaks",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found.

    Attributes:
        word: how much it says.
        text: in a sentence, without a full stop.
        where: the line, or the place of the output.
        met: the line of the first operation by which data that differ came to the noise; empty where it is not known.
    """

    word: Word
    text: str
    where: str = ""
    met: str = ""


@dataclass(slots=True)
class Path:
    """What was found on one path.

    Attributes:
        side: the dataset of the recorded run, 0 or 1.
        found: what was found, the worst first.
        price: of the shift; None where there is none.
        shift: the cheapest one that was found.
        recorder: of the recorded run, with its draws.
        stretch: how much the scale of the noise differs between the data: ln of the largest ratio.
        checked: whether a run with shifted noise returned the recorded output; None where none was made.
        branches: whether the run decided anything by its noise.
    """

    side: int
    found: list[Found]
    price: Price | None = None
    shift: Shift | None = None
    recorder: Recorder | None = None
    stretch: float = 0.0
    checked: bool | None = None
    branches: bool = False

    @property
    def word(self) -> Word:
        """The worst of what was found."""
        return max((each.word for each in self.found), default=Word.NOT_SEEN)

    @property
    def rank(self) -> tuple[int, float]:
        """By which the worst of several paths is the largest."""
        cost = 0.0 if self.price is None else self.price.epsilon + self.price.mu
        return int(self.word), (cost if cost == cost else 0.0) + self.stretch


@dataclass(slots=True)
class Traced:
    """What was found on a pair.

    Attributes:
        paths: all that were tried, the worst first.
        certain: what is certain of the pair; None where nothing is.
        runs: how many runs it took; ``seconds``: how long one takes.
        unseen: what was not followed.
    """

    paths: list[Path]
    certain: Certain | None
    runs: int
    seconds: float
    unseen: list[str] = field(default_factory=list)

    @property
    def worst(self) -> Path:
        """The worst path."""
        return self.paths[0]


def trace_pair(
    target: Target,
    pair: tuple[Any, Any],
    claim: Claim | None,
    *,
    seed: int,
    paths: int = PATHS,
    quick: bool = False,
) -> Traced:
    """Return what a few runs show on a pair.

    Args:
        target: what is run.
        pair: two neighbouring datasets.
        claim: what is claimed; without it nothing is over it.
        seed: of the noise.
        paths: how many paths of each direction are tried where code branches on noise.
        quick: whether to make as few runs as say which of many pairs to look at: no path is tried twice, and nothing
            is certain.
    """
    before = target.runs
    look = _Look(target, pair, claim, seed, quick)
    recorded: tuple[list[Run], list[Run]] = ([], [])
    tried: list[Path] = []
    for side in (0, 1):
        tried += _direction(look, side, 1 if quick else paths, recorded)
    sure = None if quick or any(map(_unfollowed, tried)) else _certain(look, recorded)
    if not quick:
        _say_constant(tried, recorded)
    if sure is not None:
        _say_certain(tried, sure, claim)
    tried.sort(key=lambda path: path.rank, reverse=True)
    unseen = dict.fromkeys(text for runs in recorded for each in runs for text in each.recorder.unseen)
    seconds = float(np.median([each.seconds for runs in recorded for each in runs]))
    return Traced(tried, sure, target.runs - before, seconds, list(unseen))


def _unfollowed(path: Path) -> bool:
    """Whether a path says that not all of the run was followed."""
    return any(each.word is Word.NOT_SEEN and "follow" in each.text for each in path.found)


def _say_constant(tried: list[Path], recorded: tuple[list[Run], list[Run]]) -> None:
    """Say where noise is the same in every run: it hides nothing, whatever its scale."""
    for side, runs in enumerate(recorded):
        own = [each.recorder for each in runs if each.recorder.given is None]
        where = constant_line(own)
        path = next(path for path in tried if path.side == side)
        if where is not None and path.word < Word.LEAKS:
            seeds = next((f", seeded with {seed} at {line}" for line, seed in own[0].seeds), "")
            path.found.insert(0, Found(Word.NOT_SUPPORTED, f"the noise is the same in every run{seeds}", where))


def _say_certain(tried: list[Path], sure: Certain, claim: Claim | None) -> None:
    """Put what is certain first; where it is the whole loss, nothing else is said."""
    worst = max(tried, key=lambda path: path.rank)
    violated = claim is not None and sure.epsilon > claim.value
    if violated or sure.epsilon == math.inf:
        word = Word.LEAKS if sure.leaks else Word.VIOLATED
        worst.found.insert(0, Found(word, sure.why, sure.where, _met_first(worst)))
    elif sure.whole and claim is not None:
        for path in tried:
            path.found = [Found(Word.SUPPORTED, f"all ways through its choices were tried: ε = {sure.epsilon:.4g}")]


@dataclass(slots=True)
class _Look:
    """What is looked at, and what all paths have in common."""

    target: Target
    pair: tuple[Any, Any]
    claim: Claim | None
    seed: int
    quick: bool
    known: list[str | None] = field(default_factory=list)

    @property
    def steady(self) -> str | None:
        """A place of the output that is the same in every run of a side, and another one on the other side."""
        if self.quick:
            return None
        if not self.known:
            self.known.append(_steady(self.target, self.pair, self.seed))
        return self.known[0]


def _met_first(path: Path) -> str:
    return next((each.met for each in path.found if each.met), "")


def _direction(look: _Look, side: int, paths: int, recorded: tuple[list[Run], list[Run]]) -> Iterator[Path]:
    """Yield what is found on the paths that begin on one side; their recorded runs are kept."""
    for number, given in zip(range(paths), _noises(recorded[side]), strict=False):
        seed = look.seed + 101 * number
        run = look.target.run(look.pair[side], seed + 13 * side, given=given)
        recorded[side].append(run)
        path = _path(look, side, run, seed, first=number == 0 and not look.quick)
        yield path
        if not path.branches or path.word >= Word.NOT_SUPPORTED:
            return


def _noises(recorded: Sequence[Run]) -> Iterator[Floats | None]:
    """Yield the noise of each path: its own, or extreme noise, which forces what would seldom happen."""
    yield None
    yield None
    for quantile, pattern in _PATTERNS:
        longest = max((each.recorder for each in recorded), key=lambda recorder: recorder.columns)
        yield _forced(longest, quantile, pattern)
    while True:
        yield None


_FAR = 1e-6
_PATTERNS = (
    (_FAR, "but the first"), (_FAR, "but the ends"), (_FAR, "all"), (1 - _FAR, "all"), (_FAR, "in turn"),
    (1 - _FAR, "in turn"),
)  # fmt: skip


def _forced(recorder: Recorder, quantile: float, pattern: str) -> Floats | None:
    """Return noise at one quantile: "all" of it; with "in turn" every second draw at the other end; with "but the
    first" that one in the middle, as the noise of a threshold; with "but the ends" also the last at the other end.
    """
    parts = []
    turn = 0
    for block in recorder.blocks:
        if block.made is not None:
            continue
        levels = np.full(len(block.values), quantile)
        if pattern == "in turn":
            turns = (turn + np.arange(len(levels))) % 2 == 1
            levels[turns] = 1 - quantile
        turn += len(levels)
        made = extreme(block.law, block.scale, levels)
        if made is None:
            return None
        parts.append(made)
    if not parts:
        return None
    whole = np.concatenate(parts)
    if pattern in ("but the first", "but the ends"):
        middle = _forced(recorder, 0.5, "all")
        whole[0] = 0.0 if middle is None else middle[0]
    if pattern == "but the ends" and len(whole) > 1:
        other = _forced(recorder, 1 - quantile, "all")
        whole[-1] = whole[-1] if other is None else other[-1]
    return whole


# --- one path ---------------------------------------------------------------------------------------------


def _path(look: _Look, side: int, run: Run, seed: int, *, first: bool) -> Path:
    target, pair = look.target, look.pair
    path = Path(side, [], recorder=run.recorder)
    path.branches = any(event.kind in ("compare", "extreme", "choice") for event in run.recorder.events)
    if run.output is None:
        path.found.append(Found(Word.NOT_PRICED, "it does more with its noise than is followed"))
        return path
    if first and look.target.raised_plainly(look.pair[side], seed) != run.raised.partition(":")[0]:
        path.found.append(Found(Word.NOT_SEEN, f"a run that is followed {_ends(run)}, and one that is not does not"))
        return path
    if not run.recorder.columns and not any(event.kind == "choice" for event in run.recorder.events):
        path.found.append(_without_noise(look, side, run, seed))
        return path
    drawn = _drawn(run.recorder)
    if first and not _repeats(target, pair[side], run, drawn, seed):
        path.found.append(
            Found(
                Word.NOT_SEEN,
                "with the same noise it returns something else: there is randomness that was not followed",
            )
        )
        return path
    again = None if run.recorder.given is not None else repeated(run.recorder)
    if again is not None:
        path.found.append(Found(Word.NOT_SUPPORTED, "the same noise is drawn twice, and counts once", again))
    frozen = target.run(pair[1 - side], seed + 1, reference=run)
    if frozen.output is None:
        path.found.append(_diverged(look, frozen))
        return path
    if run.raised and frozen.raised:
        path.found.append(Found(Word.NOT_SEEN, f"it raises on both sides: {run.raised[:100]}"))
        return path
    _judged(look, path, run, frozen, seed)
    return path


def _ends(run: Run) -> str:
    return f"raises ({run.raised[:100]})" if run.raised else "returns"


def _drawn(recorder: Recorder) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the columns that were drawn, in the order in which noise is handed out."""
    parts = [block.first + np.arange(len(block.values)) for block in recorder.blocks if block.made is None]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _repeats(target: Target, data: Any, run: Run, drawn: Any, seed: int) -> bool:
    given = run.recorder.noise()[drawn]
    again = target.run(data, seed + 7919, given=given, choices=run.recorder.choices())
    return again.output is not None and run.same_output(again)


def _without_noise(look: _Look, side: int, run: Run, seed: int) -> Found:
    other = look.target.run(look.pair[1 - side], seed)
    if run.raised and other.raised:
        return Found(Word.NOT_SEEN, f"it raises on both sides: {run.raised[:100]}")
    if run.same_output(other):
        return Found(Word.NOT_SEEN, "no noise was met, and the output is the same on both sides")
    if look.quick:
        return Found(Word.NOT_SUPPORTED, "no noise was met, and the output differs")
    steady = look.steady
    if steady is None:
        return Found(Word.NOT_SEEN, "no noise was met that is followed, and the output varies")
    return Found(Word.NOT_SUPPORTED, "no noise was met, and the output differs and repeats", steady)


def _steady(target: Target, pair: tuple[Any, Any], seed: int) -> str | None:
    """Return a place of the output that is the same in every run of a side, and another one on the other side.

    Or a key that is often there on one side, and never on the other.
    """
    sides: list[list[dict[str, Any]]] = []
    for data in pair:
        made = [target.run(data, seed + 31 * (number + 1)) for number in range(_REPEATED)]
        if any(each.output is None for each in made):
            return None
        sides.append([_by_place(each) for each in made])
    for place in {**sides[0][0], **sides[1][0]}:
        values = [{str(each.get(place, "absent")) for each in side} for side in sides]
        if len(values[0]) == len(values[1]) == 1 and values[0] != values[1]:
            return place
        there = [sum(place in each for each in side) for side in sides]
        if "['" in place and min(there) == 0 and max(there) >= _OFTEN:
            return place
    return None


def _by_place(run: Run) -> dict[str, Any]:
    assert run.output is not None
    return {
        **{f"{place} (its form)": text for place, text in run.output.structure},
        **dict(zip(run.output.places, run.output.values.tolist(), strict=True)),
    }


def _diverged(look: _Look, frozen: Run) -> Found:
    where, steady = frozen.recorder.diverged or "", look.steady
    if steady is not None:
        return Found(
            Word.NOT_SUPPORTED, f"{steady} tells the sides apart: it is steady, or there on one side alone", where
        )
    return Found(Word.NOT_PRICED, "on the other side it draws or decides something else", where)


def _judged(look: _Look, path: Path, run: Run, frozen: Run, seed: int) -> None:
    claim = look.claim
    asked = conditions(run, frozen)
    shift = path.shift = cheapest(asked, run.recorder)
    path.stretch = asked.stretch
    for where in dict.fromkeys(asked.scales):
        path.found.append(Found(Word.NOT_SUPPORTED, "the scale of the noise depends on the data", where))
    if shift.trouble:
        path.found.append(_trouble(look, asked, shift, run))
        return
    if asked.scales:
        return
    price = path.price = priced(shift.moved, shift.chance, claim)
    moved = max(shift.moved, key=lambda each: each.cost, default=None)
    where = moved.site if moved is not None else (asked.coins[0] if asked.coins else "")
    met = "" if moved is None else brought(run, frozen, moved)
    if shift.testable and (shift.moved or asked.coins):
        path.checked = _reached(look.target, look.pair[1 - path.side], run, shift, seed)
    if shift.unpriced:
        path.found.append(Found(Word.NOT_PRICED, shift.unpriced[0], where, met))
    elif path.checked is False:
        path.found.append(
            Found(
                Word.NOT_PRICED,
                "the shifted noise does not give the same output: not all that is done with it was followed",
                where,
                met,
            )
        )
    elif price.answer == OVER and not shift.moved:
        path.found.append(
            Found(
                Word.NOT_PRICED,
                "choices cost more than is claimed on this path; what they are worth in the output is not known",
                where,
            )
        )
    elif price.answer == OVER and asked.generous:
        path.found.append(
            Found(Word.NOT_PRICED, f"{_costs(price)}, which may be more than is lost: {asked.generous[0]}", where, met)
        )
    elif price.answer == OVER:
        path.found.append(Found(Word.NOT_SUPPORTED, f"{_far(moved)}; {_costs(price)}", where, met))
    elif price.answer == OPEN and claim is not None:
        path.found.append(
            Found(Word.NOT_PRICED, f"{_costs(price)}; whether the claim allows that is not worked out", where, met)
        )
    else:
        path.found.append(Found(Word.SUPPORTED, _costs(price), where, met))


def _far(moved: Shifted | None) -> str:
    if moved is None:
        return "the noise moves too far"
    about = "about " if moved.recognised else ""
    return f"{moved.law.name} noise of scale {about}{moved.scale:.4g} has to hide a move of {abs(moved.by):.4g}"


def _costs(price: Price) -> str:
    parts = [f"ε = {price.epsilon:.4g}"] if price.epsilon or not price.mu else []
    parts += [f"μ = {price.mu:.4g}"] if price.mu else []
    return f"the shift costs {' and '.join(parts)}"


def _trouble(look: _Look, asked: Conditions, shift: Shift, run: Run) -> Found:
    if shift.trouble == "differs":
        place, values = asked.differs[0]
        steady = look.steady
        if steady is not None:
            return Found(
                Word.NOT_SUPPORTED,
                f"{steady} tells the sides apart: it is steady, or there on one side alone",
                shift.where,
            )
        if asked.scales:
            return Found(Word.NOT_SUPPORTED, f"noise whose scale differs makes another {place}: {values}", shift.where)
        return Found(Word.NOT_PRICED, f"with the same noise {place} differs: {values}", shift.where)
    if shift.trouble == "whole":
        return Found(Word.NOT_SUPPORTED, "noise takes whole numbers alone, and has to hide a part of one", shift.where)
    doubts = [*asked.unpriced, *asked.generous, *shift.unpriced]
    if any(event.kind == "choice" for event in run.recorder.events):
        doubts.append("a choice may be part of the noise")
    if any(block.made is not None for block in run.recorder.blocks):
        doubts.append("noise is made of other noise")
    text = "no shift of the noise hides the change"
    if doubts:
        return Found(Word.NOT_PRICED, f"{text}, and {doubts[0]}", shift.where)
    return Found(Word.NOT_SUPPORTED, f"{text}: one noise for several values, or noise that goes one way", shift.where)


def _reached(target: Target, data: Any, run: Run, shift: Shift, seed: int) -> bool:
    """Whether a run with the shifted noise returns what was recorded: otherwise not everything was followed."""
    assert shift.given is not None
    given = shift.given[_drawn(run.recorder)]
    again = target.run(data, seed + 7919, given=given, choices=run.recorder.choices())
    return again.output is not None and run.same_output(again)


def brought(run: Run, frozen: Run, moved: Shifted) -> str:
    """Return the line of the first operation by which data that differ came to a noise; empty where none is known."""
    for site, marks in run.recorder.marks.items():
        for own, other in zip(marks, frozen.recorder.marks.get(site, []), strict=False):
            terms = np.flatnonzero(own.form.column == moved.column)
            if not len(terms) or len(own.form) != len(other.form):
                continue
            rows = own.form.row[terms]
            change = abs(own.form.offset[rows] - other.form.offset[rows])
            if np.any(change > 1e-9 * np.maximum(abs(own.form.offset[rows]), 1e-300)):
                return site
    return ""


# --- what is certain --------------------------------------------------------------------------------------


def _certain(look: _Look, recorded: tuple[list[Run], list[Run]]) -> Certain | None:
    """Make the runs that a certain statement takes, where there may be one."""
    target, pair, claim, seed = look.target, look.pair, look.claim, look.seed
    first = [runs[0] for runs in recorded]
    if any(each.output is None or each.recorder.unseen for each in first):
        return None
    kinds = {event.kind for each in first for event in each.recorder.events}
    if not kinds:
        if target.mechanism.shape is not Shape.PROGRAM:
            return None  # its randomness may be where nobody looked
        sides = tuple(
            [runs[0], *(target.run(data, seed + 17 * k) for k in range(1, _FRESH))]
            for runs, data in zip(recorded, pair, strict=True)
        )
        return certain((sides[0], sides[1]), claim)
    if kinds == {"choice"}:
        return enumerated(target, pair, claim, seed)
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
    forced = [
        _forced(recorded[0].recorder, quantile, pattern) for quantile in _EXTREMES for pattern in ("all", "in turn")
    ]
    return [*fresh, *(target.run(data, seed + 1, given=noise) for noise in forced if noise is not None)]
