"""Are scores read from files of every kind, and is every mistake told in a sentence, with exit code 2?"""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dpaudit as dp
from dpaudit.cli.main import cli

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    members, others = rng.normal(2, 1, 300), rng.normal(0, 1, 280)
    members[5] = np.nan
    np.save("in.npy", members)
    (tmp_path / "in.csv").write_text("score\n" + "\n".join(map(repr, members.tolist())) + "\n", encoding="utf-8")
    (tmp_path / "in.json").write_text(json.dumps(members.tolist()), encoding="utf-8")
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, members.tolist())) + "\n", encoding="utf-8")
    np.save("out.npy", others)
    return tmp_path


def run(*arguments):
    design = [] if "--design" in arguments else ["--design", "independent"]
    return CliRunner().invoke(cli, ["scores", *arguments, *design])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["in.npy", "in.csv", "in.json", "in.jsonl"])
def test_all_kinds_of_files_give_the_same_evidence(folder, name):
    page = ["--html", "found.html"] if name == "in.csv" else []  # a page takes a second to draw
    found = run(name, "out.npy", "--claim", "epsilon=1, delta=1e-5", "--json", "found.json", *page)
    assert found.exit_code == 1, found.output
    assert found.output.startswith("VIOLATED")
    evidence = dp.Evidence.load("found.json")
    direct = dp.tools.audit_scores(
        np.load("in.npy"), np.load("out.npy"), claim="epsilon=1, delta=1e-5", design="independent"
    )
    assert evidence.lower == direct.lower and evidence.pairs == direct.pairs
    assert name in evidence.target.name
    if page:
        assert evidence.id in (folder / "found.html").read_text(encoding="utf-8")
        assert CliRunner().invoke(cli, ["check", "found.json"]).exit_code == 0


def test_standard_output_holds_the_evidence_alone(folder):
    found = run("in.npy", "out.npy", "--design", "one-run", "--delta", "1e-4", "--json", "-", "--quiet")
    assert found.exit_code == 0
    evidence = dp.Evidence.from_json(found.stdout)
    assert (evidence.scores.design, evidence.lower.delta, evidence.verdict) == ("one-run", 1e-4, dp.Verdict.NO_CLAIM)


BAD = {
    "absent.npy": (None, "No such file"),
    "words.npy": (b"not an array", "cannot read the scores"),
    "empty.csv": (b"", "there are none"),
    "wide.csv": (b"1,2\n3,4\n", "line 1 of 'wide.csv' has several columns"),
    "text.csv": (b"score\n" + b"1\n" * 30 + b"none\n", "line 32 of 'text.csv' is no number: 'none'"),
    "text.jsonl": (b"1\nx\n", "line 2 of 'text.jsonl' is no JSON: 'x'"),
    "object.jsonl": (b'{"score": 1}\n' * 30, "entry 0 is {'score': 1}"),
    "object.json": (b'{"scores": [1]}', "a list of numbers"),
    "broken.json": (b"[1, 2", "cannot read the scores"),
    "latin.csv": (b"\xff\xfe1\n", "not text in UTF-8"),
    "scores.xlsx": (b"PK", "is no file of scores"),
    "one.csv": (b"1.5\n", "only 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_cannot_be_read_are_refused(folder, name):
    content, said = BAD[name]
    if content is not None:
        (folder / name).write_bytes(content)
    found = run(name, "out.npy", "--json", "found.json")
    assert found.exit_code == 2
    assert said in found.output and "Traceback" not in found.output
    assert not (folder / "found.json").exists()


def test_options_that_cannot_be_used_are_refused(folder):
    for options in (["--design", "both"], ["--claim", "rho=1", "--design", "one-run"], ["--confidence", "2"]):
        found = run("in.npy", "out.npy", *options)
        assert found.exit_code == 2 and "Traceback" not in found.output
    assert run("in.npy", "out.npy", "--json", "absent/found.json").exit_code == 2
