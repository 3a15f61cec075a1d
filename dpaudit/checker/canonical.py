"""What is the id of a record? The SHA-256 of its canonical JSON (RFC 8785), with the standard library alone."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

_EXACT = 2**53  # from here on, floats do not distinguish integers, and records write them as texts


def read_record(text: str) -> Any:
    """Return the values of a JSON text, where a number beyond 2^53 is a float.

    Raises:
        ValueError: if it is no JSON, repeats a member, or holds NaN or an infinity.
    """
    return json.loads(text, object_pairs_hook=_members, parse_int=_integer, parse_constant=_refused)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands there twice")
    return members


def _integer(text: str) -> int | float:
    number = float(text)
    return number if abs(number) >= _EXACT else int(text)


def _refused(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def content_id(record: Any) -> str:
    """Return ``dpa1:`` and the SHA-256 of JSON values in canonical form; raise `ValueError` if they have none."""
    return "dpa1:" + hashlib.sha256(canonical(record)).hexdigest()


def canonical(value: Any) -> bytes:
    """Return JSON values in canonical form (RFC 8785), in UTF-8; raise `ValueError` if they have none."""
    return _written(value).encode()  # refuses a lone surrogate


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and abs(value) < _EXACT:
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        names = sorted(value, key=lambda name: name.encode("utf-16be"))
        return "{" + ",".join(f"{_written(name)}:{_written(value[name])}" for name in names) + "}"
    raise ValueError(f"{value!r:.40} has no canonical JSON")


def _number(value: float) -> str:
    """Write a number as ECMAScript does (ECMA-262, Number::toString): the shortest digits that give it back."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no JSON")
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
