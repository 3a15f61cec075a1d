"""What does the page of each kind of finding look like? Eight audits and proofs, one of each kind.

The two faulty releases here, and the model that forgets to clip, are made up so that each verdict has its page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dpaudit as dp
from mechanisms.additive import gaussian_mu

HERE, SEED = Path(__file__).resolve().parent, 0


@dataclass(frozen=True, slots=True)
class Example:
    """A kind of finding: the name of its page, what that shows, and how its evidence is made.

    ``make`` is a function, or the entry of the catalogue whose evidence it is.
    """

    name: str
    shows: str
    make: Callable[[], dp.Evidence] | str

    @property
    def file(self) -> Path:
        """The file of its evidence."""
        return HERE / f"evidence/{self.make}.json" if isinstance(self.make, str) else HERE / f"pages/{self.name}.json"


# --- a release whose runs cannot be trusted ---------------------------------------------------------------

_calls = itertools.count()


@dp.mechanism(claim="epsilon=1", relation="add-remove", pairs=[([1, 1, 1], [1, 1])], unit="one record")
def tiring_count(data: Any, rng: np.random.Generator) -> float:
    """Count the records with noise that grows from call to call, to save a budget."""
    return float(len(data) + rng.laplace(scale=1 + next(_calls) / 10_000))


# --- a release that is asked too seldom -------------------------------------------------------------------


@dp.mechanism(claim="epsilon=1", relation="add-remove", pairs=[([1, 1, 1], [1, 1])], unit="one record")
def slow_count(data: Any, rng: np.random.Generator) -> float:
    """Count the records, by a system that takes a second for each answer."""
    return float(len(data) + rng.laplace(scale=1.0))


# --- a model, and how well it knows its canaries ----------------------------------------------------------

CANARIES, TIMES, STEPS = 2_000, 10.0, 10


def canary_scores() -> tuple[np.ndarray, np.ndarray]:
    """Train a logistic regression with noisy gradients, and return the margins of canaries in and out of its data.

    Each canary is a text with a word of its own, which stands in it ``TIMES`` times. The noise is that of
    (4, 1e-7)-DP for gradients of norm at most 1; but nobody clips them, and those of the canaries are longer.
    """
    sigma = np.sqrt(STEPS) / gaussian_mu(4, 1e-7)
    rng = np.random.default_rng(SEED)
    labels, taken = rng.choice([-1.0, 1.0], CANARIES), rng.random(CANARIES) < 0.5
    weights = np.zeros(CANARIES)  # one for each word
    for _ in range(STEPS):
        pull = labels * TIMES / (1 + np.exp(labels * TIMES * weights))
        weights += (np.where(taken, pull, 0.0) + sigma * rng.standard_normal(CANARIES)) / CANARIES
    margins = np.round(labels * TIMES * weights, 9)  # exponentials differ in their last bits between machines
    return margins[taken], margins[~taken]


def _scores() -> dp.Evidence:
    members, others = canary_scores()
    return dp.tools.audit_scores(
        members, others, claim="epsilon=4, delta=1e-7", design="one-run", seed=SEED, name=_MODEL
    )


_MODEL = "canaries of a regression"

EXAMPLES = (
    Example(
        "proved-sparse-vector",
        "a claim that is proved, for any number of answers",
        lambda: dp.prove("above_threshold", seed=SEED),
    ),
    Example(
        "refuted-sparse-vector",
        "a published mistake, refuted by an exact counterexample",
        lambda: dp.prove("svt_unscaled_noise", length=5, seed=SEED),
    ),
    Example(
        "gaussian-curve",
        "Gaussian noise with the whole of its privacy curve",
        lambda: dp.audit("gaussian", curve=True, seed=SEED),
    ),
    Example(
        "categories",
        "outputs that are categories",
        "exponential",
    ),
    Example(
        "vector",
        "outputs that are vectors",
        "noisy_histogram",
    ),
    Example(
        "model-scores",
        "one model, judged by how well it knows its canaries",
        _scores,
    ),
    Example(
        "invalid",
        "runs that cannot be trusted",
        lambda: dp.audit("reports/examples.py:tiring_count", runs=20_000, seed=SEED, reading="calls"),
    ),
    Example(
        "inconclusive",
        "too few runs to decide anything",
        lambda: dp.audit("reports/examples.py:slow_count", runs=100, seed=SEED, reading="calls"),
    ),
)
