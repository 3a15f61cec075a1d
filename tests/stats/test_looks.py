"""Does the rule of two looks err as rarely as it says, and find what one look finds? Exactly, over every outcome."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.evidence.records import Bound, Counts
from dpaudit.privacy import ApproxDP, PureDP
from dpaudit.stats import two_looks
from dpaudit.stats.guessing import guess_bound
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.two_looks import AGAIN, FALSE_ALARM, FirstLook, LooksRule, first_look, second_look, second_method

CLAIM = PureDP(math.log(3))
RULES = [(0.05, 1e-3), (0.05, 1e-2), (0.2, 1e-3), (0.01, 1e-4), (0.05, 0.02), (0.05, 0.04)]


def bound(counts, method="guess", weight=None, confidence=0.95, arithmetic="real", value=None, claim=CLAIM):
    shown = lower_bound(method, counts, claim=claim, weight=weight, error=1 - confidence) if value is None else value
    return Bound(
        shown, "lower", "sampled", "epsilon", str(claim), confidence, claim.delta, method, weight, counts,
        arithmetic=arithmetic,
    )  # fmt: skip


def guessed(right, wrong):
    return Counts((right + wrong, 0), (right, 0), (wrong, 0))


@pytest.mark.parametrize(("error", "alarm"), RULES)
def test_the_levels_add_up_to_the_false_alarm(error, alarm):
    rule = LooksRule(error, alarm)
    levels = rule.levels
    assert levels[0] == error and all(b == a / 2 for a, b in itertools.pairwise(levels)) and levels[-1] >= alarm
    # the worst mechanism: p is each level as often as it may be
    worst = alarm / 2 + rule.second(levels[-1]) * levels[-1]
    worst += sum((high - low) * rule.second(high) for high, low in itertools.pairwise(levels))
    assert worst == pytest.approx(alarm, rel=1e-12)
    assert all(0 < rule.second(level) <= 0.5 for level in levels)


@pytest.mark.parametrize(("error", "alarm"), RULES)
@pytest.mark.parametrize("guesses", [20, 75, 400])
def test_the_exact_error_of_guesses_that_just_keep_the_claim(error, alarm, guesses):
    """Every outcome of both looks, with its probability: the rule as it stands, not a simulation of it."""
    rule = LooksRule(error, alarm)
    right = np.arange(guesses + 1)
    first = binom.pmf(right, guesses, 0.75)
    again = np.arange(AGAIN * guesses + 1)
    second = binom.pmf(again, AGAIN * guesses, 0.75)
    red = 0.0
    for hits in right[guess_bound(right, guesses - right, error) > CLAIM.value]:
        found = first_look(rule, [(0, bound(guessed(int(hits), guesses - int(hits)), confidence=1 - error))], CLAIM)
        if found is None:
            continue
        if found.sure:
            red += first[hits]
            continue
        confirmed = guess_bound(again, again[::-1], rule.second(found.p)) > CLAIM.value
        red += first[hits] * second[confirmed].sum()
    assert 0 < red <= alarm


def test_one_look_where_the_confidence_is_enough():
    rule = LooksRule(1 - 0.95, 0.05)
    assert not rule.doubts and not rule.twice and rule.at_once == rule.planned == rule.error
    found = first_look(rule, [(0, bound(guessed(90, 10)))], CLAIM)
    assert found == FirstLook(0, "real", rule.error, True)
    assert first_look(rule, [(0, bound(guessed(75, 25)))], CLAIM) is None


def test_what_cannot_be_run_again_is_looked_at_once():
    rule = LooksRule(0.05, 1e-3, repeatable=False)
    assert (rule.twice, rule.at_once, rule.planned) == (False, 1e-3, 1e-3)
    between, sure = guessed(83, 17), guessed(93, 7)
    assert first_look(rule, [(0, bound(between))], CLAIM).sure is False
    assert first_look(rule, [(0, bound(sure))], CLAIM).sure is True


def test_attempts_share_every_level_as_they_share_the_error():
    counts = guessed(88, 12)
    alone = first_look(LooksRule(0.05, 1e-3), [(0, bound(counts))], CLAIM)
    shared = first_look(LooksRule(0.05, 1e-3), [(0, bound(counts, confidence=1 - 0.05 / 10))], CLAIM)
    assert shared.p > alone.p or (alone.sure and not shared.sure)


def test_the_surest_attempt_is_looked_at_again():
    weak, strong = bound(guessed(83, 17)), bound(guessed(860, 140))
    strong_value = bound(guessed(830, 170), value=weak.value - 1e-3)
    found = first_look(LooksRule(0.05, 1e-3), [(0, weak), (1, strong_value)], CLAIM)
    assert found.attempt in (0, 1)
    assert first_look(LooksRule(0.05, 1e-3), [(0, weak), (1, strong)], CLAIM).attempt == 1
    float_sure = bound(guessed(95, 5), arithmetic="float")
    assert first_look(LooksRule(0.05, 1e-3), [(0, weak), (1, float_sure)], CLAIM) == FirstLook(1, "float", 5e-4, True)


def test_p_needs_no_nested_rejections(monkeypatch):
    """A bound that is above the claim at some small level, but not at a larger one, counts as far as all hold."""
    gaps = {0.05, 0.0125, 0.00625}

    def shown(*_, error, **__):
        return 2.0 if any(math.isclose(error, level) for level in gaps) else 0.0

    monkeypatch.setattr(two_looks, "lower_bound", shown)
    found = first_look(LooksRule(0.05, 1e-3), [(0, bound(guessed(9, 1), value=2.0))], CLAIM)
    assert (found.p, found.sure) == (0.05, False)


@pytest.mark.parametrize(
    ("method", "weight", "counts", "claim"),
    [
        ("joint", 0.7, Counts((30_000, 30_000), (900, 250), (0, 0)), PureDP(1.0)),
        ("enumerated joint", 0.7, Counts((500, 500), (60, 12), (0, 0)), ApproxDP(1.0, 1e-3)),
        ("two-sided joint", 0.8, Counts((9_000, 9_000), (3_000, 800), (700, 3_100)), ApproxDP(1.0, 1e-3)),
    ],
)
def test_joint_bounds_are_looked_at_by_the_same_rule(method, weight, counts, claim):
    made = bound(counts, method, weight, claim=claim)
    rule = LooksRule(1 - made.confidence, 1e-3)
    found = first_look(rule, [(0, made)], claim)
    assert found is not None
    read, runs = second_method(made)
    assert runs == 2 * sum(counts.runs) and read.replace("enumerated ", "") == method.replace("enumerated ", "")
    twice = Counts(*(tuple(2 * each for each in pair) for pair in (counts.runs, counts.toward0, counts.toward1)))
    again = second_look(rule, FirstLook(0, "real", 0.0125, False), made, twice, claim)
    assert again.confirmed and again.level == rule.second(0.0125)


def test_one_look_at_the_planned_level_finds_as_much():
    """By simulation, where statistics are normal: what has power 0.9 in one look has it in two."""
    rule, rng = LooksRule(0.05, FALSE_ALARM), np.random.default_rng(5)
    shift = 1.2815515655446004 - float(binom_z(rule.planned))
    first = 1 - normal(rng.normal(shift, 1, 200_000))
    again = 1 - normal(rng.normal(math.sqrt(2) * shift, 1, 200_000))
    p = np.full(len(first), np.nan)
    for level in rule.levels:
        p[first <= level] = level
    found = (first <= rule.at_once) | (again <= rule.false_alarm / (1 + len(rule.levels)) / p)
    assert found.mean() == pytest.approx(0.9, abs=4e-3)


def binom_z(level):
    from scipy.special import ndtri

    return ndtri(level)


def normal(values):
    from scipy.special import ndtr

    return ndtr(values)
