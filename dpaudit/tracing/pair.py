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

from dpaudit.privacy import Claim, PureDP, claims
from dpaudit.targets.signature import Shape
from dpaudit.tracing import alignment, recording
from dpaudit.tracing.certain import RAISES, Certain, certain, constant_choice, constant_line, enumerated, repeated
from dpaudit.tracing.runs import LEAST, Closing, FollowedRun, FollowedTarget, forced, noises, telling_place
from dpaudit.tracing.shift import OPEN, OVER, WITHIN, CheapestShift, ShiftedNoise, ShiftPrice, cheapest, priced

# --- What can be found on a path, and on a pair? How much each finding says ---


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


LEADS = tuple(str(word) for word in Word if word >= Word.NOT_SUPPORTED)
"""The words of what points to a violation."""


@dataclass(frozen=True, slots=True)
class PairFinding:
    """One thing that was found."""

    word: Word  # how much it says
    text: str  # in a sentence, without a full stop
    where: str = ""  # the line, or the place of the output
    # the line of the first operation by which data that differ came to the noise; empty where it is not known
    met: str = ""
    instead: str = ""  # what to write instead, as a sentence; empty where that is not known


@dataclass(slots=True)
class Path:
    """What was found on one path."""

    side: int  # the dataset of the recorded run, 0 or 1
    found: list[PairFinding]  # what was found, the worst first
    price: ShiftPrice | None = None  # of the shift; None where there is none
    shift: CheapestShift | None = None  # the cheapest one that was found
    recorder: recording.Recorder | None = None  # of the recorded run, with its draws
    stretch: float = 0.0  # how much the scale of the noise differs between the data: ln of the largest ratio
    # whether a run with shifted noise returned the recorded output; None where none was made
    checked: bool | None = None
    branches: bool = False  # whether the run decided anything by its noise
    stated: Sequence[alignment.StatedLoss] = ()  # what mechanisms of libraries lose by their own statement
    # the recorded run and the one that was frozen to it; None where that took no such path
    runs: tuple[FollowedRun, FollowedRun] | None = None
    raised: tuple[str, str] = ("", "")  # the exceptions in which a run on either dataset ended; "" where it returned

    @property
    def word(self) -> Word:
        """The worst of what was found."""
        return max((each.word for each in self.found), default=Word.NOT_SEEN)

    @property
    def is_open(self) -> bool:
        """Whether something is found that no price above the claim explains: how much it shows, runs alone tell."""
        unexplained = self.word in (Word.NOT_PRICED, Word.NOT_SUPPORTED)
        return unexplained and (self.price is None or self.price.answer == WITHIN)

    @property
    def rank(self) -> tuple[int, float]:
        """By which the worst of several paths is the largest."""
        cost = 0.0 if self.price is None else self.price.epsilon + self.price.mu
        # what rounding makes of one price on two pairs is one price
        return int(self.word), float(f"{(cost if cost == cost else 0.0) + self.stretch:.9g}")


@dataclass(slots=True)
class Traced:
    """What was found on a pair."""

    paths: list[Path]  # all that were tried, the worst first
    certain: Certain | None  # what is certain of the pair; None where nothing is
    runs: int  # how many runs it took; ``seconds``: how long one takes
    seconds: float
    unseen: list[str] = field(default_factory=list)  # what was not followed

    @property
    def worst(self) -> Path:
        """The worst path."""
        return self.paths[0]


# --- What do runs on one path show? ---

_SITES = 2  # further lines that a sentence names

_PUBLIC = "Take the scale from what is public: bounds that are declared or clipped to, not read from the data."
_ADD_NOISE = "Add noise to it, or compute it from numbers that have noise."
_RETURNS = (
    "Let it return for every record that may be there: fill, clip or leave out such a value before, and raise for "
    "nothing that private data hold."
)
_OWN = "Draw a noise of its own for each number that is released."
DIVERGED = "on the other side it draws or decides something else"


