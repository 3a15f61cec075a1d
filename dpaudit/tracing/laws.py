"""What is known of a kind of noise? What a shift of it costs, in which directions, its density, and its quantiles.

A noise value has no location: what a draw adds to it is the offset of its form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Floats

_log1p, _sign, _abs, _exp, _log, _ceil = np.log1p, np.sign, np.abs, np.exp, np.log, np.ceil


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """A kind of noise."""

    name: str  # as it stands in evidence
    # how a shift c of noise of scale s is priced: "pure", |c|/s at most, and c/s exactly where the noise is far out;
    # "gaussian", μ = |c|/s; "locked", no shift has a finite price; "unknown"
    cost: str
    # up, down: whether the noise may be shifted up, and down
    up: bool = True
    down: bool = True
    whole: bool = False  # whether it takes whole numbers alone, so that only whole shifts exist
    # of noise of scale 1, (n,) probabilities to (n,) values; None where it is not needed
    quantile: Callable[[Floats], Floats] | None = None


def _laplace(q: Floats) -> Floats:
    centred = q - 0.5
    return np.asarray(-_sign(centred) * _log1p(-2 * _abs(centred)))


def _gaussian(q: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(q))


LAPLACE = NoiseLaw("Laplace", "pure", quantile=_laplace)
GAUSSIAN = NoiseLaw("Gaussian", "gaussian", quantile=_gaussian)
# f(x)/f(x + c) = exp(c/s) for c ≥ 0; shifted down, noise would leave [0, ∞)
EXPONENTIAL = NoiseLaw("exponential", "pure", down=False, quantile=lambda q: np.asarray(-_log1p(-q)))
# ln f(x)/f(x + c) = c/s − e^(−x/s)·(1 − e^(−c/s)) ≤ c/s for c ≥ 0, and without a bound for c < 0
GUMBEL = NoiseLaw("Gumbel", "pure", down=False, quantile=lambda q: np.asarray(-_log(-_log(q))))
LOGISTIC = NoiseLaw("logistic", "pure", quantile=lambda q: np.asarray(_log(q) - _log1p(-q)))
UNIFORM = NoiseLaw("uniform", "locked", quantile=lambda q: q)
GEOMETRIC = NoiseLaw("geometric", "pure", down=False, whole=True)
DISCRETE_LAPLACE = NoiseLaw("discrete Laplace", "pure", whole=True)
DISCRETE_GAUSSIAN = NoiseLaw("discrete Gaussian", "gaussian", whole=True)
TRUNCATED_LAPLACE = NoiseLaw("truncated Laplace", "unknown")  # what it costs to shift it is a δ, not an ε
UNKNOWN = NoiseLaw("unknown", "unknown")

LAWS = {
    law.name: law
    for law in (
        LAPLACE, GAUSSIAN, EXPONENTIAL, GUMBEL, LOGISTIC, UNIFORM, GEOMETRIC, DISCRETE_LAPLACE, DISCRETE_GAUSSIAN,
        TRUNCATED_LAPLACE, UNKNOWN,
    )
}  # fmt: skip

OF_KIND = {
    "laplace": LAPLACE,
    "gaussian": GAUSSIAN,
    "exponential": EXPONENTIAL,
    "gumbel": GUMBEL,
    "logistic": LOGISTIC,
    "uniform": UNIFORM,
    "geometric": GEOMETRIC,
    "discrete_laplace": DISCRETE_LAPLACE,
    "discrete_gaussian": DISCRETE_GAUSSIAN,
    "truncated_laplace": TRUNCATED_LAPLACE,
}
"""The law of each kind of noise, as `dpaudit.program.noise` and `dpaudit.reading.draws` name it."""


def extreme(law: NoiseLaw, scale: Floats, q: Floats) -> Floats | None:
    """Return noise of this law at these quantiles, whole where it must be; None where that is not known."""
    if law.whole:
        tail = _ceil(-_log1p(-q)) if law is GEOMETRIC else np.rint(_laplace(q))
        return np.asarray(np.maximum(np.ceil(tail * scale), 1.0) if law is GEOMETRIC else np.rint(tail * scale))
    return None if law.quantile is None else np.asarray(scale * law.quantile(q))


def geometric_scale(probability: Any) -> Any:
    """Return the scale of geometric noise: P(x + 1)/P(x) = exp(−1/scale)."""
    with np.errstate(all="ignore"):
        return -1.0 / _log1p(-np.asarray(probability, dtype=np.float64))


def recognised(sample: Floats) -> tuple[NoiseLaw, float]:
    """Return the law that a large sample of derived noise seems to follow, with its scale; `UNKNOWN` where none fits.

    The scale is an estimate, some per cent off: what rests on it is never certain.
    """
    sample = sample[np.isfinite(sample)]
    if len(sample) < 1000 or np.ptp(sample) == 0:
        return UNKNOWN, math.nan
    if np.all(sample == np.rint(sample)):
        return _recognised_whole(sample)
    levels = np.linspace(0.05, 0.95, 37)
    seen, middle = np.quantile(sample, levels), float(np.median(sample))
    best, least = (UNKNOWN, math.nan), 0.05
    for law, scale in (
        (LAPLACE, float(np.mean(np.abs(sample - middle)))),
        (GAUSSIAN, float(np.std(sample))),
        (GUMBEL, float(np.std(sample)) * math.sqrt(6) / math.pi),
        (EXPONENTIAL, float(np.mean(sample) - np.min(sample))),
    ):
        assert law.quantile is not None
        unlike = seen - scale * law.quantile(levels)
        far = float(np.max(np.abs(unlike - np.median(unlike)))) / scale
        if far < least:
            best, least = (law, scale), far
    return best


def _recognised_whole(sample: Floats) -> tuple[NoiseLaw, float]:
    """Return geometric noise, or the difference of two, where a sample of whole numbers follows it: P ∝ q^k, q^|k|."""
    above = sample - np.min(sample)
    q = float(np.mean(above) / (1 + np.mean(above)))
    steps = np.arange(40)
    if 0 < q < 1 and _near(above, steps, 1 - q ** (steps + 1.0)):
        return GEOMETRIC, -1 / math.log(q)
    centred = sample - np.median(sample)
    size = float(np.mean(np.abs(centred)))  # 2q/(1 − q²)
    q = (math.sqrt(1 + size**2) - 1) / size if size else 0.0
    steps = np.arange(-20, 21)
    below = np.where(steps < 0, q ** -np.minimum(steps, 0.0), 1 + q - q ** (np.maximum(steps, 0) + 1.0)) / (1 + q)
    if 0 < q < 1 and _near(centred, steps, below):
        return DISCRETE_LAPLACE, -1 / math.log(q)
    return UNKNOWN, math.nan


def _near(sample: Floats, steps: Any, cumulated: Any) -> bool:
    seen = np.searchsorted(np.sort(sample), steps, side="right") / len(sample)
    return bool(np.max(np.abs(seen - cumulated)) < 0.02)
