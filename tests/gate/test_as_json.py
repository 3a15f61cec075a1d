"""Does the JSON of a gate say what came of every target, in JSON that any reader accepts?"""

from __future__ import annotations

import json
import math
from dataclasses import replace

import msgspec
from support import gate_results as made

from dpaudit.gate.drawn import gate_json


def refuse(text: str) -> None:
    raise ValueError(text)


def test_every_target_is_there_with_its_rule_and_numbers() -> None:
    result = made.gate(*made.targets())
    read = json.loads(gate_json(result), parse_constant=refuse)
    assert (read["format"], read["exit_code"]) == ("dpaudit-gate", result.exit_code)
    assert [(each["name"], each["rule"]) for each in read["targets"]] == [
        (each.name, str(each.rule)) for each in result.results
    ]
    for each, own in zip(read["targets"], result.results, strict=True):
        assert (each["evidence"] is None) == (own.evidence is None)
        if own.evidence is not None:
            assert (each["evidence"]["id"], each["evidence"]["lower"]) == (own.evidence.id, own.evidence.lower.value)


def test_an_infinite_bound_is_a_text() -> None:
    item = next(each for each in made.targets() if each.evidence is not None)
    assert item.evidence is not None
    lower = msgspec.structs.replace(item.evidence.lower, value=math.inf)
    result = made.gate(replace(item, evidence=msgspec.structs.replace(item.evidence, lower=lower)))
    assert json.loads(gate_json(result), parse_constant=refuse)["targets"][0]["evidence"]["lower"] == "inf"
