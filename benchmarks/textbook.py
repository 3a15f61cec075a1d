"""How many mechanisms of textbooks get a finite upper bound, by which kind of proof, at which bound, how fast?

    python benchmarks/textbook.py [--only svt]        writes benchmarks/results/textbook.md

42 mechanisms of Dwork & Roth (2014), of Lyu, Su & Li (2017), of Wang, Ding, Kifer & Zhang (2020) and of the practice
since, each as people write it. The bound expected is that of the literature, or none where no proof of dpaudit knows
the mechanism: then the reason stands in its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from frame import Page, options, timed
from support import releases as records

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.program.fold import Emit, Fold

NEAR = 1e-3  # of a bound that is no fraction
_AR, _R, _P = "add-remove", "replace", "add-remove(person=person)"
_LOG3 = math.log(3)
_FLIPPED = math.log(2 * math.exp(0.5) - 1)
_TWO = [[0, 0], [0, 1], [1, 0], [1, 1]]


@dataclass(frozen=True)
class Row:
    """A mechanism: its name in books, what is proved, how, and the bound that is known of it (None: no proof)."""

    title: str
    target: Any
    bound: float | None
    options: dict[str, Any] = field(default_factory=dict)


def largest_by_comparison(data, noise, *, epsilon=1):
    """Keep the best of the noisy scores so far."""
    best = winner = None
    for place, score in enumerate(data):
        value = score + noise.laplace(2 / epsilon)
        if winner is None or value > best:
            best, winner = value, place
    return winner


def largest_answer(data, noise, *, epsilon=1):
    """The largest answer, with noise."""
    return max(data) + noise.laplace(1 / epsilon)


def middle(data, noise, *, epsilon=1):
    """The median of three answers, with noise."""
    return sorted(data)[len(data) // 2] + noise.laplace(1 / epsilon)


def first_block(noise, *, epsilon=1):
    """No answers yet: their exact sum, and the noisy one of all blocks."""
    return (0, 0.0)


def two_levels(state, answer, noise, *, epsilon=1):
    """Running sums in blocks of two, for any number of answers."""
    place, exact = state
    exact = exact + answer
    if place:
        return Emit(exact + noise.laplace(1 / epsilon), (0, 0.0))
    return Emit(exact + noise.laplace(1 / epsilon), (1, exact))


COUNTER = Fold(two_levels, init=first_block, finish=None)


def shuffled(data, noise):
    """Bits that are turned over, and counted."""
    return sum(bit if noise.bernoulli(0.75) else 1 - bit for bit in data)


def geometric(data, noise, *, epsilon=1):
    """Whole-number noise for whole-number answers."""
    return [answer + noise.discrete_laplace(1 / epsilon) for answer in data]


def laplace_vector(data, noise, *, epsilon=1):
    """Noise for each of 30 answers."""
    return [answer + noise.laplace(len(data) / epsilon) for answer in data]


def gaussian_threshold(data, noise, *, epsilon=1):
    """The sparse vector with Gaussian noise (Zhu & Wang 2020)."""
    level = noise.gaussian(2)
    return [answer + noise.gaussian(4) >= level for answer in data]


def frame(title, function, bound, relation=_AR, claim="epsilon=1"):
    return Row(title, function, bound, {"relation": relation, "claim": claim, "domain": records.DOMAIN})


def known(title, name, bound, **options):
    return Row(title, name, bound, options)


TABLE = [
    Row("Laplace mechanism, a vector of 30", laplace_vector, 1, {"relation": "queries", "length": 30}),
    Row("geometric mechanism", geometric, 1, {"relation": "queries(norm=1)", "length": 30, "domain": "integer"}),
    known("Laplace histogram, 30 cells", "noisy_histogram", 1, length=30),
    known("sum of 30 answers", "partial_sum", 1, length=30),
    known("running sums of noisy answers, any number", "prefix_sum", 1),
    known("two-level counter, 30 answers", "smart_sum", 2, length=30),
    known("report noisy max, Laplace, 20 scores", "report_noisy_max", 1, length=20),
    known("report noisy max, Gumbel", "report_noisy_max", 1, length=8, parameters={"noise_kind": "gumbel"}),
    Row("noisy max by comparisons", largest_by_comparison, 1, {"relation": "queries", "length": 6}),
    known("AboveThreshold, any number", "above_threshold", 1),
    known("NumericSparse, any number", "numeric_svt", 1),
    known("sparse vector with gaps, any number", "gap_svt", 1),
    known("adaptive sparse vector, any number", "adaptive_svt", 1),
    known("monotone sparse vector, any number", "monotone_svt", 1),
    known("permute and flip, 2 scores", "permute_and_flip", _FLIPPED, domain=_TWO, relation="queries"),
    known("randomised response", "randomised_response", 1, domain=[0, 1]),
    known("two coins", "two_coins", _LOG3, domain=[0, 1]),
    known("generalised randomised response", "generalised_randomised_response", 1, domain=list(range(4))),
    known("unary encoding", "unary_encoding", 1, domain=list(range(3))),
    Row("shuffled randomised response, 2 records", shuffled, _LOG3, {"relation": _R, "domain": _TWO}),
    frame("noisy count", records.count, 1),
    frame("clipped sum", records.clipped_sum, 1),
    frame("average of a noisy sum and count", records.mean, 1),
    frame("histogram under replacement", records.histogram, 2, _R, "epsilon=2"),
    frame("contingency table", records.cross_table, 1),
    frame("median, exponential mechanism", records.median, 1),
    frame("top 3, peeling", records.top_three, 1),
    frame("adaptive clipping", records.adaptive_clip, 1),
    frame("bounded contributions of persons", records.per_person, 1, _P),
    frame("subsampled Laplace", records.sampled, 0.49403, claim="epsilon=0.49403"),
    frame("binary tree counter", records.tree_counter, 1),
    frame("matrix mechanism", records.matrix, 1),
    frame("multiplicative weights (MWEM)", records.mult_weights, 1),
    frame("Gaussian histogram", records.gaussian_histogram, 0.25, _R, "rho=0.25"),
    frame("noisy gradient descent", records.sgd, 0.5, claim="rho=0.5"),
    frame("subsampled Gaussian, DP-SGD", records.sampled_sgd, 1.8283, claim="epsilon=1.8283, delta=1e-5"),
    frame("PATE", records.pate, 0.625, _R, "rho=0.625"),
    frame("partitions above a threshold", records.partitions, 1, claim="epsilon=1, delta=2.81e-9"),
    Row("largest answer with noise", largest_answer, 1, {"relation": "queries", "length": 3}),
    Row("median of three answers with noise", middle, 1, {"relation": "queries", "length": 3}),
    Row("two-level counter, any number", COUNTER, 2, {"relation": "queries(one)"}),
    Row("sparse vector with Gaussian noise", gaussian_threshold, None, {"relation": "queries", "length": 3}),
]


def proved(row: Row) -> tuple[float | None, str, str]:
    """Return the bound that is found, by which kind of proof, and why there is none."""
    try:
        evidence = dp.prove(row.target, runs=0, seed=0, **row.options)
    except UsageError as error:
        return None, "–", str(error)
    if evidence.upper is None:
        return None, evidence.proof.method, "no shift keeps its branches at a finite cost"
    return evidence.upper.value, evidence.proof.method, ""


def measured(row: Row) -> tuple[bool, bool, float, list[str]]:
    """Return whether a bound was found, whether the result is as expected, the seconds, and the cells."""
    (found, method, why), taken = timed(lambda: proved(row))
    shown = "–" if found is None else f"{Fraction(str(found))}" if len(str(found)) < 8 else f"{found:.6g}"
    expected = "none" if row.bound is None else f"{row.bound:.6g}"
    right = (found is None) == (row.bound is None) and abs((found or 0) - (row.bound or 0)) <= NEAR
    cells = [row.title, method, expected, shown if right else f"**{shown}**", f"{taken:.1f}", why]
    return found is not None, right, taken, cells


def main() -> None:
    """Print the table and write it down."""
    only = options(__doc__, only="").only
    page = Page("textbook.md", "Mechanisms of textbooks", "textbook.py", write=not only)
    found = [measured(row) for row in TABLE if only in row.title]
    page.say(
        f"{sum(each[0] for each in found)} of {len(found)} mechanisms of textbooks get a finite bound, "
        f"{sum(each[1] for each in found)} the one that is expected. {sum(each[2] for each in found):.0f} CPU s, with "
        "the search for counterexamples. Some are written for this table, others are those of the catalogue and of "
        "`releases.py`.",
        "",
    )
    page.table(("mechanism", "proof", "expected", "at most", "CPU s", "why not"), (each[3] for each in found))
    page.save()


if __name__ == "__main__":
    main()
