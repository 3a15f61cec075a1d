"""Does a replay run only what somebody trusts? Evidence that names code of others, and what lies elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.loading import load_trusted

KEPT = Path(__file__).resolve().parents[1] / "evidence" / "old" / "opaque.json"
OWN = """
import os
import subprocess
from os import system
from functools import partial

import dpaudit as dp
from json import dumps

os.environ["DPAUDIT_TOUCHED"] = "1"

def release(data, rng):
    return data[0] + rng.laplace()

class Release:
    def run(self, data, rng):
        return data[0] + rng.laplace()

declared = dp.mechanism(dumps, shape="opaque", claim="epsilon=1")
method = Release().run
bound = partial(release)
lent = partial(system)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with code of its own, and a folder beside it."""
    here = tmp_path / "here"
    for place in (here, tmp_path / "beside", here / "lib" / "site-packages"):
        place.mkdir(parents=True)
    for file in (here / "own_release.py", tmp_path / "beside" / "other.py", here / "lib" / "site-packages" / "sold.py"):
        file.write_text(OWN, encoding="utf-8")
    (here / "linked.py").symlink_to(tmp_path / "beside" / "other.py")
    (here / "json.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.chdir(here)
    monkeypatch.delenv("DPAUDIT_TOUCHED", raising=False)
    yield here
    sys.modules.pop("own_release", None)


@pytest.mark.parametrize(
    "name",
    [
        "laplace",
        "own_release.py:release",
        "own_release:release",
        "own_release.py:method",
        "own_release.py:bound",
        "own_release.py:declared",
        "../here/own_release.py:release",
    ],
)
def test_own_code_and_catalogues_are_trusted(name: str, folder: Path) -> None:
    assert load_trusted(name).name


NOT_IMPORTED = [
    "os:system",
    "posix:system",
    "subprocess:run",
    "builtins:eval",
    "builtins:exec",
    "runpy:run_path",
    "shutil:rmtree",
    "importlib:import_module",
    "numpy:save",
    "numpy.random:default_rng",
    "dpaudit:audit",
    "antigravity:fly",
    "../beside/other.py:release",
    "linked.py:release",
    "lib/site-packages/sold.py:release",
    "json:loads",
    "nowhere.at.all:f",
    "os.path:join",
]
LENT = [
    "own_release.py:system",
    "own_release.py:os.system",
    "own_release.py:subprocess.run",
    "own_release.py:lent",
    "own_release:subprocess.Popen",
    "own_release.py:dp.audit",
    "own_release.py:dumps",
]


@pytest.mark.parametrize("name", [*NOT_IMPORTED, "{beside}/other.py:release"])
def test_what_lies_elsewhere_is_not_even_imported(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = set(sys.modules)
    with pytest.raises(UsageError, match=r"it is not run.*--trust"):
        load_trusted(name.format(beside=folder.parent / "beside"))
    import os

    assert "DPAUDIT_TOUCHED" not in os.environ
    assert not {"antigravity", "nowhere", "runpy"} & (set(sys.modules) - imported)


@pytest.mark.parametrize("name", LENT)
def test_what_an_own_module_merely_imported_is_not_run(name: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=r"comes from elsewhere|is a class"):
        load_trusted(name)


def test_a_command_in_evidence_is_never_run(folder: Path) -> None:
    """`os:system` as the target, and a command as kept data."""
    record: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))["evidence"]
    command = f"touch {folder / 'ran'}"
    record["target"].update(name="os:system", parameters={})
    for pair in record["pairs"]:
        pair.update(data0=json.dumps(command), data1=json.dumps(command), origin="given")
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    with pytest.raises(UsageError, match="it is not run"):
        dp.replay(dp.Evidence.from_json(text))
    assert not (folder / "ran").exists()


@pytest.mark.slow
def test_what_is_run_is_said_before(folder: Path) -> None:
    evidence = dp.audit("own_release.py:release", pairs=[([0.0], [1.0])], claim="epsilon=1", runs=4_000, seed=1)
    kept = dp.audit(
        "own_release.py:release", pairs=[([0.0], [1.0])], claim="epsilon=1", runs=4_000, seed=1, keep_data=True
    )
    assert evidence.target == kept.target
    said: list[str] = []
    assert dp.replay(kept, say=said.append).holds
    assert len(said) == 1 and "own_release.py:release" in said[0] and "that of the evidence" in said[0]
    (folder / "own_release.py").write_text(OWN.replace("rng.laplace()", "rng.laplace(scale=2)"), encoding="utf-8")
    assert not dp.replay(kept, say=said.append).holds
    assert "and that of the evidence is" in said[1]
