"""How is JSON written so that it has one digest? RFC 8785, in place of the library rfc8785."""

from __future__ import annotations

import json
import math
from typing import Any

_LARGEST = 2**53 - 1


class CanonicalizationError(ValueError):
    """A value that has no canonical JSON."""


def dumps(value: Any) -> bytes:
    """Return JSON values in canonical form, in UTF-8.

    Raises:
        CanonicalizationError: if a value has none.
    """
    try:
        return "".join(_parts(value)).encode()
    except UnicodeEncodeError:
        raise CanonicalizationError("a text with a lone surrogate") from None


def _parts(value: Any) -> list[str]:
    if value is None or value is True or value is False:
        return [{None: "null", True: "true", False: "false"}[value]]
    if isinstance(value, str):
        return [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise CanonicalizationError(f"{value} is no integer of a float")
        return [str(value)]
    if isinstance(value, float):
        return [_number(value)]
    if isinstance(value, list | tuple):
        parts = ["["]
        for place, item in enumerate(value):
            parts += [*([","] if place else []), *_parts(item)]
        return [*parts, "]"]
    if isinstance(value, dict):
        parts = ["{"]
        if not all(isinstance(name, str) for name in value):
            raise CanonicalizationError("the name of a member is a text")
        for place, name in enumerate(sorted(value, key=lambda name: name.encode("utf-16be"))):
            parts += [*([","] if place else []), *_parts(name), ":", *_parts(value[name])]
        return [*parts, "}"]
    raise CanonicalizationError(f"{type(value).__name__} is no JSON")


def _number(value: float) -> str:
    """Write a number as ECMAScript does (ECMA-262, Number::toString): the shortest digits that give it back."""
    if not math.isfinite(value):
        raise CanonicalizationError(f"{value} is no JSON")
    if value == 0:
        return "0"
    if value < 0:
        return "-" + _number(-value)
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, rest = mantissa.partition(".")
    digits = whole + rest
    point = len(whole) + int(exponent or 0)  # the number is 0.digits · 10^point
    leading = len(digits) - len(digits.lstrip("0"))
    digits, point = digits.strip("0"), point - leading
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    shown = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{shown}e{point - 1:+d}"
