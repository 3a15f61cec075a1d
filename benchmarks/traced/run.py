"""What do a few runs find in packages as they are, each in an environment of its own?

    python benchmarks/traced/run.py [--only CASES]… [--venvs FOLDER [--reuse]]

For every module in cases/: an environment with the pinned versions below and dpaudit, `traced.py` in it, and its rows
in benchmarks/results/trace_packages.json, from which `benchmarks/trace.py` draws its tables. What does not install is
said, and the others go on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROWS = ROOT / "benchmarks" / "results" / "trace_packages.json"
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


def environment(cases: str, folder: Path, reuse: bool) -> Path:
    """Make the environment of a package, unless it is there and may be used again, and return its interpreter."""
    place = folder / cases
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if reuse and python.exists():
        return python
    venv.create(place, clear=True, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    settings = {**os.environ, **SETTINGS}
    subprocess.run([*pip, *PINS[cases]], check=True, env=settings)
    own = ["--no-deps", "--editable", str(ROOT)] if cases in WITHOUT_PINS else ["--editable", f"{ROOT}[proof]"]
    subprocess.run([*pip, *own], check=True, env=settings)
    return python


def main() -> int:
    """Trace what is asked for and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=PINS, help="these cases alone")
    parser.add_argument("--venvs", type=Path, help="where environments are made, and left; else in a folder that goes")
    parser.add_argument("--reuse", action="store_true", help="use the environments of --venvs as they are")
    asked = parser.parse_args()
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {}
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.venvs or Path(temporary)
        for cases in asked.only or PINS:
            out = Path(temporary) / f"{cases}.json"
            try:
                python = environment(cases, folder, asked.reuse)
                subprocess.run([str(python), str(HERE / "traced.py"), cases, str(out)], check=True,
                               env={**os.environ, **SETTINGS})  # fmt: skip
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
