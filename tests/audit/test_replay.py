"""Is the same found again, and is what differs named? Functions with randomness of their own, by their frequencies."""

from __future__ import annotations

import json
import random
from datetime import date, datetime
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.neighbours.digest import digest, kept_text, read_kept
from dpaudit.review.check import check, passes
from dpaudit.review.replay import ERROR

pytestmark = pytest.mark.slow

RUNS = 4000
PAIR = [([1.0], [0.0])]


def laplace(data, noise, *, epsilon=1):
    return data[0] + noise.laplace(1 / epsilon)


def sampler(data, size, rng):
    return data[0] + rng.laplace(size=size)


def seeded(data, rng):
    return data[0] + rng.laplace()


def response(bit, noise, *, keep=0.75):
    return bit if noise.bernoulli(keep) else 1 - bit


SCALE = [1.0]


def opaque(data):
    return data[0] + random.choice([-1, 1]) * random.expovariate(1 / SCALE[0])


def audited(function=laplace, **asked):
    return dp.audit(function, **{"pairs": PAIR, "claim": "epsilon=1", "runs": RUNS, "keep_data": True, **asked})


FOUND = {
    "own pair": lambda: (dp.audit("laplace", runs=RUNS, seed=3), None),
    "kept pair": lambda: (audited(relation="queries"), laplace),
    "sampler": lambda: (audited(sampler, floating_point="verdict"), sampler),
    "seeded": lambda: (audited(seeded, confidence=0.9, seed=7), seeded),
    "parameters": lambda: (audited(parameters={"epsilon": 0.5}, claim="epsilon=0.2"), laplace),
    "several pairs": lambda: (audited(pairs=[*PAIR, ([2.0], [2.5])]), laplace),
    "another notion": lambda: (dp.audit("gaussian", runs=RUNS), None),
    "curve": lambda: (dp.audit("randomised_response", runs=RUNS, curve=True), None),
    "sequential": lambda: (dp.audit("report_noisy_max", runs=200, sequential=True), None),
    "proof": lambda: (dp.prove("svt_unscaled_noise", length=2, runs=RUNS), None),
    "proof without runs": lambda: (dp.prove("above_threshold", length=1, runs=0), None),
    "any length": lambda: (dp.prove("prefix_sum", runs=500), None),
    "whole numbers": lambda: (dp.prove("geometric", length=1, domain="integer", runs=RUNS), None),
    "domain": lambda: (dp.prove(response, domain=[0, 1], relation="replace", runs=RUNS, keep_data=True), response),
    "time budget": lambda: (audited(time_budget=0.2), laplace),
}


@pytest.mark.parametrize("name", mostly_at_night(FOUND, every=2))
def test_the_same_id_is_found_again(name, tmp_path):
    evidence, function = FOUND[name]()
    evidence.save(tmp_path / "e.json")
    found = dp.replay(tmp_path / "e.json", target=function)
    assert found.holds and found.identical, list(found.sentences())
    assert list(found.sentences()) == [f"the same id, {evidence.id}"]
    assert passes(check(evidence))


def test_runs_that_could_not_be_trusted_cannot_be_again():
    def repeats(data, size, rng):
        return data[0] + np.random.default_rng(0).laplace(size=size)

    evidence = audited(repeats)
    assert evidence.verdict is dp.Verdict.INVALID
    assert evidence.asked == RUNS
    assert dp.replay(evidence, target=repeats).identical
    assert not dp.replay(evidence, target=sampler).holds


# --- what differs -----------------------------------------------------------------------------------------


def test_changed_code_is_named():
    evidence = audited()

    def laplace(data, noise, *, epsilon=1):
        return data[0] + noise.laplace(0.5 / epsilon)

    found = dp.replay(evidence, target=laplace)
    assert not found.holds
    members = {each.member for each in found.differences}
    assert {"target.digest", "lower.value", "verdict"} <= members
    assert "the code of the target has changed" in found.reasons
    (verdict,) = (each for each in found.differences if each.member == "verdict")
    assert str(verdict) == 'verdict was "not violated" and is "violated"'


