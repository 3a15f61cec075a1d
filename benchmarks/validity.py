"""How often is the statement of a whole audit wrong? At most as often as it admits, event and all chosen anew.

The true loss of every mechanism is known, and an audit errs where its lower bound exceeds it: nominally in 5 % of
the audits. Most mechanisms reach their loss on outputs that are common, so that nothing but chance lies between
the bound and an error.

With one worker every mechanism is audited ``--repetitions`` times. The number of workers must not change the
evidence, so that with four workers the first ``--shared`` of these audits are repeated, and their ids compared.

    python benchmarks/validity.py [--repetitions 2000] [--shared 200] [--jobs 2] [--only Laplace]

prints the table and writes benchmarks/results/validity.md.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom, binomtest

import dpaudit as dp

CONFIDENCE = 0.95
TABLE = Path(__file__).parent / "results" / "validity.md"
FIRST_SEED = 1000
_BATCH = 25  # audits that a process carries out before it reports
_CELLS = 500
_DELTA = 0.05


# --- mechanisms on the datasets 0 and 1; they lie in this file so that workers can load them by name


def null(data, size, rng):
    """Say nothing of the data."""
    return rng.normal(size=size)


def laplace(data, size, rng):
    """ε = 1, reached by both tails."""
    return rng.laplace(data, 1, size)


def laplace_program(data, noise):
    """The same, as a program."""
    return data + noise.laplace(1)


def geometric(data, size, rng):
    """ε = 1, on integers."""
    p = -math.expm1(-1)
    return rng.geometric(p, size) - rng.geometric(p, size) + data


def randomised_response(data, size, rng):
    """ε = 1, reached by every output: nothing lies between the bound and an error."""
    return np.where(rng.random(size) < 1 / (1 + math.exp(-1)), data, 1 - data)


def gaussian(data, size, rng):
    """μ = 1."""
    return rng.normal(data, 1, size)


def catastrophe(data, size, rng):
    """ε = 1 at δ = 0.05, reached exactly: the data is published with that probability, else randomised response."""
    return np.where(rng.random(size) < _DELTA, 2 + data, randomised_response(data, size, rng))


def vector(data, size, rng):
    """ε = 1, in one of five coordinates."""
    return rng.laplace(0, 1, (size, 5)) + data * np.eye(5)[2]


def spread_vector(data, size, rng):
    """ε = 1, spread over five coordinates: hardly ever reached."""
    return rng.laplace(0, 1, (size, 5)) + data / 5


def many_outcomes(data, size, rng):
    """ε = 3 in each of 1,000 outcomes: randomised response in 500 places, half of them reversed."""
    cell = rng.integers(0, _CELLS, size)
    told = np.where(rng.random(size) < 1 / (1 + math.exp(-3)), data, 1 - data)
    return 2 * cell + (told ^ (cell % 2))


def mixed_forms(data, rng):
    """ε = 1, in outputs of changing forms: a word, a number, a list, a dict, nothing; one output a call."""
    told = int(rng.random() < 1 / (1 + math.exp(-1))) ^ (1 - data)
    forms = (
        ("no", [0.0, rng.random()], None, {"a": rng.random()}),
        ("yes", [1.0, rng.random()], 1.5, {"b": rng.random()}),
    )
    return forms[told][rng.integers(4)]


def rare_unreadable(data, noise):
    """ε = 1, reached on a rare branch that the batch reading cannot read."""
    x = data + noise.laplace(1.0)
    return "large " + str(int(x))[:0] if x > 4 else "small"


def raising(data, size, rng):
    """ε = 1, in the rate of an exception."""
    if np.any(rng.random(size) < 0.2 * (data + (1 - 2 * data) / (1 + math.exp(-1)))):
        raise ValueError("no answer")
    return rng.random(size)


_OUT = np.zeros(2**18)


def reused_array(data, size, rng):
    """Randomised response in one array, which every call fills anew."""
    _OUT[:size] = randomised_response(data, size, rng)
    return _OUT[:size]


def reused_list(data, rng, *, held=[0]):  # noqa: B006
    """Randomised response in one list, one output a call."""
    held[0] = int(randomised_response(data, 1, rng)[0])
    return held


@dataclass(frozen=True)
class Case:
    """A mechanism, the notion in which its loss is bounded, and its true loss in that notion."""

    name: str
    function: str
    claim: str
    loss: float
    pairs: Sequence[tuple[int, int]] = ((0, 1),)
    runs: int = 4_000

    def audit(self, seed: int, workers: int) -> tuple[bool, str]:
        """Whether the audit errs, and the id of its evidence."""
        evidence = dp.audit(
            f"{Path(__file__).resolve()}:{self.function}",
            claim=self.claim,
            pairs=list(self.pairs),
            runs=self.runs,
            confidence=CONFIDENCE,
            seed=seed,
            workers=workers,
            floating_point="ignore",
        )
        if evidence.verdict is dp.Verdict.INVALID:
            raise RuntimeError(f"{self.name}, seed {seed}: {evidence.reason}")
        return evidence.lower.value > self.loss, evidence.id

    def audits(self, seeds: Sequence[int], workers: int) -> list[tuple[bool, str]]:
        """Several audits, one for each seed."""
        return [self.audit(seed, workers) for seed in seeds]


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The ε of a Gaussian mechanism at δ (Balle & Wang 2018, Theorem 8)."""

    def above(epsilon: float) -> float:
        return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)) - delta

    return float(brentq(above, 0, 30, xtol=1e-12))


