"""Which proofs are honest? Programs of every kind, with what is asked of each; all of them are PROVED."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import dpaudit as dp
from dpaudit.program.fold import Emit, Fold

HERE = Path(__file__)
AGES = {"age": (0, 120), "city": ["bern", "oslo", "rome"]}
KEYS = {"age": (0, 10), "bmi": [10.0, 25.5, None], "glad": [True, False], "place": ["a", "b", None]}


def top_two(data, noise, *, epsilon=1):
    noisy = [answer + noise.laplace(4 / epsilon) for answer in data]
    first = noise.argmax(noisy)
    rest = [place for place in range(len(noisy)) if place != first]
    return [first, rest[noise.argmax([noisy[place] for place in rest])]]


def winner_and_gap(data, noise, *, epsilon=1):
    """Compare one value after another: winners with one gap are on several paths, in which the draws form a cycle."""
    best = second = None
    winner = 0
    for place, answer in enumerate(data):
        value = answer + noise.laplace(2 / epsilon)
        if best is None or value > best:
            best, second, winner = value, best, place
        elif second is None or value > second:
            second = value
    return winner, best - second


def coins(data, noise, *, epsilon=1):
    if noise.bernoulli(0.25):
        return data[0] + noise.laplace(1 / epsilon)
    return noise.choice(["a", "b", "c"], [1, 2, 0])


def clipped_sum(data, noise, *, epsilon=1):
    return sum(min(max(answer, 0), 1) for answer in data) + noise.laplace(1 / epsilon)


def geometric(data, noise, *, epsilon=1):
    return [answer + noise.discrete_laplace(1 / epsilon) for answer in data]


def vector(data, noise):
    return [answer + noise.laplace(1) for answer in data]


def best_by_gumbel(data, noise, *, epsilon=1):
    return noise.argmax([answer + noise.gumbel(2 / epsilon) for answer in data])


def respond(bit, noise, *, keep=0.75):
    return bit if noise.bernoulli(keep) else 1 - bit


def respond_in_pairs(bits, noise):
    return [bit if noise.bernoulli(0.75) else 1 - bit for bit in bits]


def energy(numbers, noise, *, epsilon=1):
    return sum(number * number for number in numbers) + noise.laplace(1 / epsilon)


def _step(state, answer, noise):
    return Emit(answer + noise.laplace(2), 1)


sums = Fold(_step, 0, None)


def _best(state, answer, noise):
    best, winner, place = state
    noisy = answer + noise.laplace(2)
    if best is None or noisy > best:
        best, winner = noisy, place
    return best, winner, place + 1


running_best = Fold(_best, (None, None, 0), lambda state: state[1])


def mixed(frame, noise, *, epsilon=1.0):
    some = frame[(frame["bmi"] < 20) & (frame["glad"] == True)]  # noqa: E712 - a comparison row by row
    young = frame[frame["place"] == "a"]
    return len(some) + noise.laplace(2 / epsilon), young["age"].clip(0, 5).sum() + noise.laplace(10 / epsilon)


called_otherwise = clipped_sum

HONEST: dict[str, tuple[str, dict[str, Any]]] = {
    "above threshold": ("above_threshold", {"length": 3}),
    "noisy max": ("report_noisy_max", {"length": 3}),
    "top two of four": ("proofs.py:top_two", {"length": 4, "relation": "queries"}),
    "winner and gap of three": ("proofs.py:winner_and_gap", {"length": 3, "relation": "queries"}),
    "coins": ("proofs.py:coins", {"length": 1, "relation": "queries"}),
    "values": ("proofs.py:clipped_sum", {"length": 2, "relation": "queries(norm=1)"}),
    "whole numbers": ("proofs.py:geometric", {"length": 2, "relation": "queries(norm=1)", "domain": "integer"}),
    "parts": ("proofs.py:vector", {"length": 8, "relation": "queries", "claim": "epsilon=8"}),
    "no counterexample": ("proofs.py:best_by_gumbel", {"length": 3, "relation": "queries"}),
    "another name": ("proofs.py:called_otherwise", {"length": 2, "relation": "queries(norm=1)"}),
    "fold": ("above_threshold", {}),
    "couplings": ("prefix_sum", {}),
    "fold of a file": ("proofs.py:sums", {"relation": "queries(norm=1)"}),
    "selection": ("proofs.py:running_best", {"relation": "queries"}),
    "bit": ("proofs.py:respond", {"domain": [0, 1], "relation": "replace", "claim": "epsilon=ln(3)"}),
    "bits": (
        "proofs.py:respond_in_pairs",
        {"domain": [[0, 0], [0, 1], [1, 0], [1, 1]], "relation": "replace", "claim": "epsilon=ln(3)"},
    ),
    "tuples of one bit": (
        "proofs.py:respond_in_pairs",
        {"domain": [(0,), (1,)], "relation": "replace", "claim": "epsilon=ln(3)", "keep_data": True},
    ),
    "count": ("releases.py:count", {"domain": AGES}),
    "sum over some": ("proofs.py:mixed", {"domain": KEYS}),
    "two stages": ("releases.py:two_stage", {"domain": AGES}),
    "cities": ("releases.py:by_city", {"domain": AGES, "relation": "replace", "claim": "epsilon=2"}),
    "gaussian, μ": ("releases.py:gaussian_pair", {"domain": AGES, "claim": "mu=0.708"}),
    "gaussian, ρ": ("releases.py:gaussian_pair", {"domain": AGES, "claim": "rho=0.25"}),
    "numbers": ("proofs.py:energy", {"domain": (0, 1), "length": 3, "relation": "replace", "claim": "epsilon=1"}),
    "accounted for": ("releases.py:mean", {"domain": AGES, "claim": "epsilon=1, delta=1e-5"}),
}
"""What is asked of each: a target, and options."""


def target_of(name: str) -> str:
    """The target as it is loaded: files lie beside this one."""
    target = HONEST[name][0]
    return str(HERE.parent / target) if ":" in target else target


@cache
def proved(name: str) -> dp.Evidence:
    """The evidence of one of them, without runs."""
    options = {"claim": "epsilon=1", **HONEST[name][1]}
    return dp.prove(target_of(name), runs=0, seed=1, **options)
