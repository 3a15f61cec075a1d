"""How much do scores of an attack show, and how often are the bounds wrong?

Bounds: scores N(μ, 1) of members and N(0, 1) of others, at δ = 1e-5 and confidence 0.95; the truth is the ε of the
Gaussian mechanism. The bound at the seed of the goal is reported next to the median of 50 other seeds; the learning
share was tuned on yet other seeds. Unequal numbers: few of one side beside many of the other, on arrays of their own;
bounds hold given both numbers, so all of them count. One model: n canaries in and n out, all scores of one model, on
arrays of their own, for ε at δ and for μ; beside the formula of Steinke, Nasr & Jagielski (2023, Theorem 5.2) at the
number of guesses that is best in the median of other arrays, which an audit cannot know. Errors: how often bounds of
whole audits, including selection, exceed the truth, by an exact binomial test; one case treats scores of one model as
independent, to show what that costs.

    python benchmarks/scores.py [--repeats 500]

writes results/scores.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from frame import Page, options, side_by_side
from scipy.stats import binomtest, norm
from support.steinke import one_run_bound

import dpaudit as dp
from dpaudit.auditing.accuracy import gaussian_epsilon
from dpaudit.stats.guessing import split_guesses

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
ONE_MODEL = {  # n and μ → the ε at δ that bounds of μ are to stand for: 0.95 of what five to eight fixed plans reach
    (1.0, 1_000): 0.95 * 1.970,
    (1.0, 10_000): 0.95 * 2.959,
    (1.0, 100_000): 0.95 * 3.093,
    (2.0, 1_000): 0.95 * 4.779,
    (2.0, 10_000): 0.95 * 5.740,
    (2.0, 100_000): 0.95 * 6.673,
}
ONE_MODEL_SEEDS = 100


def true_epsilon(mu: float) -> float:
    """Return the ε of the μ-Gaussian mechanism at δ = 1e-5."""
    found = gaussian_epsilon(mu, DELTA)
    assert found is not None  # it is at δ = 0 alone
    return found


def gaussian(mu: float, n: int, *seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of members and of others, drawn in the order used when the goals were set."""
    rng = np.random.default_rng([20260101, int(mu * 100), n, *seed])
    others = rng.normal(0, 1, n)
    return rng.normal(mu, 1, n), others


def bounds(mu: float, n: int, goal: float) -> list[Any]:
    truth = true_epsilon(mu)
    own = dp.tools.audit_scores(*gaussian(mu, n), seed=0, design="independent").lower.value
    clock = time.process_time()
    found = [
        dp.tools.audit_scores(*gaussian(mu, n, 1 + seed), seed=0, design="independent").lower.value
        for seed in range(OTHER_SEEDS)
    ]
    seconds = (time.process_time() - clock) / OTHER_SEEDS
    above = sum(value > truth for value in found)
    numbers = [f"{each:.3f}" for each in (truth, own, np.median(found), min(found))]
    return [mu, f"{n:,}", numbers[0], f"{goal:.2f}", *numbers[1:], f"{above} of {OTHER_SEEDS}", f"{seconds:.2f}"]


def unequal(members: int, others: int, goal: float | None) -> list[Any]:
    """Return a row about unequal numbers of scores, by scores and by outputs."""
    truth, found = true_epsilon(2.5), []
    for seed in range(OTHER_SEEDS):
        rng = np.random.default_rng([20261123, members, others, seed])
        scores = rng.normal(2.5, 1, members), rng.normal(0, 1, others)
        found.append(
            [
                audit(*scores, delta=DELTA, seed=seed).lower.value
                for audit in (partial(dp.tools.audit_scores, design="independent"), dp.tools.audit_outputs)
            ]
        )
    own, outputs = np.median(found, axis=0)
    above = int((np.array(found) > truth).sum())
    numbers = [f"{each:.3f}" for each in (own, np.min(found), outputs)]
    return [f"{members:,}", f"{others:,}", "–" if goal is None else goal, *numbers, f"{above} of {2 * OTHER_SEEDS}"]


def right_guesses(members: np.ndarray, others: np.ndarray, guesses: list[int]) -> list[int]:
    """Return how many guesses are right where the highest scores are guessed in, and equally many of the lowest out."""
    scores = np.concatenate([members, others])
    was_in = np.argsort(scores) < len(members)
    highest, lowest = (np.concatenate([[0], np.cumsum(side)]) for side in (was_in[::-1], ~was_in))
    return [int(highest[high] + lowest[low]) for high, low in map(split_guesses, guesses)]


