"""Which steps of private learning go wrong? Gradients that nobody clips, or clips together, and batches by shuffling.

A step of DP-SGD (Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar & Zhang 2016, Algorithm 1) clips the
gradient of every example to the norm ``reach``, adds them up, and adds Gaussian noise of standard deviation
reach/mu to every number of the sum. One example more or less moves the sum by ``reach`` at most: the step is
mu-GDP. The model here is the smallest one, y ≈ w·x with squared error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from dpaudit import ApproxDP, GaussianDP, UsageError, mechanism
from dpaudit.program.noise import Noise

from ..domain import clip, positive, probability, whole

Example = tuple[float, float, float]  # (x₁, x₂, y)
Gradient = tuple[float, float]

WEIGHTS = (0.5, -0.5)
RATE = 0.1
USUAL: list[Example] = [(1, 0, 0), (0, 1, 0), (3, 4, -1.5)]
CANARY: Example = (3, 4, 9.5)  # its gradient points against that of the last usual example
LEARNING_PAIRS = [(USUAL, [*USUAL, CANARY])]


def gradient(example: Example) -> Gradient:
    """Return the gradient (w·x − y)·x of half the squared error of one example."""
    x1, x2, y = example
    error = WEIGHTS[0] * x1 + WEIGHTS[1] * x2 - y
    return error * x1, error * x2


def total(gradients: Sequence[Gradient]) -> Gradient:
    """Return the sum of gradients."""
    return sum(first for first, _ in gradients), sum(second for _, second in gradients)


def clipped(one: Gradient, reach: float) -> Gradient:
    """Return a gradient, shortened to the norm ``reach`` if it is longer."""
    factor = min(1.0, reach / math.hypot(*one)) if any(one) else 1.0
    return one[0] * factor, one[1] * factor


def noisy_step(moved: Gradient, noise: Noise, sigma: float) -> list[Any]:
    """Return the weights after a step against a sum of gradients with Gaussian noise."""
    return [weight - RATE * (slope + noise.gaussian(sigma)) for weight, slope in zip(WEIGHTS, moved, strict=True)]


def unclipped_loss(mu: float, reach: float) -> float:
    """Return the distance of the two sums in standard deviations of the noise."""
    data0, data1 = LEARNING_PAIRS[0]
    return math.dist(total([*map(gradient, data0)]), total([*map(gradient, data1)])) * mu / reach


@mechanism(
    claim=GaussianDP,
    relation="add-remove",
    pairs=LEARNING_PAIRS,
    true_loss=unclipped_loss,
    unit="one example",
    source="Abadi et al. (2016), Algorithm 1, without its line on clipping",
    family="learning",
    correct=False,
)
def no_clipping_sgd(data: Sequence[Example], noise: Noise, *, mu: float = 1, reach: float = 1) -> list[Any]:
    """Take one step along the sum of all gradients, with the noise for gradients clipped to ``reach``.

    What is wrong: the gradients are not clipped. A single example that is badly predicted, the canary, has a
    gradient of any length.

    The true loss is mu·‖gradient of the canary‖/reach, 50 times the claim, and has no limit over all data.
    """
    sigma = positive("reach", reach) / positive("mu", mu)
    return noisy_step(total([gradient(example) for example in data]), noise, sigma)


def microbatched(data: Sequence[Example], reach: float, size: int) -> Gradient:
    """Return the sum, over groups of ``size`` examples, of the clipped mean of their gradients."""
    means = []
    for start in range(0, len(data), size):
        members = [gradient(example) for example in data[start : start + size]]
        first, second = total(members)
        means.append(clipped((first / len(members), second / len(members)), reach))
    return total(means)


def microbatch_loss(mu: float, reach: float, size: int) -> float:
    """Return the distance of the two sums in standard deviations of the noise."""
    sums = (microbatched(data, reach, size) for data in LEARNING_PAIRS[0])
    return math.dist(*sums) * mu / reach


@mechanism(
    claim=GaussianDP,
    relation="add-remove",
    pairs=LEARNING_PAIRS,
    true_loss=microbatch_loss,
    unit="one example",
    source="Ponomareva, Hazimeh, Kurakin, Xu, Denison, McMahan, Vassilvitskii, Chien & Thakurta (2023), section 5.6, "
    "on the microbatches of McMahan, Andrew, Erlingsson, Chien, Mironov, Papernot & Kairouz (2018)",
    family="learning",
    correct=False,
)
def microbatch_sgd(
    data: Sequence[Example], noise: Noise, *, mu: float = 1, reach: float = 1, size: int = 2
) -> list[Any]:
    """Take one step along the sum of microbatch gradients, each the mean of ``size`` examples, then clipped.

    What is wrong: the mean is clipped, not each gradient, and the noise is that for examples which come and
    go one by one. An example cannot make the mean longer than reach, but it can turn it round, from one end
    of the ball to the other: the sensitivity is 2·reach.

    The true loss is 2·mu: the canary outweighs the example that shares its microbatch, and points the
    opposite way.
    """
    whole("size", size, least=2)
    sigma = positive("reach", reach) / positive("mu", mu)
    return noisy_step(microbatched(data, reach, size), noise, sigma)


CELLS = 2**16


@lru_cache(maxsize=4096)
def poisson_delta(epsilon: float, sigma: float, batches: int) -> float:
    """Return δ(ε) of an epoch whose batches each hold a record by chance 1/batches; rounded up.

    Every batch shows P = (1 − q)·N(0, σ²) + q·N(1, σ²) with the record, Q = N(0, σ²) without it. The loss
    ln(P/Q) of an output y is ln(1 − q + q·e^((2y − 1)/2σ²)); losses of independent batches add, so that their
    law is a convolution power (Koskela, Jälkö & Honkela 2020), taken by Fourier transform on a grid on which
    every loss is rounded up. δ(ε) = E(1 − e^(ε − loss))₊, the larger one of both directions.
    """
    q = 1 / batches
    least = math.log1p(-q)
    step = (2 * epsilon + 20) / CELLS
    excess = step * np.arange(CELLS)
    # the outputs y whose loss is least + excess: e^((2y − 1)/2σ²) = (e^excess − 1)·(1 − q)/q
    with np.errstate(divide="ignore"):
        edges = sigma**2 * (excess + np.log(-np.expm1(-excess)) + math.log((1 - q) / q)) + 0.5
    from scipy import special

    without = special.ndtr(edges / sigma)
    present = (1 - q) * without + q * special.ndtr((edges - 1) / sigma)
    sums = batches * least + step * np.arange(2 * CELLS)
    worst = 0.0
    for cumulative, sign in ((present, 1), (without, -1)):
        # with the record a loss is rounded up to the end of its cell; without it, the loss is −(…): to the start
        mass = np.diff(cumulative, prepend=0.0) if sign > 0 else np.diff(cumulative, append=1.0)
        beyond = 1 - cumulative[-1] if sign > 0 else 0.0
        law = np.fft.irfft(np.fft.rfft(mass, 2 * CELLS) ** batches, 2 * CELLS)
        gain = -np.expm1(np.minimum(0.0, epsilon - sign * sums))
        worst = max(worst, float(np.maximum(law, 0.0) @ gain) + batches * beyond)
    return worst


@lru_cache(maxsize=64)
def poisson_sigma(epsilon: float, delta: float, batches: int) -> float:
    """Return a σ, within 1e-6 of the least, at which an epoch of Poisson sampling is (epsilon, delta)-DP."""
    positive("epsilon", epsilon)
    probability("delta", delta)
    whole("batches", batches, least=2)
    low, high = 0.0, 1.0
    while poisson_delta(epsilon, high, batches) > delta:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if poisson_delta(epsilon, middle, batches) > delta else (low, middle)
    return high


def epoch_pairs(batches: int, size: int) -> list[tuple[list[float], list[float]]]:
    """Return an epoch of gradients −1 with one free place, and the same with a gradient of 1 in that place."""
    others = [-1.0] * (whole("batches", batches, least=2) * whole("size", size, least=1) - 1)
    return [(others, [*others, 1.0])]


def larger(first: Any, second: Any) -> Any:
    """Return the larger of two numbers without asking which it is, so that runs need not part."""
    return (first + second + abs(first - second)) / 2


def shuffled_loss(epsilon: float, delta: float, batches: int) -> float:
    """Return the ε at ``delta`` of the largest sum: the best of the events that it exceeds a level.

    One batch, any with the same chance, stands out from the others by 2 with the record, and by 1 without
    (its place is free). Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang (2024) use the same events.
    """
    sigma = poisson_sigma(epsilon, delta, batches)
    level = np.linspace(0, 2 + 8 * sigma, 20_001)
    from scipy import special

    quiet = (batches - 1) * special.log_ndtr(level / sigma)
    without, present = (-np.expm1(quiet + special.log_ndtr((level - shift) / sigma)) for shift in (1, 2))
    seen = present > delta
    return float(np.max(np.log((present[seen] - delta) / without[seen]), initial=0.0))


@mechanism(
    claim=ApproxDP,
    relation="add-remove",
    pairs=epoch_pairs,
    true_loss=shuffled_loss,
    unit="one example",
    source="Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang (2024), How private are DP-SGD implementations?",
    family="learning",
    correct=False,
)
def shuffle_not_poisson(
    data: Sequence[float], noise: Noise, *, epsilon: float = 1, delta: float = 1e-3, batches: int = 20, size: int = 1
) -> Any:
    """Release the largest noisy sum of an epoch: shuffled batches, accounted for as if sampled by coins.

    ``data`` are gradients, one number each, clipped to [−1, 1]. They are put into batches of ``size`` in
    random order, the order of independent uniform keys; places that nobody takes stay free. Every batch sum
    gets Gaussian noise, and what is shown of the epoch is the largest.

    What is wrong: the noise is what makes all sums together (epsilon, delta)-DP if every batch takes every
    record with probability 1/batches by a coin of its own (Poisson sampling). Shuffling takes each exactly
    once, and into the place of another one: who is there pushes somebody else out, and a sum moves twice as
    far.

    The true loss is 2.9 at delta = 1e-3 and the default 20 batches, and grows with their number.
    """
    sigma = poisson_sigma(epsilon, delta, batches)
    places = batches * whole("size", size, least=1)
    if len(data) > places:
        raise UsageError(f"{batches} batches of {size} have places for {places} records, not for {len(data)}")
    gradients = [clip(record, -1, 1) for record in data]
    keys = [noise.uniform() for _ in range(places)]
    batch = [sum(other < key for other in keys) // size for key in keys[: len(gradients)]]
    sums = [
        sum(one * (own == number) for one, own in zip(gradients, batch, strict=True)) + noise.gaussian(sigma)
        for number in range(batches)
    ]
    return reduce(larger, sums)
