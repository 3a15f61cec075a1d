"""Which part of an expression moves where one number is replaced? The terms that hang on it, of as few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.reading.expressions.graph import Graph, Value
from dpaudit.verify.moves.movement import needed, operands


def moving_part(value: Value, replaced: int) -> tuple[Value, list[int]]:
    """Return what moves as an expression does where one number is replaced, and which numbers it is made of.

    Terms that do not hang on that number stand still, and add exactly 0 to a movement; so a tree for what is left is
    one for the whole. The number that is replaced is number 0 of what is left; the list is empty where nothing moves.
    """
    graph = value.graph
    hangs = set[int]()
    for place in needed(graph, (value.place,)):
        node = graph.nodes[place]
        if node[1:2] == (replaced,) if node[0] == "var" else any(each in hangs for each in operands(node)):
            hangs.add(place)
    if value.place not in hangs:
        return value, []
    found = Graph(graph.most)
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
                copies[place] = found.node(kind, *of)
        return copies[root]

    def terms(root: int) -> list[tuple[int, int]]:
        """The terms of a sum that move, each with its sign."""
        todo, listed = [(1, root)], list[tuple[int, int]]()
        while todo:
            sign, place = todo.pop()
            kind, *of = graph.nodes[place]
            if place not in hangs:
                continue
            if kind in ("add", "sub"):
                todo += [(sign if kind == "add" else -sign, of[1]), (sign, of[0])]
            else:
                listed.append((sign, place))
        return listed

    found.node("var", 0)
    scales = list[tuple[str, int]]()  # constants that the whole is multiplied with, or divided by
    root = value.place
    while True:
        kind, *of = graph.nodes[root]
        if kind == "mul" and graph.nodes[of[0]][0] == "const":
            scales.append((kind, of[0]))
            root = of[1]
        elif kind == "div" and graph.nodes[of[1]][0] == "const":
            scales.append((kind, of[1]))
            root = of[0]
        else:
            break
    total = found.constant(0)
    for sign, place in terms(root):
        total = total + copied(place) if sign > 0 else total - copied(place)
    for kind, place in reversed(scales):
        factor = copied(place)
        total = found.node(kind, *((factor.place, total.place) if kind == "mul" else (total.place, factor.place)))
    return total, list(numbers)


def renamed(tree: list[Any], sides: Sequence[int]) -> list[Any]:
    """Return a tree with its sides renamed."""
    found: list[Any] = []
    for part in tree:
        if isinstance(part, str):
            found.append(part)
        elif part[0] == "m":
            found.append(["m", [[sides[side], end] for side, end in part[1]]])
        else:
            found.append(["s", sides[part[1]], part[2]])
    return found


__all__ = ["moving_part", "renamed"]
