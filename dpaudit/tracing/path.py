"""What do runs on one path show? The recorded run, the frozen one on the other side, and one with shifted noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.privacy import Claim, PureDP
from dpaudit.tracing.alignment import Conditions, Spent, conditions
from dpaudit.tracing.certain import repeated
from dpaudit.tracing.findings import Found, Path, Word
from dpaudit.tracing.noises import Noises
from dpaudit.tracing.price import OPEN, OVER, Price, priced
from dpaudit.tracing.recording import Recorder
from dpaudit.tracing.runs import Closing, Run, Target
from dpaudit.tracing.shift import Shift, Shifted, cheapest
from dpaudit.tracing.telling import LEAST, telling_place

_SITES = 2  # further lines that a sentence names

_PUBLIC = "Take the scale from what is public: bounds that are declared or clipped to, not read from the data."
_FRESH = "Add noise to it, or compute it from numbers that have noise."
_OWN = "Draw a noise of its own for each number that is released."
DIVERGED = "on the other side it draws or decides something else"


@dataclass(slots=True)
class Task:
    """A pair that is traced, with what all of its paths have in common."""

    target: Target  # what is run
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


def follow_path(task: Task, side: int, run: Run, seed: int, *, first: bool) -> Path:
    """Return what is found on the path of a recorded run."""
    target, pair = task.target, task.pair
    path = Path(side, [], recorder=run.recorder)
    path.branches = any(event.kind in ("compare", "extreme", "choice") for event in run.recorder.events)
    if run.output is None:
        path.found.append(Found(Word.NOT_PRICED, "it does more with its noise than is followed"))
        return path
    if first and target.raised_plainly(pair[side], seed) != run.raised.partition(":")[0]:
        path.found.append(Found(Word.NOT_SEEN, f"a run that is followed {_ends(run)}, and one that is not does not"))
        return path
    if not run.recorder.columns and not any(event.kind in ("choice", "unit") for event in run.recorder.events):
        path.found.append(_without_noise(task, side, run, seed))
        return path
    drawn = drawn_columns(run.recorder)
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
        path.found.append(_diverged(task, frozen))
        return path
    if run.raised and frozen.raised:
        path.found.append(Found(Word.NOT_SEEN, f"it raises on both sides: {run.raised[:100]}"))
        return path
    path.runs = run, frozen
    _judged(task, path, run, frozen, seed)
    if path.word is Word.SUPPORTED:
        path.found += _otherwise_unlike(run, frozen)
    return path


def _otherwise_unlike(run: Run, frozen: Run) -> list[Found]:
    """Say where two runs with one noise return something else, to the last bit, type and letter."""
    if run.unread or frozen.unread:
        return [Found(Word.NOT_PRICED, "its output holds something that cannot be compared", "the output")]
    one, two = run.kept, frozen.kept
    if one is None or two is None or (one.form, one.numbers) == (two.form, two.numbers):
        return []
    text = "with the same noise it returns another type, text or number, if only in the last bits"
    return [Found(Word.NOT_PRICED, text, "the output")]


def _ends(run: Run) -> str:
    return f"raises ({run.raised[:100]})" if run.raised else "returns"


def drawn_columns(recorder: Recorder) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the columns that were drawn, in the order in which noise is handed out."""
    parts = [block.first + np.arange(len(block.values)) for block in recorder.blocks if block.made is None]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _repeats(target: Target, data: Any, run: Run, drawn: Any, seed: int) -> bool:
    given = run.recorder.noise()[drawn]
    again = target.run(data, seed + 7919, given=given, choices=run.recorder.choices())
    return again.output is not None and run.same_output(again)


