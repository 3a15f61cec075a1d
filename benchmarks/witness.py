"""How much do counterexamples refute of what alignment cannot prove?

For every mechanism of the tests' table at five answers: the upper bound by alignment, and next to it the lower bound by
a counterexample: for any event however rare, for an event of probability at least 0.01, and for the event that a
million runs can show best. The events are counted in fresh runs of the program itself.

    python benchmarks/witness.py [--only svt]

prints the table and writes benchmarks/results/witness.md.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from dpaudit.events.partition import count_event
from dpaudit.loading.named import load
from dpaudit.program.batch_reading import run_batch
from dpaudit.sampling.outputs import from_paths
from dpaudit.verify.counterexample.counterexample import find_counterexample
from dpaudit.verify.prove import prove_program

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.provable import TABLE as MECHANISMS  # the tests' table

LENGTH = 5
RUNS = 400_000  # a side, in which an event is counted
WAYS = {
    "however rare": {},
    "p₀ ≥ 0.01": {"least_mass": 0.01},
    "a million runs": {"budget_runs": 1_000_000},
}
TABLE = Path(__file__).parent / "results" / "witness.md"


def deviation(counterexample, function, seed):
    """Return the largest deviation of the counts on both sides, in standard deviations."""
    worst = 0.0
    for side, data in enumerate(counterexample.pair):
        outputs = run_batch(partial(function, list(data)), RUNS, np.random.default_rng([seed, side]))
        hits, _ = count_event(counterexample.event, from_paths(outputs.paths, RUNS))
        p = float(counterexample.probabilities[side].low)
        spread = (RUNS * p * (1 - p)) ** 0.5
        if spread > 0.5:
            worst = max(worst, abs(hits - RUNS * p) / spread)
        else:
            assert hits in (0, RUNS) or RUNS * p * (1 - p) > 1e-4, (hits, p)
    return worst


def row(name, given):
    found = load(name)
    parameters = found.parameters_with(given)
    proof = prove_program(found, given, length=LENGTH, runs=50)
    title = name + "".join(f", {key} {value}" for key, value in given.items())
    cells, seconds, furthest = [title, "—" if proof.bound is None else str(proof.bound)], [], 0.0
    for options in WAYS.values():
        start = time.perf_counter()
        counterexample = find_counterexample(proof, found.function, parameters, **options)
        seconds.append(time.perf_counter() - start)
        if counterexample is None:
            cells.append("not known")
            continue
        loss = "∞" if counterexample.infinite else f"{np.floor(float(counterexample.epsilon) * 1e6) / 1e6:.6f}"
        p0, p1 = (float(each.low) for each in counterexample.probabilities)
        cells.append(f"{loss} ({p0:.2g} : {p1:.2g})")
        assert proof.bound is None or counterexample.epsilon <= proof.bound
        furthest = max(furthest, deviation(counterexample, partial(found.function, **parameters), 1))
    return [*cells, f"{furthest:.1f}", " ".join(f"{each:.1f}" for each in seconds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mechanisms whose names hold this text")
    parser.add_argument("--table", type=Path, default=TABLE, help="where the table goes")
    options = parser.parse_args()
    head = ["mechanism", "proved: at most", *WAYS, "counts: largest deviation", "seconds"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    print("\n".join(lines), flush=True)
    for name, given in [(each[0], each[1]) for each in MECHANISMS if options.only in each[0]]:
        lines.append(f"| {' | '.join(row(name, given))} |")
        print(lines[-1], flush=True)
    text = "\n".join(
        [
            "# Witnesses",
            "",
            f"`python benchmarks/witness.py`, Python {platform.python_version()}, NumPy {np.__version__}.",
            "Five answers, ε = 1. Each loss is proved, rounded down; behind it the probabilities of its event on both",
            f"sides. Every event was counted in {RUNS:,} runs a side: the deviation from its probability, in",
            "standard deviations, is the largest of all three events and both sides.",
            "",
            *lines,
            "",
        ]
    )
    if not options.only or options.table != TABLE:
        options.table.write_text(text)


if __name__ == "__main__":
    main()
