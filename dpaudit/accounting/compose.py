"""What is lost by many steps together? Products of polynomials with whole coefficients, rounded to one side.

The masses of a loss are the coefficients of a polynomial, and independent losses add: their polynomials multiply.
Products are exact (python-flint's `fmpz_poly`) and are then rounded to units again.

Blocks of many steps are few, so that they are moved to coarser lattices (`dpaudit.accounting.lattice`).

Two statements survive products, rounding, trims and coarser lattices (proofs in ``docs/accounting.md``):

- *From above*, some probability pair dominates the truth, its finite masses are at most ``poly`` and its mass at ∞ is
  at most ``infinite``. Rounding is up, infinities add, low losses move up to the edge, high ones to ∞.
- *From below*, Σ c·(1 − e^(ε − l))₊ + c_∞ ≤ δ(ε) for every real ε. Rounding is down, low losses are dropped, high ones
  move down to the edge.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from dpaudit.accounting.lattice import Grid, LatticeStep, Masses, Shares, coarser, costs, distance, height, shares
from dpaudit.accounting.losses import Atoms, Continuous, LossLaw, ball, decimal, flint, middle, precision
from dpaudit.accounting.plan import KEPT, Tilt, tilted
from dpaudit.decimals import Enclosure
from dpaudit.errors import UsageError

_TO_COARSER = 0.1  # of the width: the most that coarser lattices may take, of one end


@dataclass(frozen=True)
class MassBlock:
    """The losses of some steps: coefficient i of ``poly`` units at base + step·2^level·(start + i)."""

    poly: Any  # whole coefficients, none negative
    start: int  # the index of the first
    infinite: int  # units at ∞
    base: Any  # a ball
    steps: int  # how many steps these are
    growth: float  # ln E[e^(λL)] in floating point, for choosing cuts
    number: int = 0  # by which the program calls it
    level: int = 0  # how often its lattice was made coarser

    @property
    def length(self) -> int:
        """The number of places of the lattice."""
        return int(self.poly.length())


class Composition:
    """Composes blocks, from above or from below.

    Args:
        up: from above.
        unit: how many units are 1.
        size: the step of the lattice, as a ball.
        tilt: where to look: cuts are chosen so that little is lost there.
        check: called with the number of places that a product will have; raises where these are too many.
        width: of ε, that is wished for; 0 keeps the lattice as it is.
        most: how often it may be made coarser.
        kept: of δ, what all cuts of one kind together may take.

    Attributes:
        cuts: the mass in units that was cut off at the low and at the high end, of each block in turn.
        program: what was done, in order: [i, j] multiplies two blocks, which makes the next one; [i, "even"] and
            [i, "odd"] move a block to every second place.
        forced: the width in ε, about, that it cost to bring blocks of several laws to one lattice.
    """

    def __init__(
        self,
        *,
        up: bool,
        unit: int,
        size: Any,
        tilt: Tilt,
        check: Callable[[int], None],
        width: float = 0.0,
        most: int = 60,
        kept: float = KEPT,
    ) -> None:
        self.up, self.unit = up, unit
        self.cuts: list[list[int]] = []
        self.program: list[list[int | str]] = []
        self._size, self._tilt, self._check = size, tilt, check
        self._pad = flint().fmpz_poly([])
        self._steps = sum(tilt.counts)
        self._log_share = math.log(kept / self._steps)
        self._share = kept * math.exp(tilt.log_delta) / self._steps * unit
        self._allowed = _TO_COARSER * width * tilt.tilt
        self._most = most
        self._shares: dict[int, Shares] = {}
        self._costs: dict[tuple[int, int], tuple[float, bool]] = {}
        self.forced = 0.0

    def size(self, level: int) -> Any:
        """The step of a lattice that was made coarser so often, as a ball."""
        return self._size * 2**level

    def block(self, masses: Masses, growth: float) -> MassBlock:
        """Return masses as a block of one step, trimmed."""
        poly = flint().fmpz_poly(masses.masses)
        return self._trimmed(MassBlock(poly, masses.start, masses.infinite, masses.base, 1, growth))

    def times(self, a: MassBlock, b: MassBlock) -> MassBlock:
        """Return the losses of both, which are on one lattice."""
        assert a.level == b.level
        self._check(a.length + b.length)
        exact = a.poly * b.poly
        if self.up:
            # ⌈c/unit⌉ as ⌊(c + unit − 1)/unit⌋: of coefficients below 0 python-flint takes no floor
            poly, infinite = (exact + self._rounding(exact.length())) // self.unit, a.infinite + b.infinite
        else:
            poly, infinite = exact // self.unit, lower_infinite(a, b) // self.unit
        self.program.append([a.number, b.number])
        product = MassBlock(poly, a.start + b.start, infinite, a.base + b.base, a.steps + b.steps, a.growth + b.growth)
        return self._trimmed(replace(product, level=a.level))

    def _rounding(self, length: int) -> Any:
        if self._pad.length() < length:
            self._pad = flint().fmpz_poly([self.unit - 1] * (2 * length))
        return self._pad.truncate(length)

    def power(self, block: MassBlock, count: int, *, pair: bool = False) -> tuple[MassBlock, MassBlock | None]:
        """Return the losses of ``count`` blocks, and with ``pair`` those of one more.

        From the leading bit of the count on, square, and multiply by the block where the bit is 1. A block alone is
        not smooth on the coarser lattices of its powers: there the power of one more is taken along instead.
        """
        bits = bin(count)[3:]
        power, more = block, None
        for place, bit in enumerate(bits):
            later = pair or "1" in bits[place + 1 :]
            if more is None:
                power = self.times(power, power)
                if bit == "1":
                    power = self.times(power, block)
                if later and self._easy(power):
                    more = self.times(power, block)
            else:
                if bit == "1":
                    power, more = self.times(power, more), self.times(more, more) if later else None
                else:
                    power, more = self.times(power, power), self.times(power, more) if later else None
            power = self.eased(power)
            if more is not None:
                power, more = self.levelled(power, self.eased(more))
        if pair and more is None:
            more = self.times(power, block)
        return power, more

    def last_two(self, blocks: Sequence[tuple[MassBlock, int]]) -> tuple[MassBlock, MassBlock | None]:
        """Return two factors whose product is all of it; that product, the largest, is never computed."""
        (first, count), *others = blocks
        if not others:
            if count == 1:
                return first, None
            half, more = self.power(first, count // 2, pair=count % 2 == 1)
            return (half if more is None else more), half
        powers = [self.power(block, number)[0] for block, number in blocks]
        # the two shortest first
        queue = [(block.length, block.number, self.eased(block)) for block in powers]
        heapq.heapify(queue)
        while len(queue) > 2:
            (_, _, a), (_, _, b) = heapq.heappop(queue), heapq.heappop(queue)
            made = self.eased(self.times(*self._forced(a, b)))
            heapq.heappush(queue, (made.length, made.number, made))
        return self._forced(queue[0][2], queue[1][2])

    # --- coarser lattices ---------------------------------------------------------------------------------

    def eased(self, block: MassBlock) -> MassBlock:
        """Return the block on the coarsest lattice that costs little width."""
        while (odd := self._easy(block)) is not None:
            block = self._coarser(block, odd == "odd")
        return block

    def _easy(self, block: MassBlock) -> str | None:
        """Which places a coarser lattice keeps that costs little width; None where that costs much.

        Where blocks are as long as their tails, a coarser lattice every third time that the steps double takes the
        fewest places in all, each with half the cost of the one before; where they grow with the root of the steps,
        every second time, each with the same cost. So one half of what is allowed is shared out in each way.
        """
        if not self._allowed or block.level >= self._most or block.length <= 2:
            return None
        cost, odd = self._cost(block)
        share = 2.0 ** -(block.level + 1) + 2 / (math.log2(self._steps) + 2)
        return ("odd" if odd else "even") if cost * self._steps / block.steps <= self._allowed * share / 2 else None

    def levelled(self, a: MassBlock, b: MassBlock) -> tuple[MassBlock, MassBlock]:
        """Return both on the coarser one of their lattices."""
        while a.level < b.level:
            a = self._coarser(a, self._cost(a)[1])
        while b.level < a.level:
            b = self._coarser(b, self._cost(b)[1])
        return a, b

    def _forced(self, a: MassBlock, b: MassBlock) -> tuple[MassBlock, MassBlock]:
        """Return both on the coarser one of their lattices, and count what that costs."""
        while a.level != b.level:
            a, b = (a, b) if a.level < b.level else (b, a)
            cost, odd = self._cost(a)
            self.forced += cost / self._tilt.tilt
            a = self._coarser(a, odd)
        return a, b

    def _cost(self, block: MassBlock) -> tuple[float, bool]:
        """By how much ln δ would change for each copy, and whether odd places are then the better ones to keep."""
        key = block.number, block.level
        if key not in self._costs:
            self._costs[key] = self._cost_of(block)
        return self._costs[key]

    def _cost_of(self, block: MassBlock) -> tuple[float, bool]:
        masses = np.array([float(int(mass)) for mass in block.poly.coeffs()] or [0.0])
        if not masses.any():
            return 0.0, False
        step = middle(self.size(block.level))
        return min(zip(costs(masses, block.start, step, self._tilt.tilt, up=self.up), (False, True), strict=True))

    def _coarser(self, block: MassBlock, odd: bool) -> MassBlock:
        size = self.size(block.level)
        if block.level not in self._shares:
            self._shares[block.level] = shares(size, self.unit)
        share = self._shares[block.level]
        masses, start = coarser(block.poly.coeffs() or [0], block.start, odd, share, self.unit, up=self.up)
        self.program.append([block.number, "odd" if odd else "even"])
        base = block.base + size if odd else block.base
        return replace(block, poly=flint().fmpz_poly(masses), start=start, base=base, level=block.level + 1)

    # --- trims --------------------------------------------------------------------------------------------

    def _trimmed(self, block: MassBlock) -> MassBlock:
        """Cut both ends, and give the block its number."""
        poly, length, number = block.poly, block.length, len(self.cuts)
        if not length:
            self.cuts.append([0, 0])
            return replace(block, number=number)
        low, high = self._low_cut(block), int(self._share * block.steps)
        self.cuts.append([low, high])
        first, below = 0, 0
        while first < length - 1 and below + (own := int(poly[first])) <= low:
            below, first = below + own, first + 1
        last, beyond = length, 0
        while last - 1 > first and beyond + (own := int(poly[last - 1])) <= high:
            beyond, last = beyond + own, last - 1
        poly, infinite = poly.truncate(last).right_shift(first), block.infinite
        if self.up:
            poly[0] += below
            infinite += beyond
        else:
            poly[last - first - 1] += beyond
        return replace(block, poly=poly, start=block.start + first, infinite=infinite, number=number)

    def _low_cut(self, block: MassBlock) -> int:
        """Return a low mass so small that, tilted, it is a share of what matters."""
        size = middle(self.size(block.level))
        lowest = middle(block.base) + size * block.start
        most = self._log_share + math.log(block.steps) + block.growth + math.log(self.unit)
        cut = total = 0
        for place in range(block.length):
            own = int(block.poly[place])
            if not own:  # trims pass over empty places
                continue
            if total and math.log(total) + self._tilt.tilt * (lowest + size * place) > most:
                break
            cut, total = total, total + own
        return cut


def lower_infinite(a: MassBlock, b: MassBlock) -> int:
    """Return the infinite mass of both from below, in units squared: a is infinite, or b is and a is not."""
    return a.infinite * (int(b.poly(1)) + b.infinite) + b.infinite * int(a.poly(1))


# --- What are δ(ε) and ε(δ) of two independent losses together? From sums over the tails, without their product ---
#
# δ(ε) = Σ x_i·y_j·(1 − e^(ε − l_i − l_j))₊ + c_∞ is the largest A_n − e^ε·B_n + c_∞ over n, where A_n is the sum of
# x_i·y_j over i + j ≥ n and B_n that of x_i·y_j·e^(−l_i − l_j). It is at the first n whose loss is above ε; any n gives
# a bound from below.

_GUARD = 64  # bits of the weights e^(−jh), beyond those of the unit


class Tail:
    """δ(ε) of two blocks together, certainly from above or from below.

    Args:
        x, y: the blocks; y may be None.
        up: from above.
        unit: how many units are 1.
        size: the step of their lattice, as a ball.

    Attributes:
        infinite_units: the probability of an infinite loss, in units squared.
    """

    def __init__(self, x: MassBlock, y: MassBlock | None, *, up: bool, unit: int, size: Any) -> None:
        self.up, self._unit, self._size = up, unit, size
        left = [int(value) for value in x.poly.coeffs()] or [0]
        right = [unit] if y is None else [int(value) for value in y.poly.coeffs()] or [0]
        self._base = x.base + size * x.start + (0 if y is None else y.base + size * y.start)
        self.infinite_units = x.infinite * unit
        if y is not None:
            self.infinite_units = (x.infinite + y.infinite) * unit if up else lower_infinite(x, y)
        self._length = len(left) + len(right) - 1
        self._bits = unit.bit_length() + _GUARD + int(middle(size) * self._length * 1.45)
        weights = self._weights(max(len(left), len(right)))
        self._right, self._right_q = right, list(map(mul, right, weights))
        self._left = list(accumulate(reversed(left), initial=0))
        self._left_q = list(accumulate(reversed(list(map(mul, left, weights))), initial=0))
        self._square = ball(unit) * unit

    def _weights(self, count: int) -> list[int]:
        """e^(−jh) in units of 2^−bits: from above too small, from below too large."""
        bits = self._bits
        ratio = (-self._size).exp() * ball(2) ** bits
        weights = [1 << bits]
        if self.up:
            own = int(ratio.lower().floor().unique_fmpz())
            for _ in range(count - 1):
                weights.append(weights[-1] * own >> bits)
        else:
            own = int(ratio.upper().ceil().unique_fmpz())
            for _ in range(count - 1):
                weights.append(-(-weights[-1] * own >> bits))
        return weights

    @property
    def highest(self) -> float:
        """The largest finite loss, in floating point."""
        return middle(self._base + self._size * (self._length - 1))

    @property
    def infinite(self) -> Any:
        """The probability of an infinite loss, as a ball."""
        return ball(self.infinite_units) / self._square

    def sums(self, n: int) -> tuple[int, int]:
        """Return A_n in units squared, and B_n relative to the lowest loss, in units squared times 4^−bits."""
        left, right = len(self._left) - 1, self._right
        first, last = max(0, n - left), min(len(right), max(n, 0) + 1)
        # left[k] is the sum of the k highest masses; of y_j go with it those of x at n − j and above
        part = slice(left - n + first, left - n + last)
        whole, whole_q = self._left[-1], self._left_q[-1]
        a = sum(map(mul, right[first:last], self._left[part])) + sum(right[last:]) * whole
        b = sum(map(mul, self._right_q[first:last], self._left_q[part])) + sum(self._right_q[last:]) * whole_q
        return a, b

    def _places(self, epsilon: Any) -> range:
        """The places that may be the first whose loss is above ε."""
        t = (epsilon - self._base) / self._size
        low, high = (int(end.floor().unique_fmpz()) + 1 for end in (t.lower(), t.upper()))
        return range(max(0, low), max(0, high) + 1)

    def delta(self, epsilon: Fraction) -> Any:
        """Return a ball of which the upper end (from above) or the lower end (from below) bounds δ(ε)."""
        return self.at(ball(epsilon))

    def at(self, epsilon: Any) -> Any:
        """Return the same at an ε that is a ball."""
        return self._largest(epsilon)[0]

    def place(self, epsilon: Fraction) -> int:
        """Return the first place whose loss is above ε (where two are possible, the lower one)."""
        return self._places(ball(epsilon))[0]

    def _largest(self, at: Any) -> tuple[Any, Any]:
        factor = (at - self._base).exp()
        largest = None
        for n in self._places(at):
            if n >= self._length:
                value = slope = ball(0)
            else:
                a, b = self.sums(n)
                slope = factor * ball(b) / (self._square * ball(4) ** self._bits)
                value = ball(a) / self._square - slope
            if largest is None or value.upper() > largest[0].upper():
                largest = value, slope
        assert largest is not None
        return largest[0] + self.infinite, largest[1]

    def epsilon(self, delta: Fraction, guess: float) -> Decimal:
        """Return an ε ≥ 0 with δ(ε) ≤ delta (from above), or with δ(ε) > delta (from below), certainly.

        ±∞ where there is none: Decimal("Infinity") from above, and from below 0 where nothing is shown.

        Args:
            delta: the δ.
            guess: where to look first.
        """
        wanted = ball(delta)
        if self.up and not self.infinite < wanted:
            return Decimal("Infinity")
        if not self.up and self.infinite > wanted:
            return Decimal("Infinity")
        if self.up and self.delta(Fraction(0)) <= wanted:
            return Decimal(0)
        if not self.up and not self.delta(Fraction(0)) > wanted:
            return Decimal(0)
        root = self._root(delta, guess)
        for pad in (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
            moved = max(0.0, root + (pad if self.up else -pad) * max(1.0, root))
            epsilon = decimal(ball(Fraction(moved)), up=self.up)
            value = self.delta(Fraction(epsilon))
            if value <= wanted if self.up else value > wanted:
                return epsilon
        return Decimal("Infinity") if self.up else Decimal(0)

    def _root(self, delta: Fraction, guess: float) -> float:
        """Newton's steps on ln δ, between ends that halve when it runs away; floating point."""
        low, high = 0.0, self.highest
        at = min(max(guess, low), high)
        log_delta = middle(ball(delta).log())
        for _ in range(60):
            value, slope = self._largest(ball(Fraction(at)))
            # what is above the infinite part falls with e^(−slope)
            size = middle(value)
            over = size > float(delta) if float(delta) else value > ball(delta)
            low, high = (at, high) if over else (low, at)
            steep = middle(slope)
            off = math.log(size) - log_delta if size > 0 else -math.inf
            after = at + off * size / steep if size > 0 and steep > 0 else math.inf
            near = 1e-12 * max(1.0, abs(at))
            # just below the largest loss the curve is so steep that small steps say nothing
            if not low <= after <= high or (abs(after - at) <= near < high - low and abs(off) > 1e-3):
                after = (low + high) / 2
            if abs(after - at) <= near:
                return after
            at = after
        return at


