"""Does a search find the one pair that breaks the claim, and how often does it raise a false alarm?

Laplace noise of scale 1 on one number, claimed to be 1-DP. Pairs are exactly 1 (or 0.5) apart and keep the claim; one
of them, at a random place, is 1.2 apart and breaks it. An audit succeeds if it says VIOLATED on that pair.

- *alike*: all pairs except the bad one are the same two datasets;
- *shared*: all pairs have one side in common, as the neighbours of one dataset have;
- *apart*: no two pairs have a side in common;
- *none*: every pair keeps the claim exactly, so that each VIOLATED is a false alarm.

    python benchmarks/search.py [--seeds 200] [--jobs 2] [--only NAME]

writes results/search.md where all cases are measured, on at least 200 seeds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from frame import Page, options, side_by_side
from scipy.stats import binomtest

import dpaudit as dp

CLAIMED, BAD, FIRST_SEED = 1.0, 1.2, 5000


@dataclass(frozen=True)
class Case:
    """Pairs to search, the runs in all, and the promised rate of successes (or false alarms)."""

    name: str
    pairs: int
    others: float
    runs: int
    kind: str = "shared"
    bad: bool = True
    share: float = 1.0  # of the seeds
    goal: float | None = None


CASES = (
    Case("50 shared, others at 1", 50, 1.0, 70_000, goal=0.95),
    Case("50 shared, others at 0.5", 50, 0.5, 70_000, goal=0.95),
    Case("500 shared, others at 1", 500, 1.0, 280_000, share=0.5, goal=0.95),
    Case("500 shared, others at 0.5", 500, 0.5, 280_000, share=0.5, goal=0.95),
    Case("50 alike, others at 1", 50, 1.0, 70_000, "alike", goal=0.95),
    Case("50 apart, others at 1", 50, 1.0, 70_000, "apart"),
    Case("50 apart, others at 0.5", 50, 0.5, 70_000, "apart", goal=0.95),
    Case("500 apart, others at 0.5", 500, 0.5, 280_000, "apart", share=0.5),
    Case("50 shared, none", 50, 1.0, 70_000, bad=False, share=2.0),
    Case("50 apart, none", 50, 1.0, 70_000, "apart", bad=False),
)


def release(data, size, rng):
    """Publish the number with Laplace noise of scale 1."""
    return rng.laplace(data[0], 1.0, size)


def pairs_of(case, seed):
    """Return the pairs, and the place of the pair that breaks the claim, or None."""
    rng = np.random.default_rng(seed)
    bad = int(rng.integers(case.pairs)) if case.bad else None
    found = []
    for place in range(case.pairs):
        start = 8.0 * place if case.kind == "apart" else 0.0
        end = start + (BAD if place == bad else case.others)
        label = 0 if case.kind == "alike" else place  # distinguishes datasets with the same number
        found.append(([start, 0], [end, label]))
    return found, bad


def audited(case, seed):
    """Return whether the audit succeeds (or raises a false alarm, if no pair is bad), the runs, and the seconds."""
    pairs, bad = pairs_of(case, seed)
    clock = time.perf_counter()
    evidence = dp.audit(
        release, pairs=pairs, search=True, relation="declared", claim=f"epsilon={CLAIMED:g}", runs=case.runs, seed=seed
    )
    violated = evidence.verdict is dp.Verdict.VIOLATED
    right = bad is None or evidence.search.found == f"pair {bad}"
    return violated and right, right, evidence.runs, time.perf_counter() - clock


def row(case, seeds, jobs):
    """Return the cells of a case, and whether its promise holds."""
    repetitions = max(int(seeds * case.share), 1)
    found = side_by_side(audited, [(case, FIRST_SEED + seed) for seed in range(repetitions)], jobs)
    hits, right = sum(each[0] for each in found), sum(each[1] for each in found)
    runs, seconds = max(each[2] for each in found), float(np.median([each[3] for each in found]))
    limits = binomtest(hits, repetitions).proportion_ci(0.95)
    if not case.bad:
        fine = binomtest(hits, repetitions, 0.05, alternative="greater").pvalue > 0.01
        promise = "at most 0.05"
    else:
        fine = case.goal is None or hits / repetitions >= case.goal
        promise = "" if case.goal is None else f"at least {case.goal:g}"
    chosen = f"{right / repetitions:.3f}" if case.bad else ""
    cells = [
        case.name,
        f"{runs:,}",
        f"{repetitions}",
        chosen,
        f"{hits / repetitions:.3f}",
        f"{limits.low:.3f} to {limits.high:.3f}",
        promise,
        "holds" if fine and promise else "" if not promise else "MISSED",
        f"{seconds:.1f}",
    ]
    return cells, fine


WHAT = """Laplace noise of scale 1, claimed to be 1-DP; one pair lies 1.2 apart, the others 1 (or 0.5). "Found" is
VIOLATED on that pair; where no pair breaks the claim, VIOLATED at all. Limits at 95 % confidence (Clopper & Pearson).
No two pairs that lie "apart" have a side in common: with the others at exactly 1, hardly any procedure that knows
nothing of the noise could do much better (a pair needs about 1,300 runs to be told from the bad one at 5 % error, by
the odds of right guesses).
"""


def main():
    """Measure all cases, print the table and write it."""
    asked = options(__doc__, seeds=200, jobs=2, only="")
    title = "Does a search find the one pair that breaks the claim?"
    page = Page("search.md", title, "search.py", write=not asked.only and asked.seeds >= 200)
    page.say(WHAT)
    found = [row(case, asked.seeds, asked.jobs) for case in CASES if asked.only in case.name]
    titles = (
        "pairs",
        "runs",
        "seeds",
        "bad pair chosen",
        "found (or false alarms)",
        "limits",
        "promise",
        "",
        "seconds",
    )
    page.table(titles, (cells for cells, _ in found))
    page.save()
    return 0 if all(fine for _, fine in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
