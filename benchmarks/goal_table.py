"""How close does an audit come to the best possible pair of Clopper–Pearson bounds, given the truth?

For 16 mechanisms: the lower bound of `dpaudit.audit`, which learns its event from part of its runs, divided by that of
the *oracle*. The oracle knows the likelihood ratio. Its event is the level set that maximises the expected value of
log((CP_lower(k, n, a/2) − δ)/CP_upper(l, n, a/2)), and it spends all n runs a side on the counts k and l. Medians are
compared with medians, and the worst of our seeds with the expected worst of equally many repetitions of the oracle.

Seeds 0 to 99 are for tuning; reported seeds start at 1000. Every audit is stored in a JSON file next to the table, so
that the command can be interrupted and resumed:

    python benchmarks/goal_table.py [--resume] [--only laplace] [--runs 1e6] [--seeds 20] [--jobs 2]

Without ``--resume`` the chosen cells are measured again. Cells that another version of the code measured are marked in
the table, and always measured again.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from frame import RESULTS, code, head, line, made, options, save
from joblib import Parallel, delayed
from scipy.integrate import quad_vec
from scipy.optimize import brentq
from scipy.stats import beta, binom, norm

import dpaudit as dp
from dpaudit.stats.guessing import guess_bound

CONFIDENCE = 0.95
ERROR = 1 - CONFIDENCE
TABLE = RESULTS / "goal_table.md"
RUNS = [10**4, 10**5, 10**6, 10**7]
WORST = 0.9  # the goal for the worst seed, over the oracle's own worst
_CLEARLY = 0.995  # of the oracle's median: what the best learner reaches is drawn, and uncertain by about as much
_DRAWS = 20_000  # repetitions of the oracle
_LEARNERS = 200  # repetitions of the best learner
_SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7)  # of the runs for learning

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Entry:
    """A mechanism on its pair of datasets 0 and 1, and the masses of the cells of its likelihood ratio.

    ``masses`` are the probabilities of cells under side 0 and side 1, in any order. ``reach`` returns, for a number of
    runs a side, the median bound of the best learner who knows the law's family; it is given where no auditor who has
    to learn the law can come near the oracle.
    """

    name: str
    sample: Callable[[int, int, np.random.Generator], np.ndarray[Any, Any]]
    masses: tuple[Floats, Floats]
    loss: float
    delta: float = 0.0
    most: int = RUNS[-1]
    reach: Callable[[int], float] | None = None


def laplace_cdf(x, scale):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0) / scale), 1 - 0.5 * np.exp(-np.maximum(x, 0) / scale))


def interval_masses(cdf0, cdf1, low: float, high: float, cells: int = 4000):
    """Return the masses of equal cells between ``low`` and ``high``, and of the two tails."""
    edges = np.concatenate([[-np.inf], np.linspace(low, high, cells + 1), [np.inf]])
    return np.diff(cdf0(edges)), np.diff(cdf1(edges))


def laplace(epsilon: float) -> Entry:
    def sample(data, size, rng):
        return rng.laplace(data, 1 / epsilon, size)

    # outside [0, 1] the ratio is constant, so each tail is one level set, of which any part may be used
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

    return Entry(name, sample, masses, float(np.max(np.abs(np.log(masses[0] / masses[1])))))


def vector(epsilon: float, dimension: int, *, spread: bool) -> Entry:
    shift = np.full(dimension, 1 / dimension) if spread else np.eye(dimension)[dimension // 2]

    def sample(data, size, rng):
        return rng.laplace(0, 1 / epsilon, (size, dimension)) + data * shift

    scale, step = 1 / epsilon, (1 / dimension if spread else 1.0)
    one = interval_masses(lambda x: laplace_cdf(x, scale), lambda x: laplace_cdf(x - step, scale), 0, step, 400)
    masses = [side.copy() for side in one]
    for _ in range(dimension - 1 if spread else 0):
        # the loss of a cell is nearly linear in its index, so losses add like indices
        masses = [np.convolve(total, side) for total, side in zip(masses, one, strict=True)]
    name = f"Laplace d={dimension}, " + ("shift spread over all" if spread else "one coordinate")
    reach = partial(reach_of_signs, scale, step, dimension) if spread else None
    return Entry(name, sample, (masses[0], masses[1]), epsilon, most=10**6, reach=reach)


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
    """Yield the mechanisms of the table."""
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
    many = discrete("10⁴ outcomes", base * np.exp(signs), base * np.exp(-signs))
    yield replace(many, reach=partial(reach_of_outcomes, many.masses))


def two_bounds(hits, others, runs: int, delta: float):
    """Return the bound from two Clopper–Pearson bounds, with error a/2 each."""
    low = beta.ppf(ERROR / 2, np.maximum(hits, 1e-12), runs - hits + 1)
    high = beta.ppf(1 - ERROR / 2, others + 1, np.maximum(runs - others, 1e-12))
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(np.maximum(np.where(hits > 0, low, 0.0) - delta, 0.0) / high), 0.0)


def oracle(entry: Entry, runs: int) -> tuple[float, float]:
    """Return the probabilities on both sides of the level set with the largest expected bound, at ``runs`` a side."""
    best, found = -1.0, (0.0, 0.0)
    ranks = (np.arange(48) + 0.5) / 48  # quantiles of the counts: their mean approximates the expectation
    for side in (entry.masses, entry.masses[::-1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(np.nan_to_num(np.log(side[1]) - np.log(side[0]), nan=0.0), kind="stable")
        p, q = (np.clip(np.cumsum(masses[order]), 0.0, 1.0) for masses in side)
        plain = two_bounds(runs * p, runs * q, runs, entry.delta)  # at the expected counts
        tried = np.unique(np.concatenate([np.argsort(-plain)[:60], np.linspace(0, len(p) - 1, 140).astype(int)]))
        p, q = p[tried], q[tried]
        hits, others = (binom.ppf(ranks[:, None], runs, rate) for rate in (p, q))
        expected = two_bounds(hits[:, None], others[None], runs, entry.delta).mean(axis=(0, 1))
        at = int(np.argmax(expected))
        if expected[at] > best:
            best, found = float(expected[at]), (float(p[at]), float(q[at]))
    return found


def oracle_bounds(entry: Entry, runs: int) -> Floats:
    """Return the bounds of many repetitions of the oracle, whose counts are binomial."""
    p, q = oracle(entry, runs)
    rng = np.random.default_rng(runs)
    return two_bounds(rng.binomial(runs, p, _DRAWS), rng.binomial(runs, q, _DRAWS), runs, entry.delta)


def expected_least(draws: Floats, number: int) -> float:
    """Return the expected minimum of ``number`` of the draws, with replacement."""
    above = (np.arange(len(draws), -1, -1) / len(draws)) ** number
    return float(np.sort(draws) @ -np.diff(above))


def reach_of_outcomes(masses: tuple[Floats, Floats], runs: int) -> float:
    """Return the median bound of the best learner who knows that every outcome's loss is 1 or −1, but not which.

    For an outcome seen a and b times on the two sides the odds are e^(a − b), whatever its weight. So the learner
    guesses by the sign of a − b, towards both sides or one, wherever |a − b| exceeds a threshold. The threshold and the
    share of the runs for learning are the best ones.
    """
    rng = np.random.default_rng(runs)
    bounds = np.zeros((_LEARNERS, len(_SHARES), 8, 3))
    for i, (j, share) in product(range(_LEARNERS), enumerate(_SHARES)):
        seen = rng.poisson(share * runs * masses[0]) - rng.poisson(share * runs * masses[1])
        for least in range(8):
            # correct and wrong guesses, by outcomes for side 0 and for side 1, or by one of the two only
            front, back = seen > least, seen < -least
            rates = np.array([[masses[0][front].sum(), masses[1][front].sum()]] * 3)
            rates[1] = masses[1][back].sum(), masses[0][back].sum()
            rates[2] += rates[1]
            bounds[i, j, least] = [one_guess(*pair / 2, int(2 * runs * (1 - share)), rng) for pair in rates]
    return best_median(bounds.reshape(_LEARNERS, -1))


def best_median(bounds: Floats) -> float:
    """Return the median of the best column, which is chosen on half of the rows and evaluated on the other half."""
    half = len(bounds) // 2
    return float(np.median(bounds[half:, np.argmax(np.median(bounds[:half], axis=0))]))


def reach_of_signs(scale: float, step: float, dimension: int, runs: int) -> float:
    """Return the median bound of a learner who knows that all coordinates move by ``step``, but not the directions.

    It decides each coordinate's direction by the likelihood ratio of its learning runs, and guesses by the level sets
    that follow. The share of the runs for learning is the best one.
    """
    cuts = np.linspace(0, step, 401)
    at_home = interval_masses_of(lambda x: laplace_cdf(x, scale), cuts)
    moved, wrongly = (interval_masses_of(lambda x, by=by: laplace_cdf(x - by, scale), cuts) for by in (step, -step))
    fine = np.linspace(-step, step, 2001)
    law = interval_masses_of(lambda x: laplace_cdf(x - step, scale), fine)
    tells = np.concatenate([[-2 * step], fine[:-1] + fine[1:], [2 * step]]) / scale
    mean = float(law @ tells)
    spread = math.sqrt(float(law @ tells**2) - mean**2)
    home, laws = at_home, []
    for _ in range(dimension - 1):
        home = np.convolve(home, at_home)
    for mistakes in range(dimension + 1):
        law = np.ones(1)
        for coordinate in range(dimension):
            law = np.convolve(law, wrongly if coordinate < mistakes else moved)
        laws.append(law)
    rng = np.random.default_rng(runs)
    bounds = np.zeros((_LEARNERS, len(_SHARES)))
    for column, share in enumerate(_SHARES):
        mistaken = float(norm.cdf(-mean / spread * math.sqrt(share * runs)))
        chances = binom.pmf(np.arange(dimension + 1), dimension, mistaken)
        front, back = best_ends(home, chances @ np.array(laws), int(2 * runs * (1 - share)))
        for i, mistakes in enumerate(rng.binomial(dimension, mistaken, _LEARNERS)):
            other = laws[mistakes]
            right, wrong = home[:front].sum() + other[back:].sum(), other[:front].sum() + home[back:].sum()
            bounds[i, column] = one_guess(right / 2, wrong / 2, int(2 * runs * (1 - share)), rng)
    return best_median(bounds)


def interval_masses_of(cdf: Callable[[Floats], Floats], cuts: Floats) -> Floats:
    """Return the masses of the cells between cuts, and of the two tails."""
    return np.diff(cdf(np.concatenate([[-np.inf], cuts, [np.inf]])))


def best_ends(home: Floats, other: Floats, runs: int) -> tuple[int, int]:
    """Return where the two tails of cells begin whose guesses have the largest expected bound, with ``runs`` runs."""
    ends = np.unique(np.searchsorted(np.cumsum((home + other) / 2), np.linspace(0.002, 0.998, 200)))
    below0, below1 = (np.concatenate([[0.0], np.cumsum(law)]) for law in (home, other))
    first, second = np.triu_indices(len(ends))
    front, back = ends[first], ends[second]
    right = runs * (below0[front] + 1 - below1[back]) / 2
    wrong = runs * (below1[front] + 1 - below0[back]) / 2
    at = int(np.argmax(guess_bound(right, wrong, ERROR)))
    return int(front[at]), int(back[at])


def one_guess(right: float, wrong: float, runs: int, rng: np.random.Generator) -> float:
    """Return the bound of one repetition of guesses with these probabilities of being correct and wrong."""
    counts = rng.multinomial(runs, [right, wrong, max(1 - right - wrong, 0.0)])
    return float(guess_bound(counts[0], counts[1], ERROR))


def audited(entry: Entry, runs: int, seed: int) -> tuple[float, float]:
    """Return the lower bound of an audit with 2·``runs`` runs, and its seconds; 0 if it is INVALID."""
    claim = dp.PureDP(1.0) if entry.delta == 0 else dp.ApproxDP(1.0, entry.delta)
    mechanism = dp.mechanism(entry.sample, name=entry.name)
    clock = time.perf_counter()
    evidence = dp.audit(
        mechanism,
        claim=claim,
        pairs=[(0, 1)],
        runs=2 * runs,
        seed=seed,
        confidence=CONFIDENCE,
        floating_point="ignore",
    )
    return evidence.lower.value, time.perf_counter() - clock


def row(
    entry: Entry, runs: int, cell: dict[str, Any], now: dict[str, str], reach: dict[str, float]
) -> tuple[str, Literal["reached", "beyond", "missed"]]:
    """Return one line of the table, and whether the goal is reached, beyond anyone's reach, or missed."""
    bounds, seconds = (np.array(values) for values in zip(*cell["audits"].values(), strict=True))
    draws = oracle_bounds(entry, runs)
    middle, own = float(np.median(draws)), expected_least(draws, len(bounds))
    ratio = float(np.median(bounds)) / middle
    worst, drawn = (float(bounds.min()) / max(least, 1e-12) for least in (own, float(draws[: len(bounds)].min())))
    reached = ratio >= 1 and worst >= WORST
    beyond = ratio < 1 and reach.get(str(runs), math.inf) < _CLEARLY * middle
    texts = [
        entry.name + ("" if cell["code"] == now else " †") + ("" if len(bounds) == 20 else f" ({len(bounds)} seeds)"),
        f"{middle:.4g}",
        f"**{ratio:.3f}**" if ratio >= 1 else f"{ratio:.3f}",
        f"{reach[str(runs)] / middle:.3f}" if str(runs) in reach else "",
        f"{worst:.3f}",
        f"{drawn:.3f}",
        f"{np.median(seconds):.2f}",
        "✓"
        if reached
        else "not reachable" + ", worst" * (worst < WORST)
        if beyond
        else "median" * (ratio < 1) + " and " * (ratio < 1 and worst < WORST) + "worst" * (worst < WORST),
    ]
    return line(texts), "reached" if reached else "beyond" if beyond else "missed"


