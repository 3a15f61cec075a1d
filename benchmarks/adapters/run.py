"""What do audits find in the current releases of libraries of differential privacy?

    python benchmarks/adapters/run.py [--only LIBRARY …] [--venvs FOLDER [--reuse]] [--table]

For every library: an environment of its own with the pinned versions of LIBRARY.txt, the audits of cases/LIBRARY.py in
it, and the rows in results.json. The table, results.md, is drawn from all rows there are; evidence of what was found
lies in found/. What does not install is said, and the others go on. `make test-adapters` runs all of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from frame import environment, head, line, options

LIBRARIES = ("opendp", "diffprivlib", "pydp", "tmlt_core", "pipeline_dp", "snsql", "opacus")
WITHOUT_PINS = {"tmlt_core"}  # dpaudit is installed beside it without its own requirements
HERE = Path(__file__).resolve().parent
ROWS = HERE / "results.json"


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
    found = [row for cases in rows.values() for row in cases]
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
        *head("library", "mechanism", "relation", "pair", "claim", "lower bound", "counts of the event", "cause",
              "documented"),
    ]  # fmt: skip
    for row in found:
        if outcome(row) == "**violated**":
            bound = f"{row['parameter']} ≥ {row['lower']:.3g}, again ≥ {row['second lower']:.3g}"
            cause = row["note"] or "not yet explained", row["documented"] or "?"
            about = (row["version"], row["name"], row["relation"], _code(row["pair"]), row["claim"])
            lines.append(line([*about, bound, row["counts"], *cause]))
    lines += [
        "",
        "## Low-order bits",
        "",
        "What an attacker shows who reads the last bits of floating-point outputs (Mironov 2012): a finding of its "
        "own, where it exceeds the claim.",
        "",
        *head("library", "mechanism", "claim", "lower bound from the low-order bits", "cause"),
    ]
    for row in found:
        if "refused" not in row and outcome(row) != "**violated**" and _leaks(row):
            bound, cause = f"{row['parameter']} ≥ {row['low bits']:.3g}", row["grid"] or "noise is added in doubles"
            lines.append(line([row["version"], row["name"], row["claim"], bound, cause]))
    lines += ["", "## Everything", ""]
    lines += head("library", "mechanism", "claim", "relation", "runs", "lower bound", "verdict", "seconds")
    for library, cases in rows.items():
        for row in cases:
            if "refused" in row:
                cells = [library, row["name"], *"————", f"refused: {_code(row['refused'][:90])}"]
            else:
                cells = [row["version"], row["name"], row["claim"], row["relation"], f"{row['runs']:,}",
                         f"{row['lower']:.3f}", outcome(row)]  # fmt: skip
            lines.append(line([*cells, row["seconds"]]))
    return "\n".join(lines) + "\n"


def _leaks(row: dict[str, Any]) -> bool:
    claimed = dict(part.split("=") for part in row["claim"].split(", "))
    return row["low bits"] is not None and row["low bits"] > float(claimed[row["parameter"]])


def _code(text: str) -> str:
    return "`" + text.replace("|", "¦").replace("`", "'").replace("\n", " ") + "`"


def main() -> None:
    """Run what is asked for and draw the table."""
    asked = options(__doc__, only=[*LIBRARIES], venvs="", reuse=False, table=False)
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else {}
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(asked.venvs or temporary)
        for library in () if asked.table else asked.only:
            pins, own = ["--requirement", str(HERE / f"{library}.txt")], "alone" if library in WITHOUT_PINS else ""
            try:
                python = environment(library, pins, folder, asked.reuse, own=own)
                rows[library] = audited(library, python, Path(temporary))
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
