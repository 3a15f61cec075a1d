"""Are the catalogue and the reports of evidence shown as asked?"""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.report import console_summary, evidence_from_page, html_page

OLD = Path(__file__).parents[1] / "evidence" / "old"


def test_the_list_names_every_mechanism_once(run):
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["NAME", "FAMILY", "CLAIM", "STATUS"]
    assert sorted(line.split()[0] for line in lines[1:]) == sorted(dp.catalogue())
    statuses = {line.split()[0]: " broken " in line for line in lines[1:]}
    assert statuses == {name: not found.correct for name, found in dp.catalogue().items()}


@pytest.mark.slow
def test_the_list_as_json(run):
    done = run("list", "--json", "-")
    listed = json.loads(done.stdout)
    assert sorted(item["name"] for item in listed) == sorted(dp.catalogue())
    assert done.stderr == ""
    laplace = next(item for item in listed if item["name"] == "laplace")
    assert laplace["claim"] == "epsilon=1"
    assert laplace["parameters"]["epsilon"] == 1
    assert laplace["needs"] == []
    assert (laplace["correct"], laplace["asks"], laplace["true_loss"]) == (True, "program", 1.0)


@pytest.mark.slow
def test_the_list_as_json_in_a_file(run):
    done = run("list", "--json", "list.json")
    assert "laplace" in done.stdout
    assert len(json.loads(Path("list.json").read_text(encoding="utf-8"))) == len(dp.catalogue())


def test_the_page_of_one_mechanism(run):
    page = run("list", "laplace").stdout
    found = dp.catalogue()["laplace"]
    assert found.description.splitlines()[-1] in page
    for part in ("laplace: correct", found.source, found.unit, "epsilon=1", "true loss   1.0"):
        assert part in page
    both = run("list", "laplace", "--json", "-")
    assert [item["name"] for item in json.loads(both.stdout)] == ["laplace"]
    assert both.stderr == page


def test_a_users_own_function_has_a_page_too(run):
    page = run("list", "some folder/shapes.py:needs").stdout
    assert page.startswith("needs\n\nNeeds a parameter.")
    assert "parameters  epsilon (to be given)" in page
    assert "claim       none" in page


def test_an_unknown_name_is_answered_with_the_nearest(run):
    done = run("list", "expnential", "--json", "list.json")
    assert done.exit_code == 2
    assert "did you mean 'exponential'" in done.stderr
    assert not Path("list.json").exists()


# --- report ---


KEPT = {}


@pytest.fixture
def evidence(audit):
    """Evidence of one audit, made once for all tests, in e.json."""
    if "e.json" not in KEPT:
        audit("program", "--claim", "epsilon=1", "--quiet", "--json", "e.json")
        KEPT["e.json"] = Path("e.json").read_text(encoding="utf-8")
    Path("e.json").write_text(KEPT["e.json"], encoding="utf-8")
    return dp.Evidence.load("e.json")


@pytest.mark.slow
def test_a_report_without_a_flag_is_the_console_summary(evidence, run):
    done = run("report", "e.json")
    assert (done.exit_code, done.stdout) == (0, console_summary(evidence))
    assert run("report", "e.json", "e.json").stdout.count(evidence.id) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_report_is_the_same_page_from_evidence_and_from_a_page(evidence, run):
    assert run("report", "e.json", "--html", "one.html").exit_code == 0
    assert Path("one.html").read_text(encoding="utf-8") == html_page(evidence)
    assert run("report", "one.html", "--html", "-").stdout == html_page(evidence)
    Path("page").write_text(html_page(evidence), encoding="utf-8")  # whatever it is called
    assert run("report", "page", "--json", "-").stdout == evidence.to_json()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_several_pages_go_to_a_folder_with_an_index(evidence, run):
    evidence.save("f.json")
    for _ in range(2):  # the folder is made, or used where it is there
        assert run("report", "e.json", "f.json", "--html", "pages").exit_code == 0
        assert sorted(path.name for path in Path("pages").iterdir()) == ["e.html", "f.html", "index.html"]
    assert evidence_from_page(Path("pages/f.html").read_text(encoding="utf-8")) == evidence
    assert links(Path("pages/index.html")) == ["e.html", "f.html"]
    assert run("report", "e.json", "--html", "alone").exit_code == 0  # the name of a folder
    assert [path.name for path in Path("alone").iterdir()] == ["e.html"]


def links(page):
    return re.findall(r'<a href="([^"]+)"', page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_pages_of_one_name_are_kept_apart(evidence, run):
    Path("other").mkdir()
    names = ["e.json", "other/e.json", "E.json", "index.json", "a #1?.json"]
    for name in names:
        evidence.save(name)
    assert run("report", *names, "--html", "pages").exit_code == 0
    written = {path.name for path in Path("pages").iterdir()}
    assert written == {"e.html", "e-2.html", "E-3.html", "index.html", "index-2.html", "a #1?.html"}
    found = links(Path("pages/index.html"))
    assert "a%20%231%3F.html" in found
    assert {unquote(link) for link in found} == written - {"index.html"}


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_an_index_begins_with_what_asks_for_attention(audit, evidence, run):
    audit("exact", "--claim", "epsilon=1", "--quiet", "--json", "violated.json")
    assert run("report", "e.json", "violated.json", "--html", "pages").exit_code == 0
    assert links(Path("pages/index.html")) == ["violated.html", "e.html"]


def test_a_report_of_a_violation_is_no_failure(audit, run):
    assert audit("exact", "--claim", "epsilon=1", "--quiet", "--json", "e.json").exit_code == 1
    assert run("report", "e.json").exit_code == 0


FORMATS = ("html", "markdown", "json", "in-toto", "bibtex", "registry-yaml", "pdf")


def contradicting(name, folder):
    """Evidence, hashed well, whose verdict is not what its bounds say."""
    record = json.loads((OLD / f"{name}.json").read_text(encoding="utf-8"))["evidence"]
    record["verdict"] = "proved"
    file = folder / f"{name}, forged.json"
    file.write_text(json.dumps({"id": content_id(record), "evidence": record, "run": None}), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("name", ["gaussian", "scores", "sequential", "refuted", "no_claim"])
@pytest.mark.parametrize(
    "how", [(), ("--html", "page.html"), ("--compare",), *(("--format", each) for each in FORMATS)]
)
@pytest.mark.slow
def test_nothing_is_drawn_of_evidence_that_fails_its_check(name, how, run, tmp_path):
    forged = contradicting(name, tmp_path)
    files = [str(OLD / f"{name}.json"), forged] if how == ("--compare",) else [forged]
    done = run("report", *files, *how)
    assert done.exit_code == 2 and "fails its check, so nothing is drawn of it" in done.output
    assert "PROVED" not in done.output and not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_nothing_is_drawn_of_a_page_whose_evidence_fails_its_check(run, tmp_path):
    forged = Evidence.from_json(Path(contradicting("gaussian", tmp_path)).read_text(encoding="utf-8"))
    (tmp_path / "forged.html").write_text(html_page(forged), encoding="utf-8")
    assert run("report", str(tmp_path / "forged.html")).exit_code == 2


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("name", ["gaussian", "invalid", "proved", "proved_any_length", "scores", "curve"])
def test_evidence_that_does_not_fail_is_drawn(name, run):
    assert run("report", str(OLD / f"{name}.json")).exit_code == 0
