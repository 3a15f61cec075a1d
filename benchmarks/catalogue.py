"""What does an audit find for every mechanism of the catalogue, and how fast is each reading?

One row per entry: claim, true loss over its pairs, certified lower bound and verdict with the default runs, seconds of
the audit, and runs per second of the scalar and of the batch reading on the first pair.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import run_once
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

_SCALAR_RUNS, _BATCH_RUNS = 2_000, 2**16


def _called(mechanism: Mechanism, data: Any, parameters: dict[str, Any], noise: Any) -> Any:
    return mechanism.function(data, noise=noise, **parameters)


def speeds(mechanism: Mechanism) -> tuple[float, float]:
    """Return the runs per second of the scalar and of the batch reading, each the best of three."""
    parameters = mechanism.parameters_with(None)
    program = partial(_called, mechanism, mechanism.pairs_for(parameters)[0][0], parameters)
    scalar, batch = [], []
    for seed in range(3):
        noise = ScalarNoise(np.random.default_rng(seed))
        clock = time.perf_counter()
        for _ in range(_SCALAR_RUNS):
            noise = ScalarNoise(noise._rng)
            run_once(program, noise)
        scalar.append(_SCALAR_RUNS / (time.perf_counter() - clock))
        clock = time.perf_counter()
        run_batch(program, _BATCH_RUNS, np.random.default_rng(seed))
        batch.append(_BATCH_RUNS / (time.perf_counter() - clock))
    return max(scalar), max(batch)


def row(name: str, mechanism: Mechanism, runs: int) -> str:
    """Return one line of the table."""
    clock = time.perf_counter()
    evidence = dp.audit(name, runs=runs, seed=0)
    seconds = time.perf_counter() - clock
    rates = speeds(mechanism) if mechanism.shape is Shape.PROGRAM else None
    loss = evidence.target.true_loss
    cells = [
        name,
        "correct" if mechanism.correct else "broken",
        str(evidence.claim),
        "unknown" if loss is None else f"{loss:.4g}",
        f"{evidence.lower.value:.4g}",
        str(evidence.verdict),
        f"{seconds:.1f}",
        *(("–", "–", "–") if rates is None else (f"{rates[0]:.2g}", f"{rates[1]:.2g}", f"{rates[1] / rates[0]:.0f}")),
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table and write it to results/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400_000)
    arguments = parser.parse_args()
    lines = [
        f"{arguments.runs:,} runs in all, seed 0, confidence 0.95; speeds in runs per second.\n",
        "| name | | claim | true loss | lower bound | verdict | seconds | scalar | batch | times |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, mechanism in sorted(dp.catalogue().items(), key=lambda item: (not item[1].correct, item[0])):
        lines.append(row(name, mechanism, arguments.runs))
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    Path(__file__).with_name("results").joinpath("catalogue.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
