"""Which of 588 claims are proved, and which refuted? 49 statistics, six kinds of noise, right and halved.

Each question is an ordinary function of a list with NumPy's noise; nothing is given but the range of the numbers and
how many there are. A claim with the noise that it needs has to be PROVED, one with half of it VIOLATED. The questions
are those of DPriv-Bench (arXiv 2604.15851), in our own words and code.

    python benchmarks/questions.py [--length 3] [--only NAME] [--keep]
    python benchmarks/questions.py --certificates     # how long those of Laplace noise take; writes certificates.md
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from frame import RESULTS as FOLDER
from frame import Page, options, timed
from support.numbers import FUNCTIONS

from dpaudit.checker import check_certificate
from dpaudit.evidence.records import Verdict
from dpaudit.loading import load
from dpaudit.request import ProofRequest
from dpaudit.verify.answer import proving
from dpaudit.verify.moves.derive import NumberData, derive

RESULTS = FOLDER / "questions.json"
RUNS = 10_000
LENGTH = [3]
"""How many numbers are asked about."""


def laplace(statistic: Callable[[Any], Any], moves: float, noise: float) -> Callable[[Any], Any]:
    def release(x):
        return statistic(x) + np.random.laplace(0, noise * moves)

    return release


def gaussian(statistic: Callable[[Any], Any], moves: float, noise: float) -> Callable[[Any], Any]:
    def release(x):
        return statistic(x) + np.random.normal(0, noise * moves)

    return release


def concentrated(statistic: Callable[[Any], Any], moves: float, noise: float) -> Callable[[Any], Any]:
    def release(x):
        return statistic(x) + np.random.normal(loc=0, scale=noise * moves / math.sqrt(2))

    return release


def exponential(statistic: Callable[[Any], Any], moves: float, noise: float) -> Callable[[Any], Any]:
    """Is it more or less than a public number? Chosen by chances; both scores move."""
    middle = _middle(statistic, moves)

    def release(x):
        scores = np.array([statistic(x) - middle, middle - statistic(x)])
        weights = np.exp(scores / (2 * noise * moves))
        return np.random.choice(["more", "less"], p=weights / weights.sum())

    return release


def noisy_max(statistic: Callable[[Any], Any], moves: float, noise: float) -> Callable[[Any], Any]:
    """The same by the larger of two scores with Laplace noise."""
    middle = _middle(statistic, moves)

    def release(x):
        scores = np.array([statistic(x) - middle, middle - statistic(x)])
        return np.argmax(scores + np.random.laplace(0, 2 * noise * moves, size=2))

    return release


def permute_and_flip(statistic: Callable[[Any], Any], moves: float, noise: float) -> Callable[[Any], Any]:
    """The same by coins in a random order (McKenna & Sheldon 2020)."""
    middle = _middle(statistic, moves)

    def release(x):
        scores = np.array([statistic(x) - middle, middle - statistic(x)])
        for option in np.random.permutation(2):
            if np.random.random() < np.exp((scores[option] - scores.max()) / (2 * noise * moves)):
                return option

    return release


def _middle(statistic: Callable[[Any], Any], moves: float) -> float:
    """A number below both values where the statistic moves farthest, such that half the noise shows there."""
    grid = (0.0, 0.5, 1.0)
    values = {point: float(statistic(list(point))) for point in itertools.product(grid, repeat=LENGTH[0])}
    ends = [
        (values[point], values[(*point[:place], other, *point[place + 1 :])])
        for point, place, other in itertools.product(values, range(LENGTH[0]), grid)
    ]
    farthest = max(abs(one - other) for one, other in ends)
    low = max(min(each) for each in ends if abs(each[0] - each[1]) > farthest - 1e-9)
    return round(low - moves / 2, 6)


KINDS = {
    laplace: "epsilon=1", gaussian: "mu=1", concentrated: "rho=1", exponential: "epsilon=1", noisy_max: "epsilon=1",
    permute_and_flip: "epsilon=1",
}  # fmt: skip
"""The kinds of noise, each with what it is claimed to keep."""


def asked(statistic: Callable[[Any], Any], kind: Any, noise: float, length: int) -> tuple[Verdict, float]:
    """Return the verdict on one question, and the CPU seconds that it took."""
    started = time.process_time()
    release = kind(statistic, FUNCTIONS[statistic](length), noise)
    found = proving(
        ProofRequest(release, claim=KINDS[kind], domain=(0, 1), length=length, relation="replace", seed=7, runs=RUNS)
    )
    verdict = Verdict.PROVED if found.keeps_claim else found.measured().verdict
    return verdict, time.process_time() - started


def too_little(statistic: Callable[[Any], Any], length: int) -> bool:
    """Whether a claim is proved with .999 of the noise that it needs."""
    release = laplace(statistic, FUNCTIONS[statistic](length), 0.999)
    asked_for = {"claim": "epsilon=1", "domain": (0, 1), "length": length, "relation": "replace", "runs": 0}
    return proving(ProofRequest(release, **asked_for)).keeps_claim


def certificates() -> None:
    """Write how long certificates take to make and to check, of all statistics with Laplace noise."""
    rows, slowest = [], {}
    for length in (2, 3, 5, None):
        exact, prove, check = 0, {}, {}
        for statistic, moves in FUNCTIONS.items():
            release = laplace(statistic, moves(length or 3), 1)
            name, numbers = statistic.__name__, NumberData(length, Fraction(0), Fraction(1))
            found, prove[name] = timed(
                lambda: derive(load(release), {}, numbers, notion="epsilon", delta=Fraction(0))  # noqa: B023
            )
            _, check[name] = timed(lambda: found.certificate and check_certificate(found.certificate))  # noqa: B023
            exact += found.bound == 1
        longest = [f"{max(each.values()):.2f} ({max(each, key=each.get)})" for each in (prove, check)]
        rows.append([length or "any", exact, *longest])
        slowest[length] = sum(prove.values()) + sum(check.values())
    page = Page("certificates.md", "How long certificates of movements take", "questions.py --certificates")
    longest_each = ("seconds to prove, each at most", "seconds to check, each at most")
    page.table(("n", "bounded at what they move, of 49", *longest_each), rows)
    page.say(f"CPU seconds, all 49 with {slowest[5]:.1f} at n = 5 and {slowest[None]:.1f} for any n.")
    page.save()


def main() -> int:
    given = options(__doc__, length=3, only=None, keep=False, certificates=False)
    if given.certificates:
        certificates()
        return 0
    LENGTH[0] = given.length
    counted: dict[str, Counter[str]] = {kind.__name__: Counter() for kind in KINDS}
    seconds, others, false = 0.0, [], []
    for statistic in FUNCTIONS:
        if given.only not in (None, statistic.__name__):
            continue
        for kind in KINDS:
            for noise, wanted in ((1, Verdict.PROVED), (0.5, Verdict.VIOLATED)):
                verdict, took = asked(statistic, kind, noise, given.length)
                seconds += took
                counted[kind.__name__][wanted.value] += verdict is wanted
                if verdict is not wanted:
                    others.append([statistic.__name__, kind.__name__, wanted.value, verdict.value])
        print(f"{statistic.__name__}: {seconds:.1f} s so far", file=sys.stderr)
        if too_little(statistic, given.length):
            false.append(statistic.__name__)
    wrong = [each for each in others if set(each[2:]) == {"proved", "violated"}]
    result = {
        "length": given.length,
        "questions": 2 * len(KINDS) * len(FUNCTIONS),
        "answered": {kind: dict(found) for kind, found in counted.items()},
        "wrong": wrong,
        "no answer": [each for each in others if each not in wrong],
        "proved at .999 of the noise": false,
        "CPU seconds": round(seconds, 1),
    }
    print(json.dumps(result, indent=2))
    if given.keep:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        known[str(given.length)] = result
        RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")
    return 1 if wrong or false else 0


if __name__ == "__main__":
    sys.exit(main())
