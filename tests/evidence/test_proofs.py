"""Does every kind of proof prove, record, check and read again, and does nothing pass that contradicts itself?"""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.forging import at, forged, is_unrevealed, kind_of, unrevealed
from support.nightly import mostly_at_night
from support.proofs import HONEST, proved, target_of

import dpaudit as dp
from dpaudit.checker.archive import built
from dpaudit.checker.tree import LAWS
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import NOT_ACCEPTED
from dpaudit.review.check import check, check_file, exit_code
from dpaudit.review.check.against import against
from dpaudit.verify.proofs import KINDS, check_proof

pytest.importorskip("pandas")
pytest.importorskip("flint")
pytestmark = pytest.mark.slow

Record = dict[str, Any]


@pytest.fixture(autouse=True)
def beside_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is named as it is seen from the working directory."""
    monkeypatch.chdir(Path(__file__).parents[1] / "support")


def record_of(name: str) -> Record:
    found: Record = json.loads(proved(name).to_json())["evidence"]
    return found


def code_of(record: Record) -> int:
    """The exit code of a check of a record, under an id that fits."""
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    try:
        return exit_code(check(Evidence.from_json(text)))
    except dp.UsageError:
        return 2


# --- honest proofs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_at_night(HONEST, every=6))
def test_a_proof_is_recorded_checked_and_read_again(name: str, tmp_path: Path) -> None:
    evidence = proved(name)
    assert evidence.verdict is dp.Verdict.PROVED, evidence.reason
    assert not check_proof(evidence).unseen
    evidence.save(tmp_path / "proof.json")
    again = Evidence.load(tmp_path / "proof.json")
    assert again == evidence and again.id == evidence.id
    findings = check_file(tmp_path / "proof.json", target=target_of(name))
    assert exit_code(findings) == 0, [str(each) for each in findings if not each.holds]
    assert any(each.holds and each.what == "program" for each in findings)


@pytest.mark.nightly
def test_there_is_an_honest_proof_of_every_kind_and_every_certificate() -> None:
    found = [proved(name).proof for name in HONEST]
    assert {proof.method for proof in found} == set(KINDS)
    kinds = {(proof.certificate or {}).get("kind") for proof in found}
    assert {"tree", "fold", "selection", "releases", "moves"} <= kinds


SOME = [*dict.fromkeys([*[*HONEST][::6], "bit"])]  # one that was enumerated is among them


@pytest.mark.parametrize("honest", mostly_at_night([SOME, [*HONEST]]), ids=["some", "all"])
def test_the_file_for_reviewers_accepts_all_of_them(tmp_path: Path, honest: list[str]) -> None:
    file = tmp_path / "dpaudit-check.pyz"
    file.write_bytes(built())
    names = []
    for number, name in enumerate(honest):
        names.append(str(tmp_path / f"{number}.json"))
        proved(name).save(names[-1])
    found = subprocess.run([sys.executable, "-I", "-S", str(file), *names], capture_output=True, text=True, check=False)
    laws = sum(1 for name in honest if name in ("bit", "bits", "tuples of one bit"))  # that were enumerated
    assert (found.returncode, found.stdout.count("the verdict rests on:")) == (3, laws), found.stdout + found.stderr


@pytest.mark.parametrize("name", ["values", "fold of a file", "bit", "count"])
def test_another_program_is_not_that_of_the_record(name: str, tmp_path: Path) -> None:
    """The same evidence, of a file in which the noise is half as large: the code differs, and the program does."""
    source = Path(target_of(name).partition(":")[0]).read_text(encoding="utf-8")
    for before, after in (
        ("noise.laplace(1 /", "noise.laplace(0.5 /"),
        ("laplace(2)", "laplace(1)"),
        ("=0.75", "=0.8"),
    ):
        source = source.replace(before, after)
    other = tmp_path / "other.py"
    other.write_text(source, encoding="utf-8")
    proved(name).save(tmp_path / "proof.json")
    findings = check_file(tmp_path / "proof.json", target=f"{other}:{HONEST[name][0].partition(':')[2]}")
    assert {"code", "program"} - ({"program"} if name == "bit" else set()) <= {
        each.what for each in findings if each.fails
    }


# --- what the checker does not accept ---------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["epsilon=1", None])
def test_a_law_that_the_checker_does_not_know_proves_nothing(
    claim: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(LAWS, "gumbel")
    evidence = dp.prove(target_of("no counterexample"), length=3, relation="queries", claim=claim, runs=0, seed=1)
    assert (evidence.upper, evidence.proof.certificate) == (None, None)
    assert evidence.proof.is_refused
    assert evidence.verdict is (dp.Verdict.INCONCLUSIVE if claim else dp.Verdict.NO_CLAIM)
    if claim:
        assert f"a bound was found; {NOT_ACCEPTED} node 0: no draw 'gumbel'" in evidence.reason
    assert exit_code(check(evidence)) == 0


def test_a_counterexample_whose_tree_the_checker_cannot_read_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"length": 2, "relation": "queries(norm=1)", "runs": 0, "seed": 1, "claim": "epsilon=0.25"}
    assert dp.prove(target_of("values"), **asked).verdict is dp.Verdict.VIOLATED
    monkeypatch.delitem(LAWS, "laplace")
    evidence = dp.prove(target_of("values"), **asked)
    assert (evidence.exact, evidence.counterexample) == (None, None)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE
    assert exit_code(check(evidence)) == 0


@pytest.mark.parametrize("name", mostly_at_night(HONEST))
def test_a_proof_that_is_refused_is_not_proved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the kind: all of them pass the one place in which the check of the record decides."""
    from dpaudit.checker import CertificateError

    def refused(*_: Any) -> None:
        raise CertificateError("the checker is in a bad mood")

    monkeypatch.setattr("dpaudit.verify.proofs.kind.check_certificate", refused)
    monkeypatch.setattr("dpaudit.verify.proofs.domains.check_record", refused)
    options = {"claim": "epsilon=1", **HONEST[name][1]}
    evidence = dp.prove(target_of(name), runs=0, seed=1, **options)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE
    assert "bad mood" in evidence.reason and evidence.upper is None


