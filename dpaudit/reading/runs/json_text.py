"""How is JSON written of values that differ by run? Everything around them is written once, by ``json`` itself."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from dpaudit.reading.runs import joins
from dpaudit.reading.runs.applied import apply
from dpaudit.reading.runs.values import Alternatives, Array, Container, Numbers, differs, is_gone, raw

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

_OPTIONS = {"sort_keys", "indent", "separators", "ensure_ascii"}
_PLAIN = (str, int, float, bool, type(None))
_NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class _OtherError(Exception):
    """It is written run by run."""


def dumps(domain: Active, value: Any, **keywords: Any) -> Any:
    """``json.dumps(a)``."""
    options = {name: raw(each) for name, each in keywords.items()}
    if differs(value) and options.keys() <= _OPTIONS and not differs(tuple(keywords.values())):
        try:
            return _written(domain, value, options)
        except (_OtherError, TypeError, ValueError):
            pass
    return apply(domain, json.dumps, (value,), keywords)


def _written(domain: Active, value: Any, options: dict[str, Any]) -> Any:
    leaves: list[Any] = []
    text = json.dumps(_shape(domain, value, leaves), **options)
    pieces = []
    for number in range(len(leaves)):  # in the order in which they stand, which sort_keys may have changed
        mark = json.dumps(_mark(number))
        if text.count(mark) != 1:
            raise _OtherError
        pieces.append((text.index(mark), mark, leaves[number]))
    pieces.sort(key=lambda each: each[0])
    text = text.replace("%", "%%")
    for _, mark, _ in pieces:
        text = text.replace(mark, "%s")
    places = domain.active.places
    columns = [_texts(leaf, places, options) for _, _, leaf in pieces]
    return joins.packed(list(map(text.__mod__, zip(*columns, strict=True))), places, domain.count)


def _mark(number: int) -> str:
    return f"<differs by run {number}>"


def _shape(domain: Active, value: Any, leaves: list[Any]) -> Any:
    """The value with a mark in the place of everything that differs by run."""
    value = domain.present(value)
    if not differs(value):
        return raw(value)
    if type(value) is Container:
        return _shape(domain, value.content, leaves)
    if type(value) in (list, tuple):
        return [_shape(domain, each, leaves) for each in value]
    if type(value) is dict and all(type(key) in _PLAIN for key in value) and not any(map(is_gone, value.values())):
        return {key: _shape(domain, each, leaves) for key, each in value.items()}
    number = type(value) is Numbers and value.array.ndim == 1 and (value.python or value.array.dtype.kind == "f")
    if number or (type(value) is Alternatives and all(type(each) in _PLAIN for each in value.values)):
        leaves.append(value)
        return _mark(len(leaves) - 1)
    raise _OtherError


def _texts(leaf: Any, places: Array, options: dict[str, Any]) -> list[str]:
    """How the values of some runs are written."""
    if type(leaf) is Alternatives:
        known = [json.dumps(each, ensure_ascii=options.get("ensure_ascii", True)) for each in leaf.values]
        return [known[code] for code in leaf.codes[places].tolist()]
    own = leaf.array[places].tolist()
    if leaf.array.dtype.kind == "b":
        return ["true" if each else "false" for each in own]
    if leaf.array.dtype.kind == "f" and not all(map(math.isfinite, own)):
        return [_NO_NUMBERS.get(repr(each), repr(each)) for each in own]
    return list(map(repr, own))