def table(known: list[Entry], cells: dict[str, Any], reach: dict[str, Any], first: int) -> str:
    """Return the whole text, from all cells that were ever measured."""
    now = code()
    texts = [f"# Bounds of whole audits over the oracle's, seeds from {first}\n"]
    goals = []
    for runs in sorted({int(runs) for of_entry in cells.values() for runs in of_entry}):
        texts.append(f"## {runs:.0e} runs a side\n".replace("e+0", "e"))
        texts += head(
            "mechanism",
            "oracle's median",
            "our median / it",
            "reachable / it",
            "our worst / its expected worst",
            "our worst / its drawn worst",
            "seconds",
            "goal",
        )
        for entry in known:
            if str(runs) in cells.get(entry.name, {}):
                cell = cells[entry.name][str(runs)]
                shown, reached = row(entry, runs, cell, now, reach.get(entry.name, {}))
                texts.append(shown)
                goals.append(reached)
        texts.append("")
    beyond = f" {goals.count('beyond')} further cells are not reachable by anyone." if "beyond" in goals else ""
    texts.insert(1, f"The goal is reached in {goals.count('reached')} of {len(goals)} cells: {_GOAL}{beyond}\n")
    texts.append(f"{_LEGEND}\n\n{made()}")
    return "\n".join(texts) + "\n"


