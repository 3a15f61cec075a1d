"""What does the file say? JSON values, read strictly: nothing is converted, guessed or ignored.

A certificate may come from anybody, so every value is checked before it is used: types exactly, names by a pattern,
numbers by their digits; and every loop counts its steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Any

FORMAT = "dpaudit-certificate"
VERSION = 1

MOST_TEXT = 16 * 2**20
MOST_STEPS = 20_000_000
MOST_DIGITS = 60
MOST_LETTERS = 10_000  # of a text inside
MOST_COLUMNS = 1_000
DIGITS_OF_ACCOUNT = 400  # of its numbers, and of its masses

_RATIONAL = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:/([1-9][0-9]*))?", re.ASCII)
_VARIABLE = re.compile(r"([qhsn])(0|[1-9][0-9]{0,5})", re.ASCII)


class CertificateError(ValueError):
    """The file is not a certificate in this format; the message says where it deviates."""


class ForgedError(CertificateError):
    """The certificate can be read but does not prove what it claims; the message says which part fails."""


class Steps:
    """Counts the work, so that no file can keep the checker busy for long."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.most = self.left = most

    def spend(self, number: int) -> None:
        """Count ``number`` steps; raise `CertificateError` if there are too many in all."""
        self.left -= number
        if self.left < 0:
            raise CertificateError(f"the certificate takes more than {self.most:,} steps to check")


def shown(value: object) -> str:
    """Return a value as text for a message, shortened."""
    if type(value) in (list, dict):
        return f"a {'list' if type(value) is list else 'JSON object'}"
    if type(value) is int and value.bit_length() > 100:
        return "a huge number"
    return repr(value[:40]) if type(value) is str else f"{value!r:.40}"