def test_laws_that_are_too_long_to_be_written_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss of the worst pair stays certain, from below."""
    monkeypatch.setattr("dpaudit.verify.exact._MOST_LETTERS", 10)
    options = {**HONEST["bits"][1], "runs": 0, "seed": 1}
    evidence = dp.prove(target_of("bits"), **options)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE and evidence.upper is None
    assert evidence.exact is not None and evidence.exact.exact == "ln(3)"
    assert "no other pair of the domain is worse is not in the file" in evidence.reason
    assert exit_code(check(evidence)) == 0
    assert dp.prove(target_of("bits"), **{**options, "claim": "epsilon=1"}).verdict is dp.Verdict.VIOLATED


# --- forged proofs ----------------------------------------------------------------------------------------


def others(value: Any) -> list[Any]:
    """Other values that somebody may write in a place."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value + 16, 10**9]
    if isinstance(value, float):
        return [value + 0.5, 1e300, "nan"]
    if isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+)?", value):
        return [str(int(value.partition("/")[0]) + 1), value + "0", "1" + "0" * 70]
    if isinstance(value, str):
        return [value + "x", ""]
    if isinstance(value, list):
        return [value + value[-1:], value[:-1]] if value else [[1]]
    if isinstance(value, dict):
        return [{name: inner for name, inner in value.items() if name != left} for left in list(value)[:3]]
    return [1, "x"]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(found for key, each in inner for found in places(each, (*path, key)))]


OMITTED = {  # of which something may be left out
    "proof", "target", "pairs.*", "counterexample.record.nodes.*.leaf", "proof.certificate.columns",
}  # fmt: skip
NAMES = "proof.certificate.every.*.*"
"""Datasets whose names show no data are no neighbours of any: that they were not compared is said (3)."""
EXCUSED = ("confidence", "proof.prices", "proof.certificate.account.low")


