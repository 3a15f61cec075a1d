"""Is an event chosen from any learning runs whatever, always the same one, and a telling one where there is one?"""

from __future__ import annotations

import itertools
import math
import time

import msgspec
import numpy as np
import pytest

from dpaudit.attack import choose, count_event, halves
from dpaudit.attack.choose import predicted_bound
from dpaudit.attack.families import families, spread_points
from dpaudit.bounds.statement import lower_bound
from dpaudit.event import Event, Rows
from dpaudit.evidence import Counts
from dpaudit.game.outputs import from_array, from_list
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

RNG = np.random.default_rng(7)
CLAIMS = [PureDP(1), ApproxDP(1, 1e-5), ApproxDP(1, 0.3), GaussianDP(1), ZeroConcentratedDP(0.5), RenyiDP(2, 1)]


def mixed(rng, size, side):
    makers = [
        lambda: float(rng.normal(side)),
        lambda: int(rng.integers(3)),
        lambda: "abc"[rng.integers(3)],
        lambda: [bool(b) for b in rng.random(3) < 0.5],
        lambda: {"k": float(rng.normal()), "n": None},
        lambda: math.nan,
        lambda: math.inf * rng.choice([-1, 1]),
        lambda: None,
        lambda: (1e300 * rng.normal(), 1e-300),
    ]
    return from_list([makers[rng.integers(len(makers))]() for _ in range(size)])


def weird():
    """Learning runs of both sides, of every kind that might trip the attack."""
    normal = RNG.normal
    yield "one form", from_array(normal(size=300)), from_array(normal(1, size=300))
    yield "no runs on side 0", from_array(np.empty(0)), from_array(normal(size=300))
    yield "no runs on side 1", from_array(normal(size=300)), from_array(np.empty(0))
    yield "one run", from_array(normal(size=1)), from_array(np.empty(0))
    yield "one run each", from_array(normal(size=1)), from_array(normal(size=1))
    yield "three runs", from_array(normal(size=2)), from_array(normal(size=1))
    yield "all constant", from_array(np.zeros(200)), from_array(np.zeros(200))
    yield "two constants", from_array(np.zeros(200)), from_array(np.ones(200))
    yield "constant strings", from_list(["a"] * 90), from_list(["b"] * 90)
    yield "distinct strings", from_list([f"s{i}" for i in range(400)]), from_list([f"t{i}" for i in range(400)])
    yield "other forms on each side", from_array(normal(size=200)), from_list(["x"] * 200)
    yield "10⁴ categories", *(from_array(RNG.integers(0, 10_000, 8000)) for _ in range(2))
    yield "10³ strings", *(from_list([f"c{i}" for i in RNG.integers(0, 1000, 3000)]) for _ in range(2))
    yield "50 dimensions", from_array(normal(size=(400, 50))), from_array(normal(0.3, size=(400, 50)))
    yield "more dimensions than runs", from_array(normal(size=(20, 50))), from_array(normal(size=(20, 50)))
    yield "constant columns", from_array(np.zeros((90, 5))), from_array(np.ones((90, 5)))
    yield "bits", from_array(RNG.random((500, 20)) < 0.5), from_array(RNG.random((500, 20)) < 0.6)
    yield "empty rows", from_array(np.empty((60, 0))), from_array(np.empty((60, 0)))
    yield "mixed", mixed(RNG, 600, 0), mixed(RNG, 600, 1)
    yield "nothing finite", from_array(np.full(80, np.nan)), from_array(np.full(80, np.inf))
    yield (
        "some NaN",
        from_array(np.where(RNG.random(300) < 0.1, np.nan, normal(size=300))),
        from_array(normal(size=300)),
    )
    big = np.finfo(float).max
    yield "extremes", from_array(RNG.choice([big, -big, 5e-324, 0.0], 300)), from_array(RNG.choice([big, -big], 300))
    yield "huge spread", from_array(RNG.uniform(-1, 1, 300) * 1.7e308), from_array(RNG.random(300) * 1e308)
    yield "huge vectors", from_array(RNG.uniform(-1, 1, (300, 3)) * 1.7e308), from_array(normal(size=(300, 3)))
    yield "huge integers", from_list([2**60 + int(i) for i in RNG.integers(0, 9, 200)]), from_list([1] * 200)
    yield "heavy tails", from_array(RNG.standard_cauchy(900)), from_array(1 + RNG.standard_cauchy(900))
    yield "rounded", from_array(np.round(normal(size=900), 2)), from_array(np.round(normal(1, size=900), 2))
    yield (
        "lists of any length",
        *(from_list([list(map(float, normal(size=n))) for n in RNG.integers(0, 6, 500)]) for _ in range(2)),
    )


