"""All single changes of a certificate, one after the other."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

WORDS = ("", ">", ">=", "<", "int", "float", "none", "laplace", "exponential", "discrete_laplace", "all", "one", None)
FREE = ("mechanism", "parameters")  # texts for people: any text is as true as another


def changes(value: Any) -> list[Any]:
    """Other values that could stand in this place."""
    if isinstance(value, bool):
        return [not value, 1, None]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, float(value), True, str(value)]
    if isinstance(value, str):
        try:
            number = Fraction(value)
        except ValueError:
            return [word for word in WORDS if word != value]
        found = {-number, number + 1, number - 1, number / 2, number * 2, Fraction(0), number - Fraction(1, 100)}
        return [str(other) for other in sorted(found - {number})] + [float(number), int(number), None, value + "0"]
    if isinstance(value, list):
        dropped = [value[:j] + value[j + 1 :] for j in range(len(value))]
        swapped = [[*value[:j], value[j + 1], value[j], *value[j + 2 :]] for j in range(len(value) - 1)]
        return [*dropped, *swapped, [], [*value, *value[-1:]], None]
    if value is None or isinstance(value, float):
        return [0, "0", []]
    dropped = [{k: v for k, v in value.items() if k != key} for key in value]
    renamed = [
        {(other if k == key else k): v for k, v in value.items()}
        for key in value
        for other in ("1", "q0", "q1", "h0", "h1", "x", "s0", ">", ">=", "<", "shifts", "class")
        if other not in value
    ]
    return [*dropped, *renamed, {}, {**value, "more": 0}, None]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path and path[-1] in FREE:
        return
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(certificate: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A certificate that differs in one place, and shares all others: nobody changes it in place."""
    result = inner = copy.copy(certificate)
    for key in path[:-1]:
        inner[key] = inner = copy.copy(inner[key])
    inner[path[-1]] = new
    return result


def at(certificate: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        certificate = certificate[key]
    return certificate
