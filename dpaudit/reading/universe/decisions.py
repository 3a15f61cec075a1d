"""What decides a path by what was released? Which of a few public values it is, and how noisy numbers compare.

What the exponential mechanism chose, or the place of the largest of noisy numbers, is one of a list of public values.
A release that is chosen by what was released before costs, on each path, what is released there (adaptive composition:
Rogers, Roth, Ullman & Vadhan 2016, "Privacy odometers and filters"). Until it meets the data, a choice is a released
value like any other; there each is read on a path of its own.

A noisy number is released as soon as it is made, and priced so. Where a path did nothing with it but compare it once
with a threshold of its own noise, and knows how that came out, the comparisons are one release of the law
``above_threshold`` instead: those below cost the threshold's noise alone, once (the sparse vector technique: Dwork &
Roth 2014, Theorem 3.23; Lyu, Su & Li 2017, Theorem 2). Noisy numbers of which a path only asks once which is largest
are one release of the law ``noisy_max`` (report noisy max: Dwork & Roth 2014, Claim 3.9). Whatever else touches number
or threshold leaves it as it was.
"""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.draws import source_of
from dpaudit.reading.python import OPERATION
from dpaudit.reading.source import is_own
from dpaudit.reading.universe import steps
from dpaudit.reading.universe.columns import computed
from dpaudit.reading.universe.numbers import stacked
from dpaudit.reading.universe.state import Pass, Private, RefusalError, Released, current, refuse
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, Token, combined, number, sort_of

# --- which of a few public values was released ---------------------------------------------------------------

MOST = 100
"""Values of which each may be read on a path of its own."""
_WITH_PARTS = (np.ndarray, pd.Series, pd.DataFrame)
_COPIED = (list, dict, *_WITH_PARTS)
_PLAIN = (int, float, str, bool, type(None), range, pd.Index, pd.RangeIndex, np.int64, np.float64, np.str_, np.bool_)
_UNKNOWN = object()
_RAISES_OF_NONE = int(pd.__version__.partition(".")[0]) >= 3  # before, the largest of missing values was missing
_FUNCTIONS = (int, float, str, bool, abs, range, max, min, round)


class Root:
    """One choice: the values that it may be on this path.

    Args:
        values: all of them.
    """

    __slots__ = ("level", "values")

    def __init__(self, values: Sequence[Any]) -> None:
        self.values, self.level = list(values), current().level


class ChosenValue:
    """A released value that is one choice, or is computed of choices and public values alone.

    Args:
        roots: the choices.
        compute: gives the value, of what each of them is taken for now.
    """

    __slots__ = ("compute", "roots", "value")

    def __init__(self, roots: tuple[Root, ...], compute: Callable[[], Any]) -> None:
        self.roots, self.compute, self.value = roots, compute, _UNKNOWN

    @property
    def is_settled(self) -> bool:
        """Whether there is one value left."""
        return all(len(each.values) == 1 for each in self.roots)

    def settled(self) -> Any:
        """Return the value, on a path for each that it may be."""
        for root in self.roots:
            if len(root.values) > 1:
                self._settle(root, [[each] for each in root.values])
        if self.value is _UNKNOWN:
            self.value = self.compute()
        return self.value

    def truth(self) -> bool:
        """Return whether it is true, on one path for the values for which it is and one for the others."""
        for root in self.roots[1:]:
            self._settle(root, [[each] for each in root.values])
        root, values = self.roots[0], self.roots[0].values
        ways: dict[bool, list[Any]] = {}
        try:
            for each in values:
                root.values = [each]
                ways.setdefault(self._is_true(), []).append(each)
        finally:
            root.values = values
        self._settle(root, list(ways.values()))
        return self._is_true()

    def _is_true(self) -> bool:
        value = self.compute()
        return bool(value) if np.ndim(value) == 0 else refuse("a branch on an array", "any() or all() of it")

    @staticmethod
    def _settle(root: Root, ways: list[list[Any]]) -> None:
        if root.level != current().level:
            refuse("a repeated step that decides by what was chosen outside of it", "the choice within the step")
        root.values = current().decide(ways) if len(ways) > 1 else ways[0]


def among(token: Token, values: Sequence[Any]) -> Token:
    """Say of a released value that it is one of these public values; of many values nothing is said."""
    if 0 < len(values) <= MOST and token.choice is None:
        root = Root(values)
        token.choice = ChosenValue((root,), lambda: root.values[0])
        current().has_choices = True
    return token


def place(token: Token, many: int) -> Token:
    """Say of a released value that it is the place of one of so many, as ``np.argmax`` gives it."""
    return among(token, [np.int64(each) for each in range(min(many, MOST + 1))])


