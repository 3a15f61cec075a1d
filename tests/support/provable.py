"""Which programs test proofs? Some that are not in the catalogue, and a table of published ones with exact bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

# mechanism, parameters, length or None for any, exact bound at 5 answers, at 8; "oo" is no finite bound
TABLE: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("report_noisy_max", {}, 1, 1),
    ("report_noisy_max", {"noise_kind": "exponential"}, 1, 1),
    ("report_noisy_max", {"noise_kind": "gumbel"}, 1, 1),
    ("noisy_max_value", {}, Fraction(5, 2), 4),
    ("noisy_max_value", {"noise_kind": "exponential"}, "oo", "oo"),
    ("above_threshold", {"cutoff": 1}, 1, 1),
    ("above_threshold", {"cutoff": 2}, Fraction(5, 8), 1),
    ("monotone_svt", {"cutoff": 1}, 1, 1),
    ("monotone_svt", {"cutoff": 2}, Fraction(3, 4), 1),
    ("gap_svt", {"cutoff": 1}, 1, 1),
    ("gap_svt", {"cutoff": 2}, Fraction(5, 8), 1),
    ("numeric_svt", {"cutoff": 1}, 1, 1),
    ("numeric_svt", {"cutoff": 2}, Fraction(3, 4), 1),
    ("adaptive_svt", {"cutoff": 1}, 1, 1),
    ("adaptive_svt", {"cutoff": 2}, Fraction(13, 16), 1),
    ("redrawn_svt", {"cutoff": 1}, 1, 1),
    ("svt_noiseless_answers", {}, "oo", "oo"),
    ("svt_unlimited", {}, Fraction(5, 2), 4),
    ("svt_unscaled_noise", {"cutoff": 1}, Fraction(7, 4), Fraction(7, 4)),
    ("svt_unscaled_noise", {"cutoff": 2}, Fraction(13, 4), Fraction(13, 4)),
    ("svt_releasing_values", {"cutoff": 1, "scale": 4}, Fraction(5, 4), 2),
    ("svt_releasing_values", {"cutoff": 2, "scale": 4}, Fraction(5, 8), 1),
    ("adaptive_svt_releasing_values", {"cutoff": 1}, Fraction(13, 8), Fraction(11, 4)),
    ("partial_sum", {}, 1, 1),
    ("partial_sum_half_noise", {}, 2, 2),
    ("prefix_sum", {}, 1, 1),
    ("smart_sum", {}, 2, 2),
    ("smart_sum", {"block": 3}, 2, 2),
    ("smart_sum_exact_blocks", {}, "oo", "oo"),
    ("laplace", {}, 1, 1),
    ("noisy_histogram", {}, 1, 1),
]


def noisy_max(data, noise, *, epsilon=1):
    """Compare one value after another, so that every winner is reached on many paths."""
    best = winner = None
    for place, score in enumerate(data):
        value = score + noise.laplace(2 / epsilon)
        if winner is None or value > best:
            best, winner = value, place
    return winner


def ranking(data, noise, *, epsilon=1):
    """Sort three values, where two sides of the comparisons are dead ends."""
    values = [score + noise.laplace(2 / epsilon) for score in data]
    return sorted(range(len(values)), key=values.__getitem__)


def index_of_largest(data, noise, *, epsilon=1):
    """Compare noisy values for equality, with half-line noise."""
    values = [score + noise.exponential(2 / epsilon) for score in data]
    return values.index(max(values))


def coins(data, noise, *, epsilon=1):
    """Use draws that do not shift."""
    if noise.bernoulli(0.25):
        return data[0] + noise.laplace(1 / epsilon)
    return noise.choice(["a", "b", "c"], [1, 2, 0])


def geometric(data, noise, *, epsilon=1):
    """Add integer noise to every answer."""
    return [answer + noise.discrete_laplace(1 / epsilon) for answer in data]


def geometric_max(data, noise, *, epsilon=1):
    """Compare answers with integer noise."""
    return noise.argmax([answer + noise.discrete_laplace(2 / epsilon) for answer in data])


def outside(data, noise, *, epsilon=1):
    """Have two paths with the same output that do not form a convex region together."""
    value = data[0] + noise.laplace(1 / epsilon)
    if value < 0:
        return 1
    return 1 if value > 2 else 0
