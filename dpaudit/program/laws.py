"""Which kinds of noise are there, and what is known of each? One table, from which audits, traces and proofs take it.

A new kind of noise is one row of `LAWS`, and a method of `dpaudit.program.noise.Noise` if programs are to draw it; to
be provable, it also needs a row in `dpaudit.checker.tree`, which trusts nobody and has a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpaudit.arrays import Floats

Draws = np.ndarray[Any, np.dtype[Any]]


class Support(Enum):
    """The values of a draw, before its location is added."""

    LINE = "all real numbers"
    HALF_LINE = "[0, ∞)"
    INTERVAL = "[0, scale)"
    INTEGERS = "all integers"
    COUNTS = "whole numbers from 1 on"
    FINITE = "those that are enumerated"


@dataclass(frozen=True, slots=True)
class Density:
    """The density of a draw of scale 1: exact, and the same in floats for whole arrays."""

    breaks: tuple[Fraction | int, ...]  # where its pieces meet, ascending
    # one more than breaks; each maps rates r to coefficients c, for the sum of all c·e^(r·x). All rates of the
    # first piece are positive and all of the last are negative, so that they vanish towards −∞ and ∞.
    pieces: tuple[Mapping[int, Fraction | int], ...]
    pdf: Callable[[Floats], Floats]  # the density
    cdf: Callable[[Floats], Floats]  # the probability of values below x
    sf: Callable[[Floats], Floats]  # the probability of values above x


EITHER_WAY = (1, -1)
UP = (1,)
NEVER = ()


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLaw:
    """The law of one kind of noise, without its location."""

    name: str  # by which programs and tables of libraries call it
    title: str  # as it stands in evidence
    # what a shift of a draw of scale s by d costs. "pure": its density (or probability) f satisfies
    # f(x) ≤ exp(|d|/s)·f(x + d) for all x, and no smaller exponent does far out; "gaussian": μ = |d|/s;
    # "locked": no shift has a finite cost; "unknown"
    cost: Literal["pure", "gaussian", "locked", "unknown"]
    support: Support  # the values of a draw
    shifts: tuple[int, ...] = EITHER_WAY  # the signs of d that are possible; for a "pure" cost those for which it holds
    # (generator, size, *arguments) → draws, (size,); each argument is a number or an array (size,). None if no method
    # of `Noise` draws it
    sample: Callable[..., Draws] | None = None
    # the arguments → (location, scale), if they are more than a scale
    location_and_scale: Callable[..., tuple[Any, Any]] | None = None
    density: Density | None = None  # None if probabilities of events are not computed exactly
    # the arguments → the probability of each value; None unless the support is finite
    outcomes: Callable[..., dict[Any, Any]] | None = None
    # of noise of scale 1, (n,) probabilities → (n,) values; None where it is not needed
    quantile: Callable[[Floats], Floats] | None = None

    @property
    def provable_shifts(self) -> tuple[int, ...]:
        """The signs of d for which a shift costs |d|/s at most; none of noise of any other cost."""
        return self.shifts if self.cost == "pure" else NEVER

    @property
    def is_whole(self) -> bool:
        """Whether it takes whole numbers alone, so that only whole shifts exist."""
        return self.support is Support.INTEGERS or self.support is Support.COUNTS

    @property
    def is_discrete(self) -> bool:
        """Whether single values have a probability."""
        return self.is_whole or self.support is Support.FINITE

    @property
    def is_provable(self) -> bool:
        """Whether the symbolic reading supports it."""
        return self.cost in ("pure", "locked") or self.outcomes is not None

    def draw(self, rng: np.random.Generator, size: int, *arguments: Any) -> Draws:
        """Draw so many values, (size,); each argument is a number or an array (size,)."""
        assert self.sample is not None
        return self.sample(rng, size, *arguments)

    def extreme(self, scale: Floats, q: Floats) -> Floats | None:
        """Return noise at about these quantiles, (n,), whole where it must be; None where that is not known."""
        if self.support is Support.COUNTS:
            return np.asarray(np.maximum(np.ceil(np.ceil(-_log1p(-q)) * scale), 1.0))
        if self.support is Support.INTEGERS:
            return np.asarray(np.rint(np.rint(_laplace_quantile(q)) * scale))
        return None if self.quantile is None else np.asarray(scale * self.quantile(q))


# --- How are many drawn at once? In double precision: a program stands for its mathematics. ---


def _laplace(rng: np.random.Generator, size: int, scale: Any) -> Draws:
    """Draw an exponential variable with a random sign: twice as fast as `Generator.laplace`."""
    draws = rng.standard_exponential(size)
    draws *= scale
    signs = rng.random(size)
    signs -= 0.5
    return np.copysign(draws, signs, out=draws)


def _discrete_laplace(rng: np.random.Generator, size: int, scale: Any) -> Draws:
    """Draw the difference of two geometric variables (Inusah & Kozubowski 2006, Proposition 2.2), as int64."""
    # the floor of an exponential variable of scale b is geometric with ratio exp(−1/b)
    up = np.floor(rng.exponential(scale, size))
    down = np.floor(rng.exponential(scale, size))
    return (up - down).astype(np.int64)


def _discrete_gaussian(rng: np.random.Generator, size: int, sigma: Any) -> Draws:
    """Draw by rejection from the discrete Laplace (Canonne, Kamath & Steinke 2020, Algorithm 3), as int64."""
    out = np.empty(size, dtype=np.int64)
    todo = np.arange(size)
    spread = np.broadcast_to(np.asarray(sigma, dtype=np.float64), (size,))
    while len(todo):
        s = spread[todo]
        scale = np.floor(s) + 1
        proposal = _discrete_laplace(rng, len(todo), scale)
        # divided by σ, so that the square of a tiny σ does not underflow
        with np.errstate(over="ignore"):
            log_accept = -((np.abs(proposal) / s - s / scale) ** 2) / 2
        accepted = rng.random(len(todo)) < np.exp(log_accept)
        out[todo[accepted]] = proposal[accepted]
        todo = todo[~accepted]
    return out


def _truncated_laplace(rng: np.random.Generator, size: int, scale: Any, bound: Any) -> Draws:
    """Draw an exponential variable that is at most bound, by its distribution function, with a random sign."""
    draws = -np.log1p(np.expm1(-np.asarray(bound, dtype=np.float64) / scale) * rng.random(size)) * scale
    return np.asarray(np.copysign(np.minimum(draws, bound), rng.random(size) - 0.5))


def pick(rng: np.random.Generator, size: int, weights: Sequence[float]) -> Draws:
    """Draw indices with probability proportional to weights."""
    cumulative = np.cumsum(np.asarray(weights, dtype=np.float64))
    indices = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    # rounding may lead past the end, or to a trailing option of weight zero
    last = int(np.max(np.flatnonzero(np.asarray(weights) > 0)))
    return np.asarray(np.minimum(indices, last))


# --- Densities, and quantiles ---


def _laplace_cdf(z: Floats) -> Floats:
    tail = np.asarray(np.abs(z), dtype=np.float64)
    np.exp(np.negative(tail, out=tail), out=tail)  # in place: searches ask for millions
    tail /= 2
    return np.where(z < 0, tail, 1 - tail)


_HALF = Fraction(1, 2)
_LAPLACE = Density(
    breaks=(0,),
    pieces=({1: _HALF}, {-1: _HALF}),
    pdf=lambda z: np.asarray(np.exp(-np.abs(z)) / 2),
    cdf=_laplace_cdf,
    sf=lambda z: _laplace_cdf(-z),
)
_EXPONENTIAL = Density(
    breaks=(0,),
    pieces=({}, {-1: 1}),
    pdf=lambda z: np.asarray(np.exp(-z)),
    cdf=lambda z: np.asarray(-np.expm1(-np.maximum(z, 0.0))),
    sf=lambda z: np.asarray(np.exp(-np.maximum(z, 0.0))),
)
_UNIFORM = Density(
    breaks=(0, 1),
    pieces=({}, {0: 1}, {}),
    pdf=np.ones_like,
    cdf=lambda z: np.clip(z, 0.0, 1.0),
    sf=lambda z: np.clip(1 - z, 0.0, 1.0),
)

# a target may replace functions of NumPy for all of Python
_log, _log1p, _sign, _abs = np.log, np.log1p, np.sign, np.abs


def _laplace_quantile(q: Floats) -> Floats:
    centred = q - 0.5
    return np.asarray(-_sign(centred) * _log1p(-2 * _abs(centred)))


def _gaussian_quantile(q: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(q))


def geometric_scale(probability: Any) -> Any:
    """Return the scale of geometric noise: P(x + 1)/P(x) = exp(−1/scale)."""
    with np.errstate(all="ignore"):
        return -1.0 / _log1p(-np.asarray(probability, dtype=np.float64))


# --- The table ---

LAPLACE = NoiseLaw(
    "laplace", "Laplace", "pure", Support.LINE, sample=_laplace, density=_LAPLACE, quantile=_laplace_quantile
)
GAUSSIAN = NoiseLaw(
    "gaussian",
    "Gaussian",
    "gaussian",
    Support.LINE,
    sample=lambda rng, size, sigma: rng.normal(0.0, sigma, size),
    quantile=_gaussian_quantile,
)
EXPONENTIAL = NoiseLaw(
    "exponential",
    "exponential",
    "pure",
    Support.HALF_LINE,
    UP,  # f(x)/f(x + d) = exp(d/s) for d ≥ 0; shifted down, noise would leave [0, ∞)
    sample=lambda rng, size, scale: rng.exponential(scale, size),
    density=_EXPONENTIAL,
    quantile=lambda q: np.asarray(-_log1p(-q)),
)
GUMBEL = NoiseLaw(
    "gumbel",
    "Gumbel",
    "pure",
    Support.LINE,
    UP,  # ln f(x)/f(x + d) = d/s − e^(−x/s)·(1 − e^(−d/s)) ≤ d/s for d ≥ 0, and without a bound for d < 0
    sample=lambda rng, size, scale: rng.gumbel(0.0, scale, size),
    quantile=lambda q: np.asarray(-_log(-_log(q))),
)
LOGISTIC = NoiseLaw("logistic", "logistic", "pure", Support.LINE, quantile=lambda q: np.asarray(_log(q) - _log1p(-q)))
UNIFORM = NoiseLaw(
    "uniform",
    "uniform",
    "locked",
    Support.INTERVAL,
    NEVER,
    sample=lambda rng, size, low, high: low + (high - low) * rng.random(size),
    location_and_scale=lambda low, high: (low, high - low),
    density=_UNIFORM,
    quantile=lambda q: q,
)
DISCRETE_LAPLACE = NoiseLaw("discrete_laplace", "discrete Laplace", "pure", Support.INTEGERS, sample=_discrete_laplace)
DISCRETE_GAUSSIAN = NoiseLaw(
    "discrete_gaussian", "discrete Gaussian", "gaussian", Support.INTEGERS, sample=_discrete_gaussian
)
GEOMETRIC = NoiseLaw("geometric", "geometric", "pure", Support.COUNTS, UP)
# what it costs to shift it is a δ, not an ε
TRUNCATED_LAPLACE = NoiseLaw(
    "truncated_laplace", "truncated Laplace", "unknown", Support.INTERVAL, sample=_truncated_laplace
)
BERNOULLI = NoiseLaw(
    "bernoulli",
    "Bernoulli",
    "unknown",
    Support.FINITE,
    sample=lambda rng, size, probability: rng.random(size) < probability,
    outcomes=lambda probability: {True: probability, False: 1 - probability},
)
UNKNOWN = NoiseLaw("", "unknown", "unknown", Support.LINE)

LAWS = {
    law.name: law
    for law in (
        LAPLACE, GAUSSIAN, EXPONENTIAL, GUMBEL, LOGISTIC, UNIFORM, DISCRETE_LAPLACE, DISCRETE_GAUSSIAN, GEOMETRIC,
        TRUNCATED_LAPLACE, BERNOULLI,
    )
}  # fmt: skip
"""Every kind of noise, by its name."""
BY_TITLE = {law.title: law for law in (*LAWS.values(), UNKNOWN) if law.outcomes is None}
"""The law of a draw that a trace records, by its title."""
