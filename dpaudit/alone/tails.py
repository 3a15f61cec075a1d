"""Between which numbers does a binomial tail certainly lie? Exact sums of integers, and logarithms with bounded errors.

P(Bin(n, p) ≥ k) for a float p, which is a fraction a/2^s: the first term is computed with 60 decimal digits (by
Stirling's series, whose error is less than the first term that is left out), all others follow from it by ratios of
integers, rounded down, and what was rounded off is added up. Sums begin at the count and go away from the mean, where
each term is smaller than the one before; what is left out is at most a geometric series.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from dpaudit.alone.missing import missing

_DIGITS = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LOOSE = Decimal("1e-30")  # of a logarithm here: far more than its rounding errors and less than anything that matters
_ONE = 1 << 192  # a term of 1, in units of the sums
_MOST_TERMS = 300_000
_EXACT = 64  # up to which factorials are computed whole
_TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021164194989")
_STIRLING = [  # B(2i)/(2i(2i − 1)), i = 1, 2, …
    Fraction(1, 12), Fraction(-1, 360), Fraction(1, 1260), Fraction(-1, 1680), Fraction(1, 1188),
    Fraction(-691, 360360), Fraction(1, 156), Fraction(-3617, 122400), Fraction(43867, 244188),
    Fraction(-174611, 125400), Fraction(77683, 5796), Fraction(-236364091, 1506960),
]  # fmt: skip


def tail(hits: int, runs: int, chance: float) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of P(Bin(runs, chance) ≥ hits).

    Args:
        hits: the count k.
        runs: the number n.
        chance: p, taken as the fraction that the float is.

    Raises:
        MissingError: if it would take too long.
    """
    if hits <= 0:
        return Fraction(1), Fraction(1)
    if hits > runs or chance <= 0:
        return Fraction(0), Fraction(0)
    if chance >= 1:
        return Fraction(1), Fraction(1)
    above, whole = chance.as_integer_ratio()
    if hits * whole > runs * above:  # above the mean: the terms fall
        return _sum(hits, runs, above, whole - above)
    low, high = _sum(runs - hits + 1, runs, whole - above, above)  # P(Bin < hits), of the failures
    return 1 - high, 1 - low


def _sum(hits: int, runs: int, yes: int, no: int) -> tuple[Fraction, Fraction]:
    """Bounds of the upper tail from above the mean, with odds ``yes`` : ``no``."""
    if hits > runs:
        return Fraction(0), Fraction(0)
    first = _first(hits, runs, yes, no)
    term = total = _ONE
    count, terms = hits, 1
    while count < runs:
        term = term * ((runs - count) * yes) // ((count + 1) * no)
        count, terms = count + 1, terms + 1
        total += term
        if term < _ONE >> 110:
            break
        if terms > _MOST_TERMS:
            raise missing(f"a binomial tail of {runs:,} runs")
    rest = Fraction(0)
    if count < runs:
        ratio = Fraction((runs - count) * yes, (count + 1) * no)
        rest = Fraction(term + terms) * ratio / (1 - ratio)
    low, high = Fraction(total, _ONE), (total + terms * terms + rest) / _ONE
    return low * first[0], high * first[1]


def _first(hits: int, runs: int, yes: int, no: int) -> tuple[Fraction, Fraction]:
    """Bounds of the probability of exactly ``hits`` of ``runs``."""
    context = _DIGITS
    ways = context.subtract(_factorial(runs), context.add(_factorial(hits), _factorial(runs - hits)))
    whole = context.ln(Decimal(yes + no))
    chances = context.add(
        context.multiply(Decimal(hits), context.subtract(context.ln(Decimal(yes)), whole)),
        context.multiply(Decimal(runs - hits), context.subtract(context.ln(Decimal(no)), whole)),
    )
    middle = context.add(ways, chances)
    loose = context.multiply(_LOOSE, Decimal(runs))
    low, high = context.exp(context.subtract(middle, loose)), context.exp(context.add(middle, loose))
    return Fraction(low), Fraction(high)


def _factorial(number: int) -> Decimal:
    """Return ln(n!), with an error far below `_LOOSE`."""
    context = _DIGITS
    if number <= _EXACT:
        return context.ln(Decimal(math.factorial(number)))
    n = Decimal(number)
    found = context.multiply(n, context.subtract(context.ln(n), Decimal(1)))
    found = context.add(found, context.divide(context.ln(context.multiply(_TWO_PI, n)), Decimal(2)))
    power = n
    for each in _STIRLING:
        found = context.add(found, context.divide(Decimal(each.numerator), Decimal(each.denominator) * power))
        power = context.multiply(power, context.multiply(n, n))
    return found