def test_other_versions_are_no_difference_and_are_named():
    evidence = dp.audit("laplace", runs=RUNS)
    older = msgspec.structs.replace(evidence, versions={**evidence.versions, "numpy": "1.0"})
    found = dp.replay(older)
    assert found.holds and not found.identical
    (first, second) = found.sentences()
    assert first == "everything that was found is found again"
    assert second.startswith("numpy was 1.0 and is ")


def test_what_nothing_explains_is_said_so():
    evidence = dp.audit("laplace", runs=RUNS)
    forged = msgspec.structs.replace(evidence, lower=msgspec.structs.replace(evidence.lower, value=0.5))
    found = dp.replay(forged)
    assert [each.member for each in found.differences] == ["lower.value"]
    assert any("nothing that the evidence tells explains it" in each for each in found.reasons)


def test_another_seed_is_another_audit():
    evidence = dp.audit("laplace", runs=RUNS)
    assert not dp.replay(msgspec.structs.replace(evidence, seed=1)).holds


def test_what_an_old_file_could_not_say_is_no_difference():
    record = dp.audit("laplace", runs=RUNS).record()
    del record["power"]  # which came later
    from dpaudit.evidence.canonical_json import content_id

    old = dp.Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))
    found = dp.replay(old)
    assert found.holds and not found.identical
    assert "now the evidence says more: power" in found.reasons


# --- randomness of its own --------------------------------------------------------------------------------


def test_a_function_with_randomness_of_its_own_is_counted_again():
    random.seed(1)
    evidence = audited(opaque, reading="calls")
    found = dp.replay(evidence, target=opaque)
    assert found.holds and found.after is None and not found.identical
    assert len(found.recounts) == len([each for each in evidence.attempts if each.bound.counts])
    recount = found.recounts[0]
    assert recount.after != recount.before
    assert "occurs as often as before" in next(iter(found.sentences()))


def test_one_that_changed_is_noticed(monkeypatch):
    random.seed(1)
    evidence = audited(opaque, reading="calls")
    monkeypatch.setitem(globals(), "SCALE", [2.0])
    found = dp.replay(evidence, target=opaque)
    assert not found.holds
    assert any(each.p_value < ERROR for each in found.recounts)


def test_equal_laws_are_called_different_as_rarely_as_said():
    """Fisher's test is exact: at a level of 0.2 in place of 0.001, so that it shows, at most every fifth differs."""
    from dpaudit.evidence.records import Counts
    from dpaudit.review.replay import _fisher, _tables

    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        hits = rng.binomial(60, (0.3, 0.1), size=(2, 2))
        old, new = (Counts((60, 60), (int(a), int(b)), (0, 0)) for a, b in hits)
        tables = _tables(old, new)
        wrong += min(map(_fisher, tables)) * len(tables) < 0.2
    assert binomtest(wrong, 400, 0.2, alternative="greater").pvalue > 1e-3
    assert wrong > 0  # a test that never differs would be none


# --- what cannot be replayed ------------------------------------------------------------------------------


def refusal(*given, **named):
    with pytest.raises(dp.UsageError) as refused:
        dp.replay(*given, **named)
    return str(refused.value)


def test_data_by_digest_alone_are_to_be_given():
    evidence = audited(keep_data=False)
    assert (evidence.pairs[0].data0, evidence.pairs[0].shown0) == (None, None)
    assert "--keep-data holds them" in refusal(evidence, target=laplace)
    assert "digests differ" in refusal(evidence, target=laplace, pairs=[([1.0], [0.5])])
    assert "digests differ" in refusal(evidence, target=laplace, pairs=[([1], [0])])  # 1 is not 1.0
    assert dp.replay(evidence, target=laplace, pairs=PAIR).identical


