"""Is every single lie in the evidence of an accounting noticed, and does a replay find the same?"""

from __future__ import annotations

import copy
import json
import math
import random
from collections import defaultdict
from typing import Any

import pytest
from support.forging import another, at, forged, is_unrevealed, kind_of, leaves, noticed, unrevealed
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import check, check_file, exit_code

pytestmark = pytest.mark.usefixtures("remembering")

CLAIMS = ["epsilon=1.5, delta=0.001", "epsilon=1, delta=0.001", "epsilon=2, delta=0.01"]


@pytest.fixture(scope="module")
def evidence() -> dp.Evidence:
    """Two releases, three claims at two δ, a curve, and what another accountant says."""
    listed = dp.accounting.Laplace(4).times(4) + dp.accounting.Gaussian(2).poisson("0.1").times(3)
    return dp.account(listed, claim=CLAIMS, tolerance=0.01)


def reread(record: Any) -> dp.Evidence:
    return dp.Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))


@pytest.mark.nightly
def test_it_reads_back_and_holds(evidence):
    again = dp.Evidence.from_json(evidence.to_json())
    assert again == evidence and again.id == evidence.id
    findings = list(check(again))
    assert not [finding for finding in findings if finding.fails]
    assert exit_code(findings) == 0
    assert {"releases", "statement", "verdict", "curve", "others"} <= {
        finding.what for finding in findings if finding.holds
    }


def places(record: Any, chance: random.Random) -> list[Any]:
    patterns, kinds = unrevealed(), defaultdict(list)
    for path in leaves(record):
        # a proof without runs has another confidence for no reason, and its names are compared with the releases
        if not is_unrevealed(
            path, [pattern for pattern in patterns if pattern not in ("confidence", "seed", "learning")]
        ):
            kinds[kind_of(path)].append(path)
    return [chance.choice(paths) for paths in kinds.values()]


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_at_night(range(3)))
def test_another_digit_or_word_is_noticed(evidence, part):
    record, chance = evidence.record(), random.Random(1)
    assert not noticed(record)
    unseen = []
    for path in places(record, chance)[part::3]:
        value = at(record, path)
        other = another(value, chance)
        near = isinstance(value, float) and math.isclose(value, other, rel_tol=1e-9)
        if other != value and not near and not noticed(forged(record, path, other)):
            unseen.append((kind_of(path), value, other))
    assert unseen == []


LIES = {
    "less noise than was certified": lambda r: r["accounting"]["releases"][0].update(event="Laplace(3)"),
    "fewer steps": lambda r: r["accounting"]["releases"][0].update(steps=3),
    "another release beside": lambda r: r["accounting"]["releases"].append({"event": "Laplace(4)", "steps": 1}),
    "no release": lambda r: r["accounting"].update(releases=[]),
    "no statement": lambda r: r["accounting"].update(statements=[], certificates=[]),
    "the violated claim left out of the headline": lambda r: r.update(verdict="proved", claim=CLAIMS[0]),
    "the violated claim called proved": lambda r: r["accounting"]["statements"][1].update(verdict="proved"),
    "a claim at another certificate's δ": lambda r: r["accounting"]["statements"][2].update(certificate=0),
    "certificates in another order": lambda r: r["accounting"]["certificates"].reverse(),
    "a certificate of nothing": lambda r: r["accounting"]["certificates"].append({}),
    "a place that is none": lambda r: r["accounting"]["statements"][0].update(certificate=9),
    "a negative place": lambda r: r["accounting"]["statements"][0].update(certificate=-1),
    "a relation that is not accounted for": lambda r: r.update(relation="replace-one"),
    "a name that is another list": lambda r: r["target"].update(name="Laplace(400)"),
    "runs": lambda r: r.update(learning=5, measuring=5),
    "a pair": lambda r: r["pairs"].append(
        {"digest0": "0" * 64, "digest1": "1" * 64, "origin": "given", "shown0": None, "shown1": None}
    ),
    "a curve that lies lower": lambda r: r["accounting"]["curve"].update(
        lows=[0.0] * 25, highs=[each / 2 for each in r["accounting"]["curve"]["highs"]]
    ),
    "a curve of two lengths": lambda r: r["accounting"]["curve"]["lows"].pop(),
    "an accountant that says more": lambda r: r["accounting"]["others"][0].update(value=9.0),
    "an estimate that was an upper bound": lambda r: r["accounting"]["others"][0].update(side="estimate"),
    "no assumption": lambda r: r.update(assumptions=[]),
    "a text that is no event": lambda r: r["accounting"]["releases"][0].update(event="__import__('os')"),
    "two events in one": lambda r: r["accounting"]["releases"][0].update(event="Laplace(4) + Laplace(4)"),
    "another spelling": lambda r: r["accounting"]["releases"][0].update(event="Laplace(4.0)"),
    "a huge number of steps": lambda r: r["accounting"]["releases"][0].update(steps=10**15),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_noticed(name, evidence):
    record = copy.deepcopy(evidence.record())
    LIES[name](record)
    assert record != evidence.record() and noticed(record)


@pytest.mark.slow
def test_an_accounting_does_not_vouch_for_an_audit(evidence):
    """Evidence of runs with an accounting beside it is none of either."""
    audited = dp.audit("laplace", runs=2000, seed=1).record()
    assert noticed({**audited, "accounting": evidence.record()["accounting"]})


@pytest.mark.slow
def test_a_replay_finds_the_same_id(evidence):
    found = dp.replay(evidence)
    assert found.identical and found.holds


@pytest.mark.slow
def test_a_replay_of_other_numbers_names_what_differs(evidence):
    record = copy.deepcopy(evidence.record())
    record["accounting"]["curve"]["highs"][0] = 0.5
    found = dp.replay(reread(record))
    assert not found.holds and any("highs" in each.member for each in found.differences)


@pytest.mark.slow
def test_a_certificate_alone_says_what_it_is_about(tmp_path):
    found = dp.account(dp.accounting.Laplace(2).times(4), epsilon="1.9", alone=True)
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(found.accounting.certificates[0]), encoding="utf-8")
    (finding,) = check_file(file)
    assert finding.holds and "≤ δ ≤" in finding.sentence and "ε ≤" not in finding.sentence
