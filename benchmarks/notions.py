"""How much of ρ and of Rényi's ε do bins show, compared with a single event? Writes results/notions.md.

python benchmarks/notions.py [seeds]
"""

from __future__ import annotations

import math
import statistics
import sys
from pathlib import Path

import numpy as np

import dpaudit as dp
from dpaudit.events import choose

RESULT = Path(__file__).parent / "results" / "notions.md"
NUMBERS = {"pairs": [(0.0, 1.0)], "relation": "declared", "floating_point": "ignore"}


def gaussian(data, size, rng, sigma=1.0):
    return rng.normal(data, sigma, size)


def discrete_gaussian(data, size, rng, sigma=1.0):
    support = np.arange(-40, 41)
    mass = np.exp(-(support**2) / (2 * sigma**2))
    return rng.choice(support, size, p=mass / mass.sum()) + int(data)


def response(data, size, rng, epsilon=1.0):
    return np.where(rng.random(size) < 1 / (1 + math.exp(-epsilon)), data, 1 - data)


def response_rho(epsilon):
    """The largest D_α/α of randomised response."""
    p = 1 / (1 + math.exp(-epsilon))
    orders = 1 + np.geomspace(1e-4, 1e2, 4000)
    divergence = np.log(p**orders * (1 - p) ** (1 - orders) + (1 - p) ** orders * p ** (1 - orders)) / (orders - 1)
    return float(np.max(divergence / orders))


CASES = [
    ("Gaussian", gaussian, {"sigma": 1.0}, dp.ZeroConcentratedDP(0.5)),
    ("Gaussian", gaussian, {"sigma": math.sqrt(5)}, dp.ZeroConcentratedDP(0.1)),
    ("discrete Gaussian", discrete_gaussian, {"sigma": 1.0}, dp.ZeroConcentratedDP(0.5)),
    ("randomised response", response, {"epsilon": 1.0}, dp.ZeroConcentratedDP(response_rho(1.0))),
    ("Gaussian", gaussian, {"sigma": 1.0}, dp.RenyiDP(2, 1.0)),
    ("Gaussian", gaussian, {"sigma": 1.0}, dp.RenyiDP(8, 4.0)),
]


def bounds(target, parameters, claim, runs, seeds):
    found = [
        dp.audit(target, parameters=parameters, claim=claim, runs=2 * runs, seed=seed, **NUMBERS)
        for seed in range(seeds)
    ]
    methods = sorted({evidence.lower.method.removeprefix("swapped ") for evidence in found})
    return [evidence.lower.value for evidence in found], " or ".join(methods)


def single(target, parameters, claim, runs, seeds):
    """Return the same without bins."""
    chooser = sys.modules[choose.__module__]
    kept, chooser.graded = chooser.graded, lambda *_, **__: None
    try:
        return bounds(target, parameters, claim, runs, seeds)[0]
    finally:
        chooser.graded = kept


def rows(seeds):
    yield "| mechanism | claim, tight | runs a side | single event | chosen | of the truth | worst | method |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, target, parameters, claim in CASES:
        for runs in (10**4, 10**5, 10**6):
            repeated = seeds if runs < 10**6 else max(3, seeds // 4)
            one = statistics.median(single(target, parameters, claim, runs, repeated))
            found, method = bounds(target, parameters, claim, runs, repeated)
            middle = statistics.median(found)
            at = f" at order {claim.order:g}" if isinstance(claim, dp.RenyiDP) else ""
            yield (
                f"| {name} | {claim.symbol} = {claim.value:.4g}{at} | {runs:,} | {one:.4f} | {middle:.4f} "
                f"| {middle / claim.value:.1%} | {min(found):.4f} | {method} |"
            )


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    lines = [
        "# Divergences in their own terms",
        "",
        f"Written by `python benchmarks/notions.py {seeds}`: medians over seeds, learning included, 95 % confidence. "
        "*Single event* is the bound of the same audit with bins barred; *chosen* is what the audit states.",
        "",
        *rows(seeds),
        "",
    ]
    RESULT.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
