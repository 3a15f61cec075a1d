"""How fast are exact losses and certified divergences, and what do they find?

Programs with discrete noise over a whole domain, either trace by trace or as a fold with merged states; and intervals
for δ(ε) of additive noise after many releases.

    python benchmarks/exact.py

prints the tables and writes benchmarks/results/exact.md.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.program.enumerate import Exact
from dpaudit.program.fold import Fold, Stop
from dpaudit.verify import certified_delta as divergence
from dpaudit.verify.exact import enumerated_privacy, exact_delta, exact_privacy, laws_of

HALF = Fraction(1, 2)


def geometric(noise, centre, ratio, low, high):
    weights = [(1 - ratio) * ratio ** abs(y - centre) for y in range(low, high + 1)]
    weights[0], weights[-1] = weights[0] / (1 - ratio), weights[-1] / (1 - ratio)
    return noise.choice(range(low, high + 1), weights)


def responses(data, noise):
    return [bit if noise.bernoulli(0.75) else 1 - bit for bit in data]


def shuffled(data, noise):
    return sum(responses(data, noise))


def leaky_responses(data, noise):
    answers = responses(data, noise)
    return answers if answers[0] == data[0] or noise.bernoulli(0.5) else answers[1:]


def geometric_count(data, noise):
    return geometric(noise, sum(data), HALF, 0, len(data))


def scores(data):
    return [len(data) - sum(data), sum(data), len(data) // 2]


def exponential(data, noise):
    return noise.choice(range(3), [2**score for score in scores(data)])


def natural_exponential(data, noise):
    return noise.choice(range(3), [math.exp(HALF * score) for score in scores(data)])


def permute_and_flip(data, noise):
    waiting = [0, 1, 2]
    while True:
        index = waiting.pop(noise.choice(range(len(waiting))))
        if noise.bernoulli(HALF ** (max(scores(data)) - scores(data)[index])):
            return index


def noisy_max(data, noise):
    noisy = [geometric(noise, bit, HALF, -6, 6) for bit in data]
    return noisy.index(max(noisy))


def larger(state, bit, noise):
    seen, best, where = state
    value = geometric(noise, bit, HALF, -6, 6)
    return (seen + 1, value, seen) if value > best else (seen + 1, best, where)


def sparse_vector(data, noise):
    level, answers = geometric(noise, 0, Fraction(2, 3), -4, 4), []
    for bit in data:
        answers.append(int(bit + geometric(noise, 0, Fraction(4, 5), -4, 4) >= level))
        if answers[-1]:
            break
    return answers


def below(state, bit, noise):
    level, answers = state
    above = int(bit + geometric(noise, 0, Fraction(4, 5), -4, 4) >= level)
    return Stop((level, (*answers, above))) if above else (level, (*answers, above))


SHUFFLED = Fold(lambda count, bit, noise: count + (bit if noise.bernoulli(0.75) else 1 - bit))
SHUFFLED_AT_ONE = Fold(lambda count, bit, noise: count + (bit if noise.bernoulli(1 / (1 + math.exp(-1))) else 1 - bit))
NOISY_MAX = Fold(larger, init=(0, -7, -1), finish=lambda state: state[2])
SPARSE_VECTOR = Fold(
    below, init=lambda noise: (geometric(noise, 0, Fraction(2, 3), -4, 4), ()), finish=lambda state: list(state[1])
)

DOMAINS: list[tuple[str, Callable[..., Any], int]] = [
    ("randomised response ¾", responses, 4),
    ("shuffled randomised response", shuffled, 8),
    ("the same, a fold", SHUFFLED, 8),
    ("clamped geometric count", geometric_count, 8),
    ("exponential mechanism, base 2", exponential, 6),
    ("exponential mechanism, ε = 1", natural_exponential, 6),
    ("permute-and-flip, base 2", permute_and_flip, 6),
    ("noisy max, clamped geometric", noisy_max, 2),
    ("noisy max, clamped geometric", noisy_max, 3),
    ("the same, a fold", NOISY_MAX, 3),
    ("the same, a fold", NOISY_MAX, 5),
    ("sparse vector, clamped geometric", sparse_vector, 3),
    ("the same, a fold", SPARSE_VECTOR, 3),
    ("randomised response with a leak", leaky_responses, 3),
]


def one_replaced(first: list[int], second: list[int]) -> bool:
    """Whether two datasets of the same length differ in exactly one place, as in the local model."""
    return len(first) == len(second) and sum(a != b for a, b in zip(first, second, strict=True)) == 1


def over_domains() -> list[str]:
    lines = [
        "| program | bits | e^ε, exactly | ε | traces | seconds | traces/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, program, length in DOMAINS:
        domain = [list(data) for data in itertools.product((0, 1), repeat=length)]
        clock = time.perf_counter()
        loss = enumerated_privacy(program, domain, one_replaced)
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
        "| shuffled randomised response | n | δ(0.1) | δ(0.5) | seconds, laws | with ε and both δ |",
        "|---|---|---|---|---|---|",
    ]
    for name, fold, sizes in (("¾", SHUFFLED, (100, 400, 1000)), ("ε = 1", SHUFFLED_AT_ONE, (50, 100))):
        for n in sizes:
            clock = time.perf_counter()
            laws = laws_of(fold, [[0] * n, [1] + [0] * (n - 1)])
            seconds = time.perf_counter() - clock
            exact_privacy(laws, [(0, 1)])
            deltas = [exact_delta(laws, [(0, 1)], epsilon).delta for epsilon in (0.1, 0.5)]
            shown = [f"{delta.approximate() if isinstance(delta, Exact) else float(delta):.9g}" for delta in deltas]
            lines.append(
                f"| {name} | {n} | {shown[0]} | {shown[1]} | {seconds:.3f} | {time.perf_counter() - clock:.3f} |"
            )
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
