"""How do all runs of a batch that take the same path share one call of the program?

A draw is one array for all runs that are still on the path. If a comparison is used as a truth value and the runs
disagree, the call continues with the largest group. The other groups are left *pending* with their draws and decisions
so far, and the program is called again for them, replaying both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dpaudit.program.batch.value import INTEGER_LIMIT, Array, BatchValue, entries
from dpaudit.program.laws import LAWS
from dpaudit.program.noise import MOST_DRAWS, Noise, endless, pick
from dpaudit.program.scalar import Asked, Tape, alike

_MOST_BYTES = 2**27  # of the draws of one path (128 MiB); beyond it the runs are halved
_TABLES = {bool: False, int: False, float: False, np.bool_: True, np.int64: True, np.float64: True}


class UnreadableError(BaseException):
    """The program does something that the batch reading does not support; its runs continue one by one instead.

    A BaseException, so that ``except Exception`` in a program does not swallow it.
    """


class ImpureError(BaseException):
    """A replay differed: the program depends on something besides its data, parameters and noise."""


@dataclass(frozen=True, slots=True)
class BatchDraw:
    """One draw of several runs: what was asked for (noisy arguments are arrays), and the values drawn."""

    asked: Asked
    values: Array
    noisy: bool = False  # whether the runs asked for different laws

    def of(self, chosen: Array) -> BatchDraw:
        """Return the draw of some of the runs, by their positions."""
        asked = tuple(_at(part, chosen) for part in self.asked) if self.noisy else self.asked
        return BatchDraw(asked, self.values[chosen], self.noisy)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(part.nbytes for part in (*self.asked, self.values) if isinstance(part, np.ndarray))


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a path: its runs, and the draws and decisions that led there."""

    runs: Array
    draws: list[BatchDraw]
    decisions: list[Any]

    def tapes(self) -> Iterator[Tape]:
        """Yield the draws of each run so far, for the scalar reading."""
        columns = [(draw.asked, draw.noisy, draw.values.tolist()) for draw in self.draws]
        for position in range(len(self.runs)):
            yield [
                (_asked_at(asked, position) if noisy else asked, values[position]) for asked, noisy, values in columns
            ]


