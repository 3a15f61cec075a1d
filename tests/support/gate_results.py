"""Which results test the formats of a gate? One target for every rule, and hostile ones, made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.gate.result import BaselineComparison, GateResult, Location, Outcome, OutcomeRule, TargetResult
from support import made_evidence as made

SCHEMAS = Path(__file__).parent.parent / "data" / "schemas"
HOSTILE = (
    made.HOSTILE
    + "\x00\x07\ufffe\ud800 | `code` **bold** [link](https://example.org) ![x](y) {0} "
    + "@someone #1 www.example.org\n# head"
)
PLACE = Location("src/some folder/release.py", 12)


def schema(name: str) -> Any:
    """A JSON schema of tests/data/schemas."""
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def targets() -> list[TargetResult]:
    """Return one target for every rule, in the order of `OutcomeRule`."""
    return [
        TargetResult(
            "counts",
            "release.py:counts",
            Outcome.PASSED,
            OutcomeRule.PASSED,
            "not violated: ε ≥ 0.98 of 1",
            made.laplace(),
            PLACE,
            ("unchanged since the baseline",),
            cached=True,
            seconds=0.004,
        ),
        TargetResult(
            "sum",
            "release.py:sum",
            Outcome.FAILED,
            OutcomeRule.CLAIM_VIOLATED,
            "ε ≥ 2.252 exceeds the claimed 1",
            made.categories(),
            Location("release.py", 3),
            seconds=1.23456,
        ),
        TargetResult(
            "mean",
            "release.py:mean",
            Outcome.FAILED,
            OutcomeRule.LEAKIER,
            "the event lost more than before",
            made.laplace(),
            PLACE,
            comparison=BaselineComparison((0.5, 0.61239), (0.99871, 1.2)),
        ),
        TargetResult(
            "svt", "svt", Outcome.FAILED, OutcomeRule.NOT_PROVED, "no proof reaches ε = 1", made.above_the_claim()
        ),
        TargetResult(
            "broken",
            "broken",
            Outcome.FAILED,
            OutcomeRule.VIOLATION_MISSING,
            "expected violated, found none",
            made.laplace(),
            PLACE,
        ),
        TargetResult(
            "median",
            "release.py:median",
            Outcome.INCONCLUSIVE,
            OutcomeRule.INCONCLUSIVE,
            "too few runs",
            made.inconclusive(),
            PLACE,
            ("give it more runs",),
        ),
        TargetResult(
            "stuck",
            "release.py:stuck",
            Outcome.INVALID,
            OutcomeRule.RUNS_INVALID,
            "the same sequence twice",
            made.invalid(),
            PLACE,
        ),
        TargetResult(
            "gone", "nowhere.py:gone", Outcome.INVALID, OutcomeRule.CANNOT_RUN, "there is no file 'nowhere.py'"
        ),
    ]


def hostile() -> TargetResult:
    """Return a target in which every text contains something that some format would interpret."""
    return TargetResult(
        HOSTILE,
        HOSTILE,
        Outcome.FAILED,
        OutcomeRule.CLAIM_VIOLATED,
        HOSTILE,
        made.hostile(),
        Location("a b/<i>&%20 ü\ud800.py", 0),
        (HOSTILE,),
        seconds=float("nan"),
    )


def gate(*results: TargetResult, **changes: Any) -> GateResult:
    """Return a gate with these targets."""
    return replace(GateResult(results, 0.95, 0, 12.3456), **changes)


def whole() -> GateResult:
    """Return a gate with a target for every rule, and hostile ones with and without evidence."""
    bare = replace(hostile(), evidence=None, location=None, outcome=Outcome.INVALID, rule=OutcomeRule.CANNOT_RUN)
    return gate(*targets(), hostile(), replace(bare, name=HOSTILE + "2"))
