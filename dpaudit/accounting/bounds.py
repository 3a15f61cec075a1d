"""What are δ(ε) and ε(δ) of two independent losses together? From sums over the tails, without their product.

δ(ε) = Σ x_i·y_j·(1 − e^(ε − l_i − l_j))₊ + c_∞ is the largest A_n − e^ε·B_n + c_∞ over n, where A_n is the sum of
x_i·y_j over i + j ≥ n and B_n that of x_i·y_j·e^(−l_i − l_j). It is at the first n whose loss is above ε; any n gives
a bound from below.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any

from dpaudit.accounting.balls import ball, decimal, middle
from dpaudit.accounting.compose import Block, lower_infinite

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

    def __init__(self, x: Block, y: Block | None, *, up: bool, unit: int, size: Any) -> None:
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
        found = [1 << bits]
        if self.up:
            own = int(ratio.lower().floor().unique_fmpz())
            for _ in range(count - 1):
                found.append(found[-1] * own >> bits)
        else:
            own = int(ratio.upper().ceil().unique_fmpz())
            for _ in range(count - 1):
                found.append(-(-found[-1] * own >> bits))
        return found

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
        found = None
        for n in self._places(at):
            if n >= self._length:
                value = slope = ball(0)
            else:
                a, b = self.sums(n)
                slope = factor * ball(b) / (self._square * ball(4) ** self._bits)
                value = ball(a) / self._square - slope
            if found is None or value.upper() > found[0].upper():
                found = value, slope
        assert found is not None
        return found[0] + self.infinite, found[1]

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
            found = decimal(ball(Fraction(moved)), up=self.up)
            value = self.delta(Fraction(found))
            if value <= wanted if self.up else value > wanted:
                return found
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
