"""Do the committed reference reports say what audits find today, and are their pages drawn from them?"""

from __future__ import annotations

import importlib.util
import re
from importlib.metadata import version
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.report import evidence_from_page, html_page
from dpaudit.review.check import check
from dpaudit.review.check.finding import exit_code

pytestmark = pytest.mark.slow

REPORTS = Path(__file__).resolve().parents[2] / "reports"
spec = importlib.util.spec_from_file_location("regenerate", REPORTS / "regenerate.py")
regenerate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(regenerate)

FILES = sorted((REPORTS / "evidence").glob("*.json"))
EXAMPLES = [REPORTS / "pages" / f"{one.name}.json" for one in regenerate.EXAMPLES]
MATPLOTLIB = re.search(r"^matplotlib==(.+)$", (REPORTS / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[
    1
]


def old_and_new(file, make):
    """The record in a file, and that of evidence made today, but for the versions that made them."""
    old, new = dp.Evidence.load(file).record(), make().record()
    assert old.pop("versions").keys() == new.pop("versions").keys()
    return old, new


def test_every_entry_has_its_evidence_and_a_row():
    assert {file.stem for file in FILES} == set(dp.catalogue())
    page = (REPORTS / "index.html").read_text(encoding="utf-8")
    for file in FILES:
        assert f'href="evidence/{file.name}"' in page


@pytest.mark.parametrize("file", FILES[::9], ids=lambda file: file.stem)
def test_a_sample_comes_out_the_same(file):
    old, new = old_and_new(file, lambda: regenerate.audited(file.stem))
    if "linear" in file.read_text(encoding="utf-8"):
        # a fitted score depends in its last bits on the processor's linear algebra
        assert old["verdict"] == new["verdict"]
        assert new["lower"]["value"] == pytest.approx(old["lower"]["value"], rel=0.05)
    else:
        assert old == new


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_verdicts_are_those_of_the_catalogue(file):
    evidence, mechanism = dp.Evidence.load(file), dp.catalogue()[file.stem]
    if mechanism.correct:
        assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    elif mechanism.needs:
        assert evidence.verdict in (dp.Verdict.NOT_VIOLATED, dp.Verdict.INCONCLUSIVE)
        assert mechanism.needs in (REPORTS / "index.html").read_text(encoding="utf-8")
    else:
        assert evidence.verdict is dp.Verdict.VIOLATED


# --- the example pages ------------------------------------------------------------------------------------


def test_there_is_a_page_of_every_kind_and_nothing_else():
    shown = {file.stem: dp.Evidence.load(file) for file in EXAMPLES}
    assert sorted(file.name for file in (REPORTS / "pages").iterdir()) == sorted(
        f"{name}{ending}" for name in shown for ending in (".html", ".json")
    )
    assert shown["proved-sparse-vector"].verdict is dp.Verdict.PROVED
    assert shown["proved-sparse-vector"].proof.length is None
    assert shown["refuted-sparse-vector"].verdict is dp.Verdict.VIOLATED
    assert shown["refuted-sparse-vector"].counterexample is not None
    assert shown["refuted-sparse-vector"].exact.value > 1
    assert shown["gaussian-curve"].curve is not None
    assert shown["categories"].histogram.axis == "category"
    assert shown["categories"].histogram.exact is not None
    assert shown["vector"].histogram.axis == "score"
    assert shown["model-scores"].scores.design == "one-run"
    assert shown["invalid"].verdict is dp.Verdict.INVALID
    assert shown["inconclusive"].verdict is dp.Verdict.INCONCLUSIVE


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_page_is_small_and_carries_its_evidence(file):
    text = file.with_suffix(".html").read_text(encoding="utf-8")
    assert len(text.encode()) <= 400_000
    evidence = dp.Evidence.load(file)
    assert evidence_from_page(text) == evidence
    assert evidence.run is None  # no date and no machine
    unseen = evidence.verdict is dp.Verdict.INVALID  # that runs cannot be trusted, only another audit can show
    assert exit_code(check(evidence)) == (3 if unseen else 0)
    assert f'href="pages/{file.stem}.html"' in (REPORTS / "index.html").read_text(encoding="utf-8")
    assert f"(pages/{file.stem}.html)" in (REPORTS / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif(
    version("matplotlib") != MATPLOTLIB,
    reason=f"the pages were drawn with Matplotlib {MATPLOTLIB}, and another draws other bytes",
)
@pytest.mark.parametrize("file", EXAMPLES[::2], ids=lambda file: file.stem)
def test_an_example_page_is_drawn_again_to_the_byte(file):
    drawn = html_page(dp.Evidence.load(file))
    assert drawn == file.with_suffix(".html").read_text(encoding="utf-8"), "draw it: reports/regenerate.py --draw"


@pytest.mark.parametrize("name", ["categories", "model-scores", "invalid", "inconclusive"])
def test_a_sample_of_the_examples_comes_out_the_same(name, monkeypatch):
    monkeypatch.chdir(REPORTS.parent)
    old, new = old_and_new(*next(item for item in regenerate.made().items() if item[0].stem == name))
    assert old == new


def test_the_index_lists_the_examples_first():
    page = (REPORTS / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<th scope="row"><a href="([^"]+)"', page)
    assert links[: len(EXAMPLES)] == [f"pages/{file.stem}.html" for file in EXAMPLES]
    assert len(links) == len(EXAMPLES) + len(FILES)
    assert page == regenerate.index({file: dp.Evidence.load(file) for file in regenerate.made()})
