"""Which mechanisms can an auditor be tried on? The reference catalogue: correct ones, and published mistakes.

Each is a decorated function that reads like a page of a textbook: algorithm, claim with source, worst pair,
and what it really loses there, computed in code. One file per family; `broken` holds what does not keep its
claim.
"""

from .additive import discrete_gaussian, gaussian, gaussian_classic, geometric, laplace, snapping
from .broken.contributions import suggestions_per_record
from .broken.no_privacy import count_with_minimum_set_size, exact_count, k_anonymous_release
from .contributions import suggestions
from .local import generalised_randomised_response, randomised_response, rappor, two_coins, unary_encoding
from .queries import bounded_mean, bounded_sum, count, histogram, noisy_average
from .selection import exponential, permute_and_flip, report_noisy_max

__all__ = [
    "bounded_mean",
    "bounded_sum",
    "count",
    "count_with_minimum_set_size",
    "discrete_gaussian",
    "exact_count",
    "exponential",
    "gaussian",
    "gaussian_classic",
    "generalised_randomised_response",
    "geometric",
    "histogram",
    "k_anonymous_release",
    "laplace",
    "noisy_average",
    "permute_and_flip",
    "randomised_response",
    "rappor",
    "report_noisy_max",
    "snapping",
    "suggestions",
    "suggestions_per_record",
    "two_coins",
    "unary_encoding",
]