@cache
def kinds_of(name: str) -> dict[str, list[tuple[Any, ...]]]:
    """The places of each kind in a record."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for path in places(record_of(name)):
        found[kind_of(path)].append(path)
    return found


def is_tried_in(name: str, kind: str) -> bool:
    """Whether a kind of place is tried in this record: in one of all with one kind of proof and certificate."""

    def sort_of(one: str) -> tuple[str, Any]:
        proof = proved(one).proof
        return proof.method, (proof.certificate or {}).get("kind")

    alike = [each for each in HONEST if sort_of(each) == sort_of(name) and kind in kinds_of(each)]
    return name == random.Random(kind).choice(alike)


@pytest.mark.usefixtures("remembering")
@pytest.mark.parametrize("name", mostly_at_night(HONEST, stay=set([*HONEST][::2]) - {"accounted for"}))
def test_evidence_that_contradicts_itself_fails(name: str) -> None:
    """A place of every kind, with other values: what passes stands in the table of UNREVEALED.md."""
    record, chance = record_of(name), random.Random(name)
    assert code_of(record) == 0
    patterns = [*unrevealed(), *EXCUSED]
    tried, unseen = 0, []
    for kind, paths in kinds_of(name).items():
        if is_unrevealed(paths[0], patterns) or kind in OMITTED or kind.startswith("versions"):
            continue
        if not is_tried_in(name, kind):
            continue
        path = chance.choice(paths)
        for other in others(at(record, path)):
            tried += 1
            if code_of(forged(record, path, other)) not in (1, 2, *([3] if kind == NAMES else [])):
                unseen.append((kind, at(record, path), other))
    assert not unseen, unseen
    assert tried


def test_a_proof_of_another_program_is_none_of_this_one() -> None:
    """All that is proved of one program, in the evidence of others."""
    records = {name: record_of(name) for name in HONEST}
    members, chance = ("proof", "upper", "exact", "counterexample"), random.Random(1)
    for name, record in records.items():
        for other in chance.sample(sorted(records.keys() - {name}), 3):
            swapped = {**record, **{each: copy.deepcopy(records[other].get(each)) for each in members}}
            assert code_of(swapped) in (1, 2), (name, other)


CONTRADICTIONS: dict[str, tuple[str, Callable[[Record], None]]] = {
    "a narrower domain in the certificate": (
        "sum over some",
        lambda record: record["proof"]["certificate"]["columns"][0].update(values=[["number", "10"]]),
    ),
    "a wider domain than that of the certificate": (
        "sum over some",
        lambda record: record["proof"].update(domain=record["proof"]["domain"].replace("25.5", "55.5")),
    ),
    "a column that the domain does not declare": (
        "sum over some",
        lambda record: record["proof"].update(domain=record["proof"]["domain"].replace("bmi", "b")),
    ),
    "columns of other data": ("count", lambda record: record["proof"].update(columns=["b", "c"])),
    "columns of which nothing is read, unsaid in the scope": (
        "count",
        lambda record: record["proof"].update(columns=[*json.loads(record["proof"]["domain"]), "notes"]),
    ),
    "no domain": ("count", lambda record: record["proof"].pop("domain")),
    "seventeen paths of one": ("count", lambda record: record["proof"].update(paths=17)),
    "a thousand million runs": ("count", lambda record: record["proof"]["comparison"].update(runs=10**9)),
    "more paths compared than there are": ("fold", lambda record: record["proof"]["comparison"].update(compared=10**6)),
    "no pair": ("count", lambda record: record.update(pairs=[])),
    "two pairs": ("count", lambda record: record.update(pairs=record["pairs"] * 2)),
    "another name": ("count", lambda record: record["target"].update(name="releases.py:other")),
    "another name of the certificate": (
        "values",
        lambda record: record["proof"]["certificate"]["mechanism"].update(name="proofs.py:other"),
    ),
    "no name in the certificate": (
        "values",
        lambda record: record["proof"]["certificate"]["mechanism"].update(name=""),
    ),
    "another method": ("count", lambda record: record["proof"].update(method="alignment")),
    "a method that there is none of": ("count", lambda record: record["proof"].update(method="faith")),
    "another δ": ("accounted for", lambda record: record["proof"]["certificate"].update(delta="1/1000000")),
    "an account of another format": (
        "accounted for",
        lambda record: record["proof"]["certificate"]["account"].update(version=2),
    ),
    "a claim of another notion": ("gaussian, μ", lambda record: record.update(claim="rho=0.708")),
    "another worst pair": ("bit", lambda record: record["proof"]["certificate"].update(pair=["1", "1"])),
    "laws of another program": (
        "bit",
        lambda record: record["proof"]["certificate"]["mechanism"].update(source="sha256:" + "0" * 64),
    ),
    "a domain that was not enumerated": (
        "tuples of one bit",
        lambda record: record["proof"].update(domain='[{"$tuple":[0]},{"$tuple":[2]}]'),
    ),
    "no path compared": ("above threshold", lambda record: record["proof"]["comparison"].update(compared=0)),
    "half of the paths compared": ("noisy max", lambda record: record["proof"]["comparison"].update(compared=1)),
    "no path of a fold compared": ("fold", lambda record: record["proof"]["comparison"].update(compared=0)),
    "no run of records compared": ("count", lambda record: record["proof"]["comparison"].update(runs=0)),
    "no run of records at all": (
        "cities",
        lambda record: record["proof"]["comparison"].update(runs=0, passed_over=48),
    ),
    "no path of records": ("count", lambda record: record["proof"]["comparison"].update(paths=0)),
    "no path of records, at δ": (
        "accounted for",
        lambda record: record["proof"]["comparison"].update(paths=0),
    ),
    "a declared column that the certificate does not name": (
        "count",
        lambda record: record["proof"]["certificate"]["columns"].pop(),
    ),
    "a column that nobody asked about": (
        "cities",
        lambda record: record["proof"].update(domain='{"pay":{"$tuple":[0,9]},' + record["proof"]["domain"][1:]),
    ),
    "a kept pair of another name": (
        "tuples of one bit",
        lambda record: record["proof"]["certificate"]["pair"].__setitem__(0, "(0,)x"),
    ),
    "not all was read": (
        "count",
        lambda record: record["proof"]["comparison"].update(open_ends=["line 3 was never run"]),
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_does_not_pass(name: str) -> None:
    kept, change = CONTRADICTIONS[name]
    record = record_of(kept)
    before = json.dumps(record)
    change(record)
    assert json.dumps(record) != before
    assert code_of(record) == 1


@pytest.mark.parametrize(("told", "instead"), [("120", "220"), ("bern", "basel")])
def test_a_proof_is_of_the_domain_that_is_stated_also_where_nothing_hangs_on_it(told: str, instead: str) -> None:
    def release(people: Any, noise: Any) -> Any:
        return people["age"].clip(0, 100).sum() + noise.laplace(100)

    domain = {"age": (0, 120), "city": ["bern", "oslo"]}
    evidence = dp.prove(release, domain=domain, relation="add-remove", claim="epsilon=1", runs=0, seed=1)
    assert exit_code(check(evidence)) == 0
    stated = evidence.proof.domain.replace(told, instead)
    forged = msgspec.structs.replace(evidence, proof=msgspec.structs.replace(evidence.proof, domain=stated))
    assert any(each.fails and "other values of" in each.sentence for each in check(forged))


@pytest.mark.parametrize(
    ("column", "named"),
    [
        (list(range(1_001)), False),
        (list(range(1_000)), True),
        ([*range(1_000), None], True),
    ],
)
def test_a_column_of_very_many_values_may_go_unnamed(column: list[Any], named: bool) -> None:
    def release(people: Any, noise: Any) -> Any:
        return len(people) + noise.laplace(1)

    domain = {"age": (0, 120), "id": column}
    evidence = dp.prove(release, domain=domain, relation="add-remove", claim="epsilon=1", runs=0, seed=1)
    assert evidence.verdict is dp.Verdict.PROVED
    assert [each["name"] for each in evidence.proof.certificate["columns"]] == ["age", *(["id"] if named else [])]
    assert exit_code(check(evidence)) == 0


@pytest.mark.parametrize("high", [999, 1_000, 20_000])
def test_a_column_of_very_many_whole_numbers_may_go_unnamed(high: int) -> None:
    import pandas

    def release(people: Any, noise: Any) -> Any:
        return len(people) + noise.laplace(1)

    data = pandas.DataFrame({"age": [1.0, 2.0], "id": [1, 2]})
    domain = {"age": (0, 120), "id": (0, high)}
    evidence = dp.prove(release, data=data, domain=domain, relation="add-remove", claim="epsilon=1", runs=0, seed=1)
    assert evidence.verdict is dp.Verdict.PROVED and evidence.proof.whole == ("id",)
    assert len(evidence.proof.certificate["columns"]) == (2 if high == 999 else 1)
    assert exit_code(check(evidence)) == 0


def test_what_may_go_unnamed_and_unsought_is_what_a_proof_leaves_so() -> None:
    from dpaudit.program.agreement import MOST_PATHS
    from dpaudit.verify.proofs import answers, releases
    from dpaudit.verify.releases import read

    assert (releases.MOST_STATED, answers.MOST_SOUGHT) == (read.MOST_STATED, MOST_PATHS)


def test_another_tree_of_a_counterexample_is_not_that_of_the_program() -> None:
    """A fold is proved for any length, and its counterexample is a tree of some: both are read again."""
    record = record_of("couplings")
    nodes = record["counterexample"]["record"]["nodes"]
    place = next(place for place, node in enumerate(nodes) if "leaf" in node)
    path = ("counterexample", "record", "nodes", place, "leaf")
    forgery = forged(record, path, [*at(record, path)[:-1], ["float", {"q0": "1"}]])
    text = json.dumps({"id": content_id(forgery), "evidence": forgery, "run": None})
    (found,) = [each for each in against(Evidence.from_json(text), "prefix_sum") if each.what == "program"]
    assert found.fails
    honest = Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))
    assert all(each.holds for each in against(honest, "prefix_sum") if each.what == "program")


@pytest.mark.parametrize("member", ["low", "events", "at"])
def test_another_account_of_releases_is_not_that_of_the_program(member: str) -> None:
    record = record_of("accounted for")
    path = ("proof", "certificate", "account", member)
    value = at(record, path)
    other = value[:-1] if isinstance(value, list) else "0" if member == "low" else "1/200000"
    evidence = Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))
    changed = forged(evidence.proof.certificate, path[2:], other)
    evidence = msgspec.structs.replace(evidence, proof=msgspec.structs.replace(evidence.proof, certificate=changed))
    (found,) = [each for each in against(evidence, target_of("accounted for")) if each.what == "program"]
    assert found.fails
