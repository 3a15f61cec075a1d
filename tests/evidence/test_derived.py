"""Is a proof whose certificate derives its bound from the records checked as any other, wherever it is stated?"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import derived_certificates as made
from support.derived_certificates import column, op, release, total
from support.proofs import proved

import dpaudit as dp
from dpaudit.checker import check_certificate
from dpaudit.checker.archive import built
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check, exit_code

pytest.importorskip("pandas")
pytest.importorskip("flint")

Record = dict[str, Any]


@pytest.fixture(scope="module")
def record() -> Record:
    """Evidence of a count of all records and a sum of their ages, whose bound is computed from the columns on."""
    found: Record = json.loads(proved("count").to_json())["evidence"]
    assert found["proof"]["derived"]["version"] == 2
    return found


def written(record: Record) -> str:
    return json.dumps({"id": content_id(record), "evidence": record, "run": None})


def code_of(record: Record) -> int:
    try:
        return exit_code(check(Evidence.from_json(written(record))))
    except dp.UsageError:
        return 2


@pytest.mark.slow
def test_it_is_checked_in_place_and_by_the_file_for_reviewers(record: Record, tmp_path: Path) -> None:
    findings = list(check(Evidence.from_json(written(record))))
    assert exit_code(findings) == 0, [str(each) for each in findings if not each.holds]
    assert any("What a record adds was computed again" in each.sentence for each in findings)
    file, evidence = tmp_path / "check.pyz", tmp_path / "proof.json"
    file.write_bytes(built())
    evidence.write_text(written(record), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", file, evidence], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def narrower(derived: Record) -> None:
    derived["columns"][0] |= {"high": "1", "cells": None}


def undeclared(derived: Record) -> None:
    derived["columns"][0]["name"] = "town"


def one_column_less(derived: Record) -> None:
    derived["columns"].pop()


def may_be_missing(derived: Record) -> None:
    derived["columns"][0] |= {"missing": True}


def other_relation(derived: Record) -> None:
    derived["scope"]["relation"] = "replace"


def other_noise(derived: Record) -> None:
    derived["releases"][0]["scale"] = "2"
    derived["bound"] = "1/2"


def fewer_paths(derived: Record) -> None:
    derived["paths"] = [[]]


def another_name(derived: Record) -> None:
    derived["mechanism"]["name"] = "other"


def another_version(derived: Record) -> None:
    derived["version"] = 3


def another_notion(derived: Record) -> None:
    derived["notion"], derived["bound"] = "rho", "1/2"


CONTRADICTIONS = [
    narrower, undeclared, one_column_less, may_be_missing, other_relation, other_noise, fewer_paths, another_name,
    another_version, another_notion,
]  # fmt: skip


@pytest.mark.parametrize("change", CONTRADICTIONS)
def test_what_the_certificate_and_the_evidence_state_otherwise_fails(change: Any, record: Record) -> None:
    other = copy.deepcopy(record)
    change(other["proof"]["derived"])
    assert other != record
    assert code_of(other) != 0


@pytest.mark.slow
def test_a_proof_of_another_kind_has_none(record: Record) -> None:
    other = json.loads(proved("above threshold").to_json())["evidence"]
    other["proof"]["derived"] = record["proof"]["derived"]
    assert code_of(other) != 0


def test_what_is_taken_for_granted_stands_in_the_statement() -> None:
    lengths = op("table", 0, values=[["number", "4"]] * 3, by="pandas 3.0", what=".str.len()")
    given = {
        "format": "dpaudit-certificate", "version": 2, "kind": "releases", "mechanism": {"name": "f", "source": ""},
        "scope": {"data": "records", "relation": "add-remove", "group": 1, "person": None, "parameters": {}},
        "notion": "epsilon", "delta": "0", "bound": "1", "columns": [made.CITY], "expressions": [column(0), lengths],
        "rows": [{"kind": "all"}], "numbers": [total(1)], "samples": [], "releases": [release("laplace", "4")],
        "paths": [[0]],
    }  # fmt: skip
    checked = check_certificate(given)
    assert checked.statement == "ε ≤ 1, given that pandas 3.0 computes .str.len() (1 table)"
    assert checked.statement in checked.sentences[0]