def of_numbers(numbers: Any, name: str) -> Token | None:
    """Return which of released numbers is the largest or smallest; None for another method, or of what is no list."""
    if type(numbers) is list and all(type(each) is Token and each.is_number for each in numbers):
        return place(number("np.int64"), len(numbers)) if name in ("argmax", "argmin") else None
    if type(numbers) is not Token:
        return None
    if name in ("argmax", "argmin") and numbers.is_array and len(numbers.shape or ()) == 1:
        return place(number("np.int64"), (numbers.shape or ())[0])
    if name in ("idxmax", "idxmin") and numbers.labels is not None and numbers.columns is None and _RAISES_OF_NONE:
        return among(Token(), list(numbers.labels))
    return None


def _choices_in(value: Any) -> list[ChosenValue]:
    kind = type(value)
    if kind is Token:
        return [] if value.choice is None else [value.choice]
    if kind is tuple:
        return [choice for each in value for choice in _choices_in(each)]
    return _choices_in((value.start, value.stop, value.step)) if kind is slice else []


def _replaced(value: Any, of: Callable[[Any], Any]) -> Any:
    """Return a value with what stands for its choices."""
    kind = type(value)
    if kind is Token:
        return of(value) if value.choice is not None else value
    if kind is tuple:
        return tuple(_replaced(each, of) for each in value)
    if kind is slice:
        return slice(*(_replaced(each, of) for each in (value.start, value.stop, value.step)))
    return value


def _settled(token: Token) -> Any:
    return token.choice.settled()


def _if_settled(token: Token) -> Any:
    return token.choice.settled() if token.choice.is_settled else token


def _now(token: Token) -> Any:
    return token.choice.compute()


def _is_by_identity(args: tuple[Any, ...]) -> bool:
    return bool(args) and type(args[0]) is str and args[0] in ("is_", "is_not")


def met(name: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return the operands of an operation of the domain: a choice is settled beside what is private, and in a draw."""
    given = (*args, *keywords.values())
    if not any(map(_choices_in, given)) or _is_by_identity(args):
        return args, keywords
    if name == "call" and is_own(args[0]):  # it asks again itself
        settle = False
    else:
        others = [each for each in given if not _choices_in(each)]
        settle = any(isinstance(getattr(each, "owner", each), Private) for each in others)
        settle = settle or (name == "call" and source_of(args[0]) is not None)
        settle = settle or max(map(sort_of, others), default=PUBLIC) == PRIVATE
    of = _settled if settle else _if_settled
    return tuple(_replaced(each, of) for each in args), {name: _replaced(each, of) for name, each in keywords.items()}


def derived(result: Any, name: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return what an operation on choices and public values gave, with how it is computed of them."""
    if type(result) is not Token or keywords or _is_by_identity(args):
        return result
    function, operands = _function(name, args)
    roots = {id(root): root for each in operands for choice in _choices_in(each) for root in choice.roots}
    if not roots or function is None or not all(_is_plain(each, name == "item") for each in operands):
        return result
    kept = tuple(each.copy() if type(each) in _COPIED else each for each in operands)
    if any(result is each for each in args):
        result = Token(result.shape, result.kinds, result.labels, result.columns)
    result.choice = ChosenValue(
        tuple(roots.values()), lambda: computed(name, function, *(_replaced(each, _now) for each in kept))
    )
    return result


def _function(name: str, args: tuple[Any, ...]) -> tuple[Callable[..., Any] | None, tuple[Any, ...]]:
    """Return what an operation of the domain computes, and of what; None for one that is not computed again here."""
    if name == "item":  # a part of an array would be what others write into
        is_part = type(args[0]) in _WITH_PARTS and (args[0].ndim != 1 or type(args[1]) is not Token)
        return (None if is_part else operator.getitem), args
    if name in ("binary", "compare", "unary"):
        return OPERATION.get(args[0]), args[1:]
    is_known = name == "call" and any(args[0] is each for each in _FUNCTIONS)
    return (args[0] if is_known else None), args[1:]


def _is_plain(value: Any, is_item: bool) -> bool:
    """Whether it is a choice, or a public value that asks nothing of the user's code."""
    kind = type(value)
    if kind is tuple:
        return all(_is_plain(each, is_item) for each in value)
    if kind is slice:
        return _is_plain((value.start, value.stop, value.step), is_item)
    if kind is Token:
        return value.choice is not None
    if kind in _COPIED:
        keys = kind is dict or (kind is list and not is_item)
        return sort_of(value) == PUBLIC and (not keys or all(type(each) in _PLAIN for each in value))
    return kind in _PLAIN


# --- which noisy numbers are known by comparisons alone -----------------------------------------------------

_ORDERED = {"lt": False, "le": False, "gt": True, "ge": True}
"""Comparisons, with whether the left side is above where they hold."""


@dataclass(eq=False)
class Threshold:
    """A public number with noise of its own, and what was compared with it."""

    scale: float
    compared: list[tuple[Query, Token, bool]] = field(default_factory=list)  # which outcome says that it is above
    tokens: int = 1  # sums of its noise and a public number


@dataclass(eq=False)
class _WithNoise:
    exact: Any  # the private number, or array
    scale: float  # of the noise
    release: int  # its number on the path
    line: str
    is_compared: bool = False


class Query(_WithNoise):
    """A private number with noise of its own, which was released."""


class NoisyScores(_WithNoise):
    """An array of private numbers with as much noise each, which was released."""


_LARGEST = ("argmax", "idxmax")


def _asked(state: Pass, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Query | NoisyScores]:
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
        [_origin(state, each) for each in (args if listed is None else listed)],
        NoisyScores if listed is None else Query,
    )


