"""How close does an audit come to the best that two Clopper-Pearson bounds could do with the truth known?

For 16 mechanisms: the lower bound of `dpaudit.audit`, which learns its event and pays for that with part of
its runs, over the *oracle's*: the level set of the true likelihood ratio that maximises the expected
Clopper-Pearson bound log((CP_lower(n·p) − δ)/CP_upper(n·q)), with all n runs a side and error a/2 for each.

    python benchmarks/goal_table.py [--seeds 20] [--first-seed 0] [--runs 1e4 1e5] [--only laplace]

prints the table and writes benchmarks/results/goal_table.md.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import quad_vec
from scipy.optimize import brentq
from scipy.stats import beta, norm

import dpaudit as dp

CONFIDENCE = 0.95
RESULTS = Path(__file__).parent / "results" / "goal_table.md"


@dataclass(frozen=True)
class Entry:
    """A mechanism on its pair of datasets 0 and 1, and the masses of the cells of its likelihood ratio.

    ``masses`` are the probabilities of cells under side 0 and side 1; their order does not matter.
    """

    name: str
    sample: Callable[[int, int, np.random.Generator], np.ndarray[Any, Any]]
    masses: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
    loss: float
    delta: float = 0.0


def laplace_cdf(x, scale):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0) / scale), 1 - 0.5 * np.exp(-np.maximum(x, 0) / scale))


def interval_masses(cdf0, cdf1, low: float, high: float, cells: int = 4000):
    """The masses of equal cells between ``low`` and ``high`` and of the two tails."""
    edges = np.concatenate([[-np.inf], np.linspace(low, high, cells + 1), [np.inf]])
    return np.diff(cdf0(edges)), np.diff(cdf1(edges))


def laplace(epsilon: float) -> Entry:
    def sample(data, size, rng):
        return rng.laplace(data, 1 / epsilon, size)

    # outside [0, 1] the ratio is constant: each tail is one level set, of which any part may be taken
    inside = interval_masses(lambda x: laplace_cdf(x, 1 / epsilon), lambda x: laplace_cdf(x - 1, 1 / epsilon), 0, 1)
    return Entry(f"Laplace {epsilon:g}", sample, inside, epsilon)


def gaussian(mu: float, delta: float) -> Entry:
    def sample(data, size, rng):
        return rng.normal(-data * mu, 1, size)

    def above(epsilon):
        return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta

    masses = interval_masses(norm.cdf, lambda x: norm.cdf(x + mu), -7, 7, 20000)
    return Entry(f"Gaussian μ={mu:g}, δ={delta:g}", sample, masses, float(brentq(above, 0, 30)), delta)


def geometric(epsilon: float) -> Entry:
    def sample(data, size, rng):
        p = 1 - np.exp(-epsilon)
        return rng.geometric(p, size) - rng.geometric(p, size) + data

    tail = 1 / (1 + math.exp(-epsilon))  # P(two-sided geometric ≤ 0)
    return Entry(f"geometric {epsilon:g}", sample, (np.array([tail, 1 - tail]), np.array([1 - tail, tail])), epsilon)


def discrete(name: str, p0, p1) -> Entry:
    masses = np.asarray(p0) / np.sum(p0), np.asarray(p1) / np.sum(p1)
    cumulative = [np.cumsum(side) for side in masses]

    def sample(data, size, rng):
        found = np.searchsorted(cumulative[data], rng.random(size), side="right")
        return np.minimum(found, len(masses[0]) - 1).astype(float)

    return Entry(name, sample, masses, float(np.max(np.log(masses[0] / masses[1]))))


def vector(epsilon: float, dimension: int, *, spread: bool) -> Entry:
    shift = np.full(dimension, 1 / dimension) if spread else np.eye(dimension)[dimension // 2]

    def sample(data, size, rng):
        return rng.laplace(0, 1 / epsilon, (size, dimension)) + data * shift

    scale, step = 1 / epsilon, (1 / dimension if spread else 1.0)
    one = interval_masses(lambda x: laplace_cdf(x, scale), lambda x: laplace_cdf(x - step, scale), 0, step, 400)
    masses = [side.copy() for side in one]
    for _ in range(dimension - 1 if spread else 0):
        # the loss of a cell is nearly linear in its index, so losses add as indices do
        masses = [np.convolve(total, side) for total, side in zip(masses, one, strict=True)]
    name = f"Laplace d={dimension}, " + ("shift spread over all" if spread else "one coordinate")
    return Entry(name, sample, (masses[0], masses[1]), epsilon)


def noisy_max() -> Entry:
    queries = np.array([[1, 0, 0, 0, 0], [0, 1, 1, 1, 1]], dtype=float)

    def sample(data, size, rng):
        return (queries[data] + rng.laplace(0, 2, (size, 5))).argmax(1)

    def masses(values):
        def winner(x):
            density = np.exp(-np.abs(x - values) / 2) / 4
            below = laplace_cdf(x - values, 2)
            return density * np.prod(below) / below

        return quad_vec(winner, -60, 60, points=[0.0, 1.0])[0]

    sides = masses(queries[0]), masses(queries[1])
    return Entry("noisy max", sample, sides, 1.0)


def sparse_vector(*, noisy: bool) -> Entry:
    queries = np.array([[0] * 4 + [1] * 4, [1] * 4 + [0] * 4], dtype=float)

    def sample(data, size, rng):
        level = rng.laplace(0, 2, size)[:, None]
        above = queries[data] + (rng.laplace(0, 4, (size, 8)) if noisy else 0) >= level
        if not noisy:
            return above @ (2 ** np.arange(8))
        return np.where(above.any(1), above.argmax(1), 8)

    if not noisy:
        low, middle, high = laplace_cdf(0, 2), laplace_cdf(1, 2) - laplace_cdf(0, 2), 1 - laplace_cdf(1, 2)
        sides = np.array([low, middle, 0, high]), np.array([low, 0, middle, high])
        return Entry("SVT buggy (ε = ∞)", sample, sides, math.inf)

    def masses(values):
        def stops(level):
            below = laplace_cdf(level - values, 4)
            before = np.concatenate([[1.0], np.cumprod(below)])
            return np.exp(-abs(level) / 2) / 4 * before * np.append(1 - below, 1.0)

        return quad_vec(stops, -80, 80, points=[0.0, 1.0])[0]

    return Entry("SVT correct", sample, (masses(queries[0]), masses(queries[1])), 1.0)


def leak() -> Entry:
    def sample(data, size, rng):
        outputs = rng.laplace(data, 2, size)
        leaks = rng.random(size) < 1e-3
        outputs[leaks] = 1000 + data + rng.random(np.count_nonzero(leaks))
        return outputs

    broad = interval_masses(lambda x: laplace_cdf(x, 2), lambda x: laplace_cdf(x - 1, 2), 0, 1)
    side0 = np.concatenate([0.999 * broad[0], [1e-3, 0]])
    side1 = np.concatenate([0.999 * broad[1], [0, 1e-3]])
    return Entry("leak 1e-3", sample, (side0, side1), math.inf)


def entries() -> Iterator[Entry]:
    """The mechanisms of the table."""
    rng = np.random.default_rng(5)
    scores = np.arange(10) / 3
    base = rng.dirichlet(np.full(10_000, 2.0))
    signs = np.where(rng.random(10_000) < 0.5, 0.5, -0.5)
    yield from (laplace(0.1), laplace(1), laplace(3), gaussian(1.0, 1e-5), geometric(1))
    yield discrete("randomised response 1", [math.e, 1], [1, math.e])
    yield discrete("exponential mechanism", np.exp(0.5 * scores), np.exp(0.5 * (scores + np.arange(10) % 2)))
    yield from (vector(1, 5, spread=True), vector(1, 20, spread=True))
    yield from (vector(1, 5, spread=False), vector(1, 20, spread=False))
    yield from (noisy_max(), sparse_vector(noisy=True), sparse_vector(noisy=False), leak())
    yield discrete("10⁴ outcomes", base * np.exp(signs), base * np.exp(-signs))


def oracle(entry: Entry, runs: int, error: float = 1 - CONFIDENCE) -> float:
    """The best expected bound of a level set of the true likelihood ratio, ``runs`` runs a side."""
    best = 0.0
    for p, q in (entry.masses, entry.masses[::-1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(np.nan_to_num(np.log(q) - np.log(p), nan=0.0), kind="stable")
        hits, others = runs * np.cumsum(p[order]), runs * np.cumsum(q[order])
        low = beta.ppf(error / 2, hits, np.maximum(runs - hits, 0) + 1)
        high = beta.ppf(1 - error / 2, others + 1, np.maximum(runs - others, 1e-9))
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = np.log(np.maximum(low - entry.delta, 0.0) / high)
        best = max(best, float(np.nanmax(bounds)))
    return best


def measured(entry: Entry, runs: int, seeds: range) -> tuple[np.ndarray[Any, Any], float]:
    """The lower bounds of audits with 2·``runs`` runs, and the mean seconds of one."""
    claim = dp.PureDP(1.0) if entry.delta == 0 else dp.ApproxDP(1.0, entry.delta)
    started = time.perf_counter()
    bounds = [
        dp.audit(
            dp.mechanism(entry.sample, name=entry.name),
            claim=claim,
            pairs=[(0, 1)],
            runs=2 * runs,
            seed=seed,
            confidence=CONFIDENCE,
            floating_point="ignore",
        )
        for seed in seeds
    ]
    values = np.array([evidence.lower.value if evidence.attempts else math.nan for evidence in bounds])
    return values, (time.perf_counter() - started) / len(seeds)


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=float, nargs="+", default=[1e4, 1e5], help="runs a side")
    parser.add_argument("--only", default="", help="mechanisms whose name contains this")
    chosen = parser.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    header = "| mechanism | " + " | ".join(
        f"oracle {runs:g} | median ratio | worst ratio | seconds" for runs in chosen.runs
    )
    lines = [header + " |", "|---" * (1 + 4 * len(chosen.runs)) + "|"]
    print("\n".join(lines))
    for entry in entries():
        if chosen.only not in entry.name:
            continue
        cells = [entry.name]
        for runs in map(int, chosen.runs):
            best = oracle(entry, runs)
            values, seconds = measured(entry, runs, seeds)
            ratios = values / best
            cells += [f"{best:.3f}", f"{np.median(ratios):.3f}", f"{ratios.min():.3f}", f"{seconds:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    if not chosen.only:
        text = f"# Bounds of whole audits over the oracle's, {chosen.seeds} seeds from {chosen.first_seed}\n\n"
        text += "The oracle knows the likelihood ratio and spends all runs on two Clopper-Pearson bounds.\n\n"
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
