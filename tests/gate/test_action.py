"""Do the action, the workflows and the hooks hold together, as far as that shows without a network?

Their YAML is valid, their shell lines run (against stand-ins that write down how they were called), and every
`dpaudit` in them is a command with those options.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import yaml
from support import gate_results as made

from dpaudit.cli.main import cli
from dpaudit.gate import kept

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
EXAMPLE = ROOT / "examples/ci_gate"
WORKFLOWS = {
    "scaffold": ROOT / "dpaudit/gate/scaffold/workflow.yml",
    "example": EXAMPLE / ".github/workflows/privacy.yml",
}
BASH = shutil.which("bash")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
needs_bash = pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="the lines are written for bash")


def loaded(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def steps(file: Path) -> list[dict[str, Any]]:
    document = loaded(file)
    jobs = [document["runs"]] if "runs" in document else document["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def accepts(words: list[str]) -> None:
    """Parse a call of dpaudit as its command line does, without running it."""
    command = cli.get_command(click.Context(cli), words[0])
    assert command is not None, f"there is no command {words[0]!r}"
    command.make_parser(click.Context(command)).parse_args(list(words[1:]))


OWN = sorted((ROOT / ".github/workflows").glob("*.yml"))
ALL = [ACTION, *WORKFLOWS.values(), *OWN]
NAMES = ["action", *WORKFLOWS, *(file.stem for file in OWN)]


@pytest.mark.parametrize(
    ("file", "schema"),
    [(ACTION, "github-actions.json"), *((file, "github-workflows.json") for file in ALL[1:])],
    ids=NAMES,
)
def test_it_fits_the_schema_of_github(file: Path, schema: str) -> None:
    check = jsonschema.Draft7Validator(made.schema(schema))
    document = json.loads(json.dumps({"on" if key is True else key: item for key, item in loaded(file).items()}))
    assert list(check.iter_errors(document)) == []
    document["surprise"] = 1
    assert list(check.iter_errors(document))


@pytest.mark.parametrize("file", ALL, ids=NAMES)
def test_foreign_actions_are_pinned_to_a_commit_with_their_version(file: Path) -> None:
    used = [step["uses"] for step in steps(file) if "uses" in step]
    assert used
    lines = file.read_text(encoding="utf-8").splitlines()
    for uses in used:
        if uses.startswith("./"):
            continue
        assert PINNED.fullmatch(uses)
        assert all(re.search(r"# v\d+\.\d+\.\d+$", line) for line in lines if uses in line)
    versions = {uses.partition("@")[0]: uses for file in ALL for step in steps(file) if (uses := step.get("uses", ""))}
    assert all(versions[uses.partition("@")[0]] == uses for uses in used)  # the same one everywhere


@pytest.mark.parametrize("file", ALL, ids=NAMES)
@needs_bash
@pytest.mark.slow
def test_shell_lines_are_bash(file: Path) -> None:
    scripts = [step["run"] for step in steps(file) if "run" in step]
    assert scripts
    for script in scripts:
        assert "${{" not in script  # what comes from outside is never part of a script
        subprocess.run([str(BASH), "-n"], input=script, text=True, check=True)


def test_inputs_that_are_used_are_declared_and_the_other_way_round() -> None:
    text = ACTION.read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(loaded(ACTION)["inputs"])
    named = {step["id"] for step in steps(ACTION) if "id" in step}
    assert set(re.findall(r"steps\.([\w-]+)\.", text)) <= named


def test_a_nightly_action_brings_and_keeps_what_the_nights_show_together() -> None:
    order = [step.get("name") for step in steps(ACTION)]
    before, after = step_of("Bring the nights before"), step_of("Keep this night")
    assert order.index(before["name"]) < order.index("Gate") < order.index(after["name"]) < order.index("Verdict")
    assert before["with"]["path"].endswith(f"/{kept.NIGHTLY_FILE}") and before["with"]["path"] == after["with"]["path"]
    assert before["with"]["key"] == after["with"]["key"]
    assert after["with"]["key"].startswith(before["with"]["restore-keys"])
    assert "github.run_id" in after["with"]["key"]  # a key is written once only


def test_what_the_example_gives_to_the_action_is_declared() -> None:
    given = [step.get("with", {}) for step in steps(WORKFLOWS["example"]) if step.get("uses", "").startswith("./")]
    assert len(given) == 1
    assert set(given[0]) <= set(loaded(ACTION)["inputs"])
    permissions = loaded(WORKFLOWS["example"])["jobs"]["gate"]["permissions"]
    assert given[0]["upload-sarif"] == "true" and permissions["security-events"] == "write"


def test_only_what_is_asked_for_may_be_written() -> None:
    assert loaded(WORKFLOWS["scaffold"])["permissions"] == {"contents": "read"}
    assert loaded(WORKFLOWS["example"])["permissions"] == {"contents": "read"}


STAND_IN = """#!{bash}
printf '%s\\0' "$@" >> "$CALLS/{name}"
printf '\\n' >> "$CALLS/{name}"
if [ {name} = dpaudit ]; then
  while [ "$#" -gt 0 ]; do
    case "$1" in --sarif | --markdown | --junit) echo "# written" > "$2"; shift ;; esac
    shift
  done
  exit "${{DPAUDIT_ENDS:-0}}"
