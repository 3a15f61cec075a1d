"""How soon does a sequential audit refute a false claim, and how rarely a true one?

Soon: the median of all runs, including those that chose events, over audits with fresh seeds. Rarely: audits of
mechanisms that just keep their claim, checked after every run (at 512 moments of longer blocks); how many are ever
refuted before their limit, with a binomial test at the nominal rate. Both with the default false alarm probability of 1
in 1,000, and with 5 %. The bets do not depend on that probability, so a true claim that is not refuted at 5 % is not at
1 in 1,000 either: only those that are refuted, and the first fifty, are audited at both. Surely: an audit of a
mechanism that keeps its claim says which violation it would have found; then audits of a mechanism with exactly that
loss, with the same limit.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binomtest

import dpaudit as dp
from dpaudit.stats.two_looks import FALSE_ALARM

TABLE = Path(__file__).parent / "results" / "sequential.md"
FIRST_SEED = 9000  # smaller seeds were used for tuning
ALARMS = (FALSE_ALARM, 0.05)  # the default, and the error of the bounds that are shown
BOTH = 50  # audits of each true claim at both of them, whatever they find


def laplace(data: float, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    """Laplace noise: 1/scale for data that differ by 1."""
    return data + rng.laplace(0, scale, size)


def gaussian(data: float, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    """1-GDP, 1/2-zCDP and, at order 2, 1-Rényi-DP for data that differ by 1."""
    return data + rng.normal(0, scale, size)


def leak(data: float, size: int, rng: np.random.Generator) -> Any:
    """Laplace noise for ε = 1/2, and one run in a thousand in which side 0 reveals itself."""
    outputs = data + rng.laplace(0, 2, size)
    if data == 1:
        outputs[rng.random(size) < 1e-3] = 1000
    return outputs


def randomised_response(data: int, size: int, rng: np.random.Generator) -> Any:
    """Exactly ln 3-DP."""
    return (data + (rng.random(size) < 0.25)) % 2


def catastrophe(data: int, size: int, rng: np.random.Generator) -> Any:
    """Exactly (0, 0.05)-DP: each side reveals itself in a twentieth of all runs."""
    return np.where(rng.random(size) < 0.05, data + 1, 0)


@dataclass(frozen=True)
class Case:
    """What is audited, against which claim, and with how many runs."""

    name: str
    function: Callable[..., Any]
    claim: str
    runs: int  # the goal of a false claim, the limit of a true one
    parameters: dict[str, float] = field(default_factory=dict)
    pairs: tuple[tuple[float, float], ...] = ((1, 0),)

    def audit(self, seed: int, limit: int, false_alarm: float) -> tuple[bool, int]:
        """Return whether the claim was refuted, and after how many runs."""
        evidence = dp.audit(
            self.function,
            claim=self.claim,
            parameters=self.parameters,
            pairs=list(self.pairs),
            relation="declared",
            sequential=True,
            runs=limit,
            confidence=0.95,
            false_alarm=false_alarm,
            seed=seed,
        )
        if evidence.sequential is None:
            raise RuntimeError(f"{self.name}, seed {seed}: {evidence.reason}")
        return evidence.sequential.stopped, evidence.runs


FALSE = (
    Case("Laplace, truly 2", laplace, "epsilon=1", 200, {"scale": 1 / 2}),
    Case("Laplace, truly 1.5", laplace, "epsilon=1", 550, {"scale": 1 / 1.5}),
    Case("Laplace, truly 1.2", laplace, "epsilon=1", 3_000, {"scale": 1 / 1.2}),
    Case("Laplace, truly 1.1", laplace, "epsilon=1", 10_000, {"scale": 1 / 1.1}),
    Case("Laplace, truly 1", laplace, "epsilon=0.5", 300),
    Case("Laplace, truly 1", laplace, "epsilon=0.8", 1_800),
    Case("Gaussian, truly μ = 1", gaussian, "mu=0.5", 167),
    Case("Gaussian, truly μ = 1", gaussian, "mu=0.8", 622),
    Case("a leak of probability 1e-3", leak, "epsilon=0.5", 60_000),
)
TRUE = (
    Case("randomised response", randomised_response, f"epsilon={math.log(3)!r}", 1_000),
    Case("Laplace", laplace, "epsilon=1", 1_000),
    Case("catastrophe", catastrophe, "epsilon=0, delta=0.05", 1_000),
    Case("Gaussian", gaussian, "mu=1", 1_000),
    Case("Gaussian", gaussian, "rho=0.5", 500),
    Case("Gaussian", gaussian, "order=2, epsilon=1", 500),
    Case("randomised response, three pairs", randomised_response, f"epsilon={math.log(3)!r}", 1_500, {}, ((1, 0),) * 3),
)


def repeated(
    case: Case, count: int, limit: int, false_alarm: float, jobs: int, seeds: Sequence[int] = ()
) -> list[tuple[bool, int]]:
    """Return the results of audits with fresh seeds, or those given, in their order."""
    seeds = seeds or range(FIRST_SEED, FIRST_SEED + count)
    if jobs == 1:
        return [case.audit(seed, limit, false_alarm) for seed in seeds]
    audit = delayed(partial(Case.audit, case))
    return list(Parallel(n_jobs=jobs)(audit(seed, limit, false_alarm) for seed in seeds))


def soon(case: Case, false_alarm: float, count: int, jobs: int) -> str:
    """Return a row about a false claim; the goal is for a false alarm probability of 5 %."""
    clock = time.perf_counter()
    found = repeated(case, count, 10 * case.runs, false_alarm, jobs)
    needed = [float(runs) if stopped else np.inf for stopped, runs in found]
    late = float(np.quantile(needed, 0.9, method="higher"))
    shown = "more than the limit" if np.isinf(late) else f"{late:,.0f}"
    seconds = (time.perf_counter() - clock) * jobs / count
    goal = f"{case.runs:,}" if false_alarm == 0.05 else "–"
    return (
        f"| {case.name} | {case.claim} | {100 * false_alarm:g} % | {np.median(needed):,.0f} | {goal} | {shown} "
        f"| {sum(stopped for stopped, _ in found)} of {count} | {seconds:.1f} s |"
    )


def rarely(case: Case, count: int, jobs: int) -> list[str]:
    """Return the rows about a true claim, at both false alarm probabilities."""
    often = repeated(case, count, case.runs, max(ALARMS), jobs)
    again = [FIRST_SEED + place for place, (stopped, _) in enumerate(often) if stopped or place < BOTH]
    seldom = repeated(case, 0, case.runs, min(ALARMS), jobs, again)
    same = zip(seldom, (often[seed - FIRST_SEED] for seed in again), strict=True)
    assert all(found == other or other[0] for found, other in same), "an audit ended otherwise at a rarer false alarm"
    claim = case.claim if len(case.claim) < 20 else f"{case.claim[:12]}…"
    rows = []
    for false_alarm, found in ((min(ALARMS), seldom), (max(ALARMS), often)):
        wrong = sum(stopped for stopped, _ in found)
        chance = binomtest(wrong, count, false_alarm, alternative="greater").pvalue
        nominal, rate = f"{100 * false_alarm:g} %", f"{100 * wrong / count:.2f} %"
        counted = f"{wrong} of {count:,} | {rate} | {chance:.3f}"
        rows.append(f"| {case.name} | {claim} | {nominal} | {case.runs:,} | {counted} |")
    return rows


SURE = (
    Case("Laplace", laplace, "epsilon=1", 5_000),
    Case("Gaussian", gaussian, "mu=1", 5_000),
)


def surely(case: Case, count: int, jobs: int) -> str:
    """Return a row about the violation that an audit would have found."""
    pairs = list(case.pairs)
    options: Any = {"claim": case.claim, "pairs": pairs, "relation": "declared", "runs": case.runs}
    kept = dp.audit(case.function, sequential=True, seed=FIRST_SEED, **options)
    assert kept.detectable is not None
    there = replace(case, parameters={"scale": 1 / kept.detectable})
    found = sum(stopped for stopped, _ in repeated(there, count, case.runs, FALSE_ALARM, jobs))
    return f"| {case.name} | {case.claim} | {case.runs:,} | {kept.detectable:.4g} | {found} of {count} |"


def main() -> None:
    """Print both tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100, help="audits of each false claim")
    parser.add_argument("--repetitions", type=int, default=1000, help="audits of each true claim")
    parser.add_argument("--jobs", type=int, default=2, help="audits at a time")
    parser.add_argument("--trial", action="store_true", help="write nothing")
    chosen = parser.parse_args()
    lines = ["# Sequential audits", ""]

    def tell(line: str) -> None:
        lines.append(line)
        print(line, flush=True)
        if not chosen.trial:
            TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")

    tell(f"False claims, {chosen.seeds} fresh seeds from {FIRST_SEED}: runs in all until they were refuted.\n")
    tell(
        "| mechanism | claim | false alarm | median runs | goal | nine in ten | within ten times the goal | an audit |"
    )
    tell("|---|---|---|---|---|---|---|---|")
    for case in FALSE:
        for false_alarm in ALARMS:
            tell(soon(case, false_alarm, chosen.seeds, chosen.jobs))
    tell("\nTrue claims that just hold: audits that refuted them at any moment.\n")
    tell("| mechanism | claim | false alarm | limit of runs | refuted | rate | p-value of more than that |")
    tell("|---|---|---|---|---|---|---|")
    for case in TRUE:
        for row in rarely(case, chosen.repetitions, chosen.jobs):
            tell(row)
    tell(f"\nAt the loss that an audit of a true claim calls detectable, at the default, {chosen.seeds} fresh seeds.\n")
    tell("| mechanism | claim | limit of runs | detectable | refuted |")
    tell("|---|---|---|---|---|")
    for case in SURE:
        tell(surely(case, chosen.seeds, chosen.jobs))


if __name__ == "__main__":
    main()
