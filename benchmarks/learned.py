"""Where do fitted trees beat the built-in scores?

Vectors of five numbers, 40,000 learning and 160,000 measuring runs: the bound (at 0.95) of the event chosen from the
built-in scores only, and of the event chosen when boosted trees are among the candidates. Median of the seeds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.events import choose, count_event
from dpaudit.evidence.records import Counts
from dpaudit.privacy import PureDP
from dpaudit.sampling.outputs import from_array
from dpaudit.stats.joint_region import lower_bound

Array = np.ndarray[Any, np.dtype[np.float64]]
LEARNING, MEASURING, ERROR = 20_000, 80_000, 0.05  # of each side
CLAIM = PureDP(1)


def product(rng: np.random.Generator, runs: int, side: int) -> Array:
    """The sign of a product, by randomised response with ε = 1; each number alone has the same law on both sides."""
    rows = rng.normal(size=(runs, 5))
    flipped = rng.random(runs) < 1 / (1 + np.e)
    rows[:, 1] = np.abs(rows[:, 1]) * np.sign(rows[:, 0]) * np.where(flipped ^ (side == 1), -1, 1)
    return rows


def turned(rng: np.random.Generator, runs: int, side: int) -> Array:
    """One number determines in which direction another moves, under Laplace noise of scale 1: ε = 2 in all."""
    rows = rng.laplace(size=(runs, 5))
    rows[:, 1] += np.where((rows[:, 0] > 0.7) ^ (side == 1), 1.0, -1.0)
    return rows


def opposite(rng: np.random.Generator, runs: int, side: int) -> Array:
    """Two numbers that move by 1 in the same or in opposite directions, under Laplace noise of scale 1 each."""
    rows = rng.laplace(size=(runs, 5))
    sign = rng.choice([-1.0, 1.0], runs)
    rows[:, 0] += sign
    rows[:, 1] += -sign if side else sign
    return rows


def spread(rng: np.random.Generator, runs: int, side: int) -> Array:
    """Normal noise whose scale differs by a tenth."""
    return rng.normal(size=(runs, 5)) * (1.1 if side else 1.0)


def shift(rng: np.random.Generator, runs: int, side: int) -> Array:
    """Laplace noise of scale 1, all numbers moved by 0.2: the case that the built-in scores are made for."""
    return rng.laplace(size=(runs, 5)) + 0.2 * side


def bound(law: Any, seed: int, learn: str | None) -> tuple[float, str, float]:
    """Return the bound of the chosen event, its family, and the CPU seconds for choosing it."""
    rng = np.random.default_rng(seed)
    learning, measuring = ([from_array(law(rng, runs, side)) for side in (0, 1)] for runs in (LEARNING, MEASURING))
    clock = time.process_time()
    choices, _ = choose(*learning, claim=CLAIM, measuring=2 * MEASURING, error=ERROR, learn=learn)
    seconds = time.process_time() - clock
    found = []
    for choice in choices:
        (a0, a1), (b0, b1) = (count_event(choice.event, side) for side in measuring)
        counts = Counts((MEASURING, MEASURING), (a0, b0), (a1, b1))
        value = lower_bound(choice.method, counts, claim=CLAIM, weight=choice.weight, error=ERROR * choice.share)
        found.append((value, choice.event.family, seconds))
    return max(found)


def main() -> None:
    """Print the table and write it to results/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    lines = [
        "| law | built-in | its score | with trees | its score | CPU seconds to choose |",
        "|---|---|---|---|---|---|",
    ]
    for law in (product, turned, opposite, spread, shift):
        cells = []
        for learn in (None, "trees"):
            found = [bound(law, seed, learn) for seed in range(arguments.repeat)]
            cells.append((*sorted(found)[len(found) // 2][:2], statistics.median(item[2] for item in found)))
        (plain, name, before), (learned, other, after) = cells
        lines.append(
            f"| {law.__name__} | {plain:.3f} | {name} | {learned:.3f} | {other} | {before:.1f} → {after:.1f} |"
        )
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    Path(__file__).with_name("results").joinpath("learned.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
