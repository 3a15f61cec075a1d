"""What does a function release of n numbers, on every way that the data decide? Read way by way, and joined."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.reading.expressions.domain import MOST_WAYS, Expressions, Forked, chosen_value
from dpaudit.reading.expressions.graph import Graph, NotReadError, Value
from dpaudit.reading.expressions.noise import Release, Seen, Shown


@dataclass(frozen=True, slots=True)
class Reading:
    """What a function releases of n numbers."""

    graph: Graph
    variables: int
    releases: tuple[Release, ...]
    result: Any = None  # of a function that adds no noise: what it returns, numbers or arrays of them


def read(
    function: Callable[..., Any],
    variables: int,
    container: str,
    parameters: Mapping[str, Any],
    given: Mapping[str, Any],
    ways: float = math.inf,
) -> Reading:
    """Read what a function releases of so many numbers.

    Args:
        function: takes them in a list or an array, and the parameters.
        variables: how many numbers.
        container: "list" or "array".
        parameters: of the function.
        given: names of further arguments, and what makes them: a generator, or `GivenNoise`.
        ways: how many calls may be read on both ways that the data decide.

    Raises:
        NotReadError: for what is not known, with the line.
        UnreadableError: for what no domain reads.
    """
    graph = Graph(ways=ways)
    values = [graph.node("var", place) for place in range(variables)]

    def run(decided: dict[int, bool]) -> tuple[tuple[Release, ...], Any]:
        domain = Expressions(graph, decided)
        data: Any = domain.made(np.array(values, dtype=object) if container == "array" else list(values))
        return returned(domain, function, data, parameters, given)

    return Reading(graph, variables, *joined(graph, run))


def returned(
    domain: Expressions, function: Any, data: Any, parameters: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[tuple[Release, ...], Any]:
    """Return what a function releases of data on one way, and what it returns."""
    result = domain.run(function, data, **parameters, **{name: make() for name, make in given.items()})
    shown = domain.ended(result)
    return tuple(domain.releases), shown


def joined(
    graph: Graph, run: Callable[[dict[int, bool]], tuple[tuple[Release, ...], Any]]
) -> tuple[tuple[Release, ...], Any]:
    """Return what a function releases, on every way that the data decide."""
    ways = 0

    def on(decided: dict[int, bool]) -> tuple[tuple[Release, ...], Any]:
        nonlocal ways
        try:
            found = run(decided)
        except Forked as fork:
            both = [on({**decided, fork.condition.place: way}) for way in (True, False)]
            return _joined(graph, fork.condition, *both)
        ways += 1
        if ways > MOST_WAYS:
            raise NotReadError(f"the data decide among more than {MOST_WAYS} ways; write np.where, or a smaller length")
        return found

    return on({})


def _joined(graph: Graph, condition: Value, one: Any, other: Any) -> tuple[tuple[Release, ...], Any]:
    """Return what is released where a condition decides between two ways."""
    (yes, shown), (no, hidden) = one, other
    if [each.form for each in yes] != [each.form for each in no]:
        raise NotReadError("the data decide what is released, or with which noise; release the same on every way")
    joined = tuple(
        Release(
            a.how,
            a.law,
            a.scale,
            tuple(chosen_value(graph, condition, *both) for both in zip(a.values, b.values, strict=True)),
            a.line,
            a.unit,
        )
        for a, b in zip(yes, no, strict=True)
    )
    return joined, _joined_results(graph, condition, shown, hidden)


def _joined_results(graph: Graph, condition: Value, one: Any, other: Any) -> Any:
    if isinstance(one, Shown) and isinstance(other, Shown) and one.kind == other.kind and len(one) == len(other):
        return Shown(one.kind, (_joined_results(graph, condition, a, b) for a, b in zip(one, other, strict=True)))
    alike = type(one) is type(other) and not isinstance(one, Seen | Value | Shown) and repr(one) == repr(other)
    if not alike and all(isinstance(each, Value | int | float) for each in (one, other)):
        return chosen_value(graph, condition, one, other)  # also where both are the same number, of several types
    same = alike or (isinstance(one, Seen) and isinstance(other, Seen) and one.form == other.form)
    if not same:
        raise NotReadError("the data decide what is returned beside its numbers; return the same on every way")
    return one


def plain_numbers(result: Any) -> list[Value]:
    """Return the numbers of the data that a result shows, without noise."""
    if isinstance(result, Value):
        return [result]
    return [each for one in result for each in plain_numbers(one)] if isinstance(result, list) else []


__all__ = ["Reading", "joined", "plain_numbers", "read", "returned"]
