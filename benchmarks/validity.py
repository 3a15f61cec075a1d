"""How often is the result of a whole audit wrong? At most as often as it states, including the choice of the event.

The true loss of everything that is audited here is known, and an audit errs if its lower bound exceeds it: nominally in
5 % of the audits. Most mechanisms reach their loss on frequent outputs, so that only chance separates the bound from an
error. Four parts (`validity_rows`):

- mechanisms: 2,000 audits of each, all with different seeds; the first few again with four workers, whose evidence must
  have the same id;
- fixed: the audit's own seed is 0 to 9, and only the mechanism draws afresh: 1,000 audits for each seed and kind;
- dependent: 2,000 audits of dependent runs, which are INVALID and never VIOLATED;
- looks: 10,002 audits of mechanisms that just keep their claims: at most 10 are VIOLATED.

    python benchmarks/validity.py [--part fixed] [--only Laplace] [--share 1] [--jobs 2] [--afresh]

writes benchmarks/results/validity.md. Measurements are saved to results/validity.json every few seconds; the command
continues from there as long as dpaudit's code and these rows are unchanged. Single rows (--only) or fewer repetitions
(--share) are saved, too: the table says how many each row has. The exit code is 1 if anything is wrong more often than
chance allows.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from frame import RESULTS as FOLDER
from frame import code, head, line, made, options, save
from joblib import Parallel, delayed
from scipy.stats import binom, binomtest
from validity_rows import (
    CONFIDENCE,
    DEPENDENT,
    FIRST_SEED,
    FIXED_SEEDS,
    KINDS,
    LOOKS,
    LOOKS_SEED,
    MECHANISMS,
    TIGHT,
    Row,
)

import dpaudit as dp
from dpaudit.stats.two_looks import FALSE_ALARM

RESULTS = FOLDER / "validity.json"
TABLE = RESULTS.with_suffix(".md")
ERROR = 1 - CONFIDENCE
COUNTS = {"mechanisms": 2_000, "fixed": 1_000, "dependent": 2_000, "looks": 3_334}
_ROWS: dict[str, Sequence[Row]] = {
    "mechanisms": MECHANISMS,
    "fixed": [replace(kind, seed=seed) for kind in KINDS for seed in FIXED_SEEDS],
    "dependent": DEPENDENT,
    "looks": LOOKS,
}
_BATCH = 20  # audits that a process carries out between two reports
_SAVED = 10.0  # seconds between two saves
_WORKERS = 10  # audits of each mechanism that are repeated with four workers


@dataclass
class Tally:
    """Counts over audits of a row: errors, VIOLATED although the claim holds, INVALID, and excess runs."""

    audits: int = 0
    wrong: int = 0
    violated: int = 0
    invalid: int = 0
    spent: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def p_value(self) -> float:
        """The p-value of the number of errors under the stated confidence."""
        return chance(self.wrong, self.audits, ERROR)


def batch(row: Row, first: int, count: int) -> Tally:
    """Carry out a few audits of a row."""
    found, clock = Tally(), time.process_time()
    for repetition in range(first, first + count):
        evidence, loss = row.audit(repetition)
        invalid = evidence.verdict is dp.Verdict.INVALID
        found.audits += 1
        shown = [each.bound.value for each in evidence.attempts if each.bound.arithmetic == "real"]
        # at the stated confidence: after a second look the headline is that of a higher one; NaN would be an error
        found.wrong += not invalid and not max(shown, default=evidence.lower.value) <= loss
        found.violated += evidence.verdict is dp.Verdict.VIOLATED and keeps(evidence, loss)
        found.invalid += invalid
        found.spent += evidence.runs / max(evidence.budget, 1)
    found.seconds = time.process_time() - clock
    return found


def keeps(evidence: dp.Evidence, loss: float) -> bool:
    """Whether the true loss is not above the claim, so that VIOLATED would be false."""
    return evidence.claimed is not None and loss <= evidence.claimed.value


def chance(wrong: int, count: int, rate: float) -> float:
    """Return the probability of at least this many errors at this rate."""
    return float(binomtest(wrong, count, rate, alternative="greater").pvalue) if count else 1.0


def measured(rows: Sequence[Row], count: int, kept: dict[str, Tally], jobs: int) -> Iterator[tuple[Row, Tally]]:
    """Yield each row with its counts so far whenever a batch of it is finished, in the order of the rows."""
    parts = [
        (row, first, min(_BATCH, count - first))
        for row in rows
        for first in range(kept.get(row.name, Tally()).audits, count, _BATCH)
    ]
    run = Parallel(n_jobs=jobs, return_as="generator")(delayed(batch)(*part) for part in parts)
    for (row, _, _), found in zip(parts, run, strict=True):
        kept[row.name] = kept.get(row.name, Tally()) + found
        yield row, kept[row.name]


def same_evidence(share: float) -> tuple[int, int]:
    """Return how many audits give the same evidence with one worker and with four, and out of how many."""
    asked = [(row, index) for row in MECHANISMS for index in range(max(round(share * _WORKERS), 1))]
    same = sum(row.audit(index, 4)[0].id == row.audit(index, 1)[0].id for row, index in asked)
    return same, len(asked)


def percent(wrong: int, count: int) -> str:
    """Return a rate as text."""
    return f"{100 * wrong / max(count, 1):.2f} %"


def mechanisms_table(found: dict[str, Tally]) -> str:
    lines = head("mechanism", "true loss", "runs", "errors", "rate", "p-value", "VIOLATED", "INVALID", "an audit")
    for each in MECHANISMS:
        if (own := found.get(each.name)) is not None:
            errors = f"{own.wrong} of {own.audits:,}", percent(own.wrong, own.audits), f"{own.p_value:.3f}"
            took = f"{1000 * own.seconds / own.audits:.0f} ms"
            lines.append(
                line([each.name, f"{each.loss:.4g}", f"{each.runs:,}", *errors, own.violated, own.invalid, took])
            )
    return "\n".join(lines) + f"\n\n{summary(found)}"


def summary(found: dict[str, Tally]) -> str:
    """Return the largest rate of some rows, and whether chance explains it."""
    worst = max(found, key=lambda name: found[name].wrong / found[name].audits)
    count, tally = len(found), found[worst]
    luck = binom.ppf(1 - 0.05 / count, tally.audits, ERROR)
    over = sum(own.wrong > ERROR * own.audits for own in found.values())
    least = min(own.p_value for own in found.values())
    return (
        f"Largest: {worst}, {tally.wrong} of {tally.audits:,} (**{percent(tally.wrong, tally.audits)}**). Rows above "
        f"5 %: {over} of {count}. Were every rate exactly 5 %, the largest of {count} would exceed {luck:.0f} once in "
        f"twenty such tables. Least p-value {least:.3g}, times {count} rows: {min(count * least, 1):.3g}."
    )


def fixed_table(found: dict[str, Tally]) -> str:
    seeds = [str(seed) for seed in FIXED_SEEDS]
    lines = head("seed of the audit", *seeds, "all", "rate, exact 95 % interval", "least p-value")
    for kind in KINDS:
        rows = [found.get(replace(kind, seed=seed).name) for seed in FIXED_SEEDS]
        own = [tally for tally in rows if tally is not None]
        if own:
            all_ = sum(own, Tally())
            low, high = binomtest(all_.wrong, all_.audits).proportion_ci(0.95, "exact")
            cells = [kind.kind, *("–" if tally is None else str(tally.wrong) for tally in rows)]
            cells += [f"{all_.wrong} of {all_.audits:,}"]
            cells += [f"{percent(all_.wrong, all_.audits)} ({100 * low:.2f} to {100 * high:.2f})"]
            lines.append(line([*cells, f"{min(tally.p_value for tally in own):.3f}"]))
    return "\n".join(lines) + f"\n\nErrors of as many audits at each seed. {summary(found)}"


def dependent_table(found: dict[str, Tally]) -> str:
    lines = head("runs that hang together", "audits", "INVALID", "VIOLATED")
    lines += [line([name, f"{own.audits:,}", f"{own.invalid:,}", own.violated]) for name, own in found.items()]
    return "\n".join(lines)


def looks_table(found: dict[str, Tally]) -> str:
    lines = head("mechanism", "audits", "above at first", "VIOLATED", "runs over runs asked for")
    all_ = sum(found.values(), Tally())
    for name, own in [*found.items(), ("all", all_)]:
        lines.append(line([name, f"{own.audits:,}", own.wrong, own.violated, f"{own.spent / own.audits:.3f}"]))
    p = chance(all_.violated, all_.audits, FALSE_ALARM)
    return "\n".join(lines) + f"\n\np-value of more than {FALSE_ALARM:g}: {p:.3g}."


def failures(found: dict[str, dict[str, Tally]]) -> list[str]:
    """Return what chance does not explain, at 5 % for each part as a whole."""
    said = []
    for part in ("mechanisms", "fixed"):
        own = found.get(part, {})
        said += [
            f"{name}: {tally.wrong} of {tally.audits:,} are wrong"
            for name, tally in own.items()
            if tally.p_value < 0.05 / len(own)
        ]
    for part, own in found.items():
        limit = FALSE_ALARM * sum(tally.audits for tally in own.values())
        red = sum(tally.violated for tally in own.values())
        if (red > 0) if part == "dependent" else (part == "looks" and red > max(math.floor(limit), 1)):
            said.append(f"{part}: {red} are VIOLATED")
    return said


TABLES = {
    "mechanisms": ("Mechanisms that lose just what they claim", mechanisms_table),
    "fixed": ("The audit's seed is fixed, what is audited draws afresh", fixed_table),
    "dependent": ("Runs that hang together", dependent_table),
    "looks": ("The rule of two looks, where mechanisms just keep their claims", looks_table),
}


def page(found: dict[str, dict[str, Tally]], same: tuple[int, int] | None) -> str:
    """Return the whole table."""
    wrong = failures(found)
    verdict = "Nothing is wrong more often than chance allows."
    if wrong:
        verdict = f"**More than chance allows:** {'; '.join(wrong)}."
    text = f"# Errors of whole audits at confidence {CONFIDENCE}, event chosen anew each time\n\n{verdict}\n"
    for part, (title, table) in TABLES.items():
        if found.get(part):
            text += f"\n## {title}\n\n{table(found[part])}\n"
    seconds = sum(own.seconds for rows in found.values() for own in rows.values())
    alike = "" if same is None else f" The same evidence with 1 and with 4 workers: {same[0]} of {same[1]} audits."
    return text + (
        f"\nSeeds from {FIRST_SEED:,}, of two looks from {LOOKS_SEED:,}.{alike} {seconds / 60:.0f} minutes of one core."
        f"\n\n{made()}\n"
    )


def source() -> dict[str, str]:
    """Return the commit, and a digest of everything that the numbers of a row depend on."""
    now = code()
    state = hashlib.sha256(now["source"].encode())
    for file in (TIGHT, TIGHT.with_name("validity_rows.py")):
        state.update(file.read_bytes())
    return {"commit": now["commit"], "source": state.hexdigest()[:10]}


def main() -> None:
    """Measure what is missing, print the table and write it."""
    chosen = options(__doc__, part=list(COUNTS), only="", share=1.0, jobs=2, afresh=False)
    parts = chosen.part
    now, known = source(), {}
    if RESULTS.exists() and not chosen.afresh:
        known = json.loads(RESULTS.read_text(encoding="utf-8"))
        known = known if known["source"] == now["source"] else {}
    kept = {part: {name: Tally(**own) for name, own in rows.items()} for part, rows in known.get("rows", {}).items()}
    same: tuple[int, int] | None = known.get("same")

    def keep() -> None:
        rows = {part: {name: vars(own) for name, own in rows.items()} for part, rows in kept.items()}
        save(RESULTS, json.dumps({**now, "same": same, "rows": rows}, indent=0, ensure_ascii=False) + "\n")

    saved = time.perf_counter()
    for part in parts:
        count = max(round(chosen.share * COUNTS[part]), 1)
        wanted = [row for row in _ROWS[part] if chosen.only.lower() in row.name.lower()]
        for row, own in measured(wanted, count, kept.setdefault(part, {}), chosen.jobs):
            done = own.audits >= count
            if done:
                told = f"{own.wrong} wrong, {own.violated} violated, {own.invalid} invalid of {own.audits:,}"
                told += f", {1000 * own.seconds / own.audits:.0f} ms"
                print(f"{part}: {row.name}: {told}", file=sys.stderr, flush=True)
            if done or time.perf_counter() - saved > _SAVED:
                keep()
                saved = time.perf_counter()
    if "mechanisms" in parts and same is None and not chosen.only:
        same = same_evidence(chosen.share)
        keep()
    text = page(kept, same)
    print(text)
    save(TABLE, text)
    sys.exit(bool(failures(kept)) or (same is not None and same[0] != same[1]))


if __name__ == "__main__":
    main()