CASES = (
    Case("null", "null", "epsilon=1", 0.0),
    Case("null at δ = 1e-3", "null", "epsilon=1, delta=0.001", 0.0),
    Case("Laplace", "laplace", "epsilon=1", 1.0),
    Case("Laplace, a program", "laplace_program", "epsilon=1", 1.0),
    Case("geometric", "geometric", "epsilon=1", 1.0),
    Case("randomised response", "randomised_response", "epsilon=1", 1.0),
    Case("Gaussian, μ", "gaussian", "mu=1", 1.0),
    Case("Gaussian at δ = 0.05", "gaussian", "epsilon=1, delta=0.05", gaussian_epsilon(1.0, 0.05)),
    Case("Gaussian at δ = 1e-3", "gaussian", "epsilon=1, delta=0.001", gaussian_epsilon(1.0, 1e-3)),
    Case("catastrophe at δ = 0.05", "catastrophe", "epsilon=1, delta=0.05", 1.0),
    Case("vector, one coordinate of five", "vector", "epsilon=1", 1.0),
    Case("vector, spread over five", "spread_vector", "epsilon=1", 1.0),
    Case("1,000 outcomes", "many_outcomes", "epsilon=3", 3.0, runs=10_000),
    Case("three pairs", "randomised_response", "epsilon=1", 1.0, ((0, 1), (1, 0), (0, 1)), 9_000),
    Case("a rare branch that cannot be read", "rare_unreadable", "epsilon=1", 1.0),
    Case("a sampler that raises", "raising", "epsilon=1", 1.0),
    Case("one array, filled anew", "reused_array", "epsilon=1", 1.0),
    Case("one list, filled anew", "reused_list", "epsilon=1", 1.0),
    Case("outputs of mixed forms", "mixed_forms", "epsilon=1", 1.0, runs=6_000),
)


def repeated(case: Case, count: int, jobs: int) -> list[tuple[bool, str]]:
    """Audits with one worker each, ``jobs`` at a time, in the order of their seeds."""
    seeds = range(FIRST_SEED, FIRST_SEED + count)
    parts = [seeds[start : start + _BATCH] for start in range(0, count, _BATCH)]
    found = Parallel(n_jobs=jobs)(delayed(Case.audits)(case, part, 1) for part in parts)
    return [audit for part in found for audit in part]


def row(case: Case, alone: list[tuple[bool, str]], shared: list[tuple[bool, str]], seconds: float) -> list[Any]:
    """One line of the table."""
    wrong, count = sum(erred for erred, _ in alone), len(alone)
    chance = binomtest(wrong, count, 1 - CONFIDENCE, alternative="greater").pvalue
    same = sum(one[1] == other[1] for one, other in zip(alone, shared, strict=False))
    wrong4 = sum(erred for erred, _ in shared)
    return [
        case.name,
        f"{case.loss:.4g}",
        f"{case.runs:,}",
        f"{wrong} of {count:,}",
        f"{100 * wrong / count:.2f} %",
        f"{chance:.3f}",
        f"{wrong4} of {len(shared):,}" if shared else "–",
        f"{same} of {len(shared):,}" if shared else "–",
        f"{1000 * seconds / count:.0f} ms",
    ]


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000, help="audits of each mechanism with one worker")
    parser.add_argument("--shared", type=int, default=200, help="audits of each mechanism with four workers")
    parser.add_argument("--jobs", type=int, default=2, help="audits at a time, where they have one worker")
    parser.add_argument("--only", default="", help="cases whose name contains this; the table is then not written")
    chosen = parser.parse_args()
    lines = [
        "| mechanism | true loss | runs | errors | rate | p-value of more than 5 % | errors, 4 workers | same evidence "
        "| an audit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    rates, values, differ = [], [], 0
    for case in CASES:
        if chosen.only.lower() not in case.name.lower():
            continue
        clock = time.perf_counter()
        alone = repeated(case, chosen.repetitions, chosen.jobs)
        seconds = (time.perf_counter() - clock) * chosen.jobs
        shared = case.audits(range(FIRST_SEED, FIRST_SEED + min(chosen.shared, len(alone))), 4)
        rates.append(sum(erred for erred, _ in alone) / len(alone))
        differ += sum(one[1] != other[1] for one, other in zip(alone, shared, strict=False))
        cells = row(case, alone, shared, seconds)
        values.append(float(cells[5]))
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    chance = (1 - CONFIDENCE, chosen.repetitions)
    luck = binom.ppf(1 - 0.05 / len(rates), chance[1], chance[0]) / chance[1]
    summary = (
        f"Worst observed rate: **{100 * max(rates):.2f} %**, nominal 5 %. (Were every rate exactly 5 %, the worst of "
        f"{len(rates)} would exceed {100 * luck:.2f} % once in twenty such tables.) Least p-value: {min(values):.3f}. "
        f"Evidence that differs between 1 and 4 workers: {differ}."
    )
    print("\n" + summary)
    if not chosen.only:
        from goal_table import code  # its neighbour, which workers need not load

        now = code()
        text = "# Errors of whole audits at confidence 0.95, event chosen anew each time\n\n" + summary + "\n\n"
        text += (
            "\n".join(lines)
            + f"\n\nSeeds from {FIRST_SEED}; with 4 workers the first {chosen.shared} of them again.\n\n"
        )
        text += f"dpaudit {now['commit']} (source {now['source']}), Python {platform.python_version()}, "
        text += f"NumPy {np.__version__}.\n"
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
