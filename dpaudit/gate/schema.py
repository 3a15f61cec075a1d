"""What may stand in the configuration of a gate? The types of its keys, and the JSON Schema that editors read.

``dpaudit.schema.json`` beside this file is `json_schema` as text; ``python -m dpaudit.gate.schema`` writes it again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

SCHEMA_FILE = Path(__file__).with_name("dpaudit.schema.json")

Runs = Annotated[int, Meta(ge=100, description="Executions in all: both sides, learning and measuring, every pair.")]
Require = Annotated[
    Literal["audited", "proved"],
    Meta(description="What a target needs to pass: that no violation was found, or a proof that reaches its claim."),
]
Inconclusive = Annotated[
    Literal["report", "pass", "fail"],
    Meta(
        description="What an inconclusive target is: 'report' keeps it apart (exit code 3), 'pass' lets it pass, "
        "'fail' counts it as failed (exit code 3 too: 1 is for violations alone)."
    ),
]
FloatingPoint = Annotated[
    Literal["report", "verdict", "ignore"],
    Meta(description="What a leak through the low-order bits of doubles counts for."),
]
Types = Annotated[
    Literal["count", "ignore"],
    Meta(description="Whether an int is told apart from a float, a list from a tuple, and so on."),
]
Sequential = Annotated[bool, Meta(description="Stop as soon as the claim is rejected, instead of after all runs.")]
TimeLimit = Annotated[
    float,
    Meta(
        gt=0,
        le=86_400,
        description="Seconds that the runs of a target may take; a second look has twice as long to itself.",
    ),
]
MemoryLimit = Annotated[float, Meta(gt=0, description="MiB of memory that the process of a target may use.")]


class TargetSettings(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One ``[[tool.dpaudit.targets]]``. What is None is taken from the gate, or from the mechanism itself."""

    target: Annotated[
        str,
        Meta(
            min_length=1,
            description="A catalogue name, package.module:name or path/to/file.py:name, as seen from this file.",
        ),
    ]
    name: Annotated[str, Meta(min_length=1, description="Its name in tables, files and baseline.")] | None = None
    parameters: Annotated[dict[str, Any], Meta(description="Parameters; the others keep their defaults.")] = {}
    claim: Annotated[str, Meta(description="Such as 'epsilon=1, delta=1e-6'; else the mechanism's own.")] | None = None
    relation: Annotated[str, Meta(description="Such as 'add-remove'; else the mechanism's own.")] | None = None
    pairs: (
        Annotated[
            str | list[Any],
            Meta(
                description="Neighbouring datasets [[data0, data1], …], or the file that holds them (JSON), or a list "
                "of files (two .npy or .csv make a pair); else the mechanism's own."
            ),
        ]
        | None
    ) = None
    runs: Runs | None = None
    require: Require | None = None
    inconclusive: Inconclusive | None = None
    floating_point: FloatingPoint | None = None
    types: Types | None = None
    sequential: Sequential | None = None
    time_limit: TimeLimit | None = None
    memory_limit: MemoryLimit | None = None
    expect: Annotated[
        Literal["kept", "violated"],
        Meta(description="'violated' for a known mistake: the target fails when its violation is no longer found."),
    ] = "kept"
    learn: Annotated[str, Meta(description="A learner that competes with the built-in scores: 'trees'.")] | None = None
    length: (
        Annotated[int, Meta(ge=1, description="For a proof: how many answers the data hold; else any number.")] | None
    ) = None
    domain: (
        Annotated[str | list[Any], Meta(description="For a proof: 'real', 'integer', or all datasets that there are.")]
        | None
    ) = None


class GateSettings(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The table ``[tool.dpaudit]``, or a whole file of its own."""

    confidence: Annotated[
        float, Meta(gt=0, lt=1, description="Of the whole gate: 1 − the chance that any correct target fails.")
    ] = 0.95
    seed: (
        Annotated[
            int, Meta(ge=0, description="Root of every random draw; by default that of the commit, or a fresh one.")
        ]
        | None
    ) = None
    runs: Runs = 200_000
    require: Require = "audited"
    inconclusive: Inconclusive = "report"
    floating_point: FloatingPoint = "report"
    types: Types = "count"
    sequential: Sequential = False
    time_limit: TimeLimit = 120.0
    memory_limit: MemoryLimit = 2048.0
    context: Annotated[
        dict[str, Any],
        Meta(description="Answers for the registry of deployments; dpaudit report --context reads them."),
    ] = {}
    targets: Annotated[list[TargetSettings], Meta(min_length=1, description="What is held against its claim.")]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the table ``[tool.dpaudit]``."""
    schema = msgspec.json.schema(GateSettings)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of dpaudit gate",
        **schema,
    }


def schema_text() -> str:
    """Return the schema as it is shipped."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    from dpaudit.evidence.canonical_json import write_whole

    write_whole(SCHEMA_FILE, schema_text())
