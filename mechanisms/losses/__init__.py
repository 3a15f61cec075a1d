"""How much does a mechanism really lose on one pair, where the laws of both sides are known?

`laws` knows releases whose outputs, or whose noise, can be written down one by one; `thresholds` those whose
answers share one noisy threshold; `outputs` the laws themselves, of single numbers.
"""

from .laws import (
    Law,
    laplace_argmax_law,
    largest_satisfying,
    of_constants,
    of_gaussian,
    of_laplace,
    of_laws,
    permutation_law,
    softmax,
)
from .outputs import Below, below_chosen, below_discrete_laplace, below_gaussian, below_laplace
from .thresholds import Floats, Ways, log_below, log_density, log_far_density, of_threshold, threshold_laws

__all__ = [
    "Below",
    "Floats",
    "Law",
    "Ways",
    "below_chosen",
    "below_discrete_laplace",
    "below_gaussian",
    "below_laplace",
    "laplace_argmax_law",
    "largest_satisfying",
    "log_below",
    "log_density",
    "log_far_density",
    "of_constants",
    "of_gaussian",
    "of_laplace",
    "of_laws",
    "of_threshold",
    "permutation_law",
    "softmax",
    "threshold_laws",
]
