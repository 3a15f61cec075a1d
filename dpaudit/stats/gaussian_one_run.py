"""How large must μ be, given how many canaries of one model were guessed correctly?

Each of m canaries was included by a fair coin, or left out, and r of the coins are guessed from the model alone; r is
fixed beforehand. Let W be the right guesses, T_k = P(W ≥ k), S_k = T_{k+1} + T_{k+2} + …, and m' = m, or m/2 if all
guesses are of one kind. If telling whether a canary was in is no easier than telling N(μ, 1) from N(0, 1) (Dong, Roth &
Su 2022), then for k = r, …, 1

    T_{k−1} ≥ max(T_k, (m'·Φ(Φ⁻¹(A_k/m') − μ) + S_k + T_k)/(r − k + 1)),   A_k = k·T_k + S_k

(the recursion of Mahloujifar, Melis & Chaudhuri 2025, "Auditing f-differential privacy in one run", for all guesses at
once; docs/one-run.md has the proof). The right-hand side increases with T_k and S_k. So the least path that starts
with T_v = τ and S_v = 0 is below every possible one, and if it passes 1, then P(W ≥ v) ≥ τ is impossible. Once the
path stands still it stays there: A_k no longer changes, and the fraction moves towards T_k from below.

A larger μ allows more, so the values that are ruled out are all those below one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpaudit.arrays import Booleans, Floats
from dpaudit.privacy import Claim
from dpaudit.stats.guess_steps import StepsBound

_HALVINGS = 40  # of an interval of μ
_LARGEST = 40.0  # value of μ that is tried
_ROUNDING = 1e-9  # relative; larger than the rounding error of a path


def is_excluded(right: ArrayLike, guesses: ArrayLike, canaries: ArrayLike, mu: ArrayLike, error: ArrayLike) -> Booleans:
    """Return whether so many right guesses have a probability of less than ``error`` under μ-GDP.

    Args:
        right: right guesses, at least 1, broadcast with the others.
        guesses: how many of the canaries were guessed, fixed beforehand.
        canaries: m' of the module's docstring: all of them, or half of them if all guesses are of one kind.
        mu: at least 0.
        error: the error level.

    Returns:
        Booleans, in the broadcast shape (Mahloujifar, Melis & Chaudhuri 2025).
    """
    given = np.broadcast_arrays(right, guesses, canaries, mu, error)
    shape = given[0].shape
    k, r, m, shift, tail = (np.array(x, dtype=np.float64).ravel() for x in given)
    found = np.zeros(k.shape, dtype=bool)
    at = np.flatnonzero(k >= 1)
    k, r, m, shift, tail = (x[at] for x in (k, r, m, shift, tail))
    above = np.zeros(k.shape)
    while len(at):
        wrong = m * ndtr(ndtri(np.minimum((k * tail + above) / m, 1.0)) - shift)
        higher = (wrong + above + tail) / (r - k + 1)
        passed = higher > 1 + _ROUNDING
        found[at[passed]] = True
        on = ~passed & (higher > tail) & (k > 1)
        at, r, m, shift = at[on], r[on], m[on], shift[on]
        k, above, tail = k[on] - 1, (above + tail)[on], higher[on]
    return found.reshape(shape)


def gaussian_bound(
    right: ArrayLike, guesses: ArrayLike, canaries: ArrayLike, error: ArrayLike, *, halvings: int = _HALVINGS
) -> Floats:
    """Return the lower bound of μ at confidence 1 − ``error``: every smaller value is ruled out.

    Args:
        right, guesses, canaries, error: as for `is_excluded`.
        halvings: of the interval of μ; fewer give a smaller bound sooner.

    Returns:
        μ, rounded down, in the broadcast shape; 0.0 where nothing is shown.
    """
    v, r, m, level = (np.asarray(x, dtype=np.float64) for x in np.broadcast_arrays(right, guesses, canaries, error))
    low, high = np.zeros(v.shape), np.full(v.shape, _LARGEST)
    for _ in range(halvings):
        middle = (low + high) / 2
        out = is_excluded(v, r, m, middle, level)
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low


class GaussianOneRun(StepsBound):
    """μ of a Gaussian claim, by guesses about the canaries of one model."""

    parameter = "mu"

    def bounds(self, right: Floats, guesses: Floats, canaries: float, claim: Claim, error: float) -> Floats:
        """Return the μ below which everything is ruled out; arguments as for `StepsBound.bounds`."""
        return gaussian_bound(right, guesses, canaries, error)

    def excludes(self, right: int, guesses: int, canaries: float, claim: Claim, error: float) -> bool:
        """Return whether so many right guesses rule out the claim itself."""
        return bool(is_excluded(right, guesses, canaries, claim.value, error))

    def reached(self, chance: float, guesses: int, canaries: float) -> float:
        """Return the μ at which an attack on independent Gaussian scores guesses correctly with this probability."""
        found, missed = guesses * chance / canaries, guesses * (1 - chance) / canaries
        return float(ndtri(found) - ndtri(missed)) if found < 1 else np.inf