def best_known(mu: float, n: int, arrays: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, int]:
    """Return the median bound of Theorem 5.2 on these arrays, and the number of guesses that was best on others."""
    guesses = sorted({round(r) for r in np.geomspace(12, 2 * n, 30)})
    known = [right_guesses(*one_array(mu, n, seed), guesses) for seed in range(ONE_MODEL_SEEDS, 5 * ONE_MODEL_SEEDS)]

    def median(right: np.ndarray, r: int) -> float:
        middle = np.sort(right)[[(len(right) - 1) // 2, len(right) // 2]]  # the bound increases with right guesses
        return float(np.mean([one_run_bound(int(v), r, 2 * n, delta=DELTA, error=0.05) for v in middle]))

    best = max(zip(np.transpose(known), guesses, strict=True), key=lambda pair: median(*pair))[1]
    return median(np.array([right_guesses(*array, [best])[0] for array in arrays]), best), best


def one_array(mu: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([20261124, int(mu * 100), n, seed])
    return rng.normal(mu, 1, n), rng.normal(0, 1, n)


def one_run(mu: float, n: int, goal: float) -> list[Any]:
    """Return a row about the canaries of one model."""
    arrays = [one_array(mu, n, seed) for seed in range(ONE_MODEL_SEEDS)]
    known, guesses = best_known(mu, n, arrays)
    epsilons, mus = (
        np.array([dp.tools.audit_scores(*array, design="one-run", **notion, seed=0).lower.value for array in arrays])
        for notion in ({"delta": DELTA}, {"claim": f"mu={mu:g}"})
    )
    truth, shown = true_epsilon(mu), true_epsilon(float(np.median(mus)))
    ours = float(np.median(epsilons))
    above = int((epsilons > truth).sum() + (mus > mu).sum())
    own = [f"{ours:.3f}", f"{ours / known:.2f}", f"{np.min(epsilons):.3f}", f"{goal:.2f}", f"{shown:.3f}"]
    least = f"{true_epsilon(float(np.min(mus))):.3f}"
    known_best = f"{known:.3f} ({guesses:,})"
    return [mu, f"{n:,}", f"{truth:.3f}", known_best, *own, least, f"{above} of {2 * ONE_MODEL_SEEDS}"]


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


def all_or_none(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Answer for all 500 canaries with probability .1621, at ε = 2, and else for none: 1-GDP for each of them.

    To treat the canaries as independent channels would be wrong in 16 % of runs.
    """
    if rng.random() < 0.1621:
        return one_model(2.0, 0.0, 500)(rng)
    coins = rng.random(500) < 0.5
    scores = rng.random(500)
    return scores[coins], scores[~coins]


@dataclass(frozen=True)
class Case:
    """Scores whose loss is known: ε at ``delta``, or μ where there is no δ."""

    draw: Draw
    truth: float
    delta: float | None = DELTA
    design: str = "independent"

    def bound(self, number: int, seed: int) -> float:
        """Return the bound by one draw of these scores."""
        scores = self.draw(np.random.default_rng([7, number, seed]))
        notion = {"claim": f"mu={self.truth:g}"} if self.delta is None else {"delta": self.delta}
        return dp.tools.audit_scores(*scores, design=self.design, seed=seed, **notion).lower.value


one_run_case = partial(Case, design="one-run")
TRUE_MU_1 = true_epsilon(1.0)
CASES = {
    "null, 400 and 500 scores": Case(null, 0.0),
    "randomised response, ε = 1": Case(response(1.0, 0.0, 500, 500), 1.0, 0.0),
    "the same, 200 members and 2,000 others": Case(response(1.0, 0.0, 200, 2_000), 1.0, 0.0),
    "tight at (1, 0.05)": Case(response(1.0, 0.05, 500, 500), 1.0, 0.05),
    "Gaussian, μ = 1": Case(lambda rng: (rng.normal(1, 1, 500), rng.normal(0, 1, 500)), TRUE_MU_1),
    "one model, null": one_run_case(one_model(0.0, 0.0, 500), 0.0),
    "one model, randomised response, ε = 1": one_run_case(one_model(1.0, 0.0, 500), 1.0, 0.0),
    "one model, all given away at once, (1, 0.01)": one_run_case(one_model(1.0, 0.01, 500), 1.0, 0.01),
    "one model, shared noise, μ = 1": one_run_case(one_noise(1.0, 1_000), TRUE_MU_1),
    "one model, all given away at once, (1, 0.2)": one_run_case(one_model(1.0, 0.2, 200), 1.0, 0.2),
    "the same, treated as independent": Case(one_model(1.0, 0.2, 200), 1.0, 0.2),
    "randomised response, ε = 1, 200 members and 20,000 others": Case(response(1.0, 0.0, 200, 20_000), 1.0, 0.0),
    "the same, 20,000 members and 200 others": Case(response(1.0, 0.0, 20_000, 200), 1.0, 0.0),
    "tight at (1, 0.05), 200 members and 20,000 others": Case(response(1.0, 0.05, 200, 20_000), 1.0, 0.05),
    "null, 500 and 100,000 scores": Case(partial(null, members=500, others=100_000), 0.0),
    "one model, shared noise, bound of μ": one_run_case(one_noise(1.0, 1_000), 1.0, None),
    "one model, tight randomised response, bound of μ": one_run_case(
        one_model(math.log(norm.cdf(0.5) / norm.sf(0.5)), 0.0, 500), 1.0, None
    ),
    "one model, answers for all canaries or none, bound of μ": one_run_case(all_or_none, 1.0, None),
}


def errors(repeats: int, jobs: int) -> Iterator[list[Any]]:
    """Yield the cells of every case: how often the bound was above the true loss."""
    for number, (name, case) in enumerate(CASES.items()):
        found = side_by_side(case.bound, [(number, repeat) for repeat in range(repeats)], jobs)
        wrong = sum(bound > case.truth for bound in found)
        p = binomtest(wrong, repeats, 0.05, alternative="greater").pvalue
        loss = f"μ = {case.truth:g}" if case.delta is None else f"ε = {case.truth:.4g} at δ = {case.delta:g}"
        yield [name, case.design, loss, f"{wrong} of {repeats}", f"{wrong / repeats:.1%}", f"{p:.2g}"]


def main() -> None:
    """Measure, and write the tables."""
    asked = options(__doc__, repeats=400, jobs=2)
    page = Page("scores.md", "Scores of an attack", f"scores.py --repeats {asked.repeats}")
    page.say("Certified lower bounds of ε at δ = 1e-5, confidence 0.95, n scores of members and n of others.", "")
    titles = ("μ", "n", "true ε", "goal", "its seed", "median of 50 others", "least of these", "above the truth")
    page.table([*titles, "seconds"], (bounds(mu, n, goal) for (mu, n), goal in GOALS.items()))
    page.say(
        f"Unequal numbers, μ = 2.5, true ε {true_epsilon(2.5):.3f}, {OTHER_SEEDS} seeds: the same numbers "
        "as scores and as outputs.",
        "",
    )
    titles = ("members", "others", "goal", "median of scores", "least of all", "median of outputs", "above the truth")
    page.table(titles, (unequal(*numbers, goal) for numbers, goal in UNEQUAL.items()))
    page.say(
        f"One model, n canaries in and n out, {ONE_MODEL_SEEDS} seeds. Theorem 5.2: the median bound of ε by the "
        "formula of Steinke, Nasr & Jagielski (2023) at the number of guesses (in brackets) that is best in the median "
        f"of {4 * ONE_MODEL_SEEDS} other seeds; ours does not know it. Bounds of μ as the ε that they stand for at "
        "δ = 1e-5, beside the goal.",
        "",
    )
    titles = ("μ", "n", "true ε", "Theorem 5.2", "ε, median", "over Theorem 5.2", "ε, least", "goal of μ", "μ, median")
    page.table([*titles, "μ, least", "above the truth"], (one_run(mu, n, goal) for (mu, n), goal in ONE_MODEL.items()))
    page.say("Bounds above the truth, nominal 5 %; p is the chance of as many at 5 %.", "")
    page.table(("scores", "design", "true loss", "errors", "rate", "p"), errors(asked.repeats, asked.jobs))
    page.save()


if __name__ == "__main__":
    main()