def _without_noise(task: Task, side: int, run: Run, seed: int) -> Found:
    other = task.target.run(task.pair[1 - side], seed)
    if run.raised and other.raised:
        return Found(Word.NOT_SEEN, f"it raises on both sides: {run.raised[:100]}")
    if run.same_output(other):
        return Found(Word.NOT_SEEN, "no noise was met, and the output is the same on both sides")
    if task.quick:
        return Found(Word.NOT_SUPPORTED, "no noise was met, and the output differs")
    place = task.distinguishing_place
    if place is None:
        return Found(Word.NOT_SEEN, "no noise was met that is followed, and the output differs")
    return Found(Word.NOT_SUPPORTED, "no noise was met, and the output tells the sides apart", place, instead=_FRESH)


def _diverged(task: Task, frozen: Run) -> Found:
    where = frozen.recorder.diverged or ""
    return _distinguished(task, where) or Found(Word.NOT_PRICED, DIVERGED, where)


def _distinguished(task: Task, where: str) -> Found | None:
    """What is said where one place of the output tells the sides apart in every run; None where no place does."""
    place = task.distinguishing_place
    if place is None:
        return None
    return Found(
        Word.NOT_SUPPORTED,
        f"{place} tells the sides apart: what is often there on one side is not on the other",
        where,
        instead=_FRESH,
    )


def _judged(task: Task, path: Path, run: Run, frozen: Run, seed: int) -> None:
    claim = task.claim
    noises = Noises(run.recorder)
    asked = conditions(run, frozen, noises)
    if task.target.closes is Closing.DIVERGES:
        asked.generous.append("all that data come to counts as released, since decisions on it cannot be told apart")
    shift = path.shift = cheapest(asked, noises, run.recorder.noise())
    asked.generous += [asked.conditioned[each.column] for each in shift.moved if each.column in asked.conditioned]
    path.stretch = asked.stretch
    for where in dict.fromkeys(asked.scales):
        path.found.append(
            Found(Word.NOT_SUPPORTED, "the scale of the noise depends on the data", where, instead=_PUBLIC)
        )
    if shift.trouble:
        path.found.append(_trouble(task, asked, shift, run, frozen))
        return
    if asked.scales:
        path.stretch += _moved_beside(asked, run.recorder)
        return
    price = path.price = priced(shift.moved, shift.chance, claim, [each.loss for each in asked.stated])
    path.stated = asked.stated
    moved = max(shift.moved, key=lambda each: each.cost, default=None)
    spent = max(asked.stated, key=lambda each: each.loss.epsilon + each.loss.mu, default=None)
    where = moved.site if moved is not None else (spent.site if spent else (asked.coins[0] if asked.coins else ""))
    met = "" if moved is None else brought(run, frozen, moved)
    if not task.quick and shift.testable and (shift.moved or asked.coins or asked.stated):
        path.checked = _reached(task.target, task.pair[1 - path.side], run, shift, seed)
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
    elif price.answer == OVER and spent is not None and (moved is None or spent.loss.epsilon > moved.cost):
        path.found.append(Found(Word.NOT_SUPPORTED, f"{_of_unit(spent)}; {_costs(price)}", spent.site, met))
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
        beside = _beside(moved, shift.moved)
        text = f"{_far(moved)}{beside}; {_costs(price)}"
        path.found.append(Found(Word.NOT_SUPPORTED, text, where, met, instead=wider(shift.moved, claim)))
    elif price.answer == OPEN and claim is not None:
        path.found.append(
            Found(Word.NOT_PRICED, f"{_costs(price)}; whether the claim allows that is not worked out", where, met)
        )
    else:
        path.found.append(Found(Word.SUPPORTED, _costs(price), where, met))


def _moved_beside(asked: Conditions, recorder: Recorder) -> float:
    """Return how far what is released moves, beside the smallest scale of noise: where scales differ, nothing else is
    known of the price.
    """
    _, right = asked.equal.joined()
    scales = [float(block.scale.min()) for block in recorder.blocks if block.made is None and len(block.scale)]
    least = min((each for each in scales if each > 0), default=1.0)
    return float(np.log1p(abs(right[np.isfinite(right)]).max(initial=0.0) / least))


