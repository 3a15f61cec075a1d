"""Does `dpaudit check` hold its two checkers against each other, where node is installed?"""

import json
from pathlib import Path

import pytest
from support import made_certificates as made
from support import made_releases as releases

from dpaudit.evidence.evidence import Evidence
from dpaudit.report import html_page
from dpaudit.review.check import against
from dpaudit.review.check.finding import CheckResult

OLD = Path(__file__).resolve().parents[1] / "evidence" / "old"


@pytest.fixture
def said(tmp_path):
    """What the checker with a theorem says of a document, or of a text: the answer and the sentence, or None."""

    def say(given):
        file = tmp_path / "file"
        file.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
        found = list(against.by_theorem(file))
        assert len(found) <= 1
        return (found[0].answer, found[0].sentence, found[0].decides) if found else None

    return say


@pytest.mark.slow
def test_two_checkers_agree_on_a_certificate_evidence_and_a_page(node, said):
    text, records = ((OLD / f"{name}.json").read_text(encoding="utf-8") for name in ("proved", "proved_from_records"))
    for given in (made.laplace(), text, records, html_page(Evidence.load(OLD / "proved.json"), script=False)):
        answer, sentence, _ = said(given)
        assert answer is CheckResult.HOLDS
        assert sentence.startswith("two independent checkers agree; the one with a theorem proves ε ≤ ")


def test_both_refuse_what_is_forged(node, said):
    answer, sentence, _ = said(made.laplace() | {"bound": "1/2"})
    assert answer is CheckResult.FAILS
    assert "agree" in sentence and "does not show ε ≤ 1/2" in sentence


@pytest.mark.slow
def test_a_disagreement_fails_and_says_which(node, said, monkeypatch):
    answer, sentence, _ = said(made.laplace() | {"bound": "2"})  # true, but not what the Python checker asks for
    assert answer is CheckResult.FAILS
    assert sentence.startswith(
        "two checkers disagree: the Python one refuses it, for the shifts show the bound 1, not 2; the other proves"
    )
    monkeypatch.setattr(against, "check_certificate", lambda certificate: None)
    answer, sentence, _ = said(made.laplace() | {"bound": "1/2"})
    assert answer is CheckResult.FAILS
    assert "disagree: the Python one accepts it; the other says that" in sentence


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            releases.certificate([releases.release("noisy_max", "1", releases.COUNT)], "1"),
            "releases of the law noisy_max",
        ),
        (made.laplace() | {"kind": "selection"}, "does not cover this kind, selection"),
        (releases.pure()[0] | {"notion": "rho"}, "does not cover this kind, releases of another notion than ε"),
    ],
)
def test_what_is_not_covered_decides_nothing(node, said, given, sentence):
    answer, text, decides = said(given)
    assert (answer, decides) == (CheckResult.NOT_CHECKED, False)
    assert sentence in text


@pytest.mark.parametrize("given", ["", "{", "[1]", "<html>", '{"evidence": 3}', '{"evidence": {"proof": null}}'])
def test_nothing_is_said_of_a_file_without_a_certificate(said, given):
    assert said(given) is None


def test_without_node_it_says_so_and_decides_nothing(said, monkeypatch):
    monkeypatch.setattr(against, "node", lambda: None)
    answer, sentence, decides = said(made.laplace())
    assert (answer, decides) == (CheckResult.NOT_CHECKED, False)
    assert "node is not installed" in sentence


@pytest.mark.parametrize(
    "script",
    ["process.exit(1)", "globalThis.dpaudit_check = () => ['TRUE', '']", "globalThis.dpaudit_check = () => 3", ""],
)
def test_a_node_that_fails_decides_nothing(node, said, monkeypatch, script):
    monkeypatch.setattr(against, "_RUN", script + against._RUN.replace("require(process.argv[1]);", ""))
    answer, sentence, decides = said(made.laplace())
    assert (answer, decides) == (CheckResult.NOT_CHECKED, False)
    assert "node could not run" in sentence


def test_a_script_that_was_altered_is_not_run(node, said, monkeypatch):
    from dpaudit.report.html import templates

    monkeypatch.setattr(templates, "source", lambda name: "globalThis.dpaudit_check = () => ['PROVED', 'all']")
    answer, sentence, _ = said(made.laplace())
    assert answer is CheckResult.FAILS
    assert "was altered" in sentence


def test_options_of_node_in_the_environment_are_left_out(node, said, monkeypatch, tmp_path):
    (tmp_path / "other.js").write_text("throw new Error('mine')", encoding="utf-8")
    monkeypatch.setenv("NODE_OPTIONS", f"--require {tmp_path / 'other.js'}")
    assert said(made.laplace())[0] is CheckResult.HOLDS
