"""Which batches do updates hold, is what is accounted for no more than that, and do records stay apart?"""

import json

import msgspec
import numpy as np
import pytest
from support.nightly import mostly_at_night
from support.watched import EPOCH, RATE, certified_once, evidence_of, poisson, seen_loop

from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check, passes
from dpaudit.training.batches import Use, use_of
from dpaudit.training.clipping import IN_PART, NOT_LOOKED_AT
from dpaudit.training.losses import groups_of, listed, parts_of, rounds_of_use
from dpaudit.training.seen import Delivery, GradientReplay, Played, TakenRows
from dpaudit.training.updates import checklist


@pytest.fixture(scope="module", autouse=True)
def _certified_once():
    with certified_once():
        yield


def used(order, *, shown=False, sizes=None, updates=None, **more):
    """A loop of which each update holds what ``order`` says: (delivery, rows), or numbers of deliveries alone."""
    seen = seen_loop(updates=EPOCH if updates is None else updates, **more)
    if sizes is not None:
        seen.deliveries = [Delivery(rows, number) for number, rows in enumerate(sizes)]
    rng = np.random.default_rng(6)
    one, seen.squares, seen.counts = seen.updates[0], 0 * seen.squares, 0 * seen.counts
    seen.updates = []
    for delivered, taken in order:
        held = []
        for each in taken:
            number, rows = each if isinstance(each, tuple) else (each, seen.deliveries[each].rows)
            held.append(TakenRows(number if shown else None, rows))
        noise = rng.normal(size=one.values)
        seen.squares, seen.counts = seen.squares + noise**2, seen.counts + 1
        noise, square = noise.astype(np.float32), float(np.vdot(noise, noise))
        seen.updates.append(type(one)(delivered, tuple(held), 1.0, 1.0, RATE, 25.0, 0.0, noise, one.values, square))
    seen.accounted = [(1.0, RATE, len(seen.updates))]
    return seen


def steps(seen):
    found = next(each for each in checklist(seen, 1e-2)[0] if each.fact == "steps")
    return found.status, found.name


SIZES = [17, 23, 19, 25, 21, 18, 22, 24, 16, 20, 26, 15]


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize(
    ("order", "found"),
    [
        ([(n + 1, [n]) for n in range(12)], ("right", "steps as accounted")),
        ([(n + 2, [n + 1]) for n in range(11)], ("note", "batches left out")),  # one looked at before training
        ([(n + 1, [n]) for n in (0, 1, 2, 6, 7, 8)], ("note", "batches left out")),  # broken off, or evaluated
        ([(12, [n]) for n in range(12)], ("right", "steps as accounted")),  # a list, gone through once
        ([(12, [n % 12]) for n in range(36)], ("wrong", "batches are used again")),
        ([(n + 1, [n]) for n in range(12) for _ in range(3)], ("wrong", "batches are used again")),
        ([(2 * n + 2, [2 * n, 2 * n + 1]) for n in range(6)], ("wrong", "accumulated batches")),
        ([(n + 1, [(n, min(14, SIZES[n]))]) for n in range(12)], ("wrong", "batches are cut")),
    ],
)
def test_what_updates_hold_is_named_by_tensors_and_by_numbers(order, found, shown):
    seen = used(order, shown=shown, sizes=SIZES)
    seen.accounted = [(1.0, 2 * RATE, len(order))] if found[1].startswith("accum") else seen.accounted
    assert steps(seen) == found


@pytest.mark.slow
def test_numbers_that_do_not_explain_all_updates_explain_none_and_accuse_nobody():
    rng = np.random.default_rng(4)
    filtered = [(n + 1, [(n, SIZES[n] - int(rng.integers(1, 9)))]) for n in range(12)]
    for order in (filtered, [*filtered[:-1], (12, [11]), (12, [11])]):
        seen = used(order, sizes=SIZES)
        assert steps(seen) == ("not seen", "not explained by batches")
        told = evidence_of(seen)
        assert str(told.verdict) == "inconclusive" and told.training.low.value == 0 and passes(list(check(told)))
        assert "the steps" in told.reason.partition(". ")[0]


