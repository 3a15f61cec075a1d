"""What do a few runs find in packages as they are, each in an environment of its own?

    python benchmarks/traced/run.py [--only CASES …] [--venvs FOLDER [--reuse]]

For every module in cases/: an environment with the pinned versions below and dpaudit, its `case.Case`s traced in it,
and the rows in results/trace_packages.json, from which `benchmarks/trace.py` draws its tables. What does not install is
said, and the others go on.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.extend(str(each) for each in Path(__file__).resolve().parents[1:3])

from frame import RESULTS, environment, options

HERE = Path(__file__).resolve().parent
ROWS = RESULTS / "trace_packages.json"
FLAGS = ("leaks", "violated, given the stated laws", "not supported")
RUNS, SECONDS = 100_000, 10.0
PINS: dict[str, list[str]] = {
    "eeprivacy": ["eeprivacy==0.0.5"],
    "healthpipe": ["healthpipe==0.1.0"],
    "diff_priv_laplace": ["diff-priv-laplace-python==1.0.5"],
    "synthpriv": ["synthpriv==0.2.1"],
    "syndp": ["syndp==0.5.2", "scikit-learn"],
    "trasgodp": ["trasgodp==2.1.0"],
    "diffpriv_pure": ["diffpriv-pure==0.1.0"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn==1.6.1"],
    "dpmm": ["dpmm==0.1.9"],
    "mbi": ["mbi==2.0.0"],
    "own": ["numpy==2.4.6"],
    "opendp": ["opendp==0.16.0"],
    "pydp": ["python-dp==1.1.5"],
    "pipeline_dp": ["pipeline-dp==0.3.1", "python-dp==1.1.5"],
    "tmlt_core": ["tmlt.core==0.20.0", "numpy==1.26.4", "pandas==1.5.3", "pyspark==3.5.9", "scipy==1.17.1",
                  "click>=8.1", "rich>=13.7", "msgspec>=0.19", "rfc8785>=0.1.4", "jinja2>=3.1",
                  "joblib>=1.4", "cloudpickle>=3.0", "python-flint>=0.7"],
    "opacus": ["opacus==1.6.0", "torch==2.13.0"],
    "torch": ["torch==2.13.0"],
    "jax": ["jax==0.10.2"],
}  # fmt: skip
WITHOUT_PINS = {"tmlt_core"}  # dpaudit is installed beside it without its own requirements
SETTINGS = {"SKLEARN_ALLOW_DEPRECATED_SKLEARN_PACKAGE_INSTALL": "True", "JAX_PLATFORMS": "cpu"}


def traced(case: Any, distribution: str) -> dict[str, Any]:
    """Return what a few runs find in a use of a package, as a row."""
    import dpaudit as dp

    asked: dict[str, Any] = {"claim": case.claim, "relation": case.relation, "pairs": [case.pair], "seed": 0}
    began = time.perf_counter()
    trace = dp.trace(case.release, runs=0, **asked).trace
    seconds = time.perf_counter() - began
    first, confirmed = trace.findings[0], ""
    if trace.word in FLAGS:
        measured = dp.trace(case.release, runs=RUNS, time_budget=SECONDS, **asked)
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


def main() -> int:
    """Trace what is asked for and write the rows."""
    asked = options(__doc__, only=[*PINS], venvs="", reuse=False, within="")
    if asked.within:  # in the environment of the package
        warnings.simplefilter("ignore")
        module = importlib.import_module(f"cases.{asked.only[0]}")
        found = [traced(case, module.DISTRIBUTION) for case in module.CASES]
        Path(asked.within).write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
        return 0
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {}
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder, settings = Path(asked.venvs or temporary), {**os.environ, **SETTINGS}
        for cases in asked.only:
            out = Path(temporary) / f"{cases}.json"
            own = "alone" if cases in WITHOUT_PINS else "[proof]"
            try:
                python = environment(cases, PINS[cases], folder, asked.reuse, own=own, settings=SETTINGS)
                command = [str(python), __file__, "--only", cases, "--within", str(out)]
                subprocess.run(command, check=True, env=settings)
            except subprocess.CalledProcessError as error:
                failed.append(f"{cases}: {' '.join(map(str, error.cmd[-4:]))} ended with {error.returncode}")
                continue
            rows[cases] = json.loads(out.read_text(encoding="utf-8"))
            ordered = {name: rows[name] for name in PINS if name in rows}
            ROWS.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
