"""Which noisy numbers are known by comparisons with one noisy threshold alone? What they lose is less than by release.

A noisy number is released as soon as it is made, and priced so. Where a path did nothing with it but compare it once
with a threshold of its own noise, and knows how that came out, the comparisons are one release of the law
``above_threshold`` instead: those below cost the threshold's noise alone, once (the sparse vector technique: Dwork &
Roth 2014, Theorem 3.23; Lyu, Su & Li 2017, Theorem 2). Whatever else touches number or threshold leaves it as it was.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.reading.universe import steps
from dpaudit.reading.universe.released import Token, combined
from dpaudit.reading.universe.state import Pass, RefusalError, Released

_ORDERED = {"lt": False, "le": False, "gt": True, "ge": True}
"""Comparisons, with whether the left side is above where they hold."""


@dataclass(eq=False)
class Threshold:
    """A public number with noise of its own, and what was compared with it."""

    scale: float
    compared: list[tuple[Query, Token, bool]] = field(default_factory=list)  # which outcome says that it is above


@dataclass(eq=False)
class Query:
    """A private number with noise of its own, which was released."""

    exact: Any  # the private number
    scale: float
    release: int  # its number on the path
    line: str
    is_compared: bool = False


def followed(state: Pass, token: Any, origin: Threshold | Query) -> None:
    """Follow a released number as long as nothing but comparisons touches it."""
    if state.level or state.record or state.samples or type(token) is not Token:
        return
    state.followed[id(token)] = (token, origin)


def renamed(state: Pass, token: Token, new: Token) -> Token:
    """Return a token that stands for the same released number as another, which nobody has."""
    known = state.followed.pop(id(token), None)
    if known is not None:
        state.followed[id(new)] = (new, known[1])
    return new


def _origin(state: Pass, value: Any) -> Threshold | Query | None:
    known = state.followed.get(id(value))
    return known[1] if known is not None and known[0] is value else None


def _sides(state: Pass, name: str, left: Any, right: Any) -> tuple[Query, Threshold, bool] | None:
    """Return number and threshold of a comparison of the two, and which outcome says that the number is above."""
    if name not in _ORDERED:
        return None
    first, second = _origin(state, left), _origin(state, right)
    if isinstance(first, Query) and isinstance(second, Threshold):
        query, threshold, is_left = first, second, True
    elif isinstance(first, Threshold) and isinstance(second, Query):
        query, threshold, is_left = second, first, False
    else:
        return None
    return None if query.is_compared else (query, threshold, _ORDERED[name] is is_left)


def compared(state: Pass, name: str, left: Any, right: Any) -> Token | None:
    """Return the outcome of a comparison of a noisy number with a threshold; None for any other comparison."""
    found = _sides(state, name, left, right)
    if found is None:
        return None
    query, threshold, says_above = found
    outcome = combined(name, left, right)
    query.is_compared = True
    threshold.compared.append((query, outcome, says_above))
    return outcome


def touched(state: Pass, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Follow no longer what an operation is given, unless it is such a comparison."""
    if name == "compare" and len(args) == 3 and _sides(state, *args) is not None:
        return
    seen: set[int] = set()
    for each in (*args, *keywords.values()):
        forget(state, each, seen)


def forget(state: Pass, value: Any, seen: set[int] | None = None) -> None:
    """Follow no longer what a value is, or holds."""
    seen = set() if seen is None else seen
    if id(value) in seen or not state.followed:
        return
    seen.add(id(value))
    if type(value) is Token:
        state.followed.pop(id(value), None)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            forget(state, each, seen)
    elif isinstance(value, BaseException):
        forget(state, value.args, seen)
    elif isinstance(value, dict):
        for pair in value.items():
            forget(state, pair, seen)
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            try:
                forget(state, cell.cell_contents, seen)
            except ValueError:  # not assigned yet
                continue
    elif hasattr(value, "__dict__") and not isinstance(value, type | types.ModuleType):
        forget(state, vars(value), seen)


def settle(state: Pass) -> None:
    """Tell, at the end of a path, which releases are comparisons with one threshold alone."""
    thresholds = dict.fromkeys(each for _, each in state.followed.values() if isinstance(each, Threshold))
    queries = {id(each) for _, each in state.followed.values() if isinstance(each, Query)}
    for threshold in thresholds:
        known = [(query, outcome._decided, above) for query, outcome, above in threshold.compared]
        if not known or any(id(query) not in queries or decided is None for query, decided, _ in known):
            continue
        below = [query for query, decided, above in known if decided is not above]
        above = [query for query, decided, above in known if decided is above]
        found = _joined([*below, *above], len(above), threshold.scale)
        if found is not None:
            state.told.sparse.append((found, frozenset(query.release for query, _, _ in known)))


def _joined(queries: list[Query], above: int, scale: float) -> Released | None:
    from dpaudit.reading.universe.numbers import stacked

    if len({each.scale for each in queries}) > 1:
        return None
    try:
        exact = stacked([each.exact for each in queries])
    except RefusalError:  # of differently chosen rows
        return None
    selection = exact.selection
    return Released(
        "above_threshold",
        exact.axes,
        exact.low,
        exact.high,
        np.full(len(queries), scale),
        (selection.kind, selection.times, selection.number),
        None,
        queries[-1].line,
        (("above", float(above)), ("noise", queries[0].scale)),
        made=steps.vector(exact.terms),
    )


__all__ = ["Query", "Threshold", "compared", "followed", "forget", "renamed", "settle", "touched"]
