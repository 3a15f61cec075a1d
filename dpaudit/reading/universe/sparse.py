"""Which noisy numbers are known by comparisons with one noisy threshold alone? What they lose is less than by release.

A noisy number is released as soon as it is made, and priced so. Where a path did nothing with it but compare it once
with a threshold of its own noise, and knows how that came out, the comparisons are one release of the law
``above_threshold`` instead: those below cost the threshold's noise alone, once (the sparse vector technique: Dwork &
Roth 2014, Theorem 3.23; Lyu, Su & Li 2017, Theorem 2). Noisy numbers of which a path only asks once which is largest
are one release of the law ``noisy_max`` (report noisy max: Dwork & Roth 2014, Claim 3.9). Whatever else touches number
or threshold leaves it as it was.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.reading.universe import choices, steps
from dpaudit.reading.universe.state import Pass, RefusalError, Released
from dpaudit.reading.universe.values import Token, combined, number

_ORDERED = {"lt": False, "le": False, "gt": True, "ge": True}
"""Comparisons, with whether the left side is above where they hold."""


@dataclass(eq=False)
class Threshold:
    """A public number with noise of its own, and what was compared with it."""

    scale: float
    compared: list[tuple[Query, Token, bool]] = field(default_factory=list)  # which outcome says that it is above
    tokens: int = 1  # sums of its noise and a public number


@dataclass(eq=False)
class Query:
    """A private number with noise of its own, which was released."""

    exact: Any  # the private number
    scale: float
    release: int  # its number on the path
    line: str
    is_compared: bool = False


@dataclass(eq=False)
class Scores:
    """An array of private numbers with as much noise each, which was released."""

    exact: Any
    scale: float
    release: int
    line: str
    is_compared: bool = False


_LARGEST = ("argmax", "idxmax")


def _asked(state: Pass, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Query | Scores]:
    """Return the noisy numbers of which a call asks nothing but which is largest; none of any other call."""
    if keywords:
        return []
    owner, name = getattr(function, "owner", None), getattr(function, "name", "")
    if function is np.argmax and len(args) == 1:
        listed = args[0] if type(args[0]) in (list, tuple) else None
    elif type(owner) is Token and name in _LARGEST and not args:
        args, listed = (owner,), None
    else:
        return []
    return _fresh(
        [_origin(state, each) for each in (args if listed is None else listed)], Scores if listed is None else Query
    )


def _fresh(origins: Sequence[Any], kind: Any) -> list[Any]:
    """Return noisy numbers with the same noise each that nothing looked at; none where any is another."""
    fits = all(type(each) is kind and not each.is_compared for each in origins) and len(set(map(id, origins))) == len(
        origins
    )
    return list(origins) if fits and len({each.scale for each in origins}) == 1 else []


def chosen(state: Pass, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Token | None:
    """Return the place of the largest of noisy numbers that are asked nothing else; None of other calls."""
    found = _asked(state, function, args, keywords)
    _choose(state, found)
    if not found:
        return None
    asked = args[0] if args else function.owner
    if getattr(function, "name", "") == "idxmax":
        return choices.among(Token(), () if asked.labels is None else list(asked.labels))
    many = len(asked) if type(asked) in (list, tuple) else (asked.shape or (0,))[0]
    return choices.place(number("np.int64"), many)


def largest(state: Pass, tokens: Sequence[Any]) -> bool:
    """Whether released numbers are noisy ones that are asked nothing but which is largest."""
    found = _fresh([_origin(state, each) for each in tokens], Query)
    _choose(state, found)
    return bool(found)


def _choose(state: Pass, found: Sequence[Query | Scores]) -> None:
    for each in found:
        each.is_compared = True
    if found:
        state.chosen.append(list(found))


def _only_asked(state: Pass, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    """Whether an operation asks nothing but which of noisy numbers is largest, or gets the method that does."""
    if name == "attribute" and len(args) == 2:
        origin = _origin(state, args[0])
        is_of_scores = type(origin) is Scores and not origin.is_compared and args[1] in _LARGEST
        return is_of_scores or (type(args[0]) is dict and args[1] == "get")
    if name != "call" or not args:
        return False
    key = keywords.get("key")
    is_by_get = args[0] is max and len(args) == 2 and type(args[1]) is dict and len(keywords) == 1
    if is_by_get and getattr(key, "__self__", None) is args[1] and getattr(key, "__name__", "") == "get":
        return True
    return bool(_asked(state, args[0], args[1:], keywords))


def followed(state: Pass, token: Any, origin: Threshold | Query | Scores) -> None:
    """Follow a released number as long as nothing but comparisons touches it."""
    if state.level or state.record or state.samples or type(token) is not Token:
        return
    state.followed[id(token)] = (token, origin)


def threshold_of(state: Pass, token: Any) -> Threshold | None:
    """Return the threshold that a number is, if nothing looked at it."""
    origin = _origin(state, token)
    return origin if isinstance(origin, Threshold) else None


def renamed(state: Pass, token: Token, new: Token) -> Token:
    """Return a token that stands for the same released number as another, which nobody has."""
    known = state.followed.pop(id(token), None)
    if known is not None:
        state.followed[id(new)] = (new, known[1])
    return new


def _origin(state: Pass, value: Any) -> Any:
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
    if (name == "compare" and len(args) == 3 and _sides(state, *args) is not None) or _only_asked(
        state, name, args, keywords
    ):
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
    sums = collections.Counter(each for _, each in state.followed.values() if isinstance(each, Threshold))
    thresholds = [each for each, many in sums.items() if many == each.tokens]
    queries = {id(each) for _, each in state.followed.values() if isinstance(each, Query)}
    live = {id(each) for _, each in state.followed.values()}
    for several in state.chosen:
        joined = _largest_of(several) if all(id(each) in live for each in several) else None
        if joined is not None:
            state.told.sparse.append((joined, frozenset(each.release for each in several)))
    for threshold in thresholds:
        known = [(query, outcome._decided, above) for query, outcome, above in threshold.compared]
        if not known or any(id(query) not in queries or decided is None for query, decided, _ in known):
            continue
        below = [query for query, decided, above in known if decided is not above]
        above = [query for query, decided, above in known if decided is above]
        found = _joined([*below, *above], len(above), threshold.scale)
        if found is not None:
            state.told.sparse.append((found, frozenset(query.release for query, _, _ in known)))


def _largest_of(several: list[Any]) -> Released | None:
    from dpaudit.reading.universe.numbers import stacked

    try:
        exact = several[0].exact if type(several[0]) is Scores else stacked([each.exact for each in several])
    except RefusalError:  # of differently chosen rows
        return None
    selection = exact.selection
    return Released(
        "noisy_max", exact.axes, exact.low, exact.high, np.full(exact.shape[0], several[0].scale),
        (selection.kind, selection.times, selection.number), None, several[-1].line, made=steps.vector(exact.terms),
    )  # fmt: skip


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


__all__ = [
    "Query",
    "Scores",
    "Threshold",
    "chosen",
    "compared",
    "followed",
    "forget",
    "largest",
    "renamed",
    "settle",
    "threshold_of",
    "touched",
]
