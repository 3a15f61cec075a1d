"""How private is a count of penguins? The Adelie birds of Palmer Station, with Laplace and Gaussian noise.

Run it as a script, from anywhere:

    python examples/penguins.py [--runs N] [--out FOLDER]

or audit one of the two counts by its name:

    dpaudit audit examples/penguins.py:laplace_count

The exact count is 146 of the 333 birds without a missing value. Neighbours differ by one bird.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from scipy.optimize import brentq

import dpaudit as dp
from dpaudit.program.noise import Noise

HERE = Path(__file__).resolve().parent

Bird = dict[str, str]


@cache
def penguins() -> list[Bird]:
    """Return the 333 birds without a missing value (Horst, Hill & Gorman 2020)."""
    with open(HERE / "data" / "penguins.csv", encoding="utf-8", newline="") as file:
        return [bird for bird in csv.DictReader(file) if "NA" not in bird.values()]


def neighbours() -> list[tuple[list[Bird], list[Bird]]]:
    """Return the real birds with one more beside them, a made-up Adelie, and with one Adelie less."""
    birds = penguins()
    seen = next(place for place, bird in enumerate(birds) if bird["species"] == "Adelie")
    newcomer = {**birds[seen], "island": "Dream", "body_mass_g": "3999", "year": "2009"}
    return [(birds, [*birds, newcomer]), (birds, birds[:seen] + birds[seen + 1 :])]


def adelie(birds: Sequence[Bird]) -> int:
    """Return the exact count: one bird more or less moves it by at most 1."""
    return sum(bird["species"] == "Adelie" for bird in birds)


@dp.mechanism(
    claim=dp.PureDP,
    relation="add-remove",
    pairs=neighbours,
    true_loss=lambda epsilon: epsilon,
    unit="one bird",
    source="Dwork & Roth (2014), Theorem 3.6 and Example 3.1",
    family="penguins",
)
def laplace_count(birds: Sequence[Bird], noise: Noise, *, epsilon: float = 0.1) -> Any:
    """Count the Adelie birds, with Laplace noise of scale 1/epsilon.

    The true loss is epsilon: the counts of the pair differ by exactly 1.
    """
    return adelie(birds) + noise.laplace(1 / epsilon)


@cache
def standard_deviation(epsilon: float, delta: float) -> float:
    """Return the least σ that makes a count (epsilon, delta)-DP: the analytic calibration.

    A count moves by 1, so that noise of standard deviation σ is μ-GDP with μ = 1/σ, and
    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) grows with μ (Balle & Wang 2018, Theorem 8).
    """
    mu: float = brentq(lambda mu: float(dp.GaussianDP(mu).profile(epsilon)) - delta, 1e-9, 100, xtol=1e-15)
    return 1 / mu * (1 + 1e-12)  # a little more noise than the root, which may lie on either side


@dp.mechanism(
    claim=dp.ApproxDP,
    relation="add-remove",
    pairs=neighbours,
    true_loss=lambda epsilon: epsilon,
    unit="one bird",
    source="Balle & Wang (2018), Theorem 8 and Algorithm 1",
    family="penguins",
)
def gaussian_count(birds: Sequence[Bird], noise: Noise, *, epsilon: float = 0.1, delta: float = 1e-7) -> Any:
    """Count the Adelie birds, with Gaussian noise of the least standard deviation for (epsilon, delta).

    The true loss is epsilon at this delta, since the calibration is tight. An audit can see little of it: the
    events that show it have probabilities near delta.
    """
    return adelie(birds) + noise.gaussian(standard_deviation(epsilon, delta))


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit both counts, print what was found, and write pages and evidence."""
    from dpaudit.report import console_summary

    parser = argparse.ArgumentParser(description="Audit two private counts of the Adelie penguins.")
    parser.add_argument("--runs", type=int, default=400_000, help="executions of each count in all (400000)")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder for pages and evidence")
    options = parser.parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{adelie(penguins())} of {len(penguins())} penguins are Adelie birds; that number is never released.")
    failed = 0
    for count in (laplace_count, gaussian_count):
        evidence = dp.audit(count, runs=options.runs, seed=0)
        page, record = (options.out / f"{count.name}{ending}" for ending in (".html", ".json"))
        evidence.to_html(page)
        evidence.save(record)
        print(f"\n{count.name}")
        print(console_summary(evidence))
        print(f"page: {page}\nevidence: {record}")
        # inconclusive is an honest answer about the Gaussian count, and no failure
        if evidence.verdict in (dp.Verdict.VIOLATED, dp.Verdict.INVALID):
            failed = failed or evidence.verdict.exit_code
    return failed


if __name__ == "__main__":
    sys.exit(main())
