"""What does a program do in many runs at once? The batch reading.

A draw is one array for all runs that are still on the same path. Where a comparison is used as a truth
value and the runs disagree, the batch *splits*: the call is abandoned, and the function is called again for
each side, replaying its earlier draws. So ordinary ``if`` and ``for`` run at array speed.

The reading does not trust itself: one run of every path (of the first 256 of a batch, and of every path
that raises) is run again by the scalar reading on the same draws, and where the outputs differ the whole
batch is read run by run, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.draws import SAMPLERS, pick
from dpaudit.program.noise import Noise
from dpaudit.program.noisy import Array, Noisy, UnreadableError
from dpaudit.program.outcome import Raised, entry, run_once, same
from dpaudit.program.scalar import ScalarNoise

SMALL_PATH = 8  # a path with fewer runs goes on run by run
_CHECKED_PATHS = 256
_MOST_BYTES = 2**28  # of the draws of one path; a longer one is halved
_MOST_DRAWS = 10_000  # of one path; a longer one goes on run by run

Program = Callable[[Noise], Any]


class SplitError(BaseException):
    """Raised to abandon a call whose runs have gone different ways."""


@dataclass(frozen=True, slots=True)
class _Prefix:
    """Where a path begins: its runs, and the draws and decisions that led to it."""

    runs: Array
    draws: list[Array]
    asked: list[tuple[Any, ...]]
    decisions: list[Any]


class Path(Noise):
    """The noise of one call of the program, for all runs that take the same path."""

    __slots__ = (
        "_asked",
        "_decided",
        "_decisions",
        "_draws",
        "_next",
        "_rng",
        "ended",
        "left",
        "pending",
        "runs",
    )

    def __init__(self, rng: np.random.Generator, prefix: _Prefix) -> None:
        self._rng = rng
        self.runs = prefix.runs
        self._draws, self._asked, self._decisions = prefix.draws, prefix.asked, prefix.decisions
        self._next = self._decided = 0
        self.pending: list[_Prefix] = []
        self.ended: BaseException | None = None
        self.left: str | None = None

    def leave(self, what: str) -> NoReturn:
        """Give the reading up, saying what it does not know."""
        self.left = self.left or what
        self._stop(UnreadableError(what))

    def _stop(self, signal: BaseException) -> NoReturn:
        self.ended = self.ended or signal
        raise signal

    def _select(self, chosen: Array, decisions: list[Any]) -> _Prefix:
        return _Prefix(
            self.runs[chosen],
            [draw[chosen] for draw in self._draws],
            self._asked[:],
            self._decisions + decisions,
        )

    def decide(self, outcome: Array) -> Any:
        """Return the one value that ``outcome`` has in all runs, or split the batch by its values."""
        if self.ended is not None:
            raise self.ended
        position = self._decided
        self._decided += 1
        if position < len(self._decisions):
            if outcome[0] != self._decisions[position]:
                _refuse("took another branch on the same draws")
            return self._decisions[position]
        first = outcome[0]
        if np.all(outcome == first):
            self._decisions.append(first.item())
            return first.item()
        for value in np.unique(outcome)[::-1]:
            self.pending.append(self._select(np.flatnonzero(outcome == value), [value.item()]))
        self._stop(SplitError())

    def _record(self, asked: tuple[Any, ...], make: Callable[[int], Array]) -> Array:
        if self.ended is not None:
            raise self.ended
        position = self._next
        self._next += 1
        if position < len(self._draws):
            if asked != self._asked[position]:
                _refuse(f"asked for {_call(asked)} where it had asked for {_call(self._asked[position])}")
            return self._draws[position]
        count = len(self.runs)
        if (position + 1) * count * 8 > _MOST_BYTES or position >= _MOST_DRAWS:
            size = count // 2 if position < _MOST_DRAWS else SMALL_PATH - 1
            for start in range(0, count, size)[::-1]:
                self.pending.append(self._select(np.arange(start, min(start + size, count)), []))
            self._stop(SplitError())
        draw = make(count)
        self._draws.append(draw)
        self._asked.append(asked)
        return draw

    def _draw(self, method: str, *arguments: Any) -> Any:
        concrete = [self._argument(value) for value in arguments]
        asked = (method, *("noisy" if isinstance(value, np.ndarray) else value for value in concrete))
        return Noisy(self, self._record(asked, lambda count: SAMPLERS[method](self._rng, count, *concrete)))

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, Noisy):
            return value
        if value.path is not self:
            self.leave("a noisy value kept from another call")
        return value.array

    def _indices(self, weights: Sequence[float]) -> Array:
        return self._record(("pick", *weights), lambda count: pick(self._rng, count, list(weights)))

    def _pick(self, weights: Sequence[float]) -> int:
        return int(self.decide(self._indices(weights)))

    def _choose(self, options: list[Any], weights: list[float]) -> Any:
        """Numbers of one type stay an array; other options are one branch of len(options) ways."""
        if any({type(option) for option in options} == {kind} for kind in (bool, int, float)):
            table = np.asarray(options)
            if table.dtype.kind in "bif":
                return Noisy(self, table[self._indices(weights)])
        return options[self._pick(weights)]

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value, the first of equals: one branch."""
        values = list(values)
        if not values:
            raise ValueError("noise.argmax: there must be at least one value")
        best, where = self._argument(values[0]), np.zeros(len(self.runs), dtype=np.int64)
        for index, value in enumerate(values[1:], start=1):
            array = self._argument(value)
            larger = array > best
            best, where = np.where(larger, array, best), np.where(larger, index, where)
        return int(self.decide(where))

    def tape(self, run: int) -> list[Any]:
        """Return the draws of one run of this path, for the scalar reading."""
        return [draw[run].item() for draw in self._draws]


