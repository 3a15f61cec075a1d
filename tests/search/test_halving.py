"""Is the worst of many pairs found, by runs that no bound looks at, and is a true claim let alone?"""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import dpaudit as dp
from dpaudit.auditing.question import validated
from dpaudit.auditing.race import Race, RacedPair, halve, rounds_of
from dpaudit.auditing.search import share_of
from dpaudit.evidence.records import Counts
from dpaudit.privacy import PureDP
from dpaudit.request import AuditRequest
from dpaudit.review.check import check, passes
from dpaudit.sampling import checkpoint, play, runs
from dpaudit.stats.joint_region import lower_bound

pytestmark = pytest.mark.slow

CLAIM = "epsilon=1"


def release(data, size, rng):
    return rng.laplace(data[0], 1.0, size)


def program(data, noise):
    return data[0] + noise.laplace(1)


def seeded(data, rng):
    return rng.laplace(data[0], 1.0)


def opaque(data):
    return float(OWN.laplace(data[0], 1.0))


OWN = np.random.default_rng(11)


def apart(distances, *, shared=True):
    """Pairs whose loss is their distance."""
    return [([0.0 if shared else 8.0 * i], [(0.0 if shared else 8.0 * i) + far]) for i, far in enumerate(distances)]


def audited(distances, function=release, *, shared=True, **asked):
    asked = {"runs": 8_000, "claim": CLAIM, "relation": "replace", "floating_point": "ignore", **asked}
    return dp.audit(function, pairs=apart(distances, shared=shared), search=True, **asked)


@pytest.mark.parametrize(
    ("function", "shared"), [(release, True), (release, False), (program, True), (seeded, True), (opaque, False)]
)
def test_the_one_bad_pair_is_found_whatever_the_function_asks_for(function, shared):
    evidence = audited([0.5] * 7 + [2.0] + [0.5] * 8, function, shared=shared)

    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.search.found == "pair 7"
    assert [pair.origin for pair in evidence.pairs] == ["found"]


@pytest.mark.nightly
def test_a_small_violation_among_many_is_found_nearly_always():
    found = [audited([0.5] * 10 + [1.4] + [0.5] * 9, runs=16_000, seed=seed) for seed in range(2)]

    assert all(each.verdict is dp.Verdict.VIOLATED and each.search.found == "pair 10" for each in found)


def test_true_claims_are_refuted_no_more_often_than_stated_however_many_pairs_are_searched():
    """All pairs lie exactly at the claim, which is where a choice by the measuring runs would show most."""
    found = [audited([1.0] * 12, runs=3_000, seed=seed) for seed in range(8)]

    shown = [max(each.bound.value for each in evidence.attempts) for evidence in found]
    assert sum(value > 1 for value in shown) <= 2  # of 8 the naive twin below errs in four
    assert not any(evidence.verdict is dp.Verdict.VIOLATED for evidence in found)


def test_choosing_by_the_measuring_runs_would_have_been_noticed():
    """The naive twin: of 12 bounds at 95 %, each valid alone, the best one is wrong in about half of all audits."""
    rng = np.random.default_rng(0)
    right = math.e / (1 + math.e)
    wrong = 0
    for _ in range(100):
        hits = rng.binomial(300, right, size=12)
        bounds = [_guessed(int(hit), 300) for hit in hits]
        wrong += max(bounds) > 1.0

    assert binomtest(wrong, 100, 0.05, alternative="greater").pvalue < 1e-6


def _guessed(right, of):
    counts = Counts(runs=(of, of), toward0=(right, of - right), toward1=(0, 0))
    return lower_bound("guess", counts, claim=PureDP(1.0), weight=None, error=0.05)


