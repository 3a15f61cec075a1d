"""What does alignment prove about the published mechanisms, how fast, and how large are the certificates?

For every mechanism of the tests' table at five and at eight answers: the proved bound next to the published claim and
the expected bound; CPU seconds for reading, comparing with runs and aligning, for the certificate, and for its check by
the independent checker. Then the folds, for any number of answers and several cutoffs.

    python benchmarks/proofs.py [--only svt]

prints the tables and writes benchmarks/results/proofs.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from fractions import Fraction
from pathlib import Path

import scipy

from dpaudit.checker import check_text
from dpaudit.loading.named import load
from dpaudit.verify.fold import prove_fold
from dpaudit.verify.prove import prove_program

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.provable import TABLE as MECHANISMS  # the tests' table

GOALS = {5: 3, 8: 25}  # seconds for the whole table, read, compared and aligned
CUTOFFS = (1, 2, 5, 20)
# mechanism, its parameters, the bounds expected for any number of answers at these cutoffs; "oo" is no finite bound
FOLDS = [
    ("above_threshold", {}, (1, 1, 1, 1)),
    ("gap_svt", {}, (1, 1, 1, 1)),
    ("numeric_svt", {}, (1, 1, 1, 1)),
    ("adaptive_svt", {}, (1, 1, 1, 1)),
    ("svt_unscaled_noise", {}, tuple(Fraction(1, 4) + Fraction(3, 2) * cutoff for cutoff in CUTOFFS)),
    ("svt_releasing_values", {"scale": 4}, ("oo",) * 4),
    ("adaptive_svt_releasing_values", {}, ("oo",) * 4),
    ("svt_noiseless_answers", {}, ("oo",)),
    ("svt_unlimited", {}, ("oo",)),
]
TABLE = Path(__file__).parent / "results" / "proofs.md"


def timed(function):
    """Return the result of a function, and the CPU seconds that it took."""
    start = time.process_time()
    return function(), time.process_time() - start


def examined(prove):
    """Return the bound of a proof, its seconds (proof, certificate, check), and the size of its certificate."""
    proof, proving = timed(prove)
    text, writing = timed(lambda: json.dumps(proof.certificate))
    if proof.bound is None:
        return "oo", (proving, 0.0, 0.0), 0
    checked, checking = timed(lambda: check_text(text))
    assert checked.bound == proof.bound, (checked.bound, proof.bound)
    return proof.bound, (proving, writing, checking), len(text)


def shown(bound):
    return "none" if bound == "oo" else str(bound)


def row(entry, given, expected, bound, seconds, size):
    title, claim = titled(entry.name, given), entry.claim_for(entry.parameters_with(given))
    known = ["none" if claim is None else f"{claim.value:g}", shown(expected)]
    beside = shown(bound) if bound == expected else f"**{shown(bound)}**"
    times = [f"{each:.3f}" for each in seconds]
    if bound == "oo":
        return [title, *known, beside, times[0], "–", "–", "–"]
    return [title, *known, beside, *times, f"{size / 1024:.0f}"]


def titled(name, given):
    return name + "".join(f", {key} {value}" for key, value in given.items())


HEAD = [
    "mechanism",
    "claimed",
    "expected",
    "proved: at most",
    "read, compare and align",
    "certificate",
    "check",
    "size, KiB",
]


def table(rows):
    lines = [f"| {' | '.join(HEAD)} |", "|---|" + "---:|" * (len(HEAD) - 1)]
    print("\n".join(lines), flush=True)
    for cells in rows:
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def at_length(length, only):
    """Return the table at one length, with totals."""
    totals, place = [0.0, 0.0, 0.0], {5: 2, 8: 3}[length]

    def rows():
        sizes = 0
        for entry in MECHANISMS:
            name, given = entry[:2]
            if only not in name:
                continue
            bound, seconds, size = examined(lambda: prove_program(load(name), given, length=length))  # noqa: B023
            sizes += size
            for number, each in enumerate(seconds):
                totals[number] += each
            yield row(load(name), given, entry[place], bound, seconds, size)
        yield ["**all**", "", "", "", *(f"**{each:.2f}**" for each in totals), f"**{sizes / 1024:.0f}**"]

    lines = table(rows())
    goal = f"All of them take {totals[0]:.2f} s, as a user gets them; the goal is {GOALS[length]} s."
    return [f"## {length} answers", "", goal, "", *lines, ""]


def without_limit(only):
    """Return the table for any number of answers."""

    def rows():
        for name, given, expected in FOLDS:
            if only not in name:
                continue
            entry = load(name)
            for cutoff, known in zip(CUTOFFS, expected, strict=False):
                parameters = {**given, "cutoff": cutoff} if "cutoff" in entry.defaults else given
                found = examined(lambda: prove_fold(entry, parameters))  # noqa: B023
                yield row(entry, parameters, known, *found)

    return ["## Any number of answers", "", *table(rows()), ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mechanisms whose names hold this text")
    parser.add_argument("--table", type=Path, default=TABLE, help="where the table goes")
    options = parser.parse_args()
    load("laplace")  # import the catalogue before the clock starts
    parts = [*at_length(5, options.only), *at_length(8, options.only), *without_limit(options.only)]
    text = "\n".join(
        [
            "# Proofs",
            "",
            f"`python benchmarks/proofs.py`, Python {platform.python_version()}, SciPy {scipy.__version__}.",
            "ε = 1, CPU seconds. Claimed is what was published of the mechanism; the bounds expected are those of the",
            "tests (`tests/support/provable.py`), and one that differs is bold. The check is the independent one of",
            "`dpaudit.checker`. No bound means that alignment gives none, which refutes nothing.",
            "",
            *parts,
        ]
    )
    if not options.only or options.table != TABLE:
        options.table.write_text(text)


if __name__ == "__main__":
    main()