fi
"""


class Runner:
    """Runs shell steps with stand-ins for dpaudit and python, which write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder / "project", folder / "calls"
        for place in (self.folder, self.calls, folder / "bin"):
            place.mkdir()
        for name in ("dpaudit", "python"):
            file = folder / "bin" / name
            file.write_text(STAND_IN.format(bash=BASH, name=name))
            file.chmod(0o755)
        self.environment = {
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        }

    def __call__(self, step: dict[str, Any], **environment: str) -> int:
        own = {**self.environment, **environment}
        command = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(command, cwd=self.folder, env=own, check=False).returncode

    def called(self, name: str) -> list[list[str]]:
        file = self.calls / name
        lines = file.read_text().splitlines() if file.exists() else []
        return [line.split("\0")[:-1] for line in lines]

    def output(self) -> dict[str, str]:
        lines = Path(self.environment["GITHUB_OUTPUT"]).read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def step_of(name: str) -> dict[str, Any]:
    return next(step for step in steps(ACTION) if step.get("name") == name)


def given(**inputs: str) -> dict[str, str]:
    """What the Gate step sees, for these inputs and the defaults of all others."""
    values = {name: item.get("default", "") for name, item in loaded(ACTION)["inputs"].items()} | inputs
    return {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
        for name, text in step_of("Gate")["env"].items()
    }


@needs_bash
@pytest.mark.parametrize(
    ("inputs", "last"),
    [
        ({}, []),
        ({"targets": "visitors\na name; touch broken\n"}, ["visitors", "a name; touch broken"]),
        ({"config": "some folder/dpaudit.toml", "nightly": "true"}, []),
        ({"report": "a folder/$(touch broken)", "targets": "--looks-like-an-option"}, ["--looks-like-an-option"]),
    ],
)
def test_the_action_calls_the_gate_with_options_that_it_has(
    run: Runner, inputs: dict[str, str], last: list[str]
) -> None:
    assert run(step_of("Gate"), **given(**inputs)) == 0
    ((command, *arguments),) = run.called("dpaudit")
    assert command == "gate"
    accepts([command, *arguments])
    assert arguments[arguments.index("--") + 1 :] == last
    assert ("--nightly" in arguments) == (inputs.get("nightly") == "true")
    assert ("--config" in arguments) == ("config" in inputs)
    assert not (run.folder / "broken").exists()
    report = inputs.get("report", "dpaudit-report")
    assert run.output() == {"exit-code": "0", "sarif": f"./{report}/dpaudit.sarif"}
    assert Path(run.environment["GITHUB_STEP_SUMMARY"]).read_text() == "# written\n"


