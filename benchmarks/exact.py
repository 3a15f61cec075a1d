"""How fast are exact losses and certified divergences, and what do they find?

Programs with discrete noise over a whole domain, either trace by trace or as a fold with merged states; and intervals
for δ(ε) of additive noise after many releases.

    python benchmarks/exact.py

prints the tables and writes benchmarks/results/exact.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpaudit.verify import certified_delta as divergence
from dpaudit.verify.exact import enumerated_privacy, exact_privacy, laws_of

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support import enumerable as made  # the tests' programs

THREE_QUARTERS = {"keep": 0.75}
DOMAINS: list[tuple[str, Callable[..., Any], int, dict[str, Any]]] = [
    ("randomised response ¾", made.responses, 4, {}),
    ("shuffled randomised response", made.shuffled, 8, {}),
    ("the same, a fold", made.SHUFFLED, 8, THREE_QUARTERS),
    ("clamped geometric count", made.geometric_count, 8, {}),
    ("exponential mechanism, base 2", made.exponential_base_2, 6, {}),
    ("exponential mechanism, ε = 1", made.natural_exponential, 6, {}),
    ("permute-and-flip, base 2", made.permute_and_flip_base_2, 6, {}),
    ("noisy max, clamped geometric", made.noisy_max, 2, {}),
    ("noisy max, clamped geometric", made.noisy_max, 3, {}),
    ("the same, a fold", made.NOISY_MAX, 3, {}),
    ("the same, a fold", made.NOISY_MAX, 5, {}),
    ("sparse vector, clamped geometric", made.sparse_vector, 3, {}),
    ("the same, a fold", made.SPARSE_VECTOR, 3, {}),
    ("randomised response with a leak", made.leaky_responses, 3, {}),
]


def over_domains() -> list[str]:
    lines = [
        "| program | bits | e^ε, exactly | ε | traces | seconds | traces/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, program, length, parameters in DOMAINS:
        domain = made.bits(length)
        clock = time.perf_counter()
        loss = enumerated_privacy(program, domain, made.one_replaced, parameters)
        seconds = time.perf_counter() - clock
        ratio = str(loss.exp_epsilon)
        rate = f"{loss.scope.traces / seconds:,.0f}"
        lines.append(
            f"| {name} | {length} | {ratio if len(ratio) < 60 else ratio[:57] + '…'} | {loss.epsilon[0]:.6f} "
            f"| {loss.scope.traces:,} | {seconds:.2f} | {rate} |"
        )
    return lines


def merged() -> list[str]:
    lines = [
        "| shuffled randomised response | n | e^ε, exactly | seconds, laws | with ε |",
        "|---|---|---|---|---|",
    ]
    three_quarters, at_one = (made.SHUFFLED, THREE_QUARTERS), (made.SHUFFLED_AT_ONE, {})
    for name, (fold, parameters), sizes in (("¾", three_quarters, (100, 400, 1000)), ("ε = 1", at_one, (50, 100))):
        for n in sizes:
            clock = time.perf_counter()
            laws = laws_of(fold, [[0] * n, [1] + [0] * (n - 1)], parameters)
            seconds = time.perf_counter() - clock
            ratio = exact_privacy(laws, [(0, 1)]).exp_epsilon
            lines.append(f"| {name} | {n} | {ratio} | {seconds:.3f} | {time.perf_counter() - clock:.3f} |")
    return lines


INTERVALS: list[tuple[str, Callable[..., divergence.Enclosure], tuple[Any, ...], dict[str, Any]]] = [
    ("Gaussian σ=1, ε=1", divergence.gaussian, (1, 1), {}),
    ("Gaussian σ=1, ε=20", divergence.gaussian, (1, 20), {}),
    ("Laplace b=1, ε=½", divergence.laplace, (1, 0.5), {}),
    ("Laplace b=10, ε=3", divergence.laplace, (10, 3), {"releases": 100}),
    ("Laplace b=10, ε=3, 1,000 cells", divergence.laplace, (10, 3), {"releases": 100, "cells": 1000}),
    ("randomised response ε₀=0.1, ε=2", divergence.randomised_response, (0.1, 2), {"releases": 1000}),
    ("discrete Laplace b=10, ε=2", divergence.discrete_laplace, (10, 2), {"releases": 1000}),
    ("discrete Gaussian σ²=100, ε=¼", divergence.discrete_gaussian, (100, 0.25), {}),
    ("discrete Gaussian σ²=100, ε=3", divergence.discrete_gaussian, (100, 3), {"releases": 50}),
    ("discrete Gaussian σ²=100, ε=12", divergence.discrete_gaussian, (100, 12), {"releases": 500}),
    ("discrete Gaussian σ²=10⁴, ε=½", divergence.discrete_gaussian, (10_000, 0.5), {"releases": 100}),
    ("discrete Gaussian σ²=10⁴, ε=3", divergence.discrete_gaussian, (10_000, 3), {"releases": 1000}),
    ("discrete Gaussian σ²=100, ε=150", divergence.discrete_gaussian, (100, 150), {"releases": 10_000}),
]


def intervals() -> list[str]:
    lines = ["| noise | releases | δ(ε) lies in | relative gap | seconds |", "|---|---|---|---|---|"]
    for name, noise, arguments, options in INTERVALS:
        clock = time.perf_counter()
        found = noise(*arguments, **options)
        seconds = time.perf_counter() - clock
        lines.append(f"| {name} | {options.get('releases', 1):,} | {found} | {found.gap:.1e} | {seconds:.4f} |")
    return lines


def main() -> None:
    """Print the tables and write them to results/."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    divergence.gaussian(1, 1)  # load python-flint before the clock starts
    text = "\n".join([*over_domains(), "", *merged(), "", *intervals()]) + "\n"
    print(text)
    (Path(__file__).parent / "results" / "exact.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