WEIRD = list(weird())
each = pytest.mark.parametrize(("side0", "side1"), [case[1:] for case in WEIRD], ids=[case[0] for case in WEIRD])


@each
def test_families_cut_every_output_into_one_cell(side0, side1):
    found = list(families(side0, side1))
    assert found
    for fitted in found:
        partition = fitted.partition
        assert len({rule.form for rule in partition.rules}) == len(partition.rules)
        for rule in partition.rules:
            assert list(rule.edges) == sorted(set(rule.edges)) and np.all(np.isfinite(rule.edges))
            if isinstance(rule.score, Rows):
                assert len(rule.edges) == len(rule.score.rows)
        for side in (side0, side1):
            counts = partition.counts(side)
            assert counts.shape == (partition.size,) and counts.sum() == len(side) and np.all(counts >= 0)


@each
@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_choosing_never_fails_and_is_determined(side0, side1, claim):
    chosen, picture = choose(side0, side1, claim=claim, measuring=3000, error=0.05)
    again, picture_again = choose(side0, side1, claim=claim, measuring=3000, error=0.05)
    assert chosen == again and picture == picture_again
    assert sum(choice.share for choice in chosen) == pytest.approx(1)
    assert len({choice.name for choice in chosen}) == len(chosen) <= 2
    for choice in chosen:
        assert choice.method in ({"guess", "joint"} if claim.pure else {"two-sided joint", "joint"})
        if choice.method == "joint":
            assert not (choice.event.toward(0) and choice.event.toward(1))
        assert (choice.weight is None) == (choice.method == "guess")
        assert choice.weight is None or 0 < choice.weight < 1
        assert msgspec.json.decode(msgspec.json.encode(choice.event), type=Event) == choice.event
        assert isinstance(str(choice.event), str)
        toward = [count_event(choice.event, side) for side in (side0, side1)]
        counts = Counts((len(side0), len(side1)), (toward[0][0], toward[1][0]), (toward[0][1], toward[1][1]))
        bound = lower_bound(choice.method, counts, claim=claim, weight=choice.weight, error=0.05)
        assert 0 <= bound < math.inf


def test_there_must_be_runs():
    nothing = from_array(np.empty(0))
    with pytest.raises(ValueError, match="no learning runs"):
        choose(nothing, nothing, claim=PureDP(1), measuring=100, error=0.05)


def test_the_half_that_validates_is_not_the_half_that_fits():
    fit, validate = halves(from_array(np.arange(7.0)))
    assert fit.numbers[0].ravel().tolist() == [0, 1, 2]
    assert validate.numbers[0].ravel().tolist() == [3, 4, 5, 6]


def test_points_spread_into_both_ends():
    points = spread_points(np.arange(10_000.0), 50)
    assert points[:3] == (0, 1, 2) and points[-1] == 9999 and len(points) > 100
    assert spread_points(np.empty(0), 50) == ()


