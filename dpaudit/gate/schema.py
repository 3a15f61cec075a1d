"""What may the configuration of a gate contain? The types of its keys, and the JSON Schema for editors.

``dpaudit.schema.json`` next to this file is `json_schema` as text; ``python -m dpaudit.gate.schema`` writes it.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from dpaudit.gate.result import Acceptance, OutcomeRule
from dpaudit.request import AuditRequest, Option, ProofRequest, Request, TrainingRequest, default_of, options_of

OPTIONS = {name: option for name, option in options_of(TrainingRequest).items() if option.gate == "table"}
"""Of the watch, in the table of a training target; all others are those of the target, or of the gate."""
KEYS = ("function", *OPTIONS)
"""What the table of a training target may say."""

SCHEMA_FILE = Path(__file__).with_name("dpaudit.schema.json")

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
TimeLimit = Annotated[
    float,
    Meta(
        gt=0,
        le=86_400,
        description="Seconds after which a target that hangs is ended; a second look has twice as long to itself. "
        "It is no budget: runs are counted, so that a busy machine decides nothing.",
    ),
]
MemoryLimit = Annotated[float, Meta(gt=0, description="MiB of memory that the process of a target may use.")]

_PAIRS = Annotated[
    str | list[Any],
    Meta(
        description="Neighbouring datasets [[data0, data1], …], or the file that holds them (JSON), or a list of files "
        "(two .npy or .csv make a pair); else the mechanism's own."
    ),
]
_Training = Annotated[
    str | dict[str, Any],
    Meta(
        description="In place of a target: a function that trains a model, as path/to/file.py:name, whose loop is "
        f"watched; or a table with it and options of `dpaudit train` ({', '.join(KEYS)}), such as "
        '{ function = "train.py:train", sigma = 1.1, clip = 1.0 }.'
    ),
]
_TYPES: dict[str, Any] = {
    "text": str,
    "flag": bool,
    "count": Annotated[int, Meta(ge=1)],
    "assignment": dict[str, Any],
}
_IN_OTHER_WORDS: dict[str, Any] = {  # options with another form than in Python
    "pairs": _PAIRS,
    "data": Annotated[
        str,
        Meta(
            min_length=1,
            description="In place of pairs: one dataset, whose neighbours are searched for the pair that reveals most, "
            "as `dpaudit audit --data` does: a .csv, .parquet, .npy or .json file.",
        ),
    ],
    "runs": Annotated[int, Meta(ge=100, description=options_of(AuditRequest)["runs"].help)],
    "given": Annotated[
        str | list[str],
        Meta(
            description="Of lines that are not read, by how much the value moves that each assigns, "
            "'release.py:7 moves by 1': what is proved is proved given that."
        ),
    ],
    "domain": Annotated[
        str | list[Any] | dict[str, Any],
        Meta(
            description="What each column may hold, { age = [0, 120] }, where a text is JSON, as in '[1, null]'; "
            "beside data that are plain values, [0, 120]. For a proof also 'real' or 'integer' answers, or all "
            "datasets that there are."
        ),
    ],
}
_OWN_USUAL = {"runs": 200_000}  # defaults that differ from those of an audit


def offered(*gates: str) -> dict[str, tuple[type[Request], Option]]:
    """Return the options of audits and proofs whose `Option.gate` is one of these, by name."""
    offers: dict[str, tuple[type[Request], Option]] = {}
    for kind in (AuditRequest, ProofRequest):
        for name, option in options_of(kind).items():
            if option.gate in gates:
                offers.setdefault(name, (kind, option))
    return offers


def _type(name: str, option: Option) -> Any:
    if name in _IN_OTHER_WORDS:
        return _IN_OTHER_WORDS[name]
    kind = Literal[option.allowed] if option.kind == "choice" else _TYPES[option.kind]
    return Annotated[kind, Meta(description=option.help)]


def usual(name: str) -> Any:
    """Return the default of an option in a gate."""
    kind, _ = offered("shared", "target")[name]
    return _OWN_USUAL.get(name, default_of(kind, name))


class Accept(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A finding that is known and may stay until a day: its outcome is "accepted", and it is shown everywhere."""

    rule: Annotated[
        Literal["claim-violated", "leakier-than-baseline", "not-proved", "inconclusive"],
        Meta(description="Which finding: the rule that the gate shows beside it. Runs that failed found nothing."),
    ]
    until: Annotated[datetime.date, Meta(description="The last day on which it is accepted (UTC), as 2027-03-31.")]
    why: Annotated[str, Meta(min_length=1, pattern=r"\S", description="The reason, for everyone who reads the result.")]
    up_to: (
        Annotated[
            float,
            Meta(gt=0, description="Of a violated claim: the largest lower bound that is accepted, as ε or its like."),
        ]
        | None
    ) = None

    @property
    def acceptance(self) -> Acceptance:
        """The same as a value of results."""
        return Acceptance(OutcomeRule(self.rule), self.until, " ".join(self.why.split()), self.up_to)