def test_a_domain_that_was_not_kept_is_to_be_given():
    evidence = dp.prove(response, domain=[0, 1], relation="replace", runs=0)
    assert "--keep-data holds it" in refusal(evidence, target=response)
    assert dp.replay(evidence, target=response, domain=[0, 1]).identical
    assert not dp.replay(evidence, target=response, domain=[1, 0]).holds


def test_a_name_that_leads_nowhere_is_a_sentence():
    def known_nowhere_else(data, noise):
        return data[0] + noise.laplace(1)

    assert "dp.replay(evidence, target=…)" in refusal(audited(known_nowhere_else))


def test_what_was_recorded_elsewhere_cannot_be_run():
    evidence = dp.tools.audit_outputs([0.0, 1.0] * 200, [1.0, 1.0] * 200)
    assert "cannot be replayed" in refusal(evidence)


# --- data that are kept -----------------------------------------------------------------------------------


def frame(*values):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"a": list(values), "b": [f"x{value}" for value in values]})


DATA = {
    "numbers": lambda: [1, 1.0, True, None, -0.0, 2**70, 1e-300],
    "no numbers": lambda: [float("nan"), float("inf"), -float("inf")],
    "texts": lambda: {"name": "Ä ‘quoted’ \n", "$dict": 1},
    "tuples": lambda: ((1, 2), [(3,)], {1: "a", (2, 3): "b"}),
    "sets": lambda: {"s": {1, 2, 3}, "f": frozenset({"a"})},
    "arrays": lambda: [np.arange(6, dtype=np.int16).reshape(2, 3), np.array([0.5, np.nan]), np.array(["a", "bc"])],
    "no rows": lambda: np.zeros((0, 3)),
    "a frame": lambda: frame(1, 2, 3),
    "dates": lambda: [date(2024, 2, 29), datetime(2024, 2, 29, 1, 2, 3, 4)],
    "times of pandas": lambda: [pd.Timestamp("2024-02-29"), pd.Timestamp("2024-02-29 01:02:03.000000004", tz="UTC")],
}


@pytest.mark.parametrize("name", DATA)
def test_kept_data_read_back_as_they_are(name):
    data = DATA[name]()
    text = kept_text(data)
    assert digest(read_kept(text)) == digest(data)
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize(
    "data",
    [object(), [lambda: 1], {"x": 1j}, type("Bag", (list,), {})([1])],
    ids=["object", "function", "complex", "own class"],
)
def test_what_cannot_be_read_back_is_not_kept(data):
    with pytest.raises(dp.UsageError, match="leave out keep_data"):
        kept_text(data)


UNREADABLE = [
    "", "{", '{"$no": 1}', '{"$array": 1}', '{"$float": "x"}', '{"$set": 1, "$x": 2}', '{"$date": "x"}',
    '{"$timestamp": ["x", "us"]}', '{"$timestamp": ["2024-01-01", "y"]}',
]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_was_not_kept_so_cannot_be_read(text):
    with pytest.raises(dp.UsageError, match="cannot be read"):
        read_kept(text)


SECRET = 987654.25


def test_nothing_of_a_users_data_is_in_the_evidence_unless_asked_for():
    pair = [([SECRET, 1.0], [SECRET, 0.0])]

    def total(data, noise):
        return sum(data) - SECRET + noise.laplace(1)

    without, kept = (audited(total, pairs=pair, keep_data=keep) for keep in (False, True))
    assert str(SECRET) not in without.to_json()
    assert kept.to_json().count(str(SECRET)) == 4  # to read, and to run again; of both sides
    assert without.pairs[0].digest0 == kept.pairs[0].digest0


def test_a_list_of_its_own_kind_is_not_shown_as_any_list(tmp_path: Path):
    class Bag(list):
        pass

    mechanism = dp.mechanism(pairs=[(Bag([1.0]), Bag([0.0]))])(laplace)
    evidence = dp.audit(mechanism, runs=RUNS)
    assert evidence.pairs[0].shown0 == "Bag([1.0])"
    assert passes(check(evidence))
