"""What does a program do in very many runs? The compiled reading: the tree of all paths as one loop.

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

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.decimals import short_decimal
from dpaudit.errors import UsageError
from dpaudit.program.noise import Asked, Noise, ScalarNoise, Tape
from dpaudit.program.outcome import run_once
from dpaudit.program.symbolic.linear import Affine, as_float, budget
from dpaudit.program.symbolic.noise import read
from dpaudit.program.symbolic.tree import (
    ArgmaxNode,
    CompareNode,
    DeadNode,
    DrawNode,
    NoiseDraw,
    ProgramPath,
    ProgramTree,
    continuous_names,
    draw_name,
    program_value,
)


class UncompiledError(Exception):
    """The program has no loop; the message says why. Its runs are made by the batch reading."""


class DifferentError(Exception):
    """The loop gave another output than the scalar reading of the same draws."""


# --- Which loop makes the runs of a program? Its tree of paths, as the text of one function ---
#
# A run draws, branches, and ends at a leaf, whose number and released numbers it writes down. Numbers of the program
# (scales, coefficients, constants) are arguments of the loop and no part of its text, so that both sides of a pair,
# whose trees mostly have the same shape, share one loop.

MOST_DRAWS = 64
"""In the text of a loop; each takes about a fortieth of a second to compile."""

_MOST_LINES = 500
_SCALED = ("discrete_laplace",)  # drawn with their scale; the others are multiplied by it
_DRAWN = ("laplace", "exponential", "uniform", "gumbel", *_SCALED)
_TEST = {"<": "<", "<=": "<=", "=": "==", ">=": ">=", ">": ">"}


@dataclass(frozen=True, slots=True)
class LoopText:
    """A loop, as text and numbers."""

    text: str  # of the function ``loop(s, c, codes, numbers, last, h, first)``, which makes ``len(codes)`` runs
    numbers: tuple[float, ...]  # (c,) what it is given of the program
    width: int  # most numbers that a leaf releases
    draws: int  # most draws of a path


@dataclass(slots=True)
class _Writer:
    tree: ProgramTree
    leaves: dict[int, int]  # the number of a leaf, by that of its node
    largest: float
    sizes: list[int]  # how many nodes there are from each on
    sites: int = 0  # calls that draw
    numbers: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def number(self, value: Fraction | int | float) -> str:
        near = as_float(value)
        if not math.isfinite(near) or abs(near) > _MOST:
            raise UncompiledError("it computes with numbers that are too large or too small for floats")
        self.numbers.append(near)
        return f"c{len(self.numbers) - 1}"

    def linear(self, line: Affine, draws: tuple[NoiseDraw, ...], most: float) -> str:
        """Write a linear expression, and see that no run can make it larger than ``most``."""
        size = abs(as_float(line.constant))
        parts = []
        for name, factor in line.terms.items():
            size += abs(as_float(factor)) * as_float(draws[int(name[1:])].scale) * self.largest
            parts.append(name if factor == 1 else f"-{name}" if factor == -1 else f"{self.number(factor)} * {name}")
        if not size < most:
            raise UncompiledError("its numbers may be too large for floats")
        # the constant comes last, even if it is 0: a sum that is zero is then 0.0, and never −0.0
        return " + ".join([*parts, self.number(line.constant)])

    def released(self, line: Affine, draws: tuple[NoiseDraw, ...]) -> str:
        """Write a number of the output; the same number in the mathematics is the same float, if it has a chance."""
        if not continuous_names(draws).isdisjoint(line.terms):
            return self.linear(line, draws, _MOST)
        shared = _denominator([line])
        text = self.linear(line.times(shared), draws, _MOST_WHOLE)
        return text if shared == 1 else f"({text}) / {self.number(shared)}"

    def compared(self, lines: Sequence[Affine], draws: tuple[NoiseDraw, ...]) -> list[str]:
        """Write expressions that are compared with 0, or with one another, so that floats find every tie.

        Where a density is involved a tie has no chance. Otherwise all numbers are made whole, so that floats hold them.
        """
        continuous = continuous_names(draws)
        if not all(continuous.isdisjoint(line.terms) for line in lines):
            return [self.linear(line, draws, _MOST) for line in lines]
        shared = _denominator(lines)
        whole = [line.times(shared) for line in lines]
        if shared & (shared - 1) and (len(lines) > 1 or _may_vanish(whole[0])):
            raise UncompiledError("it compares whole-number noise with fractions, so that rounding decides ties")
        return [self.linear(line, draws, _MOST_WHOLE) for line in whole]

    def path(self, number: int, draws: tuple[NoiseDraw, ...], depth: int) -> None:
        """Write everything from a node on. The larger part of a branch stays at the same depth, after the smaller."""
        pad = "    " * depth
        while True:
            if len(self.lines) > _MOST_LINES:
                raise UncompiledError("it branches or releases too much to be compiled quickly")
            node = self.tree.nodes[number]
            if isinstance(node, DrawNode):
                self.lines.append(f"{pad}h{len(draws)} = h[{len(draws)}] = {self._drawn(node.draw)}")
                draws, number = (*draws, node.draw), node.then
            elif isinstance(node, CompareNode | ArgmaxNode):
                write = self._compare if isinstance(node, CompareNode) else self._largest
                tests = write(node, draws, pad)  # type: ignore[arg-type]
                # a side that no run takes is left out, and the last one needs no test
                live = [each for each in tests if not isinstance(self.tree.nodes[each[1]], DeadNode)]
                if not live:
                    raise UncompiledError("it has a path whose draws contradict its conditions")
                *smaller, (_, number) = sorted(live, key=lambda each: self.sizes[each[1]])
                for test, then in smaller:
                    self.lines.append(f"{pad}if {test}:")
                    self.path(then, draws, depth + 1)
            else:
                self._leaf(number, draws, pad)
                return

    def _drawn(self, draw: NoiseDraw) -> str:
        if draw.method not in _DRAWN:
            raise UncompiledError(f"noise.{draw.method} is not drawn there")
        self.sites += 1
        if self.sites > MOST_DRAWS:
            raise UncompiledError(f"its paths hold more than {MOST_DRAWS} draws together, which take long to compile")
        scale = self.number(draw.scale)
        return f"{draw.method}(s, {scale})" if draw.method in _SCALED else f"{scale} * {draw.method}(s)"

    def _compare(self, node: CompareNode, draws: tuple[NoiseDraw, ...], pad: str) -> list[tuple[str, int]]:
        self.lines.append(f"{pad}v = {self.compared([node.expression], draws)[0]}")
        return [(f"v {_TEST[way]} 0.0", then) for way, then in node.ways.items()]

    def _largest(self, node: ArgmaxNode, draws: tuple[NoiseDraw, ...], pad: str) -> list[tuple[str, int]]:
        first, *others = self.compared(node.expressions, draws)
        self.lines += [f"{pad}v = {first}", f"{pad}w = 0"]
        for place, other in enumerate(others, start=1):
            self.lines += [f"{pad}u = {other}", f"{pad}if u > v:", f"{pad}    v = u", f"{pad}    w = {place}"]
        return [(f"w == {place}", then) for place, then in enumerate(node.then)]

    def _leaf(self, number: int, draws: tuple[NoiseDraw, ...], pad: str) -> None:
        leaf = self.leaves[number]
        for place, line in enumerate(self.tree.leaves[leaf].released):
            self.lines.append(f"{pad}numbers[i, {place}] = {self.released(line, draws)}")
        self.lines += [f"{pad}codes[i] = {leaf}", f"{pad}last[{leaf}] = first + i", f"{pad}continue"]


_MOST = 1e290  # of any number on the way; beyond it floats overflow
_MOST_WHOLE = 2.0**53  # of whole numbers that floats hold


def _denominator(lines: Sequence[Affine]) -> int:
    """The number that makes all coefficients and constants whole."""
    return math.lcm(*(Fraction(each).denominator for line in lines for each in (*line.terms.values(), line.constant)))


def _may_vanish(line: Affine) -> bool:
    """Whether a sum of whole multiples of whole numbers can be 0 (Bézout)."""
    return int(line.constant) % math.gcd(*map(int, line.terms.values())) == 0


def _sizes(tree: ProgramTree) -> list[int]:
    """How many nodes there are from each node on; children have larger numbers than their parents."""
    sizes = [1] * len(tree.nodes)
    for number in range(len(sizes) - 1, -1, -1):
        node = tree.nodes[number]
        if isinstance(node, DrawNode):
            sizes[number] += sizes[node.then]
        elif isinstance(node, CompareNode):
            sizes[number] += sum(sizes[then] for then in node.ways.values())
        elif isinstance(node, ArgmaxNode):
            sizes[number] += sum(sizes[then] for then in node.then)
    return sizes


def loop_of(tree: ProgramTree, largest: float) -> LoopText:
    """Return the loop that makes the runs of a tree.

    The loop's arguments: the state of its generator, (4,); its numbers; for each run, the number of its leaf and the
    numbers that are released there, in the order of `ProgramPath.released`; for each leaf, the latest run that reached
    it; the draws of the latest run; and the number of the first run.
    """
    writer = _Writer(tree, {leaf.node: place for place, leaf in enumerate(tree.leaves)}, largest, _sizes(tree))
    writer.path(0, (), 2)
    width = max((len(leaf.released) for leaf in tree.leaves), default=0)
    draws = max((len(leaf.draws) for leaf in tree.leaves), default=0)
    unpacked = [f"    c{place} = c[{place}]" for place in range(len(writer.numbers))]
    head = ["def loop(s, c, codes, numbers, last, h, first):", *unpacked, "    for i in range(len(codes)):"]
    return LoopText("\n".join([*head, *writer.lines, ""]), tuple(writer.numbers), width, draws)


# --- What does a program do in very many runs? The compiled reading ---

MOST_LEAVES = 256  # a loop for more takes longer to compile than it saves
_STEPS = 100_000  # of reading; about a second
_TOGETHER = 1024  # runs after which the generator's state is noted

Program = Callable[[Noise], Any]
Loop = Callable[..., None]


@lru_cache(maxsize=64)
def _loop(text: str) -> Loop:
    from dpaudit.program.compiled_draws import compiled

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
    from dpaudit.program.compiled_draws import LARGEST

    try:
        with budget(_STEPS, None, "the program"):
            tree = read(function, _exactly(data), _exactly(dict(parameters)), most=MOST_LEAVES)
    except UsageError as error:
        raise UncompiledError(str(error)) from None
    loop = loop_of(tree, LARGEST)
    return CompiledProgram(tree, loop.text, np.array(loop.numbers), loop.width, loop.draws)