_GOAL = f"a median of at least 1.00, and a worst seed of at least {WORST} of what the oracle's worst is on average."
_LEGEND = """Oracle: knows the likelihood ratio and spends all runs on two Clopper-Pearson bounds of the level set
whose expected bound is greatest. Its median and its expected worst are those of 20,000 repetitions; the drawn worst is
that of as many repetitions as there are seeds. Reachable: the median of the best learner who knows the law's family
and nothing of its parameters (10⁴ outcomes: all losses are 1 or −1, but not which; shift spread over all: the size of
the shift in every coordinate, but not its direction); where that is clearly below the oracle's median,
the goal is "not reachable" by anyone. Seconds: the median wall time of an audit.
†: measured by another version of the code than the one named below."""


def measure(
    entry: Entry, runs: int, seeds: list[int], jobs: int, cell: dict[str, Any], keep: Callable[[], None]
) -> None:
    """Fill a cell audit by audit, storing each at once."""
    calls = (delayed(_numbered)(entry, runs, seed) for seed in seeds)
    for seed, bound, seconds in Parallel(n_jobs=jobs, return_as="generator")(calls):
        cell["audits"][str(seed)] = [bound, round(seconds, 3)]
        keep()


def _numbered(entry: Entry, runs: int, seed: int) -> tuple[int, float, float]:
    return (seed, *audited(entry, runs, seed))


