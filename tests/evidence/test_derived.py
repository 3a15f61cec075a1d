"""Is a proof whose certificate derives its bound from the records checked as any other, wherever it is stated?"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.derived_certificates import column, op, release, total
from support.proofs import proved

import dpaudit as dp
from dpaudit.checker import check_certificate
from dpaudit.checker.archive import built
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check, exit_code
from dpaudit.verify.releases.alone import prices_alone

pytest.importorskip("pandas")
pytest.importorskip("flint")

Record = dict[str, Any]
AGE = {
    "name": "age", "type": "float64", "low": "0", "high": "120", "values": None, "missing": False,
    "cells": [["number", "0"], ["open", "0", "120"], ["number", "120"]],
}  # fmt: skip
CITIES = [["text", city] for city in ("bern", "oslo", "rome")]
CITY = {
    "name": "city", "type": "text", "low": None, "high": None, "values": CITIES, "missing": False, "cells": CITIES,
}  # fmt: skip


@pytest.fixture(scope="module")
def record() -> Record:
    """Evidence of a count of all records and a sum of their ages, with a certificate of version 2."""
    found: Record = json.loads(proved("count").to_json())["evidence"]
    proof = found["proof"]
    lines = [each["line"] for each in proof["certificate"]["releases"]]
    given = {name: proof["certificate"][name] for name in ("format", "kind", "mechanism", "scope", "notion", "delta")}
    proof["certificate"] = {
        **given,
        "version": 2,
        "bound": "1",
        "columns": [AGE, CITY],
        "expressions": [],
        "rows": [{"kind": "all"}],
        "numbers": [total()],
        "samples": [],
        "releases": [{**release("laplace", "1"), "line": lines[0]}],
        "paths": [[0]],
    }
    proof["prices"] = list(prices_alone(proof["certificate"]))
    return found


def written(record: Record) -> str:
    return json.dumps({"id": content_id(record), "evidence": record, "run": None})


def code_of(record: Record) -> int:
    try:
        return exit_code(check(Evidence.from_json(written(record))))
    except dp.UsageError:
        return 2


def test_it_is_checked_in_place_and_by_the_file_for_reviewers(record: Record, tmp_path: Path) -> None:
    assert record["proof"]["prices"] == ["epsilon=1"]
    assert code_of(record) == 0, [str(each) for each in check(Evidence.from_json(written(record))) if not each.holds]
    file, evidence = tmp_path / "check.pyz", tmp_path / "proof.json"
    file.write_bytes(built())
    evidence.write_text(written(record), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", file, evidence], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def narrower(record: Record) -> None:
    record["proof"]["certificate"]["columns"][0] |= {
        "high": "1", "cells": [["number", "0"], ["open", "0", "1"], ["number", "1"]],
    }  # fmt: skip


def other_values(record: Record) -> None:
    record["proof"]["certificate"]["columns"][1] |= {"values": CITIES[:2], "cells": CITIES[:2]}


def undeclared(record: Record) -> None:
    record["proof"]["certificate"]["columns"][1]["name"] = "town"


def never_missing(record: Record) -> None:
    record["proof"]["certificate"]["columns"][0] |= {"missing": True, "cells": [*AGE["cells"], ["missing"]]}


def other_prices(record: Record) -> None:
    record["proof"]["prices"] = ["epsilon=1/2"]


def other_relation(record: Record) -> None:
    record["proof"]["certificate"]["scope"]["relation"] = "replace"


def other_bound(record: Record) -> None:
    record["proof"]["certificate"]["releases"][0]["scale"] = "2"
    record["proof"]["certificate"]["bound"] = "1/2"


def more_paths(record: Record) -> None:
    record["proof"]["certificate"]["paths"] = [[0]] * 50


def another_name(record: Record) -> None:
    record["proof"]["certificate"]["mechanism"]["name"] = "other"


def another_version(record: Record) -> None:
    record["proof"]["certificate"]["version"] = 3


CONTRADICTIONS = [
    narrower, other_values, undeclared, never_missing, other_prices, other_relation, other_bound, more_paths,
    another_name, another_version,
]  # fmt: skip


@pytest.mark.parametrize("change", CONTRADICTIONS)
def test_what_the_certificate_and_the_evidence_state_otherwise_fails(change: Any, record: Record) -> None:
    other = copy.deepcopy(record)
    change(other)
    assert code_of(other) != 0


def test_what_is_taken_for_granted_stands_in_the_statement() -> None:
    lengths = op("table", 0, values=[["number", "4"]] * 3, by="pandas 3.0", what=".str.len()")
    given = {
        "format": "dpaudit-certificate", "version": 2, "kind": "releases", "mechanism": {"name": "f", "source": ""},
        "scope": {"data": "records", "relation": "add-remove", "group": 1, "person": None, "parameters": {}},
        "notion": "epsilon", "delta": "0", "bound": "1", "columns": [CITY], "expressions": [column(0), lengths],
        "rows": [{"kind": "all"}], "numbers": [total(1)], "samples": [], "releases": [release("laplace", "4")],
        "paths": [[0]],
    }  # fmt: skip
    checked = check_certificate(given)
    assert checked.statement == "ε ≤ 1, given that pandas 3.0 computes .str.len() (1 table)"
    assert checked.statement in checked.sentences[0]