def read_json(text: str | bytes) -> object:
    """Return the value of a JSON text.

    Raises:
        CertificateError: for a text that is too long or too deep, repeated keys, floats, and long numbers.
    """
    if len(text) > MOST_TEXT:
        raise CertificateError(f"the text is longer than {MOST_TEXT:,} characters")
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_float=_no_float, parse_constant=_no_float, parse_int=_short_int
        )
    except RecursionError:
        raise CertificateError("the text is nested too deeply") from None
    except CertificateError:
        raise
    except ValueError as error:
        raise CertificateError(f"the text is no JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise CertificateError("a JSON object gives one of its keys twice")
    return members


def _no_float(text: str) -> Any:
    raise CertificateError(f"{text[:40]} is a float: rationals are texts like '7/4'")


def _short_int(text: str) -> int:
    if len(text) > 12:
        raise CertificateError("a whole number has more than 12 digits")
    return int(text)


def fields(value: object, names: set[str], where: str, optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a JSON object that has exactly these fields.

    Args:
        value: the object.
        names: the fields that it must have.
        where: what to call it in messages.
        optional: the fields that it may have besides.

    Raises:
        CertificateError: if it is anything else.
    """
    if type(value) is not dict:
        raise CertificateError(f"{where}: must be a JSON object, not {shown(value)}")
    for name in value:
        if name not in names and name not in optional:
            raise CertificateError(f"{where}: unknown field {shown(name)}")
    missing = names - value.keys()
    if missing:
        raise CertificateError(f"{where}: the field {min(missing)!r} is missing")
    return value


def items(value: object, where: str, most: int, least: int = 0) -> list[Any]:
    """Return a list of ``least`` to ``most`` members.

    Args:
        value: the list.
        where: what to call it in messages.
        most: the largest number of members.
        least: the smallest number of members.

    Raises:
        CertificateError: if it is anything else.
    """
    if type(value) is not list:
        raise CertificateError(f"{where}: must be a list, not {shown(value)}")
    if not least <= len(value) <= most:
        raise CertificateError(f"{where}: {len(value):,} members, between {least:,} and {most:,} are possible")
    return value


def text(value: object, where: str) -> str:
    """Return a text of ordinary length."""
    if type(value) is not str or len(value) > MOST_LETTERS:
        raise CertificateError(f"{where}: must be a text of at most {MOST_LETTERS:,} letters, not {shown(value)}")
    return value


def whole(value: object, where: str, least: int, most: int) -> int:
    """Return a whole number from ``least`` to ``most``.

    Args:
        value: the number.
        where: what to call it in messages.
        least: the smallest.
        most: the largest.

    Raises:
        CertificateError: if it is anything else.
    """
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(f"{where}: must be a whole number from {least:,} to {most:,}, not {shown(value)}")
    return value


def rational(value: object, where: str, digits: int = MOST_DIGITS) -> Fraction:
    """Return a rational number from its text, which must be in lowest terms, of so many digits each side at most."""
    number = _rational(value, digits) if type(value) is str and len(value) <= 2 * digits + 2 else None
    if number is None:
        raise CertificateError(
            f"{where}: must be a rational in lowest terms, as a text like '7/4', of at most {digits} digits "
            f"each side, not {shown(value)} ({type(value).__name__})"
        )
    return number


@lru_cache(maxsize=4096)
def _rational(value: str, digits: int) -> Fraction | None:
    match = _RATIONAL.fullmatch(value)
    if match is None or value.startswith("-0"):
        return None
    top, bottom = match[1], match[2] or ""
    if len(top.removeprefix("-")) > digits or len(bottom) > digits:
        return None
    if not bottom:
        return Fraction(int(top))
    numerator, denominator = int(top), int(bottom)
    return Fraction(numerator, denominator) if denominator > 1 and gcd(numerator, denominator) == 1 else None


Point = Fraction | str | bool | None
"""The value of a column, None for a missing one."""


def point(value: object, where: str) -> Point:
    """Return a value of a column: ["number", rational], ["text", text] or ["truth", true]."""
    tag, given = items(value, where, 2, 2)
    if tag == "number":
        return rational(given, where)
    if tag == "text":
        return text(given, where)
    if tag == "truth" and type(given) is bool:
        return given
    raise CertificateError(f"{where}: {shown(tag)} is no kind of value")


@dataclass(frozen=True, slots=True)
class LinearExpression:
    """A linear expression; no coefficient is zero."""

    terms: Mapping[str, Fraction]
    constant: Fraction

    def minus(self, other: LinearExpression) -> LinearExpression:
        """Return the difference of two expressions."""
        terms = dict(self.terms)
        for name, coefficient in other.terms.items():
            terms[name] = terms.get(name, Fraction(0)) - coefficient
        return LinearExpression({name: c for name, c in terms.items() if c}, self.constant - other.constant)


@lru_cache(maxsize=4096)
def _variable(name: str) -> tuple[str, int] | None:
    if name == "x":
        return "x", 0
    match = _VARIABLE.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def expression(value: object, known: Mapping[str, int], where: str, steps: Steps) -> LinearExpression:
    """Return a linear expression.

    Args:
        value: its coefficients by variable; "1" is the constant.
        known: how many variables there are of each letter.
        where: what to call it in messages.
        steps: the counter of the work.

    Raises:
        CertificateError: for unknown variables, zero coefficients and long numbers.
    """
    if type(value) is not dict:
        raise CertificateError(f"{where}: a linear expression is a JSON object, not {shown(value)}")
    steps.spend(len(value) + 1)
    terms, constant = {}, Fraction(0)
    for name, given in value.items():
        coefficient = rational(given, where)
        if not coefficient:
            raise CertificateError(f"{where}: zero coefficients are left out ({shown(name)} has one)")
        if name == "1":
            constant = coefficient
            continue
        variable = _variable(name) if type(name) is str and len(name) <= 7 else None
        if variable is None or variable[1] >= known.get(variable[0], 0):
            raise CertificateError(f"{where}: there is no variable {shown(name)} here")
        terms[name] = coefficient
    return LinearExpression(terms, constant)
