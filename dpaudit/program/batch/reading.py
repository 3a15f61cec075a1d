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
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.adding import drawn_sums
from dpaudit.program.batch.path import BatchPath, ImpureError, Prefix, UnreadableError
from dpaudit.program.batch.value import Array
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import entry, ordinary, run_once, same
from dpaudit.program.scalar import ScalarNoise, Tape

# Chosen so that the checks cost little beside the runs (benchmarks/overhead.py, benchmarks/catalogue.py).
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
    generators = _global_generators()
    try:
        state = rng.bit_generator.state
        try:
            result = _Batch(program, rng, take).read(size)
        except _DifferentError:
            beside = rng.spawn(1)[0]
            rng.bit_generator.state = state
            result = _Batch(program, rng, take, beside).read(size)
        if _global_generators() != generators:
            raise ImpureError("drew from Python's or NumPy's global generator")
    except ImpureError as what:
        raise UsageError(
            f"the program does not depend on its data, parameters and noise alone: called again, it {what}; "
            "draw all randomness from noise and keep no state between calls, or ask for rng instead"
        ) from None
    return result


def _global_generators() -> tuple[Any, bytes]:
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002


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
        except UnreadableError:
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
            except UnreadableError:
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
