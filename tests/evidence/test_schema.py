"""Is the published schema that of the files that are written, and do docstrings name every member?"""

from __future__ import annotations

import copy
import importlib.util
import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from support.any_evidence import evidence as any_evidence
from support.any_evidence import simple
from support.forging import OLD, ROOT

import dpaudit as dp
from dpaudit.evidence.schema import FILE, _of, evidence_schema, main

SCHEMA = evidence_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
REFERENCE = sorted((ROOT / "reports" / "evidence").glob("*.json"))

LATER_KINDS = {  # of audits that the first files did not know, or with later members
    "curve", "enumerated", "laplace_first", "one_run", "proved_any_length", "proved_at_delta", "proved_from_records",
    "trained", "outputs", "scores", "searched", "searched_over_domain", "sequential", "sequential_curve",
    "timed", "zcdp",
}  # fmt: skip


def test_the_published_file_is_up_to_date(tmp_path, monkeypatch):
    assert main(["--check"]) == 0, "run: python -m dpaudit.evidence.schema"
    monkeypatch.setattr("dpaudit.evidence.schema.FILE", tmp_path / "schema.json")
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert (tmp_path / "schema.json").read_bytes() == FILE.read_bytes()


@pytest.mark.parametrize("other", [{"type": "string"}, {"type": "number"}, {"$ref": "#/$defs/Bound"}])
def test_every_version_of_msgspec_makes_the_same_schema(other):
    assert _of({"anyOf": [{"type": "null"}, other]}) == _of({"anyOf": [other, {"type": "null"}]})


@pytest.mark.slow
def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("file", [*OLD, *REFERENCE], ids=lambda file: file.stem)
@pytest.mark.slow
def test_every_kept_file_keeps_to_it(file):
    VALIDATOR.validate(json.loads(file.read_text(encoding="utf-8")))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(any_evidence)
@pytest.mark.slow
def test_whatever_is_written_keeps_to_it(evidence: dp.Evidence):
    VALIDATOR.validate(json.loads(evidence.to_json()))


@pytest.mark.parametrize(
    "change",
    [
        lambda doc: doc.update(note=1),
        lambda doc: doc.pop("run"),
        lambda doc: doc.update(id="dpa1:"),
        lambda doc: doc["evidence"].pop("lower"),
        lambda doc: doc["evidence"].pop("version"),
        lambda doc: doc["evidence"].update(version=2),
        lambda doc: doc["evidence"].update(run=None),
        lambda doc: doc["evidence"].update(written=None),
        lambda doc: doc["evidence"].update(verdict="private"),
        lambda doc: doc["evidence"].update(seed="0"),
        lambda doc: doc["evidence"].update(seed=0.5),
        lambda doc: doc["evidence"]["lower"].update(value="infinite"),
        lambda doc: doc["evidence"]["lower"].update(extra=1),
        lambda doc: doc["evidence"]["pairs"][0].pop("origin"),
    ],
)
def test_what_is_no_evidence_does_not(change: Any):
    document = copy.deepcopy(simple().document())
    VALIDATOR.validate(document)
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(document)


# --- the list of the site, which is made of docstrings ---


@pytest.fixture(scope="module")
def page() -> dict[str, str]:
    """What the list says of each record."""
    spec = importlib.util.spec_from_file_location("lists", ROOT / "docs" / "lists.py")
    lists = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lists)
    parts = re.split(r"^### (.+)$", lists.members(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_docstring_of_a_record_names_every_member_and_no_other(page: dict[str, str]):
    structs = {name: set(part["properties"]) for name, part in SCHEMA["$defs"].items() if "properties" in part}
    assert page.keys() == structs.keys()
    for name, members in structs.items():
        rows = [line.split("|")[1] for line in page[name].splitlines() if line.startswith("| `")]
        named = {member for row in rows for member in re.findall(r"`(\w+)`", row)}
        scored = "type" in members or name == "Tree"  # their formula names them
        assert named == (set() if scored else members), name
        words = {*re.findall(r"\w+", page[name]), *re.findall(r"[a-z]+", page[name])}
        assert members - {"type"} <= words, name


def test_the_list_calls_later_what_came_later(page: dict[str, str]):
    early = [file for file in OLD if file.stem not in LATER_KINDS]
    first = {name for file in early for name in json.loads(file.read_text(encoding="utf-8"))["evidence"]}
    rows = [line for line in page["Evidence"].splitlines() if line.startswith("| `")]
    for row in rows:
        members = set(re.findall(r"`(\w+)`", row.split("|")[1]))
        assert ("(later)" in row) == bool(members - first), row
