"""Is the file for reviewers right about evidence, with nothing installed, and silent about nothing that it rests on?"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support.forgeries import BARE, FORGERIES, record_of
from support.forging import OLD, ROOT

import dpaudit as dp
from dpaudit.checker.__main__ import main
from dpaudit.checker.archive import built, contents, digest
from dpaudit.checker.evidence import UnreadableEvidenceError, canonical, check, content_id, exit_code
from dpaudit.review.check import check_file
from dpaudit.review.check import exit_code as code_of_check

BESIDE = {
    "a cell that is missing",
    "a larger detectable violation",
    "a search of nothing",
    "a search that is not there",
    "a violation is called none",  # of runs that were too few: what they would have found is not computed again
    "another reason",
    "another scale",  # in a counterexample; the counts alone show the violation
    "another scope",
    "assumptions of a proof",
    "called reproducible",
    "no assumptions",
    "the data of a pair",
}
"""The forgeries of what stands beside the verdict: only `dpaudit check` finds them."""
OTHER_CLAIM = {"a larger claim and its verdict", "no claim"}
"""What is true of another claim; only what stands beside it does not fit."""
UNSEEN = {"enumerated", "invalid", "one_run", "proved_at_delta", "refuted_infinite", "scores", "sequential"} | {
    "sequential_curve",
    "curve",
    "trained",
}
"""Kept evidence whose verdict rests on what is not computed again."""


@pytest.fixture(scope="module")
def check_pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "dpaudit-check.pyz"
    path.write_bytes(built())
    return path


def said(check_pyz: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(check_pyz), *names], capture_output=True, text=True, check=False
    )


def code_of(record: Any) -> int:
    try:
        return exit_code(list(check(json.dumps({"id": content_id(record), "evidence": record, "run": None}))))
    except UnreadableEvidenceError:
        return 2


@pytest.mark.slow
def test_kept_evidence_holds(check_pyz: Path) -> None:
    found = said(check_pyz, *map(str, OLD))
    parts = {part.splitlines()[0]: part for part in found.stdout.split(f"{OLD[0].parent}/") if part}
    assert {name.partition(".")[0] for name, part in parts.items() if "the verdict rests on:" in part} == UNSEEN
    assert all(", 0 fail," in part for part in parts.values()), found.stdout
    assert (found.returncode, len(parts)) == (3, len(OLD))
    green = said(check_pyz, str(ROOT / "tests/evidence/old/proved_without_runs.json"), "--quiet")
    assert (green.returncode, green.stdout, green.stderr) == (0, "", "")


@pytest.mark.slow
def test_a_refutation_of_which_one_bound_is_just_above_the_claim_holds() -> None:
    """What is certain needs no second look, however many bounds are above the claim without being sure."""
    evidence = dp.prove("svt_releasing_values", runs=100_000, seed=172759258127698)
    values = [attempt.bound.value for attempt in evidence.attempts]
    assert len(values) == 2 and all(value > 1 for value in values) and evidence.second is None
    record = json.loads(evidence.to_json())["evidence"]
    assert code_of(record) == 0
    del record["exact"], record["attempts"][1]  # nothing is sure any more
    found = list(check(json.dumps({"id": content_id(record), "evidence": record, "run": None})))
    assert any(each.holds is False and "second look" in each.sentence for each in found)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_verdict_never_passes(name: str) -> None:
    kept, change = FORGERIES[name]
    record = record_of(kept)
    change(record)
    assert (code_of(record) == 0) == (name in BESIDE | OTHER_CLAIM)


@pytest.mark.parametrize("name", BARE)
def test_a_bad_certificate_never_passes(name: str, tmp_path: Path) -> None:
    (tmp_path / "bare.json").write_bytes(BARE[name].encode("utf-8", "surrogateescape"))
    assert main([str(tmp_path / "bare.json")]) in (1, 2)


BOUND = ("attempts", 0, "bound")
CHANGES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a value": ("laplace_first", ("lower", "value", 0.5)),
    "counts": ("laplace_first", (*BOUND, "counts", "toward0", [0, 0])),
    "counts below 0": ("laplace_first", (*BOUND, "counts", "toward0", [-1, 0])),
    "counts that are no numbers": ("laplace_first", (*BOUND, "counts", "toward0", ["x", 0])),
    "a method": ("laplace_first", (*BOUND, "method", "multinomial")),
    "a method of a pure claim": ("gaussian", (*BOUND, "method", "guess")),
    "a weight": ("gaussian", (*BOUND, "weight", 0.0)),
    "a confidence": ("laplace_first", (*BOUND, "confidence", 1e-300)),
    "a confidence of the audit": ("laplace_first", ("confidence", 0.5)),
    "a confidence that is none": ("laplace_first", ("confidence", "0.95")),
    "a value that is none": ("laplace_first", ("lower", "value", "nan")),
    "a claim that is none": ("laplace_first", ("claim", "epsilon=nan")),
    "a claim that is two": ("laplace_first", ("claim", "epsilon=1, epsilon=9")),
    "a claim of two notions": ("laplace_first", ("claim", "epsilon=1, order=2")),
    "a false alarm of 0": ("two_pairs", ("false_alarm", 0.0)),
    "no attempts": ("laplace_first", ("attempts", [])),
    "a pair that was not measured": ("laplace_first", ("pairs", [{}, {}])),
    "another verdict": ("laplace_first", ("verdict", "private")),
    "a trace": ("laplace_first", ("trace", {"word": "leaks"})),
    "a member that nobody knows": ("laplace_first", ("nobody", 1)),
    "another version": ("laplace_first", ("version", 2)),
    "a version that is none": ("laplace_first", ("version", True)),
    "a bound of more": ("proved", ("upper", "value", 0.6)),
    "an open end": ("proved", ("proof", "comparison", {"open_ends": ["a line"]})),
    "10^13 runs": ("laplace_first", (*BOUND, "counts", "runs", [10**13, 10**13])),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_single_change_never_passes(name: str) -> None:
    kept, path = CHANGES[name]
    record = record_of(kept)
    assert code_of(record) == 0
    inner: Any = record
    for part in path[:-2]:
        inner = inner[part]
    inner[path[-2]] = path[-1]
    assert code_of(record) != 0


def test_an_account_is_held_against_its_certificates() -> None:
    import dpaudit as dp

    evidence = dp.account(dp.accounting.Gaussian("1.1").times(5), claim="mu=3")
    record = json.loads(evidence.to_json())["evidence"]
    assert code_of(record) == 3  # that the certificate is of these releases is not checked here
    record["accounting"]["statements"][0]["verdict"] = record["verdict"] = "violated"
    assert code_of(record) == 1


def test_an_infinite_epsilon_is_held_against_its_certificate() -> None:
    record = json.loads(dp.account(dp.accounting.Gaussian(2), claim="epsilon=2").to_json())["evidence"]
    assert (record["verdict"], code_of(record)) == ("violated", 3)
    record["accounting"]["statements"][0]["verdict"] = record["verdict"] = "proved"
    assert code_of(record) == 1


def test_the_same_tree_gives_the_same_small_file(check_pyz: Path) -> None:
    assert check_pyz.read_bytes() == built()
    assert len(check_pyz.read_bytes()) < 160_000
    assert sum(text.count(b"\n") for text in contents().values()) < 10_000  # for people to read


def test_a_reader_computes_the_digest_of_the_site(
    check_pyz: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "review.md").read_text(encoding="utf-8")
    monkeypatch.chdir(check_pyz.parent)
    exec(textwrap.dedent(page.partition("```python\n")[2].partition("```")[0]), {})
    assert capsys.readouterr().out.strip() == digest(contents())


def test_canonical_json_is_that_of_the_library() -> None:
    import rfc8785

    numbers = [0.0, -0.0, 1.0, 1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 0.1, 5e-324, 1.7976931348623157e308]
    values = {"b": [*numbers, -1.5e-9, 2**53 - 1, None, True], "é\n\u2028": '\x7f\x01\\"/𐀀', "𐀀": {}, "\ufb33": []}
    assert canonical(values) == rfc8785.dumps(values)


@pytest.mark.nightly
def test_of_a_page_the_evidence_is_checked(check_pyz: Path, tmp_path: Path) -> None:
    page = ROOT / "reports" / "pages" / "proved-sparse-vector.html"
    found = said(check_pyz, str(page))
    assert found.returncode == 3 and "not checked  page" in found.stdout and ", 0 fail," in found.stdout
    text = page.read_text(encoding="utf-8")
    (tmp_path / "two.html").write_text(text + text, encoding="utf-8")
    (tmp_path / "altered.html").write_text(text.replace('"verdict":"proved"', '"verdict":"no claim"'), encoding="utf-8")
    for name in ("two", "altered"):
        assert said(check_pyz, str(tmp_path / f"{name}.html")).returncode == 2


@pytest.mark.slow
def test_what_the_file_passes_the_check_passes() -> None:
    for file in sorted((ROOT / "reports" / "evidence").glob("*.json"))[::6]:
        if exit_code(list(check(file.read_text(encoding="utf-8")))) == 0:
            assert code_of_check(check_file(file)) == 0, file.stem
