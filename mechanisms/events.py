"""Which entries of the catalogue are releases that accounting knows exactly, and what are they there?

Each is a callable of the parameters that it names. An entry that is not here is accounted for by its claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dpaudit as dp

from .additive import classic_multiplier, gaussian_mu

EVENTS: dict[str, Callable[..., Any]] = {
    "laplace": lambda epsilon, sensitivity: dp.accounting.Laplace(sensitivity / epsilon, sensitivity=sensitivity),
    "gaussian": lambda epsilon, delta, sensitivity: dp.accounting.Gaussian(
        sensitivity / gaussian_mu(epsilon, delta), sensitivity=sensitivity
    ),
    "gaussian_classic": lambda epsilon, delta, sensitivity: dp.accounting.Gaussian(
        sensitivity * classic_multiplier(epsilon, delta), sensitivity=sensitivity
    ),
    "geometric": lambda epsilon, sensitivity: dp.accounting.DiscreteLaplace(
        sensitivity / epsilon, sensitivity=sensitivity
    ),
    "discrete_gaussian": lambda rho, sensitivity: dp.accounting.DiscreteGaussian(
        sensitivity / math.sqrt(2 * rho), sensitivity=sensitivity
    ),
    "randomised_response": lambda epsilon: dp.accounting.RandomisedResponse(epsilon),
    "exponential": lambda epsilon: dp.accounting.Exponential(epsilon),
    "count": lambda epsilon: dp.accounting.Laplace(1 / epsilon),
}
