"""Do μ, ρ, or the largest losses of a list add up to what its certificate says? And what follows for Gaussian noise?

μ adds up as squares (Dong, Roth & Su 2022, Corollary 3.3), ρ as it is (Bun & Steinke 2016, Lemma 2.3). From below it is
no less than the mean loss, its order 1, which Gaussian noise, discrete or not, and claims of μ and ρ have in full.
Sums are rational numbers; δ of Gaussian noise is computed between decimals, with more digits until it is decided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

from dpaudit.checker.accounting_laws import Discrete, Law, ListedEvent, Smooth
from dpaudit.checker.reading import CertificateError, ForgedError
from dpaudit.checker.reals import DecimalField, Real, gaussian_delta

ADDED = {"mu": "μ", "rho": "ρ"}
MOST_LOSS = 3_000
_ATTAINED = ("gaussian", "concentrated claim")
_DIGITS = (60, 240, 1_000)  # of decimals, until a claim is decided


@dataclass(frozen=True, slots=True)
class ClaimedInterval:
    """What a certificate claims of its events."""

    parameter: str  # "epsilon", "delta", "mu" or "rho"
    at: Fraction  # of ε and δ the other one, else 0
    # low, high: the ends; infinity is a float
    low: Fraction | float
    high: Fraction | float
    digits: int  # of masses; 0 without any

    @property
    def is_open(self) -> bool:
        """Whether it says nothing from above."""
        return self.high == (1 if self.parameter == "delta" else math.inf)


def check_sum(listed: list[Any], steps: list[ListedEvent], claimed: ClaimedInterval, ends: list[Any]) -> list[str]:
    """Return what was checked of μ or ρ of events, as the certificate lists them and as they were read.

    Raises:
        ForgedError: where the interval does not hold the sum.
        CertificateError: where there is more than a sum needs.
    """
    parameter, low, high = claimed.parameter, claimed.low, claimed.high
    if isinstance(low, float) or isinstance(high, float):
        raise CertificateError("μ and ρ that add up are finite")
    if claimed.at or claimed.digits or ends:
        raise CertificateError("μ and ρ add up: they are at no δ, and there are no digits and no ends")
    total = exactly = Fraction(0)
    field = DecimalField(_DIGITS[0])
    more = field(0)
    for event, one in zip(listed, steps, strict=True):
        if one.rho is None or (parameter == "mu" and event["mechanism"]["name"] != "gaussian"):
            raise ForgedError(f"no theorem says {ADDED[parameter]} of {one.name}")
        total += one.rho * one.count
        if _attained(event) or (event["mechanism"]["name"] == "discrete gaussian" and "sampling" not in event):
            exactly += one.rho * one.count
        else:
            more = more + _mean(event["mechanism"], one) * one.count
    # μ² = 2ρ of Gaussian noise
    lost = low <= exactly or field(low).high <= (field(exactly) + more).low
    if not (low**2 <= 2 * total <= high**2 if parameter == "mu" else lost and total <= high):
        raise ForgedError(f"{ADDED[parameter]} of the events does not add up to the interval")
    return [f"{ADDED[parameter]} of all steps was added up."]


def gaussian_sum(listed: list[Any], claimed: ClaimedInterval, *, bounded: bool) -> list[str]:
    """Return what was checked of ε or δ of a list by the formula of Gaussian noise.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8), which falls as ε rises and rises with μ. A
    claim of ρ is kept by Gaussian noise with μ² = 2ρ.

    Args:
        listed: the events of the certificate, which were read.
        claimed: the interval.
        bounded: whether the upper end was shown in another way, or says nothing.

    Raises:
        ForgedError: where the interval does not hold what the formula says.
        CertificateError: where an ε is too large to check.
    """
    parameter, at, low, high = claimed.parameter, claimed.at, claimed.low, claimed.high
    if isinstance(low, float):
        raise ForgedError("ε of Gaussian noise is finite at every δ above 0")
    if not bounded and any(event["mechanism"]["name"] != "gaussian" or "sampling" in event for event in listed):
        raise ForgedError("without masses only Gaussian noise and claims of μ, of all records, have a bound from above")
    square = sum((_square(event["mechanism"]) * event["count"] for event in listed if _attained(event)), Fraction(0))
    if low and not square:
        raise ForgedError("without masses only Gaussian noise and claims of μ and ρ have a bound from below")
    shown = []
    if not bounded and not isinstance(high, float):
        shown = [(high, at, "at most") if parameter == "epsilon" else (at, high, "at most")]
    shown += [(low, at, "above") if parameter == "epsilon" else (at, low, "above")] if low else []
    for epsilon, delta, side in shown:
        if epsilon > MOST_LOSS:
            raise CertificateError(f"an ε above {MOST_LOSS:,} is too large to check")
        if _above(square, epsilon, delta) != (side == "above"):
            raise ForgedError(f"δ is not shown to be {side} {float(delta):.6g}")
    return [f"δ of Gaussian noise with μ² = {float(square):.6g} was computed by its formula."]


def _mean(mechanism: dict[str, Any], step: ListedEvent) -> Real:
    """The mean loss of the attained pair, which ρ is at least (Laplace noise: ε + e^(−ε) − 1)."""
    law = step.below
    if isinstance(law, Discrete):
        total = law.values[0][1].field(0)
        for loss, mass, _ in law.values:
            total = total + loss * mass
        return total
    assert mechanism["name"] == "laplace" and law.high is not None
    return law.high + (-law.high).exp() - 1


def _attained(event: dict[str, Any]) -> bool:
    return event["mechanism"]["name"] in _ATTAINED and "sampling" not in event


def _square(mechanism: dict[str, Any]) -> Fraction:
    """μ² of Gaussian noise, or of noise that keeps a claim of ρ."""
    return 2 * Fraction(mechanism["rho"]) if "rho" in mechanism else 1 / Fraction(mechanism["noise"]) ** 2


def _above(square: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether δ of Gaussian noise at an ε is certainly above another one, or certainly at most it.

    Raises `ForgedError` where that is not decided.
    """
    for digits in _DIGITS if delta < 1 else ():
        field = DecimalField(digits)
        loss, wanted = gaussian_delta(field(square).root(), field(epsilon)), field(delta)
        if loss.high <= wanted.low:
            return False
        if loss.low > wanted.high:
            return True
    if delta < 1:
        raise ForgedError(f"δ is too close to {float(delta):.6g} to tell on which side it is")
    return False


