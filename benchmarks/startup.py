"""How long does the command line take to answer, and how long does a whole audit with its page take?

CPU seconds of whole processes, with all that they start: median of several runs, after one that compiles the modules.
"""

from __future__ import annotations

import argparse
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
}


def used() -> float:
    """Return the CPU seconds of all processes that were started and have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def main() -> None:
    """Print the table and write it to results/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    lines = ["| command | CPU seconds (median) | least |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, command in COMMANDS.items():
            times = []
            for _ in range(arguments.repeat + 1):
                before = used()
                subprocess.run([sys.executable, *command], cwd=folder, env=environment, check=True, capture_output=True)
                times.append(used() - before)
            lines.append(f"| `{name}` | {statistics.median(times[1:]):.2f} | {min(times[1:]):.2f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_name("results").joinpath("startup.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
