"""Does an old file stay what it was: the same id, the same meaning, and true, under every later dpaudit?"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.any_evidence import simple
from support.forging import OLD, ROOT

import dpaudit as dp
from dpaudit.evidence import evidence as versions
from dpaudit.evidence.canonical_json import content_id
from dpaudit.report.html.templates import embedded_json, unpacked
from dpaudit.review.check import check_file, passes

# files of 0.1.0, never to be changed: these ids may have been cited
IDS = {
    "classic_gaussian_large_epsilon": "dpa1:96f109c608773e5d41030e6729aaac0268ea78b795521864e2241f450ca832bf",
    "curve": "dpa1:d5931c032b82d3d23ddf3001be0d68f2530da4135597a0c4bf875b0122c99fce",
    "enumerated": "dpa1:a3b0d0f09ae0173e538e2aef6d5cad99218de184d51bff22ba94a8f1fa5fb850",
    "exponential": "dpa1:5ca401a077963fee16051ba3ab457adf12bfbb130d05e31d68817ab6a00f6c49",
    "float_laplace": "dpa1:bbe9c425c29c6cfef672a21941fb3eb03d6b88108455e760461575ac331f1454",
    "gaussian": "dpa1:6432521d5b09b657b5bafe969793e4ec2259f81b08d5375c01de827e542797eb",
    "invalid": "dpa1:a49278b110a6ee0a3d12b87dd84d86d7b2720c7ed38c477406c69780dc170d62",
    "laplace_first": "dpa1:82a71382bc4d16b4b2e49735ce25098acd55524bd686e44ba8f1d9d2b40ac306",
    "low_bits_decide": "dpa1:b3c7e7d7bee4b5f309edf8209cb448aca2296b1f74e4be1296882716e0b9be5d",
    "no_claim": "dpa1:9a340107ead0a97708e2e06f56727a0f71f8fb23886b9ffc118ec01924cfd80f",
    "one_run": "dpa1:8de148f3834b85e21fb890dfdaaace0ae6ffd9ae6d388c500c30e08812816dbb",
    "opaque": "dpa1:1413f26090c0c2f34bbe0744358949bbec4491ea2edbde4331252c82bb1b81e5",
    "outputs": "dpa1:49a8f70f901acf78ec3df3b869c9ee4d44637b140b3a3705bba6d6adec1e0be4",
    "proved": "dpa1:b2f8d022d4926cfc7b15cf17d3e321e0bbb8bf47a85056a421654bfd0e86afae",
    "proved_any_length": "dpa1:e8e450b284ec15aee3861e2e0d3b3ebceeda997402d635f80896d58b636e0606",
    "proved_at_delta": "dpa1:4cb7d372c978cfc735838e8f7d4fad9afef1f384f4df1ed06d744b33e4fdf4cc",
    "proved_from_records": "dpa1:fe3576add984af5989996d0b8ea5761d963a4745975f60517ac45c229a519655",
    "proved_without_runs": "dpa1:4538094349744b34f35aae0773e16770d93288d120bdb307e623248fa70aefb2",
    "randomised_response": "dpa1:54bf5bfcf55fb917d0cdbe7fba007fcb79d62acc6296e0f26a8b153826ddd0f7",
    "refuted": "dpa1:a1a940de99182fe59f2b8afac5057bb714414ec43d30ea60eda3c6cd3715842a",
    "refuted_infinite": "dpa1:7aedcf2dde02ad240d89a0cec522dbfa1d0f69046ca5b8353d40306d73782de4",
    "scores": "dpa1:299eef9b1d51a5929b513be3e10a4f1a56a0246755f1db792aecbbe1570cbdef",
    "searched": "dpa1:a8c185543899b0d34d8f25bb0adc3a74b4482f467ac5facf12797c677fad9e51",
    "searched_over_domain": "dpa1:6b0cb2d7edcdb838c6dc5fc6ed9d993270d20f7859b0e2b880416b03be48afa0",
    "seeded": "dpa1:3c813f8afc33576d3aeef4de2b2dba6f9f1ef0a5bb2e3ade00e99013cc87ddcd",
    "sequential": "dpa1:685bac42b423c2370c761a4622471e85ac946594e5b69a0f4323e0c5dde867db",
    "sequential_curve": "dpa1:47946ee5b0ae16f75c3749a902db2b36fa7f913755c7a1d5189529a123b33990",
    "svt_unscaled_noise": "dpa1:9ecf84a4f6324a22f09e62ece8fcce27f9386248cbe74e6cb0ca8de216de7238",
    "timed": "dpa1:e9e51d9870168aeb8c0258b5318701d13d46e67a28efa7c70ed204a621e16cdb",
    "trained": "dpa1:842c7e5d56ddede29c7316965b4d6bfff325715126cd6cb170ae1a82e4859d4a",
    "two_pairs": "dpa1:d061268599844dd43cf6e91ec12498619ce711756aadc0df92d8d920d50d9e9e",
    "zcdp": "dpa1:24318fc366659351e8076e9cbde3b9096250f34e41270da9c7e16d7e6e0e7e40",
}
REFERENCE = sorted((ROOT / "reports" / "evidence").glob("*.json"))


def named(file: Path) -> str:
    return file.stem


@pytest.mark.slow
def test_all_kinds_are_kept() -> None:
    assert {file.stem for file in OLD} == set(IDS)
    kept = [dp.Evidence.load(file) for file in OLD]
    assert {evidence.verdict for evidence in kept} == set(dp.Verdict)


@pytest.mark.parametrize("file", OLD, ids=named)
def test_an_old_file_keeps_its_id_and_its_words(file: Path) -> None:
    written = json.loads(file.read_text(encoding="utf-8"))
    evidence = dp.Evidence.load(file)
    assert evidence.id == written["id"] == IDS[file.stem]
    assert evidence.record() == written["evidence"]
    assert dp.Evidence.from_json(evidence.to_json()) == evidence
    held = embedded_json(evidence)
    assert json.loads(held if held.startswith("{") else unpacked(held))["id"] == written["id"]


@pytest.mark.parametrize("file", REFERENCE, ids=named)
@pytest.mark.slow
def test_the_committed_reports_keep_their_ids(file: Path) -> None:
    assert dp.Evidence.load(file).id == json.loads(file.read_text(encoding="utf-8"))["id"]


@pytest.mark.parametrize("file", OLD, ids=named)
@pytest.mark.slow
def test_an_old_file_still_holds(file: Path) -> None:
    assert [finding for finding in check_file(file) if finding.fails] == []


def test_changed_evidence_of_an_old_file_has_another_id() -> None:
    record = old_record()
    del record["low_bits"]
    old = dp.Evidence.from_json(text_of(record))  # as from before this member was there
    assert old.written is not None
    for change in ({"seed": 1}, {"learn": "trees"}, {"verdict": dp.Verdict.PROVED}):
        changed = msgspec.structs.replace(old, **change)
        assert changed.id != old.id
        (name, value), *_ = change.items()
        assert getattr(dp.Evidence.from_json(changed.to_json()), name) == value


# --- the rules --------------------------------------------------------------------------------------------


def old_record() -> dict[str, Any]:
    return json.loads((ROOT / "tests/evidence/old/randomised_response.json").read_text(encoding="utf-8"))["evidence"]


def text_of(record: dict[str, Any]) -> str:
    return json.dumps({"id": content_id(record), "evidence": record, "run": None})


def test_a_member_that_came_later_is_left_out_while_it_holds_its_default() -> None:
    evidence = simple()
    assert "asked" not in evidence.record()
    assert "bins" not in evidence.record()["lower"]["counts"]
    assert msgspec.structs.replace(evidence, asked=None).id == evidence.id
    asked = msgspec.structs.replace(evidence, asked=7)
    assert asked.record()["asked"] == 7
    assert asked.id != evidence.id


def test_a_later_member_at_its_default_may_also_be_written() -> None:
    record = {**old_record(), "asked": None}
    evidence = dp.Evidence.from_json(text_of(record))
    assert evidence.id == content_id(record) != content_id(old_record())  # over the record as it was written


def test_what_the_first_files_always_held_is_always_written() -> None:
    evidence = dp.Evidence.load(ROOT / "tests/evidence/old/randomised_response.json")
    assert {"upper", "learn", "assumptions", "version"} <= evidence.record().keys()
    assert {"weight", "counts", "exact"} <= evidence.record()["lower"].keys()


def every_struct() -> dict[str, type[msgspec.Struct]]:
    found: dict[str, type[msgspec.Struct]] = {}

    def look(kind: Any) -> None:
        if isinstance(kind, msgspec.inspect.StructType) and kind.cls.__name__ not in found:
            found[kind.cls.__name__] = kind.cls
            for member in kind.fields:
                look(member.type)
        for inner in (getattr(kind, name, None) for name in ("item_type", "value_type")):
            look(inner) if inner is not None else None
        for inner in (*getattr(kind, "types", ()), *getattr(kind, "item_types", ())):
            look(inner)

    look(msgspec.inspect.type_info(dp.Evidence))
    return found


FIRST = {
    "Attempt": "pair name bound considered",
    "Bound": "value side kind parameter notion confidence delta method",
    "Box": "low high",
    "Candidate": "family method predicted",
    "Cell": "label low high count0 count1",
    "Coordinate": "index",
    "Counterexample": "data0 data1 event probability0 probability1 record",
    "Counts": "runs toward0 toward1",
    "Event": "family rules",
    "Evidence": "target claim relation unit pairs seed confidence learning measuring verdict reason lower attempts "
    "histogram versions",
    "Extreme": "largest",
    "Histogram": "pair axis runs cells",
    "Linear": "center scale clips weights",
    "PairRecord": "digest0 digest1 origin",
    "Proof": "method scope length paths",
    "Reach": "index center",
    "Rows": "rows",
    "Rule": "form score edges labels",
    "RunInfo": "started duration host workers",
    "Step": "index",
    "Target": "name digest parameters asks reading",
    "Ties": "",
    "Tree": "feature threshold left right value",
    "Trees": "trees",
}


def test_members_are_only_added_with_a_default() -> None:
    """A member without one would make every older file unreadable, and one that went would change what it says."""
    now = every_struct()
    for name, members in FIRST.items():
        required = {member.name for member in msgspec.structs.fields(now[name]) if member.required}
        assert required == set(members.split()), f"{name}: give what is new a default, or raise the version"
    named = {versions.name_of(kind): kind for kind in now.values()}
    for name, always in versions._ALWAYS.items():
        assert always <= {member.name for member in msgspec.structs.fields(named[name])}


@pytest.mark.slow
def test_a_class_may_be_renamed() -> None:
    files = [dp.Evidence.load(path) for path in OLD]
    assert any(evidence.written is None for evidence in files)  # else ids are of what the files hold
    versions.name_of.cache_clear()
    kinds = every_struct()
    try:
        for name, kind in kinds.items():
            kind.__name__ = f"New{name}"
        assert [evidence.id for evidence in files] == [IDS[path.stem] for path in OLD]
    finally:
        for name, kind in kinds.items():
            kind.__name__ = name


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dpaudit whose version 2 calls the unit otherwise than version 1 did, where it was ``of``."""

    def step(record: dict[str, Any]) -> dict[str, Any]:
        return {**{name: value for name, value in record.items() if name != "of"}, "unit": record["of"]}

    monkeypatch.setattr(versions, "VERSION", 2)
    monkeypatch.setattr(versions, "_STEPS", {1: step})


