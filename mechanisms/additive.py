"""How much noise must be added to an answer that moves by so much? Laplace, Gaussian, and their relatives.

``data`` is one true answer, or a list of them. Neighbouring answers move by at most ``sensitivity``, in the
norm that the mechanism needs: the sum of the moves (norm 1) or their Euclidean length (norm 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from dpaudit import ApproxDP, GaussianDP, PureDP, UsageError, ZeroConcentratedDP, mechanism
from dpaudit.program.noise import Noise

from .domain import clip, positive, probability, whole
from .losses import Below, below_discrete_laplace, below_gaussian, below_laplace, largest_satisfying, of_gaussian


def moving_by(sensitivity: float, norm: int) -> str:
    """Return the relation under which answers move by at most ``sensitivity`` in a norm.

    A relation counts moves in whole steps of 1, and the claims here are for all of them together. Another
    sensitivity leaves the relation to the user: the pair is declared.
    """
    positive("sensitivity", sensitivity)
    if sensitivity != math.floor(sensitivity):
        return "declared"
    return f"queries(norm={norm})" if sensitivity == 1 else f"queries(norm={norm}, group={int(sensitivity)})"


def each(data: Any, release: Callable[[Any], Any]) -> Any:
    """Release one answer, or each of a list."""
    return [release(answer) for answer in data] if hasattr(data, "__len__") else release(data)


def of_one(data: Any, law: Callable[[Any, float], Below], scale: float) -> Below | None:
    """Return the law of the release of one answer; None for a list of them."""
    return None if hasattr(data, "__len__") else law(data, scale)


@mechanism(
    claim=PureDP,
    relation=lambda sensitivity: moving_by(sensitivity, norm=1),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=lambda epsilon: epsilon,
    law=lambda data, epsilon, sensitivity: of_one(data, below_laplace, sensitivity / epsilon),
    unit="one move of the answers by the sensitivity",
    source="Dwork, McSherry, Nissim & Smith (2006), Proposition 1; Dwork & Roth (2014), Theorem 3.6",
    family="additive",
)
def laplace(data: Any, noise: Noise, *, epsilon: float = 1, sensitivity: float = 1) -> Any:
    """Add Laplace noise of scale sensitivity/epsilon to every answer.

    Its variance, the mean squared error of one answer, is 2·(sensitivity/epsilon)².

    The true loss is epsilon: the density ratio at x is exp((|x − Δ| − |x|)·ε/Δ), and every x ≤ 0 reaches e^ε.
    """
    scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return each(data, lambda answer: answer + noise.laplace(scale))


@lru_cache(maxsize=256)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest μ whose Gaussian noise, of standard deviation Δ/μ, is (epsilon, delta)-DP.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) grows with μ (Balle & Wang 2018, Theorem 8 and Algorithm 1).
    """
    at, most = float(positive("epsilon", epsilon)), float(probability("delta", delta))
    return largest_satisfying(lambda mu: float(GaussianDP(mu).profile(at)) <= most)


@mechanism(
    claim=lambda epsilon, delta: GaussianDP(gaussian_mu(epsilon, delta)),
    relation=lambda sensitivity: moving_by(sensitivity, norm=2),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=gaussian_mu,
    law=lambda data, epsilon, delta, sensitivity: of_one(
        data, below_gaussian, sensitivity / gaussian_mu(epsilon, delta)
    ),
    unit="one move of the answers by the sensitivity",
    source="Balle & Wang (2018), Theorem 8 and Algorithm 1; Dong, Roth & Su (2022), Theorem 2.7",
    family="additive",
)
def gaussian(data: Any, noise: Noise, *, epsilon: float = 1, delta: float = 1e-5, sensitivity: float = 1) -> Any:
    """Add Gaussian noise, of the least standard deviation that is (epsilon, delta)-DP, to every answer.

    The analytic calibration holds for every epsilon > 0. What the noise satisfies is more than one pair
    (epsilon, delta): it is μ-GDP with μ = sensitivity/σ, and that is the claim. A claim of "epsilon=1,
    delta=1e-5" in its place is true as well, and tight.

    The true loss is that μ: the answers lie μ standard deviations apart, and telling two such normal laws
    apart is the very definition of μ-GDP.
    """
    sigma = positive("sensitivity", sensitivity) / gaussian_mu(epsilon, delta)
    return each(data, lambda answer: answer + noise.gaussian(sigma))


def classic_multiplier(epsilon: float, delta: float) -> float:
    """Return σ/Δ = √(2 ln(1.25/δ))/ε, refusing the ε for which the theorem says nothing."""
    if positive("epsilon", epsilon) >= 1:
        raise UsageError(
            f"gaussian_classic needs epsilon < 1, not {epsilon!r}: Theorem A.1 is proved only there, and at "
            "large epsilon the formula adds too little noise; use gaussian, which holds for every epsilon"
        )
    return math.sqrt(2 * math.log(1.25 / probability("delta", delta))) / epsilon


@mechanism(
    claim=ApproxDP,
    relation=lambda sensitivity: moving_by(sensitivity, norm=2),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=lambda epsilon, delta: of_gaussian(1 / classic_multiplier(epsilon, delta), delta),
    law=lambda data, epsilon, delta, sensitivity: of_one(
        data, below_gaussian, sensitivity * classic_multiplier(epsilon, delta)
    ),
    unit="one move of the answers by the sensitivity",
    source="Dwork & Roth (2014), Theorem A.1",
    family="additive",
)
def gaussian_classic(
    data: Any, noise: Noise, *, epsilon: float = 0.5, delta: float = 1e-5, sensitivity: float = 1
) -> Any:
    """Add Gaussian noise of standard deviation sensitivity·√(2 ln(1.25/delta))/epsilon, for epsilon < 1.

    Refuses epsilon ≥ 1, where the formula is unproved: at epsilon = 20, delta = 1e-5 its real δ is 1.5e-3.

    The true loss is the ε at which this noise has δ(ε) = delta exactly. It is well below epsilon, because
    the proof bounds the tails of the normal law generously.
    """
    sigma = positive("sensitivity", sensitivity) * classic_multiplier(epsilon, delta)
    return each(data, lambda answer: answer + noise.gaussian(sigma))


