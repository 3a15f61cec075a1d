"""How many programs that release statistics of records are proved, at which bound, how fast; and which wrong twins?

    .venv/bin/python benchmarks/releases.py        writes benchmarks/results/releases.md

Each program of `tests/support/releases.py` is derived once, compared with runs on neighbouring frames, and its
certificate checked; a wrong twin must be refused, or have a bound above its claim.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.releases import DOMAIN, RIGHT, TWINS, Row

from dpaudit.checker import check_certificate
from dpaudit.privacy.claims import as_claim
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.releases.derive import derive

RESULTS = Path(__file__).parent / "results" / "releases.md"


def measured(row: Row) -> tuple[bool, str]:
    """Return whether a program is within its claim, and its row of the table."""
    made = mechanism(row.program)
    start = time.process_time()
    with np.errstate(all="ignore"):
        found = derive(
            made, made.parameters_with({}), domain=DOMAIN, relation=row.relation, claim=as_claim(row.claim), seed=0
        )
    taken = time.process_time() - start
    start = time.process_time()
    if found.certificate is not None:
        check_certificate(found.certificate)
    checked = time.process_time() - start
    within = found.bound is not None and found.bound <= Fraction(str(as_claim(row.claim).value))
    bound = (
        "–" if found.bound is None else str(found.bound) if len(str(found.bound)) < 10 else f"{float(found.bound):.7g}"
    )
    why = found.open_ends[0].partition("): ")[2].partition(";")[0].partition(", which")[0] if found.open_ends else ""
    return within, (
        f"| {row.number or ''} | {row.program.__name__} | {row.relation} | {row.claim} | {bound} | {why} "
        f"| {taken:.1f} | {1000 * checked:.0f} |"
    )


def main() -> None:
    """Measure all programs, and write the table."""
    head = "| # | program | relation | claim | bound | refused | CPU s | check, ms |\n|---|---|---|---|---|---|---|---|"
    parts, counts = [], []
    for title, rows in (("Right programs", RIGHT), ("Wrong twins", TWINS)):
        found = [measured(row) for row in rows]
        counts.append(sum(within for within, _ in found))
        parts.append(f"## {title}\n\n{head}\n" + "\n".join(line for _, line in found))
    numbers = {row.number for row in RIGHT} - {0}
    text = (
        "# Proofs from records to what is released\n\n"
        f"{counts[0]} of {len(RIGHT)} right programs are proved, {len(numbers)} of 40 rows of one table among "
        f"them; {counts[1]} of {len(TWINS)} wrong twins are. One CPU of a loaded machine; comparing 400 runs on "
        "neighbouring frames is most of the time.\n\n" + "\n\n".join(parts) + "\n"
    )
    RESULTS.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
