"""How far does one of any number of numbers move what is computed of them? Reductions, written out and evaluated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.checker.moves import Expressions
from dpaudit.reading.expressions.graph import REDUCTIONS, Graph, Value
from dpaudit.verify.moves.movement import applied, operands

LENGTHS = (1, 2, 3, 5, 8)
"""Of lists on which a function of any number of numbers is run."""


def written(expressions: Expressions) -> tuple[Graph, list[int]]:
    """Return the plain operations of a certificate as a graph, and where each of them stands in it."""
    graph, places = Graph(), list[int]()
    for kind, *of in expressions.written:
        if kind == "const":
            rest: list[Any] = [Fraction(of[0])]
        elif kind == "var":
            rest = of
        else:
            rest = [places[each] for each in operands((kind, *of))]
            rest += of[len(rest) :]
        places.append(graph.node(kind, *rest).place)
    return graph, places


def evaluated_any(value: Value, points: Any) -> Any:
    """Return an expression of any number of numbers on lists of them, in floats: (lists,) of (lists, n)."""
    graph, count = value.graph, points.shape[1]
    known: dict[tuple[int, bool], Any] = {}

    def at(place: int, steps: bool) -> Any:
        if (place, steps) not in known:
            known[place, steps] = computed(place, steps)
        return known[place, steps]

    def computed(place: int, steps: bool) -> Any:
        kind, *of = graph.nodes[place]
        if kind == "const":
            return np.full((1, 1), float(of[0]))
        if kind == "count":
            return np.full((1, 1), float(count))
        if kind == "place":
            return np.arange(1.0, count + 1)[None, :]
        if kind == "var":
            return points if not steps else points[:, 1:] if of[0] else points[:, :-1]
        if kind not in REDUCTIONS:
            node = graph.nodes[place]
            return applied(node, [at(each, steps) for each in operands(node)])
        inner = at(of[0], kind == "steps")
        inner = np.broadcast_to(inner, (len(points), count - (kind == "steps")))
        if kind == "quantile":
            return np.quantile(inner, float(Fraction(of[1])), axis=1, keepdims=True)
        apply: Any = {"largest": np.max, "smallest": np.min, "product": np.prod}.get(kind, np.sum)
        return apply(inner, axis=1, keepdims=True)

    with np.errstate(all="ignore"):
        return np.broadcast_to(at(value.place, False), (len(points), 1))[:, 0]


__all__ = ["LENGTHS", "evaluated_any", "written"]
