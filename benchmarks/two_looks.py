"""How rarely is a mechanism called VIOLATED that just keeps its claim, and what does the rule of two looks cost?

Rarely: whole audits of mechanisms as lossy as they claim, learning included; how many are red at the first look and in
the end, judged by binomial tests at 5 % and at the false alarm. Cost: their runs over the runs that were asked for.
Power: the runs with which a false claim of ε = 1 is refuted in 90 % of audits, by the rule, by one look at 5 % and by
one at the false alarm. The last part is computed from guesses, where every probability is that of a binomial.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import betainc
from scipy.stats import binomtest

import dpaudit as dp
from dpaudit.bounds.looks import AGAIN, FALSE_ALARM, Rule

TABLE = Path(__file__).parent / "results" / "two_looks.md"
FIRST_SEED, ERROR = 50_000, 0.05
LEARNING = 0.25  # of the runs, where they are few


def response(data: int, size: int, rng: np.random.Generator) -> Any:
    """ln 3-DP, and no less."""
    return (data + (rng.random(size) < 0.25)) % 2


def laplace(data: float, size: int, rng: np.random.Generator) -> Any:
    """1-DP, and no less."""
    return data + rng.laplace(0, 1, size)


def geometric(data: int, size: int, rng: np.random.Generator) -> Any:
    """1-DP, and no less: a two-sided geometric."""
    p = 1 - math.exp(-1)
    return data + rng.geometric(p, size) - rng.geometric(p, size)


@dataclass(frozen=True)
class Case:
    """A mechanism and what it just keeps."""

    name: str
    function: Callable[..., Any]
    claim: str
    runs: int

    def audit(self, seed: int) -> tuple[bool, bool, float]:
        """Whether the first look was above the claim, whether the claim was called violated, and runs over runs."""
        evidence = dp.audit(
            self.function,
            claim=self.claim,
            pairs=[(1, 0)],
            relation="declared",
            runs=self.runs,
            confidence=1 - ERROR,
            floating_point="ignore",
            seed=seed,
        )
        claim = evidence.claimed
        assert claim is not None
        return evidence.lower.value > claim.value, evidence.verdict is dp.Verdict.VIOLATED, evidence.runs / self.runs


CASES = (
    Case("randomised response", response, f"epsilon={math.log(3)!r}", 6_000),
    Case("Laplace", laplace, "epsilon=1", 6_000),
    Case("geometric", geometric, "epsilon=1", 6_000),
)


def rarely(case: Case, count: int, jobs: int) -> tuple[str, int, int]:
    """A row about one mechanism, and its false alarms."""
    clock = time.perf_counter()
    seeds = range(FIRST_SEED, FIRST_SEED + count)
    found = list(Parallel(n_jobs=jobs)(delayed(partial(Case.audit, case))(seed) for seed in seeds))
    first, red = sum(one for one, _, _ in found), sum(two for _, two, _ in found)
    mean = sum(runs for _, _, runs in found) / count
    seconds = time.perf_counter() - clock
    return f"| {case.name} | {case.runs} | {count} | {first} | {red} | {mean:.3f} | {seconds:.0f} s |", first, red


def p_value(right: Any, guesses: Any, claim: float) -> Any:
    """The chance of so many right guesses at the claim."""
    return np.where(right <= 0, 1.0, betainc(np.maximum(right, 1), guesses - np.maximum(right, 1) + 1, claim))


def power(runs: int, epsilon: float, rule: Rule, rng: np.random.Generator, times: int = 20_000) -> tuple[float, float]:
    """How often a loss is found in so many runs, and how many runs that takes on average."""
    made = int(runs * (1 - LEARNING))
    claim, truth = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-epsilon))
    p = p_value(rng.binomial(made, truth, times), made, claim)
    rounded = np.full(times, np.nan)
    for level in rule.levels:
        rounded[p <= level] = level
    second = AGAIN * made
    again = p_value(rng.binomial(second, truth, times), second, claim)
    sure = p <= rule.at_once
    due = ~np.isnan(rounded) & ~sure if rule.twice else np.zeros(times, dtype=bool)
    with np.errstate(invalid="ignore"):
        found = sure | (due & (again <= rule.second(1.0) / rounded))
    return float(found.mean()), runs + float(due.mean()) * second


def needed(epsilon: float, rule: Rule, rng: np.random.Generator) -> tuple[int, float]:
    """The least runs with power 0.9, and the runs that they take on average."""
    low, high = 20.0, 1e6
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if power(int(middle), epsilon, rule, rng)[0] < 0.9 else (low, middle)
    return int(high), power(int(high), epsilon, rule, rng)[1]


def table(count: int, jobs: int) -> str:
    """The whole page."""
    found = [rarely(case, count // len(CASES), jobs) for case in CASES]
    audits, first, red = count // len(CASES) * len(CASES), sum(one for _, one, _ in found), sum(r for _, _, r in found)
    judged = [binomtest(first, audits, ERROR, alternative="greater").pvalue]
    judged.append(binomtest(red, audits, FALSE_ALARM, alternative="greater").pvalue)
    rows = "\n".join(row for row, _, _ in found)
    rng, lines = np.random.default_rng(FIRST_SEED), []
    for epsilon in (1.1, 1.2, 1.5, 2.0):
        usual, two, one = (
            needed(epsilon, rule, rng)
            for rule in (Rule(ERROR, ERROR), Rule(ERROR, FALSE_ALARM), Rule(ERROR, FALSE_ALARM, repeatable=False))
        )
        lines.append(
            f"| {epsilon} | {usual[0]} | {two[0]} | {two[1]:.0f} ({two[1] / usual[0]:.2f}) | {one[0]} "
            f"({one[0] / usual[0]:.2f}) |"
        )
    return f"""# Two looks

`python benchmarks/two_looks.py --audits {count}`. Whole audits of mechanisms that lose just what they claim.

| mechanism | runs asked for | audits | above the claim at first | VIOLATED | mean runs over runs asked for | |
|---|---|---|---|---|---|---|
{rows}

Of {audits} audits {first} were above the claim at the first look (p = {judged[0]:.2g} at 5 %), and {red} were called
VIOLATED (p = {judged[1]:.2g} at {FALSE_ALARM:g}).

Runs in all with which a claim of ε = 1 is refuted in 90 % of audits by guesses, a quarter of them for learning:

| true ε | one look at 5 % | two looks: runs asked for | on average (over one at 5 %) | one look at 0.1 % |
|---|---|---|---|---|
{chr(10).join(lines)}
"""


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    text = table(arguments.audits, arguments.jobs)
    TABLE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
