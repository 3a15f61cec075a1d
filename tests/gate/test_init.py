"""Does `dpaudit init` give a project a gate, and leave alone all that was there?"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dpaudit.cli.main import cli
from dpaudit.gate.config import findings, read
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.data_files import read_pairs

WHEEL = "tests/privacy/dpaudit-0.1.0-py3-none-any.whl"
FILES = {"tests/privacy/release.py", "tests/privacy/pair.json", ".github/workflows/dpaudit.yml", "pyproject.toml"}


@pytest.fixture(autouse=True)
def origin(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Where dpaudit was installed from; by default an index."""
    found: dict[str, Any] = {}
    monkeypatch.setattr("dpaudit.cli.commands.repository._origin", lambda: found)
    return found


def installing(folder: Path) -> str:
    """The lines of the workflow that install."""
    steps = yaml.safe_load((folder / ".github/workflows/dpaudit.yml").read_text(encoding="utf-8"))["jobs"]["gate"][
        "steps"
    ]
    return str(next(step["run"] for step in steps if step.get("name") == "Install"))


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ({}, f"dpaudit[proof]=={version('dpaudit')}"),
        (
            {"url": "https://code.example/dp.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "dpaudit[proof] @ git+https://code.example/dp.git@abc",
        ),
        ({"url": "https://code.example/dp.whl", "archive_info": {}}, "dpaudit[proof] @ https://code.example/dp.whl"),
    ],
)
def test_the_workflow_installs_the_dpaudit_that_wrote_it(
    tmp_path: Path, origin: dict[str, Any], told: dict[str, Any], asked: str
) -> None:
    origin |= told
    result = init(tmp_path)
    assert f"pip install '{asked}'" in installing(tmp_path)
    assert f"installs dpaudit from {asked}," in result.output
    assert all_files(tmp_path) == FILES


def test_where_it_came_from_this_machine_a_wheel_is_put_into_the_project(
    tmp_path: Path, origin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    origin |= {"url": "file:///some/folder%20of%20mine", "dir_info": {"editable": True}}
    asked: list[list[str]] = []

    def built(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        (tmp_path / WHEEL).write_text("a wheel")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", built)
    result = init(tmp_path)
    assert asked[0][-1] == "/some/folder of mine" and f"installs dpaudit from {WHEEL}," in result.output
    assert all_files(tmp_path) == FILES | {WHEEL}


def test_where_no_wheel_can_be_built_the_command_is_told(
    tmp_path: Path, origin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    origin |= {"url": "file:///nowhere"}
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1))
    result = init(tmp_path)
    assert result.exit_code == 0 and "pip wheel" in result.output and all_files(tmp_path) == FILES


def test_a_wheel_that_it_was_installed_from_is_copied(tmp_path: Path, origin: dict[str, Any]) -> None:
    wheel = tmp_path / "from" / "dpaudit-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"a wheel")
    origin |= {"url": wheel.as_uri()}
    result = init(tmp_path / "project")
    assert result.exit_code == 0
    assert (tmp_path / "project/tests/privacy" / wheel.name).read_bytes() == b"a wheel"
    assert f"installs dpaudit from tests/privacy/{wheel.name}," in result.output


def init(folder: Path) -> Result:
    return CliRunner().invoke(cli, ["init", str(folder)])


def all_files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}


def test_an_empty_project_gets_a_gate(tmp_path: Path) -> None:
    folder = tmp_path / "a new" / "project"
    result = init(folder)
    assert result.exit_code == 0
    assert all_files(folder) == FILES
    assert all(str(folder / name) in result.output for name in FILES)
    assert "dpaudit gate --config '" in result.output  # quoted for a shell, since there is a space in it
    (target,) = read(folder / "pyproject.toml").targets
    assert findings(folder / "pyproject.toml") == []
    pairs = read_pairs(
        [folder / "tests/privacy/pair.json"], lambda pair: parse_relation(target.relation or "").accepts(*pair)
    )
    assert pairs == [([1, 1, 1], [1, 1])]
    workflow = yaml.safe_load((folder / ".github/workflows/dpaudit.yml").read_text(encoding="utf-8"))
    assert "@DPAUDIT@" not in json.dumps(workflow)


