"""What does a program do in many runs at once? The batch reading.

All runs that take the same path share one call of the program (`BatchPath`), so ordinary ``if`` and ``for`` run
at array speed. If a path holds few runs, or cannot be read further, its runs continue one by one in the scalar
reading, each from the draws that it has made so far.

The batch reading checks itself: some runs of a path (of the first 256 paths of a batch, and of every path with an
unusual output) are repeated by the scalar reading on the same draws. If outputs or requests to the noise differ, the
batch is made a second time with the same draws from the same generator, and every run is read by the scalar reading.
So no run is ever drawn again because of what it drew: each output is what the scalar reading makes of that run's own
draws.

Two scalar runs on the same draws must agree, and the global random generators must not change: otherwise the program
has randomness or state of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.batch_value import INTEGER_LIMIT, Array, BatchValue, drawn_sums, entries
from dpaudit.program.laws import LAWS, pick
from dpaudit.program.noise import MOST_DRAWS, Asked, Noise, ScalarNoise, Tape, alike, endless
from dpaudit.program.outcome import entry, global_state, ordinary, run_once, same

# --- How do all runs of a batch that take the same path share one call of the program? ---
#
# A draw is one array for all runs that are still on the path. If a comparison is used as a truth value and the runs
# disagree, the call continues with the largest group. The other groups are left *pending* with their draws and
# decisions so far, and the program is called again for them, replaying both.

_MOST_BYTES = 2**27  # of the draws of one path (128 MiB); beyond it the runs are halved
_TABLES = {bool: False, int: False, float: False, np.bool_: True, np.int64: True, np.float64: True}


class UnbatchableError(BaseException):
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
        raise UnbatchableError(self.given_up)

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
            raise UnbatchableError(self.given_up)
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

        return BatchValue(self, self._record(asked, lambda count: LAWS[method].draw(self._rng, count, *asked()[1:])))

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
        positions = [0]
        for draw, made in self._draws:
            current = self.narrowed(draw.values, made)
            positions += [int(np.argmax(current)), int(np.argmin(current))]
        return list(dict.fromkeys(positions))


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


# Chosen so that the checks cost little beside the runs (benchmarks/overhead.py).
SMALL_PATH = 8  # a path with fewer runs continues run by run
_CHECKED_PATHS = 256
_CHECKED_RUNS = 64  # besides the first run of each path
_REPEATED_RUNS = 16  # among the runs that the scalar reading finishes

Program = Callable[[Noise], Any]
Take = Callable[[Array, Any], Any]


@dataclass(frozen=True, slots=True)
class PathOutputs:
    """What one path returned: ``output`` is a value with `BatchValue` entries (one per run), or a `Raised`."""

    runs: Array
    output: Any


@dataclass(frozen=True, slots=True)
class BatchResult:
    """All outputs of a batch as ``take`` returned them, and why runs were read one by one (None if none were)."""

    paths: list[Any]
    fallback_reason: str | None


class _DifferentError(Exception):
    """The batch reading differs from the scalar reading."""


def run_batch(program: Program, size: int, rng: np.random.Generator, take: Take = PathOutputs) -> BatchResult:
    """Run a program ``size`` times."""
    generators = global_state()
    try:
        state = rng.bit_generator.state
        try:
            result = _Batch(program, rng, take).read(size)
        except _DifferentError:
            beside = rng.spawn(1)[0]
            rng.bit_generator.state = state
            result = _Batch(program, rng, take, beside).read(size)
        if global_state() != generators:
            raise ImpureError("drew from Python's or NumPy's global generator")
    except ImpureError as what:
        raise UsageError(
            f"the program does not depend on its data, parameters and noise alone: called again, it {what}; "
            "draw all randomness from noise and keep no state between calls, or ask for rng instead"
        ) from None
    return result


class _Batch:
    """The reading of one batch.

    Args:
        beside: a generator for draws beyond a run's tape, when every run is read by the scalar reading; None while the
            batch reading is trusted.
    """

    def __init__(
        self, program: Program, rng: np.random.Generator, take: Take, beside: np.random.Generator | None = None
    ) -> None:
        self.program, self.rng, self.take, self.beside = program, rng, take, beside
        self.found: list[Any] = []
        self.reason = None if beside is None else "a program whose batch reading differs from its scalar reading"
        self.paths, self.extra, self.repeats = 0, _CHECKED_RUNS, _REPEATED_RUNS

    def read(self, size: int) -> BatchResult:
        """Run along every path."""
        pending = [Prefix(np.arange(size), [], [])]
        while pending:
            prefix = pending.pop()
            if len(prefix.runs) < SMALL_PATH:
                self._finish(prefix, self.rng)
            else:
                pending += self._follow(BatchPath(self.rng, prefix))
        return BatchResult(self.found, self.reason)

    def _follow(self, path: BatchPath) -> list[Prefix]:
        """Run along one path and return the pending groups."""
        try:
            with drawn_sums():
                output = run_once(self.program, path)
            path.close()
        except UnbatchableError:
            path.close_unread()
            self.reason = self.reason or path.given_up
            assert path.unread is not None
            self._finish(path.unread, self.rng)
            return path.forget()
        finally:
            path.end()
        if self.beside is not None:
            self._finish(path.whole(), self.beside)
            return path.forget()
        self.paths += 1
        checked = []
        if self.paths <= _CHECKED_PATHS or not ordinary(output):
            runs = path.telling_runs()[: 1 + self.extra]
            self.extra -= len(runs) - 1
            checked = [(run, _kept(output, run)) for run in runs]
        try:
            self.found.append(self.take(path.runs, output))
        except ImpureError:  # an object of the program computes with the noisy values that it holds
            raise _DifferentError from None
        for run, wanted in checked:
            self._check(path, run, wanted, replayable=ordinary(output))
        return path.forget()

    def _finish(self, prefix: Prefix, rng: np.random.Generator) -> None:
        """Continue runs one by one in the scalar reading, each from the draws that it has made so far."""
        for run, tape in zip(prefix.runs, prefix.tapes(), strict=True):
            noise = ScalarNoise(rng, tape)
            output = run_once(self.program, noise)
            differs = self.beside is None and (noise.diverged or noise.drawn < len(tape))
            again = self.repeats > 0 or differs
            wanted = _kept(output) if again else None
            self.found.append(self.take(np.array([run]), output))
            if again:
                self.repeats -= 1
                self._repeat(noise.tape, noise.drawn, wanted)
            if differs:
                raise _DifferentError

    def _repeat(self, tape: Tape, drawn: int, wanted: Any) -> None:
        """Raise if the program behaves differently when it is run again on the same draws."""
        noise = ScalarNoise(np.random.default_rng(0), tape)
        if not same(run_once(self.program, noise), wanted) or noise.diverged or noise.drawn != drawn:
            raise ImpureError("returned another output on the same draws")

    def _check(self, path: BatchPath, run: int, wanted: Any, *, replayable: bool) -> None:
        """Repeat one run of a path by the scalar reading and compare."""
        tape = path.tape(run)
        noise = ScalarNoise(np.random.default_rng(0), tape)
        output = run_once(self.program, noise)
        if noise.drawn == path.drawn and not noise.diverged and _agree(output, wanted):
            return
        self._repeat(noise.tape, noise.drawn, _kept(output))
        if replayable:
            repeated = path.repeated(run)
            try:
                with drawn_sums():
                    output = run_once(self.program, repeated)
                if not _agree(_kept(output, 0), wanted):
                    raise ImpureError("returned another output on the same draws")
            except UnbatchableError:
                pass
            finally:
                repeated.end()
        raise _DifferentError


_PLAIN = (bool, int, float, str, bytes, type(None))


def _agree(output: Any, wanted: Any) -> bool:
    try:
        return same(output, wanted)
    except ImpureError:
        return False


def _kept(output: Any, run: int | None = None) -> Any:
    """Return a copy of the output of a call, or of one of its runs: the program may reuse its containers."""
    try:
        own = output if run is None else entry(output, run)  # a copy already, for plain containers
        return own if type(own) in _PLAIN or (run is not None and ordinary(output)) else copy.deepcopy(own)
    except (Exception, ImpureError):  # for example from an object of the program that computes with what it holds
        return output
