"""Does the committed evidence say what audits find today, and are the pages drawn from it?"""

import functools
import importlib.util
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from support.nightly import mostly_at_night

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
EXAMPLES, KEPT = regenerate.EXAMPLES, regenerate.KEPT
MATPLOTLIB = re.search(r"^matplotlib==(.+)$", (REPORTS / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[
    1
]
index = functools.cache(regenerate.index)


def old_and_new(file, make):
    """The record in a file, and that of evidence made today, but for the versions that made them."""
    old, new = dp.Evidence.load(file).record(), make().record()
    assert old.pop("versions").keys() == new.pop("versions").keys()
    return old, new


def test_every_entry_has_its_evidence_and_a_row():
    assert {file.stem for file in FILES} == set(dp.catalogue())
    links = re.findall(r'<th scope="row"><a href="([^"]+)"', index())
    assert links[: len(EXAMPLES)] == [f"pages/{one.name}.html" for one in EXAMPLES]
    assert {f"evidence/{file.name}" for file in FILES} == set(links[len(EXAMPLES) :])


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
        assert mechanism.needs in index()
    else:
        assert evidence.verdict is dp.Verdict.VIOLATED


# --- the example pages ------------------------------------------------------------------------------------


def test_there_is_a_page_of_every_kind_and_nothing_else():
    shown = {one.name: dp.Evidence.load(one.file) for one in EXAMPLES}
    assert {file.name for file in (REPORTS / "pages").iterdir()} == {
        f"{KEPT.name}.html",
        *(one.file.name for one in EXAMPLES if one.file.parent.name == "pages"),
    }
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


@pytest.mark.parametrize(
    "one", mostly_at_night(EXAMPLES, stay=[EXAMPLES[1], EXAMPLES[6]]), ids=lambda one: getattr(one, "name", None)
)
def test_an_example_page_is_small_and_carries_its_evidence(one):
    evidence = dp.Evidence.load(one.file)
    text = html_page(evidence)
    assert len(text.encode()) <= 400_000
    assert evidence_from_page(text) == evidence


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.name)
def test_the_evidence_of_an_example_holds(one):
    evidence = dp.Evidence.load(one.file)
    assert evidence.run is None  # no date and no machine
    unseen = evidence.verdict is dp.Verdict.INVALID  # that runs cannot be trusted, only another audit can show
    assert exit_code(check(evidence)) == (3 if unseen else 0)
    place = f"{KEPT.name}.html" if one is KEPT else one.file.name
    assert f"[{one.name}]({one.file.parent.name}/{place})" in (REPORTS / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif(
    version("matplotlib") != MATPLOTLIB,
    reason=f"the page was drawn with Matplotlib {MATPLOTLIB}, and another draws other bytes",
)
def test_the_page_that_is_kept_is_drawn_again_to_the_byte():
    drawn = html_page(dp.Evidence.load(KEPT.file))
    kept = KEPT.file.with_suffix(".html").read_text(encoding="utf-8")
    assert drawn == kept, "draw it: reports/regenerate.py --draw"


@pytest.mark.parametrize("name", ["model-scores", "invalid", "inconclusive"])
def test_a_sample_of_the_examples_comes_out_the_same(name, monkeypatch):
    monkeypatch.chdir(REPORTS.parent)
    old, new = old_and_new(*next(item for item in regenerate.made().items() if item[0].stem == name))
    assert old == new
