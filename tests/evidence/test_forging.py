"""Is any single lie in a file noticed? Every place of every kept file with another digit or another word.

Each forged record has a new id of its own, so that nothing but its meaning can reveal it. What may go unseen stands
in the table of ``UNREVEALED.md``, and nowhere else.
"""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.forging import OLD, ROOT, Place, another, at, forged, is_unrevealed, kind_of, leaves, noticed, unrevealed
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import check
from dpaudit.review.check.finding import passes

REFERENCE = [
    ROOT / "reports" / "evidence" / f"{name}.json" for name in ("count", "noisy_max_value", "discrete_gaussian")
]
MOST = 20  # places that are tried of a file, drawn among those of every kind; most kinds stand in twenty files

pytestmark = pytest.mark.usefixtures("remembering")


def close(value: Any, other: Any) -> bool:
    """Whether two numbers differ by less than what is written of a bound, or of an exact one."""
    if isinstance(value, str):
        try:
            a, b = (Fraction(text) if "/" in text else Fraction(Decimal(text)) for text in (value, other))
        except (ValueError, ArithmeticError):
            return False
        return abs(a - b) <= Fraction(1, 10**17) * max(abs(a), 1)
    return isinstance(value, float) and math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9)


def lies(record: Any, chance: random.Random) -> list[Place]:
    """One place of every kind that a check is to look at."""
    patterns, kinds = unrevealed(), defaultdict(list)
    invalid = record["verdict"] == "invalid"
    for path in leaves(record):
        known = [pattern for pattern in patterns if pattern not in ("confidence", "measuring", "low_bits")]
        known += ["measuring", "low_bits"] if invalid else []
        known += ["confidence"] if not record["attempts"] else []
        if not is_unrevealed(path, known):
            kinds[kind_of(path)].append(path)
    return [chance.choice(paths) for paths in kinds.values()]


@pytest.mark.parametrize("file", mostly_at_night([*OLD, *REFERENCE]), ids=lambda file: file.stem)
@pytest.mark.slow
def test_another_digit_or_word_is_noticed(file: Path) -> None:
    record = json.loads(file.read_text(encoding="utf-8"))["evidence"]
    chance = random.Random(file.stem)
    places = lies(record, chance)
    assert not noticed(record)
    assert len(places) > 10
    unseen = []
    for path in chance.sample(places, min(len(places), MOST)):
        value = at(record, path)
        other = another(value, chance)
        if (path, other) == (("verdict",), "invalid"):
            continue  # that runs could not be trusted no file shows: it is never green, and `passes` says so below
        if other != value and not close(value, other) and not noticed(forged(record, path, other)):
            unseen.append((kind_of(path), value, other))
    assert unseen == [], str(unseen)


