"""How much longer does a whole audit take than sampling alone?

Laplace noise drawn by NumPy, up to 1e7 runs a side: the CPU time of the audit divided by that of drawing as many
outputs in blocks, measured alternately, as the median of the ratios. Also the time of a small audit, and peak memory.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import dpaudit as dp

Array = np.ndarray[Any, np.dtype[np.float64]]


def laplace(data: float, size: int, rng: np.random.Generator) -> Array:
    """One answer with Laplace noise of scale 1, for ε = 1."""
    return data + rng.laplace(0.0, 1.0, size)


def bare(runs: int) -> float:
    """Return the seconds to draw ``runs`` outputs of each side, in blocks that fit the cache."""
    clock = time.process_time()
    rng = np.random.default_rng(0)
    for _ in range(0, 2 * runs, 2**15):
        laplace(0.0, 2**15, rng)
    return time.process_time() - clock


def whole(runs: int, seed: int) -> float:
    """Return the seconds for an audit of 2·runs runs in all."""
    clock = time.process_time()
    evidence = dp.audit(laplace, claim="epsilon=1", pairs=[(0.0, 1.0)], relation="queries", runs=2 * runs, seed=seed)
    assert evidence.verdict is not dp.Verdict.INVALID
    return time.process_time() - clock


def peak(runs: int) -> float:
    """Return the peak memory in MB of a process that audits ``runs`` runs a side."""
    code = (
        f"import overhead, resource; overhead.whole({runs}, 0); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


def main() -> None:
    """Print the table and write it to results/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    lines = ["| runs a side | bare sampling (s) | whole audit (s) | ratio, median of pairs |", "|---|---|---|---|"]
    whole(10_000, 0)
    for runs in (10**5, 10**6, 10**7):
        pairs = [(bare(runs), whole(runs, seed)) for seed in range(arguments.repeat)]
        ratio = statistics.median(b / a for a, b in pairs)
        times = [statistics.median(side) for side in zip(*pairs, strict=True)]
        lines.append(f"| {runs:.0e} | {times[0]:.3f} | {times[1]:.3f} | {ratio:.2f} |")
    small = [whole(5_000, seed) for seed in range(5)]
    peaks = ", ".join(f"{peak(runs):.0f} MB at {runs:.0e}" for runs in (10**6, 10**8))
    lines.append(
        f"\nAn audit of 10,000 runs in all, after imports: {statistics.median(small):.3f} s. Peak memory of a process "
        f"that does one audit: {peaks} runs a side. Times of the ratio are CPU seconds of one process. Python "
        f"{sys.version.split()[0]}, NumPy {np.__version__}."
    )
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_name("results").joinpath("overhead.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
