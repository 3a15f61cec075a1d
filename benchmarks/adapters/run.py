"""What do audits find in the current releases of libraries of differential privacy?

    python benchmarks/adapters/run.py [--only LIBRARY]… [--venvs FOLDER [--reuse]] [--table]

For every library: an environment of its own with the pinned versions of LIBRARY.txt, the audits of cases/LIBRARY.py in
it, and the rows in results.json. The table, results.md, is drawn from all rows there are; evidence of what was found
lies in found/. What does not install is said, and the others go on. `make test-adapters` runs all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARIES = ("opendp", "diffprivlib", "pydp", "tmlt_core", "pipeline_dp", "snsql", "opacus")
WITHOUT_PINS = {"tmlt_core"}  # dpaudit is installed beside it without its own requirements
ROWS = HERE / "results.json"


def environment(library: str, folder: Path, reuse: bool) -> Path:
    """Make the environment of a library, unless it is there and may be used again, and return its interpreter."""
    place = folder / library
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if reuse and python.exists():
        return python
    venv.create(place, clear=True, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pins = ["--requirement", str(HERE / f"{library}.txt")]
    if library in WITHOUT_PINS:
        subprocess.run([*pip, *pins], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
    else:
        subprocess.run([*pip, *pins, "--editable", str(ROOT)], check=True)
    return python


def audited(library: str, python: Path, folder: Path) -> list[dict[str, Any]]:
    """Audit a library in its environment and return the rows."""
    found = HERE / "found"
    found.mkdir(exist_ok=True)
    for old in found.glob(f"{library}-*.json"):
        old.unlink()
    rows = folder / f"{library}.json"
    subprocess.run([str(python), str(HERE / "audits.py"), library, str(rows), str(found)], check=True)
    return list(json.loads(rows.read_text(encoding="utf-8")))


def outcome(row: dict[str, Any]) -> str:
    """What came out of a case, in words."""
    if "refused" in row:
        return "refused"
    if row["verdict"] == "violated":
        return "**violated**" if row["second"] == "violated" else "violated, not confirmed"
    return str(row["verdict"])


def table(rows: dict[str, list[dict[str, Any]]]) -> str:
    """Draw all rows: what was found first, then everything that was audited."""
    lines = [
        "# What audits find in libraries of differential privacy",
        "",
        "Made by `make test-adapters`; how to read it: [README.md](README.md). Every audit has a fixed number of runs "
        "and the confidence 99.9 %. A violation counts as found when a second audit, with another seed and up to four "
        "times the runs, shows it again; its evidence lies in [found/](found). Lower bounds are of the claim's own "
        "parameter.",
        "",
        "## Found",
        "",
        "| library | mechanism | relation | pair | claim | lower bound | counts of the event | cause | documented |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for cases in rows.values():
        lines += [
            f"| {row['version']} | {row['name']} | {row['relation']} | {_code(row['pair'])} | {row['claim']} "
            f"| {row['parameter']} ≥ {row['lower']:.3g}, again ≥ {row['second lower']:.3g} | {row['counts']} "
            f"| {row['note'] or 'not yet explained'} | {row['documented'] or '?'} |"
            for row in cases
            if outcome(row) == "**violated**"
        ]
    lines += [
        "",
        "## Low-order bits",
        "",
        "What an attacker shows who reads the last bits of floating-point outputs (Mironov 2012): a finding of its "
        "own, where it exceeds the claim.",
        "",
        "| library | mechanism | claim | lower bound from the low-order bits | cause |",
        "|---|---|---|---|---|",
    ]
    for cases in rows.values():
        lines += [
            f"| {row['version']} | {row['name']} | {row['claim']} | {row['parameter']} ≥ {row['low bits']:.3g} "
            f"| {row['grid'] or 'noise is added in doubles'} |"
            for row in cases
            if "refused" not in row and outcome(row) != "**violated**" and _leaks(row)
        ]
    lines += [
        "",
        "## Everything",
        "",
        "| library | mechanism | claim | relation | runs | lower bound | verdict | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for library, cases in rows.items():
        lines += [
            f"| {library} | {row['name']} | — | — | — | — | refused: {_code(row['refused'][:90])} | {row['seconds']} |"
            if "refused" in row
            else f"| {row['version']} | {row['name']} | {row['claim']} | {row['relation']} | {row['runs']:,} "
            f"| {row['lower']:.3f} | {outcome(row)} | {row['seconds']} |"
            for row in cases
        ]
    return "\n".join(lines) + "\n"


def _leaks(row: dict[str, Any]) -> bool:
    claimed = dict(part.split("=") for part in row["claim"].split(", "))
    return row["low bits"] is not None and row["low bits"] > float(claimed[row["parameter"]])


def _code(text: str) -> str:
    return "`" + text.replace("|", "¦").replace("`", "'").replace("\n", " ") + "`"


def main() -> None:
    """Run what is asked for and draw the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=LIBRARIES, help="audit this library alone")
    parser.add_argument("--venvs", type=Path, help="where environments are made, and left; else in a folder that goes")
    parser.add_argument("--reuse", action="store_true", help="use the environments of --venvs as they are")
    parser.add_argument("--table", action="store_true", help="draw the table from the rows there are, and run nothing")
    asked = parser.parse_args()
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {}
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.venvs or Path(temporary)
        for library in () if asked.table else asked.only or LIBRARIES:
            try:
                rows[library] = audited(library, environment(library, folder, asked.reuse), Path(temporary))
            except subprocess.CalledProcessError as error:
                failed.append(f"{library}: {' '.join(map(str, error.cmd[-4:]))} ended with {error.returncode}")
    rows = {library: rows[library] for library in LIBRARIES if library in rows}
    ROWS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "results.md").write_text(table(rows), encoding="utf-8")
    print(f"{HERE / 'results.md'} holds {sum(map(len, rows.values()))} audits of {len(rows)} libraries")
    if failed:
        sys.exit("not audited:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
