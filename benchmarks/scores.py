"""How much do scores of an attack show, and how often are the bounds wrong?

Bounds: scores N(μ, 1) of members and N(0, 1) of others, at δ = 1e-5 and confidence 0.95; the truth is the ε of the
Gaussian mechanism. The bound at the seed of the goal is reported next to the median of 50 other seeds; the learning
share was tuned on yet other seeds. Unequal numbers: few of one side beside many of the other, on arrays of their own;
bounds hold given both numbers, so all of them count. Errors: how often bounds of whole audits, including selection,
exceed the truth, by an exact binomial test; one case treats scores of one model as independent, to show what that
costs.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

import dpaudit as dp
from dpaudit.auditing.scores.rates import gaussian_epsilon

DELTA = 1e-5
GOALS = {
    (1.0, 1_000): 0.98,
    (1.0, 10_000): 2.20,
    (1.0, 100_000): 2.60,
    (2.0, 1_000): 2.70,
    (2.0, 10_000): 4.40,
    (2.0, 100_000): 5.40,
}
UNEQUAL = {(500, 100_000): 5.82, (100_000, 500): 5.82, (500, 5_000): None, (500, 500): None}  # with μ = 2.5
OTHER_SEEDS = 50


def gaussian(mu: float, n: int, *seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of members and of others, drawn in the order used when the goals were set."""
    rng = np.random.default_rng([20260101, int(mu * 100), n, *seed])
    others = rng.normal(0, 1, n)
    return rng.normal(mu, 1, n), others


def bounds(mu: float, n: int, goal: float) -> str:
    truth = gaussian_epsilon(mu, DELTA)
    own = dp.audit_scores(*gaussian(mu, n), seed=0).lower.value
    clock = time.process_time()
    found = [dp.audit_scores(*gaussian(mu, n, 1 + seed), seed=0).lower.value for seed in range(OTHER_SEEDS)]
    seconds = (time.process_time() - clock) / OTHER_SEEDS
    above = sum(value > truth for value in found)
    return (
        f"| {mu:g} | {n:,} | {truth:.3f} | {goal:.2f} | {own:.3f} | {np.median(found):.3f} | {min(found):.3f} | "
        f"{above} of {OTHER_SEEDS} | {seconds:.2f} |"
    )


def unequal(members: int, others: int, goal: float | None) -> str:
    """Return a row about unequal numbers of scores, by scores and by outputs."""
    truth, found = gaussian_epsilon(2.5, DELTA), []
    for seed in range(OTHER_SEEDS):
        rng = np.random.default_rng([20261123, members, others, seed])
        scores = rng.normal(2.5, 1, members), rng.normal(0, 1, others)
        found.append(
            [audit(*scores, delta=DELTA, seed=seed).lower.value for audit in (dp.audit_scores, dp.audit_outputs)]
        )
    own, outputs = np.median(found, axis=0)
    above = int((np.array(found) > truth).sum())
    return (
        f"| {members:,} | {others:,} | {'–' if goal is None else goal} | {own:.3f} | {np.min(found):.3f} "
        f"| {outputs:.3f} | {above} of {2 * OTHER_SEEDS} |"
    )


# --- errors -----------------------------------------------------------------------------------------------

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def null(rng: np.random.Generator, members: int = 400, others: int = 500) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=members), rng.normal(size=others)


def response(epsilon: float, delta: float, members: int, others: int) -> Draw:
    """Return a drawer of scores of a mechanism tight at (ε, δ): published with probability δ, else a random answer."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        sides = []
        for n, own in ((members, 1), (others, 0)):
            answer = np.where(rng.random(n) < 1 / (1 + math.exp(-epsilon)), own, 1 - own)
            sides.append(np.where(rng.random(n) < delta, 10.0 * (2 * own - 1), answer))
        return sides[0], sides[1]

    return draw


def one_model(epsilon: float, delta: float, canaries: int) -> Draw:
    """Return a drawer of canaries of one model tight at (ε, δ), which reveals all of them with probability δ."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        coins = rng.random(canaries) < 0.5
        lie = rng.random(canaries) > 1 / (1 + math.exp(-epsilon))
        scores = (coins != (lie & (rng.random() >= delta))).astype(float)
        return scores[coins], scores[~coins]

    return draw