@pytest.mark.parametrize(
    ("name", "outputs", "part"),
    [
        ("a tail", lambda rng, n, s: from_array(rng.laplace(s, 1, n)), 0.9),
        ("both tails", lambda rng, n, s: from_array(rng.normal(0, 1 + s, n)), 1.0),
        ("an atom", lambda rng, n, s: from_array(np.where(rng.random(n) < 0.1 + 0.3 * s, 0.5, rng.random(n))), 0.7),
        (
            "a category",
            lambda rng, n, s: from_list(list(rng.choice(["a", "b"], n, p=[0.3 + 0.4 * s, 0.7 - 0.4 * s]))),
            0.7,
        ),
        ("the length", lambda rng, n, s: from_list([[0.0] * k for k in rng.binomial(3, 0.3 + 0.4 * s, n)]), 1.0),
        (
            "NaN",
            lambda rng, n, s: from_array(np.where(rng.random(n) < 0.05 + 0.2 * s, np.nan, rng.normal(size=n))),
            1.0,
        ),
        ("one coordinate", lambda rng, n, s: from_array(rng.laplace(0, 1, (n, 9)) + s * (np.arange(9) == 4)), 0.8),
        (
            "a rare leak",
            lambda rng, n, s: from_array(np.where(rng.random(n) < 0.01, 50.0 + s, rng.normal(size=n))),
            1.5,
        ),
    ],
)
def test_what_tells_the_sides_apart_is_found(name, outputs, part):
    rng = np.random.default_rng(3)
    n = 4000
    chosen, _ = choose(outputs(rng, n, 0), outputs(rng, n, 1), claim=PureDP(1), measuring=6 * n, error=0.05)
    fresh = [outputs(rng, 3 * n, side) for side in (0, 1)]
    bounds = []
    for choice in chosen:
        toward = [count_event(choice.event, side) for side in fresh]
        counts = Counts((3 * n, 3 * n), (toward[0][0], toward[1][0]), (toward[0][1], toward[1][1]))
        own = 0.05 * choice.share
        bounds.append(lower_bound(choice.method, counts, claim=PureDP(1), weight=choice.weight, error=own))
    assert max(bounds) > part


def test_where_nothing_differs_nothing_is_predicted_by_the_stable_choice():
    shown = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chosen, _ = choose(
            *(from_array(rng.normal(size=1500)) for _ in range(2)), claim=PureDP(1), measuring=9000, error=0.05
        )
        shown += chosen[0].considered[0].predicted > 0
    assert shown <= 1


def test_predicted_bounds_are_modest_and_grow_with_the_runs():
    p, q = np.array([0.3, 0.02, 0.9]), np.array([0.1, 0.002, 0.5])
    for claim, guess in itertools.product(CLAIMS[:2] + CLAIMS[3:], (False, True)):
        if guess and claim.pure:
            p, q = np.array([0.3, 0.02, 0.6]), np.array([0.1, 0.002, 0.3])
        true = claim.least(p, q)
        found = [
            predicted_bound(p, q, n, n, 4 * n, claim.least, claim.delta, 0.05, 4.0, guess) for n in (1e3, 1e5, 1e7)
        ]
        assert np.all(found[0] < found[1]) and np.all(found[1] < found[2]) and np.all(found[2] < true)
        assert found[2] == pytest.approx(true, rel=0.1)
    # too few counts, or p ≤ δ: never chosen
    assert (
        predicted_bound(np.array([1e-3]), np.array([0.0]), 1e3, 1e3, 1e4, PureDP(1).least, 0.0, 0.05, 4.0, False)[0]
        == -np.inf
    )
    assert (
        predicted_bound(np.array([0.1]), np.array([0.0]), 1e3, 1e3, 1e4, ApproxDP(1, 0.2).least, 0.2, 0.05, 4.0, False)[
            0
        ]
        == -np.inf
    )


@pytest.mark.parametrize("claim", [PureDP(1), GaussianDP(1), ZeroConcentratedDP(0.5)], ids=str)
def test_learning_takes_a_fraction_of_a_second(claim):
    rng = np.random.default_rng(0)
    sides = [from_array(rng.laplace(side, 1, 50_000)) for side in (0, 1)]
    started = time.process_time()
    choose(*sides, claim=claim, measuring=300_000, error=0.05)
    assert time.process_time() - started < 3  # about 0.1 s (0.4 s for zCDP) on a quiet machine