@dataclass(slots=True)
class Task:
    """A pair that is traced, with what all of its paths have in common."""

    target: FollowedTarget  # what is run
    pair: tuple[Any, Any]  # two neighbouring datasets
    claim: Claim | None  # what is claimed; None where nothing is
    seed: int  # of the noise
    quick: bool  # whether as few runs are made as say which of many pairs to look at; no shifted noise is tried
    most: int = LEAST  # how many runs of a side say which part of the output tells the sides apart
    _known: list[str | None] = field(default_factory=list)

    @property
    def distinguishing_place(self) -> str | None:
        """A place of the output that tells the sides apart, more than the claim allows."""
        if self.quick:
            return None
        if not self._known:
            self._known.append(telling_place(self.target, self.pair, self.claim, self.seed, self.most))
        return self._known[0]


def follow_path(task: Task, side: int, run: FollowedRun, seed: int, *, first: bool) -> Path:
    """Return what is found on the path of a recorded run."""
    target, pair = task.target, task.pair
    path = Path(side, [], recorder=run.recorder)
    path.branches = any(event.kind in ("compare", "extreme", "choice") for event in run.recorder.events)
    if run.output is None:
        path.found.append(PairFinding(Word.NOT_PRICED, "it does more with its noise than is followed"))
        return path
    if first and target.raised_plainly(pair[side], seed) != run.raised.partition(":")[0]:
        path.found.append(
            PairFinding(Word.NOT_SEEN, f"a run that is followed {_ends(run)}, and one that is not does not")
        )
        return path
    if not run.recorder.columns and not any(event.kind in ("choice", "unit") for event in run.recorder.events):
        path.found.append(_without_noise(task, path, run, seed))
        return path
    drawn = drawn_columns(run.recorder)
    if first and not _repeats(target, pair[side], run, drawn, seed):
        path.found.append(
            PairFinding(
                Word.NOT_SEEN,
                "with the same noise it returns something else: there is randomness that was not followed",
            )
        )
        return path
    again = None if run.recorder.given is not None else repeated(run.recorder)
    if again is not None:
        path.found.append(PairFinding(Word.NOT_SUPPORTED, "the same noise is drawn twice, and counts once", again))
    frozen = target.run(pair[1 - side], seed + 1, reference=run)
    path.raised = run.raised, frozen.raised
    if frozen.output is None:
        path.found.append(_diverging(task, frozen))
        return path
    if run.raised and frozen.raised:
        path.found.append(PairFinding(Word.NOT_SEEN, f"it raises on both sides: {run.raised[:100]}"))
        return path
    path.runs = run, frozen
    _judged(task, path, run, frozen, seed)
    if path.word is Word.SUPPORTED:
        path.found += _otherwise_unlike(run, frozen)
    return path


def _otherwise_unlike(run: FollowedRun, frozen: FollowedRun) -> list[PairFinding]:
    """Say where two runs with one noise return something else, to the last bit, type and letter."""
    if run.unread or frozen.unread:
        return [PairFinding(Word.NOT_PRICED, "its output holds something that cannot be compared", "the output")]
    one, two = run.kept, frozen.kept
    if one is None or two is None or (one.form, one.numbers) == (two.form, two.numbers):
        return []
    text = "with the same noise it returns another type, text or number, if only in the last bits"
    return [PairFinding(Word.NOT_PRICED, text, "the output")]


def _ends(run: FollowedRun) -> str:
    return f"raises ({run.raised[:100]})" if run.raised else "returns"


