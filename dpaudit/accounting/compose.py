"""What is lost by many steps together? Products of polynomials with whole coefficients, rounded to one side.

The masses of a loss are the coefficients of a polynomial, and independent losses add: their polynomials multiply.
Products are exact (python-flint's `fmpz_poly`) and are then rounded to units again.

Blocks of many steps are few, so that they are moved to coarser lattices (`dpaudit.accounting.coarsen`).

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
from typing import Any

import numpy as np

from dpaudit.accounting.balls import flint, middle
from dpaudit.accounting.coarsen import Shares, coarser, costs, shares
from dpaudit.accounting.discretise import Masses
from dpaudit.accounting.plan import KEPT, Tilt

_TO_COARSER = 0.1  # of the width: the most that coarser lattices may take, of one end


@dataclass(frozen=True)
class Block:
    """The losses of some steps: coefficient i of ``poly`` units at base + step·2^level·(start + i).

    Attributes:
        poly: whole coefficients, none negative.
        start: the index of the first.
        infinite: units at ∞.
        base: a ball.
        steps: how many steps these are.
        growth: ln E[e^(λL)] in floating point, for choosing cuts.
        number: by which the program calls it.
        level: how often its lattice was made coarser.
    """

    poly: Any
    start: int
    infinite: int
    base: Any
    steps: int
    growth: float
    number: int = 0
    level: int = 0

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

    def block(self, masses: Masses, growth: float) -> Block:
        """Return masses as a block of one step, trimmed."""
        poly = flint().fmpz_poly(masses.masses)
        return self._trimmed(Block(poly, masses.start, masses.infinite, masses.base, 1, growth))

    def times(self, a: Block, b: Block) -> Block:
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
        found = Block(poly, a.start + b.start, infinite, a.base + b.base, a.steps + b.steps, a.growth + b.growth)
        return self._trimmed(replace(found, level=a.level))

    def _rounding(self, length: int) -> Any:
        if self._pad.length() < length:
            self._pad = flint().fmpz_poly([self.unit - 1] * (2 * length))
        return self._pad.truncate(length)

    def power(self, block: Block, count: int, *, pair: bool = False) -> tuple[Block, Block | None]:
        """Return the losses of ``count`` blocks, and with ``pair`` those of one more.

        From the leading bit of the count on, square, and multiply by the block where the bit is 1. A block alone is
        not smooth on the coarser lattices of its powers: there the power of one more is taken along instead.
        """
        bits = bin(count)[3:]
        found, more = block, None
        for place, bit in enumerate(bits):
            later = pair or "1" in bits[place + 1 :]
            if more is None:
                found = self.times(found, found)
                if bit == "1":
                    found = self.times(found, block)
                if later and self._easy(found):
                    more = self.times(found, block)
            else:
                if bit == "1":
                    found, more = self.times(found, more), self.times(more, more) if later else None
                else:
                    found, more = self.times(found, found), self.times(found, more) if later else None
            found = self.eased(found)
            if more is not None:
                found, more = self.levelled(found, self.eased(more))
        if pair and more is None:
            more = self.times(found, block)
        return found, more

    def last_two(self, blocks: Sequence[tuple[Block, int]]) -> tuple[Block, Block | None]:
        """Return two factors whose product is all of it; that product, the largest, is never computed."""
        (first, count), *others = blocks
        if not others:
            if count == 1:
                return first, None
            half, more = self.power(first, count // 2, pair=count % 2 == 1)
            return (half if more is None else more), half
        found = [self.power(block, number)[0] for block, number in blocks]
        # the two shortest first
        queue = [(block.length, block.number, self.eased(block)) for block in found]
        heapq.heapify(queue)
        while len(queue) > 2:
            (_, _, a), (_, _, b) = heapq.heappop(queue), heapq.heappop(queue)
            made = self.eased(self.times(*self._forced(a, b)))
            heapq.heappush(queue, (made.length, made.number, made))
        return self._forced(queue[0][2], queue[1][2])

    # --- coarser lattices ---------------------------------------------------------------------------------

    def eased(self, block: Block) -> Block:
        """Return the block on the coarsest lattice that costs little width."""
        while (odd := self._easy(block)) is not None:
            block = self._coarser(block, odd == "odd")
        return block

    def _easy(self, block: Block) -> str | None:
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

    def levelled(self, a: Block, b: Block) -> tuple[Block, Block]:
        """Return both on the coarser one of their lattices."""
        while a.level < b.level:
            a = self._coarser(a, self._cost(a)[1])
        while b.level < a.level:
            b = self._coarser(b, self._cost(b)[1])
        return a, b

    def _forced(self, a: Block, b: Block) -> tuple[Block, Block]:
        """Return both on the coarser one of their lattices, and count what that costs."""
        while a.level != b.level:
            a, b = (a, b) if a.level < b.level else (b, a)
            cost, odd = self._cost(a)
            self.forced += cost / self._tilt.tilt
            a = self._coarser(a, odd)
        return a, b

    def _cost(self, block: Block) -> tuple[float, bool]:
        """By how much ln δ would change for each copy, and whether odd places are then the better ones to keep."""
        key = block.number, block.level
        if key not in self._costs:
            self._costs[key] = self._cost_of(block)
        return self._costs[key]

    def _cost_of(self, block: Block) -> tuple[float, bool]:
        masses = np.array([float(int(mass)) for mass in block.poly.coeffs()] or [0.0])
        if not masses.any():
            return 0.0, False
        step = middle(self.size(block.level))
        return min(zip(costs(masses, block.start, step, self._tilt.tilt, up=self.up), (False, True), strict=True))

    def _coarser(self, block: Block, odd: bool) -> Block:
        size = self.size(block.level)
        if block.level not in self._shares:
            self._shares[block.level] = shares(size, self.unit)
        share = self._shares[block.level]
        masses, start = coarser(block.poly.coeffs() or [0], block.start, odd, share, self.unit, up=self.up)
        self.program.append([block.number, "odd" if odd else "even"])
        base = block.base + size if odd else block.base
        return replace(block, poly=flint().fmpz_poly(masses), start=start, base=base, level=block.level + 1)

    # --- trims --------------------------------------------------------------------------------------------

    def _trimmed(self, block: Block) -> Block:
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

    def _low_cut(self, block: Block) -> int:
        """Return a low mass so small that, tilted, it is a share of what matters."""
        size = middle(self.size(block.level))
        lowest = middle(block.base) + size * block.start
        most = self._log_share + math.log(block.steps) + block.growth + math.log(self.unit)
        found = total = 0
        for place in range(block.length):
            own = int(block.poly[place])
            if not own:  # trims pass over empty places
                continue
            if total and math.log(total) + self._tilt.tilt * (lowest + size * place) > most:
                break
            found, total = total, total + own
        return found


def lower_infinite(a: Block, b: Block) -> int:
    """Return the infinite mass of both from below, in units squared: a is infinite, or b is and a is not."""
    return a.infinite * (int(b.poly(1)) + b.infinite) + b.infinite * int(a.poly(1))
