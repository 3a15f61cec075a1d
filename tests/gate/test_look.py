"""Does a look see what would keep the gate from running, without running anything?"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dpaudit.gate.config import findings, main

RELEASE = "raise SystemExit('it was run')\n\ndef count(data, noise):\n    return len(data)\n\nother = count\n"


def project(folder: Path, target: str, pairs: str = "[[[1], []]]", release: str = RELEASE) -> Path:
    (folder / "release.py").write_text(release, encoding="utf-8")
    file = folder / "pyproject.toml"
    file.write_text(f'[[tool.dpaudit.targets]]\ntarget = "{target}"\nclaim = "epsilon=1"\npairs = {pairs}\n')
    return file


@pytest.mark.parametrize("target", ["release.py:count", "release.py:other", "laplace", "package.module:name"])
def test_what_is_there_is_not_run(tmp_path: Path, target: str) -> None:
    assert findings(project(tmp_path, target)) == []


@pytest.mark.parametrize(
    ("target", "release", "said"),
    [
        ("release.py:cuont", RELEASE, "did you mean 'count'?"),
        ("nowhere.py:count", RELEASE, "No such file"),
        ("release.py:count", "def count(:\n", "is no Python"),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, target: str, release: str, said: str) -> None:
    (finding,) = findings(project(tmp_path, target, release=release))
    assert said in finding


@pytest.mark.parametrize(
    "release", ["from elsewhere import *\n", "globals()['count'] = print\n", "def __getattr__(name): ...\n"]
)
def test_what_cannot_be_told_is_left_to_the_gate(tmp_path: Path, release: str) -> None:
    assert findings(project(tmp_path, "release.py:count", release=release)) == []


def test_pairs_are_read(tmp_path: Path) -> None:
    (tmp_path / "pair.json").write_text("[[1], [")
    (finding,) = findings(project(tmp_path, "release.py:count", pairs='"pair.json"'))
    assert "pair.json" in finding and "is no JSON" in finding


def test_the_command_ends_with_2_where_something_is_wrong(tmp_path: Path) -> None:
    good, call = project(tmp_path, "release.py:count"), CliRunner().invoke
    assert (call(main, ["--config", str(good)]).exit_code, call(main, ["--config", str(good)]).output) == (0, "")
    result = call(main, ["--config", str(project(tmp_path, "release.py:cuont"))])
    assert result.exit_code == 2
    assert "dpaudit: target 'cuont'" in result.output
    good.write_text("[tool.dpaudit]\nsed = 1\n")
    assert call(main, ["--config", str(good)]).exit_code == 2
