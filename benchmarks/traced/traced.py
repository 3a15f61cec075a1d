"""What do a few runs find in uses of one package, in the environment that it is installed in?

    python benchmarks/traced/traced.py PACKAGE ROWS.json

reads cases/PACKAGE.py, which lists its `case.Case`s in CASES.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
FLAGS = ("leaks", "violated, given the stated laws", "not supported")
RUNS = 100_000
SECONDS = 10.0


def main() -> None:
    """Trace every case and write the rows."""
    package, out = sys.argv[1:3]
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"cases.{package}")
    rows = [traced(case, module.DISTRIBUTION) for case in module.CASES]
    Path(out).write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")


def traced(case: Any, distribution: str) -> dict[str, Any]:
    """Return what was found, as a row."""
    import dpaudit as dp

    options: dict[str, Any] = {"claim": case.claim, "relation": case.relation, "pairs": [case.pair], "seed": 0}
    began = time.perf_counter()
    evidence = dp.trace(case.release, runs=0, **options)
    seconds = time.perf_counter() - began
    trace = evidence.trace
    first = trace.findings[0]
    confirmed = ""
    if trace.word in FLAGS:
        measured = dp.trace(case.release, runs=RUNS, time_budget=SECONDS, **options)
        lower = "∞" if measured.lower.value == float("inf") else f"{measured.lower.value:.3g}"
        how = f"{measured.measuring:,} runs" if measured.measuring else "certain"
        confirmed = f"{measured.verdict}, {measured.lower.parameter} ≥ {lower} ({how})"
    return {
        "package": f"{distribution} {importlib.metadata.version(distribution)}",
        "case": case.name,
        "mistake": case.mistake,
        "word": trace.word,
        "flagged": trace.word in FLAGS,
        "text": first.text,
        "where": first.where,
        "met": first.met,
        "runs": trace.runs,
        "seconds": round(seconds, 2),
        "confirmed": confirmed,
    }


if __name__ == "__main__":
    main()
