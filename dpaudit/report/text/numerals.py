"""How is a number written so that the statement stays true?

A lower bound is rounded down and an upper bound up. A number is never rounded across the claim that it is compared
with: ``ε ≥ 1.098`` next to a claim of 1.0986 would say the opposite of what was found.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

from dpaudit.privacy.claims import number_text

NBSP = "\N{NO-BREAK SPACE}"
DIGITS = 4  # of a bound, enough to compare it with a claim
_ENCLOSED = 6  # digits of a probability between two exact limits
_FULL = 10  # digits of bounds in evidence


def _written(value: float) -> str:
    """Write a float that already has few digits: positional in the middle range, else like 1.2e-6."""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if math.isnan(value):
        return "not a number"
    if 1e-3 <= abs(value) < 1e7:
        text = format(Decimal(repr(value)), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = number_text(value)
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _rounded(value: float, rounding: str, digits: int) -> float:
    """Round the decimal that Python writes for a float: 0.3 is 3/10, not slightly less."""
    if not math.isfinite(value):
        return value
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))))


def lower_text(value: float, *, claim: float | None = None, digits: int = DIGITS) -> str:
    """Write a lower bound, rounded down."""
    for many in range(digits, _FULL):
        rounded = _rounded(value, ROUND_FLOOR, many)
        if claim is None or not value > claim or rounded > claim:
            return _written(rounded)
    return _written(value)


def upper_text(value: float, *, claim: float | None = None, digits: int = DIGITS) -> str:
    """Write an upper bound, rounded up."""
    for many in range(digits, _FULL):
        rounded = _rounded(value, ROUND_CEILING, many)
        if claim is None or not value <= claim or rounded <= claim:
            return _written(rounded)
    return _written(value)


def claim_text(value: float) -> str:
    """Write a claimed number as it was given; if it has many digits, the first six and an ellipsis."""
    exact = number_text(value)
    if len(exact) <= 8 or not math.isfinite(value):
        return exact
    cut = _rounded(value, ROUND_FLOOR, 6)
    return exact if cut == value else _written(cut) + "…"


def enclosure_text(low: str, high: str) -> str:
    """Write a probability between two decimals in percent: one number if they agree, else both, rounded outward."""
    ends = []
    for text, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING)):
        try:
            ends.append(Context(prec=_ENCLOSED, rounding=rounding).multiply(Decimal(100), Decimal(text)))
        except InvalidOperation:
            return f"{low} to {high}"  # not written by dpaudit, so shown literally
    written = [_written(float(end)) if float(end) or not end else str(end.normalize()).lower() for end in ends]
    if ends[1] == 0:
        return f"0{NBSP}%, impossible"
    return f"{written[0]}{NBSP}%" if ends[0] == ends[1] else f"{written[0]} to {written[1]}{NBSP}%"


def estimate_text(value: float, digits: int = 3) -> str:
    """Write an estimate, rounded to the nearest number."""
    if not math.isfinite(value) or value == 0:
        return _written(value)
    return _written(_rounded(value, ROUND_HALF_EVEN, digits))


def confidence_text(confidence: float) -> str:
    """Write a confidence in percent: exactly if that is short, else rounded down."""
    percent = Decimal(repr(confidence)) * 100
    short = Context(prec=8, rounding=ROUND_FLOOR).plus(percent)
    return _written(float(short)) + NBSP + "%"


def error_text(confidence: float) -> str:
    """Write 1 − confidence in percent, rounded up."""
    percent = (1 - Decimal(repr(confidence))) * 100
    return _written(float(Context(prec=4, rounding=ROUND_CEILING).plus(percent))) + NBSP + "%"


def share_text(value: float, *, rounding: str = "nearest") -> str:
    """Write a share in percent with 3 digits; ``rounding`` is "nearest", "lower" or "upper"."""
    percent = 100 * value
    if percent == 0 or not math.isfinite(percent):
        return _written(percent) + NBSP + "%"
    how = {"nearest": ROUND_HALF_EVEN, "lower": ROUND_FLOOR, "upper": ROUND_CEILING}[rounding]
    short = Context(prec=3, rounding=how).plus(Decimal(percent))
    if short < Decimal("0.001"):
        return _written(float(short)) + NBSP + "%"
    places = max(0, 2 - short.adjusted())  # trailing zeros count as digits: 18.0 % next to 49.2 %
    return f"{short:.{places}f}{NBSP}%"


def count_text(count: int) -> str:
    """Write a whole number in groups of three."""
    return f"{count:,}"
