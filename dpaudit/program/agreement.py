"""Is the tree the program? Concrete runs of the program, compared with the tree on the same draws.

A proof is about the tree. That the tree is the program is shown by running it: every run must make the draws of
the tree's path, and return that path's output. A run that comes so close to a branch that rounding may decide
it is passed over, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.budget import spend
from dpaudit.program.linear import Linear
from dpaudit.program.outcome import Raised, run_once
from dpaudit.program.scalar import ScalarNoise
from dpaudit.program.simplex import Rational
from dpaudit.program.tree import Leaf, Output, Tree, draw_name

_CLOSE = 1e-9
_SPREADS = (0.0, 0.5, 2.0, 8.0)  # of the data, in units of the largest scale of a draw


@dataclass(frozen=True, slots=True)
class Agreement:
    """What concrete runs showed.

    Attributes:
        runs: how many were compared.
        passed_over: how many were not, being too close to a branch.
        leaves: how many of the tree's leaves they came to.
        disagreement: the first run that differs, in words; None where all agree.
    """

    runs: int
    passed_over: int
    leaves: int
    disagreement: str | None


class _Recorder(ScalarNoise):
    """A scalar reading that writes down what was asked and what was drawn."""

    __slots__ = ("made",)

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.made: list[tuple[tuple[Any, ...], Any]] = []

    def _draw(self, method: str, *arguments: Any) -> Any:
        value = super()._draw(method, *arguments)
        self.made.append(((method, *arguments), value))
        return value

    def _pick(self, weights: Sequence[float]) -> int:
        index = super()._pick(weights)
        self.made.append((("choice", *weights), index))
        return index


def agree(
    tree: Tree,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    length: int,
    *,
    integer: bool = False,
    runs: int = 100,
    seed: int = 0,
) -> Agreement:
    """Run a program on random answers q0 … q{length − 1} and random draws, and compare with its tree."""
    rng = np.random.default_rng(seed)
    plain = {name: _plain(value) for name, value in parameters.items()}
    widest = max((float(draw.scale) for leaf in tree.leaves for draw in leaf.draws), default=1.0)
    seen: set[int] = set()
    passed_over = 0
    for run in range(runs):
        spend()
        centre = rng.normal(0, widest) if run % 2 else 0.0
        data: list[Any] = (centre + rng.normal(0, 1, length) * widest * _SPREADS[run % len(_SPREADS)]).tolist()
        if integer:
            data = [round(value) for value in data]
        noise = _Recorder(rng)
        output = run_once(lambda drawn, data=data: function(list(data), drawn, **plain), noise)  # type: ignore[misc]
        point: dict[str, Rational] = {f"q{number}": Fraction(value) for number, value in enumerate(data)}
        draws = [_as_tree_draw(asked, value) for asked, value in noise.made]
        try:
            leaf, margin = tree.follow(point, draws)
        except IndexError:
            leaf, margin = None, None
        numbers = [*point.values(), *draws]
        rounded = any(number.denominator != 1 for number in numbers)
        largest = max((abs(Fraction(number)) for number in numbers), default=Fraction(0))
        if rounded and margin is not None and margin <= _CLOSE * (1 + largest):
            passed_over += 1
            continue
        values = {**point, **{draw_name(number): value for number, value in enumerate(draws)}}
        if leaf is None or not _same_draws(leaf, noise.made) or not _same(leaf.output, output, values):
            return Agreement(run, passed_over, len(seen), _told(data, noise.made, output, leaf))
        seen.add(leaf.node)
    return Agreement(runs - passed_over, passed_over, len(seen), None)


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _as_tree_draw(asked: tuple[Any, ...], value: Any) -> Rational:
    """Return the value of the tree's draw that gives a draw of the program."""
    method = asked[0]
    if method == "uniform":
        return Fraction(value) - Fraction(float(asked[1]))
    if method == "bernoulli":
        return (Fraction(float(asked[1])) + (0 if value else 1)) / 2
    if method == "choice":
        weights = [Fraction(weight) for weight in asked[1:]]
        middle: Fraction = (sum(weights[:value], Fraction(0)) + weights[value] / 2) / sum(weights, Fraction(0))
        return middle
    return Fraction(value)


def _same_draws(leaf: Leaf, made: Sequence[tuple[tuple[Any, ...], Any]]) -> bool:
    def alike(read: tuple[Any, ...], ran: tuple[Any, ...]) -> bool:
        return (
            len(read) == len(ran)
            and read[0] == ran[0]
            and all(math.isclose(float(a), float(b), rel_tol=_CLOSE) for a, b in zip(read[1:], ran[1:], strict=True))
        )

    return len(made) == len(leaf.draws) and all(
        alike(draw.asked, asked) for draw, (asked, _) in zip(leaf.draws, made, strict=True)
    )


def _same(read: Output, ran: Any, values: Mapping[str, Rational]) -> bool:
    """Whether an output of the tree, at these values, is one of the program, in type and value."""
    if isinstance(ran, np.generic):
        ran = ran.item()
    kind = read[0]
    if kind == "exception":
        return isinstance(ran, Raised) and str(ran).removeprefix("raises ") == read[1]
    if kind != {type(None): "none"}.get(type(ran), type(ran).__name__):
        return False
    if kind in ("int", "float"):
        if not isinstance(read[1], Linear):
            return bool(str(ran) == read[1])
        exact = Fraction(read[1].at(values))
        size = max(
            abs(exact), *(abs(Fraction(number * values[name])) for name, number in read[1].terms.items()), Fraction(0)
        )
        return math.isfinite(ran) and abs(Fraction(ran) - exact) <= Fraction(_CLOSE) * (1 + size)
    if kind in ("list", "tuple"):
        members = read[1:]
        return len(members) == len(ran) and all(_same(a, b, values) for a, b in zip(members, ran, strict=True))
    if kind == "dict":
        pairs = list(ran.items())
        return len(pairs) == len(read) - 1 and all(
            _same(a, key, values) and _same(b, value, values)
            for (a, b), (key, value) in zip(read[1:], pairs, strict=True)
        )
    return kind == "none" or bool(ran == read[1])


def _told(data: Sequence[Any], made: Sequence[Any], output: Any, leaf: Leaf | None) -> str:
    tree = "no path"
    if leaf is not None:
        asked = ", ".join(str(draw.asked[0]) for draw in leaf.draws)
        tree = f"one that draws {asked or 'nothing'} and returns {leaf.output!r:.200}"
    return f"on data {list(data)} and draws {made!r:.300} it returns {output!r:.200}, where the tree has {tree}"
