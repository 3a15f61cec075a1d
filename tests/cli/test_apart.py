"""Is what another process handed over held against what was asked, and is the way there honest about its limits?"""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import forked

import dpaudit as dp
from dpaudit import processes
from dpaudit.cli import apart
from dpaudit.cli.main import cli
from dpaudit.processes import Asked, other_question
from dpaudit.request import AuditRequest, ProofRequest

ROOT = Path(__file__).parents[2]
ASKED = {
    "target": "laplace",
    "parameters": {"epsilon": 0.5},
    "claim": "epsilon = 0.5",
    "relation": None,
    "confidence": 0.9,
    "seed": 3,
    "runs": 400,
}


@pytest.fixture(scope="module")
def evidence():
    return dp.audit("laplace", parameters={"epsilon": 0.5}, claim="epsilon=0.5", runs=400, confidence=0.9, seed=3)


def test_the_answer_to_a_question_is_its_answer(evidence):
    assert other_question(evidence, Asked(AuditRequest(**ASKED))) is None
    less = {"seed": None, "time_budget": 1.0, "claim": None}
    assert other_question(evidence, Asked(AuditRequest(**{**ASKED, **less}))) is None
    assert "proof" in other_question(evidence, Asked(proof=ProofRequest("laplace")))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"target": "geometric"}, "geometric"),
        ({"target": "release.py:laplace"}, "release.py"),
        ({"parameters": {"epsilon": 0.25}}, "parameter epsilon"),
        ({"parameters": {"scale": 1}}, "parameter scale"),
        ({"claim": "epsilon=1"}, "claim"),
        ({"relation": "replace"}, "relation"),
        ({"confidence": 0.95}, "confidence"),
        ({"seed": 4}, "seed"),
        ({"runs": 4000}, "runs"),
        ({"keep_data": True}, "kept"),
        ({"data": "people.csv"}, "data"),
        ({"search": True}, "worst"),
        ({"types": "ignore"}, "types"),
        ({"learn": "trees"}, "learns"),
        ({"observe": ("time",)}, "observed"),
        ({"sequential": True}, "sequential"),
        ({"curve": True}, "curve"),
    ],
)
def test_the_answer_to_another_question_is_refused(other, says, evidence):
    assert says in other_question(evidence, Asked(AuditRequest(**{**ASKED, **other})))


def test_other_pairs_are_another_question(evidence):
    assert "the pairs" in other_question(evidence, Asked(AuditRequest(**ASKED), pairs=[("one", "other")]))


def test_a_child_that_answers_another_question_makes_no_verdict(evidence, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(processes, "adopt_orphans", lambda: None)
    monkeypatch.setattr(processes, "run", lambda *_, **__: processes.Ended({"found": evidence.document()}))
    words = ["audit", "laplace", "-p", "epsilon=0.5", "--claim", "epsilon=0.5", "--runs", "400", "--confidence", "0.9"]
    for seed, code in (("3", 0), ("4", 2)):
        with pytest.raises(SystemExit) as ended:
            cli.main([*words, "--seed", seed, "--json", str(tmp_path / f"{seed}.json")], obj=apart.OWNED)
        assert ended.value.code == code
        assert (tmp_path / f"{seed}.json").exists() == (code == 0)
    assert "answers another question: the seed" in capsys.readouterr().err


@pytest.mark.parametrize("answer", [None, {"found": {"id": "dpa1:0", "evidence": {}, "run": None}}, {"found": {}}])
def test_a_child_that_hands_over_no_evidence_makes_no_verdict(answer, monkeypatch, capsys):
    monkeypatch.setattr(processes, "adopt_orphans", lambda: None)
    monkeypatch.setattr(processes, "run", lambda *_, **__: processes.Ended(answer, death="it died"))
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", "laplace", "--seed", "1"], obj=apart.OWNED)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("dpaudit: ")


@pytest.mark.slow
def test_the_evidence_is_the_same_apart_and_in_one_process(tmp_path):
    (tmp_path / "release.py").write_text("def f(data, rng):\n    return len(data) + rng.laplace()\n")
    (tmp_path / "pair.json").write_text("[[[1], []]]")
    words = ["audit", "release.py:f", "--pair", "pair.json", "--runs", "300", "--seed", "1", "--json", "-", "--quiet"]
    with forked.children():
        ids = [json.loads(forked.call(*words, *more, cwd=tmp_path).stdout)["id"] for more in ([], ["--in-process"])]
    assert ids[0] == ids[1]


def test_limits_need_a_process_of_its_own(run, folder):
    done = run("audit", "laplace", "--runs", "400", "--seed", "1", "--in-process", "--time-limit", "3")
    assert (done.exit_code, "leave out --in-process" in done.stderr) == (2, True)
    done = run("audit", "laplace", "--runs", "400", "--seed", "1", "--memory-limit", "nan")
    assert (done.exit_code, "--memory-limit is a positive number" in done.stderr) == (2, True)


@pytest.mark.slow
def test_an_installation_that_cannot_start_is_not_a_violation(tmp_path):
    (tmp_path / "click.py").write_text("raise ImportError('no click')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from dpaudit.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("dpaudit: it cannot start (ImportError: no click)")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--json", "e", "--html", "link"], "two formats cannot go to one file"),
        (["--json", "e", "--html", "other/../e"], "two formats cannot go to one file"),
        (["--json", "e", "--html", "hard"], "two formats cannot go to one file"),
        (["--json", "e", "--resume", "e"], "two formats cannot go to one file"),
        (["--json", "loop", "--html", "e"], "cannot write 'loop'"),
        (["--json", "pair.json", "--pair", "pair.json"], "'pair.json' is read, and would be overwritten"),
        (["--html", "some folder/../pair.json", "--pair", "pair.json"], "is read, and would be overwritten"),
    ],
)
def test_results_that_lead_to_one_file_are_refused_before_anything_runs(options, says, run, folder, monkeypatch):
    monkeypatch.setattr("dpaudit.verify.answer.audit", None)
    (folder / "other").mkdir()
    (folder / "e").write_text("mine")
    (folder / "link").symlink_to("e")
    (folder / "hard").hardlink_to(folder / "e")
    (folder / "loop").symlink_to("loop")
    done = run("audit", "laplace", "--runs", "400", "--seed", "1", *options)
    assert done.exit_code == 2
    assert says in done.stderr
    assert (folder / "e").read_text() == "mine"


def test_the_page_of_threats_is_linked_and_names_no_address():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    for who in ("mechanism", "forger of evidence", "editor of a page", "hostile evidence file", "hostile repository"):
        assert who in text
    assert "honest mistakes" in text and "privately" in text
    assert not re.search(r"@\w|mailto|https?://", text)


def test_the_lowest_versions_are_those_that_work():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for bound in ("click>=8.4", "joblib>=1.5", "junitparser>=4.0", "matplotlib>=3.11"):  # below them commands fail
        assert f'"{bound}"' in text
    assert "--resolution lowest-direct" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_fault_is_told_also_where_no_trace_can_be_made(monkeypatch):
    def work():
        raise AssertionError("of dpaudit's own")

    asked = {"module": "any", "name": "work", "arguments": {}}
    monkeypatch.setattr(apart, "importlib", SimpleNamespace(import_module=lambda name: SimpleNamespace(work=work)))
    monkeypatch.setattr(apart, "blamed_on_target", lambda error: None)
    assert apart.answer_to(asked)["fault"].endswith("AssertionError: of dpaudit's own\n")
    monkeypatch.setattr(apart, "traceback", SimpleNamespace(format_exception=lambda error: sys.exit(0)))
    assert apart.answer_to(asked) == {"fault": "AssertionError"}
