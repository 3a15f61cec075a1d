"""Which mechanisms can an auditor be tried on? The reference catalogue: correct ones, and published mistakes.

Each is a decorated function that reads like a page of a textbook: algorithm, claim with source, worst pair,
and what it really loses there, computed in code. One file per family; `broken` holds what does not keep its
claim.
"""

from .additive import discrete_gaussian, gaussian, gaussian_classic, geometric, laplace, snapping
from .broken.calibration import classic_gaussian_large_epsilon, half_sensitivity, public_n_mean
from .broken.clipping import clip_then_forget, data_bounds_mean, int_overflow_sum
from .broken.contributions import suggestions_per_record
from .broken.histograms import noisy_histogram_inverted_scale
from .broken.keys import keys_leak, threshold_too_low
from .broken.learning import microbatch_sgd, no_clipping_sgd, shuffle_not_poisson
from .broken.no_privacy import count_with_minimum_set_size, exact_count, k_anonymous_release
from .broken.randomness import float_laplace, seeded
from .broken.selection import noisy_max_value
from .broken.sparse_vector import (
    adaptive_svt_releasing_values,
    svt_noiseless_answers,
    svt_releasing_values,
    svt_unlimited,
    svt_unscaled_noise,
)
from .broken.sums import partial_sum_half_noise, smart_sum_exact_blocks
from .combinators import laplace_group, mixture_of_noises, partition_counts, rounded_laplace, two_counts
from .contributions import suggestions
from .events import EVENTS as EVENTS
from .histograms import noisy_histogram
from .local import generalised_randomised_response, randomised_response, rappor, two_coins, unary_encoding
from .queries import bounded_mean, bounded_sum, count, histogram, noisy_average
from .selection import exponential, permute_and_flip, report_noisy_max
from .sparse_vector import above_threshold, adaptive_svt, gap_svt, monotone_svt, numeric_svt, redrawn_svt
from .sums import partial_sum, prefix_sum, smart_sum

__all__ = [
    "above_threshold",
    "adaptive_svt",
    "adaptive_svt_releasing_values",
    "bounded_mean",
    "bounded_sum",
    "classic_gaussian_large_epsilon",
    "clip_then_forget",
    "count",
    "count_with_minimum_set_size",
    "data_bounds_mean",
    "discrete_gaussian",
    "exact_count",
    "exponential",
    "float_laplace",
    "gap_svt",
    "gaussian",
    "gaussian_classic",
    "generalised_randomised_response",
    "geometric",
    "half_sensitivity",
    "histogram",
    "int_overflow_sum",
    "k_anonymous_release",
    "keys_leak",
    "laplace",
    "laplace_group",
    "microbatch_sgd",
    "mixture_of_noises",
    "monotone_svt",
    "no_clipping_sgd",
    "noisy_average",
    "noisy_histogram",
    "noisy_histogram_inverted_scale",
    "noisy_max_value",
    "numeric_svt",
    "partial_sum",
    "partial_sum_half_noise",
    "partition_counts",
    "permute_and_flip",
    "prefix_sum",
    "public_n_mean",
    "randomised_response",
    "rappor",
    "redrawn_svt",
    "report_noisy_max",
    "rounded_laplace",
    "seeded",
    "shuffle_not_poisson",
    "smart_sum",
    "smart_sum_exact_blocks",
    "snapping",
    "suggestions",
    "suggestions_per_record",
    "svt_noiseless_answers",
    "svt_releasing_values",
    "svt_unlimited",
    "svt_unscaled_noise",
    "threshold_too_low",
    "two_coins",
    "two_counts",
    "unary_encoding",
]