# --- What is δ(ε) of one kind of noise, after any number of releases, to many digits? ---
#
# Losses that lie on a lattice of their own, those of randomised response and of discrete noise, are composed on it, and
# nothing but the last digits is rounded. Laplace noise is cut into cells. One release of continuous noise has a
# formula.

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
            delta = _ends(height(law, level))
            if delta.low > 0 and delta.high - delta.low <= delta.high * _NARROW:
                return delta
    raise UsageError("δ(ε) of this noise is too small to enclose; take a smaller ε")


def enclosed(law: Callable[[int], LossLaw], releases: int, at: Level, *, cells: int = 1) -> Enclosure:
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


def _beyond(law: LossLaw, releases: int, at: Level) -> bool:
    """Whether no loss is certainly larger than ε."""
    if isinstance(law, Atoms):
        return not (law.infinite or law.spare) and bool(at.ball() >= law.values()[-1][0] * releases)
    ends = law.ends() if isinstance(law, Continuous) else None
    return ends is not None and bool(at.ball() >= ends[1] * releases)


def _end(law: LossLaw, releases: int, at: Level, tilt: Tilt, cells: int, unit: int, *, up: bool) -> Any:
    exact = law.unit if isinstance(law, Atoms) else law.span if isinstance(law, Continuous) else None
    step = LatticeStep(exact / cells) if isinstance(exact, Fraction) else LatticeStep(None, 0, cells)
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


def _ends(enclosed_value: Any) -> Enclosure:
    if not enclosed_value.is_finite():
        return Enclosure(Fraction(-1), Fraction(2))
    low, high = (
        _dyadic(*(int(part) for part in end.man_exp())) for end in (enclosed_value.lower(), enclosed_value.upper())
    )
    return Enclosure(low, high)


def _dyadic(mantissa: int, exponent: int) -> Fraction:
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


@dataclass
class End:
    """One composition: of one direction, from one side, on one lattice."""

    direction: str  # "remove" or "add"
    up: bool  # from above
    step: LatticeStep  # of the lattice
    parts: list[Masses]  # the masses of each law
    composition: Composition  # with its cuts
    tail: Tail  # the two last factors
    factors: tuple[Any, Any]  # these factors, as blocks
