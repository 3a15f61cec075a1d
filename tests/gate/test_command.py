"""Does `dpaudit gate` do what its help says?"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import gate_projects as projects

from dpaudit.cli.main import cli
from dpaudit.gate.config import read
from dpaudit.loading import catalogue

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A project whose targets run in this process, and the working directory in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpaudit.gate.run.run.__kwdefaults__", {"runner": projects.Runs(), "listen": None})
    return tmp_path


def called(*arguments):
    return CliRunner().invoke(cli, ["gate", *arguments])


@pytest.mark.slow
def test_everything_is_written_and_told(here):
    projects.project(here, projects.target("program"), projects.target("response", "parameters = { epsilon = 3.0 }"))
    done = called("--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md", "--html", "pages/deep")
    assert done.exit_code == 1
    assert "program" in done.output and "FAILED" in done.output
    assert "<testsuites" in (here / "j.xml").read_text()
    assert json.loads((here / "s.json").read_text())["version"] == "2.1.0"
    assert "response" in (here / "m.md").read_text()
    assert {file.name for file in (here / "pages" / "deep").iterdir()} == {
        "index.html",
        "program.html",
        "response.html",
    }


def test_one_format_may_go_to_standard_output(here):
    projects.project(here, projects.target("program"))
    done = called("--sarif", "-", "--quiet")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["version"] == "2.1.0"


def test_quiet_says_nothing(here):
    projects.project(here, projects.target("program"))
    done = called("--quiet")
    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.slow
def test_a_configuration_elsewhere_and_names(here, tmp_path):
    folder = here / "inner"
    folder.mkdir()
    projects.project(folder, projects.target("program"), projects.target("response", "parameters = { epsilon = 3.0 }"))
    assert called("program", "--config", "inner/pyproject.toml").exit_code == 0
    assert called("--config", "inner/pyproject.toml").exit_code == 1
    assert (folder / "dpaudit-baseline.json").exists() is False


@pytest.mark.slow
def test_baselines_come_and_stay(here):
    projects.project(here, projects.target("program", claim="epsilon=4"))
    assert called("--update-baseline").exit_code == 0
    before = (here / "dpaudit-baseline.json").read_bytes()
    assert called().exit_code == 0
    wrong = projects.target("response", "parameters = { epsilon = 3.0 }")
    projects.configured(here, projects.target("program", claim="epsilon=4"), wrong)
    done = called("--update-baseline")
    assert done.exit_code == 1
    assert "the baseline was not written" in done.output and "response" in done.output
    assert (here / "dpaudit-baseline.json").read_bytes() == before
    (here / "dpaudit-baseline.json").write_text("{}")
    done = called("--junit", "j.xml")
    assert done.exit_code == 2 and "no baseline of this version" in done.output
    assert not (here / "j.xml").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nobody"], "no target is called 'nobody'"),
        (["--config", "none.toml"], "cannot read the configuration"),
        (["--workers", "0"], "workers must be at least 1"),
        (["--require", "hope"], "'hope' is not one of"),
        (["--junit", "none/j.xml"], "there is no folder"),
        (["--junit", "a", "--sarif", "a"], "two formats cannot go to one file"),
        (["--junit", "-", "--sarif", "-"], "only one format"),
        (["--html", "pyproject.toml"], "cannot write pages"),
        (["--update-baseline", "--nightly"], "without --nightly"),
    ],
)
def test_what_cannot_be_done_is_said_before_any_work(here, monkeypatch, arguments, why):
    def never(*_):
        raise AssertionError("it was run")

    monkeypatch.setattr("dpaudit.gate.run.run.__kwdefaults__", {"runner": never, "listen": None})
    projects.project(here, projects.target("program"))
    done = called(*arguments)
    assert done.exit_code == 2
    assert why in done.output
    assert "Traceback" not in done.output


def test_a_wrong_configuration_names_key_and_line(here):
    (here / "pyproject.toml").write_text('[tool.dpaudit]\n[[tool.dpaudit.targets]]\ntarget = "a"\nruns = 5\n')
    done = called()
    assert done.exit_code == 2
    assert "pyproject.toml, line 4, tool.dpaudit.targets[0].runs: Expected int >= 100, not 5" in done.output


@pytest.mark.slow
def test_the_seed_of_the_command_line_goes_before_that_of_the_file(here):
    projects.project(here, projects.target("program"), gate="seed = 3")
    assert "seed 3" in called().output
    assert "seed 4" in called("--seed", "4").output


def test_this_repository_gates_itself_with_targets_that_exist():
    known = catalogue()
    configuration = read(ROOT / "pyproject.toml")
    for target in configuration.targets:
        mechanism = known[target.target]
        assert (target.expect == "violated") is not mechanism.correct, target.name
    assert len(configuration.targets) >= 40


@pytest.mark.nightly
def test_a_part_of_this_repository_in_processes_of_its_own(tmp_path):
    # as a user calls it, from a folder below the project's
    (tmp_path / "sub").mkdir()
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    done = subprocess.run(
        [sys.executable, "-m", "dpaudit", "gate", "laplace", "exact_count", "--junit", "j.xml"],
        cwd=tmp_path / "sub",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed of 2 targets" in done.stdout
    assert (tmp_path / "sub" / "j.xml").exists()
    assert (tmp_path / ".dpaudit" / "gate").is_dir()
