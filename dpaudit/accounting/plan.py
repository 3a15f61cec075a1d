"""Where should nodes be, and how fine? Floating point only: a bad plan costs width or time, never truth.

Let K(λ) be the sum of ln E[e^(λL)] over the steps, and λ the tilt at which K(λ) − λK'(λ) = ln δ (Daniels 1954, the
saddlepoint). A mass at l between nodes a and b that is split so that P and Q are kept raises E[e^(λL)] by about
λ(λ + 1)(l − a)(b − l)/2·e^(λl), and test lines lower it by half as much. So ε is off by (λ + 1)·E_λ[gap²]/8 in sum
over the steps, under the tilted law. Least nodes for this width have gaps as the tilted density to the power −1/3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpaudit.accounting.losses import Atoms, Law, Sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

KEPT = 1e-6  # of δ: what all cuts of one kind together may take
_FINE = 0.03  # where the tilted density falls below this part of its peak, gaps grow
_WIDEST = 0.3  # the widest gap, times the tilt
_TILTS = (1e-3, 1e6)


@dataclass(frozen=True)
class Tilt:
    """The tilt of a composition towards the losses that matter.

    Attributes:
        tilt: λ.
        log_delta: ln δ at the point, in floating point.
        epsilon: the ε that is expected.
        sketches: of each law.
        weights: of each law, the tilted masses of its sketch, with sum 1.
        growth: of each law, ln E[e^(λL)].
        counts: of each law, how often it is run.
    """

    tilt: float
    log_delta: float
    epsilon: float
    sketches: tuple[Sketch, ...]
    weights: tuple[Floats, ...]
    growth: tuple[float, ...]
    counts: tuple[int, ...]

    def variance(self, step: float, laws: Sequence[Law]) -> float:
        """Return E_λ[gap²], in sum over the steps, for nodes on multiples of ``step``; of atoms, nothing."""
        return sum(
            count * float(np.sum(weights * gaps(sketch, weights, step, self.tilt) ** 2))
            for law, sketch, weights, count in zip(laws, self.sketches, self.weights, self.counts, strict=True)
            if not isinstance(law, Atoms)
        )

    def step(self, laws: Sequence[Law], width: float) -> float:
        """Return the step of the lattice at which ε is expected to be known to ``width``."""
        wanted = 8 * width / (self.tilt + 1)
        step = math.sqrt(wanted / sum(self.counts))
        for _ in range(4):
            found = self.variance(step, laws)
            if not found:
                return step
            step *= math.sqrt(wanted / found)
        return step


def tilted(laws: Sequence[tuple[Law, int]], *, log_delta: float | None = None, epsilon: float | None = None) -> Tilt:
    """Return the tilt of a composition at a δ, or at an ε.

    Args:
        laws: each law with how often it is run.
        log_delta: ln δ.
        epsilon: or ε, in nats.
    """
    steps = sum(count for _, count in laws)
    guess = math.log(1e-12) if log_delta is None else log_delta
    tail = math.exp(max(guess + math.log(KEPT / steps), -680.0))
    sketches = [law.sketch(tail) for law, _ in laws]
    counts = tuple(count for _, count in laws)

    def at(tilt: float) -> tuple[float, float]:
        """ln δ and ε at a tilt: δ = e^(K − λK')/(λ(λ + 1)√(2πK''))."""
        k = first = second = 0.0
        for sketch, count in zip(sketches, counts, strict=True):
            weights, growth = _weights(sketch, tilt)
            mean = float(np.sum(weights * sketch.at))
            k, first = k + count * growth, first + count * mean
            second += count * float(np.sum(weights * (sketch.at - mean) ** 2))
        return k - tilt * first - math.log(tilt * (tilt + 1) * math.sqrt(2 * math.pi * second) + 1), first

    def too_far(tilt: float) -> bool:
        found, loss = at(tilt)
        return found < guess if epsilon is None else loss > epsilon

    low, high = (math.log(end) for end in _TILTS)
    for _ in range(50):
        mid = (low + high) / 2
        low, high = (low, mid) if too_far(math.exp(mid)) else (mid, high)
    tilt = math.exp(low)
    found, loss = at(tilt)
    weights, growth = zip(*(_weights(sketch, tilt) for sketch in sketches), strict=True)
    return Tilt(
        tilt,
        min(found, 0.0) if log_delta is None else log_delta,
        loss if epsilon is None else epsilon,
        tuple(sketches),
        weights,
        growth,
        counts,
    )


def _weights(sketch: Sketch, tilt: float) -> tuple[Floats, float]:
    with np.errstate(divide="ignore"):
        logs = np.log(sketch.masses) + tilt * sketch.at
    top = float(logs.max())
    shares = np.exp(logs - top)
    total = float(shares.sum())
    return shares / total, top + math.log(total)


def gaps(sketch: Sketch, weights: Floats, step: float, tilt: float) -> Floats:
    """Return how far apart nodes should be where each mass of a sketch is; at least ``step``."""
    losses = sketch.losses
    widths = np.diff(losses)
    extra = len(weights) - len(widths)  # atoms at the ends, or between, have the finest gap
    if extra:
        return np.full(len(weights), step)
    # mass within a step's reach: where the law is narrower than that, finer gaps would show nothing more
    whole = np.concatenate([[0.0], np.cumsum(weights)])
    middles = sketch.at
    reach = np.interp(middles + step / 2, losses, whole) - np.interp(middles - step / 2, losses, whole)
    density = np.maximum(reach, weights * np.minimum(1.0, step / np.maximum(widths, 1e-300)))
    top = float(density.max())
    with np.errstate(divide="ignore", over="ignore"):
        wide = step * np.maximum(1.0, (_FINE * top / density) ** (1 / 3))
    found: Floats = np.minimum(wide, max(step, _WIDEST / (tilt + 1)))
    return found


def indices(sketch: Sketch, weights: Floats, step: float, tilt: float, *, odd: bool) -> list[int]:
    """Return the multiples of ``step`` at which there should be nodes, from below the sketch to above it.

    Args:
        sketch: of the law.
        weights: its tilted masses.
        step: of the lattice.
        tilt: λ.
        odd: whether all gaps must be odd multiples, so that their middles lie on the lattice of halves.
    """
    at, wide = sketch.at, gaps(sketch, weights, step, tilt)
    low, high = math.floor(sketch.losses[0] / step) - 1, math.ceil(sketch.losses[-1] / step) + 1
    if len(weights) != len(sketch.losses) - 1:
        return list(range(low, high + 1))
    found, place = [low], 0
    while found[-1] < high:
        start = found[-1] * step
        while place < len(at) - 1 and at[place] < start:
            place += 1
        # no gap may reach over a place that asks for a smaller one
        allowed, ahead = float(wide[place]), place
        while ahead < len(at) and at[ahead] < start + allowed:
            allowed = min(allowed, max(float(wide[ahead]), float(at[ahead]) - start))
            ahead += 1
        gap = max(1, int(allowed / step))
        found.append(found[-1] + (gap - 1 + gap % 2 if odd else gap))
    return found
