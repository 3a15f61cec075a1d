"""Do runs learn from a trace where to look, and does nothing of it reach a bound but by fresh runs?"""

import msgspec
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.race import leads_of
from dpaudit.events import Lead, choose, count_event
from dpaudit.evidence.event import Box
from dpaudit.privacy import PureDP
from dpaudit.report.text.findings import trace_sentences
from dpaudit.review.check import check, passes
from dpaudit.sampling.outputs import OutputSnapshot, from_array, from_list
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.pair import trace_pair
from dpaudit.tracing.runs import FollowedTarget


def lead_of(function, pair, claim="epsilon=1"):
    own = mechanism(function)
    target = FollowedTarget(own, own.parameters_with({}), OutputSnapshot)
    (lead,) = leads_of(trace_pair(target, pair, dp.parse_claim(claim), seed=0, paths=4))
    return lead


def sums(data, rng):
    return {"n": len(data), "by": [data[0] + rng.laplace(0, 0.5), data[1] + rng.normal(0, 2.0)], "all": rng.laplace()}


@pytest.mark.slow
def test_a_lead_says_which_numbers_are_fixed_and_how_far_the_others_move():
    lead = lead_of(sums, ([1.0, 3.0], [3.0, 3.0]))
    assert lead.form == "{'n': int, 'by': [float × 2], 'all': float}"
    assert lead.fixed == (2.0, None, None, None) and lead.moves == pytest.approx((0.0, 2.0, 0.0, 0.0))
    assert lead.losses == pytest.approx((0.0, 4.0, 0.0, 0.0)) and lead.clipped


@pytest.mark.parametrize("clipped", [True, False])
def test_the_loss_of_independent_noise_is_a_score(clipped):
    """ln f(x)/f(x − m), but for 2 digits and for the middle, which is the median of the runs."""
    rng = np.random.default_rng(0)
    own, moves = np.array([0.0, 5.0]), np.array([1.0, -2.0])
    draw = rng.laplace if clipped else rng.normal
    rows = np.concatenate([draw(own, 2.0, (20_001, 2)), draw(own + moves, 2.0, (20_001, 2))])
    losses = abs(moves) / 2 if clipped else (moves / 2) ** 2
    lead = Lead("[float × 2]", (None, None), tuple(moves), tuple(losses), clipped)
    (score,) = (score for score, is_box in lead.scores(rows) if not is_box)
    x = rows[:50]
    centred = (x - score.center) / score.scale
    found = (np.clip(centred, -score.clips[0], score.clips[0]) * score.weights[0]).sum(axis=1)
    far = [abs(x - own), abs(x - own - moves)]
    true = ((far[1] - far[0]) / 2 if clipped else (far[1] ** 2 - far[0] ** 2) / 8).sum(axis=1)
    assert found == pytest.approx(true, abs=0.06)


def test_boxes_hold_the_outputs_of_the_path_alone_and_never_say_what_the_data_are():
    rng = np.random.default_rng(1)
    lead = Lead("[bool, float]", (1.0, None), (0.0, 2.0), (0.0, 2.0))
    rows = np.column_stack([rng.integers(0, 2, 4_000), rng.laplace(0, 1, 4_000)])
    boxes = [score for score, is_box in lead.scores(rows) if is_box]
    assert len(boxes) > 20 and all(box.low[0] == box.high[0] == 1.0 for box in boxes)
    assert all(is_box for _, is_box in lead.scores(rows))
    limits = {limit for box in boxes for limit in (box.low[1], box.high[1]) if limit is not None}
    assert len(limits) > 20 and 0.0 not in limits
    assert not list(lead.scores(rows[:, :1])) and not list(lead.scores(rows[rows[:, 0] == 0.0]))


@pytest.mark.slow
def test_few_runs_look_where_the_trace_points():
    """A rare path among others of one form, whose numbers hide it."""
    rng = np.random.default_rng(2)

    def runs(shift):
        made = [rng.integers(0, 3, 4).tolist() for _ in range(1_500)]
        return from_list(
            [[*bits, shift + rng.laplace(0, 0.5) if set(bits) == {1} else rng.normal(1.5, 1)] for bits in made]
        )

    sides = runs(0.0), runs(3.0)
    lead = Lead(sides[0].forms[0], (1.0,) * 4 + (None,), (0.0,) * 4 + (3.0,))
    for given in ((), (lead,)):
        chosen, _ = choose(*sides, claim=PureDP(1), measuring=10_000, error=0.05, leads=given)
        assert any(choice.event.family == "a replayed path" for choice in chosen) == bool(given)
    counts = [count_event(choice.event, side) for side in sides for choice in chosen[:1]]
    assert max(sum(each) for each in counts) > 15 * max(1, min(sum(each) for each in counts))


@pytest.mark.slow
def test_a_lead_whose_outputs_never_come_changes_nothing():
    sides = [from_array(np.random.default_rng(side).normal(side, size=500)) for side in (0, 1)]
    without = choose(*sides, claim=PureDP(1), measuring=1_000, error=0.05)
    lead = Lead("['no such form']", (1.0,), (0.0,))
    assert choose(*sides, claim=PureDP(1), measuring=1_000, error=0.05, leads=(lead,)) == without


@pytest.fixture(scope="module")
def unconfirmed():
    return dp.trace("adaptive_svt_releasing_values", seed=0, runs=5_000)


@pytest.mark.slow
def test_what_runs_do_not_confirm_is_said_with_how_rare_it_is(unconfirmed):
    (led,) = unconfirmed.led
    assert unconfirmed.verdict is dp.Verdict.INCONCLUSIVE and unconfirmed.trace.word == "not supported"
    assert isinstance(led.event.rules[0].score, Box) and max(led.met) < 100 < max(led.runs)
    assert any("did not confirm" in sentence for sentence in trace_sentences(unconfirmed, unconfirmed.trace))
    assert passes(list(check(unconfirmed, second=False)))


FORGED = {
    "pair": {"pair": 1},
    "more met than made": {"met": (9, 9_000)},
    "more than learned": {"runs": (9_000, 9_000)},
    "none needed": {"needs": 0},
}


@pytest.mark.slow
@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_what_cannot_have_come_up_fails_a_check(unconfirmed, change):
    led = tuple(msgspec.structs.replace(each, **change) for each in unconfirmed.led)
    assert not passes(list(check(msgspec.structs.replace(unconfirmed, led=led), second=False)))
