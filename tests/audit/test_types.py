"""Is a difference of types told as one, and left out where it is not to count?"""

import fractions
import itertools
import json
import time
from decimal import Decimal

import msgspec
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.evidence.event import Coordinate, Event, Rows, Rule, kinds_in
from dpaudit.evidence.evidence import Evidence
from dpaudit.report.text.reproduce import reproduce_command
from dpaudit.review.check import check, passes
from dpaudit.review.replay import replay

PAIR = [([1.0], [0.0])]


def zero(data, rng):
    return None if rng.random() < 0.3 else 0 if data[0] > 0.5 else 0.0


PAIRS = {
    "int and float": (0, 0.0),
    "bool and int": (True, 1),
    "float32 and float": (np.float32(0.5), 0.5),
    "tuple and list": ((1, 2), [1, 2]),
    "set and frozenset": ({1}, frozenset([1])),
    "array and list": (np.array([1.0, 2.0]), [1.0, 2.0]),
    "decimal and float": (Decimal("0.5"), 0.5),
    "fraction and float": (fractions.Fraction(1, 2), 0.5),
    "byte order": (np.array([1.0], dtype=">f8"), np.array([1.0])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_types_count_unless_they_are_to_be_ignored(name):
    def release(data, rng):
        return PAIRS[name][int(data[0])] if rng.random() < 0.7 else None

    asked = {"claim": "epsilon=1", "pairs": PAIR, "runs": 1000, "seed": 0}
    counted, ignored = (dp.audit(release, **asked, types=types) for types in ("count", "ignore"))
    assert (counted.verdict, ignored.verdict) == (dp.Verdict.VIOLATED, dp.Verdict.NOT_VIOLATED)
    assert (counted.types, ignored.types) == ("count", "ignore")


def test_the_event_says_it_in_words():
    event = dp.audit(zero, claim="epsilon=1", pairs=PAIR, runs=1000, seed=0).lower.event
    assert event.describe(0) == "an output that is int = 0 (by type alone: an int on this side, a float on the other)"
    assert "by type alone" not in str(event)  # which older evidence holds


def test_values_that_differ_are_no_difference_of_types():
    rules = (Rule("int", Rows(((0.0,),)), (-0.5,), (0, 1)), Rule("float", Coordinate(0), (3.0,), (0, -1)))
    assert "type" not in Event("x", rules).describe(0)
    overlapping = (rules[0], Rule("float", Coordinate(0), (0.0,), (0, -1)))
    assert "by type alone: an int on this side" in Event("x", overlapping).describe(0)


@pytest.mark.slow
def test_an_event_of_many_texts_is_said_at_once():
    rules = tuple(Rule(f"'c{number}'", None, (), (1 if number % 2 else -1,)) for number in range(10_000))
    kinds = tuple(
        Rule("[" + ", ".join(kinds) + "]", None, (), (1,)) for kinds in itertools.product(("int", "float"), repeat=10)
    )
    clock = time.process_time()
    assert Event("x", rules).describe(0).endswith(" 4995 more")
    assert "type" not in Event("x", kinds).describe(0)
    assert time.process_time() - clock < 5


def test_evidence_holds_it_and_a_check_compares_it():
    for types in ("count", "ignore"):
        evidence = dp.audit(zero, claim="epsilon=1", pairs=PAIR, runs=1000, seed=0, types=types)
        assert Evidence.from_json(evidence.to_json()) == evidence
        assert passes(list(check(evidence)))
        other = msgspec.structs.replace(evidence, types="ignore" if types == "count" else "count")
        assert not passes(list(check(other)))


def test_the_printed_command_and_a_replay_ask_it_again():
    evidence = dp.audit("laplace", runs=1000, seed=0, types="ignore")
    assert "--types ignore" in reproduce_command(evidence)
    found = replay(evidence)
    assert found.holds and found.after.types == "ignore"


def test_a_record_of_before_has_counted_them():
    record = json.loads(dp.audit(zero, claim="epsilon=1", pairs=PAIR, runs=1000, seed=0).to_json())["evidence"]
    assert "types" not in record


def test_only_forms_of_numbers_name_types():
    assert kinds_in("[int × 2, float]") == ["int", "float"] and kinds_in("array(2, 2) of number × 4") == ["number"]
    assert (
        not kinds_in("Point{number: float}") and not kinds_in("raises ValueError: no number") and not kinds_in("'int'")
    )


def test_another_word_is_refused():
    with pytest.raises(dp.UsageError, match="types is 'count'"):
        dp.audit(zero, claim="epsilon=1", pairs=PAIR, runs=1000, seed=0, types="maybe")


# --- wherever an audit can be asked for ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_of_recorded_outputs_too(name):
    sides = [[PAIRS[name][side]] * 300 + [None] * 100 for side in (0, 1)]
    for seed, outputs in enumerate(sides):  # in the same order they would share their noise
        np.random.default_rng(seed).shuffle(outputs)
    counted, ignored = (
        dp.tools.audit_outputs(*sides, claim="epsilon=1", seed=0, types=types) for types in ("count", "ignore")
    )
    assert (counted.verdict, ignored.verdict) == (dp.Verdict.VIOLATED, dp.Verdict.NOT_VIOLATED)
    assert (counted.types, ignored.types) == ("count", "ignore")
    for evidence in (counted, ignored):
        assert passes(check(evidence))
    assert "types" not in counted.record()  # as it was before one could say so


def test_other_words_about_types_of_recorded_outputs_are_refused():
    drawn = np.random.default_rng(0).integers(5, size=400)
    evidence = dp.tools.audit_outputs(drawn, drawn[::-1].astype(float), claim="epsilon=9", seed=0)
    for types in ("ignore", "perhaps"):
        assert any(finding.fails for finding in check(msgspec.structs.replace(evidence, types=types)))
    with pytest.raises(dp.UsageError, match=r"types is 'count' .* or 'ignore', not 'never'"):
        dp.tools.audit_outputs([1.0] * 100, [1.0] * 100, types="never")


def test_one_option_has_the_same_values_everywhere():
    from dpaudit.cli.main import cli
    from dpaudit.evidence.schema import evidence_schema
    from dpaudit.gate.schema import json_schema
    from dpaudit.sampling.forms import TYPES

    audit = cli.get_command(None, "audit")
    [option] = [option for option in audit.params if option.name == "types"]
    assert (tuple(option.type.choices), option.default) == (TYPES, TYPES[0])
    gate = json_schema()["$defs"]["GateSettings"]["properties"]["types"]
    assert (tuple(gate["enum"]), gate["default"]) == (TYPES, TYPES[0])
    record = evidence_schema()["$defs"]["Evidence"]["properties"]["types"]
    assert record["pattern"] == f"^({'|'.join(TYPES)})$"


def test_what_is_handed_over_counts_types_as_it_was_asked():
    from dpaudit.processes import Asked, other_question
    from dpaudit.request import AuditRequest

    def release(data, rng):
        return data[0] + rng.normal()

    asked = {"claim": "epsilon=1", "relation": "declared", "parameters": {}, "confidence": 0.95, "seed": 0, "runs": 400}
    evidence = dp.audit(release, pairs=PAIR, relation="declared", claim="epsilon=1", runs=400, seed=0, types="ignore")
    assert other_question(evidence, Asked(AuditRequest(evidence.target.name, **asked, types="ignore"))) is None
    assert "whether types count" in other_question(evidence, Asked(AuditRequest(evidence.target.name, **asked)))