@pytest.mark.slow
@pytest.mark.parametrize("skipped", [1, 5, 25])
def test_batches_that_are_left_out_cost_nothing(skipped):
    """A batch that was looked at, or an evaluation on the training loader: the same loss as without."""
    base = evidence_of(seen_loop())
    seen = seen_loop(updates=EPOCH + skipped)
    seen.updates = seen.updates[skipped:]
    seen.accounted = [(1.0, RATE, EPOCH)]
    told = evidence_of(seen)
    assert str(told.verdict) == "not violated" and steps(seen) == ("note", "batches left out")
    assert (told.training.low.value, told.training.high.value) == (base.training.low.value, base.training.high.value)


@pytest.mark.slow
def test_a_batch_that_is_used_again_moves_its_sums_together_by_the_root_of_the_times():
    order = [(EPOCH, [n % EPOCH]) for n in range(4 * EPOCH)]
    told = evidence_of(used(order))
    assert told.training.groups == ((1.0, RATE, 1, 4, EPOCH),) and not told.training.loose
    ((event, count),) = listed(parts_of(told.training), up=False)
    assert count == EPOCH and "2" in str(event)
    assert str(told.verdict) == "violated" and told.training.low.value > 4 and passes(list(check(told)))


@pytest.mark.slow
def test_forged_groups_are_noticed():
    told = evidence_of(used([(EPOCH, [n % EPOCH]) for n in range(4 * EPOCH)]))
    for name, value in (
        ("groups", [[1.0, RATE, 1, 1, EPOCH]]),
        ("groups", [[1.0, RATE, 1, 4, 5 * EPOCH]]),
        ("groups", None),
        ("loose", 1000),
    ):
        record = json.loads(json.dumps(told.record()))
        record["training"][name] = value
        forged = msgspec.convert(record, Evidence, strict=False)
        assert any(each.fails for each in check(forged, second=False)), (name, value)


