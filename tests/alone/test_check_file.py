"""Does the file for reviewers say what ``dpaudit check`` says, with nothing installed, and never more?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.forging import ROOT

from dpaudit.alone.build import built
from dpaudit.alone.canonical import dumps
from dpaudit.alone.tails import tail
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import check_file, exit_code

OLD = ROOT / "tests" / "evidence" / "old"
KEPT = ("randomised_response", "proved_without_runs", "no_claim", "invalid", "two_pairs", "sequential", "zcdp")
CHANGES: dict[str, tuple[Any, ...]] = {
    "verdict": ("verdict", "proved"),
    "value": ("lower", "value", 0.5),
    "counts": ("attempts", 0, "bound", "counts", "toward0", [0, 0]),
    "method": ("attempts", 0, "bound", "method", "multinomial"),
    "power": ("detectable", 0.1),
    "type": ("seed", "7"),
    "member": ("nobody", 1),
    "assumptions": ("assumptions", []),
    "relation": ("relation", "queries(one)"),
}


@pytest.fixture(scope="module")
def check_pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "dpaudit-check.pyz"
    path.write_bytes(built())
    return path


def said(check_pyz: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(check_pyz), *names], capture_output=True, text=True, check=False
    )


def forged(name: str, path: tuple[Any, ...]) -> str:
    record = json.loads((OLD / f"{name}.json").read_text(encoding="utf-8"))["evidence"]
    inner = record
    for part in path[:-2]:
        inner = inner[part]
    inner[path[-2]] = path[-1]
    return json.dumps({"id": content_id(record), "evidence": record, "run": None})


@pytest.mark.slow
def test_it_says_what_the_check_says_and_never_more(check_pyz: Path, tmp_path: Path) -> None:
    """All files in one process: what holds or fails there does so here, in the same words, and green here is green."""
    files = [OLD / f"{name}.json" for name in KEPT]
    for number, change in enumerate(CHANGES):
        files.append(tmp_path / f"{number} {change}.json")
        files[-1].write_text(forged("randomised_response", CHANGES[change]), encoding="utf-8")
    found = said(check_pyz, *map(str, files))
    parts: dict[str, list[str]] = {}
    for line in found.stdout.splitlines():
        if line.endswith(".json:"):
            parts[line[:-1]] = []
        else:
            parts[next(reversed(parts))].append(line)
    for file in files:
        lines = parts[str(file)]
        try:
            own = check_file(file)
        except UsageError:
            assert not lines
            assert str(file) in found.stderr
            continue
        words = {f"{each.answer!s:<12} {each.what:<15} {each.sentence}" for each in own}
        told = [line for line in lines[:-1] if not line.startswith("not checked")]
        assert told and set(told) <= words
        if exit_code(own):
            assert ", 0 fail," not in lines[-1] or "of which the verdict rests on" in lines[-1]
        else:
            assert ", 0 fail," in lines[-1]
    assert found.returncode == 1
    green = said(check_pyz, str(OLD / "proved_without_runs.json"), "--quiet")
    assert (green.returncode, green.stdout, green.stderr) == (0, "", "")


def test_the_same_tree_gives_the_same_small_file(check_pyz: Path) -> None:
    assert check_pyz.read_bytes() == built()
    assert len(check_pyz.read_bytes()) < 600_000


@pytest.mark.parametrize(("hits", "runs", "chance"), [(3, 9, 0.25), (2, 9, 0.75), (70, 90, 0.5), (100, 150, 2.0**-9)])
def test_a_binomial_tail_lies_between_its_bounds(hits: int, runs: int, chance: float) -> None:
    from fractions import Fraction
    from math import comb

    p = Fraction(chance)
    exact = sum((comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(hits, runs + 1)), Fraction(0))
    low, high = tail(hits, runs, chance)
    assert low <= exact <= high <= low * (1 + Fraction(1, 10**20))


def test_canonical_json_is_that_of_the_library() -> None:
    import rfc8785

    numbers = [0.0, -0.0, 1.0, 1e21, 1e20, 123456789012345680000.0, 1e-6, 1e-7, 0.1, 5e-324, 1.7976931348623157e308]
    values = {"b": [*numbers, -1.5e-9, 2**53 - 1, None, True], "é\n\u2028": '\x7f\x01\\"/𐀀', "𐀀": {}, "\ufb33": []}
    assert dumps(values) == rfc8785.dumps(values)
