"""Do bets on graded outputs gain nothing on average against a true claim of μ, and is their price exact?"""

import itertools
import math

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import norm

from dpaudit.evidence.records import Counts, Epoch, Stake
from dpaudit.privacy import GaussianDP
from dpaudit.stats.e_process import (
    GradedProcess,
    bets,
    fair_price,
    falling,
    foresee_sequential,
    log_wealth,
    sequential_bound,
)

PAST = ((30, 12, 9, 4), (6, 10, 14, 25))


def price(x, mu):
    """h(x) against one claim, computed beside another."""
    return fair_price(x, np.array([0.7, mu]))[1]


@pytest.mark.parametrize("mu", [1e-6, 0.3, 1.0, 4.0])
def test_the_price_is_the_integral_of_the_best_answer(mu):
    rng = np.random.default_rng(3)
    tied = np.array([[1.0, 1.0, 0.0, 2.0], [1.0, 0.5, 0.0, 2.0]])
    z, step = np.linspace(-12, 16, 280_001, retstep=True)
    laws = np.stack([norm.pdf(z - mu), norm.pdf(z)])
    for x in (tied, *rng.exponential(1, (4, 2, 6)), *bets(PAST, mu)):
        slow = float(np.sum(np.max(x.T @ laws, axis=0))) * step / 2
        assert slow * (1 - 1e-8) <= price(x, mu) <= slow * (1 + 1e-7)


@pytest.mark.parametrize("mu", [0.3, 0.5])
def test_no_bet_gains_on_average_at_its_price_and_the_worst_mechanism_just_does_not_lose(mu):
    for x in bets(PAST, mu):
        assert price(x, mu) == pytest.approx(1, abs=0.02)  # it was made for this claim
        z = np.linspace(-9, 9 + mu, 40_001)
        laws = np.stack([norm.pdf(z - mu), norm.pdf(z)])
        best = np.argmax(x.T @ laws, axis=0)
        pay = sum(float(np.sum(x[side, best] * laws[side]) * (z[1] - z[0])) for side in (0, 1)) / 2
        assert pay == pytest.approx(price(x, mu), rel=1e-5)
        assert pay > price(x, 0.8 * mu) * 1.001  # against a smaller value the same bet gains


@pytest.mark.slow
def test_the_wealth_is_an_e_value_over_all_sequences_of_pairs_of_runs():
    mu, edges = 0.8, np.array([-np.inf, 0.0, 0.5, 1.0, np.inf])
    laws = np.stack([np.diff(norm.cdf(edges - mu))[::-1], np.diff(norm.cdf(edges))[::-1]])
    for claimed, low, high in ((0.8, 0.5, 1 + 1e-9), (0.4, 1.001, 2.0)):
        total = 0.0
        for first in itertools.product(range(4), repeat=2):
            for second in itertools.product(range(4), repeat=2):
                process = GradedProcess(claimed, [claimed])
                chance = math.prod(laws[side, bins[side]] for bins in (first, second) for side in (0, 1))
                process.open(PAST)
                process.close(one_of_each(first))
                process.open(tuple(tuple(row) for row in (np.array(PAST) + one_of_each(first)).tolist()))
                total += chance * math.exp(process.watch(one_of_each(second)[None])[0, 0])
        assert low < total <= high


def one_of_each(bins):
    found = np.zeros((2, 4), dtype=np.int64)
    found[0, bins[0]], found[1, bins[1]] = 1, 1
    return found


def test_chances_never_rise():
    assert falling(np.array([1.0, 3, 1, 0]), np.array([4.0, 4, 4, 4])).tolist() == [0.5, 0.5, 0.25, 0.0]


def test_graded_bets_have_four_fifths_of_the_wealth_and_are_paid_at_the_price_of_every_value():
    claim = GaussianDP(0.5)
    past, own = Counts((55, 55), (42, 16), (13, 39)), Counts((400, 400), (300, 120), (100, 280))
    bins = ((210, 90, 60, 40), (40, 80, 100, 180))
    plain = (Stake("stable", "", (True, True), past, own),) * 4
    graded = Stake("graded", "", (True, True), replace(past, bins=PAST), replace(own, bins=bins))
    events, both = ((Epoch(0, each),) for each in (plain, (*plain, graded)))
    for value in (None, 0.4, 0.9):
        process = GradedProcess(0.5, [0.5 if value is None else value])
        process.open(PAST)
        process.close(np.array(bins))
        expected = math.log(0.2 * math.exp(log_wealth(events, 1, claim, value)) + 0.8 * math.exp(process.log_wealth[0]))
        assert log_wealth(both, 1, claim, value) == pytest.approx(expected, rel=1e-12)
    assert 0.5 < sequential_bound(both, 1, claim, 0.05) < 1.1
    assert foresee_sequential(both, 9000, 1, claim, 0.05).value > foresee_sequential(events, 9000, 1, claim, 0.05).value