def test_shuffled_batches_lose_only_by_epochs_that_were_trained_on():
    def batches(rng, updates):
        return [part for _ in range(2) for part in rng.permutation(400).reshape(EPOCH, -1)][:updates]

    seen = seen_loop(updates=2 * EPOCH, batches=batches)
    seen.passes = [list(range(EPOCH)), list(range(EPOCH, 2 * EPOCH))]
    whole = use_of(seen)
    assert rounds_of_use(seen, whole, fixed=False) == ((1, 1, 2),)
    half = Use(tuple(each if n % EPOCH < EPOCH // 2 else None for n, each in enumerate(whole.held)), 0)
    assert rounds_of_use(seen, half, fixed=False) == ((0, 1, 2),)
    assert rounds_of_use(seen, whole, fixed=True) == ((2, 2, 1),)
    assert groups_of(seen, half, RATE)[1] == EPOCH


@pytest.mark.slow
def test_epochs_that_are_broken_off_are_still_recognised_as_shuffled():
    def batches(rng, updates):
        return [part for _ in range(6) for part in rng.permutation(400).reshape(EPOCH, -1)[:11]]

    seen = seen_loop(batches=batches)
    seen.passes = [list(range(11 * n, 11 * n + 11)) for n in range(6)]
    assert checklist(seen, 1e-2)[0][0].name == "shuffled batches"
    seen.passes = [list(range(66))]
    right = seen_loop(updates=66, batches=lambda rng, n: [poisson(rng) for _ in range(n)])
    right.passes = [list(range(11 * n, 11 * n + 11)) for n in range(6)]
    assert checklist(right, 1e-2)[0][0].status == "right"


@pytest.mark.slow
def test_layers_that_are_clipped_to_more_than_the_noise_is_scaled_to():
    seen = seen_loop()
    seen.replays = [*seen.replays, *[GradientReplay(1.0, True, "clipped by layer", 4.0, 4.0)] * 5]
    told = evidence_of(seen)
    assert "clipped by layer" in told.reason and told.training.factors == (4.0, 4.0)
    assert str(told.verdict) == "violated" and passes(list(check(told)))


# --- records ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("played", "asked", "alone", "status", "name"),
    mostly_at_night(
        [
            ([Played()], {"the training set": Played()}, 0, "right", "kept apart"),
            ([Played(), Played("within the model", 0.3)], {}, 0, "wrong", "records are mixed"),
            ([Played()], {"the training set": Played("in the training set", 1.0)}, 0, "wrong", "records are mixed"),
            ([Played(blind="no layer was called")], {"the training set": Played()}, 0, "not seen", NOT_LOOKED_AT),
            ([], {}, 0, "not seen", NOT_LOOKED_AT),
            ([Played()], {}, 0, "not seen", IN_PART),
            ([Played()], {"the training set": Played(blind="it has no length")}, 0, "not seen", IN_PART),
            ([], {"the training set": Played()}, 2, "right", "kept apart"),
            ([], {}, 2, "not seen", IN_PART),
        ]
    ),
)
def test_records_are_right_only_where_they_were_looked_at(played, asked, alone, status, name):
    seen = seen_loop()
    seen.played, seen.asked, seen.alone = played, asked, alone
    found = next(each for each in checklist(seen, 1e-2)[0] if each.fact == "records")
    assert (found.status, found.name) == (status, name)
    told = evidence_of(seen)
    first = told.reason.partition(". ")[0]
    assert (status != "not seen") or "whether records are kept apart" in first
    assert (str(told.verdict) == "not violated") == (status == "right" or name == IN_PART)
    assert passes([each for each in check(told) if each.what != "gaussian"])


@pytest.mark.slow
def test_what_was_not_looked_at_is_named_before_anything_is_called_right():
    told = evidence_of(seen_loop(divisor=lambda rows: 20.0))
    first, _, rest = told.reason.partition(". ")
    assert "what the noisy sums are divided by" in first and "generator" in first
    assert rest.startswith("Nothing was seen wrong in what was looked at: how records come in, clipping")


# --- noise --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_noise_that_cancels_out_later_is_not_accused_and_nothing_is_certified_of_it():
    rows = np.random.default_rng(8).normal(size=(EPOCH + 1, 600))
    told = evidence_of(seen_loop(noise=lambda rng, t: (rows[t + 1] - 0.5 * rows[t]) / np.hypot(1, 0.5)))
    assert {each.status for each in told.training.facts} == {"right", "not seen"}
    assert told.training.low.value == 0 and str(told.verdict) == "inconclusive" and passes(list(check(told)))


@pytest.mark.slow
def test_more_noise_than_claimed_bounds_from_below_by_what_was_seen():
    less = evidence_of(seen_loop(noise=lambda rng, t: 1.5 * rng.normal(size=600)))
    assert less.training.low.value < 0.8 * evidence_of(seen_loop()).training.low.value


@pytest.mark.nightly
def test_a_plan_of_noise_is_right_if_it_is_as_long_as_the_run():
    for planned, status in ((EPOCH, "right"), (EPOCH - 1, "not seen")):
        seen = seen_loop()
        seen.planned = planned
        for number, update in enumerate(seen.updates):
            update.sigma = 1.0 + number / 100
        found = next(each for each in checklist(seen, 1e-2)[0] if each.fact == "adaptive")
        assert found.status == status
    events = listed(parts_of(evidence_of(seen).training), up=True)
    assert len(events) <= 8 and sum(count for _, count in events) == EPOCH


@pytest.mark.nightly
def test_rounded_norms_are_right_as_far_as_they_show_and_cost_what_they_may_be_off():
    seen = seen_loop()
    seen.replays = [GradientReplay(0.004, True, largest=1.0, slack=2.0**-6)] * 3
    told = evidence_of(seen)
    assert told.training.factors == (1.0, 1 + 2.0**-6) and passes(list(check(told)))
    seen.replays = [GradientReplay(0.004, True, largest=1.0)] * 3
    assert next(each for each in checklist(seen, 1e-2)[0] if each.fact == "clipping").status == "wrong"
