"""What does alignment prove about the published mechanisms, how fast, and how large are the certificates?

For every mechanism of the tests' table at five and at eight answers: the proved bound next to the published claim and
the expected bound; CPU seconds for reading, comparing with runs and aligning, for the certificate, and for its check by
the independent checker. Then the folds, for any number of answers and several cutoffs; and programs whose two runs need
not keep together: sums that move with one answer, report noisy max of any length, branches on data, each with a twin.

    python benchmarks/proofs.py [--only svt]

prints the tables and writes benchmarks/results/proofs.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from fractions import Fraction
from pathlib import Path

import scipy

from dpaudit.checker import check_text
from dpaudit.loading.named import load
from dpaudit.program.fold import Emit, Fold
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


def block_counter(block, hidden=True):
    """Noisy answers, and at the end of a block its exact sum, with noise unless it is the wrong twin."""

    def step(state, answer, noise):
        exact, place = state[0] + answer, state[1] + 1
        if place < block:
            return Emit(answer + noise.laplace(2), (exact, place))
        return Emit(exact + noise.laplace(2) if hidden else exact, (0, 0))

    return Fold(step, init=(0, 0), finish=None)


def tree_counter(block, hidden=True):
    """Noisy answers, sums of blocks, and sums of blocks of blocks, with noise of scale 3."""

    def step(state, answer, noise):
        inner, outer, i, j = state[0] + answer, state[1] + answer, state[2] + 1, state[3]
        told = [answer + noise.laplace(3)]
        if i == block:
            told.append(inner + noise.laplace(3))
            inner, i, j = 0, 0, j + 1
            if j == block:
                told.append(outer + noise.laplace(3) if hidden else outer)
                outer, j = 0, 0
        return Emit(told, (inner, outer, i, j))

    return Fold(step, init=(0, 0, 0, 0), finish=None)


def noisy_max(draw, told=lambda state: state[1]):
    """The place of the largest noisy answer, or in the wrong twin its value."""

    def step(state, answer, noise):
        best, winner, place = state
        noisy = answer + draw(noise)
        if best is None or noisy > best:
            best, winner = noisy, place
        return best, winner, place + 1

    return Fold(step, init=(None, None, 0), finish=told)


def released(function, scale=1):
    """A function of the answers, with Laplace noise of one scale, or of one for negative first answers and another."""

    def program(data, noise):
        other = scale if data[0] >= 0 else 1
        return function(data) + noise.laplace(scale if scale == 1 else other)

    return program


def clipped_sparse(data, noise):
    """The sparse vector over answers that are clipped to [0, 5]."""
    level, found = noise.laplace(2), []
    for answer in data:
        found.append(max(0, min(answer, 5)) + noise.laplace(4) >= level)
        if found[-1]:
            break
    return found


def unhidden_sparse(data, noise):
    """Its wrong twin, which compares clipped answers without noise."""
    level = noise.laplace(2)
    return [max(0, min(answer, 5)) >= level for answer in data]


ONE = "queries(one)"
# program, its length ("any" for a fold), relation, what theory proves of it; "oo" is a wrong twin
TWO_RUNS = [
    ("counter in blocks of 8", block_counter(8), "any", ONE, 1),
    ("counter in blocks of 8, sums without noise", block_counter(8, hidden=False), "any", ONE, "oo"),
    ("counter in a tree, blocks of 4", tree_counter(4), "any", ONE, 1),
    ("counter in a tree, largest sums without noise", tree_counter(4, hidden=False), "any", ONE, "oo"),
    ("noisy max, Laplace 2", noisy_max(lambda noise: noise.laplace(2)), "any", "queries", 1),
    ("noisy max, Laplace 2, monotone", noisy_max(lambda noise: noise.laplace(2)), "any", "queries(monotone)", "1/2"),
    ("noisy max, exponential 2", noisy_max(lambda noise: noise.exponential(2)), "any", "queries", 1),
    ("noisy max, Gumbel 2", noisy_max(lambda noise: noise.gumbel(2)), "any", "queries", 1),
    ("noisy max, half the noise", noisy_max(lambda noise: noise.laplace(1)), "any", "queries", 2),
    ("noisy max, its value", noisy_max(lambda noise: noise.laplace(2), lambda s: s[0]), "any", "queries", "oo"),
    ("absolute answer", released(lambda data: abs(data[0])), 1, "queries", 1),
    ("absolute answer, noise by its sign", released(lambda data: abs(data[0]), 2), 1, "queries", "oo"),
    ("largest of 5", released(max), 5, "queries", 1),
    ("largest of 5, without noise", lambda data, noise: (max(data), noise.laplace(1)), 5, "queries", "oo"),
    ("median of 4", released(statistics.median), 4, "queries", 1),
    ("range of 3", released(lambda data: max(data) - min(data)), 3, "queries", 2),
    ("sparse vector of 5 clipped answers", clipped_sparse, 5, "queries", 1),
    ("sparse vector of 3 clipped answers, no noise", unhidden_sparse, 3, "queries", "oo"),
]


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


def two_runs(only):
    """Return the table of programs whose two runs need not keep together."""

    def rows():
        for name, program, length, relation, known in TWO_RUNS:
            if only not in name:
                continue
            given = {"relation": relation} if length == "any" else {"relation": relation, "length": length}
            prove = prove_fold if length == "any" else prove_program
            bound, seconds, size = examined(lambda: prove(program, **given))  # noqa: B023
            beside = shown(bound) if shown(bound) == shown(known) else f"**{shown(bound)}**"
            times = [f"{each:.3f}" for each in seconds] if bound != "oo" else [f"{seconds[0]:.3f}", "–", "–"]
            told = f"{name} (n = {length})"
            yield [told, "–", shown(known), beside, *times, f"{size / 1024:.0f}" if size else "–"]

    return ["## Two runs that need not keep together", "", *table(rows()), ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mechanisms whose names hold this text")
    parser.add_argument("--table", type=Path, default=TABLE, help="where the table goes")
    options = parser.parse_args()
    load("laplace")  # import the catalogue before the clock starts
    parts = [
        *at_length(5, options.only),
        *at_length(8, options.only),
        *without_limit(options.only),
        *two_runs(options.only),
    ]
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
