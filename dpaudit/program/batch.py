"""What does a program do in many runs at once? The batch reading.

All runs that take the same path share one call of the program (`Path`), so ordinary ``if`` and ``for`` run
at array speed; a path with few runs goes on run by run.

The reading does not trust itself: some runs of a path (of the first 256 of a batch, and of every path whose
output is out of the ordinary) are run again by the scalar reading on the same draws, and where the outputs
differ the whole batch is read run by run, with the reason. Two scalar runs on the same draws must agree, and
the global generators must stay as they were: otherwise the program has randomness or state of its own.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.noise import Noise
from dpaudit.program.noisy import Array
from dpaudit.program.outcome import entry, ordinary, run_once, same
from dpaudit.program.path import ImpureError, Path, Prefix, UnreadableError
from dpaudit.program.scalar import ScalarNoise

SMALL_PATH = 8  # a path with fewer runs goes on run by run
_CHECKED_PATHS = 256
_CHECKED_RUNS = 64  # beyond the first run of each path
_REPEATED_RUNS = 16  # of a batch that is read run by run

Program = Callable[[Noise], Any]


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
        UsageError: if the program has randomness or state besides its noise.
    """
    generators = _global_generators()
    try:
        try:
            result = BatchResult(_all_paths(program, size, rng), None)
        except UnreadableError as reason:
            result = BatchResult(_run_by_run(program, size, rng), str(reason))
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


def _all_paths(program: Program, size: int, rng: np.random.Generator) -> list[PathOutputs]:
    found: list[PathOutputs] = []
    pending = [Prefix(np.arange(size), [], [], [])]
    paths, extra = 0, _CHECKED_RUNS
    while pending:
        prefix = pending.pop()
        if len(prefix.runs) < SMALL_PATH:
            found += _small_path(program, prefix, rng)
            continue
        path = Path(rng, prefix)
        try:
            output = run_once(program, path)
        finally:
            path.end()
        path.close()
        paths += 1
        if paths <= _CHECKED_PATHS or not ordinary(output):
            runs = path.telling_runs()[: 1 + extra]
            extra -= len(runs) - 1
            for run in runs:
                _check(program, path, run, output)
        found.append(PathOutputs(path.runs, output))
        pending += path.forget()
    return found


def _small_path(program: Program, prefix: Prefix, rng: np.random.Generator) -> list[PathOutputs]:
    outputs = []
    for position, run in enumerate(prefix.runs):
        tape = [draw[position].item() for draw in prefix.draws]
        outputs.append(PathOutputs(np.array([run]), run_once(program, ScalarNoise(rng, tape))))
    return outputs


def _check(program: Program, path: Path, run: int, output: Any) -> None:
    """Run one run of a path by the scalar reading and compare."""
    tape = path.tape(run)

    def again() -> tuple[Any, int]:
        noise = ScalarNoise(np.random.default_rng(0), tape)
        return run_once(program, noise), noise.drawn

    plain, drawn = again()
    try:
        agree = drawn == path.drawn and same(plain, entry(output, run))
    except ImpureError:  # an object of the program's own computes with the noisy values that it holds
        agree = False
    if not agree:
        second, drawn_again = again()
        pure = drawn == drawn_again and same(plain, second)
        if pure and ordinary(output):
            pure = same(entry(run_once(program, path.repeated(run)), 0), entry(output, run))
        if not pure:
            raise ImpureError("returned another output on the same draws")
        raise UnreadableError("a program whose batch reading differs from its scalar reading")


def _run_by_run(program: Program, size: int, rng: np.random.Generator) -> list[PathOutputs]:
    """The scalar reading of a whole batch; the first runs twice, to see whether they depend on noise alone."""
    found = []
    for run in range(size):
        before = rng.bit_generator.state if run < _REPEATED_RUNS else None
        output = run_once(program, ScalarNoise(rng))
        if before is not None:
            rng.bit_generator.state = before
            if not same(output, run_once(program, ScalarNoise(rng))):
                raise ImpureError("returned another output on the same draws")
        found.append(PathOutputs(np.array([run]), output))
    return found
