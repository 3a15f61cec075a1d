"""Does a certificate of releases whose bound is one of their account say so truly? By tampering with either."""

import copy
from fractions import Fraction

import pytest

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.checker.accounted import MovedRelease, events_of, is_at_least
from dpaudit.neighbours import parse_relation
from dpaudit.reading.universe.cells import declared
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.releases.derive import read_function
from dpaudit.verify.releases.read import as_releases, release_certificate
from dpaudit.verify.releases.written import account, price

pytest.importorskip("flint")
COLUMNS = {"age": declared("age", (0, 120))}
DELTA = Fraction(1, 10**6)


def mixed(people, noise):
    return len(people) + noise.gaussian(2), people["age"].sum() + noise.laplace(240)


def by_steps(people, noise):
    def step(state):
        return state + noise.poisson(people, 0.1)["age"].clip(0, 1).sum() + noise.gaussian(1)

    return noise.repeat(4, step, 0.0)


def certified(program, *, replace=False):
    relation = parse_relation("replace" if replace else "add-remove")
    read = as_releases(read_function(mechanism(program), {}, relation, COLUMNS))
    found = account(read, replace=replace, delta=DELTA)
    assert found is not None
    made = release_certificate(
        read, found[0], name="release", source="", relation=relation,
        parameters={}, notion="epsilon", delta=DELTA, account=found[1],
    )  # fmt: skip
    return found[0], made, price(read, replace=replace, group=1, notion="epsilon", delta=DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("program", [mixed, by_steps])
def test_an_account_bounds_releases_better_than_their_sums_do(program):
    bound, made, summed = certified(program)
    assert check_certificate(copy.deepcopy(made)).bound == bound
    assert summed is None or bound < summed


@pytest.mark.slow
def test_an_account_of_less_than_the_releases_is_refused():
    bound, made, _ = certified(by_steps)
    for path, value in (
        (("releases", 0, "scale"), "9/10"),
        (("releases", 0, "times"), 8),
        (("samples", 0, "rate"), "1/5"),
        (("scope", "relation"), "replace"),
        (("paths",), [[0], [0, 0]]),
        (("delta",), "1/10000000"),
        (("bound",), str(bound * Fraction(99, 100))),
        (("account", "events", 0, "count"), 3),
        (("account", "events", 0, "mechanism", "noise"), "2"),
        (("account", "events", 0, "sampling", "rate"), "1/20"),
        (("account", "at"), "1/100000"),
        (("account", "kind"), "releases"),
        (("account", "events"), []),
    ):
        other = copy.deepcopy(made)
        inner = other
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        with pytest.raises(CertificateError):
            check_certificate(other)


def test_what_is_made_of_one_sample_is_one_event_and_only_gaussian_noise_is():
    sample = Fraction(1, 10), 5
    gaussian = [MovedRelease("gaussian", 5, sample, 0, squares=Fraction(1, 4)) for _ in range(2)]
    assert events_of(gaussian) == [("gaussian", Fraction(1, 2), 5, Fraction(1, 10))]
    assert events_of([*gaussian, MovedRelease("laplace", 5, sample, 0, far=(Fraction(1),))]) is None
    assert events_of([MovedRelease("laplace", 3, None, None, far=(Fraction(1, 2),))]) == [
        ("laplace", Fraction(1, 2), 3, None)
    ]


def test_an_event_may_lose_more_than_is_needed_and_not_less():
    assert is_at_least("gaussian", Fraction(2), Fraction(1, 4)) and is_at_least("gaussian", Fraction(1), Fraction(1, 4))
    assert not is_at_least("gaussian", Fraction(201, 100), Fraction(1, 4))
    assert not is_at_least("laplace", Fraction(3), Fraction(1, 2))
    assert not is_at_least("randomised response", Fraction(1), Fraction(2))
    assert not is_at_least("gaussian", Fraction(-1), Fraction(1))
