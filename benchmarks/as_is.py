"""Which functions as people write them are proved, how fast; how many wrong ones does either net alone let through?

    .venv/bin/python benchmarks/as_is.py                    writes benchmarks/results/as_is.md
    .venv/bin/python benchmarks/as_is.py --seconds 500      begins no table of wrong ones after that, the newest first

Right functions of `tests/support/asis` count where the bound is that of theory. Of wrong ones the reading alone and
real runs alone (second net, with the claim as the bound) are counted. Seconds are of the CPU, with those of the
processes that read.
"""

from __future__ import annotations

import os
import time

from frame import Page, options
from support.asis import RIGHT, WRONG, Case, cases, read, second


def row(case: Case) -> tuple[bool, float, list[str]]:
    """Return whether the reading alone gives a bound within the claim, its seconds, and its cells."""
    start = sum(os.times()[:4])
    reading, bound = read(case)
    taken = sum(os.times()[:4]) - start
    within = bound is not None and float(bound) <= case.claim * (1 + 1e-9)
    why = str(reading.refused[0])[:120] if reading.refused else ""
    shown = "–" if bound is None else f"{float(bound):.6g}"
    return within, taken, [case.name, f"{case.claim:.4g}", shown, str(len(reading.paths)), f"{taken:.2f}", why]


def main() -> None:
    """Measure all functions, and write the table."""
    most, started = options(__doc__, seconds=0.0).seconds, time.monotonic()
    page = Page("as_is.md", "Functions as they are", "as_is.py")
    right = {table: [row(case) for case in cases(table) if case.is_right] for table in RIGHT}
    for table, found in right.items():
        slowest, kept = max(seconds for _, seconds, _ in found), sum(within for within, _, _ in found)
        page.say(f"- `{table}`: {kept} of {len(found)} right functions, the slowest in {slowest:.1f} s.")
    for table in (*reversed(WRONG), "forty"):
        if most and time.monotonic() - started > most:
            page.say(f"- `{table}`: not measured within {most:g} s.")
            continue
        wrong = [case for case in cases(table) if not case.is_right]
        by_reading = sum(row(case)[0] for case in wrong)
        by_runs = sum(second(case, case.claim, case.claim**2) is None for case in wrong)
        page.say(
            f"- `{table}`: of {len(wrong)} wrong functions the reading alone would prove {by_reading}; real runs alone "
            f"stop {len(wrong) - by_runs}."
        )
    for table, found in right.items():
        page.say("", f"## {table}", "")
        page.table(("function", "claim", "bound", "paths", "s", "refused"), (cells for _, _, cells in found))
    page.save()


if __name__ == "__main__":
    main()