def one_noise(mu: float, canaries: int) -> Draw:
    """Return a drawer of canaries of one model whose scores share most of their Gaussian noise."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        coins = rng.random(canaries) < 0.5
        scores = rng.normal(0, 5) + rng.normal(mu * coins, 1)
        return scores[coins], scores[~coins]

    return draw


CASES: dict[str, tuple[str, Draw, float, float]] = {
    "null, 400 and 500 scores": ("independent", null, 0.0, DELTA),
    "randomised response, ε = 1": ("independent", response(1.0, 0.0, 500, 500), 1.0, 0.0),
    "the same, 200 members and 2,000 others": ("independent", response(1.0, 0.0, 200, 2_000), 1.0, 0.0),
    "tight at (1, 0.05)": ("independent", response(1.0, 0.05, 500, 500), 1.0, 0.05),
    "Gaussian, μ = 1": ("independent", lambda rng: (rng.normal(1, 1, 500), rng.normal(0, 1, 500)), 4.377, DELTA),
    "one model, null": ("one-run", one_model(0.0, 0.0, 500), 0.0, DELTA),
    "one model, randomised response, ε = 1": ("one-run", one_model(1.0, 0.0, 500), 1.0, 0.0),
    "one model, all given away at once, (1, 0.01)": ("one-run", one_model(1.0, 0.01, 500), 1.0, 0.01),
    "one model, shared noise, μ = 1": ("one-run", one_noise(1.0, 1_000), 4.377, DELTA),
    "one model, all given away at once, (1, 0.2)": ("one-run", one_model(1.0, 0.2, 200), 1.0, 0.2),
    "the same, treated as independent": ("independent", one_model(1.0, 0.2, 200), 1.0, 0.2),
    "randomised response, ε = 1, 200 members and 20,000 others": (
        "independent",
        response(1.0, 0.0, 200, 20_000),
        1.0,
        0.0,
    ),
    "the same, 20,000 members and 200 others": ("independent", response(1.0, 0.0, 20_000, 200), 1.0, 0.0),
    "tight at (1, 0.05), 200 members and 20,000 others": ("independent", response(1.0, 0.05, 200, 20_000), 1.0, 0.05),
    "null, 500 and 100,000 scores": ("independent", partial(null, members=500, others=100_000), 0.0, DELTA),
}


def errors(repeats: int) -> Iterator[str]:
    """Yield a row for every case: how often the bound at δ was above the true ε."""
    for number, (name, (design, draw, epsilon, delta)) in enumerate(CASES.items()):
        wrong = 0
        for repeat in range(repeats):
            scores = draw(np.random.default_rng([7, number, repeat]))
            wrong += dp.audit_scores(*scores, delta=delta, design=design, seed=repeat).lower.value > epsilon
        p = binomtest(wrong, repeats, 0.05, alternative="greater").pvalue
        rate = wrong / repeats
        yield f"| {name} | {design} | {epsilon:g} | {delta:g} | {wrong} of {repeats} | {rate:.1%} | {p:.2g} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400, help="of each case of errors")
    parser.add_argument("--write", type=Path, default=Path(__file__).parent / "results" / "scores.md")
    options = parser.parse_args()
    lines = [
        f"Written by `python benchmarks/scores.py --repeats {options.repeats}`.",
        "",
        "Certified lower bounds of ε at δ = 1e-5, confidence 0.95, n scores of members and n of others.",
        "",
        "| μ | n | true ε | goal | its seed | median of 50 others | least of these | above the truth | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
        *(bounds(mu, n, goal) for (mu, n), goal in GOALS.items()),
        "",
        f"Unequal numbers, μ = 2.5, true ε {gaussian_epsilon(2.5, DELTA):.3f}, {OTHER_SEEDS} seeds: the same numbers "
        "as scores and as outputs.",
        "",
        "| members | others | goal | median of scores | least of all | median of outputs | above the truth |",
        "|---|---|---|---|---|---|---|",
        *(unequal(*numbers, goal) for numbers, goal in UNEQUAL.items()),
        "",
        "Bounds above the truth, nominal 5 %; p is the chance of as many at 5 %.",
        "",
        "| scores | design | true ε | δ | errors | rate | p |",
        "|---|---|---|---|---|---|---|",
        *errors(options.repeats),
    ]
    options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