def _fresh(origins: Sequence[Any], kind: Any) -> list[Any]:
    """Return noisy numbers with the same noise each that nothing looked at; none where any is another."""
    fits = all(type(each) is kind and not each.is_compared for each in origins) and len(set(map(id, origins))) == len(
        origins
    )
    return list(origins) if fits and len({each.scale for each in origins}) == 1 else []


def chosen(state: Pass, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Token | None:
    """Return the place of the largest of noisy numbers that are asked nothing else; None of other calls."""
    queries = _asked(state, function, args, keywords)
    _choose(state, queries)
    if not queries:
        return None
    asked = args[0] if args else function.owner
    if getattr(function, "name", "") == "idxmax":
        return among(Token(), () if asked.labels is None else list(asked.labels))
    many = len(asked) if type(asked) in (list, tuple) else (asked.shape or (0,))[0]
    return place(number("np.int64"), many)


def largest(state: Pass, tokens: Sequence[Any]) -> bool:
    """Whether released numbers are noisy ones that are asked nothing but which is largest."""
    asked = _fresh([_origin(state, each) for each in tokens], Query)
    _choose(state, asked)
    return bool(asked)


def _choose(state: Pass, asked: Sequence[Query | NoisyScores]) -> None:
    for each in asked:
        each.is_compared = True
    if asked:
        state.chosen.append(list(asked))


def _only_asked(state: Pass, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    """Whether an operation asks nothing but which of noisy numbers is largest, or gets the method that does."""
    if name == "attribute" and len(args) == 2:
        origin = _origin(state, args[0])
        is_of_scores = type(origin) is NoisyScores and not origin.is_compared and args[1] in _LARGEST
        return is_of_scores or (type(args[0]) is dict and args[1] == "get")
    if name != "call" or not args:
        return False
    key = keywords.get("key")
    is_by_get = args[0] is max and len(args) == 2 and type(args[1]) is dict and len(keywords) == 1
    if is_by_get and getattr(key, "__self__", None) is args[1] and getattr(key, "__name__", "") == "get":
        return True
    return bool(_asked(state, args[0], args[1:], keywords))


def followed(state: Pass, token: Any, origin: Threshold | Query | NoisyScores) -> None:
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
    sides = _sides(state, name, left, right)
    if sides is None:
        return None
    query, threshold, says_above = sides
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
        release = _joined([*below, *above], len(above), threshold.scale)
        if release is not None:
            state.told.sparse.append((release, frozenset(query.release for query, _, _ in known)))


def _largest_of(several: list[Any]) -> Released | None:
    try:
        exact = several[0].exact if type(several[0]) is NoisyScores else stacked([each.exact for each in several])
    except RefusalError:  # of differently chosen rows
        return None
    return _released("noisy_max", exact, several, several[0].scale)


def _joined(queries: list[Query], above: int, scale: float) -> Released | None:
    if len({each.scale for each in queries}) > 1:
        return None
    try:
        exact = stacked([each.exact for each in queries])
    except RefusalError:  # of differently chosen rows
        return None
    details = (("above", float(above)), ("noise", queries[0].scale))
    return _released("above_threshold", exact, queries, scale, details)


def _released(law: str, exact: Any, several: list[Any], scale: float, details: tuple[Any, ...] = ()) -> Released:
    selection = exact.selection
    made = (selection.kind, selection.times, selection.number)
    scales, terms = np.full(exact.shape[0], scale), steps.vector(exact.terms)
    return Released(law, exact.axes, exact.low, exact.high, scales, made, None, several[-1].line, details, made=terms)
