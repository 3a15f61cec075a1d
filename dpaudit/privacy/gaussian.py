"""What does μ-Gaussian DP promise? Two neighbours are no easier to tell apart than two normal distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpaudit.privacy.claims import Claim, Words, check_group, probabilities, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

GAUSSIAN = Words(
    kind="gaussian",
    source="Dong, Roth & Su (2022). Gaussian differential privacy. J. of the Royal Statistical Society B 84(1).",
    meaning=(
        "Telling two neighbouring datasets apart from one output is at least as hard as telling one draw of a normal "
        "distribution with mean 0 from one with mean {value}, both with variance 1."
    ),
    claimed=(
        "That telling whether one record is in the data is at least as hard as telling which of two bell curves a "
        "number was drawn from, when their centres lie {value} standard deviations apart."
    ),
    proved=(
        "Whoever sees an output can guess what it says about them no better than the curve of the claim allows. This "
        "is about the mechanism as mathematics."
    ),
    not_violated=(
        "An attacker who tried these ways of telling from an output whether their record was used stayed within the "
        "curve of the claim. Another attacker may not."
    ),
    violated=(
        "Whoever sees an output can guess what it says about them better than was promised: with fewer mistakes than "
        "the curve of the claim allows."
    ),
)


@dataclass(frozen=True, slots=True)
class GaussianDP(Claim):
    """μ-Gaussian DP: no easier to break than N(0, 1) against N(μ, 1) (Dong, Roth & Su 2022, Definition 2.6)."""

    mu: float
    parameter: ClassVar[str] = "mu"
    symbol: ClassVar[str] = "μ"
    notion: ClassVar[str] = "Gaussian differential privacy"
    example: ClassVar[str] = "mu=1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", require("mu", self.mu, 0.0, math.inf))

    @property
    def words(self) -> Words:
        """How it is described to readers."""
        return GAUSSIAN

    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """Φ(Φ⁻¹(1 − α) − μ) (Dong, Roth & Su 2022, equation 6)."""
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(-ndtri(np.asarray(fpr, dtype=np.float64)) - self.mu))

    def profile(self, epsilon: ArrayLike) -> Floats:
        """Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Dong, Roth & Su 2022, Corollary 2.13; Balle & Wang 2018, Theorem 8)."""
        from scipy.special import log_ndtr

        at = np.asarray(epsilon, dtype=np.float64)
        if self.mu == 0:
            return np.zeros_like(at)
        with np.errstate(over="ignore", invalid="ignore"):
            log_p = log_ndtr(self.mu / 2 - at / self.mu)
            log_q = at + log_ndtr(-self.mu / 2 - at / self.mu)
            found = np.exp(log_p) * -np.expm1(np.minimum(0.0, log_q - log_p))
        return np.asarray(np.where(np.isneginf(log_p), 0.0, found))

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """Φ⁻¹(p) − Φ⁻¹(q)."""
        from scipy.special import ndtri

        p, q = probabilities(p, q)
        with np.errstate(invalid="ignore"):
            return np.where(p > q, ndtri(p) - ndtri(q), 0.0)

    def group(self, size: int) -> GaussianDP:
        """kμ for groups of k (Dong, Roth & Su 2022, Theorem 2.14)."""
        return GaussianDP(check_group(size) * self.mu)
