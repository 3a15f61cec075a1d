"""Which of a few public values was released? Where it meets the data, each is read on a path of its own.

What the exponential mechanism chose, or the place of the largest of noisy numbers, is one of a list of public values.
A release that is chosen by what was released before costs, on each path, what is released there (adaptive composition:
Rogers, Roth, Ullman & Vadhan 2016, "Privacy odometers and filters"). Until it meets the data, a choice is a released
value like any other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.draws import source_of
from dpaudit.reading.python import OPERATION
from dpaudit.reading.source import is_own
from dpaudit.reading.universe.columns import computed
from dpaudit.reading.universe.state import Private, current, refuse
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, Token, number, sort_of

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


class Choice:
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
        token.choice = Choice((root,), lambda: root.values[0])
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


def _choices_in(value: Any) -> list[Choice]:
    kind = type(value)
    if kind is Token:
        return [] if value.choice is None else [value.choice]
    if kind is tuple:
        return [found for each in value for found in _choices_in(each)]
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


def derived(found: Any, name: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return what an operation on choices and public values gave, with how it is computed of them."""
    if type(found) is not Token or keywords or _is_by_identity(args):
        return found
    function, operands = _function(name, args)
    roots = {id(root): root for each in operands for choice in _choices_in(each) for root in choice.roots}
    if not roots or function is None or not all(_is_plain(each, name == "item") for each in operands):
        return found
    kept = tuple(each.copy() if type(each) in _COPIED else each for each in operands)
    if any(found is each for each in args):
        found = Token(found.shape, found.kinds, found.labels, found.columns)
    found.choice = Choice(
        tuple(roots.values()), lambda: computed(name, function, *(_replaced(each, _now) for each in kept))
    )
    return found


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
