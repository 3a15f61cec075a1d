"""Does the sample project do what its README says: green, red when its noise is halved, with a page that shows why?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from lxml import etree
from support import forked
from support import gate_results as made

from dpaudit.cli.main import cli
from dpaudit.evidence.records import Verdict
from dpaudit.gate import kept
from dpaudit.report import evidence_from_page

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci_gate"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample project, as the working directory."""
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".dpaudit", "pages", "__pycache__", ".pytest_cache"))
    monkeypatch.chdir(folder)
    return folder


def gate(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["gate", *arguments])
    return result.exit_code, result.output


def halve_the_noise(folder: Path) -> None:
    """Edit the release as the README does."""
    file = folder / "release.py"
    before = file.read_text(encoding="utf-8")
    after = before.replace("scale = CAP / epsilon", "scale = CAP / epsilon / 2")
    assert after != before
    file.write_text(after, encoding="utf-8")


def readme_lines() -> list[str]:
    """The lines that the README gives to a shell, in their order."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    return [line for block in re.findall(r"```\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


def shell(line: str) -> None:
    subprocess.run([str(shutil.which("bash")), "-c", line], check=True)


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("sed")), reason="the lines are written for a shell")
def test_the_lines_of_the_readme_end_green_red_and_green(project: Path) -> None:
    first, edit, second, back, third = readme_lines()
    assert first == second == third == "dpaudit gate --html pages"
    formats = ("--junit", "junit.xml", "--sarif", "dpaudit.sarif", "--markdown", "summary.md")

    code, said = gate(*first.split()[2:], *formats)
    assert code == 0, said
    assert "2 passed of 2 targets" in said
    assert "changed" not in said and "baseline" not in said
    assert json.loads((project / "dpaudit.sarif").read_text())["runs"][0]["results"] == []
    entries = kept.read_baseline(EXAMPLE / kept.BASELINE_FILE)
    assert sorted(entries) == ["total", "visitors"]
    for name, entry in entries.items():
        evidence = evidence_from_page((project / f"pages/{name}.html").read_text(encoding="utf-8"))
        assert evidence.verdict is Verdict.NOT_VIOLATED
        assert (entry.code, entry.claim) == (evidence.target.digest, evidence.claim)  # it is that of this release

    shell(edit)
    code, said = gate(*second.split()[2:], *formats)
    assert code == 1, said
    assert re.search(r"^PASSED +visitors ", said, re.MULTILINE)
    assert re.search(r"^FAILED +total +claim-violated", said, re.MULTILINE)
    shows_the_event(project)
    lines = (project / "release.py").read_text(encoding="utf-8").splitlines()
    own = next(number for number, line in enumerate(lines, 1) if line.startswith("def total("))
    log = json.loads((project / "dpaudit.sarif").read_text())
    assert list(jsonschema.Draft4Validator(made.schema("sarif-2.1.0.json")).iter_errors(log)) == []
    (finding,) = log["runs"][0]["results"]
    place = finding["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("release.py", own)
    junit = etree.fromstring((project / "junit.xml").read_bytes())
    etree.XMLSchema(etree.parse(str(made.SCHEMAS / "junit-10.xsd"))).assertValid(junit)
    assert [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None] == ["total"]
    assert "## dpaudit: 1 failed, 1 passed of 2 targets" in (project / "summary.md").read_text(encoding="utf-8")

    shell(back)
    assert (project / "release.py").read_bytes() == (EXAMPLE / "release.py").read_bytes()
    code, said = gate()
    assert code == 0, said


def shows_the_event(project: Path) -> None:
    """The index leads to a page that shows the event, how often it occurred, and what follows."""
    index = (project / "pages/index.html").read_text(encoding="utf-8")
    assert 'href="total.html"' in index and "claim-violated" in index
    page = (project / "pages/total.html").read_text(encoding="utf-8")
    evidence = evidence_from_page(page)
    assert evidence.verdict is Verdict.VIOLATED and 1.9 < evidence.lower.value <= 2
    event, counts = evidence.lower.event, evidence.lower.counts
    assert event is not None and counts is not None
    text = re.sub(r"<[^>]*>", "", page.partition('id="event"')[2].partition("<section")[0])
    told = " ".join(text.split())
    for side in (0, 1):
        if event.toward(side):
            words = event.describe(side)
            assert words[1:40] in told
        assert f"{counts.runs[side]:,}" in told
    assert "<svg" in page.partition('id="event"')[2].partition("<section")[0]


@pytest.mark.nightly
def test_what_keeps_its_claim_and_loses_more_than_before_is_red_too(project: Path) -> None:
    file = project / "pyproject.toml"
    head, _, last = file.read_text(encoding="utf-8").rpartition("epsilon=1")
    file.write_text(f"{head}epsilon=3{last}", encoding="utf-8")
    assert gate("total")[0] == 0
    halve_the_noise(project)
    code, said = gate("total")
    assert code == 1
    assert "leakier-than-baseline" in said and "the baseline's event lost" in said


@pytest.mark.nightly
def test_its_own_tests_pass_and_fail_with_too_little_noise(project: Path) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--dp-runs", "4000", "--dp-seed", "0"]
    done = forked.call(*options, module="pytest", cwd=project)
    assert done.returncode == 0, done.stdout
    halve_the_noise(project)
    done = forked.call(*options, module="pytest", cwd=project)
    assert done.returncode == 1
    assert "VIOLATED" in done.stdout and "event" in done.stdout


def test_what_init_writes_is_green(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpaudit.cli.commands.repository._origin", dict)
    assert CliRunner().invoke(cli, ["init"]).exit_code == 0
    code, said = gate()
    assert code == 0, said
    assert "1 passed of 1 target" in said
    release = tmp_path / "tests/privacy/release.py"
    release.write_text(release.read_text().replace("laplace(1 / epsilon)", "laplace(0.5 / epsilon)"))
    assert gate()[0] == 1
