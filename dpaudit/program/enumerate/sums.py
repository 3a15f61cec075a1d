"""How are sums Σ c·e^r added, multiplied and compared, with integers c and rational r?

Different e^r are linearly independent over the rationals (Lindemann & Weierstrass 1885). So equality is decided by
comparing coefficients, and the sign of a sum that is not zero by computing enough digits.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

Sum = dict[Fraction, int]  # exponent r → coefficient c ≠ 0 of e^r
ONE: Sum = {Fraction(0): 1}


def plus(left: Sum, right: Sum, sign: int = 1) -> Sum:
    """Return left + sign·right."""
    found = dict(left)
    for exponent, coefficient in right.items():
        found[exponent] = found.get(exponent, 0) + sign * coefficient
    return {exponent: coefficient for exponent, coefficient in found.items() if coefficient}


def times(left: Sum, right: Sum) -> Sum:
    """Return left·right."""
    found: Sum = {}
    for r, c in left.items():
        for s, d in right.items():
            found[r + s] = found.get(r + s, 0) + c * d
    return {exponent: coefficient for exponent, coefficient in found.items() if coefficient}


def divided(top: Sum, bottom: Sum) -> Sum | None:
    """Return top/bottom if that is a sum again (long division from the largest exponent), else None."""
    found: Sum = {}
    lead, least = max(bottom), min(top) - min(bottom)
    while top:
        highest = max(top)
        coefficient, rest = divmod(top[highest], bottom[lead])
        if rest or highest - lead < least:
            return None
        term = {highest - lead: coefficient}
        found |= term
        top = plus(top, times(term, bottom), -1)
    return found


@lru_cache(maxsize=2**16)
def exponential_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Return lower and upper bounds of e^exponent, exponent ≤ 0, in units of 2^−bits."""
    one, size = 1 << bits, -exponent
    if size > bits:
        return 0, 1
    if not size:
        return one, one
    halvings = max(0, int(size).bit_length() + 4)
    low = high = term_low = term_high = one
    numerator, denominator = size.numerator, size.denominator << halvings
    # e^t from its series, all terms positive, then e^−t = 1/e^t: each bound rounds in one direction only
    count = 0
    while term_high > 1:
        count += 1
        term_low = term_low * numerator // (denominator * count)
        term_high = -(-term_high * numerator // (denominator * count))
        low, high = low + term_low, high + term_high
    high += 2  # the remaining terms are at most a geometric series of ratio 1/16 that starts with one unit
    low, high = one * one // high, -(-one * one // low)
    for _ in range(halvings):
        low, high = low * low >> bits, -(-high * high >> bits)
    return low, high


def bounds_of(terms: Sum, bits: int) -> tuple[int, int]:
    """Return bounds of Σ c·e^(r − max r) in units of 2^−bits."""
    top, low, high = max(terms), 0, 0
    for exponent, coefficient in terms.items():
        bounds = exponential_bounds(exponent - top, bits)
        low += coefficient * bounds[coefficient < 0]
        high += coefficient * bounds[coefficient > 0]
    return low, high


def sign_of(terms: Sum) -> int:
    """Return −1, 0 or 1."""
    if not terms:
        return 0
    signs = {coefficient > 0 for coefficient in terms.values()}
    if len(signs) == 1:
        return 1 if signs.pop() else -1
    bits = 64
    while True:  # terminates, because the sum is not zero
        low, high = bounds_of(terms, bits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        bits *= 2