def exact_sum(listed: list[Any], low: Fraction, high: Fraction | float) -> bool:
    """Whether the largest losses of the events are rational, and add up to the interval; False where one is not.

    Raises `ForgedError` where they do not add up.
    """
    below = above = Fraction(0)
    for event in listed:
        mechanism, name = event["mechanism"], event["mechanism"]["name"]
        if "sampling" in event or Fraction(mechanism.get("delta", 0)):
            return False
        if name in ("laplace", "discrete laplace"):
            largest = Fraction(mechanism.get("sensitivity", 1)) / Fraction(mechanism["noise"])
        elif name in ("randomised response", "claim", "exponential"):
            largest = Fraction(mechanism["epsilon"])
        else:
            return False
        above += largest * event["count"]
        # the range of the losses of an exponential mechanism is ε; some data and queries lose ε/2
        below += largest * event["count"] / (2 if name == "exponential" else 1)
    if not (low <= below and above <= high):
        raise ForgedError("the largest losses do not add up to the interval")
    return True


# --- Which whole numbers stand for the loss of one step? Computed from a certificate's lattice. ---

FINER = 4096  # thresholds of events in a step
MOST_PLACES = 6_000_000


class CloseError(CertificateError):
    """An interval does not tell to which whole number it is rounded; more digits would."""


@dataclass
class Loss:
    """Units ``masses[i]`` at base + size·2^level·(start + i), and ``infinite`` units at ∞."""

    masses: list[int]
    start: int
    infinite: int
    base: Real
    level: int = 0


@dataclass(frozen=True)
class Lattice:
    """What all losses of one composition share."""

    size: Real  # the step
    unit: int  # how many units are 1
    up: bool  # whether bounds are from above
    wholes: tuple[int | None, ...]  # of each law, its distance in steps where that is a whole number, else None
    field: DecimalField  # of the intervals

    def units(self, value: Real) -> int:
        """⌊value·unit + 1.3⌋ from above, ⌊value·unit − 0.3⌋ (or 0) from below."""
        return in_units(value, self.unit, self.field, up=self.up)

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
        rounded = {corner: self.units(mass) for corner, mass in zip(corners, masses, strict=True)}
        return self._placed(rounded, 0, base)

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
        masses: dict[int, Real] = {}

        def put(place: int, mass: Real) -> None:
            masses[place] = masses[place] + mass if place in masses else mass

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
        return self._placed({place: self.units(mass) for place, mass in masses.items()}, infinite, base)

    def _placed(self, rounded: dict[int, int], infinite: int, base: Real) -> Loss:
        start = min(rounded)
        if max(rounded) - start > MOST_PLACES:
            raise CertificateError(f"a loss reaches over more than {MOST_PLACES:,} places")
        masses = [0] * (max(rounded) - start + 1)
        for place, mass in rounded.items():
            masses[place - start] = mass
        return Loss(masses, start, infinite, base)


