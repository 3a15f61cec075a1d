"""What do all steps lose together? The products that a certificate names, in whole numbers, and δ from the last two.

Products of polynomials are products of long decimal numbers (Kronecker substitution), which `decimal` computes exactly
by a number-theoretic transform.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from operator import mul

from dpaudit.checker.accounting_masses import MOST_PLACES, Lattice, Loss, in_units
from dpaudit.checker.accounting_numbers import Real
from dpaudit.checker.reading import CertificateError, ForgedError

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
        found = number
        for bit in bin(count)[3:]:
            found = times(found, found)
            if bit == "1":
                found = times(found, number)
        return found

    if len(counts) == 1:
        if counts[0] == 1:
            return program, [0]
        half = power(0, counts[0] // 2)
        return program, [times(half, 0) if counts[0] % 2 else half, half]
    found = power(0, counts[0])
    for number, count in enumerate(counts[1:-1], 1):
        found = times(found, power(number, count))
    return program, [found, power(len(counts) - 1, counts[-1])]


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
            found = made[number] if 0 <= number < len(made) else None
            if found is None:
                raise CertificateError("the program names a loss that is not there")
            return found

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
        found = [of(number) for number in numbers]
        whole: Counter[int] = sum((held[number] for number in numbers), Counter())
        if whole != Counter(dict(enumerate(counts))) or len({loss.level for loss in found}) > 1:
            raise ForgedError("the factors are not made of all steps, or are on different lattices")
        return found

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
