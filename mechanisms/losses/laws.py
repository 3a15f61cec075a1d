"""What do two laws lose that can be written down: by their outputs, or by the noise that is added to answers?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from dpaudit import GaussianDP

Law = Sequence[float]


def of_laws(law0: Law, law1: Law) -> float:
    """Return the pure ε of two laws on the same finitely many outputs: the largest |ln(p/q)|.

    Single outputs are enough: the ratio of an event lies between the ratios of its outputs.
    """
    loss = 0.0
    for p, q in zip(law0, law1, strict=True):
        if p != q:
            loss = max(loss, abs(math.log(p / q)) if p > 0 and q > 0 else math.inf)
    return loss


def of_constants(output0: Any, output1: Any) -> float:
    """Return the pure ε of two constant outputs: 0 where they agree, ∞ where they differ."""
    return 0.0 if output0 == output1 else math.inf


def of_laplace(answers0: Sequence[float], answers1: Sequence[float], scale: float) -> float:
    """Return the pure ε of answers with independent Laplace noise of one scale: the distance in norm 1 over it.

    The log density ratio Σ (|x_i − b_i| − |x_i − a_i|)/scale reaches that sum at every x that lies beyond all
    pairs of answers, on the side of a_i.
    """
    return sum(abs(b - a) for a, b in zip(answers0, answers1, strict=True)) / scale


def largest_satisfying(holds: Callable[[float], bool]) -> float:
    """Return the largest x ≥ 0 at which a condition holds that holds at 0 and fails from some point on.

    By bisection to the last bit; the result itself satisfies the condition.
    """
    low, high = 0.0, 1.0
    while holds(high):
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def of_gaussian(mu: float, delta: float) -> float:
    """Return the ε at ``delta`` of Gaussian noise whose answers lie ``mu`` standard deviations apart.

    The smallest ε with δ(ε) ≤ delta, where δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang 2018,
    Theorem 8). Rounded down, so that it is never more than the real loss.
    """
    gaussian = GaussianDP(mu)
    if float(gaussian.profile(0.0)) <= delta:
        return 0.0
    return largest_satisfying(lambda epsilon: float(gaussian.profile(epsilon)) > delta)


def softmax(scores: Sequence[float], rate: float) -> Law:
    """Return the law P(i) ∝ exp(rate·score_i)."""
    at = np.asarray(scores, dtype=np.float64) * rate
    weights = np.exp(at - at.max())
    return [float(p) for p in weights / weights.sum()]


def permutation_law(scores: Sequence[float], rate: float) -> Law:
    """Return the law of permute-and-flip with head probabilities p_i = exp(rate·(score_i − max)).

    Give each candidate a uniform arrival time t: it is chosen if it flips heads and no earlier one does,
    P(i) = p_i·∫₀¹ Π_{j≠i} (1 − t·p_j) dt. Noisy max with exponential noise of scale 1/rate has the same
    law (Ding, Kifer, Steinke, Wang, Xiao & Zhang 2021).
    """
    at = np.asarray(scores, dtype=np.float64) * rate
    heads = np.exp(at - at.max())
    law = []
    for index, p in enumerate(heads):
        product = np.ones(1)
        for other in np.delete(heads, index):
            product = polynomial.polymul(product, np.array([1.0, -other]))
        law.append(float(p * polynomial.polyval(1.0, polynomial.polyint(product))))
    return law


def laplace_argmax_law(scores: Sequence[float], scale: float) -> Law:
    """Return the law of the index of the largest score + Laplace(scale).

    P(i) = ∫ f(x − s_i)·Π_{j≠i} F(x − s_j) dx by quadrature between the scores, where the integrand is smooth.
    """
    from scipy import integrate

    at = np.asarray(scores, dtype=np.float64) / scale
    corners = [-np.inf, *sorted(set(at.tolist())), np.inf]

    def chance(index: int) -> float:
        own, others = at[index], np.delete(at, index)

        def density(x: float) -> float:
            tails = 0.5 * np.exp(-np.abs(x - others))
            below = np.where(x > others, 1.0 - tails, tails)
            return float(0.5 * np.exp(-abs(x - own)) * np.prod(below))

        parts = (integrate.quad(density, *ends, epsabs=0.0, epsrel=1e-11)[0] for ends in pairwise(corners))
        return float(sum(parts))

    return list(map(chance, range(len(at))))
