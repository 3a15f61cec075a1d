"""How far does an expression move, at most and at least? The largest movement that is found, and trees above it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.reading.expressions.graph import Graph, Value
from dpaudit.verify.moves.movement import MovementSearch, Tree, constant, evaluated, farthest, needed, operands

__all__ = ["MovementBound", "Ranges", "bounded", "evaluated", "moving_part", "renamed", "simplest", "widest"]

MOST_BOXES = 6_000
"""For one number that is replaced, at the bound that is aimed at."""
_ROUND_BOXES, _LOOSE_BOXES = 500, 1_000  # for the round number that is nearest; for looser bounds
_LOOSE = (1.001, 1.01, 1.1, 1.5, 2.0, 4.0)  # times the largest movement that was found
Ranges = Sequence[tuple[Fraction, Fraction]]
_NEAR, _ROOM = Fraction(1, 10**12), Fraction(4, 10**10)


@dataclass(frozen=True, slots=True)
class MovementBound:
    """How far an expression moves where one number is replaced."""

    least: float  # the largest movement that was found
    pair: tuple[Any, Any]  # numbers that show it
    most: tuple[Fraction, ...] | None  # a bound for each number; None where none was found for some
    trees: tuple[tuple[Tree, ...], ...] | None  # that show it: for each number two, or none
    boxes: int  # that it took


def bounded(
    value: Value, box: Ranges, replaced: Sequence[int], *, seed: int = 0, limit: int = MOST_BOXES
) -> MovementBound:
    """Bound how far an expression of numbers within ranges moves where one is replaced.

    Args:
        value: the expression.
        box: the range of each number.
        replaced: which numbers may be replaced.
        seed: of points that are tried.
        limit: how many boxes are cut for each number, about.
    """
    least, pair = -1.0, None
    most, trees, boxes = list[Fraction](), list[tuple[Tree, ...]](), 0
    counted = set[int]()
    for number in replaced:
        alone, kept, scale = moving_part(value, number)
        if not kept:
            most.append(Fraction(0))
            trees.append(())
            continue
        largest = _looked_at(alone, tuple(box[each] for each in kept), seed, limit)
        boxes += 0 if id(largest) in counted else largest.boxes
        counted.add(id(largest))
        if largest.far * float(scale) > least:
            least, pair = largest.far * float(scale), tuple(_among(each, kept, box) for each in largest.pair)
        if largest.most is not None:
            most.append(_times(largest.most, scale))
            trees.append(tuple(renamed(tree, [*kept, len(box)]) for tree in largest.trees))
    is_bound = len(most) == len(replaced)
    return MovementBound(
        least, pair or ((), ()), tuple(most) if is_bound else None, tuple(trees) if is_bound else None, boxes
    )


@dataclass(frozen=True, slots=True)
class _Alone:
    """How far an expression moves where its number 0 is replaced."""

    far: float
    pair: tuple[Any, Any]
    most: Fraction | None
    trees: tuple[Tree, ...]
    boxes: int


def _looked_at(alone: Value, sides: tuple[tuple[Fraction, Fraction], ...], seed: int, limit: int) -> _Alone:
    """Return how far an expression moves; one that several numbers or questions have alike is looked at once."""
    key = tuple(alone.graph.nodes), alone.place, sides, seed, limit
    largest = _KNOWN.get(key)
    if largest is None:
        search = MovementSearch(alone, [(constant(low)[0], constant(high)[1]) for low, high in sides], 0)
        far, *pair = farthest(alone, sides, 0, seed)
        most, trees, boxes = None, list[Tree](), 0
        for aim, tries in _aims(far, search, limit):
            shown = search.trees(aim, tries)
            boxes += search.boxes
            if shown is not None:
                most, trees = aim, shown
                break
        largest = _KNOWN[key] = _Alone(far, (pair[0], pair[1]), most, tuple(trees), boxes)
        if len(_KNOWN) > _MOST_KNOWN:
            del _KNOWN[next(iter(_KNOWN))]
    return largest


_MOST_KNOWN = 256
_KNOWN: dict[Any, _Alone] = {}


def _times(most: Fraction, scale: Fraction) -> Fraction:
    """Return a bound times a number, with room for what a checker rounds that counts in binary places."""
    far = most * scale
    is_binary = not scale.denominator & (scale.denominator - 1)
    return far if is_binary else simplest(far * (1 + _NEAR), far * (1 + _ROOM))


def _among(numbers: Any, kept: Sequence[int], box: Ranges) -> Any:
    """Return these numbers among all others, which are as small as they can be."""
    numbers_all = np.array([float(low) for low, _ in box])
    numbers_all[list(kept)] = numbers
    return numbers_all


def widest(value: Value, box: Ranges, seed: int) -> tuple[float, tuple[Any, Any]]:
    """Return the largest movement that is found, whichever number is replaced, with the pair."""
    movements = [farthest(value, box, replaced, seed) for replaced in range(len(box))]
    far, first, second = max(movements, key=lambda each: each[0])
    return far, (first, second)


def _aims(least: float, search: MovementSearch, limit: int) -> Iterator[tuple[Fraction, int]]:
    """Yield bounds to aim at, from the largest movement that was found to what the whole box shows."""
    exact = Fraction(least)
    yield simplest(exact * (1 - _NEAR), exact * (1 + _NEAR)), min(limit, _ROUND_BOXES)
    yield simplest(exact * (1 + _NEAR), exact * (1 + _ROOM)), limit
    for factor in _LOOSE:
        yield simplest(exact * Fraction(factor), exact * Fraction(factor) * (1 + _ROOM)), _LOOSE_BOXES
    whole = search.most()
    if math.isfinite(whole):
        yield simplest(Fraction(whole), Fraction(whole) * (1 + _ROOM)), 100


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of the smallest denominator between two numbers, 0 ≤ low ≤ high."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / simplest(1 / (high - below), 1 / (low - below))


# --- Which part of an expression moves where one number is replaced? The terms that hang on it, of as few numbers. ---


def moving_part(value: Value, replaced: int) -> tuple[Value, list[int], Fraction]:
    """Return what moves as an expression does where one number is replaced, of which numbers, and how often that is.

    Terms that do not hang on that number stand still, and add exactly 0 to a movement, which is that of what is left
    times the positive number; so a tree for what is left is one for the whole. The number that is replaced is number 0
    of what is left; the list is empty where nothing moves.
    """
    graph = value.graph
    hangs = set[int]()
    for place in needed(graph, (value.place,)):
        node = graph.nodes[place]
        if node[1:2] == (replaced,) if node[0] == "var" else any(each in hangs for each in operands(node)):
            hangs.add(place)
    if value.place not in hangs:
        return value, [], Fraction(1)
    part = Graph(graph.most)
    numbers: dict[int, int] = {replaced: 0}
    copies: dict[int, Value] = {}

    def copied(root: int) -> Value:
        for place in needed(graph, (root,)):
            if place not in copies:
                kind, *of = graph.nodes[place]
                if kind == "var":
                    of = [numbers.setdefault(of[0], len(numbers))]
                elif kind != "const":
                    inner = operands((kind, *of))
                    of = [*(copies[each].place for each in inner), *of[len(inner) :]]
                copies[place] = part.node(kind, *of)
        return copies[root]

    part.node("var", 0)
    terms, todo = list[tuple[Fraction, int]](), [(Fraction(1), value.place)]
    while todo:  # through sums and multiples
        by, place = todo.pop()
        kind, *of = graph.nodes[place]
        if place not in hangs:
            continue
        if kind in ("add", "sub"):
            todo += [(by if kind == "add" else -by, of[1]), (by, of[0])]
        elif kind == "mul" and graph.nodes[of[0]][0] == "const":
            todo.append((by * graph.nodes[of[0]][1], of[1]))
        elif kind == "div" and graph.nodes[of[1]][0] == "const":
            todo.append((by / graph.nodes[of[1]][1], of[0]))
        else:
            terms.append((by, place))
    scale, total = abs(terms[0][0]), part.constant(0)
    for by, place in terms:
        term = copied(place) * (abs(by) / scale)
        total = total + term if by > 0 else total - term
    return total, list(numbers), scale


def renamed(tree: list[Any], sides: Sequence[int]) -> list[Any]:
    """Return a tree with its sides renamed."""
    tree_renamed: list[Any] = []
    for part in tree:
        if isinstance(part, str):
            tree_renamed.append(part)
        elif part[0] == "m":
            tree_renamed.append(["m", [[sides[side], end] for side, end in part[1]]])
        else:
            tree_renamed.append(["s", sides[part[1]], part[2]])
    return tree_renamed
