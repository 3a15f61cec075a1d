"""Which functions as people write them are proved, how fast; how many wrong ones does either net alone let through?

    .venv/bin/python benchmarks/as_is.py        writes benchmarks/results/as_is.md

Right functions of `tests/support/asis` count where the bound is that of theory. Of wrong ones the reading alone and
real runs alone (second net, with the claim as the bound) are counted. Seconds are of the CPU, with those of the
processes that read.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.asis import RIGHT, WRONG, Case, cases, read, second

RESULTS = Path(__file__).parent / "results" / "as_is.md"


def row(case: Case) -> tuple[bool, float, str]:
    """Return whether the reading alone gives a bound within the claim, its seconds, and a row of the table."""
    start = sum(os.times()[:4])
    reading, bound = read(case)
    taken = sum(os.times()[:4]) - start
    within = bound is not None and float(bound) <= case.claim * (1 + 1e-9)
    why = str(reading.refused[0]).replace("|", "/")[:120] if reading.refused else ""
    shown = "–" if bound is None else f"{float(bound):.6g}"
    return within, taken, f"| {case.name} | {case.claim:.4g} | {shown} | {len(reading.paths)} | {taken:.2f} | {why} |"


def main() -> None:
    """Measure all functions, and write the table."""
    head = "| function | claim | bound | paths | s | refused |\n|---|---|---|---|---|---|"
    parts, said = [], []
    for table in RIGHT:
        found = [row(case) for case in cases(table) if case.is_right]
        slowest = max(seconds for _, seconds, _ in found)
        kept = sum(within for within, _, _ in found)
        said.append(f"`{table}`: {kept} of {len(found)} right functions, the slowest in {slowest:.1f} s.")
        parts.append(f"## {table}\n\n{head}\n" + "\n".join(line for _, _, line in found))
    for table in ("forty", *WRONG):
        wrong = [case for case in cases(table) if not case.is_right]
        by_reading = sum(row(case)[0] for case in wrong)
        by_runs = sum(second(case, case.claim, case.claim**2) is None for case in wrong)
        said.append(
            f"`{table}`: of {len(wrong)} wrong functions the reading alone would prove {by_reading}; real runs alone "
            f"stop {len(wrong) - by_runs}."
        )
    text = "# Functions as they are\n\n" + "\n".join(f"- {each}" for each in said) + "\n\n" + "\n\n".join(parts) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
