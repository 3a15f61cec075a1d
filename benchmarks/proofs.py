"""What does alignment prove about the published mechanisms, how fast, and how large are the certificates?

For every mechanism of the tests' table at five and at eight answers: the proved bound next to the published claim and
the expected bound; CPU seconds for reading, comparing with runs and aligning, for the certificate, and for its check by
the independent checker. Then the folds, for any number of answers and several cutoffs; and programs whose two runs need
not keep together: sums that move with one answer, report noisy max of any length, branches on data, each with a twin.

    python benchmarks/proofs.py [--only svt]

writes results/proofs.md.
"""

from __future__ import annotations

import json
import statistics
from fractions import Fraction

from frame import Page, options, timed
from support.provable import TABLE as MECHANISMS  # the tests' table

from dpaudit.checker import check_text
from dpaudit.loading import load
from dpaudit.program.fold import Emit, Fold
from dpaudit.verify.fold import prove_fold, prove_program

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


def row(title, claimed, expected, found):
    """Return the cells of one program; a bound that is not the expected one is bold."""
    bound, seconds, size = found
    beside = shown(bound) if shown(bound) == shown(expected) else f"**{shown(bound)}**"
    rest = ["–"] * 3 if bound == "oo" else [*(f"{each:.3f}" for each in seconds[1:]), f"{size / 1024:.0f}"]
    return [title, claimed, shown(expected), beside, f"{seconds[0]:.3f}", *rest]


def of_entry(entry, given, expected, found):
    """Return the cells of a mechanism of the catalogue."""
    claim = entry.claim_for(entry.parameters_with(given))
    title = entry.name + "".join(f", {key} {value}" for key, value in given.items())
    return row(title, "none" if claim is None else f"{claim.value:g}", expected, found)


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


def at_length(page, length, only):
    """Add the table at one length, with totals."""
    all_found = []
    page.say(f"## {length} answers", "")

    def rows():
        for entry in MECHANISMS:
            name, given, expected = *entry[:2], entry[{5: 2, 8: 3}[length]]
            if only in name:
                found = examined(lambda: prove_program(load(name), given, length=length))  # noqa: B023
                all_found.append(found)
                yield of_entry(load(name), given, expected, found)
        totals = [sum(seconds[place] for _, seconds, _ in all_found) for place in range(3)]
        sizes = sum(size for *_, size in all_found) / 1024
        yield ["**all**", "", "", "", *(f"**{each:.2f}**" for each in totals), f"**{sizes:.0f}**"]

    page.table(HEAD, rows())
    whole = sum(seconds[0] for _, seconds, _ in all_found)
    page.say(f"All of them take {whole:.2f} s, as a user gets them; the goal is {GOALS[length]} s.", "")


def without_limit(only):
    """Yield the rows for any number of answers."""
    for name, given, expected in FOLDS:
        if only in name:
            entry = load(name)
            for cutoff, known in zip(CUTOFFS, expected, strict=False):
                parameters = {**given, "cutoff": cutoff} if "cutoff" in entry.defaults else given
                yield of_entry(entry, parameters, known, examined(lambda: prove_fold(entry, parameters)))  # noqa: B023


def two_runs(only):
    """Yield the rows of programs whose two runs need not keep together."""
    for name, program, length, relation, known in TWO_RUNS:
        if only in name:
            given = {"relation": relation} if length == "any" else {"relation": relation, "length": length}
            prove = prove_fold if length == "any" else prove_program
            yield row(f"{name} (n = {length})", "–", known, examined(lambda: prove(program, **given)))  # noqa: B023


def main():
    only = options(__doc__, only="").only
    load("laplace")  # import the catalogue before the clock starts
    page = Page("proofs.md", "Proofs", "proofs.py", write=not only)
    page.say(
        "ε = 1, CPU seconds. Claimed is what was published of the mechanism; the bounds expected are those of the",
        "tests (`tests/support/provable.py`), and one that differs is bold. The check is the independent one of",
        "`dpaudit.checker`. No bound means that alignment gives none, which refutes nothing.",
        "",
    )
    at_length(page, 5, only)
    at_length(page, 8, only)
    page.say("## Any number of answers", "")
    page.table(HEAD, without_limit(only))
    page.say("## Two runs that need not keep together", "")
    page.table(HEAD, two_runs(only))
    page.save()


if __name__ == "__main__":
    main()