def whole_answer(answer: Any) -> Any:
    """Return an answer that is a whole number; a fraction would show through integer noise."""
    if not isinstance(answer, float):
        return answer
    if not answer.is_integer():
        raise UsageError(f"integer noise needs whole answers, not {answer!r}; round first, or use laplace or gaussian")
    return int(answer)


@mechanism(
    claim=PureDP,
    relation=lambda sensitivity: moving_by(sensitivity, norm=1),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=lambda epsilon: epsilon,
    law=lambda data, epsilon, sensitivity: of_one(data, below_discrete_laplace, sensitivity / epsilon),
    unit="one move of the answers by the sensitivity",
    source="Ghosh, Roughgarden & Sundararajan (2009), the two-sided geometric mechanism",
    family="additive",
)
def geometric(data: Any, noise: Noise, *, epsilon: float = 1, sensitivity: int = 1) -> Any:
    """Add two-sided geometric noise, P(x) ∝ exp(−|x|·epsilon/sensitivity), to every whole-numbered answer.

    This is the discrete Laplace distribution, and the answer stays a whole number.

    The true loss is epsilon, reached by every output outside the two answers.
    """
    scale = whole("sensitivity", sensitivity, least=1) / positive("epsilon", epsilon)
    return each(data, lambda answer: whole_answer(answer) + noise.discrete_laplace(scale))


@mechanism(
    claim=ZeroConcentratedDP,
    relation=lambda sensitivity: moving_by(sensitivity, norm=2),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=lambda rho: rho,
    unit="one move of the answers by the sensitivity",
    source="Canonne, Kamath & Steinke (2020), Theorem 4",
    family="additive",
)
def discrete_gaussian(data: Any, noise: Noise, *, rho: float = 0.5, sensitivity: int = 1) -> Any:
    """Add discrete Gaussian noise, P(x) ∝ exp(−x²/(2σ²)) with σ² = sensitivity²/(2·rho), to whole answers.

    The default rho = ½ is what Gaussian noise of standard deviation 1 satisfies at sensitivity 1.

    The true loss is rho: at a whole order α, ∑ P(x)^α·Q(x)^(1−α) for laws at 0 and Δ is the sum of a third
    such law, at the whole number (1 − α)Δ, so that D_α = αΔ²/(2σ²) = ρα with equality.
    """
    sigma = whole("sensitivity", sensitivity, least=1) / math.sqrt(2 * positive("rho", rho))
    return each(data, lambda answer: whole_answer(answer) + noise.discrete_gaussian(sigma))


def snapping_grid(scale: float) -> float:
    """Return Λ, the smallest power of two that is not below ``scale``."""
    fraction, exponent = math.frexp(scale)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)


def log_tail(distance: float) -> float:
    """Return ln P(X > distance) for Laplace noise X of scale 1."""
    return math.log(0.5) - distance if distance > 0 else math.log1p(-math.exp(distance) / 2)


def snapping_loss(epsilon: float, sensitivity: float, bound: float) -> float:
    """Return the larger |ln(p/q)| of the lowest and the highest output, for answers 0 and ``sensitivity``.

    The likelihood ratio of Laplace laws is monotone, and stays so when outputs are merged into cells: the
    extreme outputs are the worst. Each is everything beyond the inner edge of its cell.
    """
    scale = sensitivity / epsilon
    grid = snapping_grid(scale)
    answers = [clip(answer, -bound, bound) for answer in (0, sensitivity)]
    edge = (math.ceil(bound / grid) - 0.5) * grid
    low = [log_tail((edge + answer) / scale) for answer in answers]
    high = [log_tail((edge - answer) / scale) for answer in answers]
    return max(abs(low[0] - low[1]), abs(high[0] - high[1]))


@mechanism(
    claim=PureDP,
    relation=lambda sensitivity: moving_by(sensitivity, norm=1),
    pairs=lambda sensitivity: [(0, sensitivity)],
    true_loss=snapping_loss,
    unit="one move of the answers by the sensitivity",
    source="Mironov (2012), the snapping mechanism and Theorem 1",
    family="additive",
)
def snapping(data: Any, noise: Noise, *, epsilon: float = 1, sensitivity: float = 1, bound: float = 1000) -> Any:
    """Clamp the answer, add Laplace noise, round to a multiple of a power of two, and clamp again.

    With λ = sensitivity/epsilon and Λ the smallest power of two ≥ λ: clamp(round_Λ(clamp(answer) +
    Laplace(λ))), all clamping to [−bound, bound]. Rounding to Λ is what removes the low-order bits in which
    textbook noise in double precision gives itself away; a sign times −λ·ln(uniform) is Laplace noise.

    The claim is that of exact arithmetic: clamping moves no two answers apart, Laplace noise is ε-DP, and the
    rest is post-processing. For doubles, Theorem 1 adds at most 2^−49·bound/λ (for λ < bound < 2^46·λ).

    The true loss is epsilon as long as some output lies beyond both answers, which takes a bound of a few Λ.
    """
    scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    grid, limit = snapping_grid(scale), float(positive("bound", bound))

    def release(answer: Any) -> Any:
        noisy = clip(answer, -limit, limit) + noise.laplace(scale)
        return clip(round(noisy / grid) * grid, -limit, limit)

    return each(data, release)
