"""Is evidence told apart from the target that it is not of?"""

from __future__ import annotations

from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.review.check import check_file, exit_code

SOURCE = """
from dpaudit.program.fold import Emit, Fold

SCALE = 2
PUBLIC = 1

def scale():
    return SCALE

def noisy(data, noise, *, epsilon=0.5):
    return [answer + noise.laplace(1 / epsilon) for answer in data]

def hidden(data, noise):
    return [answer + noise.laplace(scale()) for answer in data]

def respond(bit, noise):
    return bit if noise.bernoulli(0.75) else 1 - bit

def _step(state, answer, noise):
    return Emit(answer + noise.laplace(scale()), 1)

def _all(state):
    return None

sums = Fold(_step, 0, None)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "release.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proved(name: str, folder: Path) -> Path:
    options = {"length": 2, "relation": "queries", "runs": 0, "claim": "epsilon=1", "seed": 1}
    if name == "respond":
        options = {"domain": [0, 1], "relation": "replace", "runs": 0, "claim": "epsilon=2", "seed": 1}
    if name == "sums":
        options |= {"length": None, "relation": "queries(norm=1)"}
    evidence = dp.prove(f"release.py:{name}", **options)
    assert evidence.verdict is dp.Verdict.PROVED
    path = folder / f"{name}.json"
    evidence.save(path)
    return path


def code_of(path: Path, target: str) -> tuple[int, set[str]]:
    findings = check_file(path, target=target)
    return exit_code(findings), {finding.what for finding in findings if finding.fails}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noisy", "hidden", "respond", "sums"])
def test_evidence_of_the_target_passes(name: str, folder: Path) -> None:
    assert code_of(proved(name, folder), f"release.py:{name}") == (0, set())


@pytest.mark.parametrize(
    ("name", "before", "after", "failing"),
    [
        ("hidden", "SCALE = 2", "SCALE = 0.02", {"code", "program"}),
        ("noisy", "noise.laplace(1 / epsilon)", "noise.exponential(1 / epsilon)", {"code", "program"}),
        ("noisy", "epsilon=0.5", "epsilon=0.5, mode=None", {"code", "parameters"}),
        ("respond", "0.75", "0.875", {"code", "program"}),
        ("sums", "SCALE = 2", "SCALE = 0.02", {"code", "program"}),
        ("noisy", "PUBLIC = 1", "PUBLIC = 2", set()),
    ],
)
def test_other_code_fails(name: str, before: str, after: str, failing: set[str], folder: Path) -> None:
    path = proved(name, folder)
    assert before in SOURCE
    (folder / "release.py").write_text(SOURCE.replace(before, after), encoding="utf-8")
    code, failed = code_of(path, f"release.py:{name}")
    assert (code, failed) == (1 if failing else 0, failing)


def test_another_function_fails(folder: Path) -> None:
    code, failed = code_of(proved("noisy", folder), "release.py:hidden")
    assert code == 1 and {"name", "code", "parameters"} <= failed


@pytest.mark.slow
def test_an_audit_is_held_against_its_target(folder: Path) -> None:
    evidence = dp.audit("release.py:noisy", pairs=[([0.0], [1.0])], claim="epsilon=0.5", runs=4_000, seed=1)
    evidence.save(folder / "audit.json")
    assert code_of(folder / "audit.json", "release.py:noisy") == (0, set())
    (folder / "release.py").write_text(SOURCE.replace("1 / epsilon", "2 / epsilon"), encoding="utf-8")
    assert code_of(folder / "audit.json", "release.py:noisy") == (1, {"code"})


@pytest.mark.slow
def test_older_evidence_is_compared_by_its_kind_of_digest() -> None:
    path = Path(__file__).parent / "old" / "randomised_response.json"
    whats = {finding.what: finding for finding in check_file(path, target="randomised_response")}
    assert "reached1:" not in whats["code"].sentence
