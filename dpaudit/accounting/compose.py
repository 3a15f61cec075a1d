"""What is lost by many steps together? Products of polynomials with whole coefficients, rounded to one side.

The masses of a loss are the coefficients of a polynomial, and independent losses add: their polynomials multiply.
Products are exact (python-flint's `fmpz_poly`) and are then rounded to units again.

Two statements survive products, rounding and trims (proofs in ``docs/accounting.md``):

- *From above*, some probability pair dominates the truth, its finite masses are at most ``poly`` and its mass at ∞ is
  at most ``infinite``. Rounding is up, infinities add, low losses move up to the edge, high ones to ∞.
- *From below*, Σ c·(1 − e^(ε − l))₊ + c_∞ ≤ δ(ε) for every real ε. Rounding is down, low losses are dropped, high ones
  move down to the edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.accounting.balls import flint, middle
from dpaudit.accounting.discretise import Masses
from dpaudit.accounting.plan import KEPT, Tilt


@dataclass(frozen=True)
class Block:
    """The losses of some steps: coefficient i of ``poly`` units at base + step·(start + i).

    Attributes:
        poly: whole coefficients, none negative.
        start: the index of the first.
        infinite: units at ∞.
        base: a ball.
        steps: how many steps these are.
        growth: ln E[e^(λL)] in floating point, for choosing cuts.
    """

    poly: Any
    start: int
    infinite: int
    base: Any
    steps: int
    growth: float

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
        ceiling: the most places that a block may have, and what to do when there are more.

    Attributes:
        cuts: the mass in units that was cut off at the low and at the high end, after each product in turn.
    """

    def __init__(self, *, up: bool, unit: int, size: Any, tilt: Tilt, check: Callable[[int], None]) -> None:
        self.up, self.unit = up, unit
        self.cuts: list[list[int]] = []
        self._size, self._tilt, self._check = middle(size), tilt, check
        self._pad = flint().fmpz_poly([])
        self._steps = sum(tilt.counts)
        self._log_share = math.log(KEPT / self._steps)
        self._share = KEPT * math.exp(tilt.log_delta) / self._steps * unit

    def block(self, masses: Masses, growth: float) -> Block:
        """Return masses as a block of one step, trimmed."""
        poly = flint().fmpz_poly(masses.masses)
        return self._trimmed(poly, masses.start, masses.infinite, masses.base, 1, growth)

    def times(self, a: Block, b: Block) -> Block:
        """Return the losses of both."""
        self._check(a.length + b.length)
        exact = a.poly * b.poly
        if self.up:
            # ⌈c/unit⌉ as ⌊(c + unit − 1)/unit⌋: of coefficients below 0 python-flint takes no floor
            poly, infinite = (exact + self._rounding(exact.length())) // self.unit, a.infinite + b.infinite
        else:
            poly, infinite = exact // self.unit, lower_infinite(a, b) // self.unit
        base = a.base + b.base
        return self._trimmed(poly, a.start + b.start, infinite, base, a.steps + b.steps, a.growth + b.growth)

    def _rounding(self, length: int) -> Any:
        if self._pad.length() < length:
            self._pad = flint().fmpz_poly([self.unit - 1] * (2 * length))
        return self._pad.truncate(length)

    def power(self, block: Block, count: int) -> Block:
        """Return the losses of ``count`` blocks: from the leading bit of the count, square and multiply."""
        found = block
        for bit in bin(count)[3:]:
            found = self.times(found, found)
            if bit == "1":
                found = self.times(found, block)
        return found

    def last_two(self, blocks: Sequence[tuple[Block, int]]) -> tuple[Block, Block | None]:
        """Return two factors whose product is all of it; that product, the largest, is never computed."""
        (first, count), *others = blocks
        if not others:
            if count == 1:
                return first, None
            half = self.power(first, count // 2)
            return (self.times(half, first) if count % 2 else half), half
        found = self.power(first, count)
        *inner, (last, most) = others
        for block, number in inner:
            found = self.times(found, self.power(block, number))
        return found, self.power(last, most)

    def _trimmed(self, poly: Any, start: int, infinite: int, base: Any, steps: int, growth: float) -> Block:
        length = poly.length()
        if not length:
            self.cuts.append([0, 0])
            return Block(poly, start, infinite, base, steps, growth)
        low = self._low_cut(poly, length, start, middle(base), steps, growth)
        high = int(self._share * steps)
        self.cuts.append([low, high])
        first, below = 0, 0
        while first < length - 1 and below + (own := int(poly[first])) <= low:
            below, first = below + own, first + 1
        last, beyond = length, 0
        while last - 1 > first and beyond + (own := int(poly[last - 1])) <= high:
            beyond, last = beyond + own, last - 1
        poly = poly.truncate(last).right_shift(first)
        if self.up:
            poly[0] += below
            infinite += beyond
        else:
            poly[last - first - 1] += beyond
        return Block(poly, start + first, infinite, base, steps, growth)

    def _low_cut(self, poly: Any, length: int, start: int, base: float, steps: int, growth: float) -> int:
        """Return a low mass so small that, tilted, it is a share of what matters."""
        lowest = base + self._size * start
        most = self._log_share + math.log(steps) + growth + math.log(self.unit)
        found = total = 0
        for place in range(length):
            own = int(poly[place])
            if not own:  # trims pass over empty places
                continue
            if total and math.log(total) + self._tilt.tilt * (lowest + self._size * place) > most:
                break
            found, total = total, total + own
        return found


def lower_infinite(a: Block, b: Block) -> int:
    """Return the infinite mass of both from below, in units squared: a is infinite, or b is and a is not."""
    return a.infinite * (int(b.poly(1)) + b.infinite) + b.infinite * int(a.poly(1))
