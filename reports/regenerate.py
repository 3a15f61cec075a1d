"""What did the audits of the whole reference catalogue find? Writes the evidence of each entry and an index page.

    python reports/regenerate.py            # all entries, into this folder
    python reports/regenerate.py --check 5  # run five of them again and compare

The same seed and the same versions (`constraints.txt`) give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dpaudit as dp
from dpaudit.report.index import Entry, index_page

HERE = Path(__file__).resolve().parent
RUNS, SEED = 400_000, 0


def audited(name: str) -> dp.Evidence:
    """Audit an entry, without what differs from run to run."""
    import msgspec

    return msgspec.structs.replace(dp.audit(name, runs=RUNS, seed=SEED), run=None)


def remark(mechanism: dp.Mechanism, evidence: dp.Evidence) -> str:
    """Say what a broken entry's audit found, and what would be needed where it found nothing."""
    if mechanism.correct:
        return ""
    if evidence.verdict is dp.Verdict.VIOLATED:
        return "a published mistake, found"
    return f"a published mistake, not found by these runs; it takes {mechanism.needs}"


def regenerate() -> None:
    """Write every evidence file and the index."""
    catalogue = dp.catalogue()
    names = sorted(catalogue, key=lambda name: (not catalogue[name].correct, name))
    entries = []
    folder = HERE / "evidence"
    folder.mkdir(exist_ok=True)
    for name in names:
        evidence = audited(name)
        evidence.save(folder / f"{name}.json")
        entries.append(Entry(evidence, f"evidence/{name}.json", remark(catalogue[name], evidence)))
        print(f"{name}: {evidence.verdict}, {evidence.lower.parameter} at least {evidence.lower.value:.4g}", flush=True)
    lead = f"Every mechanism of the catalogue at its defaults: {RUNS:,} runs each, seed {SEED}, confidence 0.95."
    page = index_page("The reference catalogue, audited", lead, entries)
    (HERE / "index.html").write_text(page, encoding="utf-8", newline="\n")


def check(sample: int) -> int:
    """Run some entries again; return how many differ in anything but the versions they were made with."""
    files = sorted((HERE / "evidence").glob("*.json"))
    differing = 0
    for file in files[:: max(1, len(files) // sample)][:sample]:
        old, new = dp.Evidence.load(file).record(), audited(file.stem).record()
        same_versions = old.pop("versions") == new.pop("versions")
        differs = sorted(key for key in old if old[key] != new[key])
        differing += bool(differs)
        note = "identical" if same_versions else "identical but for the versions it was made with"
        print(f"{file.stem}: {'differs in ' + ', '.join(differs) if differs else note}")
    return differing


def main() -> int:
    """Regenerate, or check a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, metavar="N", help="run N entries again and compare")
    arguments = parser.parse_args()
    if arguments.check is not None:
        return min(check(arguments.check), 1)
    regenerate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
