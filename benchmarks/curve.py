"""Does the whole privacy curve hold at its confidence, and how tight is it? Writes results/curve.md.

python benchmarks/curve.py [audits] [seeds]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

import dpaudit as dp

RESULT = Path(__file__).parent / "results" / "curve.md"
NUMBERS = {"pairs": [(0.0, 1.0)], "relation": "declared", "floating_point": "ignore"}
EPSILONS, RATES = np.linspace(0, 5, 101), np.concatenate([np.geomspace(1e-4, 0.05, 20), np.linspace(0.05, 1, 40)])
GOAL, FIRST_SEED = 0.117, 500  # smaller seeds were used for tuning


def gaussian(data, size, rng, sigma=1.0):
    return rng.normal(data, sigma, size)


def laplace(data, size, rng):
    return rng.laplace(data, 1.0, size)


def response(data, size, rng):
    return np.where(rng.random(size) < 0.75, data, 1 - data)


TIGHT = {
    "Gaussian, μ = 1": (gaussian, dp.GaussianDP(1)),
    "randomised response, ε = ln 3": (response, dp.PureDP(np.log(3))),
}


def is_wrong(found, claim):
    """Whether any point of the curve exceeds the truth."""
    return bool(
        np.any(found.delta(EPSILONS) > claim.profile(EPSILONS) + 1e-12)
        or np.any(found.fnr(RATES) < claim.tradeoff(RATES) - 1e-12)
        or (isinstance(claim, dp.GaussianDP) and found.mu > claim.mu)
    )


def coverage(audits):
    yield "| mechanism | runs | confidence | audits | with a wrong point | allowed | p-value |"
    yield "|---|---|---|---|---|---|---|"
    for name, (target, claim) in TIGHT.items():
        for runs, confidence in ((2000, 0.8), (20_000, 0.8)):
            wrong = sum(
                is_wrong(dp.privacy_curve(target, runs=runs, confidence=confidence, seed=seed, **NUMBERS), claim)
                for seed in range(1000, 1000 + audits)
            )
            judged = binomtest(wrong, audits, 1 - confidence, alternative="greater").pvalue
            yield (
                f"| {name} | {runs:,} | {confidence} | {audits} | {wrong / audits:.1%} | "
                f"{1 - confidence:.0%} | {judged:.3g} |"
            )


def closeness(seeds):
    started = time.perf_counter()
    fresh = range(FIRST_SEED, FIRST_SEED + seeds)
    curves = [dp.privacy_curve(gaussian, claim="mu=1", runs=2e5, seed=seed, **NUMBERS) for seed in fresh]
    each = (time.perf_counter() - started) / seeds
    truth = dp.GaussianDP(1)
    yield "| what | truth | median | worst | best |"
    yield "|---|---|---|---|---|"
    for epsilon in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0):
        values = [curve.delta(epsilon) for curve in curves]
        low, middle, high = min(values), statistics.median(values), max(values)
        yield f"| δ({epsilon:g}) | {float(truth.profile(epsilon)):.4f} | {middle:.4f} | {low:.4f} | {high:.4f} |"
    for rate in (0.01, 0.05, 0.2):
        values = [curve.fnr(rate) for curve in curves]
        low, middle, high = max(values), statistics.median(values), min(values)
        yield f"| fnr at fpr {rate:g} | {float(truth.tradeoff(rate)):.4f} | {middle:.4f} | {low:.4f} | {high:.4f} |"
    values = [curve.mu for curve in curves]
    yield f"| μ | 1 | {statistics.median(values):.4f} | {min(values):.4f} | {max(values):.4f} |"
    reached = sum(curve.delta(1.0) >= GOAL for curve in curves)
    yield ""
    yield f"δ(1) of at least {GOAL}: {reached} of {seeds} seeds. {each:.1f} s an audit."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("audits", type=int, nargs="?", default=200, help="of each mechanism, for the coverage")
    parser.add_argument("seeds", type=int, nargs="?", default=20, help="for the closeness")
    arguments = parser.parse_args()
    audits, seeds = arguments.audits, arguments.seeds
    lines = [
        "# The whole privacy curve",
        "",
        "Written by `python benchmarks/curve.py`. Every number of a curve holds at once, at the stated confidence.",
        "",
        "## How close: Gaussian, μ = 1, 200,000 runs in all (learning included), 95 % confidence",
        "",
        *closeness(seeds),
        "",
        "## How often any point of it is wrong",
        "",
        "Mechanisms that are tight along their whole curve; δ at 101 values of ε, fnr at 60 rates, and μ.",
        "",
        *coverage(audits),
        "",
    ]
    RESULT.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
