"""How much more do a few runs show when every outcome is weighed, instead of combining two p-values?

Mean lower bounds of ε at confidence 0.95 over the same random counts, for one event with probability q on one side
and e^ε·q + δ on the other. The weights are the true ones, as learning runs would give them. The rule, fixed before
measuring: a bound is worth having if it gains 5 % of the present bound, or 5 % of the gap between the present bound
and the truth.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np

from dpaudit.privacy import ApproxDP
from dpaudit.stats.exact_region import enumerated_region
from dpaudit.stats.guessing import guess_bound
from dpaudit.stats.joint_region import joint_region, joint_weight

ERROR = 0.05
SIZES = (100, 300, 1000, 2000)
SCALES = ((0.3, 0.05), (0.3, 0.2), (1.0, 0.01), (1.0, 0.05), (1.0, 0.2), (3.0, 0.005), (3.0, 0.02))


def one_sided(n: int, q: float, p: float, claim: ApproxDP, repeat: int) -> tuple[float, float, float]:
    """Return mean bounds of the present best one-sided method and of enumeration, and CPU seconds of the latter."""
    rng = np.random.default_rng(0)
    hits, others = rng.binomial(n, p, repeat), rng.binomial(n, q, repeat)
    weight = joint_weight(p, q, n, n, slope_p=p / (p - claim.delta))
    today = joint_region(hits, n, others, n, weight=weight, error=ERROR).least(claim.least)
    if claim.pure:  # an event for one side is also a guess about runs whose side a fair coin chose
        today = max(today, guess_bound(hits, others, ERROR), key=np.mean)
    clock = time.process_time()
    found = enumerated_region(hits, n, others, n, claim=claim, weight=weight, error=ERROR).least(claim.least)
    return float(np.mean(today)), float(np.mean(found)), (time.process_time() - clock) / repeat


def main() -> None:
    """Print the table and write it to results/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=24)
    arguments = parser.parse_args()
    lines = [
        "| event | runs a side | ε | q | δ | today's bound | enumerated | gain | of the deficit | CPU seconds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, measure in (("one-sided", one_sided),):
        for n in SIZES:
            for epsilon, q in SCALES:
                for delta in (0.0, 0.01):
                    p = q * math.exp(epsilon) + delta
                    today, found, seconds = measure(n, q, p, ApproxDP(1, delta), arguments.repeat)
                    gain = f"{found / today - 1:+.1%}" if today > 0.02 else "–"
                    deficit = f"{(found - today) / (epsilon - today):+.0%}"
                    lines.append(
                        f"| {name} | {n} | {epsilon} | {q} | {delta} | {today:.3f} | {found:.3f} | {gain} | {deficit} "
                        f"| {seconds:.2f} |"
                    )
                    print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    Path(__file__).with_name("results").joinpath("small_bounds.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