def test_search_runs_have_streams_of_their_own_and_are_counted_apart(monkeypatch):
    played = []
    original = play.play_block

    def watched(experiment, block, reduce):
        played.append(block)
        return original(experiment, block, reduce)

    monkeypatch.setattr(play, "play_block", watched)
    evidence = audited([0.5] * 5 + [2.0])
    made = {phase: sum(b.size for b in played if b.phase is phase) for phase in checkpoint.Phase}

    assert made[checkpoint.Phase.SEARCH] == evidence.search.runs > 0
    assert made[checkpoint.Phase.LEARNING] == evidence.learning
    assert made[checkpoint.Phase.MEASURING] == evidence.measuring == sum(evidence.lower.counts.runs)
    assert sum(made.values()) == evidence.runs == 8_000
    keys = [(b.phase, b.pair, b.index) for b in played]
    assert len(set(keys)) == len(keys)


def test_the_same_seed_finds_the_same_and_another_one_runs_otherwise():
    first, again, other = (audited([0.5] * 5 + [2.0], seed=seed) for seed in (3, 3, 4))

    assert first.id == again.id
    assert first.search.tried != other.search.tried


def test_pairs_on_which_nothing_can_be_told_are_dropped_and_counted():
    def fails(data, size, rng):
        if data[0] >= 100:
            raise ValueError("too much")
        return rng.laplace(data[0], 1.0, size)

    pairs = [([100.0], [200.0]), ([0.0], [0.5]), ([100.0], [300.0]), ([0.0], [2.0])]
    evidence = dp.audit(fails, pairs=pairs, search=True, claim=CLAIM, relation="replace", runs=8_000)

    assert (evidence.search.raised, evidence.search.found) == (2, "pair 3")
    assert evidence.verdict is dp.Verdict.VIOLATED


def test_a_side_that_always_raises_is_a_violation():
    def fails(data, size, rng):
        if data[0] >= 100:
            raise ValueError("too much")
        return rng.laplace(0, 1.0, size)

    pairs = [([0.0], [0.5]), ([0.0], [100.0]), ([0.0], [0.1])]
    evidence = dp.audit(fails, pairs=pairs, search=True, claim=CLAIM, relation="replace", runs=8_000)

    assert evidence.search.found == "pair 1" and evidence.lower.value > 3


def test_a_mechanism_that_always_raises_is_refused():
    def fails(data, rng):
        raise ValueError("never")

    with pytest.raises(dp.UsageError, match=r"raises in every run.*never"):
        dp.audit(fails, pairs=apart([1.0, 2.0]), search=True, claim=CLAIM, relation="replace", runs=2_000)


def test_a_search_among_the_mechanisms_own_pairs():
    made = dp.mechanism(release, pairs=apart([0.5, 2.0, 0.25]), relation="replace", claim=CLAIM)
    evidence = dp.audit(made, search=True, runs=6_000)

    assert (evidence.search.source, evidence.search.found) == ("mechanism", "pair 1")
    assert evidence.pairs[0].shown1 == "[2.0]"  # a mechanism's own pairs are public


@pytest.mark.parametrize(
    ("function", "claim", "found"),
    [
        ("gaussian", "rho=0.5", 2),
        ("gaussian", "mu=1", 2),
        ("gaussian", "order=2, epsilon=1", 2),
        ("laplace", None, 2),
    ],
)
def test_pairs_are_compared_in_the_claims_own_terms(function, claim, found):
    def noisy(data, size, rng):
        return data[0] + (rng.normal(size=size) if function == "gaussian" else rng.laplace(size=size))

    evidence = dp.audit(
        noisy, pairs=apart([0.5, 0.7, 3.0, 0.6]), search=True, claim=claim, relation="replace", runs=8_000
    )

    assert evidence.search.found == f"pair {found}"
    assert evidence.lower.value > 0.5


@pytest.mark.parametrize("option", [{"sequential": True}, {"curve": True}, {"time_budget": 0.2}])
def test_a_pair_that_was_found_is_audited_like_any_other(option):
    evidence = audited([0.5] * 3 + [3.0], **option)

    assert passes(check(evidence))
    if "time_budget" not in option:  # on a busy machine there may be few runs
        assert evidence.verdict is dp.Verdict.VIOLATED


