"""What does one epoch of shuffled batches certainly lose? Events of the largest output of all batches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.accounting.balls import ball
from dpaudit.accounting.losses import Continuous, Sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_POINTS = 4001  # of a sketch


@dataclass(frozen=True)
class LargestLaw(Continuous):
    """P = mean of N(2e_t, s²I) against Q = mean of N(e_t, s²I) over T batches t, known by the events {max x_t > c}.

    The pair is attained where all other records contribute −1 (Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang
    2024). Its loss depends on all batches; what stands here for {L > u} is the event with c = s²u + 3/2, beyond which a
    known batch would lose more than u. Only P and Q of these events are certain, not the losses within.
    """

    square: Fraction  # s², the noise to the sensitivity
    batches: int
    tested = True

    def tails(self, u: Any) -> tuple[Any, Any]:
        """P(max > c) = 1 − Φ((c − 2)/s)·Φ(c/s)^(T−1), and Q with c − 1."""
        square = ball(self.square)
        c, root = square * u + ball(Fraction(3, 2)), (2 * square).sqrt()
        others, without, with_it = (-((c - moved) / root).erfc() / 2 for moved in (0, 1, 2))
        empty = others.log1p() * (self.batches - 1)
        return -(with_it.log1p() + empty).expm1(), -(without.log1p() + empty).expm1()

    def sketch(self, tail: float) -> Sketch:
        """Equal steps of c, and the loss of the largest output there."""
        _, losses, logs = self._table(tail)
        inner = np.where(logs[1:] < -0.7, np.diff(np.exp(logs)), np.diff(np.expm1(logs)))
        return Sketch(losses, (losses[1:] + losses[:-1]) / 2, np.maximum(inner, 0.0))

    def placed(self, losses: Floats, tail: float) -> Floats:
        """Return the u of the events that begin where the largest output loses so much."""
        events, own, _ = self._table(tail)
        found = np.interp(losses, own, events)
        beyond: Floats = found + np.maximum(losses - own[-1], 0.0) + np.minimum(losses - own[0], 0.0)
        return beyond

    def _table(self, tail: float) -> tuple[Floats, Floats, Floats]:
        """For rising events: u, the loss of the largest output there, and the logarithm of P(max ≤ c)."""
        from scipy.special import log_ndtr  # slow to import, and reports need none of it

        s, rest = math.sqrt(self.square), self.batches - 1

        def below(c: Any) -> Any:
            return log_ndtr((c - 2) / s) + rest * log_ndtr(c / s)

        low, high = -50 * s, 2 + s * math.sqrt(2 * math.log(self.batches / tail))
        least = math.log(tail)
        floor, ceiling = low, high
        for _ in range(60):
            middle = (floor + ceiling) / 2
            floor, ceiling = (middle, ceiling) if below(middle) < least else (floor, middle)
        c = np.linspace(floor, high, _POINTS)

        def density(moved: int) -> Floats:  # logarithm, over that of one empty batch
            own = (2 * moved * c - moved**2) / (2 * s * s)
            other = math.log(rest) + log_ndtr((c - moved) / s) - log_ndtr(c / s)
            found: Floats = np.logaddexp(own, other)
            return found

        losses = density(2) - density(1)
        rising = np.concatenate([[True], losses[1:] > np.maximum.accumulate(losses)[:-1] + 1e-12])
        return ((c - 1.5) / (s * s))[rising], losses[rising], below(c)[rising]
