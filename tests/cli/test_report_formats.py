"""Are the formats and the comparison there from the command line, and does bad input get a sentence?"""

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from dpaudit.evidence.evidence import Evidence
from dpaudit.report import html_page
from dpaudit.report.formats import markdown, statement_text
from dpaudit.report.registry import registry_yaml
from dpaudit.report.text.reproduce import bibtex

OLD = Path(__file__).parents[1] / "evidence" / "old"


@pytest.fixture
def files(folder):
    """Two evidence files in the working directory, and what they hold."""
    for name, old in (("a.json", "randomised_response"), ("b.json", "exponential")):
        shutil.copy(OLD / f"{old}.json", folder / name)
    return Evidence.load("a.json"), Evidence.load("b.json")


FORMATS = {
    "json": Evidence.to_json,
    "html": html_page,
    "markdown": lambda evidence: markdown([evidence]),
    "registry-yaml": registry_yaml,
    "in-toto": lambda evidence: statement_text([evidence]),
    "bibtex": lambda evidence: bibtex(evidence) + "\n",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.slow
def test_a_format_goes_to_standard_output_or_to_a_file(name, files, run):
    wanted = FORMATS[name](files[0])
    for options in ((), ("--output", "-")):
        done = run("report", "a.json", "--format", name, *options)
        assert (done.exit_code, done.stdout, done.stderr) == (0, wanted, "")
    done = run("report", "a.json", "--format", name, "--output", "out")
    assert (done.exit_code, done.stdout) == (0, "")
    assert Path("out").read_text(encoding="utf-8") == wanted


@pytest.mark.slow
def test_some_formats_take_several(files, run):
    assert run("report", "a.json", "b.json", "--format", "markdown").stdout == markdown(files)
    assert (
        json.loads(run("report", "a.json", "b.json", "--format", "in-toto").stdout)["predicate"]["result"] == "PASSED"
    )
    assert run("report", "a.json", "b.json", "--format", "bibtex").stdout.count("@misc{") == 2
    for name in ("json", "html", "registry-yaml", "pdf"):
        done = run("report", "a.json", "b.json", "--format", name, "--output", "out")
        assert done.exit_code == 2
        assert "one evidence file" in done.stderr
        assert not Path("out").exists()


def test_the_context_answers_the_registry(files, run):
    Path("project.toml").write_text('[tool.dpaudit.context]\nmodel_name = "Local"\n', encoding="utf-8")
    done = run("report", "a.json", "--format", "registry-yaml", "--context", "project.toml")
    assert done.exit_code == 0
    assert yaml.safe_load(done.stdout)["deployment"]["deployment_model"]["model_name"] == "Local"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.json", "--output", "x"), "add --format"),
        (("a.json", "--format", "docx"), "markdown"),
        (("a.json", "--format", "markdown", "--context", "c.toml"), "--format registry-yaml"),
        (("a.json", "--format", "registry-yaml", "--context", "none.toml"), "cannot read the context"),
        (("a.json", "--format", "registry-yaml", "--context", "c.toml"), "did you mean 'model_name'"),
        (("a.json", "--format", "markdown", "--html", "x"), "--format writes one result"),
        (("a.json", "b.json", "--compare", "--format", "markdown"), "--format writes one result"),
        (("a.json", "--format", "markdown", "--output", "no folder/x"), "cannot write"),
        (("none.json", "--format", "markdown", "--output", "x"), "cannot read the evidence"),
        (("a.json", "--compare"), "two evidence files, the older one first, not 1"),
        (("a.json", "b.json", "a.json", "--compare"), "not 3"),
        (("a.json", "none.json", "--compare", "--html", "x"), "cannot read the evidence"),
        (("a.json", "b.json", "--compare", "--html", "-", "--json", "-"), "only one format"),
    ],
)
def test_bad_input_gets_a_sentence_and_writes_nothing(arguments, words, files, run):
    Path("c.toml").write_text('modelname = "Local"\n', encoding="utf-8")
    done = run("report", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not Path("x").exists()


@pytest.mark.slow
def test_a_pdf_without_its_library_says_how_to_get_it(files, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    done = run("report", "a.json", "--format", "pdf", "--output", "x.pdf")
    assert done.exit_code == 2
    assert "pip install 'dpaudit[pdf]'" in done.stderr
    assert not Path("x.pdf").exists()


@pytest.mark.slow
def test_a_pdf_is_written_whole(files, run, monkeypatch):
    monkeypatch.setattr("dpaudit.report.formats.pdf", lambda html: b"%PDF-" + bytes([0, 255, 10]))
    assert run("report", "a.json", "--format", "pdf", "--output", "x.pdf").exit_code == 0
    assert Path("x.pdf").read_bytes() == b"%PDF-\x00\xff\n"
    assert run("report", "a.json", "--format", "pdf").stdout_bytes == b"%PDF-\x00\xff\n"
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith(".dpaudit")) == []


@pytest.mark.slow
def test_a_comparison_is_told_and_written(files, run):
    done = run("report", "--compare", "a.json", "b.json", "--html", "c.html", "--json", "-")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert (document["before"], document["now"]) == (files[0].id, files[1].id)
    assert "cannot be said" in done.stderr  # these two measured different events
    assert document["loss"]["change"] == "not comparable"
    assert files[1].id in Path("c.html").read_text(encoding="utf-8")
    told = run("report", "--compare", "a.json", "b.json")
    assert (told.exit_code, told.stdout) == (0, done.stderr)


def test_a_violation_beside_another_is_no_failure(files, run):
    shutil.copy(OLD / "refuted.json", "bad.json")
    shutil.copy(OLD / "invalid.json", "worse.json")
    assert run("report", "--compare", "bad.json", "worse.json").exit_code == 0
    assert run("report", "bad.json", "--format", "in-toto").exit_code == 0


@pytest.mark.slow
def test_a_page_is_read_as_evidence_is(files, run):
    assert run("report", "a.json", "--html", "a.html").exit_code == 0
    assert run("report", "a.html", "--format", "markdown").stdout == markdown([files[0]])
    assert "Both are the same evidence" in run("report", "--compare", "a.html", "a.json").stdout
