"""Is the record whole: the same id after every journey, and none after any change?"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from support.any_evidence import evidence as any_evidence
from support.any_evidence import simple

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id, plain_value, write_whole
from dpaudit.evidence.records import RunInfo, round_outward

drawn = settings(derandomize=True, max_examples=50, deadline=None)


# --- journeys ---


@drawn
@given(any_evidence)
@pytest.mark.slow
def test_evidence_has_the_same_id_after_it_was_written_and_read(evidence: dp.Evidence) -> None:
    read = dp.Evidence.from_json(evidence.to_json())
    assert read.id == evidence.id
    assert read.to_json() == evidence.to_json()


@drawn
@given(any_evidence)
@pytest.mark.nightly
def test_the_id_is_the_hash_of_the_canonical_json_of_the_member_evidence(evidence: dp.Evidence) -> None:
    document = json.loads(evidence.to_json())
    assert list(document) == ["id", "evidence", "run"]
    canonical = rfc8785.dumps(document["evidence"])
    assert document["id"] == "dpa1:" + hashlib.sha256(canonical).hexdigest() == evidence.id


@drawn
@given(any_evidence)
@pytest.mark.slow
def test_any_other_layout_of_the_same_json_is_the_same_evidence(evidence: dp.Evidence) -> None:
    # the canonical form writes 1.0 as 1 and 1e16 as 10000000000000000, and sorts the members
    document = evidence.document()
    run = json.dumps(document["run"])
    canonical = f'{{"run": {run}, "evidence": {rfc8785.dumps(document["evidence"]).decode()}, "id": "{evidence.id}"}}'
    assert dp.Evidence.from_json(canonical).id == evidence.id


def test_saving_and_loading(tmp_path: Path) -> None:
    evidence = simple()
    evidence.save(tmp_path / "e.json")
    assert dp.Evidence.load(tmp_path / "e.json") == evidence
    assert dp.Evidence.load(str(tmp_path / "e.json")).run == evidence.run
    marked = "\ufeff" + (tmp_path / "e.json").read_text(encoding="utf-8")  # some editors add a mark
    (tmp_path / "e.json").write_text(marked, encoding="utf-8")
    assert dp.Evidence.load(tmp_path / "e.json").id == evidence.id


@pytest.mark.slow
def test_the_id_does_not_depend_on_the_process() -> None:
    code = "import json, sys; from dpaudit.evidence.evidence import content_id; print(content_id(json.load(sys.stdin)))"
    record = json.dumps(simple().record())
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=record,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert printed == {simple().id}


# --- what the id covers ---

COVERED: dict[str, Any] = {
    "target": msgspec.structs.replace(simple().target, digest="cd" * 32),
    "claim": "epsilon=2",
    "relation": "replace",
    "unit": "one household",
    "pairs": (),
    "seed": 1,
    "confidence": 0.9,
    "learning": 101,
    "measuring": 301,
    "verdict": dp.Verdict.VIOLATED,
    "reason": "Something was found.",
    "lower": msgspec.structs.replace(simple().lower, value=0.6),
    "attempts": (),
    "versions": {"dpaudit": "0.2.0"},
    "upper": simple().lower,
    "floating_point": simple().lower,
    "low_bits": "verdict",
    "detectable": 1.5,
    "reproducible": False,
    "assumptions": ("none",),
}


@pytest.mark.parametrize("member", COVERED)
def test_the_id_covers(member: str) -> None:
    assert simple(**{member: COVERED[member]}).id != simple().id


def test_the_id_leaves_out_when_where_and_with_how_many_workers() -> None:
    assert simple(run=None).id == simple(run=RunInfo("later", 9.0, "elsewhere", 8)).id == simple().id


def test_evidence_is_frozen() -> None:
    with pytest.raises(AttributeError):
        simple().seed = 1  # type: ignore[misc]
    with pytest.raises(AttributeError):
        simple().lower.value = 0.0  # type: ignore[misc]


# --- numbers ---


def test_infinities_and_large_integers_are_text() -> None:
    lower = msgspec.structs.replace(simple().lower, value=math.inf)
    evidence = simple(lower=lower, seed=2**53 + 1, learning=2**53, detectable=-math.inf)
    record = json.loads(evidence.to_json())["evidence"]
    assert (record["lower"]["value"], record["detectable"]) == ("inf", "-inf")
    assert (record["seed"], record["learning"]) == ("9007199254740993", "9007199254740992")
    assert (simple(seed=2**53 - 1).record()["seed"]) == 2**53 - 1
    read = dp.Evidence.from_json(evidence.to_json())
    assert read == evidence
    assert read.seed == 2**53 + 1


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["lower", "upper"]))
def test_bounds_are_rounded_outward_to_ten_digits(value: float, side: Any) -> None:
    rounded = round_outward(value, side)
    assert rounded <= value if side == "lower" else rounded >= value
    if math.isfinite(rounded):
        assert abs(Fraction(rounded) - Fraction(value)) <= abs(Fraction(value)) / 10**9 + Fraction(5e-324)
    if abs(value) > 1e-300 and math.isfinite(rounded):
        assert len(Decimal(repr(rounded)).normalize().as_tuple().digits) <= 10
    assert round_outward(rounded, side) == rounded


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_what_cannot_be_rounded_stays(side: Any) -> None:
    assert round_outward(math.inf, side) == math.inf
    assert math.isnan(round_outward(math.nan, side))
    assert round_outward(0.0, side) == 0.0
    with pytest.raises(KeyError):
        round_outward(1.0, "middle")  # type: ignore[arg-type]


def test_parameters_become_json_values() -> None:
    class Odd:
        pass

    given_values = [np.float64(0.5), np.int32(3), np.bool_(True), np.array(2), math.nan, (1, {2: "a"}), Odd()]
    shown = [plain_value(value) for value in given_values]
    assert shown[:6] == [0.5, 3, True, 2, "nan", [1, {"2": "a"}]]
    assert [type(value) for value in shown[:4]] == [float, int, bool, int]
    assert plain_value(Odd()) == plain_value(Odd())  # no address
    assert json.dumps(shown)


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    evidence = simple(reason="a lone \ud800 surrogate")
    evidence.save(tmp_path / "e.json")
    assert dp.Evidence.load(tmp_path / "e.json").id == evidence.id


# --- bad files ---


def broken(change: Any) -> str:
    document = json.loads(simple().to_json())
    changed = change(document)
    return json.dumps(document if changed is None else changed)


def rehashed(change: Any) -> str:
    document = json.loads(simple().to_json())
    change(document["evidence"])
    document["id"] = content_id(document["evidence"])
    return json.dumps(document)


NO_EVIDENCE = {
    "nothing": "",
    "no JSON": "{",
    "a number": "3",
    "a list": "[]",
    "no members": "{}",
    "one member missing": broken(lambda doc: doc.pop("run") and None),
    "one member more": broken(lambda doc: doc.update(note="fine")),
    "a record that is a list": broken(lambda doc: doc.update(evidence=[])),
    "no version": broken(lambda doc: doc["evidence"].pop("version") and None),
    "a member twice": simple().to_json().replace('"verdict":', '"verdict": "proved",\n  "verdict":', 1),
    "NaN": simple().to_json().replace('"seed": 0', '"seed": NaN', 1),
    "nested too deep": "[" * 100_000,
}


@pytest.mark.parametrize("case", NO_EVIDENCE)
def test_what_is_no_evidence_file_is_refused(case: str) -> None:
    with pytest.raises(dp.UsageError, match=r"^x\.json is no evidence file: .* id, evidence and run"):
        dp.Evidence.from_json(NO_EVIDENCE[case], name="x.json")


@pytest.mark.parametrize("version", [2, 0, "1", None])
def test_an_unknown_version_is_refused(version: Any) -> None:
    text = broken(lambda doc: doc["evidence"].update(version=version))
    with pytest.raises(dp.UsageError, match=f"version {version!r}; this dpaudit reads version 1"):
        dp.Evidence.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda doc: doc["evidence"].update(verdict="proved"),
        lambda doc: doc["evidence"].update(note="fine"),
        lambda doc: doc["evidence"]["lower"].update(value=0.4),
        lambda doc: doc["evidence"]["lower"]["counts"].update(toward0=[91, 40]),
        lambda doc: doc["evidence"]["target"]["parameters"].update(epsilon=2),
        lambda doc: doc.update(id="dpa1:" + "0" * 64),
        lambda doc: doc.update(id=doc["id"].removeprefix("dpa1:")),
    ],
)
def test_altered_evidence_is_refused(change: Any) -> None:
    with pytest.raises(dp.UsageError, match=r"altered after it was written: it says '.*' but its record hashes to"):
        dp.Evidence.from_json(broken(change))


@pytest.mark.slow
@drawn
@given(st.data())
def test_no_digit_of_the_record_can_be_changed(data: st.DataObject) -> None:
    text = simple().to_json()
    start, end = text.index('"evidence"'), text.index('"run"')
    places = [place for place in range(start, end) if text[place].isdigit()]
    place = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from("0123456789").filter(lambda digit: digit != text[place]))
    with pytest.raises(dp.UsageError):
        dp.Evidence.from_json(text[:place] + other + text[place + 1 :])


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(note="fine"),
        lambda record: record.update(verdict="fine"),
        lambda record: record.update(seed="0"),
        lambda record: record.update(learning=1.5),
        lambda record: record.update(reproducible="true"),
        lambda record: record.pop("lower"),
        lambda record: record["lower"].update(extra=1),
    ],
)
def test_a_record_of_another_make_is_refused_even_with_its_own_id(change: Any) -> None:
    with pytest.raises(dp.UsageError, match="is not the evidence that this dpaudit reads"):
        dp.Evidence.from_json(rehashed(change))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes("é".encode("latin-1"))
    for name in ("none.json", "latin.json", "."):
        with pytest.raises(dp.UsageError, match="cannot read the evidence") as refusal:
            dp.Evidence.load(tmp_path / name)
        assert repr(str(tmp_path / name)) in str(refusal.value)


# --- writing ---


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "e.json"
    write_whole(target, "old")

    def fails(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["e.json"]


def test_a_file_keeps_its_rights_and_a_new_one_gets_the_usual(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    (tmp_path / "plain").touch()
    write_whole(new, "x")
    write_whole(old, "x")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link_and_a_device_stays_a_device(tmp_path: Path) -> None:
    real, link, device = tmp_path / "real", tmp_path / "link", tmp_path / "device"
    real.touch()
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    device.symlink_to(os.devnull)
    write_whole(device, "new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "e.json", tmp_path / ("e" * 300)):
        with pytest.raises(dp.UsageError, match="cannot write") as refusal:
            simple().save(path)
        assert repr(str(path)) in str(refusal.value)