def drawn_columns(recorder: recording.Recorder) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the columns that were drawn, in the order in which noise is handed out."""
    parts = [block.first + np.arange(len(block.values)) for block in recorder.blocks if block.made is None]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _repeats(target: FollowedTarget, data: Any, run: FollowedRun, drawn: Any, seed: int) -> bool:
    given = run.recorder.noise()[drawn]
    again = target.run(data, seed + 7919, given=given, choices=run.recorder.choices())
    return again.output is not None and run.same_output(again)


def _without_noise(task: Task, path: Path, run: FollowedRun, seed: int) -> PairFinding:
    other = task.target.run(task.pair[1 - path.side], seed)
    path.raised = run.raised, other.raised
    if run.raised and other.raised:
        return PairFinding(Word.NOT_SEEN, f"it raises on both sides: {run.raised[:100]}")
    if run.same_output(other):
        return PairFinding(Word.NOT_SEEN, "no noise was met, and the output is the same on both sides")
    if task.quick:
        return PairFinding(Word.NOT_SUPPORTED, "no noise was met, and the output differs")
    place = task.distinguishing_place
    if place is None:
        return PairFinding(Word.NOT_SEEN, "no noise was met that is followed, and the output differs")
    return PairFinding(
        Word.NOT_SUPPORTED, "no noise was met, and the output tells the sides apart", place, instead=_ADD_NOISE
    )


def _diverging(task: Task, frozen: FollowedRun) -> PairFinding:
    where = frozen.recorder.diverged or ""
    return _distinguished(task, where) or PairFinding(Word.NOT_PRICED, DIVERGED, where)


def _distinguished(task: Task, where: str) -> PairFinding | None:
    """What is said where one place of the output tells the sides apart in every run; None where no place does."""
    place = task.distinguishing_place
    if place is None:
        return None
    return PairFinding(
        Word.NOT_SUPPORTED,
        f"{place} tells the sides apart: what is often there on one side is not on the other",
        where,
        instead=_ADD_NOISE,
    )


def _judged(task: Task, path: Path, run: FollowedRun, frozen: FollowedRun, seed: int) -> None:
    claim = task.claim
    noises = alignment.Noises.of(run.recorder)
    asked = alignment.conditions(run, frozen, noises)
    if task.target.closes is Closing.DIVERGES:
        asked.generous.append("all that data come to counts as released, since decisions on it cannot be told apart")
    shift = path.shift = cheapest(asked, noises, run.recorder.noise())
    asked.generous += [asked.conditioned[each.column] for each in shift.moved if each.column in asked.conditioned]
    path.stretch = asked.stretch
    for where in dict.fromkeys(asked.scales):
        path.found.append(
            PairFinding(Word.NOT_SUPPORTED, "the scale of the noise depends on the data", where, instead=_PUBLIC)
        )
    if shift.trouble:
        path.found.append(_trouble(task, asked, shift, run, frozen))
        return
    if asked.scales:
        path.stretch += _moved_beside(asked, run.recorder)
        return
    price = path.price = priced(shift.moved, shift.chance, claim, [each.loss for each in asked.stated])
    path.stated = asked.stated
    if price.answer == OVER and shift.moved and not asked.generous:
        last = alignment.of_the_last_maximum(asked)
        fewer = None if last is None else cheapest(last, noises, run.recorder.noise())
        if fewer is not None and not fewer.trouble:
            losses = [each.loss for each in asked.stated]
            if priced(fewer.moved, fewer.chance, claim, losses).answer != OVER:
                asked.generous.append("a maximum is looked for step by step, and the last one alone may be released")
    moved = max(shift.moved, key=lambda each: each.cost, default=None)
    spent = max(asked.stated, key=lambda each: each.loss.epsilon + each.loss.mu, default=None)
    where = moved.site if moved is not None else (spent.site if spent else (asked.coins[0] if asked.coins else ""))
    met = "" if moved is None else brought(run, frozen, moved)
    if not task.quick and shift.testable and (shift.moved or asked.coins or asked.stated):
        path.checked = _reached(task.target, task.pair[1 - path.side], run, shift, seed)
    if shift.unpriced:
        path.found.append(PairFinding(Word.NOT_PRICED, shift.unpriced[0], where, met))
    elif path.checked is False:
        path.found.append(
            PairFinding(
                Word.NOT_PRICED,
                "the shifted noise does not give the same output: not all that is done with it was followed",
                where,
                met,
            )
        )
    elif price.answer == OVER and spent is not None and (moved is None or spent.loss.epsilon > moved.cost):
        path.found.append(PairFinding(Word.NOT_SUPPORTED, f"{_of_unit(spent)}; {_costs(price)}", spent.site, met))
    elif price.answer == OVER and not shift.moved:
        path.found.append(
            PairFinding(
                Word.NOT_PRICED,
                "choices cost more than is claimed on this path; what they are worth in the output is not known",
                where,
            )
        )
    elif price.answer == OVER and asked.generous:
        path.found.append(
            PairFinding(
                Word.NOT_PRICED, f"{_costs(price)}, which may be more than is lost: {asked.generous[0]}", where, met
            )
        )
    elif price.answer == OVER:
        beside = _beside(moved, shift.moved)
        text = f"{_far(moved)}{beside}; {_costs(price)}"
        path.found.append(PairFinding(Word.NOT_SUPPORTED, text, where, met, instead=wider(shift.moved, claim)))
    elif price.answer == OPEN and claim is not None:
        path.found.append(
            PairFinding(
                Word.NOT_PRICED, f"{_costs(price)}; whether the claim allows that is not worked out", where, met
            )
        )
    else:
        path.found.append(PairFinding(Word.SUPPORTED, _costs(price), where, met))


def _moved_beside(asked: alignment.Conditions, recorder: recording.Recorder) -> float:
    """Return how far what is released moves, beside the smallest scale of noise: where scales differ, nothing else is
    known of the price.
    """
    _, right = asked.equal.joined()
    scales = [float(block.scale.min()) for block in recorder.blocks if block.made is None and len(block.scale)]
    least = min((each for each in scales if each > 0), default=1.0)
    with np.errstate(over="ignore"):  # beside a scale that is hardly more than 0
        return float(np.log1p(abs(right[np.isfinite(right)]).max(initial=0.0) / least))


def _far(moved: ShiftedNoise | None) -> str:
    if moved is None:
        return "the noise moves too far"
    about = "about " if moved.recognised else ""
    return f"{moved.law.title} noise of scale {about}{moved.scale:.4g} has to hide a move of {abs(moved.by):.4g}"


def _beside(moved: ShiftedNoise | None, every: Sequence[ShiftedNoise]) -> str:
    """Say what else has to move, and at which other lines: the shift costs all of it together."""
    others = [each for each in every if each is not moved and each.cost > 0]
    if moved is None or not others:
        return ""
    sites = [site for site in dict.fromkeys(each.site for each in others) if site != moved.site]
    more = ", …" if len(sites) > _SITES else ""
    return f", and {len(others)} more {'has' if len(others) == 1 else 'have'} to move" + (
        f", at {', '.join(sites[:_SITES])}{more}" if sites else ""
    )


def _of_unit(spent: alignment.StatedLoss) -> str:
    return f"{spent.what} has to hide a move of {spent.loss.by:.4g}"


def _costs(price: ShiftPrice) -> str:
    parts = [f"ε = {price.epsilon:.4g}"] if price.epsilon or not price.mu else []
    parts += [f"μ = {price.mu:.4g}"] if price.mu else []
    parts += [f"δ = {price.delta:.4g}"] if price.delta else []
    return f"the shift costs {' and '.join(parts)}"


def _trouble(
    task: Task, asked: alignment.Conditions, shift: CheapestShift, run: FollowedRun, theirs: FollowedRun
) -> PairFinding:
    if shift.trouble == "differs":
        place, values = asked.differs[0]
        if bool(run.raised) != bool(theirs.raised):
            kind = (run.raised or theirs.raised).partition(":")[0]
            place, values = "what it does", f"it raises {kind} on one side and returns on the other"
        distinguished = _distinguished(task, shift.where)
        if distinguished is not None:
            return distinguished
        if asked.scales:
            return PairFinding(
                Word.NOT_SUPPORTED, f"noise whose scale differs makes another {place}: {values}", shift.where
            )
        return PairFinding(Word.NOT_PRICED, f"with the same noise {place} differs: {values}", shift.where)
    if shift.trouble == "whole":
        return PairFinding(
            Word.NOT_SUPPORTED, "noise takes whole numbers alone, and has to hide a part of one", shift.where
        )
    doubts = [*asked.unpriced, *asked.generous, *shift.unpriced]
    if any(event.kind == "choice" for event in run.recorder.events):
        doubts.append("a choice may be part of the noise")
    text = "no shift of the noise hides the change"
    if doubts:
        return PairFinding(Word.NOT_PRICED, f"{text}, and {doubts[0]}", shift.where)
    why = "one noise for several values, or noise that goes one way"
    return PairFinding(Word.NOT_SUPPORTED, f"{text}: {why}", shift.where, instead=_OWN)


def wider(moved: Sequence[Any], claim: Claim | None) -> str:
    """Say which scales of pure noise would keep a claim: they are as many times wider as the price is too high."""
    if isinstance(claim, PureDP) and any(each.law.cost == "gaussian" and each.by for each in moved):
        return f"{claims.needs_delta('Gaussian noise', f'{claim.value:g}')}, or draw Laplace noise."
    spent = sum(abs(each.by) / each.scale for each in moved if each.scale > 0)
    pure = all(each.law.cost == "pure" and each.scale > 0 for each in moved)
    if claim is None or not isinstance(claim, PureDP) or not pure or not claim.value < spent < float("inf"):
        return ""
    sites = dict.fromkeys(each.site.partition(" (")[0] for each in moved)
    if len(moved) == 1:
        scale = f"{abs(moved[0].by) / claim.value:,.6g}"
        return f"A scale of {scale} at {next(iter(sites))} would keep the claim on this pair."
    lines = ", ".join(list(sites)[:_SITES]) + (", …" if len(sites) > _SITES else "")
    times = spent / claim.value
    shown = f"{times:,.0f}" if times >= 1000 else f"{times:.3g}"
    return f"Scales {shown} times as wide at {lines} would keep the claim on this pair."


def _reached(target: FollowedTarget, data: Any, run: FollowedRun, shift: CheapestShift, seed: int) -> bool:
    """Whether a run with the shifted noise returns what was recorded: otherwise not everything was followed."""
    assert shift.given is not None
    given = shift.given[drawn_columns(run.recorder)]
    again = target.run(data, seed + 7919, given=given, choices=run.recorder.choices(), like=run)
    return again.output is not None and run.same_output(again)


def brought(run: FollowedRun, frozen: FollowedRun, moved: ShiftedNoise) -> str:
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


PATHS = 24
"""Paths of each direction that are tried where code branches on noise."""
_UNSEEDED = "Draw from a generator that is given no seed."
_PUBLIC_KEYS = "Release the same keys and shape for all data: those of a public list, with 0 where there is nothing."
_FRESH = 4  # runs with noise of their own that say what is constant
_RARER = 8  # times as many runs where what is seldom may tell the sides apart
_EXTREMES = (1e-9, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-9)


def trace_pair(
    target: FollowedTarget,
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
    recorded: tuple[list[FollowedRun], list[FollowedRun]] = ([], [])
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
    target: FollowedTarget, pair: tuple[Any, Any], claim: Claim | None, seed: int, known: list[tuple[Any, FollowedRun]]
) -> Path:
    """Return what one run shows that is frozen to a run on the first dataset."""
    if not known or known[0][0] is not pair[0]:
        known[:] = [(pair[0], target.run(pair[0], seed))]
    return follow_path(Task(target, pair, claim, seed, True), 0, known[0][1], seed, first=False)


def _unfollowed(path: Path) -> bool:
    """Whether a path says that not all of the run was followed."""
    return any(each.word is Word.NOT_SEEN and "follow" in each.text for each in path.found)


def _say_constant(tried: list[Path], recorded: tuple[list[FollowedRun], list[FollowedRun]], at_import: str) -> None:
    """Say where noise is the same in every run, or process: it hides nothing, whatever its scale."""
    for side, runs in enumerate(recorded):
        own = [each.recorder for each in runs if each.recorder.given is None]
        where = constant_line(own) or constant_choice(own)
        path = next(path for path in tried if path.side == side)
        if where is not None and path.word < Word.LEAKS:
            seeds = next((f", seeded with {seed} at {line}" for line, seed in own[0].seeds), "")
            text = f"the noise is the same in every run{seeds}"
            path.found.insert(0, PairFinding(Word.NOT_SUPPORTED, text, where, instead=_UNSEEDED))
        elif at_import and path.word < Word.LEAKS:
            text = "the noise is the same in every process: a fixed seed, as the module is imported"
            path.found.insert(0, PairFinding(Word.NOT_SUPPORTED, text, at_import, instead=_UNSEEDED))


def _say_certain(tried: list[Path], sure: Certain, claim: Claim | None) -> None:
    """Put what is certain first; where it is the whole loss, nothing else is said."""
    worst = max(tried, key=lambda path: path.rank)
    violated = claim is not None and sure.epsilon > claim.value
    if violated or sure.epsilon == math.inf:
        word = Word.LEAKS if sure.leaks else Word.VIOLATED
        constant = next((each for each in worst.found if each.instead == _UNSEEDED), None)
        if constant is None:
            form = _PUBLIC_KEYS if sure.where and "another form" in sure.why else ""
            form = _RETURNS if sure.why.startswith(RAISES) else form
            instead = (
                form or next((each.instead for each in worst.found if each.instead), "") or wider(sure.steps, claim)
            )
            worst.found.insert(0, PairFinding(word, sure.why, sure.where, _met_first(worst), instead))
        else:  # its line says more than the place in the output
            text = f"{constant.text}: {sure.where} holds {sure.why}" if not sure.steps else constant.text
            worst.found.insert(0, PairFinding(word, text, constant.where, _met_first(worst), constant.instead))
    elif sure.whole and claim is not None:
        for path in tried:
            path.found = [
                PairFinding(Word.SUPPORTED, f"all ways through its choices were tried: ε = {sure.epsilon:.4g}")
            ]


def _met_first(path: Path) -> str:
    return next((each.met for each in path.found if each.met), "")


def _direction(
    task: Task, side: int, paths: int, recorded: tuple[list[FollowedRun], list[FollowedRun]]
) -> Iterator[Path]:
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


def _closing(
    task: Task, side: int, run: FollowedRun, path: Path, seed: int, *, first: bool
) -> tuple[FollowedRun, Path]:
    """Try runs that close, once for a target: what is computed of released numbers then decides alike on both sides."""
    task.target.wanted.add(Closing.DIVERGES)
    task.target.closes = Closing.DIVERGES
    other = task.target.run(task.pair[side], seed + 13 * side)
    closed_path = follow_path(task, side, other, seed, first=first)
    if _unfollowed(closed_path) or closed_path.runs is None:
        task.target.closes = Closing.NO
        return run, path
    return other, closed_path


# --- what is certain --------------------------------------------------------------------------------------


def _certain(task: Task, recorded: tuple[list[FollowedRun], list[FollowedRun]]) -> Certain | None:
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


def _more(
    target: FollowedTarget, data: Any, recorded: Sequence[FollowedRun], seed: int, linear: bool
) -> list[FollowedRun]:
    """Return fresh runs, and where nothing is decided runs with extreme noise: all of them have to agree."""
    fresh = [each for each in recorded if each.recorder.given is None][-_FRESH:]
    if not linear or constant_line([each.recorder for each in fresh]) is not None:
        return fresh
    extremes = [
        forced(recorded[0].recorder, quantile, pattern) for quantile in _EXTREMES for pattern in ("all", "in turn")
    ]
    return [*fresh, *(target.run(data, seed + 1, given=noise) for noise in extremes if noise is not None)]
