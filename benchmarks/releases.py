"""How many programs that release statistics of records are proved, at which bound, how fast; and which wrong twins?

    .venv/bin/python benchmarks/releases.py        writes benchmarks/results/releases.md

Each program of `tests/support/releases.py` is derived once, compared with runs on neighbouring frames, and its
certificate checked. A right one counts where its bound is that of theory, its claim holds, and both limits of time are
kept. A wrong twin must be refused, or have a bound above its claim; `dpaudit.prove` then audits the pair that loses
most among those that were tried, and may find that it is VIOLATED.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.releases import DOMAIN, RIGHT, TWINS, Row

import dpaudit as dp
from dpaudit.checker import check_certificate
from dpaudit.privacy.claims import as_claim
from dpaudit.program.fold import Fold
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.fold import prove_fold
from dpaudit.verify.releases.derive import derive

RESULTS = Path(__file__).parent / "results" / "releases.md"
SLOWEST, SLOWEST_CHECK = 5.0, 1.0  # seconds of CPU
RUNS = 40_000  # of an audit
SLOW = ("sampled_sgd_of_one_sample", "sampled_sgd_over_the_true_size")  # a run takes a second: they are not audited


def derived(row: Row) -> Any:
    """Return what is derived of a program: a fold over answers by alignment, any other from its records."""
    if isinstance(row.program, Fold):
        return prove_fold(row.program, relation=row.relation)
    made = mechanism(row.program)
    with np.errstate(all="ignore"):
        return derive(made, made.parameters_with({}), domain=DOMAIN, relation=row.relation, claim=as_claim(row.claim))


def measured(row: Row) -> tuple[bool, bool, list[str]]:
    """Return whether a program is within its claim, whether it is as theory says and in time, and cells of its row."""
    start = time.process_time()
    found = derived(row)
    taken = time.process_time() - start
    start = time.process_time()
    if found.certificate is not None:
        check_certificate(found.certificate)
    checked = time.process_time() - start
    bound = None if found.open_ends else found.bound
    within = bound is not None and bound <= Fraction(str(as_claim(row.claim).value))
    shown = "–" if bound is None else str(bound) if len(str(bound)) < 10 else f"{float(bound):.7g}"
    why = found.open_ends[0].partition(": ")[2].partition(";")[0].partition(", which")[0] if found.open_ends else ""
    good = row.is_bound(bound) and taken < SLOWEST and checked < SLOWEST_CHECK
    cells = [
        str(row.number or ""),
        row.name,
        row.relation,
        row.claim,
        shown,
        why,
        f"{taken:.1f}",
        f"{1000 * checked:.0f}",
    ]
    return within, good, cells


def audited(row: Row) -> str:
    """Return the verdict on a wrong twin when the pair that its derivation suspects is audited."""
    options: dict[str, Any] = {} if isinstance(row.program, Fold) else {"domain": DOMAIN}
    runs = 0 if row.name in SLOW else RUNS
    with np.errstate(all="ignore"):
        found = dp.prove(
            row.program, relation=row.relation, claim=row.claim, runs=runs, seed=1, seconds=None, workers=1, **options
        )
    sys.stderr.write(f"{row.name}: {found.verdict.value}\n")
    return str(found.verdict.value)


def table(rows: list[list[str]], *further: str) -> str:
    """Return a table of Markdown."""
    head = ["#", "program", "relation", "claim", "bound", "refused", "CPU s", "check, ms", *further]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def main() -> None:
    """Measure all programs, and write the table."""
    right = [measured(row) for row in RIGHT]
    good: dict[int, bool] = {}
    for row, (within, as_said, _) in zip(RIGHT, right, strict=True):
        good[row.number] = good.get(row.number, True) and within and as_said
    wrong = [measured(row) for row in TWINS]
    verdicts = [audited(row) for row in TWINS]
    counts = Counter(verdicts)
    kept = sum(is_good for number, is_good in good.items() if number)
    slowest, check = (max(float(cells[at]) for _, _, cells in right) for at in (6, 7))
    text = (
        "# Proofs from records to what is released\n\n"
        f"{sum(within for within, _, _ in right)} of {len(RIGHT)} right programs are proved. Of 40 rows of one table "
        f"{kept} have exactly the bound of theory, within {SLOWEST:g} s and a check within {SLOWEST_CHECK:g} s of CPU "
        f"(the slowest: {slowest:g} s, {check:g} ms). {sum(within for within, _, _ in wrong)} of {len(TWINS)} wrong "
        f"twins are proved; {sum(as_said for _, as_said, _ in wrong)} are refused or have their own bound, as is said "
        f"beforehand. With {RUNS:,} runs of the pair that loses most of those tried, {counts['violated']} of them are "
        f"VIOLATED, {counts['proved']} PROVED. One CPU of a loaded machine.\n\n"
        f"## Right programs\n\n{table([cells for _, _, cells in right])}\n\n## Wrong twins\n\n"
        + table([[*cells, verdict] for (_, _, cells), verdict in zip(wrong, verdicts, strict=True)], "verdict")
        + "\n"
    )
    RESULTS.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
