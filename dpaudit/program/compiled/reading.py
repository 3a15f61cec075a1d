"""What does a program do in very many runs? The compiled reading.

The symbolic reading knows every path of a program for given data. Here the tree of paths becomes one loop of machine
code that draws, branches and writes down, without arrays in between. Its draws hang on the block that it makes, like
those of every reading, but they are others: a ziggurat of its own (`draws`).

The tree is read afresh for every block, from the function as it is then, and a loop is found again by its text alone:
no loop of an earlier program can run for a later one. The scalar reading, which calls the function itself, is the
twin: of every leaf that a block reached, it repeats some runs on the draws that the loop made
(`dpaudit.sampling.compiled`). Another output, or another request to the noise, is an error and never passed over.

Programs that the tree cannot hold, that draw noise that the loop does not know, or whose numbers may overflow, have no
loop (`UncompiledError`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.decimals import short_decimal
from dpaudit.errors import UsageError
from dpaudit.program.compiled.refused import DifferentError, UncompiledError
from dpaudit.program.compiled.source import loop_of
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import run_once
from dpaudit.program.scalar import Asked, ScalarNoise, Tape
from dpaudit.program.symbolic.budget import budget
from dpaudit.program.symbolic.reading import read
from dpaudit.program.symbolic.tree import NoiseDraw, ProgramPath, ProgramTree, draw_name, program_value

__all__ = ["CompiledProgram", "CompiledRuns", "DifferentError", "UncompiledError", "compiled"]

MOST_LEAVES = 256  # a loop for more takes longer to compile than it saves
_STEPS = 100_000  # of reading; about a second
_TOGETHER = 1024  # runs after which the generator's state is noted

Program = Callable[[Noise], Any]
Loop = Callable[..., None]


@lru_cache(maxsize=64)
def _loop(text: str) -> Loop:
    from dpaudit.program.compiled.draws import compiled

    return compiled(text)


@dataclass(frozen=True, slots=True)
class CompiledRuns:
    """The runs of one block and side."""

    codes: np.ndarray[Any, np.dtype[np.int32]]  # (runs,) int32, the leaf of each run
    numbers: Floats  # (runs, most numbers) what each run released, in the order of `ProgramPath.released`
    last: np.ndarray[Any, np.dtype[np.int64]]  # (leaves,) the latest run of each leaf; −1 if there is none
    states: Sequence[np.ndarray[Any, Any]]  # the generator's state before every so many runs


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run as the scalar reading makes it."""

    output: Any  # what the function returned
    leaf: ProgramPath  # where the loop came to
    draws: dict[str, float]  # the value of each of the path's variables


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """A program for known data, with its loop.

    Attributes:
        tree: of all paths.
        text: of the loop.
        numbers: what the loop is given of the program.
        width, draws: most numbers that a leaf releases, and most draws of a path.
    """

    tree: ProgramTree
    text: str
    numbers: Floats
    width: int
    draws: int

    def run(self, size: int, rng: np.random.Generator) -> CompiledRuns:
        """Make so many runs.

        Args:
            size: how many.
            rng: a fresh generator of the kind SFC64, whose state the loop goes on from.
        """
        state = rng.bit_generator.state["state"]["state"].copy()
        codes = np.empty(size, dtype=np.int32)
        numbers, last = np.empty((size, self.width)), np.full(len(self.tree.leaves), -1)
        states, loop, drawn = [], _loop(self.text), np.empty(self.draws)
        for start in range(0, size, _TOGETHER):
            states.append(state.copy())
            end = start + _TOGETHER
            loop(state, self.numbers, codes[start:end], numbers[start:end], last, drawn, start)
        return CompiledRuns(codes, numbers, last, states)

    def drawn(self, runs: CompiledRuns, run: int) -> Floats:
        """Return the draws of one run, by making those before it again."""
        before = run // _TOGETHER
        count = run - before * _TOGETHER + 1
        codes, numbers = np.empty(count, dtype=np.int32), np.empty((count, self.width))
        drawn = np.empty(self.draws)
        last = np.empty(len(self.tree.leaves), dtype=np.int64)
        _loop(self.text)(runs.states[before].copy(), self.numbers, codes, numbers, last, drawn, 0)
        return drawn

    def replayed(self, program: Program, runs: CompiledRuns, run: int, beside: np.random.Generator) -> Replayed:
        """Repeat a run by the scalar reading, on the draws that the loop made."""
        drawn, leaf = self.drawn(runs, run), self.tree.leaves[int(runs.codes[run])]
        values = drawn[: len(leaf.draws)].tolist()
        tape: Tape = [
            (_asked(draw), program_value(draw, value)) for draw, value in zip(leaf.draws, values, strict=True)
        ]
        noise = ScalarNoise(beside, tape)
        output = run_once(program, noise)
        if noise.diverged or noise.drawn < len(tape) or (noise.drawn > len(tape) and not leaf.is_null):
            raise DifferentError(f"it draws {_named(noise.tape)}, where its path draws {_named(tape)}")
        return Replayed(output, leaf, {draw_name(place): value for place, value in enumerate(values)})


def _asked(draw: NoiseDraw) -> Asked:
    method, *arguments = draw.asked
    return ("pick" if method == "choice" else method, *map(float, arguments))


def _named(tape: Tape) -> str:
    return (
        ", ".join(f"{asked[0]}({', '.join(f'{each:g}' for each in asked[1:])})" for asked, _ in tape)[:200] or "nothing"
    )


def _exactly(value: Any) -> Any:
    """Return data with every float as the exact fraction that it is, where it is no short decimal."""
    if type(value) in (list, tuple):
        return type(value)(map(_exactly, value))
    if type(value) is dict:
        return {key: _exactly(member) for key, member in value.items()}
    if isinstance(value, float) and np.isfinite(value) and short_decimal(value) is None:
        return Fraction(value)
    return value


def compiled(function: Callable[..., Any], data: Any, parameters: Mapping[str, Any]) -> CompiledProgram:
    """Read a program for known data, and write its loop.

    Args:
        function: called as ``function(data, noise, **parameters)``.
        data: one dataset.
        parameters: all of them.

    Raises:
        UncompiledError: if there is no loop for it.
    """
    from dpaudit.program.compiled.draws import LARGEST

    try:
        with budget(_STEPS, None, "the program"):
            tree = read(function, _exactly(data), _exactly(dict(parameters)), most=MOST_LEAVES)
    except UsageError as error:
        raise UncompiledError(str(error)) from None
    loop = loop_of(tree, LARGEST)
    return CompiledProgram(tree, loop.text, np.array(loop.numbers), loop.width, loop.draws)