def _call(asked: tuple[Any, ...]) -> str:
    return f"{asked[0]}({', '.join(map(str, asked[1:]))})"


def _refuse(what: str) -> NoReturn:
    raise _ImpureError(what)


class _ImpureError(BaseException):
    """A replay differed: the program does not depend on its data, parameters and noise alone."""


@dataclass(frozen=True, slots=True)
class PathOutputs:
    """What one path returned: ``output`` is a value with `Noisy` entries (one per run), or a `Raised`."""

    runs: Array
    output: Any


@dataclass(frozen=True, slots=True)
class BatchResult:
    """All outputs of a batch, and why it was read run by run (None where it was not)."""

    paths: list[PathOutputs]
    fell_back: str | None


def run_batch(program: Program, size: int, rng: np.random.Generator) -> BatchResult:
    """Run a program ``size`` times.

    Args:
        program: the function with everything but its noise filled in.
        size: how many runs.
        rng: where all draws come from; the same state gives the same outputs.

    Raises:
        UsageError: if a replay asks for other draws than the first time.
    """
    try:
        return BatchResult(_all_paths(program, size, rng), None)
    except UnreadableError as reason:
        runs = [PathOutputs(np.array([run]), run_once(program, ScalarNoise(rng))) for run in range(size)]
        return BatchResult(runs, str(reason))
    except _ImpureError as what:
        raise UsageError(
            f"the program does not depend on its data, parameters and noise alone: called again, it {what}; "
            "draw all randomness from noise and keep no state between calls, or ask for rng instead"
        ) from None


def _all_paths(program: Program, size: int, rng: np.random.Generator) -> list[PathOutputs]:
    found: list[PathOutputs] = []
    pending = [_Prefix(np.arange(size), [], [], [])]
    while pending:
        prefix = pending.pop()
        if len(prefix.runs) < SMALL_PATH:
            found += _run_by_run(program, prefix, rng)
            continue
        path = Path(rng, prefix)
        try:
            output = run_once(program, path)
        except SplitError:
            pending += path.pending
            continue
        if path.ended is not None:
            raise UnreadableError(path.left or "a program that catches BaseException")
        if len(found) < _CHECKED_PATHS or isinstance(output, Raised):
            _check(program, path, output)
        found.append(PathOutputs(path.runs, output))
    return found


def _run_by_run(program: Program, prefix: _Prefix, rng: np.random.Generator) -> list[PathOutputs]:
    outputs = []
    for position, run in enumerate(prefix.runs):
        tape = [draw[position].item() for draw in prefix.draws]
        outputs.append(PathOutputs(np.array([run]), run_once(program, ScalarNoise(rng, tape))))
    return outputs


def _check(program: Program, path: Path, output: Any) -> None:
    """Run the first run of a path by the scalar reading and compare."""
    plain = run_once(program, ScalarNoise(np.random.default_rng(0), path.tape(0)))
    if not same(plain, entry(output, 0)):
        raise UnreadableError("a program whose batch reading differs from its scalar reading")
