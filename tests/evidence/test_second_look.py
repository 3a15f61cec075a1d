"""Is every lie about a second look noticed, and is VIOLATED refused where the rule does not give it?"""

import copy
import json
import random

import pytest
from support.forging import another, at, forged, leaves, noticed

import dpaudit as dp
from dpaudit.checker import evidence as alone
from dpaudit.checker.evidence import content_id

ASKED = {"claim": "epsilon=1", "pairs": [([1.0], [0.0])], "relation": "declared", "runs": 4_000}


def laplace(data, noise, *, loss=1.0):
    """As lossy as it says."""
    return data[0] + noise.laplace(1 / loss)


@pytest.fixture(scope="module")
def records():
    """A first look that was not confirmed, one that was, and one that needed no other."""
    seeds = {"unlucky": (19, 1.0), "confirmed": (2, 1.15), "sure": (0, 2.0)}
    return {
        name: dp.audit(laplace, seed=seed, parameters={"loss": loss}, **ASKED).record()
        for name, (seed, loss) in seeds.items()
    }


VIOLATED = {
    "verdict": "violated",
    "reason": "ε is more than the claimed 1: at least 1.013, at 0.95 confidence.",
}


def without(record, *members):
    return {name: value for name, value in record.items() if name not in members}


FORGERIES = {
    "violated by the first look alone": lambda r: {**without(r["unlucky"], "second"), **VIOLATED},
    "violated though not confirmed": lambda r: {**r["unlucky"], **VIOLATED},
    "not violated though confirmed": lambda r: {
        **r["confirmed"], "verdict": "not violated", "reason": r["unlucky"]["reason"]
    },
    "no second look, not violated": lambda r: without(r["unlucky"], "second"),
    "the second look of the confirmed one left out": lambda r: without(r["confirmed"], "second"),
    "confirmed by word": lambda r: forged({**r["unlucky"], **VIOLATED}, ("second", "confirmed"), True),
    "confirmed by a bound": lambda r: forged(
        forged({**r["unlucky"], **VIOLATED}, ("second", "confirmed"), True), ("second", "value"), 1.2
    ),
    "confirmed at a larger level": lambda r: forged({**r["unlucky"], **VIOLATED}, ("second", "level"), 0.5),
    "confirmed by a smaller p": lambda r: forged(r["unlucky"], ("second", "p"), r["unlucky"]["second"]["p"] / 16),
    "another attempt's event": lambda r: forged(r["unlucky"], ("second", "attempt"), 1),
    "no attempt's event": lambda r: forged(r["unlucky"], ("second", "attempt"), -1),
    "another method": lambda r: forged(r["unlucky"], ("second", "method"), "joint"),
    "fewer fresh runs": lambda r: forged(r["unlucky"], ("second", "counts", "runs"), [1_500, 1_500]),
    "the first look's counts again": lambda r: forged(
        r["unlucky"], ("second", "counts"), r["unlucky"]["lower"]["counts"]
    ),
    "more hits than runs": lambda r: forged(r["unlucky"], ("second", "counts", "toward0"), [9_999, 0]),
    "a second look where none was due": lambda r: {**r["sure"], "second": r["confirmed"]["second"]},
    "one look and a second one": lambda r: {**without(r["unlucky"], "false_alarm"), **VIOLATED},
    "a false alarm as large as the error": lambda r: {
        **without(r["unlucky"], "second"), **VIOLATED, "false_alarm": 0.05
    },
    "a larger false alarm": lambda r: {**without(r["unlucky"], "second"), **VIOLATED, "false_alarm": 0.049},
    "a false alarm of 0": lambda r: {**r["unlucky"], "false_alarm": 0.0},
    "a negative false alarm": lambda r: {**r["unlucky"], "false_alarm": -1.0},
    "the old rule, with the power of the new one": lambda r: {
        **without(r["unlucky"], "second", "false_alarm"), **VIOLATED
    },
    "a smaller false alarm": lambda r: {**r["confirmed"], "false_alarm": 1e-6},
}  # fmt: skip


def code_in_the_file(record):
    """The exit code of the file for reviewers."""
    return alone.exit_code(list(alone.check(json.dumps({"id": content_id(record), "evidence": record}))))


@pytest.mark.parametrize("name", FORGERIES)
def test_the_file_for_reviewers_notices_it_too(name, records):
    assert all(code_in_the_file(record) == 0 for record in records.values())
    unneeded = name == "a second look where none was due"  # the first look alone is sure
    assert (code_in_the_file(FORGERIES[name](records)) == 0) == unneeded


@pytest.mark.parametrize("how", FORGERIES)
def test_a_forged_look_is_refused(how, records):
    made = FORGERIES[how](copy.deepcopy(records))
    assert made not in records.values()
    assert noticed(made)


def test_the_true_ones_pass(records):
    assert not any(noticed(record) for record in records.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unlucky", "confirmed"])
def test_another_digit_or_word_is_noticed(name, records):
    record, chance = records[name], random.Random(name)
    for path in [path for path in leaves(record) if path[0] in ("second", "false_alarm")]:
        value = at(record, path)
        for _ in range(2):
            other = another(value, chance)
            if isinstance(value, float) and abs(other - value) < 1e-8 * abs(value):
                continue
            assert noticed(forged(record, path, other)), (path, value, other)
