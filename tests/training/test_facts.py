"""Is every mistake of a loop named rightly, and a right loop called wrong no more often than is said?"""

import numpy as np
import pytest
from scipy import stats
from support.nightly import mostly_at_night
from support.watched import EPOCH, RATE, RECORDS, WEIGHTS, evidence_of, poisson, seen_loop

from dpaudit.review.check import check, passes
from dpaudit.training import clipping as noise_facts
from dpaudit.training.batches import _returns
from dpaudit.training.clipping import TOLERANCE, clipping_finding, finite_finding, replayed
from dpaudit.training.seen import Parameter, TakenRows, TrainingRun
from dpaudit.training.updates import FACTS, OF_ALL, checklist, parameters_finding

ERROR = 1e-2


def bad(seen, error=ERROR):
    return {each.fact: each.name for each in checklist(seen, error)[0] if each.status in ("wrong", "note")}


def shuffled(rng, updates):
    epochs = [rng.permutation(RECORDS).reshape(EPOCH, -1) for _ in range(-(-updates // EPOCH))]
    return list(np.concatenate(epochs)[:updates])


def test_a_right_loop_is_right_in_every_fact():
    found, sampler = checklist(seen_loop(), ERROR)
    assert tuple(each.fact for each in found) == FACTS
    assert {each.fact for each in found if each.status != "right"} == {"generator"}
    assert sampler is not None and sampler.kind == "poisson"
    assert sum(each.error for each in found) <= ERROR * (1 + 1e-12)


def test_nothing_is_right_of_a_loop_without_an_update():
    found, _ = checklist(TrainingRun("a loop", processes=1), ERROR)
    assert {each.status for each in found} == {"not seen"}


@pytest.mark.slow
def test_right_loops_are_called_wrong_as_rarely_as_is_said():
    error, loops = 0.2, 200
    wrong = sum(bool(bad(seen_loop(seed), error)) for seed in range(loops))
    assert stats.binomtest(wrong, loops, error, alternative="greater").pvalue > 1e-4
    assert wrong > 0  # the error is spent: a test that never rejects would pass all others too


@pytest.mark.parametrize(
    ("batches", "name"),
    [
        (shuffled, "shuffled batches"),
        (lambda rng, t: shuffled(rng, EPOCH) * 2, "the same batches in every epoch"),
        (lambda rng, t: [rng.choice(RECORDS, 20, replace=False) for _ in range(t)], "batches of one size, drawn anew"),
        (lambda rng, t: [poisson(rng, 2 * RATE) for _ in range(t)], "Poisson sampling at another rate"),
        (lambda rng, t: [rng.integers(RECORDS, size=40) for _ in range(t)], "records twice in a batch"),
        (lambda rng, t: [np.flatnonzero(np.repeat(rng.random(RECORDS // 2) < RATE, 2)) for _ in range(t)],
         "neither Poisson sampling"),
        (lambda rng, t: [poisson(rng, np.where(np.arange(RECORDS) < 200, 0.09, 0.01)) for _ in range(t)],
         "neither Poisson sampling"),
    ],
)  # fmt: skip
def test_samplers_are_recognised(batches, name):
    assert bad(seen_loop(batches=batches))["batches"].startswith(name)


def test_too_few_batches_show_nothing_and_are_not_called_right():
    found, _ = checklist(seen_loop(updates=2), ERROR)
    assert found[0].status == "not seen"


@pytest.mark.slow
def test_returns_have_the_binomial_law_that_is_used():
    rng, rate = np.random.default_rng(5), 0.3
    tails = []
    for _ in range(4000):
        returned, old = _returns(rng.random((4, 12)) < rate, [range(4)])
        tails.append(stats.binom.cdf(returned, old, rate) - rng.random() * stats.binom.pmf(returned, old, rate))
    assert stats.kstest(tails, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("noise", "fact", "name"),
    [
        (lambda rng, t: rng.normal(size=WEIGHTS) * 0.97, "noise", "too little noise"),
        (lambda rng, t: rng.normal(size=WEIGHTS) * (0.1 if t == 3 else 1.1), "noise", "too little noise"),
        (lambda rng, t: rng.normal(size=WEIGHTS) * 1.1, "noise", "more noise than claimed"),
        (lambda rng, t: np.where(np.arange(WEIGHTS) == 7, 0.0, rng.normal(size=WEIGHTS)), "noise", "coordinates"),
        (lambda rng, t: rng.laplace(size=WEIGHTS) / np.sqrt(2), "noise", "another law"),
        (lambda rng, t: np.random.default_rng(3).normal(size=WEIGHTS), "repetition", "noise repeated"),
        (lambda rng, t: np.random.default_rng(t % 7).normal(size=WEIGHTS), "repetition", "noise repeated"),
        (lambda rng, t: np.tile(rng.normal(size=100), WEIGHTS // 100), "repetition", "noise repeated"),
        (lambda rng, t: _smooth(rng), "independence", "dependent noise"),
    ],
)  # fmt: skip
def test_wrong_noise_is_named(noise, fact, name):
    assert bad(seen_loop(noise=noise))[fact].startswith(name)


def _smooth(rng):
    """Neighbours that share a tenth of their variance, each of variance 1."""
    own = rng.normal(size=WEIGHTS + 1)
    return (own[:-1] * 0.995 + own[1:] * 0.1) / np.hypot(0.995, 0.1)


def test_machines_that_draw_the_same_noise_are_found():
    seen = seen_loop()
    seen.ranks = np.random.default_rng(1).normal(size=(3, 64))
    assert not bad(seen)
    seen.ranks[2] = seen.ranks[0]
    assert bad(seen)["repetition"] == "noise repeated"


@pytest.mark.slow
@pytest.mark.parametrize("least", mostly_at_night([0.05, 0.6]))
def test_noise_that_shrinks_at_the_end_is_accounted_for_at_its_smallest(least):
    told = evidence_of(seen_loop(noise=lambda rng, t: rng.normal(size=WEIGHTS) * (least if t > 17 else 1.0)))
    facts = {each.fact: each.name for each in told.training.facts}
    assert facts["noise"] == "too little noise" and told.training.scales[1] < least
    assert told.training.high.value > 4 and str(told.verdict) == "inconclusive" and passes(list(check(told)))


def test_a_noise_multiplier_that_changes_may_hang_on_records_and_a_changed_sum_was_not_clipped():
    seen = seen_loop()
    seen.updates[5].sigma, seen.silent["clipping"] = 2.0, "The sum was changed."
    found = {each.fact: (each.status, each.text) for each in checklist(seen, ERROR)[0]}
    assert found["clipping"] == ("not seen", "The sum was changed.")
    del seen.silent["clipping"]
    found = {each.fact: each.name for each in checklist(seen, ERROR)[0]}
    assert found["adaptive"] == "another noise each time" and found["clipping"] == "clipped one by one"


def test_weights_that_move_between_steps_were_moved_by_what_was_not_seen():
    seen = seen_loop()
    seen.parameters["bias"].outside = 1
    found = next(each for each in checklist(seen, ERROR)[0] if each.fact == "parameters")
    assert (found.status, found.name) == ("not seen", "moved otherwise") and "bias" in found.text


@pytest.mark.slow
def test_one_of_several_processes_shows_neither_all_records_nor_all_noise():
    halved = {"noise": lambda rng, t: rng.normal(size=WEIGHTS) * 0.5, "batches": lambda rng, n: [np.arange(9)] * n}
    for more in ({}, halved):
        seen = seen_loop(**more)
        seen.processes = 2
        found = {each.fact: each.status for each in checklist(seen, ERROR)[0]}
        assert {found[fact] for fact in OF_ALL} == {"not seen"} and "wrong" not in found.values()
        told = evidence_of(seen)
        assert str(told.verdict) == "inconclusive" and told.training.scale is None and passes(list(check(told)))


def test_cosines_have_their_law():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 3000, 5))
    cosines = np.sum(x * y, 1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    assert stats.kstest(noise_facts.cosine_p(cosines, 5), "uniform").pvalue > 1e-3


# --- sums --------------------------------------------------------------------------------------------------


ROWS = np.random.default_rng(0).normal(size=(12, 40)) * np.linspace(0.02, 1, 12)[:, None]
NORMS = np.linalg.norm(ROWS, axis=1)
CLIPPED = np.minimum(1, 1 / NORMS) @ ROWS
WHOLE = ROWS.sum(0)


@pytest.mark.parametrize(
    ("total", "name"),
    [
        (CLIPPED, "clipped one by one"),
        (WHOLE, "not clipped"),
        (WHOLE / np.linalg.norm(WHOLE), "clipped per batch"),
        (CLIPPED / 12, "a mean"),
        (np.minimum(1, 2 / NORMS) @ ROWS, "another norm"),
        (CLIPPED[::-1], "no such sum"),
    ],
)
def test_sums_are_recognised(total, name):
    assert clipping_finding([replayed(ROWS, NORMS, total, 1.0)]).name == name


def test_a_sum_that_is_off_by_more_than_rounding_is_wrong():
    for factor, status in ((1 + TOLERANCE / 2, "right"), (1 + 2 * TOLERANCE, "wrong")):
        assert clipping_finding([replayed(ROWS, NORMS, CLIPPED * factor, 1.0)]).status == status


def test_what_could_not_show_is_not_called_right():
    small = ROWS / 100
    assert clipping_finding([replayed(small, NORMS / 100, small.sum(0), 1.0)]).status == "not seen"
    assert clipping_finding([]).status == "not seen"
    broken = replayed(ROWS, NORMS, np.full(40, np.nan), 1.0)
    assert finite_finding([broken], 1, None).status == "wrong"


# --- updates ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_divisors_steps_and_accumulation():
    assert bad(seen_loop(divisor=lambda rows: max(rows, 1)))["divisor"] == "divided by the batch size"
    short = seen_loop()
    short.accounted = [(1.0, RATE, EPOCH - 1)]
    assert bad(short)["steps"] == "steps that are not accounted for"
    other = seen_loop()
    other.accounted = [(1.0, RATE / 2, EPOCH)]
    assert bad(other)["steps"] == "another rate is accounted for"
    double = seen_loop()
    double.updates = double.updates[1::2]
    for update, (a, b) in zip(double.updates, zip(double.batches[::2], double.batches[1::2], strict=True), strict=True):
        update.taken = (TakenRows(None, len(a) + len(b)),)
    double.accounted = [(1.0, 2 * RATE, EPOCH // 2)]
    assert bad(double)["steps"] == "accumulated batches"
    whole = seen_loop(divisor=lambda rows: 20.0)
    whole.records, whole.batches = 401, [np.append(b, 400) if len(b) % 7 == 0 else b for b in whole.batches]
    assert bad(whole)["divisor"] == "whole part of N·q"
    exact = seen_loop(divisor=lambda rows: RECORDS * RATE)  # a public number, or the number of records: who knows
    told = next(each for each in checklist(exact, ERROR)[0] if each.fact == "divisor")
    assert (told.status, told.name) == ("not seen", "equals N·q")
    assert bad(seen_loop(divisor=lambda rows: 25.0)).get("divisor") is None
    followed = seen_loop()
    followed.followed = True
    assert bad(followed)["altered"] == "the rate follows the loss"
    told = evidence_of(followed)
    assert str(told.verdict) == "inconclusive" and "the rate follows the loss" in told.reason and passes(check(told))
    changed = seen_loop()
    changed.updates[3].altered = 0.5
    assert checklist(changed, ERROR)[0][-1].status == "not seen"


def test_parameters_that_moved_without_noise_or_not_at_all():
    moved, still = Parameter(3, True, moved=True, noised=4), Parameter(3, True, moved=False, noised=4)
    bare, kept_apart = Parameter(3, True, moved=True, bare=1), Parameter(3, False, moved=True)
    assert parameters_finding({"a": moved}, 4).status == "right"
    assert parameters_finding({"a": moved, "b": still}, 4).name == "never moved"
    assert parameters_finding({"a": moved, "b": bare}, 4).name == "moved without noise"
    average = parameters_finding({"a": moved, "average": kept_apart}, 4)  # perhaps of noisy weights: nobody saw
    assert average.status == "not seen"


@pytest.mark.parametrize(
    ("change", "fact", "status", "name"),
    [
        ({"adapting": [12.3, 40.9]}, "adaptive", "not seen", "adapts to a noisy count"),
        ({"adapting": [12.3, 40.0]}, "adaptive", "wrong", "a count without noise"),
        ({"silent": {"clipping": "No gradient."}}, "adaptive", "not seen", "no clip norm seen"),
        ({"rounded": "bfloat16"}, "precision", "wrong", "noise with few digits"),
        ({"cast": "bfloat16"}, "precision", "right", "mixed precision"),
        ({"secure": True}, "generator", "wrong", "secure mode without its generator"),
        ({"secure": True, "readable": False}, "generator", "right", "secure mode"),
        ({"secure": False, "readable": False}, "generator", "not seen", "an ordinary generator"),
        ({"processes": None}, "machines", "not seen", "not known"),
        ({"processes": 2}, "machines", "not seen", "several processes"),
        ({"devices": 2}, "machines", "right", "one process"),
    ],
)
def test_what_surrounds_a_loop_is_named(change, fact, status, name):
    seen = seen_loop(updates=3)
    for member, value in change.items():
        setattr(seen, member, value)
    found = next(each for each in checklist(seen, 1e-3)[0] if each.fact == fact)
    assert (found.status, found.name) == (status, name)


def test_a_clip_norm_that_changes_is_not_seen_to_be_public():
    seen = seen_loop(updates=3)
    seen.updates[1].clip = 0.5
    assert "another norm each time" in {each.name for each in checklist(seen, 1e-3)[0]}
