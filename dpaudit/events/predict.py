"""Which bound would fresh runs of an event probably give? Predictions are only used for choices, and prove nothing."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from dpaudit.arrays import Booleans, Floats
from dpaudit.privacy import Claim
from dpaudit.stats.joint_region import joint_weight

_LEAST_COUNT = 5  # runs below which nothing is predicted of an event; measured by benchmarks/goal_table.py
_AT_ONCE = 1000  # events whose Rényi divergences, at many orders each, fit into the cache of a processor
_MANY = 30  # runs from which the approximation has four correct digits


def predicted_bound(
    p: Floats,
    q: Floats,
    n: float | Floats,
    m: float | Floats,
    *,
    ahead: float | tuple[Floats, Floats],
    claim: Claim,
    error: float,
    penalty: float | Floats,
    two_sided: bool,
    rivals: bool | Booleans = False,
) -> Floats:
    """Predict the bound of events from their frequencies in learning runs.

    p and q are moved against the event in the direction in which the joint bound moves them, first for their
    uncertainty, then by what the bound itself costs.
    """
    a, b = p * n + 0.5, q * m + 0.5
    p, q = a / (n + 1), b / (m + 1)
    able = (p > claim.delta) & (a >= _LEAST_COUNT)
    shown = np.full(p.shape, -np.inf)
    if not np.any(able):
        return shown
    ahead_p, ahead_q = (
        np.broadcast_to(x, p.shape)[able] if isinstance(x, np.ndarray) else x
        for x in (ahead if isinstance(ahead, tuple) else (ahead, ahead))
    )
    p, q, a, b = p[able], q[able], a[able], b[able]
    doubt = penalty[able] if isinstance(penalty, np.ndarray) else penalty
    if np.any(rivals):
        alike = rivals[able] if isinstance(rivals, np.ndarray) else rivals
        doubt = doubt + np.where(alike, np.sqrt(-2 * np.log(np.minimum(p, 1.0))), 0.0)
    chance = ndtr(-doubt)
    shrink_p = 1.0 if two_sided else np.sqrt(np.maximum(1 - p, 1e-9))
    shrink_q = 1.0 if two_sided else np.sqrt(np.maximum(1 - q, 1e-9))
    with np.errstate(all="ignore"):
        slope_p, slope_q = sensitivity(claim, p, q)
        low, high = p, q
        for noise_p, noise_q in (
            (shrink_p * _below(a, chance), shrink_q * _above(b, chance)),
            (shrink_p * _below(p * ahead_p + 0.5, error), shrink_q * _above(q * ahead_q + 0.5, error)),
        ):
            along_p, along_q = slope_p * noise_p, slope_q * noise_q
            length = np.maximum(np.hypot(along_p, along_q), 1e-300)
            low, high = low * np.exp(-noise_p * along_p / length), high * np.exp(noise_q * along_q / length)
        value = _shown(claim, low, np.minimum(high, 1.0))
        shown[able] = _given_sides(value, p + q, ahead_p) if two_sided and claim.pure else value
    return shown


def _given_sides(value: Floats, guessing: Floats, runs: float | Floats) -> Floats:
    """What guesses that are bounded given the sides show, if one side happens to guess more often than the other.

    With G guesses in all, of which the sides differ by d, t = tanh(ε/2) becomes t', where t = t' + (d/G)²/(4t') (see
    `dpaudit.stats.guessing`); d² is its mean. That matters where ε is small, and not at all where every run guesses.
    """
    apart = np.maximum(1 - guessing, 0.0) / (runs * np.maximum(guessing, 1e-300))
    t = np.tanh(np.maximum(value, 0.0) / 2)
    inside = t * t - apart
    # ε is lowered by the share by which t falls; where it is large it would fall by more, but other methods cost less
    left = value * (t + np.sqrt(np.maximum(inside, 0.0))) / np.maximum(2 * t, 1e-300)
    return np.where(inside >= 0, np.where(apart > 0, left, value), np.minimum(value, 0.0) - np.sqrt(apart) + t)


def _shown(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The loss; if nothing would be shown, a negative number that says how far from it."""
    ratio = np.log(np.maximum(p - claim.delta, 1e-300)) - np.log(q)
    value = ratio if claim.is_point else np.where((loss := _least(claim, p, q)) > 0, loss, np.minimum(ratio, 0.0))
    return np.where(np.isfinite(value), value, -np.inf)


def sensitivity(claim: Claim, p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return how fast the loss falls as log p falls and as log q rises; where it is 0, that of log((p − δ)/q).

    Args:
        claim: the notion, with its δ or order.
        p, q: probabilities of the event, arrays of one shape.

    Returns:
        Two arrays of that shape.
    """
    with np.errstate(all="ignore"):
        ratio_p, ratio_q = p / np.maximum(p - claim.delta, 1e-12), np.ones_like(q)
        if claim.is_point:
            return ratio_p, ratio_q
        step = 1e-4
        here = _least(claim, p, q)
        down_p = (here - _least(claim, p * np.exp(-step), q)) / step
        down_q = (here - _least(claim, p, np.minimum(q * np.exp(step), 1.0))) / step
        usable = (here > 0) & np.isfinite(down_p) & np.isfinite(down_q) & (down_p + down_q > 0)
        return np.where(usable, down_p, ratio_p), np.where(usable, down_q, ratio_q)


def _least(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The claim's `least`, computed only where p > q: elsewhere it is 0."""
    found, more = np.zeros(p.shape), np.flatnonzero(p > q)
    for first in range(0, len(more), _AT_ONCE):
        part = more[first : first + _AT_ONCE]
        found.flat[part] = claim.least(p.flat[part], q.flat[part])
    return found


def event_weight(p: float, q: float, runs: tuple[float, float], claim: Claim) -> float:
    """Return w₁ of the joint bound for a one-sided event.

    Args:
        p, q: its probabilities on the side that it points to and on the other.
        runs: of that side and of the other.
        claim: the notion to bound.

    Returns:
        w₁, strictly between 0 and 1.
    """
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(p), np.array(q)))
    return joint_weight(p, q, *runs, slope_p, slope_q)


def _below(counts: Floats, chance: float | Floats) -> Floats:
    """How far below its estimate (in log) a rate may be, given its count."""
    return -np.log(np.maximum(_quantile(counts, chance), 1e-12))


def _above(counts: Floats, chance: float | Floats) -> Floats:
    """How far above its estimate (in log) a rate may be, given its count."""
    return np.log(_quantile(counts, 1 - chance))


def _quantile(counts: Floats, chance: float | Floats) -> Floats:
    """A quantile of the gamma distribution of shape ``counts`` over its mean (large: Wilson & Hilferty 1931)."""
    root = 1 - 1 / (9 * counts) + ndtri(chance) / (3 * np.sqrt(counts))
    found = np.maximum(root, 0.0) ** 3
    few = counts < _MANY
    if np.any(few):
        # small counts occur many times, and each quantile is slow
        at: float | Floats = chance
        if isinstance(at, np.ndarray):
            pairs, again = np.unique(counts[few] + 1j * at[few], return_inverse=True)
            asked, at = pairs.real, pairs.imag
        else:
            asked, again = np.unique(counts[few], return_inverse=True)
        found[few] = (gammaincinv(asked, at) / asked)[again]
    return np.asarray(found)
