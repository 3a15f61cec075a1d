"""Does a bettor against a true claim gain nothing on average, and against a false one soon enough?"""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from dpaudit.evidence.records import Counts, Epoch, Stake
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.stats import e_process as sequential
from dpaudit.stats.e_process import (
    FRACTIONS,
    BettingProcess,
    foresee_sequential,
    just_above,
    log_wealth,
    points,
    sequential_bound,
)

CLAIMS = [
    PureDP(0.0),
    PureDP(1.0),
    ApproxDP(0.5, 0.1),
    ApproxDP(0.0, 0.3),
    GaussianDP(0.7),
    ZeroConcentratedDP(0.3),
    RenyiDP(2.0, 0.4),
    RenyiDP(20.0, 0.4),
]
PAST = Counts((20, 22), (9, 4), (3, 11))
ONE_SIDED_PAST = Counts((20, 22), (9, 4), (0, 0))


def counts(runs, toward0, toward1=(0, 0)):
    return np.array([runs, toward0, toward1], dtype=np.int64)


def laws(claim):
    """Probabilities (for side 0, for side 1, for neither) under both sides that the claim just allows."""
    for q in (0.0, 0.02, 0.3):
        p = 1 - float(claim.tradeoff(q))
        yield (p, 0.0, 1 - p), (q, 0.0, 1 - q), (True, False)
        yield (0.0, q, 1 - q), (0.0, p, 1 - p), (False, True)
    q = brentq(lambda q: float(claim.tradeoff(q)) - q, 0.0, 1.0, xtol=1e-14)  # the worst mechanism of two answers
    yield (1 - q, q, 0.0), (q, 1 - q, 0.0), (True, True)
    yield (1 - q, q, 0.0), (q, 1 - q, 0.0), (False, False)


def mean_wealth(claim, law0, law1, speaks, runs, value=None):
    """E[wealth] after some runs, an epoch change after the first: every sequence of sides and outputs."""
    total = 0.0
    for sequence in itertools.product(itertools.product((0, 1), (0, 1, 2)), repeat=runs):
        chance = math.prod((law0, law1)[side][output] / 2 for side, output in sequence)
        if chance == 0:
            continue
        bettors = BettingProcess([claim if value is None else value])
        past = PAST if speaks == (True, True) else ONE_SIDED_PAST if speaks[0] else Counts((20, 22), (0, 0), (4, 9))
        past = past if any(speaks) else Counts((20, 22), (0, 0), (0, 0))
        bettors.open([(past, speaks)])
        bettors.close(tally(sequence[:1], speaks)[None])
        after = Counts((21, 22), past.toward0, past.toward1)  # as if it were known by then
        bettors.open([(after, speaks)])
        total += chance * math.exp(bettors.watch(tally(sequence[1:], speaks)[None, None])[0, 0])
    return total


def tally(sequence, speaks):
    found = np.zeros((3, 2), dtype=np.int64)
    for side, output in sequence:
        found[0, side] += 1
        if output < 2 and speaks[output]:
            found[1 + output, side] += 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_no_bet_gains_on_average_against_a_true_claim(claim):
    for law0, law1, speaks in laws(claim):
        assert mean_wealth(claim, law0, law1, speaks, 3) <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_bets_gain_where_the_claim_is_false(claim):
    open_book = (0.98, 0.02, 0.0), (0.02, 0.98, 0.0)
    assert mean_wealth(claim, *open_book, (True, True), 3) > 1.02
    p = 1 - float(claim.tradeoff(0.01))
    assert mean_wealth(claim, (min(p + 0.5, 1.0), 0.0, max(0.5 - p, 0.0)), (0.01, 0.0, 0.99), (True, False), 3) > 1.01


def test_the_law_on_the_border_wins_where_the_share_of_delta_is_forgotten():
    """A control of the test above: δ for one side is too small for a law that uses δ on both."""
    claim = ApproxDP(0.5, 0.2)
    law0, law1, speaks = list(laws(claim))[-2]
    assert mean_wealth(claim, law0, law1, speaks, 2, ApproxDP(0.5, 0.1)) > 1.0005
    assert mean_wealth(claim, law0, law1, speaks, 2) <= 1 + 1e-9