def main() -> None:
    """Measure the chosen cells, and write the table of all of them."""
    chosen = options(
        __doc__, seeds=20, first_seed=1000, runs=[*map(float, RUNS)], only="", resume=False, jobs=1, table=TABLE
    )
    store: Path = chosen.table.with_suffix(".json")
    kept = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {"cells": {}, "reach": {}}
    known, now = list(entries()), code()

    def keep() -> None:
        save(store, json.dumps(kept, ensure_ascii=False, indent=1) + "\n")

    for runs in map(int, chosen.runs):
        for entry in known:
            if chosen.only.lower() not in entry.name.lower() or runs > entry.most:
                continue
            of_entry = kept["cells"].setdefault(entry.name, {})
            wanted = list(range(chosen.first_seed, chosen.first_seed + chosen.seeds))
            old = of_entry.get(str(runs), {})
            usable = chosen.resume and old.get("code") == now
            done = {seed: audit for seed, audit in old.get("audits", {}).items() if usable and int(seed) in wanted}
            cell = of_entry[str(runs)] = {"code": now, "audits": done}
            reach = kept["reach"].setdefault(entry.name, {})
            if entry.reach is not None and str(runs) not in reach:
                reach[str(runs)] = entry.reach(runs)
            measure(entry, runs, [seed for seed in wanted if str(seed) not in done], chosen.jobs, cell, keep)
            print(f"{runs:>10,} {row(entry, runs, cell, now, reach)[0]}", flush=True)
    save(chosen.table, table(known, kept["cells"], kept["reach"], chosen.first_seed))


if __name__ == "__main__":
    main()