@pytest.mark.usefixtures("next_version")
def test_a_file_of_an_older_version_is_read_by_its_step_and_keeps_its_id() -> None:
    record = old_record()
    record["of"] = record.pop("unit")
    evidence = dp.Evidence.from_json(text_of(record))
    assert (evidence.unit, evidence.version) == (record["of"], 2)
    assert evidence.id == content_id(record)
    assert dp.Evidence.from_json(evidence.to_json()).id == evidence.id
    assert msgspec.structs.replace(evidence, unit="another").id != evidence.id


@pytest.mark.usefixtures("next_version")
@pytest.mark.parametrize("version", [0, 3, 2.5, True, "1", None])
def test_a_version_without_a_step_is_refused(version: Any) -> None:
    with pytest.raises(dp.UsageError, match="has evidence version"):
        dp.Evidence.from_json(text_of({**old_record(), "version": version}))


@pytest.mark.usefixtures("next_version")
def test_a_step_that_meets_what_it_does_not_know_is_a_sentence() -> None:
    with pytest.raises(dp.UsageError, match="is not the evidence that this dpaudit reads"):
        dp.Evidence.from_json(text_of(old_record()))  # there is no member "of"


# --- hostile files ----------------------------------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("member", ["run", "written", "id"])
def test_members_beside_the_record_cannot_stand_in_it(member: str) -> None:
    with pytest.raises(dp.UsageError, match="is not the evidence that this dpaudit reads"):
        dp.Evidence.from_json(text_of({**old_record(), member: None}))