def naive(claim, epochs):
    """The wealth of every bettor, run by run."""
    epsilon, delta = points(claim)
    prior = np.array([1, 1, 1, 1, 1, 1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12])
    prior /= prior.sum()
    start = np.ones((len(epochs[0][0]), len(epsilon)))
    if start.shape == (3, 1):
        start = np.array([[4.0], [1], [1]])
    elif start.shape == (4, 5):
        start = np.array([[1, 1, 4, 4, 2], [0.1, 0.1, 1, 2, 3], [0.1, 0.1, 0.1, 2, 4], [12, 40, 12, 2, 1]])
    start /= 2 * start.sum()
    moved, carried = 1.0, None
    for pasts, runs in epochs:
        starts, products = {}, {}
        for event, (past_runs, speaks) in enumerate(pasts):
            for reading, e, k in itertools.product((0, 1), range(len(epsilon)), range(12)):
                filled = reading == 1 and sum(speaks) == 1
                sides = 2 if filled else sum(speaks)
                share, odds = delta[e] * sides / 2, math.exp(epsilon[e])
                stake = FRACTIONS[k] / (odds + share)
                for sequence, into in ((past_runs, starts), ([run[event] for run in runs], products)):
                    wealth = 1.0
                    for side, output in sequence:
                        guess = output if output is not None else ((1 if speaks[0] else 0) if filled else None)
                        gain = -share if guess is None else (1 if guess == side else -odds) - share
                        wealth *= 1 + stake * gain
                    into[event, reading, e, k] = wealth
                starts[event, reading, e, k] *= 1 - stake * (odds + share)  # the wrong guess that is added to the past
        weight = {key: start[key[0], key[2]] * prior[key[3]] * value for key, value in starts.items()}
        total = sum(weight.values())
        own = sum(weight[key] / total * products[key] for key in weight)
        carried = dict.fromkeys(weight, 1.0) if carried is None else carried
        carried = {key: carried[key] * products[key] for key in weight}
        moved *= own
    stayed = sum(start[key[0], key[2]] * prior[key[3]] * value for key, value in carried.items())
    return 0.05 * stayed + 0.95 * moved


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_wealth_is_that_of_bets_run_by_run(claim):
    rng = np.random.default_rng(5)
    speaks = [(True, True), (True, False), (True, True), (True, False)]
    if len(points(claim)[0]) == 1:
        del speaks[-1]  # the fourth event is for curves
    told, recorded = [], []
    for _ in range(3):
        pasts, stakes, runs = [], [], []
        sides = rng.integers(0, 2, 7)
        outputs = [[(int(s), [0, 1, None][rng.integers(3)]) for s in sides] for _ in speaks]
        for event in range(1, len(speaks), 2):
            outputs[event] = [(s, 0 if o == 0 else None) for s, o in outputs[event]]
        runs = list(zip(*outputs, strict=True))
        for event, said in enumerate(speaks):
            past = [(int(rng.integers(2)), [0, 1 if said[1] else None, None][rng.integers(3)]) for _ in range(9)]
            pasts.append((past, said))
            stakes.append(Stake("x", "y", said, record(past), record(outputs[event])))
        told.append((pasts, runs))
        recorded.append(Epoch(0, tuple(stakes)))
    assert math.exp(log_wealth(recorded, 1, claim)) == pytest.approx(naive(claim, told), rel=1e-9)


def record(sequence):
    rows = [[0, 0], [0, 0], [0, 0]]
    for side, output in sequence:
        rows[0][side] += 1
        if output is not None:
            rows[1 + output][side] += 1
    return Counts(*(tuple(row) for row in rows))


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim", [ZeroConcentratedDP(0.3), ZeroConcentratedDP(1e-3), RenyiDP(2.0, 0.4), RenyiDP(50, 2)]
)
def test_points_of_a_curve_are_never_below_it_and_close(claim):
    epsilon, delta = points(claim)
    exact = claim.profile(epsilon)
    assert np.all(delta >= exact)
    assert np.all(delta <= exact * 1.01 + 1e-5)


def epochs(right, wrong, runs, pair=0):
    half = runs // 2
    past = Counts((100, 100), (40, 10), (10, 40))
    own = Counts((half, half), (right // 2, wrong // 2), (wrong // 2, right // 2))
    return [Epoch(pair, (Stake("stable", "e", (True, True), past, own),) * 2)]


def test_the_bound_is_the_largest_value_that_is_rejected_with_all_smaller_ones():
    claim, made = PureDP(0.5), epochs(400, 100, 1000)
    bound = sequential_bound(made, 1, claim, 0.05)
    assert 0.5 < bound < math.log(4)
    assert log_wealth(made, 1, PureDP(bound)) >= math.log(20)
    assert log_wealth(made, 1, PureDP(bound * 1.04)) < math.log(20)
    assert sequential_bound(made, 1, claim, 0.001) < bound
    assert sequential_bound(epochs(200, 200, 1000), 1, claim, 0.05) == 0.0
    assert sequential_bound([], 1, claim, 0.05) == 0.0


def test_a_value_is_not_rejected_past_one_that_is_not(monkeypatch):
    def wealth(low, high, claimed, elsewhere=50.0):
        def stated(_epochs, _pairs, _claim, values):
            values = np.array(values)
            return np.where(
                abs(values - 0.5) < 1e-3, claimed, np.where((low < values) & (values < high), -5, elsewhere)
            )

        monkeypatch.setattr(sequential, "_log_wealths", stated)
        return sequential_bound([], 1, PureDP(0.5), 0.05)

    assert 0.29 < wealth(0.3, 0.32, claimed=2.0) <= 0.3
    assert 0.59 < wealth(0.6, 0.7, claimed=50.0) <= 0.6
    # what refutes the claim speaks against smaller values too, by half of its weight
    assert 0.29 < wealth(0.3, 0.32, claimed=math.log(20) + 0.6) <= 0.3
    assert 0.5 < wealth(0.3, 0.7, claimed=math.log(20) + 0.7) < 0.501
    assert wealth(0.0, 9.0, claimed=math.log(20) - 1e-6) == 0.0


def test_wealth_is_averaged_over_pairs():
    made, claim = epochs(400, 100, 1000), PureDP(1.0)
    alone = log_wealth(made, 1, claim)
    assert log_wealth(made, 3, claim) == pytest.approx(math.log((math.exp(alone) + 2) / 3))
    assert log_wealth(made + epochs(400, 100, 1000, pair=1), 2, claim) == pytest.approx(alone)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_who_refutes_a_claim_by_a_hair_has_shown_more_than_it(claim):
    assert claim.value < just_above(claim).value <= claim.value + 1e-6 * max(claim.value, 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-3), GaussianDP(1.0), ZeroConcentratedDP(0.5)], ids=str)
def test_more_runs_would_have_found_less(claim):
    found = [foresee_sequential(epochs(400, 100, 1000), runs, 1, claim, 0.05).value for runs in (300, 3000, 300_000)]
    assert claim.value < found[2] < found[1] < found[0]
    assert math.isinf(foresee_sequential([], 1000, 1, claim, 0.05).value)
