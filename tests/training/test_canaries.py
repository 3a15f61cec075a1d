"""Are the canaries of a loop drawn by fair coins, scored rightly, bounded by what the coins allow, and checked?"""

import json

import msgspec
import numpy as np
import pytest
from support.nightly import mostly_at_night
from support.watched import RATE, certified_once, evidence_of, seen_loop

from dpaudit.auditing.canaries import guessed
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import ApproxDP, GaussianDP, parse_claim
from dpaudit.report import html_page
from dpaudit.report.formats import summary
from dpaudit.report.text.listed import canaries_words
from dpaudit.report.view import view
from dpaudit.review.check import check, passes
from dpaudit.training.canaries import Canaries, best, chosen, coins_of, evidence_for_in, scored
from dpaudit.training.seen import TrainingRun
from dpaudit.training.watchers.recorder import TrainingRecorder

MANY, SEED = 64, 3


@pytest.fixture(scope="module", autouse=True)
def _certified_once():
    with certified_once():
        yield


def drawn(rng, coins, *, updates=20, sigma=1.0, rate=RATE):
    """Scores as a right loop gives them: each canary along a coordinate of its own."""
    found = np.zeros(len(coins))
    for _ in range(updates):
        sums = (rng.random(len(coins)) < rate) * coins + sigma * rng.normal(size=len(coins))
        found += evidence_for_in(sums, rate, 1.0)
    return found


def with_canaries(claim="epsilon=4, delta=1e-5", *, many=MANY, scores=None):
    seen, coins = seen_loop(), coins_of(many, SEED)
    scores = drawn(np.random.default_rng(8), coins) if scores is None else scores(coins)
    seen.canaries = Canaries("gradients" if many == MANY else "records", np.arange(many), coins, scores)
    return evidence_of(seen, parse_claim(claim))


def test_the_score_of_an_update_is_the_log_likelihood_ratio_of_being_in():
    values = np.array([-3.0, 0.2, 5.0])
    told = (1 - RATE) * np.exp(-(values**2) / 8) + RATE * np.exp(-((values - 1) ** 2) / 8)
    assert evidence_for_in(values, RATE, 2.0) == pytest.approx(np.log(told / np.exp(-(values**2) / 8)))
    assert np.isfinite(evidence_for_in(np.array([1e9, -1e9]), 1.0, 1e-9)).all()
    assert np.isnan(evidence_for_in(np.array([np.nan]), RATE, 1.0)).all()


def test_coins_and_places_are_those_of_the_seed():
    a, b, c = (chosen(100, 200, seed) for seed in (1, 1, 2))
    assert (a.coins == b.coins).all() and (a.places == b.places).all() and (a.coins != c.coins).any()
    assert len(set(a.places)) == 100 and a.places.max() < 200
    listed = chosen(list(range(50)), 200, 1)
    assert listed.kind == "records" and listed.scores is None and 10 < listed.coins.sum() < 40


def test_a_canary_that_is_out_never_reaches_the_loop_and_batches_are_judged_as_they_were_drawn():
    seen = TrainingRun("drawn by NumPy", records=100)
    seen.batches = []
    recorder = TrainingRecorder(seen, {"weight": 3}, seed=0, often=1, later=0.0)
    recorder.out = np.array([1, 5])
    assert [recorder.batch([5, 2, 1]), recorder.batch([3])] == [[2], [3]]
    assert [len(each) for each in seen.batches] == [3, 1]


@pytest.mark.slow
def test_a_right_loop_keeps_its_claim_and_its_canaries_pass_their_check():
    found = with_canaries()
    told = found.training.canaries
    assert str(found.verdict) == "not violated" and told.sure <= told.epsilon < 4
    again = Evidence.from_json(found.to_json())
    assert again.id == found.id and passes(list(check(again)))
    page = html_page(found)
    assert "Canaries of one run" in page and "a small one says nothing for the loop" in page
    assert not {"places", "coins", "scores"} & set(found.record()["training"]["canaries"])


