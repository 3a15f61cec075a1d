"""What happened to the noise of a run? Draws, decisions and derived values, in order; and the same order once more.

A recorder notes what a run does with its noise. With a ``reference`` it *freezes* the run: each draw, decision and
value that the data did not move is that of the reference, so that a run on other data takes the same path, and only
offsets and coefficients are its own. With ``given`` noise it hands that out in place of fresh noise.
"""

from __future__ import annotations

import bisect
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.program.laws import UNIFORM, UNKNOWN, NoiseLaw

# --- Which numbers are offset + Σ coefficient·noise, and what do sums, multiples and picks of them make of that? ---
#
# A `NoiseForm` holds n numbers at once; its terms are kept in order, so that equal forms are equal arrays.

Whole = np.ndarray[Any, np.dtype[np.int64]]

# the functions of NumPy that are used while a target runs, when its own names are replaced
_array, _asarray, _zeros, _ones = np.array, np.asarray, np.zeros, np.ones
_concatenate, _lexsort, _arange, _repeat = np.concatenate, np.lexsort, np.arange, np.repeat
_bincount, _searchsorted, _cumsum, _flatnonzero = np.bincount, np.searchsorted, np.cumsum, np.flatnonzero
_NONE: Whole = np.zeros(0, dtype=np.int64)
_NO_NUMBERS: Floats = np.zeros(0)