def test_runs_that_repeat_themselves_are_still_noticed():
    def same(data, size, rng):
        return np.random.default_rng(5).laplace(data[0], 1.0, size)

    evidence = audited([0.5, 0.7, 0.6], same)

    assert evidence.verdict is dp.Verdict.INVALID
    assert [pair.origin for pair in evidence.pairs] == ["found"]


# --- the parts --------------------------------------------------------------------------------------------


class _Known:
    """A race whose pairs promise what their numbers say, after whatever runs."""

    def __init__(self):
        self.runs, self.given = 0, {}

    def affordable(self, pairs):
        return 10**9

    def cost(self, pairs):
        return 2 * len(pairs)

    def run(self, pairs, each):
        for one in pairs:
            self.given[one.number] = self.given.get(one.number, 0) + each
            self.runs += 2 * each

    def look(self, pairs):
        for one in pairs:
            one.predicted = float(one.number % 37)


@pytest.mark.parametrize("count", [2, 3, 7, 50, 500])
def test_the_best_is_left_longest_and_half_of_the_pairs_go_each_time(count):
    race, pairs = _Known(), [RacedPair(number, "", lambda: (0, 1)) for number in range(count)]
    ranked = halve(race, pairs, 1_000 * count, lambda: None)

    assert ranked[0].number == max(range(count), key=lambda number: (number % 37, -number))
    assert race.runs <= 1_000 * count
    assert race.runs > 900 * count
    assert rounds_of(count)[0] == count and rounds_of(count)[-1] == 2
    given = sorted(race.given.values())
    assert given[-1] == pytest.approx(len(rounds_of(count)) * given[0], rel=0.05)


def test_one_pair_takes_no_search():
    assert rounds_of(1) == [] and share_of(1, 1000) == 0


@pytest.mark.parametrize("total", [1_000, 70_000, 400_000])
def test_the_share_of_a_search_grows_with_the_pairs_and_leaves_runs_to_measure(total):
    shares = [share_of(pairs, total) for pairs in (1, 2, 10, 50, 500)]

    assert shares == sorted(shares) and shares[-1] < 0.9 * total


def test_pairs_that_are_alike_are_told_alike():
    """Of 24 pairs 23 are the same two datasets: known from all of their runs, they would look worse than another."""
    found = [audited([1.0] * 23 + [1.5], runs=30_000, seed=0).search.found]

    assert found == ["pair 23"]


def test_a_common_side_is_run_no_more_than_it_takes():
    race = Race(_question(), None)
    pairs = [RacedPair(i, "", lambda i=i: ([0.0], [1.0 + i]), ("zero", f"own {i}")) for i in range(60)]
    race.meet(pairs)
    race.run(pairs, 100)

    assert all(one.common == ("zero", None) for one in pairs)
    assert race.runs == sum(one.runs for one in pairs) == pytest.approx(race.cost(pairs) * 100, rel=0.01)
    assert sum(len(part) for one in pairs for part in one.sides[0]) == pytest.approx(600, abs=120)
    assert sum(len(part) for one in pairs for part in one.sides[1]) == pytest.approx(6000, abs=120)


def _question():
    return validated(AuditRequest(release, claim=CLAIM, pairs=apart([1.0]), relation="replace", seed=0))


def test_the_shared_side_is_run_less_often_and_binomially():
    """A block's sides are coins of the chance that it says."""
    experiment = checkpoint.Experiment(dp.mechanism(release), {}, (([0.0], [1.0]),), (), 0)
    block = checkpoint.RunBlock(checkpoint.Phase.SEARCH, 0, 0, 4_000, 0.8)
    (side0, side1), _ = runs.outputs_of(experiment, block)

    assert len(side0) + len(side1) == 4_000
    assert 1e-6 < binom.cdf(len(side1), 4_000, 0.8) < 1 - 1e-6