@needs_bash
@pytest.mark.parametrize("code", ["0", "1", "2", "3", "4"])
def test_the_action_ends_as_the_gate_does_and_shows_everything_before(run: Runner, code: str) -> None:
    assert run(step_of("Gate"), **given(), DPAUDIT_ENDS=code) == 0
    assert run.output()["exit-code"] == code
    assert steps(ACTION)[-1] == step_of("Verdict")
    assert run(step_of("Verdict"), DPAUDIT_CODE=code) == int(code)


@needs_bash
def test_an_action_that_never_came_to_its_gate_is_not_green(run: Runner) -> None:
    assert run(step_of("Verdict"), DPAUDIT_CODE="") == 2


@needs_bash
@pytest.mark.parametrize(
    ("version", "requirements", "installed"),
    [
        ("", "", [["/the action"]]),
        ("0.1.0", "", [["dpaudit==0.1.0"]]),
        ("", "some file.txt", [["/the action"], ["-r", "some file.txt"]]),
    ],
)
def test_the_action_installs_itself_or_a_version(
    run: Runner, version: str, requirements: str, installed: list[list[str]]
) -> None:
    given = {"DPAUDIT_VERSION": version, "DPAUDIT_SOURCE": "/the action", "DPAUDIT_REQUIREMENTS": requirements}
    assert run(step_of("Install"), **given) == 0
    before = ["-m", "pip", "install", "--disable-pip-version-check"]
    assert run.called("python") == [[*before, *words] for words in installed]


@needs_bash
@pytest.mark.parametrize("file", WORKFLOWS.values(), ids=WORKFLOWS)
def test_the_lines_of_a_workflow_run_and_every_dpaudit_in_them_exists(run: Runner, file: Path) -> None:
    for step in steps(file):
        if "run" in step:
            assert run(step) == 0
    for words in run.called("dpaudit"):
        accepts(words)
    if file == WORKFLOWS["scaffold"]:
        assert [words[0] for words in run.called("dpaudit")] == ["gate"]
        assert Path(run.environment["GITHUB_STEP_SUMMARY"]).read_text() == "# written\n"
    assert "install" in run.called("python")[0]


def test_what_is_no_command_or_option_would_be_noticed() -> None:
    with pytest.raises(AssertionError, match="no command"):
        accepts(["gates"])
    with pytest.raises(click.NoSuchOption):
        accepts(["gate", "--no-such-option"])


def test_the_commands_of_the_readme_of_the_example_exist() -> None:
    blocks = re.findall(r"```\n(.*?)```", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("dpaudit ")]
    assert len(lines) == 3
    for line in lines:
        accepts(line.split()[1:])


def test_the_hooks_are_what_pre_commit_reads() -> None:
    hooks = loaded(HOOKS)
    assert [hook["id"] for hook in hooks] == ["dpaudit-look", "dpaudit-gate"]
    known = {"id", "name", "description", "entry", "language", "types_or", "pass_filenames", "require_serial", "stages"}
    known |= {"minimum_pre_commit_version"}
    for hook in hooks:
        assert {"id", "name", "entry", "language"} <= set(hook) <= known
        assert hook["language"] == "python" and hook["pass_filenames"] is False
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert all(f"id: {hook['id']}" in readme for hook in hooks)


@pytest.mark.slow
def test_the_hooks_call_what_exists(tmp_path: Path) -> None:
    look, gate = (hook["entry"].split() for hook in loaded(HOOKS))
    assert gate[0] == "dpaudit"
    accepts(gate[1:])
    shutil.copytree(EXAMPLE, tmp_path / "project")
    done = subprocess.run([sys.executable, *look[1:]], cwd=tmp_path / "project", capture_output=True, check=False)
    assert (look[0], done.returncode, done.stderr) == ("python", 0, b"")
