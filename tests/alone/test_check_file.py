"""Does the file for reviewers say what ``dpaudit check`` says, with nothing installed, and never more?"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.forgeries import BARE, FORGERIES, record_of
from support.forging import ROOT

from dpaudit.alone import arrays
from dpaudit.alone.build import built, contents, digest
from dpaudit.alone.ndarray import MissingError
from dpaudit.alone.special import tail
from dpaudit.alone.structs import dumps
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check_file, exit_code

OLD = ROOT / "tests" / "evidence" / "old"
KEPT = ("randomised_response", "proved_without_runs", "no_claim", "invalid", "two_pairs")
FORGED = ("a violation is called none", "no claim", "an attempt that is left out", "other laws", "a search of nothing")
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
    for number, name in enumerate(FORGED):
        text = BARE.get(name)
        if text is None:
            kept, change = FORGERIES[name]
            record = record_of(kept)
            change(record)
            text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
        files.append(tmp_path / f"forged {number}.json")
        files[-1].write_text(text, encoding="utf-8")
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
    assert len(check_pyz.read_bytes()) < 700_000


def test_a_reader_computes_the_digest_of_the_site(
    check_pyz: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "review.md").read_text(encoding="utf-8")
    monkeypatch.chdir(check_pyz.parent)
    exec(textwrap.dedent(page.partition("```python\n")[2].partition("```")[0]), {})
    assert capsys.readouterr().out.strip() == digest(contents())


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


OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "broadcast": lambda xp, a, b: a[:, None, :] * b[:, None][1] - xp.log(xp.abs(a) + 1)[:, :1, None],
    "ellipsis": lambda xp, a, b: a[..., 1] + b[0, ..., None][:, 0],
    "columns": lambda xp, a, b: a[:, xp.array([2, 0, 2])],
    "mask": lambda xp, a, b: a[a > 0.2],
    "backwards": lambda xp, a, b: xp.cumsum(a[::-1, 1])[::-1][:-1],
    "running": lambda xp, a, b: xp.maximum.accumulate(a[1]) + xp.cumsum(a, axis=1)[0],
    "reduced": lambda xp, a, b: xp.max(b, axis=(1, 2), keepdims=True) + xp.sum(b, axis=0)[None],
    "squeezed": lambda xp, a, b: xp.squeeze(xp.max(b, axis=(0, 2), keepdims=True), (0, 2)),
    "stacked": lambda xp, a, b: xp.stack([a, a + 1, -a], axis=-2),
    "joined": lambda xp, a, b: xp.concatenate([[0.0], a[0], xp.diff(a[1])]),
    "along": lambda xp, a, b: xp.take_along_axis(b, xp.argmax(b, axis=0)[None], axis=0),
    "products": lambda xp, a, b: xp.einsum("jk,lmk->ljm", a, b),
    "transposed": lambda xp, a, b: b.T.reshape(-1) + a.T.ravel()[0],
    "different": lambda xp, a, b: xp.unique(xp.floor(a).astype(xp.int64), axis=1, return_inverse=True)[1].reshape(-1),
    "nothing known": lambda xp, a, b: xp.fmin(xp.nan_to_num(a / (a * 0)), xp.logaddexp(a, 0.0)),
    "clipped": lambda xp, a, b: xp.where(a.clip(0) > 0, xp.clip(a, -0.5, 0.5), xp.sqrt(xp.abs(a))).mean(axis=0),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_stand_in_arrays_give_what_numpy_gives(name: str) -> None:
    chance = np.random.default_rng(1)
    given = [chance.normal(size=(3, 4)), chance.normal(size=(2, 3, 4))]
    wanted = OPERATIONS[name](np, *given)
    found = OPERATIONS[name](arrays, *(arrays.array(each.tolist()) for each in given))
    assert found.shape == wanted.shape
    assert np.allclose(found.values, wanted.ravel(), rtol=1e-14, atol=1e-14, equal_nan=True)


def test_what_stand_in_arrays_do_not_understand_is_missing() -> None:
    values = arrays.array([[1.0, 2.0], [3.0, 4.0]])
    for asked in (
        lambda: values[arrays.array([0]), arrays.array([1])],
        lambda: arrays.fft(values),
        lambda: values @ 2,
        lambda: arrays.arange(10**9),
    ):
        with pytest.raises((MissingError, TypeError)):
            asked()


PAGE = ROOT / "reports" / "pages" / "refuted-sparse-vector.html"
EDITS = {
    "another word": lambda page: page.replace("Verdict: </span>VIOLATED", "Verdict: </span>PROVED"),
    "another title": lambda page: page.replace("<title>VIOLATED", "<title>PROVED"),
    "another tone of the sentence": lambda page: page.replace('<p class="sentence">', '<p class="sentence">Not that '),
    "a second word": lambda page: page.replace("</h2>", "</h2><h2 id='verdict-word'>Verdict: PROVED</h2>", 1),
    "a word before the verdict": lambda page: page.replace('<div class="banner">', '<div class="banner">PROVED', 1),
    "the evidence of another verdict": lambda page: page.replace(
        page.partition('id="dpaudit-evidence">')[2].partition("</script>")[0],
        (ROOT / "reports" / "pages" / "proved-sparse-vector.html")
        .read_text(encoding="utf-8")
        .partition('id="dpaudit-evidence">')[2]
        .partition("</script>")[0],
    ),
}


@pytest.mark.slow
def test_a_page_that_shows_another_verdict_fails_and_others_name_the_command_that_compares_them(
    check_pyz: Path, tmp_path: Path
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, edit in EDITS.items():
        file = tmp_path / f"{name}.html"
        file.write_text(edit(page), encoding="utf-8")
        assert edit(page) != page, name
        found = said(check_pyz, str(file))
        assert found.returncode == 1 and found.stdout.startswith("fails        page"), name
    whole = said(check_pyz, str(PAGE))
    assert whole.returncode == 3
    assert "the verdict that it shows is that of its evidence" in whole.stdout and "dpaudit check" in whole.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        *(ROOT / "reports" / "evidence" / f"{name}.json" for name in ("half_sensitivity", "partial_sum_half_noise")),
        *(OLD / f"{name}.json" for name in ("sequential", "scores", "one_run", "outputs", "proved_from_records")),
        ROOT / "reports" / "pages" / "model-scores.json",
    ],
    ids=lambda file: file.stem,
)
def test_red_audits_scores_and_proofs_from_records_are_computed_again(check_pyz: Path, file: Path) -> None:
    found = said(check_pyz, str(file))
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("value", [0.0, -0.001, 1.0, 1e-300, "nan"])
def test_a_chance_of_a_false_alarm_that_is_none_is_no_evidence(value, check_pyz, tmp_path):
    """At 0 a check would halve an error level for ever, and take all memory."""
    record = record_of("laplace_first")
    record["false_alarm"] = value
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    with pytest.raises(UsageError, match="not the evidence that this dpaudit reads"):
        Evidence.from_json(text)
    (tmp_path / "forged.json").write_text(text, encoding="utf-8")
    assert said(check_pyz, str(tmp_path / "forged.json")).returncode == 2