@pytest.mark.parametrize("depth", [10, 200, 400, 700, 900])
def test_deep_nesting_is_read_or_refused_with_a_sentence(depth: int) -> None:
    record = old_record()
    record["target"]["parameters"]["deep"] = nested(depth)
    try:
        text = text_of(record)
    except dp.UsageError:
        text = json.dumps({"id": "x", "evidence": record, "run": None})
    refused = said(lambda: dp.Evidence.from_json(text))
    assert refused is None or len(refused) < 500


def said(what: Callable[[], Any]) -> str | None:
    """The sentence with which something is refused; None where it is not."""
    try:
        what()
    except dp.UsageError as error:
        return str(error)
    return None


HOSTILE = {
    "a number beyond all floats": ('"seed": 0', '"seed": 1e999'),
    "an integer of many digits": ('"seed": 0', '"seed": ' + "9" * 5000),
    "a text of many digits": ('"seed": 0', f'"seed": "{"9" * 5000}"'),
    "a count that is NaN": ('"seed": 0', '"seed": NaN'),
    "a claim of many digits": ('"claim": "epsilon=1"', f'"claim": "epsilon={"9" * 5000}"'),
    "a claim that is none": ('"claim": "epsilon=1"', '"claim": "__import__(1)"'),
    "a member twice": ('"seed": 0', '"seed": 0, "seed": 0'),
    "counts beyond 64 bits": ('"runs": [', f'"runs": ["{10**40}", "{10**40}"], "unknown": ['),
    "a version of another kind": ('"version": 1', '"version": [[1]]'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_a_sentence(name: str, tmp_path: Path) -> None:
    text = json.dumps({"evidence": old_record(), "run": None, "id": ""})
    before, after = HOSTILE[name]
    assert before in text
    text = text.replace(before, after, 1)
    with contextlib.suppress(dp.UsageError, ValueError):
        text = text.replace('"id": ""', f'"id": "{content_id(json.loads(text)["evidence"])}"')
    path = tmp_path / "hostile.json"
    path.write_text(text, encoding="utf-8")
    refused = said(lambda: check_file(path))
    if refused is None:
        assert not passes(check_file(path))
    else:
        assert len(refused) < 1000


def test_huge_counts_are_no_crash(tmp_path: Path) -> None:
    record = old_record()
    for bound in (record["lower"], record["attempts"][0]["bound"]):
        bound["counts"] = {"runs": [10**15, 10**15], "toward0": [10**15, 0], "toward1": [0, 10**15]}
    path = tmp_path / "huge.json"
    path.write_text(text_of(record), encoding="utf-8")
    assert not passes(check_file(path))