def test_other_runs_for_a_smaller_violation_are_noticed() -> None:
    """Its value may differ beyond six digits, as `UNREVEALED.md` says; its runs are rounded to two, and may not."""
    record = kept("outputs")
    runs = at(record, ("power", 0, "runs"))
    assert noticed(forged(record, ("power", 0, "runs"), runs + runs // 20))


@pytest.mark.parametrize("name", ["gaussian", "proved", "proved_without_runs"])
def test_no_file_shows_that_runs_could_not_be_trusted_and_none_passes_that_says_so(name: str) -> None:
    record = forged(kept(name), ("verdict",), "invalid")
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    assert not passes(list(check(dp.Evidence.from_json(text))))


@pytest.mark.slow
def test_the_table_names_only_what_there_is() -> None:
    """A pattern that fits no member excuses nothing, and is an error of the page."""
    schema = json.loads((ROOT / "dpaudit" / "evidence" / "evidence.schema.json").read_text(encoding="utf-8"))
    own = schema["$defs"]["Evidence"]["properties"]
    records = [json.loads(file.read_text(encoding="utf-8"))["evidence"] for file in [*OLD, *REFERENCE]]
    places = {path for record in records for path in leaves(record)}
    form = (ROOT / "docs" / "certificate.md").read_text(encoding="utf-8")
    for pattern in unrevealed():
        first = pattern.partition(".")[0]
        assert first in own
        later = not any(first in record and record[first] is not None for record in records)
        member = pattern.rpartition(".")[2]  # one that was added since, and that no kept file has
        added = any(member in each.get("properties", ()) for each in schema["$defs"].values())
        later |= added and not any((path[0], path[-1]) == (first, member) for path in places)
        if pattern.startswith(("proof.certificate.", "proof.derived.")):  # whose members are none of the schema's
            later |= all(f'"{part}"' in form or f"`{part}`" in form for part in pattern.split(".")[2:] if part != "*")
        assert later or any(is_unrevealed(path, [pattern]) for path in places), pattern


# --- what stands in the table is excused no further than it says ------------------------------------------


def kept(name: str) -> Any:
    return json.loads((ROOT / "tests" / "evidence" / "old" / f"{name}.json").read_text(encoding="utf-8"))["evidence"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("gaussian", {("detectable",): 0.35}),
        ("gaussian", {("detectable_on",): "gaussian"}),
        ("gaussian", {("attempts", 0, "bound", "weight"): 0.9}),
        ("gaussian", {("attempts", 0, "bound", "event", "family"): "another"}),  # the headline has it too
        ("gaussian", {("learning",): -1}),
        ("gaussian", {("target", "reading"): "sampler"}),
        ("gaussian", {("target", "asks"): "opaque"}),
        ("gaussian", {("reproducible",): False}),
        ("gaussian", {("assumptions", 0): "none"}),
        ("gaussian", {("histogram", "cells", 3, "count0"): 1}),
        ("gaussian", {("histogram", "runs"): [400_000, 1]}),
        ("gaussian", {("pairs", 0, "shown0"): "[7.0]"}),
        ("gaussian", {("pairs", 0, "digest0"): "0" * 64}),
        ("gaussian", {("relation",): "queries(norm=1, group=2)", ("pairs", 0, "shown0"): "1"}),
        ("gaussian", {("reason",): "It is private."}),
        ("randomised_response", {("lower", "value"): 0.0, ("attempts", 0, "bound", "value"): 0.0}),
        ("opaque", {("reproducible",): True}),
        ("float_laplace", {("floating_point",): None}),
        ("float_laplace", {("low_bits",): "ignore"}),
        ("low_bits_decide", {("low_bits",): "report"}),
        ("proved", {("proof", "paths"): 99}),
        ("proved", {("proof", "method"): "induction"}),
        ("refuted", {("counterexample", "record", "event", "high", 2): "0"}),
        ("refuted", {("counterexample", "data0"): "[0.0, 0.0, 0.5]"}),
        ("refuted", {("counterexample", "record", "nodes", 0, "scale"): "7"}),
        ("refuted", {("counterexample", "record", "pair", 1, 2): "-1/2"}),
        ("timed", {("reproducible",): True}),
        ("timed", {("observed",): []}),
        ("sequential", {("sequential", "log_wealth"): 9.0}),
        ("sequential", {("attempts", 0, "pair"): 1}),
        ("searched", {("search", "candidates"): 0}),
        ("searched_over_domain", {("search", "source"): "data"}),
        ("enumerated", {("proof", "certificate", "traces"): 1}),
        ("enumerated", {("proof", "paths"): 1}),
        ("enumerated", {("proof", "certificate", "enumerated"): False}),
    ],
    ids=str,
)
def test_a_lie_beside_the_table_is_noticed(name: str, changes: dict[Place, Any]) -> None:
    record = kept(name)
    for path, value in changes.items():
        assert at(record, path) != value
        record = forged(record, path, value)
    assert noticed(record)


def test_probabilities_that_agree_with_each_other_but_not_with_the_tree_are_noticed() -> None:
    """A smaller probability on side 1, everywhere that it stands, with every bound that follows from it."""
    record = kept("refuted")
    low, high = record["counterexample"]["probability1"]
    half = [str(Decimal(low) / 2), str(Decimal(high) / 2)]
    p, q = Decimal(record["counterexample"]["probability0"][0]), Decimal(half[1])
    value = Fraction(int((p / q).ln() * 10**20), 10**20)
    record = forged(record, ("counterexample", "probability1"), half)
    record = forged(record, ("counterexample", "record", "probabilities", 1), half)
    record = forged(record, ("counterexample", "record", "epsilon"), str(value))
    for bound in (("exact",), ("lower",)):
        record = forged(record, (*bound, "exact"), str(value))
        record = forged(record, (*bound, "value"), math.floor(float(value) * 1e9) / 1e9)
    shown = str(math.floor(float(value) * 1e3) / 1e3)
    record = forged(record, ("reason",), record["reason"].replace("1.496", shown))
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    wrong = [finding.what for finding in check(dp.Evidence.from_json(text)) if finding.fails]
    assert "probabilities" in wrong and set(wrong) <= {"probabilities", "reason"}
