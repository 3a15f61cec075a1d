"""Which JSON is an evidence file? A JSON Schema (draft 2020-12), made from the types of `dpaudit.evidence.evidence`.

    python -m dpaudit.evidence.schema            # writes dpaudit/evidence/evidence.schema.json
    python -m dpaudit.evidence.schema --check    # exit code 1 if it is not up to date

A member without a default is required; one with a default may be missing, as in files older than the member.
Infinities, NaN and integers beyond 2^53 are texts, as canonical JSON requires. The schema only describes the form;
whether the id belongs to the record is checked by `dpaudit check`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.evidence.canonical_json import write_whole
from dpaudit.evidence.evidence import BESIDE, VERSION, Evidence
from dpaudit.evidence.records import RunInfo

FILE = Path(__file__).with_name("evidence.schema.json")
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NULL = {"type": "null"}
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}
_INTEGER = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]{16,}$"}]}


def evidence_schema() -> dict[str, Any]:
    """Return the schema of an evidence file."""
    _, parts = msgspec.json.schema_components([Evidence, RunInfo], ref_template="#/$defs/{name}")
    parts = {name: _of(part) for name, part in sorted(parts.items())}
    record = parts["Evidence"]
    for member in BESIDE:
        del record["properties"][member]
    record["properties"]["version"] = {"const": VERSION}
    record["required"] = [*record["required"], "version"]
    return {
        "$schema": _DRAFT,
        "$id": f"urn:dpaudit:evidence:{VERSION}",
        "title": "Evidence of dpaudit",
        "description": "The record of an audit or a proof of a claim of differential privacy, with its content id.",
        "type": "object",
        "properties": {
            "id": {
                "description": "dpa1: and the SHA-256 of the RFC 8785 form of the member evidence, as it is written",
                "type": "string",
                "pattern": "^dpa1:[0-9a-f]{64}$",
            },
            "evidence": {"$ref": "#/$defs/Evidence"},
            "run": {"anyOf": [{"$ref": "#/$defs/RunInfo"}, {"type": "null"}]},
        },
        "required": ["id", "evidence", "run"],
        "additionalProperties": False,
        "$defs": {**parts, "integer": _INTEGER, "number": _NUMBER},
    }


def _of(part: Any) -> Any:
    """Return a part of msgspec's schema with numbers as evidence writes them, and without Python's own words."""
    if isinstance(part, list):
        # null last, wherever a version of msgspec puts it
        return sorted((_of(item) for item in part), key=lambda item: item == _NULL)
    if not isinstance(part, dict):
        return part
    if part.get("type") in ("number", "integer"):
        return {"$ref": f"#/$defs/{part['type']}"}
    schema = {key: _of(value) for key, value in part.items() if key not in ("default", "title", "properties")}
    if "properties" in part:
        schema["properties"] = {name: _of(member) for name, member in part["properties"].items()}
    if isinstance(part.get("description"), str):
        schema["description"] = " ".join(part["description"].split("\n\n")[0].split())
    return schema


def schema_text() -> str:
    """Return the content of the file."""
    return json.dumps(evidence_schema(), indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or report whether it is up to date."""
    if arguments == ["--check"]:
        return int(not FILE.is_file() or FILE.read_text(encoding="utf-8") != schema_text())
    write_whole(FILE, schema_text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
