"""Does make keep its hands off an environment that it did not make?"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("make") is None or sys.platform == "win32", reason="there is no make"),
]


def made(folder: Path, *goals: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *goals], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the Makefile, and an environment of somebody else that works."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "mine").touch()
    interpreter(tmp_path, "echo works")
    return tmp_path


def interpreter(folder: Path, does: str) -> None:
    python = folder / ".venv" / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    python.chmod(0o755)


def test_an_environment_that_works_is_used_as_it_is(project: Path) -> None:
    done = made(project, ".venv/.created")
    assert done.returncode == 0 and "Using .venv as it is" in done.stdout
    assert (project / ".venv" / "mine").exists()
    assert made(project, "clean").returncode == 0
    assert (project / ".venv" / "mine").exists() and not (project / ".venv" / ".created").exists()


def test_one_that_is_broken_is_left_and_named(project: Path) -> None:
    interpreter(project, "exit 1")
    done = made(project, ".venv/.created")
    assert done.returncode != 0 and "make VENV=" in done.stderr
    assert (project / ".venv" / "mine").exists()


def test_what_make_made_it_removes(project: Path) -> None:
    (project / ".venv" / ".made").touch()
    assert made(project, "clean").returncode == 0
    assert not (project / ".venv").exists()
