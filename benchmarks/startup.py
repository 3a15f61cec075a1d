"""How long does the command line take to answer, and how long does a whole audit with its page take?

CPU seconds of whole processes, with all that they start: median of several runs, after one that compiles the modules.
The help answers within .1 s, an own function of 50,000 rows is audited within 15, and no page has more than 400 kB.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from frame import ROOT, Page, options

OLD = ROOT / "tests" / "evidence" / "old"
SMALL = """
import dpaudit as dp

def laplace(data, size, rng):
    return data + rng.laplace(0.0, 1.0, size)

dp.audit(laplace, claim="epsilon=1", pairs=[(0.0, 1.0)], relation="declared", runs=10_000, seed=0)
"""

OWN = """
import numpy as np

def mean_income(people, epsilon=1.0):
    total = people["income"].clip(0, 200_000).sum() + np.random.laplace(0, 2 * 200_000 / epsilon)
    return total / max(1, len(people) + np.random.laplace(0, 2 / epsilon))
"""
ROWS = 50_000

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "dpaudit --help": ["-m", "dpaudit", "--help"],
    "dpaudit list": ["-m", "dpaudit", "list"],
    "dpaudit check, a guess bound": ["-m", "dpaudit", "check", str(OLD / "randomised_response.json")],
    "dpaudit check, a joint bound": ["-m", "dpaudit", "check", str(OLD / "gaussian.json")],
    "dpaudit check, a proof and its counterexample": ["-m", "dpaudit", "check", str(OLD / "proved.json")],
    "python: dp.audit, 10,000 runs": ["-c", SMALL],
    "dpaudit audit laplace --runs 1e4": [
        *("-m", "dpaudit", "audit", "laplace", "-p", "epsilon=1", "--runs", "1e4", "--seed", "0"),
    ],
    "dpaudit audit laplace --runs 1e6 --html --json": [
        *("-m", "dpaudit", "audit", "laplace", "-p", "epsilon=1", "--runs", "1e6", "--seed", "0"),
        *("--html", "laplace.html", "--json", "laplace.json"),
    ],
    "dpaudit audit own.py:mean_income --data 50,000 rows --html": [
        *("-m", "dpaudit", "audit", "own.py:mean_income", "--data", "people.csv", "--relation", "add-remove"),
        *("--claim", "epsilon=1", "--seed", "0", "--html", "own.html"),
    ],
    "the same with --domain, proved": [
        *("-m", "dpaudit", "audit", "own.py:mean_income", "--data", "people.csv", "--relation", "add-remove"),
        *("--domain", "age=[0, 120]", "--domain", "income=[0, 1000000]"),
        *("--claim", "epsilon=1", "--seed", "0", "--html", "proved.html"),
    ],
}
MOST = {"dpaudit --help": 0.1, "dpaudit audit own.py:mean_income --data 50,000 rows --html": 15}
MOST_KB = 400


def used() -> float:
    """Return the CPU seconds of all processes that were started and have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def main() -> None:
    """Print the table and write it to results/."""
    repeat = options(__doc__, repeat=5).repeat
    late: list[str] = []
    page = Page("startup.md", "How fast the command line answers", "startup.py")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "own.py").write_text(OWN, encoding="utf-8")
        people = "".join(f"{18 + row % 70},{31 * row % 99_991}\n" for row in range(ROWS))
        (folder / "people.csv").write_text(f"age,income\n{people}", encoding="utf-8")
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def measured(name: str, command: list[str]) -> list[str]:
            times = []
            for _ in range(repeat + 1):
                before = used()
                subprocess.run([sys.executable, *command], cwd=folder, env=environment, check=True, capture_output=True)
                times.append(used() - before)
            size = (folder / command[command.index("--html") + 1]).stat().st_size / 1000 if "--html" in command else 0
            late.extend([name] * (min(times[1:]) > MOST.get(name, math.inf) or size > MOST_KB))
            return [
                f"`{name}`",
                f"{statistics.median(times[1:]):.2f}",
                f"{min(times[1:]):.2f}",
                f"{size:.0f}" if size else "",
            ]

        page.table(
            ("command", "CPU seconds (median)", "least", "page (kB)"),
            (measured(name, command) for name, command in COMMANDS.items()),
        )
    page.save()
    if late:
        raise SystemExit(f"more than is promised: {', '.join(late)}")


if __name__ == "__main__":
    main()
