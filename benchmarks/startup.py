"""How long does the command line take to answer, and how long does a whole audit with its page take?

CPU seconds of whole processes, with all that they start: median of several runs, after one that compiles the modules.
The help answers within .1 s, an own function of 50,000 rows is audited within 15, and no page has more than 400 kB.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

OLD = Path(__file__).parents[1] / "tests" / "evidence" / "old"
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    late: list[str] = []
    lines = ["| command | CPU seconds (median) | least | page (kB) |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "own.py").write_text(OWN, encoding="utf-8")
        people = ((18 + row % 70, 31 * row % 99_991) for row in range(ROWS))
        table = "\n".join(["age,income", *(f"{age},{income}" for age, income in people)])
        Path(folder, "people.csv").write_text(table + "\n", encoding="utf-8")
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, command in COMMANDS.items():
            times = []
            for _ in range(arguments.repeat + 1):
                before = used()
                subprocess.run([sys.executable, *command], cwd=folder, env=environment, check=True, capture_output=True)
                times.append(used() - before)
            seconds = statistics.median(times[1:])
            page = (
                Path(folder, command[command.index("--html") + 1]).stat().st_size / 1000 if "--html" in command else 0
            )
            lines.append(f"| `{name}` | {seconds:.2f} | {min(times[1:]):.2f} | {f'{page:.0f}' if page else ''} |")
            late += [name] * (min(times[1:]) > MOST.get(name, math.inf) or page > MOST_KB)
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_name("results").joinpath("startup.md").write_text(text, encoding="utf-8")
    if late:
        raise SystemExit(f"more than is promised: {', '.join(late)}")


if __name__ == "__main__":
    main()