def test_in_the_project_itself_the_next_command_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["init"])
    assert result.exit_code == 0
    assert "\n  dpaudit gate\n" in result.output
    assert all_files(tmp_path) == FILES


EXISTING = [
    '[project]\nname = "x"\n',
    '[project]\nname = "x"',
    '# comment\r\n[project]\r\nname = "ü"\r\n\r\n\r\n',
    "\ufeff[build-system]\nrequires = []\n[tool.ruff]\nline-length = 99\n[[tool.a.b]]\nc = 1\n",
    "",
    "\n\n",
    "tool.ruff.line-length = 3\n",
]


@pytest.mark.parametrize("before", EXISTING)
def test_an_existing_configuration_is_added_to_and_otherwise_untouched(tmp_path: Path, before: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_bytes(before.encode())
    result = init(tmp_path)
    assert result.exit_code == 0, result.output
    assert "added to" in result.output
    after = file.read_bytes().decode()
    assert after.startswith(before)
    if "\r\n" in before:
        assert "\n" not in after.replace("\r\n", "")
    known = tomllib.loads(after.removeprefix("\ufeff").replace("\r\n", "\n"))
    assert known["tool"].pop("dpaudit")["targets"]
    old = tomllib.loads(before.removeprefix("\ufeff").replace("\r\n", "\n"))
    assert known == {**old, "tool": old.get("tool", {})}
    assert read(file).targets


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("[tool.dpaudit]\nseed = 3\n", "has a table [tool.dpaudit] already"),
        ("tool = { ruff = { x = 1 } }\n", "cannot add a table"),
        ("tool = 3\n", "cannot add a table"),
        ("[project\n", "cannot add to"),
        (b"\xff\xfe", "cannot add to"),
    ],
)
def test_a_configuration_that_cannot_be_added_to_is_refused(tmp_path: Path, before: str | bytes, said: str) -> None:
    file = tmp_path / "pyproject.toml"
    text = before.encode() if isinstance(before, str) else before
    file.write_bytes(text)
    result = init(tmp_path)
    assert result.exit_code == 2
    assert said in result.output
    assert all_files(tmp_path) == {"pyproject.toml"}
    assert file.read_bytes() == text


@pytest.mark.parametrize("name", sorted(FILES - {"pyproject.toml"}))
def test_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("mine")
    result = init(tmp_path)
    assert result.exit_code == 2
    assert "overwrites nothing" in result.output
    assert all_files(tmp_path) == {name}
    assert (tmp_path / name).read_text() == "mine"


def test_a_second_call_changes_nothing(tmp_path: Path) -> None:
    init(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    assert init(tmp_path).exit_code == 2
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == before


def test_where_one_file_fails_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dpaudit.evidence.canonical_json

    write = dpaudit.evidence.canonical_json.write_whole

    def fails_at_the_last(path: str | Path, text: str) -> None:
        if Path(path).name == "pyproject.toml":
            raise dpaudit.errors.UsageError("no space left")
        write(path, text)

    monkeypatch.setattr(dpaudit.evidence.canonical_json, "write_whole", fails_at_the_last)
    (tmp_path / ".github").mkdir()
    assert init(tmp_path).exit_code == 2
    assert all_files(tmp_path) == set()
    assert os.listdir(tmp_path) == [".github"]  # which was there before
    assert os.listdir(tmp_path / ".github") == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tests").write_text("a file")
    result = init(tmp_path)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert all_files(tmp_path) == {"tests"}


def test_a_project_on_gitlab_gets_a_job_of_its_own(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["init", str(tmp_path), "--ci", "gitlab"])
    assert result.exit_code == 0
    job = yaml.safe_load((tmp_path / ".gitlab/dpaudit.yml").read_text(encoding="utf-8"))["privacy"]
    assert job["artifacts"]["reports"] == {"junit": "dpaudit-report/junit.xml"}
    assert not (tmp_path / ".github").exists() and not any("@DPAUDIT@" in line for line in job["script"])
    assert any("-r requirements.txt" in line for line in job["script"]) and job["cache"]["paths"] == [".dpaudit/gate"]
