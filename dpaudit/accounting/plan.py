"""Where should nodes be, and how fine? Floating point only: a bad plan costs width or time, never truth.

Let K(λ) be the sum of ln E[e^(λL)] over the steps, and λ the tilt at which K(λ) − λK'(λ) = ln δ (Daniels 1954, the
saddlepoint). A mass at l between nodes a and b that is split so that P and Q are kept raises E[e^(λL)] by about
λ(λ + 1)(l − a)(b − l)/2·e^(λl), and test lines lower it by half as much. So ε is off by (λ + 1)·E_λ[gap²]/8 in sum
over the steps, under the tilted law. The step of the lattice decides the length of all products, nodes only cost
evaluations of the law: so most of the width goes to the step, and the rest to gaps that grow as the tilted density to
the power −1/3, which takes the fewest nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.accounting.events import BeyondError
from dpaudit.accounting.losses import Atoms, LossLaw, Sketch
from dpaudit.arrays import Floats

KEPT = 1e-6  # of δ: what all cuts of one kind together may take
_TO_STEP = 0.75  # of the width
_LOWER = 3e-3  # of a cell: how far below its corner the mean of the first one is put
_FEW = 0.01  # the mass of what counts as the first cells
_STEEP = -0.3  # so much the logarithm of the density falls within a cell
_LARGE = 700.0  # of the losses that floats carry to a power of e
_NOISE = 1e-11  # a mass that floats do not tell from nothing
_WIDEST = 0.3  # the widest gap, times the tilt
_TILTS = (1e-3, 2e3)  # beyond, δ falls by a factor within the width that anybody asks for


@dataclass(frozen=True)
class Tilt:
    """The tilt of a composition towards the losses that matter."""

    tilt: float  # λ
    log_delta: float  # ln δ at the point, in floating point
    epsilon: float  # the ε that is expected
    sketches: tuple[Sketch, ...]  # of each law
    weights: tuple[Floats, ...]  # of each law, the tilted masses of its sketch, with sum 1
    growth: tuple[float, ...]  # of each law, ln E[e^(λL)]
    counts: tuple[int, ...]  # of each law, how often it is run
    tail: float  # the mass that sketches leave out, about

    def step(self, laws: Sequence[LossLaw], width: float) -> float:
        """Return the step of the lattice at which ε is expected to be known to ``width``."""
        smooth = sum(count for law, count in zip(laws, self.counts, strict=True) if not isinstance(law, Atoms))
        return math.sqrt(_TO_STEP * 8 * width / (self.tilt + 1) / max(smooth, 1))


def tilted(
    laws: Sequence[tuple[LossLaw, int]], *, log_delta: float | None = None, epsilon: float | None = None
) -> Tilt:
    """Return the tilt of a composition at a δ, or at an ε.

    Args:
        laws: each law with how often it is run.
        log_delta: ln δ; beside ε, about: what is less likely is left out of the sketches.
        epsilon: ε, in nats.
    """
    steps = sum(count for _, count in laws)
    guess = math.log(1e-12) if log_delta is None else log_delta
    tail = math.exp(max(guess + math.log(KEPT / steps), -680.0))
    sketches = [law.sketch(tail) for law, _ in laws]
    counts = tuple(count for _, count in laws)

    def at(tilt: float) -> tuple[float, float]:
        """ln δ and ε at a tilt: δ = e^(K − λK')/(λ(λ + 1)√(2πK'')), or over λ + 1 where one atom is all that counts."""
        k = first = second = 0.0
        for sketch, count in zip(sketches, counts, strict=True):
            weights, growth = _weights(sketch, tilt, -guess)
            mean = float(np.sum(weights * sketch.at))
            k, first = k + count * growth, first + count * mean
            second += count * float(np.sum(weights * (sketch.at - mean) ** 2))
        return k - tilt * first - math.log((tilt + 1) * (tilt * math.sqrt(2 * math.pi * second) + 1)), first

    def too_far(tilt: float) -> bool:
        reached, loss = at(tilt)
        return reached < guess if epsilon is None else loss > epsilon

    low, high = (math.log(end) for end in _TILTS)
    for _ in range(50):
        mid = (low + high) / 2
        low, high = (low, mid) if too_far(math.exp(mid)) else (mid, high)
    tilt = math.exp(low)
    reached, loss = at(tilt)
    weights, growth = zip(*(_weights(sketch, tilt, -guess) for sketch in sketches), strict=True)
    return Tilt(
        tilt,
        log_delta if epsilon is None and log_delta is not None else min(reached, 0.0),
        loss if epsilon is None else epsilon,
        tuple(sketches),
        weights,
        growth,
        counts,
        tail,
    )


def _weights(sketch: Sketch, tilt: float, most: float) -> tuple[Floats, float]:
    """Tilted masses, and the logarithm of their sum. No loss of one step counts for more than 1/δ."""
    with np.errstate(divide="ignore"):
        logs = np.log(sketch.masses) + np.minimum(tilt * sketch.at, most)
    if not np.isfinite(top := float(logs.max())):  # floats do not reach the masses of so large losses
        logs, top = np.zeros(len(sketch.at)), 0.0
    shares = np.exp(logs - top)
    total = float(shares.sum())
    return shares / total, top + math.log(total)


def gaps(sketch: Sketch, weights: Floats, step: float, tilt: float) -> Floats:
    """Return how far apart nodes should be where each mass of a sketch is; at least ``step``."""
    losses = sketch.losses
    widths = np.diff(losses)
    finest = np.full(len(weights), step)
    if len(weights) != len(widths):  # atoms at the ends, or between
        return finest
    density = weights / np.maximum(widths, 1e-300)
    with np.errstate(divide="ignore"):
        relative = np.minimum(density ** (-1 / 3), 1e100)
    widest = max(step, _WIDEST / (tilt + 1))
    # the largest factor for which gaps take the rest of the width
    most = (1 / _TO_STEP - 1) * step**2
    low, high = -100.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        runs = np.clip(math.exp(middle) * relative, step, widest)
        low, high = (low, middle) if float(np.sum(weights * (runs**2 - step**2))) > most else (middle, high)
    return np.clip(math.exp(low) * relative, step, widest)


def indices(sketch: Sketch, weights: Floats, step: float, tilt: float) -> list[int]:
    """Return the multiples of ``step`` at which there should be nodes, from below the sketch to above it.

    Args:
        sketch: of the law.
        weights: its tilted masses.
        step: of the lattice.
        tilt: λ.
    """
    at, wide = sketch.at, gaps(sketch, weights, step, tilt)
    low, high = math.floor(sketch.losses[0] / step) - 1, math.ceil(sketch.losses[-1] / step) + 1
    if len(weights) != len(sketch.losses) - 1:
        return list(range(low, high + 1))
    # cells of odd width, whose middles are on the lattice: test lines at their ends meet above their middles
    places, place, end = [low], 0, low + 0.5
    while places[-1] < high:
        start = end * step
        while place < len(at) - 1 and at[place] < start:
            place += 1
        # no cell may reach over a place that asks for a smaller one
        allowed, ahead = float(wide[place]), place
        while ahead < len(at) and at[ahead] < start + allowed:
            allowed = min(allowed, max(float(wide[ahead]), float(at[ahead]) - start))
            ahead += 1
        width = max(1, 2 * int((allowed / step + 1) / 2) - 1)
        places.append(int(end + width / 2))
        end += width
    return places


def between(nodes: Sequence[int]) -> list[float]:
    """Return the ends of the cells of which corners are the middles, in steps; the first cell is one step wide."""
    edges = [nodes[0] + 0.5]
    for before, node in pairwise(nodes):
        after = 2 * node - edges[-1]
        if not node < after < 2 * node - before:
            edges[-1], after = (before + node) / 2, node + (node - before) / 2
        edges.append(after)
    return edges[:-1]


def thresholds(sketch: Sketch, corners: Sequence[float], ends: Sequence[float]) -> list[float]:
    """Return events between corners, such that the lines of neighbouring events meet near the corner between them.

    They meet at ln(P/Q) of the cell between both. Where the density hardly changes within a cell, this is its middle
    and gap²/12 times the slope of the log density less 1/2. In the first cell, which the lower end of the losses may
    cut, the event is searched for.

    Args:
        sketch: of the law.
        corners: rising, in nats.
        ends: of the cells between them, in nats.
    """
    nodes = np.asarray(corners)
    gap = np.diff(nodes)
    halves = np.asarray(ends)
    if len(sketch.masses) != len(sketch.losses) - 1:
        return [float(value) for value in halves]
    shifts = (_slopes(sketch, halves) - 0.5) * gap / 12
    local = halves - gap * np.clip(shifts, -0.4, 0.4)
    tables = [
        np.concatenate([[0.0], np.cumsum(masses)])
        for masses in (sketch.masses, sketch.masses * np.exp(np.minimum(-sketch.at, _LARGE)))
    ]

    def below(loss: Any) -> tuple[Any, Any]:
        """P and Q of the losses up to one."""
        p, q = (np.interp(loss, sketch.losses, table) for table in tables)
        return p, q

    ps, _ = below(local)
    levels = [float(loss) for loss in local]
    for place, corner in enumerate(corners[:-1]):
        if ps[place] < _NOISE:
            continue
        # nothing below the first cells makes up for a mean above their corner: let it be a little below
        if corner > _LARGE:
            raise BeyondError(
                f"one step loses up to {corner:,.0f}, too much to account for with sampled records; is the noise in "
                "the units of the answers, and the sensitivity that of one record?"
            )
        factor, (p, q) = math.exp(corner), below(levels[place - 1]) if place else (0.0, 0.0)
        if p > _FEW:
            break
        low, high = corner + 0.1 * float(gap[place]), corner + 0.9 * float(gap[place])
        for _ in range(25):
            middle = (low + high) / 2
            more, other = below(middle)
            over = (more - p) * (1 + _LOWER * gap[place]) - factor * (other - q) > 0
            low, high = (low, middle) if over else (middle, high)
        levels[place] = low
    # behind a heavy cell, a mean below its corner would take more from the next corner than that has
    steep = _slopes(sketch, nodes[1:]) * gap < _STEEP
    for place in np.flatnonzero(steep[: len(levels) - 1] & (ps[1:] > _NOISE))[::-1]:
        levels[place] = _raised(levels[place], levels[place + 1], float(nodes[place + 1]), float(gap[place]), below)
    return levels


def _raised(start: float, end: float, corner: float, gap: float, below: Callable[[Any], tuple[Any, Any]]) -> float:
    """Return where a cell should start for its mean to be at its corner, from ``start`` on."""
    p, q = below(end)

    def under(loss: float) -> bool:
        less, other = below(loss)
        return bool(p - less < math.exp(corner) * (1 - 2 * _LOWER * gap) * (q - other))

    low, high = start, corner - 0.05 * gap
    if not under(low):
        return start
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if under(middle) else (low, middle)
    return high


def _slopes(sketch: Sketch, at: Floats) -> Floats:
    """How fast the logarithm of the density under P changes."""
    widths = np.diff(sketch.losses)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes_there = np.gradient(np.log(sketch.masses / widths), sketch.at)
        slopes: Floats = np.nan_to_num(np.interp(at, sketch.at, slopes_there), posinf=0.0, neginf=0.0)
    return slopes