class _OfTargets(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """What a gate itself says of one ``[[tool.dpaudit.targets]]``."""

    target: Annotated[
        str,
        Meta(
            min_length=1,
            description="A catalogue name, package.module:name or path/to/file.py:name, as seen from this file.",
        ),
    ] = ""
    account: (
        Annotated[
            str | dict[str, Any],
            Meta(
                description="In place of a target: releases to account for, as a plan file (.toml), or a table such as "
                '{ mechanism = "gaussian", sigma = 1.1, rate = 0.004, steps = 14000 }.'
            ),
        ]
        | None
    ) = None
    training: _Training | None = None
    trace: Annotated[
        bool,
        Meta(
            description="Follow the noise of a few runs first, as `dpaudit trace` does: what is certain decides, other "
            "findings stand beside the verdict, with their lines. Nightly bets do without."
        ),
    ] = False
    name: Annotated[str, Meta(min_length=1, description="Its name in tables, files and baseline.")] | None = None
    parameters: Annotated[dict[str, Any], Meta(description="Parameters; the others keep their defaults.")] = {}
    require: Require | None = None
    inconclusive: Inconclusive | None = None
    time_limit: TimeLimit | None = None
    memory_limit: MemoryLimit | None = None
    expect: Annotated[
        Literal["kept", "violated"],
        Meta(description="'violated' for a known mistake: the target fails when its violation is no longer found."),
    ] = "kept"
    accept: Annotated[
        Accept | None,
        Meta(
            description="A finding that may stay for now: { rule = 'claim-violated', until = 2027-03-31, why = '…' }. "
            "The target is 'accepted' and fails nothing through that day; its finding is shown all the same."
        ),
    ] = None


class _OfGates(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """What a gate itself says once, for all of its targets."""

    confidence: Annotated[
        float, Meta(gt=0, lt=1, description="Of the whole gate: 1 − the chance that any correct target fails.")
    ] = 0.95
    seed: (
        Annotated[
            int, Meta(ge=0, description="Root of every random draw; by default that of the commit, or a fresh one.")
        ]
        | None
    ) = None
    require: Require = "audited"
    inconclusive: Inconclusive = "report"
    time_limit: TimeLimit = 3_600.0
    memory_limit: MemoryLimit = 2048.0
    context: Annotated[
        dict[str, Any],
        Meta(description="Answers for the registry of deployments; dpaudit report --context reads them."),
    ] = {}


if TYPE_CHECKING:

    class TargetSettings(_OfTargets, frozen=True):
        """One ``[[tool.dpaudit.targets]]``, with the options of audits and proofs."""

        def __getattr__(self, name: str) -> Any:
            """Return an option of an audit or a proof."""

    class GateSettings(_OfGates, frozen=True):
        """The table ``[tool.dpaudit]``, with the options that its targets share."""

        targets: list[TargetSettings]

        def __getattr__(self, name: str) -> Any:
            """Return an option of an audit."""

else:
    _STRICT = {"forbid_unknown_fields": True, "kw_only": True, "frozen": True, "module": __name__}
    TargetSettings = msgspec.defstruct(
        "TargetSettings",
        [
            (name, _type(name, option) | None, None)
            for name, (_, option) in offered("shared", "target").items()
            if name != "parameters"
        ],
        bases=(_OfTargets,),
        namespace={
            "__doc__": "One ``[[tool.dpaudit.targets]]``. What is None is that of the gate, or the mechanism's own."
        },
        **_STRICT,
    )
    GateSettings = msgspec.defstruct(
        "GateSettings",
        [
            *((name, _type(name, option), usual(name)) for name, (_, option) in offered("shared").items()),
            (
                "targets",
                Annotated[list[TargetSettings], Meta(min_length=1, description="What is held against its claim.")],
            ),
        ],
        bases=(_OfGates,),
        namespace={"__doc__": "The table ``[tool.dpaudit]``, or a whole file of its own."},
        **_STRICT,
    )


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
