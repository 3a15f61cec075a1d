"""Does a check end soon, whatever counts a file states, and never pass what it did not compute?"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id, json_values
from dpaudit.review.check import check, exit_code

ROOT = Path(__file__).resolve().parents[2]
COUNTED = ("runs", "toward0", "toward1", "bins")
FILES = ["old/exponential", "old/gaussian", "old/two_pairs", "old/curve", "old/scores", "old/one_run", "old/sequential"]
ODDS = "reports/evidence/above_threshold.json"


def times(value: Any, factor: int) -> Any:
    """The same record, with counts that are so many times as large."""
    if isinstance(value, dict):
        return {name: counts(item, factor) if name in COUNTED else times(item, factor) for name, item in value.items()}
    return [times(item, factor) for item in value] if isinstance(value, list) else value


def counts(value: Any, factor: int) -> Any:
    if isinstance(value, list):
        return [counts(item, factor) for item in value]
    return value * factor if type(value) is int else times(value, factor)


def checked(file: Path, factor: int) -> int:
    record = times(json.loads(file.read_text(encoding="utf-8"))["evidence"], factor)
    record |= {name: record[name] * factor for name in ("learning", "measuring")}
    record = json_values(record)
    evidence = dp.Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))
    clock = time.perf_counter()
    code = exit_code(check(evidence))
    assert time.perf_counter() - clock < 6
    return code


@pytest.mark.parametrize("factor", [10**13, 10**30, 10**350])
@pytest.mark.parametrize("name", FILES)
def test_huge_counts_are_not_checked(name, factor):
    assert checked(Path(__file__).parent / f"{name}.json", factor) == 3


def test_an_event_that_is_bounded_by_its_odds_is_rare():
    assert checked(ROOT / ODDS, 1) == 0
    assert checked(ROOT / ODDS, 100_000) == 3


def test_outcomes_are_enumerated_for_few_runs_alone():
    assert checked(Path(__file__).parent / "old" / "scores.json", 1_000) == 3