class BatchPath(Noise):
    """The noise of one call of the program, for all runs that take the same path.

    Attributes:
        runs: the runs of the batch that are on this path, ascending.
        version: how often runs have left the path; arrays from before are narrowed when they are used.
        pending: the groups of runs that took another branch.
        given_up: why the batch reading gave up, or None.
        unread: the runs that were on the path when the reading gave up, with their draws so far; None if it did not.
    """

    __slots__ = (
        "_bytes",
        "_decided",
        "_decisions",
        "_draws",
        "_next",
        "_over",
        "_replayed",
        "_rng",
        "_selections",
        "given_up",
        "pending",
        "refused",
        "runs",
        "unread",
        "version",
    )

    def __init__(self, rng: np.random.Generator, prefix: Prefix) -> None:
        self._rng = rng
        self.runs = prefix.runs
        self._draws = [(draw, 0) for draw in prefix.draws]
        self._decisions = prefix.decisions
        self._replayed = len(prefix.draws), len(prefix.decisions)
        self._bytes = sum(draw.nbytes for draw in prefix.draws)
        self._next = self._decided = 0
        self._selections: list[Array] = []
        self.version = 0
        self.pending: list[Prefix] = []
        self.given_up: str | None = None
        self.unread: Prefix | None = None
        self.refused: str | None = None
        self._over = False

    @property
    def drawn(self) -> int:
        """How many draws the call has made."""
        return self._next

    # how a call ends
    def leave(self, what: str) -> NoReturn:
        """Give up the batch reading, naming what it does not support; a call that continues does so with one run."""
        self.ensure_own(self)
        if self.given_up is None:
            self.given_up = what
            self.unread = self.whole()
            self._keep(np.zeros(1, dtype=np.intp))
        raise UnreadableError(self.given_up)

    def refuse(self, what: str) -> NoReturn:
        """Raise `ImpureError`: the program depends on something besides its data, parameters and noise."""
        self.refused = self.refused or what
        raise ImpureError(self.refused)

    def ensure_own(self, other: BatchPath) -> None:
        """Raise if the program uses a noisy value of another call, or this path after its end."""
        if other is not self or self._over:
            self.refuse("used noise of an earlier call")

    def end(self) -> None:
        """Mark the call as over: later calls must not use its noise."""
        self._over = True

    def close(self) -> None:
        """End one that returned: raise an error that it may have swallowed, and check that the replay is complete."""
        self.end()
        self.close_unread()
        if self.given_up is not None:
            raise UnreadableError(self.given_up)
        if self._next < self._replayed[0] or self._decided < self._replayed[1]:
            self.refuse("ended before it came as far as before")

    def close_unread(self) -> None:
        """End a call whose reading gave up: raise an error that it may have swallowed."""
        self.end()
        if self.refused is not None:
            raise ImpureError(self.refused)

    # runs that leave the path
    def narrowed(self, array: Array, version: int) -> Array:
        """Return the entries of the runs that are still here, given an array from an earlier version."""
        for chosen in self._selections[version:]:
            array = array[chosen]
        return array

    def _keep(self, chosen: Array) -> None:
        self.runs = self.runs[chosen]
        self._selections.append(chosen)
        self.version += 1

    def whole(self) -> Prefix:
        """Return all runs that are on the path now, with their draws."""
        chosen = np.arange(len(self.runs))
        return Prefix(self.runs, self._draws_of(chosen), self._decisions[:])

    def _draws_of(self, chosen: Array) -> list[BatchDraw]:
        """Return the draws of some of the runs that are on the path now."""
        draws, version = [], self.version
        for draw, made in reversed(self._draws):
            while version > made:
                version -= 1
                chosen = self._selections[version][chosen]
            draws.append(draw.of(chosen))
        return draws[::-1]

    def _part(self, chosen: Array, decisions: list[Any]) -> None:
        """Leave some of the runs that are on the path now for another call."""
        self.pending.append(Prefix(self.runs[chosen], self._draws_of(chosen), self._decisions + decisions))

    def decide(self, outcome: Array) -> Any:
        """Return the most frequent value of ``outcome``; the runs that have it continue, the others become pending."""
        self.ensure_own(self)
        position = self._decided
        self._decided += 1
        if position < len(self._decisions):
            if outcome[0] != self._decisions[position]:
                self.refuse("took another branch on the same draws")
            return self._decisions[position]
        value = outcome[0].item()
        if outcome.dtype == bool:
            positive = int(np.count_nonzero(outcome))
            counts = {True: positive, False: len(outcome) - positive}
        else:
            counts = {} if np.all(outcome == value) else dict(zip(*_tally(outcome), strict=True))
        value = max(counts, key=counts.__getitem__, default=value)
        others = [other for other in counts if other != value and counts[other]]
        for other in others:
            self._part(np.flatnonzero(outcome == other), [other])
        if others:
            self._keep(np.flatnonzero(outcome == value))
        self._decisions.append(value)
        return value

    # draws
    def _record(self, asked: Callable[[], Asked], make: Callable[[int], Array]) -> Array:
        """Return the next draw: the recorded one in a replay, otherwise a fresh one.

        Both functions are called only when needed, since halving the path narrows noisy arguments too.
        """
        self.ensure_own(self)
        position = self._next
        self._next += 1
        if position >= MOST_DRAWS:
            raise endless()
        if position < len(self._draws):
            draw, version = self._draws[position]
            before = tuple(self._now(part, version) for part in draw.asked)
            now = asked()
            if not alike(_asked_at(before, 0), _asked_at(now, 0)):
                self.refuse(f"asked for {_call(now)} where it had asked for {_call(before)}")
            return self.narrowed(draw.values, version)
        if self._bytes > _MOST_BYTES and len(self.runs) > 1:
            self._halve()
        law = asked()
        draw = BatchDraw(law, make(len(self.runs)), any(isinstance(part, np.ndarray) for part in law))
        self._bytes += draw.nbytes
        self._draws.append((draw, self.version))
        return draw.values

    def _now(self, part: Any, version: int) -> Any:
        return self.narrowed(part, version) if isinstance(part, np.ndarray) else part

    def _halve(self) -> None:
        """Keep only the draws of runs that are still on the path; if these take too much memory, halve the runs."""
        count = len(self.runs)
        if count * len(self._draws) * 8 > _MOST_BYTES // 2:
            self._part(np.arange(count // 2, count), [])
            self._keep(np.arange(count // 2))
        draws = self._draws_of(np.arange(len(self.runs)))
        self._draws = [(draw, self.version) for draw in draws]
        self._bytes = sum(draw.nbytes for draw in draws)

    def _entries(self, value: Any) -> Any:
        if type(value) is not BatchValue:
            return float(value)
        self.ensure_own(value._path)
        return value

    def _draw(self, method: str, *arguments: Any) -> Any:
        concrete = [self._entries(value) for value in arguments]

        def asked() -> Asked:
            return method, *(entries(value) if type(value) is BatchValue else value for value in concrete)

        return BatchValue(self, self._record(asked, lambda count: LAWS[method].sample(self._rng, count, *asked()[1:])))

    def _indices(self, weights: Sequence[float]) -> Array:
        return self._record(lambda: ("pick", *weights), lambda count: pick(self._rng, count, weights))

    def _pick(self, weights: Sequence[float]) -> int:
        return int(self.decide(self._indices(weights)))

    def _choose(self, options: list[Any], weights: list[float]) -> Any:
        """Choose an option: numbers of one type stay an array, anything else is a branch with len(options) sides."""
        kinds = set(map(type, options))
        kind = kinds.pop()
        if kinds or not all(map(_tabled, options)):
            return options[self._pick(weights)]
        table = np.asarray(options)
        return BatchValue(self, table[self._indices(weights)], numpy=_TABLES[kind])

    def poisson(self, data: Any, rate: Any) -> Any:
        """Leave samples of records, of which each run has its own, to the scalar reading."""
        self.leave("noise.poisson")

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value (the first among equals), as one branch."""
        values = list(values)
        if not values or not all(type(value) is BatchValue or _tabled(value) for value in values):
            return super().argmax(values)
        best, where = values[0], np.zeros(len(self.runs), dtype=np.int64)
        for index, value in enumerate(values[1:], start=1):
            larger = value > best
            if type(larger) is not BatchValue:
                best, where = (value, np.full_like(where, index)) if larger else (best, where)
                continue
            chosen = entries(larger)
            where[chosen] = index
            arrays = [entries(side) if type(side) is BatchValue else side for side in (value, best)]
            best = BatchValue(self, np.where(chosen, *arrays))
        return int(self.decide(where))

    def forget(self) -> list[Prefix]:
        """Return the pending groups, and release the draws."""
        self._draws, pending, self.pending = [], self.pending, []
        return pending

    def repeated(self, run: int) -> BatchPath:
        """Return a path that replays one run of this path."""
        return BatchPath(self._rng, Prefix(self.runs[[run]], self._draws_of(np.array([run])), self._decisions))

    def tape(self, run: int) -> Tape:
        """Return the draws of one run of this path (by its position), for the scalar reading."""
        tape: Tape = []
        version = self.version
        for draw, made in reversed(self._draws):
            while version > made:
                version -= 1
                run = self._selections[version][run]
            tape.append((_asked_at(draw.asked, run) if draw.noisy else draw.asked, draw.values[run].item()))
        return tape[::-1]

    def telling_runs(self) -> list[int]:
        """Return the positions of the runs most likely to reveal a difference: the extremes of each draw."""
        found = [0]
        for draw, made in self._draws:
            current = self.narrowed(draw.values, made)
            found += [int(np.argmax(current)), int(np.argmin(current))]
        return list(dict.fromkeys(found))


def _tally(outcome: Array) -> tuple[list[Any], list[int]]:
    values, counts = np.unique(outcome, return_counts=True)
    return values.tolist(), counts.tolist()


def _tabled(value: Any) -> bool:
    """Whether an array can hold a plain number unchanged."""
    return type(value) in _TABLES and bool(-INTEGER_LIMIT < value < INTEGER_LIMIT)


def _at(part: Any, chosen: Array) -> Any:
    return part[chosen] if isinstance(part, np.ndarray) else part


def _asked_at(asked: Asked, position: int) -> Asked:
    """Return what one run asked for, in plain numbers."""
    return tuple(float(part[position]) if isinstance(part, np.ndarray) else part for part in asked)


def _call(asked: Asked) -> str:
    return f"{asked[0]}({', '.join('noisy' if isinstance(part, np.ndarray) else str(part) for part in asked[1:])})"