def in_units(value: Real, unit: int, field: DecimalField, *, up: bool) -> int:
    """⌊value·unit + 1.3⌋ from above, ⌊value·unit − 0.3⌋ (or 0) from below.

    Raises `CloseError` where the interval is too wide to tell.
    """
    moved = value * unit + field(Fraction(13, 10) if up else Fraction(-3, 10))
    low, high = (int(end.to_integral_value(rounding="ROUND_FLOOR")) for end in (moved.low, moved.high))
    if not up:
        low, high = max(0, low), max(0, high)
    if low != high:
        raise CloseError("a mass is too close to where it would be rounded otherwise")
    return low


# --- What do all steps lose together? The products that a certificate names, in whole numbers, and δ from the last
# two.
#
# Products of polynomials are products of long decimal numbers (Kronecker substitution), which `decimal` computes
# exactly by a number-theoretic transform.

MOST_WORK = 4_000_000_000  # digits of all products
MOST_LEVELS = 60

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])

Order = tuple[int, int | str]  # two losses to multiply, or one to move to every second place


def plain(counts: Sequence[int]) -> tuple[list[Order], list[int]]:
    """Return the program and the factors of certificates that name none.

    Each event's power by the binary digits of its count, from the leading one: square, multiply where a digit is 1. The
    product of all in their order is left out at last; of one event run n times the factors are ⌈n/2⌉ and ⌊n/2⌋ of it.
    """
    program: list[Order] = []
    made = len(counts)

    def times(a: int, b: int) -> int:
        nonlocal made
        program.append((a, b))
        made += 1
        return made - 1

    def power(number: int, count: int) -> int:
        product = number
        for bit in bin(count)[3:]:
            product = times(product, product)
            if bit == "1":
                product = times(product, number)
        return product

    if len(counts) == 1:
        if counts[0] == 1:
            return program, [0]
        half = power(0, counts[0] // 2)
        return program, [times(half, 0) if counts[0] % 2 else half, half]
    product = power(0, counts[0])
    for number, count in enumerate(counts[1:-1], 1):
        product = times(product, power(number, count))
    return program, [product, power(len(counts) - 1, counts[-1])]


class Composer:
    """Composes losses, and cuts them as a certificate says.

    Args:
        lattice: what they share.
        digits: of the unit.
        cuts: (low, high) in units, of each loss and each product in turn.
    """

    def __init__(self, lattice: Lattice, digits: int, cuts: Sequence[tuple[int, int]]) -> None:
        self.lattice, self.digits = lattice, digits
        self._cuts: Iterator[tuple[int, int]] = iter(cuts)
        self._work = 0

    def factors(
        self, losses: Sequence[Loss], counts: Sequence[int], program: Sequence[Order], numbers: Sequence[int]
    ) -> list[Loss]:
        """Return one or two losses that make up all of it.

        Args:
            losses: of one step each.
            counts: how often each is run.
            program: what to do, in turn; products get the next numbers.
            numbers: of the factors.
        """
        last = {number: place for place, order in enumerate(program) for number in order if isinstance(number, int)}
        made: list[Loss | None] = [self.trimmed(loss) for loss in losses]
        held = [Counter({number: 1}) for number in range(len(losses))]

        def of(number: int) -> Loss:
            made_already = made[number] if 0 <= number < len(made) else None
            if made_already is None:
                raise CertificateError("the program names a loss that is not there")
            return made_already

        for place, (number, other) in enumerate(program):
            if isinstance(other, str):
                made[number] = self.coarser(of(number), odd=other == "odd")
                continue
            made.append(self.times(of(number), of(other)))
            held.append(held[number] + held[other])
            if any(most > counts[event] for event, most in held[-1].items()):
                raise ForgedError("the program runs an event more often than it is listed")
            for used in {number, other, len(made) - 1}:
                if last.get(used, -1) <= place and used not in numbers:
                    made[used] = None
            if sum(len(loss.masses) for loss in made if loss is not None) > 4 * MOST_PLACES:
                raise CertificateError("the certificate takes too much memory to check")
        if next(self._cuts, None) is not None:
            raise CertificateError("there are more cuts than products")
        made_already = [of(number) for number in numbers]
        whole: Counter[int] = sum((held[number] for number in numbers), Counter())
        if whole != Counter(dict(enumerate(counts))) or len({loss.level for loss in made_already}) > 1:
            raise ForgedError("the factors are not made of all steps, or are on different lattices")
        return made_already

    def trimmed(self, loss: Loss) -> Loss:
        """Cut both ends: as many places as together hold no more than the cut."""
        cut = next(self._cuts, None)
        if cut is None:
            raise CertificateError("there are fewer cuts than products")
        low, high = cut
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
        return Loss(kept, loss.start + first, infinite, loss.base, loss.level)

    def times(self, a: Loss, b: Loss) -> Loss:
        """Return the losses of both, cut."""
        if a.level != b.level:
            raise CertificateError("the program multiplies losses on different lattices")
        unit, up = self.lattice.unit, self.lattice.up
        # no coefficient of the product is larger than this
        most = min(sum(a.masses) * max(b.masses), max(a.masses) * sum(b.masses))
        width = max(len(str(most)), self.digits + 1)
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
        return self.trimmed(Loss(masses, a.start + b.start, infinite, a.base + b.base, a.level))

    def coarser(self, loss: Loss, *, odd: bool) -> Loss:
        """Keep every second place, and move the masses between to the places beside them.

        From above ⌊m·s⌋ of a mass m goes down, with s ≤ 1/(1 + e^h), and the rest up. From below, from the highest
        mass on, it goes down but for what the next higher one pulls up with it: at most e^(−h) of what that moves down.
        """
        lattice, unit, field = self.lattice, self.lattice.unit, self.lattice.field
        if loss.level >= MOST_LEVELS:
            raise CertificateError(f"a lattice becomes coarser more than {MOST_LEVELS} times")
        size = lattice.size * 2**loss.level
        masses, start = loss.masses, loss.start
        if (start - odd) % 2:
            masses, start = [0, *masses], start - 1
        if len(masses) % 2 == 0:
            masses = [*masses, 0]
        kept, moved = masses[::2], masses[1::2]
        if lattice.up:
            share = in_units(1 / (1 + size.exp()), unit, field, up=False)
            for place, mass in enumerate(moved):
                down = mass * share // unit
                kept[place] += down
                kept[place + 1] += mass - down
        else:
            share, down = in_units((-size).exp(), unit, field, up=False), 0
            for place in range(len(moved) - 1, -1, -1):
                rising = min(moved[place], down * share // unit)
                down = moved[place] - rising
                kept[place] += down
                kept[place + 1] += rising
        first, last = 0, len(kept)
        while last > 1 and not kept[last - 1]:
            last -= 1
        while first < last - 1 and not kept[first]:
            first += 1
        base = loss.base + size if odd else loss.base
        return Loss(kept[first:last], (start - odd) // 2 + first, loss.infinite, base, loss.level + 1)


def _packed(masses: list[int], width: int) -> Decimal:
    return Decimal("".join([f"{mass:0{width}d}" for mass in reversed(masses)]))


def both_infinite(a: Loss, b: Loss) -> int:
    """The infinite mass of both from below, in units squared."""
    return a.infinite * (sum(b.masses) + b.infinite) + b.infinite * sum(a.masses)


def digest(factors: Sequence[Loss]) -> str:
    """Return the SHA-256 of start, infinite mass and masses of each, as decimals with commas, each ending in ';'."""
    state = sha256()
    for loss in factors:
        state.update(",".join(map(str, [loss.start, loss.infinite, *loss.masses])).encode() + b";")
    return "sha256:" + state.hexdigest()


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
        self._size = lattice.size * 2**x.level
        self._base = x.base + self._size * x.start + y.base + self._size * y.start
        self.infinite = (x.infinite + y.infinite) * unit if up else both_infinite(x, y)
        self._left, self._right = x.masses, y.masses
        self._suffix = [0, *accumulate(reversed(x.masses))]
        self.length = len(x.masses) + len(y.masses) - 1
        # e^(−size·k) as whole numbers of 10^−places: too small from above, too large from below
        ratio = (-self._size).exp()
        reach = float(self._size.high) * self.length / 2.3
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
        offset = (epsilon - self._base) / self._size
        low, high = (int(end.to_integral_value(rounding="ROUND_FLOOR")) + 1 for end in (offset.low, offset.high))
        return range(max(0, low), max(0, high) + 1)

    def at_infinity(self) -> Fraction:
        """Return the mass of infinite losses: δ(ε) is above it, or below, at every ε."""
        return Fraction(self.infinite, self.lattice.unit**2)

    def delta(self, epsilon: Fraction) -> Decimal:
        """Return a number that δ(ε) does not exceed (from above), or is not below (from below)."""
        field, up = self.lattice.field, self.lattice.up
        at = field(epsilon)
        square = self.lattice.unit**2
        factor = (at - self._base).exp()
        values = []
        for place in self.places(at):
            value = field.ratio(self.infinite, square)
            if place < self.length:
                under_q = field.ratio(_paired(self._right_q, self._suffix_q, place), square * 10 ** (2 * self._places))
                value = value + field.ratio(self.above(place), square) - factor * under_q
            values.append(value)
        return max(value.high for value in values) if up else max(value.low for value in values)


def _paired(right: list[int], suffix: list[int], place: int) -> int:
    """Σ right[j]·(sum of the left ones from place − j on); ``suffix[k]`` is the sum of the last k."""
    left = len(suffix) - 1
    first, last = max(0, place - left), min(len(right), place + 1)
    inner = sum(map(mul, right[first:last], suffix[left - place + first : left - place + last]))
    return int(inner + sum(right[last:]) * suffix[left])
