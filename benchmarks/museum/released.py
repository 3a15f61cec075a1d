"""Which reported mistakes are found in the released packages themselves, each in an environment of its own?

    python benchmarks/museum/released.py [PACKAGE]… [--venvs FOLDER [--reuse]]

The cases lie in released/PACKAGE/, in the form of `case.py`; they are read and examined in the environment of their
package alone. The rows are kept in released.json, from which released.md is drawn. A package that does not install, or
whose case cannot be read, is not run, with the reason; it is never counted as right.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from frame import environment, head, line

HERE = Path(__file__).resolve().parent
ROWS = HERE / "released.json"
PINS = {
    "opendp": ["opendp==0.15.1", "polars==1.36.1", "numpy==2.4.6", "pandas==3.1.1", "pyarrow==26.0.1"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn==1.6.1", "numpy==2.4.6"],
    "pure_ldp": ["pure-ldp==1.1.2", "numpy==2.4.6", "scikit-learn==1.6.1", "xxhash==3.6.0", "statsmodels==0.15.0"],
}


def within(package: str) -> list[dict[str, Any]]:
    """Examine the cases of a package; called in its environment."""
    from case import read
    from run import examined

    rows = []
    for path in sorted((HERE / "released" / package).glob("*.py")):
        row: dict[str, Any] = {"package": PINS[package][0], "name": path.stem}
        try:
            case = read(path)
            shown = dataclasses.asdict(case)
            row |= {key: shown[key] for key in ("title", "story", "sources", "reported", "command", "missed")}
            rows += [row | examined(case, side) for side in case.sides]
        except Exception as error:  # a package that changed: said, and never a pass
            rows.append(row | {"side": "", "word": "not run", "why": f"{type(error).__name__}: {error}"[:300]})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Every answer in a line, and what is read of it."""
    ran = [row for row in rows if row["word"] != "not run"]
    wrong = [row for row in ran if row["side"] == "wrong"]
    lines = [
        "# The museum: released packages",
        "",
        "Made by `python benchmarks/museum/released.py`, each package in an environment of its own.",
        "",
        f"{sum(row['word'] == 'right' for row in ran)} of {len(rows)} answers are right, "
        f"{sum(bool(row['named']) for row in wrong)} of {len(wrong)} causes are named, {len(rows) - len(ran)} cases "
        "are not run.",
        "",
        *head("package", "case", "reported", "answer", "what is read", "seconds"),
    ]
    for row in rows:
        if row["word"] == "not run":
            lines.append(line([row["package"], row["name"], "", "not run", row["why"], ""]))
            continue
        sources = ", ".join(f"[{each}](https://github.com/{each.replace('#', '/issues/')})" for each in row["sources"])
        told = row["told"] + (f" {row['missed']}" if row["word"] != "right" else "")
        reported = f"{sources}; {row['reported']}"
        lines.append(line([row["package"], row["title"], reported, row["word"], told, row["seconds"]]))
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run what is asked for and draw the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", help="these packages alone")
    parser.add_argument("--venvs", type=Path, help="where environments are made, and left; else in a folder that goes")
    parser.add_argument("--reuse", action="store_true", help="use the environments of --venvs as they are")
    parser.add_argument("--within", metavar="FILE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if unknown := set(asked.packages) - PINS.keys():
        parser.error(f"no package is called {' or '.join(sorted(unknown))}; there are {', '.join(PINS)}")
    if asked.within:
        Path(asked.within).write_text(json.dumps(within(asked.packages[0])), encoding="utf-8")
        return 0
    known = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    with tempfile.TemporaryDirectory() as temporary:
        for package in asked.packages or PINS:
            out = Path(temporary) / f"{package}.json"
            try:
                python = environment(package, PINS[package], asked.venvs or Path(temporary), asked.reuse)
                subprocess.run([str(python), __file__, package, "--within", str(out)], check=True)
                rows = json.loads(out.read_text(encoding="utf-8"))
            except subprocess.CalledProcessError as error:
                why = f"{' '.join(map(str, error.cmd[1:5]))} ended with {error.returncode}"
                rows = [{"package": PINS[package][0], "name": "", "side": "", "word": "not run", "why": why}]
            known = [row for row in known if row["package"].partition("==")[0] != PINS[package][0].partition("==")[0]]
            known += rows
    order = [pins[0].partition("==")[0] for pins in PINS.values()]
    known.sort(key=lambda row: order.index(row["package"].partition("==")[0]))
    ROWS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "released.md").write_text(table(known), encoding="utf-8")
    print(table(known))
    return 1 if any(row["word"] in ("accused", "falsely proved") for row in known) else 0


if __name__ == "__main__":
    sys.exit(main())
