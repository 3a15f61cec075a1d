"""What is δ(ε) of one kind of noise, after any number of releases, to many digits?

Losses that lie on a lattice of their own, those of randomised response and of discrete noise, are composed on it, and
nothing but the last digits is rounded. Laplace noise is cut into cells. One release of continuous noise has a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.accounting.balls import ball, middle, precision
from dpaudit.accounting.bounds import Tail
from dpaudit.accounting.compose import Composition
from dpaudit.accounting.discretise import Grid, height
from dpaudit.accounting.lattice import Step, distance
from dpaudit.accounting.losses import Atoms, Continuous, Law
from dpaudit.accounting.plan import Tilt, tilted
from dpaudit.enclosure import Enclosure
from dpaudit.errors import UsageError

_DIGITS = 50  # of the masses, beyond those of δ a release
_KEPT = 1e-46  # of δ: what all cuts of one kind together may take
_GUARD_BITS = 96
_BITS = tuple(256 << more for more in range(9))  # of a formula, until the interval is narrow
_NARROW = Fraction(1, 10**15)
_LEAST = math.log(1e-230)  # a δ below it is known to so many digits less
_ATTEMPTS = 4
_MOST_PLACES = 4_000_000  # more would not fit into memory


@dataclass(frozen=True)
class Level:
    """ε = number + ln(factor), at least 0."""

    number: Fraction
    factor: Fraction = Fraction(1)

    def ball(self) -> Any:
        """Return it as a ball."""
        return ball(self.number) + (ball(self.factor).log() if self.factor != 1 else 0)


def formula(law: Continuous, at: Level) -> Enclosure:
    """Return δ(ε) of one release, as narrow as 1e-15 of it: P(L > ε) − e^ε·Q(L > ε).

    Raises:
        UsageError: where δ is too small to enclose.
    """
    for bits in _BITS:
        with precision(bits):
            level = at.ball()
            if (ends := law.ends()) is not None and level >= ends[1]:
                return Enclosure(Fraction(0), Fraction(0))
            found = _ends(height(law, level))
            if found.low > 0 and found.high - found.low <= found.high * _NARROW:
                return found
    raise UsageError("δ(ε) of this noise is too small to enclose; take a smaller ε")


def enclosed(law: Callable[[int], Law], releases: int, at: Level, *, cells: int = 1) -> Enclosure:
    """Return δ(ε) of several releases of one kind.

    Args:
        law: gives the loss of one, for a number of decimal digits that its masses are wanted with.
        releases: their number.
        at: ε.
        cells: into how many steps the distance of the law's losses, or of its ends, is cut.

    Raises:
        UsageError: where the losses take too many values.
    """
    log_delta = math.log(1e-12)
    for _ in range(_ATTEMPTS):
        digits = math.ceil(math.log10(releases) - log_delta / math.log(10)) + _DIGITS
        own = law(digits)
        bits = math.ceil(digits * 3.33) + _GUARD_BITS
        with precision(bits):
            if _beyond(own, releases, at):
                return Enclosure(Fraction(0), Fraction(0))
            tilt = tilted([(own, releases)], epsilon=middle(at.ball()), log_delta=log_delta)
        before, log_delta = log_delta, max(min(tilt.log_delta, math.log(1e-3)), _LEAST)
        if abs(before - log_delta) < 1:
            break
    with precision(bits):
        low, high = (_end(own, releases, at, tilt, cells, 10**digits, up=up) for up in (False, True))
        return Enclosure(max(Fraction(0), _ends(low).low), min(Fraction(1), _ends(high).high))


def _beyond(law: Law, releases: int, at: Level) -> bool:
    """Whether no loss is certainly larger than ε."""
    if isinstance(law, Atoms):
        return not (law.infinite or law.spare) and bool(at.ball() >= law.values()[-1][0] * releases)
    ends = law.ends() if isinstance(law, Continuous) else None
    return ends is not None and bool(at.ball() >= ends[1] * releases)


def _end(law: Law, releases: int, at: Level, tilt: Tilt, cells: int, unit: int, *, up: bool) -> Any:
    exact = law.unit if isinstance(law, Atoms) else law.span if isinstance(law, Continuous) else None
    step = Step(exact / cells) if isinstance(exact, Fraction) else Step(None, 0, cells)
    size = step.ball([law])
    _check(int(middle(distance(law) / size)))
    grid = Grid(law, 0, step, size, tilt, unit)
    composition = Composition(up=up, unit=unit, size=size, tilt=tilt, check=_check, kept=_KEPT)
    block = composition.block(grid.above() if up else grid.below(), tilt.growth[0])
    x, y = composition.last_two([(block, releases)])
    return Tail(x, y, up=up, unit=unit, size=size).at(at.ball())


def _check(places: int) -> None:
    if places > _MOST_PLACES:
        raise UsageError(f"the loss has more than {_MOST_PLACES:,} values; take fewer releases or a coarser grid")


def _ends(found: Any) -> Enclosure:
    if not found.is_finite():
        return Enclosure(Fraction(-1), Fraction(2))
    low, high = (_dyadic(*(int(part) for part in end.man_exp())) for end in (found.lower(), found.upper()))
    return Enclosure(low, high)


def _dyadic(mantissa: int, exponent: int) -> Fraction:
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