def _far(moved: Shifted | None) -> str:
    if moved is None:
        return "the noise moves too far"
    about = "about " if moved.recognised else ""
    return f"{moved.law.name} noise of scale {about}{moved.scale:.4g} has to hide a move of {abs(moved.by):.4g}"


def _beside(moved: Shifted | None, every: Sequence[Shifted]) -> str:
    """Say what else has to move, and at which other lines: the shift costs all of it together."""
    others = [each for each in every if each is not moved and each.cost > 0]
    if moved is None or not others:
        return ""
    sites = [site for site in dict.fromkeys(each.site for each in others) if site != moved.site]
    more = ", …" if len(sites) > _SITES else ""
    return f", and {len(others)} more {'has' if len(others) == 1 else 'have'} to move" + (
        f", at {', '.join(sites[:_SITES])}{more}" if sites else ""
    )


def _of_unit(spent: Spent) -> str:
    return f"{spent.what} has to hide a move of {spent.loss.by:.4g}"


def _costs(price: Price) -> str:
    parts = [f"ε = {price.epsilon:.4g}"] if price.epsilon or not price.mu else []
    parts += [f"μ = {price.mu:.4g}"] if price.mu else []
    parts += [f"δ = {price.delta:.4g}"] if price.delta else []
    return f"the shift costs {' and '.join(parts)}"


def _trouble(task: Task, asked: Conditions, shift: Shift, run: Run, theirs: Run) -> Found:
    if shift.trouble == "differs":
        place, values = asked.differs[0]
        if bool(run.raised) != bool(theirs.raised):
            kind = (run.raised or theirs.raised).partition(":")[0]
            place, values = "what it does", f"it raises {kind} on one side and returns on the other"
        distinguished = _distinguished(task, shift.where)
        if distinguished is not None:
            return distinguished
        if asked.scales:
            return Found(Word.NOT_SUPPORTED, f"noise whose scale differs makes another {place}: {values}", shift.where)
        return Found(Word.NOT_PRICED, f"with the same noise {place} differs: {values}", shift.where)
    if shift.trouble == "whole":
        return Found(Word.NOT_SUPPORTED, "noise takes whole numbers alone, and has to hide a part of one", shift.where)
    doubts = [*asked.unpriced, *asked.generous, *shift.unpriced]
    if any(event.kind == "choice" for event in run.recorder.events):
        doubts.append("a choice may be part of the noise")
    text = "no shift of the noise hides the change"
    if doubts:
        return Found(Word.NOT_PRICED, f"{text}, and {doubts[0]}", shift.where)
    why = "one noise for several values, or noise that goes one way"
    return Found(Word.NOT_SUPPORTED, f"{text}: {why}", shift.where, instead=_OWN)


def wider(moved: Sequence[Any], claim: Claim | None) -> str:
    """Say which scales of pure noise would keep a claim: they are as many times wider as the price is too high."""
    spent = sum(abs(each.by) / each.scale for each in moved if each.scale > 0)
    pure = all(each.law.cost == "pure" and each.scale > 0 for each in moved)
    if claim is None or not isinstance(claim, PureDP) or not pure or not claim.value < spent < float("inf"):
        return ""
    sites = dict.fromkeys(each.site.partition(" (")[0] for each in moved)
    if len(moved) == 1:
        scale = f"{abs(moved[0].by) / claim.value:,.6g}"
        return f"A scale of {scale} at {next(iter(sites))} would keep the claim on this pair."
    lines = ", ".join(list(sites)[:_SITES]) + (", …" if len(sites) > _SITES else "")
    return f"Scales {spent / claim.value:.3g} times as wide at {lines} would keep the claim on this pair."


def _reached(target: Target, data: Any, run: Run, shift: Shift, seed: int) -> bool:
    """Whether a run with the shifted noise returns what was recorded: otherwise not everything was followed."""
    assert shift.given is not None
    given = shift.given[drawn_columns(run.recorder)]
    again = target.run(data, seed + 7919, given=given, choices=run.recorder.choices(), like=run)
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
