"""Which rare leaks of a vector are found? One run in five hundred gives side 1 away, among twenty numbers with noise.

For every leak, at 1e5 and 1e6 runs a side: the lower bound of an audit against that of the oracle, who counts the runs
that leak and spends all runs on them (a pair of Clopper–Pearson bounds). Nothing is told to the audit about the leak.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import beta

import dpaudit as dp

TABLE = Path(__file__).parent / "results" / "leaks.md"
NUMBERS, CHANCE = 20, 0.002
FIRST_SEED = 3000  # smaller ones were used while events were made

Rows = np.ndarray[Any, np.dtype[np.float64]]


def far(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """One number is far off."""
    rows[np.arange(len(rows)), places] = 1000 + rng.random(len(rows))


def far_both_ways(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """One number is far off, on either side."""
    rows[np.arange(len(rows)), places] = (40 + rng.random(len(rows))) * rng.choice([-1, 1], len(rows))


def exact(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """One number, anywhere, has no noise."""
    rows[np.arange(len(rows)), places] = 0.375


def nearly_exact(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """One number, anywhere, has a millionth of the noise."""
    rows[np.arange(len(rows)), places] = 0.375 + 1e-6 * rng.standard_normal(len(rows))


def repeated(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """One number is that of another place."""
    others = (places + 1 + rng.integers(0, NUMBERS - 1, len(rows))) % NUMBERS
    rows[np.arange(len(rows)), places] = rows[np.arange(len(rows)), others]


def noiseless(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """No number has noise."""
    rows[:] = np.arange(NUMBERS) / 8


def quiet(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """All numbers have a thousandth of the noise."""
    rows *= 1e-3


def loud(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """All numbers have two and a half times the noise."""
    rows *= 2.5


def louder(rows: Rows, places: Rows, rng: np.random.Generator) -> None:
    """All numbers have five times the noise."""
    rows *= 5


LEAKS: tuple[Callable[[Rows, Rows, np.random.Generator], None], ...] = (
    far,
    far_both_ways,
    exact,
    nearly_exact,
    repeated,
    noiseless,
    quiet,
    loud,
    louder,
)


def outputs(data: float, size: int, rng: np.random.Generator, leak: Any, noise: str) -> Rows:
    """Noise alone, and for data 1 some runs that leak."""
    rows = rng.laplace(0, 1, (size, NUMBERS)) if noise == "Laplace" else rng.normal(0, 1, (size, NUMBERS))
    leaking = np.flatnonzero(rng.random(size) < CHANCE)
    if data == 1 and len(leaking):
        own = rows[leaking]
        leak(own, rng.integers(0, NUMBERS, len(own)), rng)
        rows[leaking] = own
    return np.asarray(rows)


def audited(leak: Any, noise: str, runs: int, seed: int) -> tuple[float, str]:
    """Return the bound and what kind of event it rests on."""

    def target(data: float, size: int, rng: np.random.Generator) -> Rows:
        return outputs(data, size, rng, leak, noise)

    evidence = dp.audit(
        target,
        claim="epsilon=1",
        pairs=[(0.0, 1.0)],
        relation="declared",
        runs=2 * runs,
        seed=seed,
        floating_point="ignore",
    )
    return evidence.lower.value, evidence.lower.event.family if evidence.lower.event else ""


def oracle(runs: int) -> float:
    """The oracle's bound at 95 %, in the median."""
    hits = np.random.default_rng(0).binomial(runs, CHANCE, 4000)
    return float(np.median(np.log(beta.ppf(0.025, hits, runs - hits + 1) / beta.ppf(0.975, 1, runs))))


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    lines = [
        f"# Rare leaks of {NUMBERS} numbers: one run in {1 / CHANCE:.0f} of side 1\n",
        f"Medians of {chosen.seeds} seeds, with the worst of them; confidence 95 %. The oracle, who knows the leak: "
        f"{oracle(10**5):.2f} at 1e5 runs a side, {oracle(10**6):.2f} at 1e6.\n",
        "| leak | noise | 1e5 | 1e6 | events at 1e6 |",
        "|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for leak in LEAKS:
        for noise in ("Laplace", "Gaussian"):
            shown, families = [], ""
            for runs in (10**5, 10**6):
                one = delayed(partial(audited, leak, noise, runs))
                seeds = range(FIRST_SEED, FIRST_SEED + chosen.seeds)
                found = Parallel(n_jobs=chosen.jobs)(one(seed) for seed in seeds)
                bounds = [bound for bound, _ in found]
                shown.append(f"{np.median(bounds):.2f} ({min(bounds):.2f})")
                families = ", ".join(sorted({family for _, family in found if family}))
            what = (leak.__doc__ or "").rstrip(".")
            lines.append(f"| {what[0].lower()}{what[1:]} | {noise} | {' | '.join(shown)} | {families} |")
            print(lines[-1], flush=True)
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
