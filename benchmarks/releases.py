"""How many programs that release statistics of records are proved, at which bound, how fast; and which wrong twins?

    .venv/bin/python benchmarks/releases.py        writes benchmarks/results/releases.md

Each program of `tests/support/releases.py` is derived once, compared with runs on neighbouring frames, and its
certificate checked. A right one counts where its bound is that of theory, its claim holds, and both limits of time are
kept. A wrong twin must be refused, or have a bound above its claim; `dpaudit.prove` then audits the pair that loses
most among those that were tried, and may find that it is VIOLATED.
"""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from frame import Page, timed
from support.releases import DOMAIN, RIGHT, TWINS, Row

import dpaudit as dp
from dpaudit.checker import check_certificate
from dpaudit.privacy.claims import as_claim
from dpaudit.program.fold import Fold
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.fold import prove_fold
from dpaudit.verify.releases.derive import derive

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
    found, taken = timed(lambda: derived(row))
    _, checked = timed(lambda: None if found.certificate is None else check_certificate(found.certificate))
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


def main() -> None:
    """Measure all programs, and write the table."""
    right, wrong = [measured(row) for row in RIGHT], [measured(row) for row in TWINS]
    good: dict[int, bool] = {}
    for row, (within, as_said, _) in zip(RIGHT, right, strict=True):
        good[row.number] = good.get(row.number, True) and within and as_said
    verdicts = [audited(row) for row in TWINS]
    counts = Counter(verdicts)
    kept = sum(is_good for number, is_good in good.items() if number)
    slowest, check = (max(float(cells[at]) for _, _, cells in right) for at in (6, 7))
    page = Page("releases.md", "Proofs from records to what is released", "releases.py")
    page.say(
        f"{sum(within for within, _, _ in right)} of {len(RIGHT)} right programs are proved. Of 40 rows of one table "
        f"{kept} have exactly the bound of theory, within {SLOWEST:g} s and a check within {SLOWEST_CHECK:g} s of CPU "
        f"(the slowest: {slowest:g} s, {check:g} ms). {sum(within for within, _, _ in wrong)} of {len(TWINS)} wrong "
        f"twins are proved; {sum(as_said for _, as_said, _ in wrong)} are refused or have their own bound, as is said "
        f"beforehand. With {RUNS:,} runs of the pair that loses most of those tried, {counts['violated']} of them are "
        f"VIOLATED, {counts['proved']} PROVED."
    )
    heads = ["#", "program", "relation", "claim", "bound", "refused", "CPU s", "check, ms"]
    page.say("", "## Right programs", "")
    page.table(heads, (cells for _, _, cells in right))
    page.say("## Wrong twins", "")
    page.table([*heads, "verdict"], ([*cells, said] for (_, _, cells), said in zip(wrong, verdicts, strict=True)))
    page.save()


if __name__ == "__main__":
    main()
