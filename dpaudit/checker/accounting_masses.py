"""Which whole numbers stand for a loss, and for the loss of all steps? Computed from a certificate's lattice.

Products of polynomials are products of long decimal numbers (Kronecker substitution), which `decimal` computes exactly
by a number-theoretic transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate, pairwise
from operator import mul

from dpaudit.checker.accounting_laws import Discrete, Law, Smooth
from dpaudit.checker.accounting_numbers import Field, Real
from dpaudit.checker.reading import CertificateError, ForgedError

FINER = 4096  # thresholds of events in a step
MOST_PLACES = 6_000_000
MOST_WORK = 4_000_000_000  # digits of all products

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])


@dataclass
class Loss:
    """Units ``masses[i]`` at base + size·(start + i), and ``infinite`` units at ∞."""

    masses: list[int]
    start: int
    infinite: int
    base: Real


@dataclass(frozen=True)
class Lattice:
    """What all losses of one composition share.

    Attributes:
        size: the step.
        unit: how many units are 1.
        up: whether bounds are from above.
        wholes: of each law, its distance in steps where that is a whole number, else None.
        field: of the intervals.
    """

    size: Real
    unit: int
    up: bool
    wholes: tuple[int | None, ...]
    field: Field

    def units(self, value: Real) -> int:
        """⌊value·unit + 1.3⌋ from above, ⌊value·unit − 0.3⌋ (or 0) from below.

        Raises `CertificateError` where the interval is too wide to tell.
        """
        moved = value * self.unit + self.field(Fraction(13, 10) if self.up else Fraction(-3, 10))
        low, high = (int(end.to_integral_value(rounding="ROUND_FLOOR")) for end in (moved.low, moved.high))
        if not self.up:
            low, high = max(0, low), max(0, high)
        if low != high:
            raise CertificateError("a mass is too close to where it would be rounded otherwise")
        return low

    def loss(self, law: Law, number: int, corners: Sequence[int], events: Sequence[int], where: str) -> Loss:
        """Return the masses of one law.

        Args:
            law: the law.
            number: its place in the list of events.
            corners: in steps from its base; none for a discrete law.
            events: from below, thresholds between the corners, `FINER` to a step.
            where: for messages.
        """
        whole = self.wholes[number]
        if isinstance(law, Discrete):
            if corners or events:
                raise CertificateError(f"{where}: a discrete loss has no corners and no events")
            return self._discrete(law, whole)
        if len(corners) < 2 or any(a >= b for a, b in pairwise(corners)) or corners[-1] - corners[0] > MOST_PLACES:
            raise CertificateError(f"{where}: corners are rising, two at least, within {MOST_PLACES:,} places")
        base = law.low if law.low is not None else self.field(0)
        if self.up:
            if events:
                raise CertificateError(f"{where}: there are no events from above")
            return self._above(law, whole, list(corners), base, where)
        return self._below(law, whole, list(corners), list(events), base, where)

    def _above(self, law: Smooth, whole: int | None, corners: list[int], base: Real, where: str) -> Loss:
        """Chords of the curve."""
        losses = [base + self.size * corner for corner in corners]
        ended = False
        if law.low is not None and law.high is not None:
            if corners[0] < 0 or not all(loss.high < law.high.low for loss in losses[:-1]):
                raise CertificateError(
                    f"{where}: only the last corner may be at the upper end, and none below the lower"
                )
            ended = corners[-1] == whole or losses[-1].low > law.high.high
            if not ended and not losses[-1].high < law.high.low:
                raise CertificateError(f"{where}: the last corner is too close to the upper end")
        values = []
        for loss in losses[: len(losses) - ended]:
            p, q = law.tails(loss)
            values.append(p - loss.exp() * q)
        values += [self.field(0)] * ended
        masses = self._masses(losses, values)
        if any(mass.high < 0 or (law.spliced and mass.low < 0) for mass in masses):
            raise ForgedError(f"{where}: the chords are not convex")
        infinite = 0 if ended else self.units(values[-1])
        return self._placed(
            {corner: self.units(mass) for corner, mass in zip(corners, masses, strict=True)}, infinite, base
        )

    def _below(
        self, law: Smooth, whole: int | None, corners: list[int], events: list[int], base: Real, where: str
    ) -> Loss:
        """Test lines."""
        if len(events) != len(corners) - 1 or any(a > b for a, b in pairwise(events)):
            raise CertificateError(f"{where}: there is one event between two corners, and they rise")
        if events[-1] < FINER * corners[-1] and not law.tested:
            raise ForgedError(f"{where}: the last event is not above the last corner")
        part = self.size / FINER
        thresholds = [base + part * event for event in events]
        if law.low is not None and law.high is not None:
            last = None if whole is None else FINER * whole
            if events[0] < 0 or not all(
                event == last or loss.high < law.high.low for event, loss in zip(events, thresholds, strict=True)
            ):
                raise CertificateError(f"{where}: events are between the ends of the loss")
        lines = [law.tails(loss) for loss in thresholds]
        losses = [base + self.size * corner for corner in corners]
        if law.tested and not (lines[-1][0] - losses[-1].exp() * lines[-1][1]).low >= 0:
            raise ForgedError(f"{where}: the last event shows no loss as large as the last corner")
        one = self.field(1)
        values = []
        for loss, (p, q), (r, s) in zip(losses[:-1], [(one, one), *lines[:-1]], lines, strict=True):
            alpha = loss.exp()
            values.append((p - alpha * q).smaller(r - alpha * s))
        masses = self._masses(losses, [*values, self.field(0)])
        if any(mass.low < 0 for mass in masses):
            raise ForgedError(f"{where}: the polyline of test lines is not convex")
        found = {corner: self.units(mass) for corner, mass in zip(corners, masses, strict=True)}
        return self._placed(found, 0, base)

    def _masses(self, losses: list[Real], values: list[Real]) -> list[Real]:
        """α times the increase of slope of the polyline that begins in (0, 1) and is level after its last corner."""
        alphas = [loss.exp() for loss in losses]
        slopes = [(values[0] - 1) / alphas[0]]
        slopes += [(w - v) / (b - a) for (v, w), (a, b) in zip(pairwise(values), pairwise(alphas), strict=True)]
        slopes.append(self.field(0))
        return [alpha * (after - before) for alpha, (before, after) in zip(alphas, pairwise(slopes), strict=True)]

    def _discrete(self, law: Discrete, whole: int | None) -> Loss:
        base = law.values[0][0]
        infinite = 0
        if self.up and law.spare:
            left = self.field(1 - law.infinite)
            for _, mass, _ in law.values:
                left = left - mass
            infinite = self.units(left + self.field(law.infinite))
        elif law.infinite:
            infinite = self.units(self.field(law.infinite))
        found: dict[int, Real] = {}

        def put(place: int, mass: Real) -> None:
            found[place] = found[place] + mass if place in found else mass

        for number, (loss, mass, _) in enumerate(law.values):
            if whole is not None or not number:
                put(number * (whole or 0), mass)
                continue
            offset = (loss - base) / self.size
            if not self.up:
                put(int(offset.low.to_integral_value(rounding="ROUND_FLOOR")), mass)
                continue
            # split between the places beside it, P and Q being kept
            high = int(offset.high.to_integral_value(rounding="ROUND_CEILING"))
            low_loss, high_loss = base + self.size * (high - 1), base + self.size * high
            share = ((low_loss - loss).exp() - (low_loss - high_loss).exp()) / (1 - (low_loss - high_loss).exp())
            put(high - 1, mass * share)
            put(high, mass * (1 - share))
        return self._placed({place: self.units(mass) for place, mass in found.items()}, infinite, base)

    def _placed(self, found: dict[int, int], infinite: int, base: Real) -> Loss:
        start = min(found)
        if max(found) - start > MOST_PLACES:
            raise CertificateError(f"a loss reaches over more than {MOST_PLACES:,} places")
        masses = [0] * (max(found) - start + 1)
        for place, mass in found.items():
            masses[place - start] = mass
        return Loss(masses, start, infinite, base)


@dataclass
class Composer:
    """Composes losses, and cuts them as a certificate says.

    Attributes:
        lattice: what they share.
        digits: of the unit.
        cuts: (low, high) in units, after each loss and each product in turn.
    """

    lattice: Lattice
    digits: int
    cuts: list[tuple[int, int]]
    _used: int = 0
    _work: int = field(default=0)

    def trimmed(self, loss: Loss) -> Loss:
        """Cut both ends: as many places as together hold no more than the cut."""
        if self._used >= len(self.cuts):
            raise CertificateError("there are fewer cuts than products")
        low, high = self.cuts[self._used]
        self._used += 1
        masses, first, last, below, beyond = loss.masses, 0, len(loss.masses), 0, 0
        while first < last - 1 and below + masses[first] <= low:
            below, first = below + masses[first], first + 1
        while last - 1 > first and beyond + masses[last - 1] <= high:
            last -= 1
            beyond += masses[last]
        kept = masses[first:last]
        infinite = loss.infinite
        if self.lattice.up:
            kept[0] += below
            infinite += beyond
        else:
            kept[-1] += beyond
        return Loss(kept, loss.start + first, infinite, loss.base)

    def times(self, a: Loss, b: Loss) -> Loss:
        """Return the losses of both, cut."""
        unit, up = self.lattice.unit, self.lattice.up
        width = len(str(sum(a.masses) * sum(b.masses))) + 1
        width = max(width, self.digits + 1)
        length = len(a.masses) + len(b.masses) - 1
        self._work += length * width
        if length > MOST_PLACES or self._work > MOST_WORK:
            raise CertificateError("the certificate takes too long to check")
        left = _packed(a.masses, width)
        product = str(_EXACT.multiply(left, left if a is b else _packed(b.masses, width))).zfill(length * width)
        cut, zeros = width - self.digits, "0" * self.digits
        ends = range((length - 1) * width, -1, -width)
        if up:
            masses = [int(product[at : at + cut]) + (product[at + cut : at + width] != zeros) for at in ends]
            infinite = a.infinite + b.infinite
        else:
            masses = [int(product[at : at + cut]) for at in ends]
            infinite = both_infinite(a, b) // unit
        return self.trimmed(Loss(masses, a.start + b.start, infinite, a.base + b.base))

    def power(self, loss: Loss, count: int) -> Loss:
        """From the leading bit of the count on: square, and multiply where a bit is 1."""
        found = loss
        for bit in bin(count)[3:]:
            found = self.times(found, found)
            if bit == "1":
                found = self.times(found, loss)
        return found

    def factors(self, losses: Sequence[Loss], counts: Sequence[int]) -> list[Loss]:
        """Return one or two losses that make up all of it."""
        (first, *others), (count, *numbers) = losses, counts
        if not others:
            if count == 1:
                return [first]
            half = self.power(first, count // 2)
            return [self.times(half, first) if count % 2 else half, half]
        found = self.power(first, count)
        for loss, number in zip(others[:-1], numbers[:-1], strict=True):
            found = self.times(found, self.power(loss, number))
        return [found, self.power(others[-1], numbers[-1])]

    def finished(self) -> None:
        """Raise unless every cut was used."""
        if self._used != len(self.cuts):
            raise CertificateError("there are more cuts than products")


def _packed(masses: list[int], width: int) -> Decimal:
    return Decimal("".join([f"{mass:0{width}d}" for mass in reversed(masses)]))


def both_infinite(a: Loss, b: Loss) -> int:
    """The infinite mass of both from below, in units squared."""
    return a.infinite * (sum(b.masses) + b.infinite) + b.infinite * sum(a.masses)


def digest(factors: Sequence[Loss]) -> str:
    """Return the SHA-256 of start, infinite mass and masses of each, as decimals with commas, each ending in ';'."""
    found = sha256()
    for loss in factors:
        found.update(",".join(map(str, [loss.start, loss.infinite, *loss.masses])).encode() + b";")
    return "sha256:" + found.hexdigest()


class Sums:
    """δ(ε) of one or two losses together.

    Args:
        factors: the losses.
        lattice: what they share.
    """

    def __init__(self, factors: Sequence[Loss], lattice: Lattice) -> None:
        self.lattice, unit, up = lattice, lattice.unit, lattice.up
        x = factors[0]
        y = factors[1] if len(factors) == 2 else Loss([unit], 0, 0, lattice.field(0))
        self._base = x.base + lattice.size * x.start + y.base + lattice.size * y.start
        self.infinite = (x.infinite + y.infinite) * unit if up else both_infinite(x, y)
        self._left, self._right = x.masses, y.masses
        self._suffix = [0, *accumulate(reversed(x.masses))]
        self.length = len(x.masses) + len(y.masses) - 1
        # e^(−size·k) as whole numbers of 10^−places: too small from above, too large from below
        ratio = (-lattice.size).exp()
        reach = float(lattice.size.high) * self.length / 2.3
        self._places = len(str(unit)) + 25 + int(reach)
        scale = 10**self._places
        own = int(ratio.low * scale) if up else int(ratio.high * scale) + 1
        weights = [scale]
        for _ in range(max(len(x.masses), len(y.masses))):
            weights.append(weights[-1] * own // scale if up else -(-weights[-1] * own // scale))
        self._right_q = list(map(mul, y.masses, weights))
        self._suffix_q = [0, *accumulate(map(mul, reversed(x.masses), reversed(weights[: len(x.masses)])))]

    def above(self, place: int) -> int:
        """The mass at this place and above, in units squared."""
        return _paired(self._right, self._suffix, place)

    def places(self, epsilon: Real) -> range:
        """The places that may be the first whose loss is above ε."""
        offset = (epsilon - self._base) / self.lattice.size
        low, high = (int(end.to_integral_value(rounding="ROUND_FLOOR")) + 1 for end in (offset.low, offset.high))
        return range(max(0, low), max(0, high) + 1)

    def delta(self, epsilon: Fraction) -> Decimal:
        """Return a number that δ(ε) does not exceed (from above), or is not below (from below)."""
        field, up = self.lattice.field, self.lattice.up
        at = field(epsilon)
        square = self.lattice.unit**2
        factor = (at - self._base).exp()
        found = []
        for place in self.places(at):
            value = field.ratio(self.infinite, square)
            if place < self.length:
                under_q = field.ratio(_paired(self._right_q, self._suffix_q, place), square * 10 ** (2 * self._places))
                value = value + field.ratio(self.above(place), square) - factor * under_q
            found.append(value)
        return max(value.high for value in found) if up else max(value.low for value in found)


def _paired(right: list[int], suffix: list[int], place: int) -> int:
    """Σ right[j]·(sum of the left ones from place − j on); ``suffix[k]`` is the sum of the last k."""
    left = len(suffix) - 1
    first, last = max(0, place - left), min(len(right), place + 1)
    inner = sum(map(mul, right[first:last], suffix[left - place + first : left - place + last]))
    return int(inner + sum(right[last:]) * suffix[left])
