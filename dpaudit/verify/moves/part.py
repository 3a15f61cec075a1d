"""Which part of an expression moves where one number is replaced? The terms that hang on it, of as few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpaudit.reading.expressions.graph import Graph, Value
from dpaudit.verify.moves.movement import needed, operands


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

    found.node("var", 0)
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
    scale, total = abs(terms[0][0]), found.constant(0)
    for by, place in terms:
        term = copied(place) * (abs(by) / scale)
        total = total + term if by > 0 else total - term
    return total, list(numbers), scale


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
