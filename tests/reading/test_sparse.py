"""Do sparse vectors over a frame cost what theory says?

That every number which is looked at besides costs what it did is held by the table `attacks_compared`.
"""
# ruff: noqa: NPY002 – people draw from np.random

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.checker import CertificateError, check_certificate
from dpaudit.checker.prices import LAWS as CHECKED
from dpaudit.checker.prices import ReleaseNoise
from dpaudit.verify.releases import derive
from dpaudit.verify.releases.read import NoBoundError

pytest.importorskip("pandas")
EDGES, CITIES = (20, 30, 40, 50, 60), ("a", "b", "c")
DOMAIN = {"age": (0, 100), "city": list(CITIES)}


def first_above(df):
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if (df["age"] > e).sum() + np.random.laplace(0, 4) >= t:
            return e
    return None


def first_above_of_a_program(df, noise):
    t = noise.laplace(2) + 50
    for e in EDGES:
        if t > (df["age"] > e).sum() + noise.laplace(4):
            continue
        return e
    return None


def in_any_direction(df):
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if (df["age"] > e).sum() - (df["age"] <= e).sum() + np.random.laplace(0, 8) >= t:
            return e
    return None


def of_cities(df):
    t = 50 + np.random.laplace(0, 2)
    for c in CITIES:
        if (df["city"] == c).sum() + np.random.laplace(0, 4) > t:
            return c
    return None


def drawn_around_them(df):
    t = np.random.laplace(50, 2)
    hits = [e for e in EDGES[:2] if np.random.laplace((df["age"] > e).sum(), 8) >= t]
    return len(hits)


def two_above(df):
    t, found = 50 + np.random.laplace(0, 2), []
    for e in EDGES:
        noisy = (df["age"] > e).sum() + np.random.laplace(0, 4)
        if t <= noisy:
            found.append(e)
            if len(found) == 2:
                break
    return found


def sums(df):
    t = 500 + np.random.laplace(0, 200)
    for e in EDGES:
        if df["age"][df["age"] > e].sum() - 3 + np.random.laplace(0, 400) >= t:
            return e
    return None


@pytest.mark.slow
@pytest.mark.parametrize(("function", "relation", "bound"), mostly_at_night(every=6, rows=[
    (first_above, "add-remove", "3/4"), (first_above, "replace", "3/4"), (first_above, "add-remove(group=2)", "3/2"),
    (first_above_of_a_program, "add-remove", "3/4"), (in_any_direction, "add-remove", "5/8"),
    (of_cities, "add-remove", "1/4"), (of_cities, "replace", "1/2"), (two_above, "add-remove", "3/4"),
    (sums, "add-remove", "3/5"), (drawn_around_them, "replace", "1/4"),
]))  # fmt: skip
def test_a_sparse_vector_costs_the_noise_of_its_threshold_and_what_is_above(function, relation, bound):
    evidence = dp.prove(function, domain=DOMAIN, relation=relation, claim="epsilon=2", runs=0, seed=0)
    assert (str(evidence.verdict), evidence.upper.exact) == ("proved", bound)
    checked = check_certificate(json.loads(json.dumps(evidence.proof.certificate)))
    assert checked.bound == Fraction(bound)


# --- the price, against the chances themselves --------------------------------------------------------------------


NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)


def chance(apart, above, scale, noise):
    """Return the chance that the last so many of some numbers, so far from a threshold, are above it.

    Between the kinks of its density, an integral of exponentials: pieces of two scales, by Gauss's rule.
    """
    kinks = sorted({0.0, *apart, -60.0 * scale, 60.0 * scale})
    ends = np.concatenate([np.linspace(*pair, 31)[:-1] for pair in itertools.pairwise(kinks)] + [kinks[-1:]])
    half = np.diff(ends)[:, None] / 2
    z = ends[:-1, None] + half * (1 + NODES)
    density = np.exp(-abs(z) / scale) / (2 * scale)
    for place, each in enumerate(apart):
        odds = np.where(each > z, 1 - np.exp(-abs(each - z) / noise) / 2, np.exp(-abs(each - z) / noise) / 2)
        density = density * (odds if place >= len(apart) - above else 1 - odds)
    return float((half * WEIGHTS * density).sum())


@pytest.mark.parametrize("seed", range(12))
def test_no_neighbours_lose_more_than_the_price(seed):
    rng = np.random.default_rng(seed)
    many = int(rng.integers(1, 4))
    above, scale, noise = int(rng.integers(0, many + 1)), float(rng.integers(1, 4)), float(rng.integers(1, 5))
    ends = [sorted(map(float, rng.integers(-1, 2, 2))) for _ in range(many)]
    moves = [(Fraction(low), Fraction(high)) for low, high in ends]
    details = (("above", Fraction(above)), ("noise", Fraction(noise)))
    price = CHECKED["above_threshold"](
        ReleaseNoise("above_threshold", Fraction(scale), None, 1, details), moves, False
    ).epsilon
    for _ in range(12):
        apart = rng.normal(0, 3, many)
        moved = [each + rng.choice(end) for each, end in zip(apart, ends, strict=True)]
        lost = abs(math.log(chance(apart, above, scale, noise) / chance(moved, above, scale, noise)))
        assert lost <= float(price) + 1e-6


def test_the_price_is_reached_where_all_are_far_below_and_one_is_above():
    """Numbers below rise, the one above does not: in the limit that is t/scale + t/noise."""
    details = (("above", Fraction(1)), ("noise", Fraction(4)))
    told = ReleaseNoise("above_threshold", Fraction(2), None, 1, details)
    up, still = (Fraction(1), Fraction(1)), (Fraction(0), Fraction(0))
    assert CHECKED["above_threshold"](told, [up] * 9 + [still], False).epsilon == Fraction(3, 4)
    apart, moved = [8.0] * 60 + [-30.0], [9.0] * 60 + [-30.0]
    lost = abs(math.log(chance(apart, 1, 2.0, 4.0) / chance(moved, 1, 2.0, 4.0)))
    assert 0.7 < lost <= 0.75 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("details", "sentence"), [
    ({"above": "2", "noise": "4"}, "so many are above"), ({"above": "1/2", "noise": "4"}, "so many are above"),
    ({"above": "1", "noise": "0"}, "noise is positive"), ({"above": "1"}, "details"),
])  # fmt: skip
def test_the_checker_refuses_other_details(details, sentence):
    def one(df):
        t = 50 + np.random.laplace(0, 2)
        return 1 if len(df) + np.random.laplace(0, 4) > t else 0

    found = dp.prove(one, domain={"age": (0, 100)}, relation="add-remove", claim="epsilon=2", runs=0, seed=0)
    certificate = json.loads(json.dumps(found.proof.certificate))
    assert certificate["releases"][0]["law"] == "above_threshold"
    certificate["releases"][0]["details"] = details
    with pytest.raises(CertificateError, match=sentence):
        check_certificate(certificate)


@pytest.mark.nightly
def test_where_all_comparisons_are_too_much_to_write_each_number_is_released(monkeypatch):
    def refused(releases, **known):
        if derive.has_comparisons(releases.paths):
            raise NoBoundError("too much")
        return price(releases, **known)

    price = derive.price
    monkeypatch.setattr(derive, "price", refused)
    evidence = dp.prove(first_above, domain=DOMAIN, relation="add-remove", claim="epsilon=2", runs=0, seed=0)
    assert (str(evidence.verdict), evidence.upper.exact) == ("proved", "5/4")
