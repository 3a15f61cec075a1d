"""Are fields that no bound follows from refused where they cannot be, or contradict what stands beside them?

Every change has an id that fits, so that nothing but its meaning can reveal it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.forging import OLD, ROOT, Place, at, forged

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check, exit_code
from dpaudit.review.check.against import against
from dpaudit.review.check.stated import fields

REPORTS = sorted((ROOT / "reports" / "evidence").glob("*.json"))


def kept(name: str, folder: Path = ROOT / "tests" / "evidence" / "old") -> Any:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["evidence"]


def evidence_of(record: Any) -> Evidence:
    return Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))


@cache
def checked(name: str, path: Place, value: str) -> list[str]:
    """What fails of a kept record with another value at a place."""
    record = forged(kept(name), path, json.loads(value))
    return [finding.what for finding in fields(evidence_of(record)) if finding.fails]


@pytest.mark.parametrize("file", [*OLD, *REPORTS], ids=lambda file: file.stem)
def test_all_that_was_ever_written_agrees(file: Path) -> None:
    assert not [finding.sentence for finding in fields(Evidence.load(file)) if finding.fails]


EVENT: Place = ("attempts", 0, "bound", "event")
CELL: Place = ("histogram", "cells", 3)
CHANGES: list[tuple[str, Place, Any]] = [
    ("laplace_first", ("attempts", 0, "name"), "certain"),
    ("laplace_first", ("attempts", 0, "name"), ""),
    ("laplace_first", ("attempts", 0, "considered", 0, "method"), "oracle"),
    ("laplace_first", (*EVENT, "family"), "another"),
    ("laplace_first", (*EVENT, "rules", 0, "edges"), []),
    ("laplace_first", (*EVENT, "rules", 0, "labels"), [1, 0, -1, 0]),
    ("laplace_first", (*EVENT, "rules", 0, "score", "index"), -1),
    ("laplace_first", ("histogram", "axis"), "time"),
    ("laplace_first", (*CELL, "label"), "0 to 1"),
    ("laplace_first", (*CELL, "label"), ""),
    ("laplace_first", (*CELL, "low"), 9e9),
    ("laplace_first", (*CELL, "high"), -9e9),
    ("laplace_first", ("pairs", 0, "digest0"), ""),
    ("laplace_first", ("pairs", 0, "digest1"), "no digest"),
    ("scores", ("scores", "roc", 0, "threshold"), 9.0),
    ("scores", ("scores", "roc", 0, "counts"), [0, 0]),
    ("scores", ("scores", "rates", 0, "at"), 0.0001),
    ("scores", ("scores", "rates", 0, "at"), 1.5),
    ("scores", ("scores", "rates", 0, "estimate"), 0.9),
    ("scores", ("scores", "rates", 0, "estimate"), -0.1),
    ("scores", ("scores", "given"), [400, 410]),
    ("scores", ("learning",), 1),
    ("scores", ("relation",), "declared by me"),
    ("outputs", ("relation",), "undeclared"),
    ("outputs", ("learning",), -1),
    ("one_run", ("scores", "roc", 0, "threshold"), 99.0),
    ("one_run", ("scores", "rates", 0, "estimate"), 1.5),
    ("sequential", ("sequential", "epochs", 0, "stakes", 0, "name"), "lucky"),
]


@pytest.mark.parametrize(("name", "path", "value"), CHANGES, ids=str)
def test_what_cannot_be_is_refused(name: str, path: Place, value: Any) -> None:
    assert at(kept(name), path) != value
    assert checked(name, path, json.dumps(value)) == ["fields"]


# --- watched loops ----------------------------------------------------------------------------------------


def noise_fact(record: Any) -> int:
    return next(place for place, fact in enumerate(record["training"]["facts"]) if fact["fact"] == "noise")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("clip",), 0.0),
        (("clip",), -1.0),
        (("clip",), "inf"),
        (("stated",), -2.0),
        (("stated",), "nan"),
        (("values",), 1),
        (("values",), 0),
        (("scale",), [0.5, 0.6]),
        (("scale",), None),
        (("step", "values"), 10**9),
    ],
    ids=str,
)
def test_a_scale_that_its_values_do_not_give_is_refused(path: Place, value: Any) -> None:
    pytest.importorskip("scipy")
    from dpaudit.review.check.listed import _noise

    record = kept("trained")
    training = evidence_of(record).training
    assert training is not None and not _noise(training, 1 - record["confidence"])
    changed = evidence_of(forged(record, ("training", *path), value)).training
    assert changed is not None and _noise(changed, 1 - record["confidence"])


def test_what_is_said_of_the_noise_is_its_scale() -> None:
    from dpaudit.review.check.listed import AS_CLAIMED, _noise

    record = kept("trained")
    place = noise_fact(record)
    fact = record["training"]["facts"][place]
    assert fact["name"] == AS_CLAIMED
    text = fact["text"].replace(f"{record['training']['values']:,}", "77")
    assert text != fact["text"]
    changed = evidence_of(forged(record, ("training", "facts", place, "text"), text)).training
    assert changed is not None and "is said" in _noise(changed, 1 - record["confidence"])


# --- accounts and traces ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claims",
    [
        ["epsilon=1", "epsilon=0.5, delta=0.01"],
        ["epsilon=0.5, delta=0.01", "epsilon=1"],
        ["epsilon=1", "epsilon=0.5, delta=0.01", "epsilon=0.6, delta=0.001"],
    ],
)
def test_an_honest_account_passes_whichever_claim_stands_first(claims: list[str]) -> None:
    """Where the first has no curve, as ε at δ = 0, the curve is that of the next."""
    pytest.importorskip("flint")
    evidence = dp.account(dp.accounting.Laplace(4).times(4), claim=claims, tolerance=0.05, alone=True)
    assert evidence.accounting is not None and evidence.accounting.curve is not None
    assert not [finding.sentence for finding in check(evidence) if finding.fails]


@pytest.mark.slow
def test_a_statement_that_stands_there_twice_is_refused() -> None:
    pytest.importorskip("flint")
    record = json.loads(dp.account(dp.accounting.Laplace(2).times(4), epsilon="1.9", alone=True).to_json())["evidence"]
    statements = at(record, ("accounting", "statements"))
    assert exit_code(check(evidence_of(record))) == 0
    assert exit_code(check(evidence_of(forged(record, ("accounting", "statements"), statements * 2)))) == 1


@pytest.mark.slow
def test_a_trace_that_finds_one_thing_twice_is_refused() -> None:
    record = json.loads(dp.trace("laplace", seed=1).to_json())["evidence"]
    findings = at(record, ("trace", "findings"))
    assert exit_code(check(evidence_of(record))) == 0
    assert exit_code(check(evidence_of(forged(record, ("trace", "findings"), findings * 2)))) == 1


# --- what the target says of itself -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        (("target", "asks"), "sampler", "kind"),
        (("target", "true_loss"), 2.0, "true loss"),
        (("pairs", 0, "digest0"), "0" * 64, "pairs"),
    ],
)
def test_what_the_target_says_otherwise_is_refused(path: Place, value: Any, what: str) -> None:
    record = kept("laplace", ROOT / "reports" / "evidence")
    assert exit_code(against(evidence_of(record), "laplace")) == 0
    found = list(against(evidence_of(forged(record, path, value)), "laplace"))
    assert what in [finding.what for finding in found if finding.fails]


def test_words_that_have_changed_are_told_and_refuse_nothing() -> None:
    record = forged(kept("laplace", ROOT / "reports" / "evidence"), ("target", "summary"), "Noise.")
    found = list(against(evidence_of(record), "laplace"))
    assert exit_code(found) == 0 and "summary" in [finding.what for finding in found if not finding.holds]