@pytest.mark.nightly
def test_canaries_alone_decide_where_no_fact_is_seen_wrong_and_the_reason_says_so():
    found = with_canaries("epsilon=2.2, delta=1e-5", many=300, scores=lambda coins: coins + np.arange(300) / 1e3)
    told = found.training.canaries
    assert found.training.high.value < 2.2 < told.sure < told.epsilon and found.lower.value == told.sure
    assert str(found.verdict) == "violated" and "canaries of this run show" in found.reason
    assert "fair coins alone" in view(found).headline.caution
    assert passes(list(check(found)))


@pytest.mark.slow
def test_beside_a_claim_that_stands_they_show_what_is_sure_enough_to_decide():
    """At 95 % confidence they may show more than is claimed, as chance does; no green word stands beside that."""
    found = with_canaries()
    told = msgspec.structs.replace(found.training.canaries, epsilon=4.12, sure=3.71)
    found = msgspec.structs.replace(found, training=msgspec.structs.replace(found.training, canaries=told))
    said = summary(found) + " ".join(canaries_words(told, found))
    assert "4.12" not in said and said.count("3.71") == 2
    violated = msgspec.structs.replace(found, verdict=Verdict.VIOLATED)
    assert "4.12" in canaries_words(told, violated)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_at_night(["epsilon", "sure", "given", "bins", "mu", "dropped", "guessed"]))
def test_what_does_not_follow_from_the_counts_is_noticed(name):
    record = json.loads(json.dumps(with_canaries().record()))
    told = record["training"]["canaries"]
    if name == "given":
        told["given"] = [told["given"][0] + 1, told["given"][1] - 1]
    elif name == "bins":
        inside, outside = told["attempts"][0]["bound"]["counts"]["bins"]
        inside[0], outside[0], inside[-1], outside[-1] = inside[0] + 1, outside[0] - 1, inside[-1] - 1, outside[-1] + 1
    elif name == "guessed":  # more right guesses of members than there are members
        counts = told["attempts"][1]["bound"]["counts"]
        counts["toward0"], counts["toward1"] = [sum(counts["toward0"]), 0], [0, sum(counts["toward1"])]
        assert counts["toward0"][0] > told["given"][0]
        told["attempts"][1]["bound"]["value"] = told["epsilon"] = told["sure"] = 2.0
    elif name == "dropped":
        told["attempts"].pop()
    else:
        told[name] = 1.25
    forged = msgspec.convert(record, Evidence, strict=False)
    assert any(each.fails for each in check(forged, second=False))


@pytest.mark.slow
def test_a_loop_that_keeps_its_claim_exactly_is_rarely_bounded_above_it():
    """One update of 1-GDP, which is ε = 1 at a δ of 0.13; benchmarks/training/measure_canaries.py makes many more."""
    claim, rng, found = ApproxDP(1.0, float(GaussianDP(1.0).profile(1.0))), np.random.default_rng(5), []
    for _ in range(60):
        coins = rng.random(400) < 0.5
        scores = coins + rng.normal(size=400)
        found.append(best(guessed(scores[coins], scores[~coins], claim, 0.95, ())))
    assert sum(each > 1 for each in found) <= 7  # with a probability of 0.99 at 5 %


@pytest.mark.parametrize(
    ("given", "records", "says"),
    [
        (500, None, "no loader that draws numbers of records"),
        (500, 100, "has 100 records: give fewer"),
        (3, 100, "could show nothing"),
        ([*range(60), 200], 100, "names record 200"),
        ([1] * 60, 100, "names a record twice"),
        ("many", 100, "is how many there are"),
        (True, 100, "is how many there are"),
        ([0.5] * 60, 100, "is how many there are"),
    ],
)
def test_canaries_that_cannot_be_are_refused(given, records, says):
    with pytest.raises(UsageError, match=says):
        chosen(given, records, 0)


def test_scores_are_a_number_for_each_canary():
    assert scored([1, float("nan")], 2)[0] == 1
    with pytest.raises(UsageError, match="NaN for every canary"):
        scored([float("nan")] * 2, 2)
    for wrong in ([1.0], None, [[1.0, 2.0]], "ab"):
        with pytest.raises(UsageError, match="a number for each of the 2 canaries"):
            scored(wrong, 2)
