"""What did the audits of the whole reference catalogue find, and what does the page of each kind of finding look like?

    python reports/regenerate.py            # everything: the evidence, and the page that is kept here
    python reports/regenerate.py --draw     # that page alone, from the evidence as it is
    python reports/regenerate.py --all out/reports   # all pages and their index, as on the site
    python reports/regenerate.py --check 5  # make five of them again and compare

The same seed and the same versions (`constraints.txt`) give the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

import dpaudit as dp
from dpaudit.report.html.index import IndexEntry, index_page

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from examples import EXAMPLES  # noqa: E402  (beside this script, which may be run from anywhere)

RUNS, SEED = 400_000, 0
KEPT = EXAMPLES[0]
"""The example whose page is kept here; the others are drawn when the site is built."""


def neutral(evidence: dp.Evidence) -> dp.Evidence:
    """Leave out what differs from run to run: date, duration, machine."""
    return msgspec.structs.replace(evidence, run=None)


def audited(name: str) -> dp.Evidence:
    """Audit an entry of the catalogue."""
    return neutral(dp.audit(name, runs=RUNS, seed=SEED))


def made() -> dict[Path, Callable[[], dp.Evidence]]:
    """Return how the evidence of each file is made: the examples, then the catalogue."""
    os.chdir(HERE.parent)  # the names of the examples' own releases are paths from there
    return {
        **{one.file: (lambda one=one: neutral(one.make())) for one in EXAMPLES if not isinstance(one.make, str)},
        **{HERE / "evidence" / f"{name}.json": (lambda name=name: audited(name)) for name in dp.catalogue()},
    }


def remark(mechanism: dp.Mechanism, evidence: dp.Evidence) -> str:
    """Say what a broken entry's audit found, and what would be needed where it found nothing."""
    if mechanism.correct:
        return ""
    if evidence.verdict is dp.Verdict.VIOLATED:
        return "a published mistake, found"
    return f"a published mistake, not found by these runs; it takes {mechanism.needs}"


def index() -> str:
    """Return the index over all evidence: the example pages, then the catalogue, its mistakes last."""
    catalogue = dp.catalogue()
    names = sorted(catalogue, key=lambda name: (not catalogue[name].correct, name))
    examples = [
        IndexEntry(dp.Evidence.load(one.file), f"pages/{one.name}.html", f"example page: {one.shows}")
        for one in EXAMPLES
    ]
    found = {name: dp.Evidence.load(HERE / "evidence" / f"{name}.json") for name in names}
    entries = [
        IndexEntry(evidence, f"evidence/{name}.json", remark(catalogue[name], evidence))
        for name, evidence in found.items()
    ]
    lead = (
        f"Eight example pages, one for each kind of finding; then every mechanism of the catalogue at its defaults, as "
        f"evidence: {RUNS:,} runs each, seed {SEED}, confidence 0.95."
    )
    return index_page("Reference reports", lead, [*examples, *entries])


def regenerate() -> None:
    """Write every evidence file, then the page."""
    for file, make in made().items():
        file.parent.mkdir(exist_ok=True)
        evidence = make()
        evidence.save(file)
        bound = f"{evidence.lower.parameter} at least {evidence.lower.value:.4g}"
        print(f"{file.stem}: {evidence.verdict}, {bound}", flush=True)
    draw()


def draw() -> None:
    """Write the page that is kept here, from its evidence as it is."""
    dp.Evidence.load(KEPT.file).to_html(KEPT.file.with_suffix(".html"))


def draw_all(folder: Path) -> None:
    """Write all example pages, the evidence of the catalogue, and the index over both."""
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    for one in EXAMPLES:
        dp.Evidence.load(one.file).to_html(folder / "pages" / f"{one.name}.html")
    shutil.copytree(HERE / "evidence", folder / "evidence", dirs_exist_ok=True)
    (folder / "index.html").write_text(index(), encoding="utf-8", newline="\n")


def check(sample: int) -> int:
    """Make some evidence again; return how many files differ in anything but the versions they were made with."""
    files = list(made().items())
    differing = 0
    for file, make in files[:: max(1, len(files) // sample)][:sample]:
        old, new = dp.Evidence.load(file).record(), make().record()
        same_versions = old.pop("versions") == new.pop("versions")
        differs = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        differing += bool(differs)
        note = "identical" if same_versions else "identical but for the versions it was made with"
        print(f"{file.stem}: {'differs in ' + ', '.join(differs) if differs else note}")
    return differing


def main() -> int:
    """Regenerate, draw, or check a sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, metavar="N", help="make N files again and compare")
    parser.add_argument("--draw", action="store_true", help="write the page that is kept here")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="write all pages and their index into a folder")
    arguments = parser.parse_args()
    if arguments.check is not None:
        return min(check(arguments.check), 1)
    if arguments.all is not None:
        draw_all(arguments.all)
    elif arguments.draw:
        draw()
    else:
        regenerate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