class NoiseForm:
    """n numbers: number i is offset[i] + Σ coefficient[t]·noise[column[t]] over the terms t with row[t] = i.

    Attributes:
        offset: (n,) what the data and constants give.
        row, column: (terms,) in the order of rows, and of columns within a row; each place once.
        coefficient: (terms,), none of them 0.
    """

    __slots__ = ("coefficient", "column", "offset", "row")

    def __init__(self, offset: Floats, row: Whole, column: Whole, coefficient: Floats) -> None:
        self.offset, self.row, self.column, self.coefficient = offset, row, column, coefficient

    @classmethod
    def constant(cls, values: Any) -> NoiseForm:
        """Numbers without noise."""
        return cls(_array(values, dtype=np.float64).reshape(-1), _NONE, _NONE, _NO_NUMBERS)

    @classmethod
    def noise(cls, offset: Floats, first: int) -> NoiseForm:
        """Numbers with a noise of their own each; their columns count from ``first``."""
        size = len(offset)
        return cls(offset, _arange(size), _arange(first, first + size), _ones(size))

    @classmethod
    def joined(cls, forms: Sequence[NoiseForm]) -> NoiseForm:
        """The numbers of several forms, one after the other."""
        if len(forms) == 1:
            return forms[0]
        if not forms:
            return cls(_NO_NUMBERS, _NONE, _NONE, _NO_NUMBERS)
        starts = _cumsum([0, *(len(each) for each in forms)])
        return cls(
            _concatenate([each.offset for each in forms]),
            _concatenate([each.row + start for each, start in zip(forms, starts, strict=False)]),
            _concatenate([each.column for each in forms]),
            _concatenate([each.coefficient for each in forms]),
        )

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def is_noisy(self) -> bool:
        """Whether any noise is in it."""
        return len(self.row) > 0

    def noisy_rows(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(n,) whether there is noise in each number."""
        are_noisy = _zeros(len(self), dtype=bool)
        are_noisy[self.row] = True
        return are_noisy

    def plus(self, other: NoiseForm, sign: float = 1.0) -> NoiseForm:
        """Return the sums, number by number; with ``sign`` −1 the differences."""
        offset = self.offset + sign * other.offset
        if not other.is_noisy:
            return NoiseForm(offset, self.row, self.column, self.coefficient)
        if not self.is_noisy:
            return NoiseForm(offset, other.row, other.column, sign * other.coefficient)
        return _collected(
            offset,
            _concatenate([self.row, other.row]),
            _concatenate([self.column, other.column]),
            _concatenate([self.coefficient, sign * other.coefficient]),
        )

    def times(self, factors: Floats) -> NoiseForm:
        """Return each number times its factor; factors: (n,)."""
        scaled = self.coefficient * factors[self.row]
        multiple = NoiseForm(self.offset * factors, self.row, self.column, scaled)
        return multiple if scaled.all() else multiple._without_zeros()

    def over(self, divisors: Floats) -> NoiseForm:
        """Return each number divided by its divisor; divisors: (n,)."""
        quotient = NoiseForm(self.offset / divisors, self.row, self.column, self.coefficient / divisors[self.row])
        return quotient if quotient.coefficient.all() else quotient._without_zeros()

    def take(self, places: Whole) -> NoiseForm:
        """Return the numbers at these places, in this order; a place may come again."""
        if not self.is_noisy:
            return NoiseForm(self.offset[places], _NONE, _NONE, _NO_NUMBERS)
        begin = _searchsorted(self.row, places, side="left")
        count = _searchsorted(self.row, places, side="right") - begin
        row = _repeat(_arange(len(places)), count)
        within = _arange(len(row)) - _repeat(_cumsum(count) - count, count)
        terms = _repeat(begin, count) + within
        return NoiseForm(self.offset[places], row, self.column[terms], self.coefficient[terms])

    def put(self, places: Whole, other: NoiseForm) -> NoiseForm:
        """Return the numbers with those of ``other`` at these places."""
        order = _arange(len(self))
        order[places] = len(self) + _arange(len(places))
        return NoiseForm.joined([self, other]).take(order)

    def summed(self, groups: Whole, count: int) -> NoiseForm:
        """Return ``count`` sums, each of the numbers of its group; groups: (n,) from 0."""
        offset = _asarray(_bincount(groups, weights=self.offset, minlength=count), dtype=np.float64)
        return _collected(offset, groups[self.row], self.column, self.coefficient)

    def at(self, noise: Floats) -> Floats:
        """(n,) the numbers at this noise."""
        with np.errstate(over="ignore", invalid="ignore"):  # of the largest floats
            terms = self.coefficient * noise[self.column]
            return _asarray(self.offset + _bincount(self.row, weights=terms, minlength=len(self)), dtype=np.float64)

    def same_terms(self, other: NoiseForm) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(n,) whether each number has the same noise with the same coefficients in both, up to rounding."""
        are_same = _ones(len(self), dtype=bool)
        if len(self.row) == len(other.row) and (self.row == other.row).all() and (self.column == other.column).all():
            are_same[self.row[~close(self.coefficient, other.coefficient)]] = False
            return are_same
        unlike = self.plus(other, -1.0)
        size = _zeros(len(self))
        np.maximum.at(size, self.row, abs(self.coefficient))
        far = abs(unlike.coefficient) > _ROUNDING * size[unlike.row]
        are_same[unlike.row[far]] = False
        return are_same

    def _without_zeros(self) -> NoiseForm:
        kept = _flatnonzero(self.coefficient)
        return NoiseForm(self.offset, self.row[kept], self.column[kept], self.coefficient[kept])


_ROUNDING = 1e-9  # by which sums in another order may differ


def close(one: Any, other: Any, scale: Any = 0.0) -> Any:
    """Whether numbers are equal up to rounding, element by element; equal infinities are, and NaN with NaN."""
    with np.errstate(all="ignore"):
        near = abs(one - other) <= _ROUNDING * np.maximum(np.maximum(abs(one), abs(other)), scale)
    return near | (one == other) | ((one != one) & (other != other))


def _collected(offset: Floats, row: Whole, column: Whole, coefficient: Floats) -> NoiseForm:
    """Put terms in order, and add those of one place."""
    if len(row) == 0:
        return NoiseForm(offset, row, column, coefficient)
    order = _lexsort((column, row))
    row, column, coefficient = row[order], column[order], coefficient[order]
    first = _ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    if first.all():
        return NoiseForm(offset, row, column, coefficient)
    starts = _flatnonzero(first)
    summed = np.add.reduceat(coefficient, starts)
    size = np.maximum.reduceat(abs(coefficient), starts)
    kept = abs(summed) > 1e-15 * size  # what cancels but for rounding is gone
    return NoiseForm(offset, row[starts][kept], column[starts][kept], summed[kept])


# --- What happened to the noise of a run? ---

MOST_EVENTS = 200_000  # of one run: a run with more is not followed
MOST_NOISES = 2_000_000
SAMPLE = "noise.poisson"
"""The name of the choice by which records are sampled."""
_KEPT = 60  # characters of a file's name


class DivergedError(BaseException):
    """A frozen run does something else than its reference; no exception that targets catch by accident."""


class UnfollowedError(BaseException):
    """A run does more with its noise than is followed."""


@dataclass(slots=True, eq=False)
class DrawBlock:
    """Noise that was drawn together, or derived together from other noise."""

    first: int  # the column of the first value
    law: NoiseLaw  # of all values; ``scale``: (n,) their scales. Of derived noise unknown, until `recognised`.
    scale: Floats
    values: Floats  # (n,) without location
    site: str  # the line of the draw
    # how derived values come from samples of the noise behind them; None where they were drawn
    made: Callable[[Callable[[int], Floats]], Floats] | None = None
    sources: tuple[int, ...] = ()  # columns of the noise behind derived values
    # whether no number but noise is in them: they are made of uniform noise, or of noise as it was drawn
    alone: bool = True


@dataclass(slots=True, eq=False)
class RecordedEvent:
    """One thing that happened."""

    kind: str  # "draw", "compare", "extreme", "closed", "derived", "choice" or "unit"
    site: str  # the line
    forms: tuple[NoiseForm, ...]  # what went into it
    outcome: Any  # what came of it: values, truths, a place, or an option
    what: str = ""  # the law, the function, or the name of the draw
    first: int = -1  # the column of the first noise that came of it
    scale: Floats | None = None  # of a draw, or of what the scores of a choice are divided by
    arguments: str = ""  # of a choice, as text; of a value that is closed, the keys that it goes by
    chance: float | None = None  # of a choice, ln P(outcome) by its own arguments; None where the law is not known
    # of a choice, every outcome with its probability; None where there are too many, or they are not known
    options: Sequence[tuple[Any, float]] | None = None
    unit: Any = None  # of a unit, the `units.Unit`


@dataclass(slots=True, eq=False)
class Mark:
    """A followed value that came of an operation."""

    site: str  # the line
    form: NoiseForm  # what it is
    values: Floats  # (n,) its numbers
    recorder: Recorder  # of the run that it is of
    # whether a followed operation, or the output, took it up; what did not may have gone where nothing is seen
    used: bool = False
    # the form that was multiplied, and its factors, where this is a product
    scaled: tuple[NoiseForm, Floats] | None = None


@dataclass(eq=False)
class Recorder:
    """What one run does with its noise."""

    reference: Recorder | None = None  # the run that this one is frozen to, or None
    given: Floats | None = None  # noise to hand out in place of fresh noise, one number for each column that is drawn
    given_choices: Sequence[Any] = ()  # outcomes of choices to hand out likewise
    like: Recorder | None = None  # a run whose released numbers are handed out where they are the same up to rounding
    # which option each choice is to take, in order; the first where none is named any more. None: as drawn.
    forced: Sequence[int] | None = None
    # whether numbers are released where data come to their noise, and plain from there; a draw is no event of its own
    # then
    closes: bool = False
    # events, blocks, marks: what happened; marks by their line
    events: list[RecordedEvent] = field(default_factory=list)
    blocks: list[DrawBlock] = field(default_factory=list)
    marks: dict[str, list[Mark]] = field(default_factory=dict)
    columns: int = 0  # how many noises there are
    unseen: dict[str, None] = field(default_factory=dict)  # what may draw or hide noise and is not followed, in words
    # where a generator was seeded with a number, and with which
    seeds: list[tuple[str, str]] = field(default_factory=list)
    diverged: str | None = None  # where a frozen run left its reference; None where it did not
    too_long: bool = False  # whether it did more than is followed
    busy: int = 0
    thread: int = field(default_factory=threading.get_ident)
    taken: int = 0  # of the given noise
    chosen: int = 0  # choices so far

    # --- noise ----------------------------------------------------------------------------------------------

    def draw(
        self, law: NoiseLaw, scale: Floats, offset: NoiseForm, drawn: Floats, site: str, what: str
    ) -> tuple[NoiseForm, Floats]:
        """Note a draw."""
        size = len(drawn)
        if self.given is not None and self.taken + size <= len(self.given):
            drawn = self.given[self.taken : self.taken + size]
        self.taken += size
        if not self.closes:
            drawn = self._next(
                RecordedEvent("draw", site, (offset,), drawn, law.title, self.columns, scale=scale)
            ).outcome
        values = _asarray(drawn, dtype=np.float64)
        first = self._new(law, scale, values, site)
        form = offset.plus(NoiseForm.noise(np.zeros(size), first))
        return form, offset.at(self.noise()) + values if offset.is_noisy else offset.offset + values

    def derive(
        self,
        forms: Sequence[NoiseForm],
        values: Floats,
        function: Callable[..., Any],
        site: str,
        what: str,
    ) -> tuple[NoiseForm, Floats]:
        """Note values that a function makes of noise, other than by sums and multiples; they are noise of their own."""
        event = self._next(RecordedEvent("derived", site, tuple(forms), values, what, self.columns))
        values = _asarray(event.outcome, dtype=np.float64)
        sources = tuple(sorted({int(column) for form in forms for column in form.column}))
        kept = [NoiseForm(each.offset, each.row, each.column, each.coefficient) for each in forms]

        def made(sample: Callable[[int], Floats], kept: Sequence[NoiseForm] = kept) -> Floats:
            return _asarray(function(*(_sampled(form, sample) for form in kept)), dtype=np.float64)

        first = self._new(UNKNOWN, np.full(len(values), np.nan), values, site, made, sources)
        behind = [self.block(column) for column in sources]
        bare = not any(form.offset.any() for form in forms)
        self.blocks[-1].alone = all(block.alone and (bare or block.law in (UNIFORM, UNKNOWN)) for block in behind)
        return NoiseForm.noise(np.zeros(len(values)), first), values

    def _new(
        self,
        law: NoiseLaw,
        scale: Floats,
        values: Floats,
        site: str,
        made: Callable[[Callable[[int], Floats]], Floats] | None = None,
        sources: tuple[int, ...] = (),
    ) -> int:
        first = self.columns
        self.blocks.append(DrawBlock(first, law, scale, values, site, made, sources))
        self.columns += len(values)
        if self.columns > MOST_NOISES:
            self.too_long = True
            raise UnfollowedError
        return first

    def noise(self) -> Floats:
        """(columns,) all noise so far."""
        return _concatenate([block.values for block in self.blocks]) if self.blocks else np.zeros(0)

    def block(self, column: int) -> DrawBlock:
        """Return the block that a column is in."""
        return self.blocks[bisect.bisect_right(self.blocks, column, key=lambda block: block.first) - 1]

    def drawn(self, column: int) -> tuple[NoiseLaw, float]:
        """Return the law of the noise of a column as it was drawn, and its scale."""
        block = self.block(column)
        return block.law, float(block.scale[column - block.first])

    # --- what is done with it -------------------------------------------------------------------------------

    def decide(
        self, kind: str, forms: Sequence[NoiseForm], outcome: Any, site: str, what: str = "", **more: Any
    ) -> Any:
        """Note a decision, or a value that goes where it is not followed; return the outcome to go on with."""
        return self._next(RecordedEvent(kind, site, tuple(forms), outcome, what, **more)).outcome

    def choose(
        self,
        what: str,
        outcome: Any,
        arguments: str,
        chance: Callable[[Any], float] | None = None,
        options: Sequence[tuple[Any, float]] | None = None,
        *,
        forms: tuple[NoiseForm, ...] = (),
        scale: Floats | None = None,
    ) -> Any:
        """Note a draw of something discrete; return the outcome to go on with.

        Args:
            what: the name of the function that drew.
            outcome: what it drew.
            arguments: what it was given, as text.
            chance: ln P(outcome), by those arguments.
            options: every outcome with its probability.
            forms, scale: what is chosen by, where it is numbers that may be held against those of another run.
        """
        if self.given_choices and self.chosen < len(self.given_choices):
            outcome = self.given_choices[self.chosen]
        if self.forced is not None and options:
            place = self.forced[self.chosen] if self.chosen < len(self.forced) else 0
            outcome = options[place][0]
        self.chosen += 1
        event = self._next(RecordedEvent("choice", site(), forms, outcome, what, -1, scale, arguments, options=options))
        event.chance = None if chance is None else chance(event.outcome)
        return event.outcome

    def unit(self, what: str, outcome: Any, site: str, unit: Any) -> Any:
        """Note a call of a mechanism of a library; return the output to go on with."""
        if self.given_choices and self.chosen < len(self.given_choices):
            outcome = self.given_choices[self.chosen]
        self.chosen += 1
        return self._next(RecordedEvent("unit", site, (), outcome, what, unit=unit)).outcome

    @property
    def knows_outcome(self) -> bool:
        """Whether the outcome of the next choice or unit is known already."""
        return self.reference is not None or self.chosen < len(self.given_choices)

    def choices(self) -> list[Any]:
        """Return the outcomes of all choices and units, in their order."""
        return [event.outcome for event in self.events if event.kind in ("choice", "unit")]

    def _next(self, event: RecordedEvent) -> RecordedEvent:
        """Note an event; in a frozen run with the outcome of the reference."""
        number = len(self.events)
        if number >= MOST_EVENTS:
            self.too_long = True
            raise UnfollowedError
        if self.diverged is not None:
            raise DivergedError
        if self.reference is not None:
            known = self.reference.events[number] if number < len(self.reference.events) else None
            if (
                known is None
                or (known.kind, known.site, known.what) != (event.kind, event.site, event.what)
                or (event.kind != "unit" and _size(known.outcome) != _size(event.outcome))
            ):
                self.diverged = event.site
                raise DivergedError
            event.outcome = known.outcome
        elif self.like is not None and event.kind == "closed" and number < len(self.like.events):
            known = self.like.events[number]
            if known.kind == "closed" and _size(known.outcome) == _size(event.outcome):
                near = close(event.outcome, known.outcome, 1e-6)
                event.outcome = np.where(near, known.outcome, event.outcome)
        self.events.append(event)
        return event

    def mark(self, form: NoiseForm, values: Floats, site: str, scaled: tuple[NoiseForm, Floats] | None = None) -> Mark:
        """Note the result of an operation; in a frozen run its numbers are those of the reference, unless it closes."""
        before = self.marks.setdefault(site, [])
        if self.reference is not None and not self.closes:
            known = self.reference.marks.get(site, ())
            if len(before) < len(known) and known[len(before)].values.shape == values.shape:
                values = known[len(before)].values
        if len(before) > MOST_EVENTS:
            self.too_long = True
            raise UnfollowedError
        marked = Mark(site, form, values, self, scaled=scaled)
        before.append(marked)
        return marked

    @contextmanager
    def own_work(self) -> Iterator[None]:
        """Let what is done meanwhile be dpaudit's own, and not be followed."""
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1


def _size(outcome: Any) -> Any:
    return outcome.shape if isinstance(outcome, np.ndarray) else None


def _sampled(form: NoiseForm, sample: Callable[[int], Floats]) -> Floats:
    """Return a sample of the first number of a form."""
    mine = form.row == 0
    values = np.zeros(1) + form.offset[0]
    for column, coefficient in zip(form.column[mine], form.coefficient[mine], strict=True):
        values = values + coefficient * sample(int(column))
    return _asarray(values)


# --- who listens, and where -------------------------------------------------------------------------------

_RECORDER: list[Recorder] = []


def active() -> Recorder | None:
    """Return the recorder of this thread's run; None outside of one, and while dpaudit works itself."""
    if not _RECORDER:
        return None
    recorder = _RECORDER[-1]
    if recorder.thread != threading.get_ident():
        recorder.unseen["noise is drawn, or a followed value is used, in a thread of its own"] = None
        return None
    return None if recorder.busy else recorder


def is_of_this_run(mark: Mark) -> bool:
    """Whether a value is of the run that is being made: what a target keeps of an earlier one is a number like any."""
    if not _RECORDER or mark.recorder is _RECORDER[-1]:
        return True
    _RECORDER[-1].unseen["noise of an earlier run is used again"] = None
    return False


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Let a recorder listen to what runs meanwhile."""
    _RECORDER.append(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.remove(recorder)


_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PASSED = tuple(
    f"{os.sep}{name}{os.sep}"
    for name in (
        "numpy",
        "scipy",
        "pandas",
        "polars",
        *(os.path.join("dpaudit", own) for own in ("program", "reading")),
    )
)
_FILES = tuple(f"{os.sep}{name}.py" for name in ("random", "secrets", "statistics", "functools", "copy"))
_known: dict[str, bool] = {}


def _is_passed(file: str) -> bool:
    known = _known.get(file)
    if known is None:
        library = file.startswith((_OWN, "<frozen", "<__array")) or any(name in file for name in _PASSED)
        known = _known[file] = library or (file.endswith(_FILES) and "site-packages" not in file)
    return known


def site() -> str:
    """Return the line of the target's code that is being run, as "file.py:12 (function)"."""
    frame = sys._getframe(1)
    while frame is not None and _is_passed(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return "outside of Python" if frame is None else _line(frame.f_code, frame.f_lineno)


def raised_at(error: BaseException) -> str:
    """Return the line of the target's code at which it raised, as `site` does; empty where there is none."""
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _is_passed(frame.f_code.co_filename)
    ]
    if not own:
        return ""
    code, line = own[-1]  # in a loop that was made a function, the name is that of the function around it
    return _line(next((each for each, _ in reversed(own) if not each.co_name.startswith("__")), code), line)


def _line(code: CodeType, line: int) -> str:
    return f"{shown_file(code.co_filename)}:{line} ({code.co_name})"


def shown_file(file: str) -> str:
    """Return a file's name as people know it: within its package, or from the working directory."""
    for mark in ("site-packages", "dist-packages"):
        if mark in file:
            return file.rpartition(mark + os.sep)[2]
    parts = file.removeprefix(os.getcwd() + os.sep).split(os.sep)
    return os.sep.join(parts[-2:])[-_KEPT:]
