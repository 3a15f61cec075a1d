"""Is a page complete, readable and harmless in a real browser: desktop, phone and print, light and dark?"""

import functools
import json
import math
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
from support import made_evidence as made
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.report import html_page
from dpaudit.report.html.index import IndexEntry, index_page
from dpaudit.review.compare import compare, compare_page

pytestmark = pytest.mark.slow

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
REPORTS = Path(__file__).resolve().parents[2] / "reports"
LONG = "x" * 10_000
NASTY = f"</title></style><script>document.title='owned'</script>&amp;\u202e{made.HOSTILE}{LONG}"


def nasty():
    """Every text breaks out wherever it can, and one of them never ends."""
    plain = made.hostile()
    target = msgspec.structs.replace(plain.target, name=NASTY, summary=NASTY, source=NASTY)
    cells = (msgspec.structs.replace(plain.histogram.cells[0], label=NASTY), *plain.histogram.cells[1:])
    histogram = msgspec.structs.replace(plain.histogram, cells=cells)
    return msgspec.structs.replace(plain, target=target, histogram=histogram, unit=NASTY)


def scores():
    rng = np.random.default_rng(0)
    return dp.tools.audit_scores(
        rng.normal(1, 1, 1_000), rng.normal(0, 1, 1_000), claim="epsilon=1, delta=1e-5", design="independent"
    )


def example(name):
    place = {"categories": "evidence/exponential", "vector": "evidence/noisy_histogram"}.get(name, f"pages/{name}")
    return lambda: dp.Evidence.load(REPORTS / f"{place}.json")


EIGHT = (
    *("proved-sparse-vector", "refuted-sparse-vector", "gaussian-curve", "categories"),
    *("vector", "model-scores", "invalid", "inconclusive"),
)
KINDS = {
    **{name: example(name) for name in EIGHT},
    "scores": scores,
    "low bits": made.low_bits,
    "nasty": nasty,
}
STAY = ("gaussian-curve", "nasty", "refuted-sparse-vector", "invalid", "scores")
"""What is looked at in every run of the tests: all sections and drawings once."""
IMPOSSIBLE = {"invalid"}  # no drawing to look at


@functools.cache
def written(kind):
    return html_page(KINDS[kind]())


@pytest.fixture(scope="module")
def visit(browser, tmp_path_factory):
    """Return a page that shows a kind, and every address that it asked for; one window for all tests."""
    folder = tmp_path_factory.mktemp("pages")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    shown = []

    def show(kind, *, width=1280, scheme="light", media="screen", opened=True):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media=media, color_scheme=scheme)
        if shown != [kind]:
            shown[:] = [kind]
            asked.clear()
            said.clear()
            file = folder / f"{kind}.html"
            file.write_text(written(kind), encoding="utf-8")
            page.goto(file.as_uri())
        page.evaluate(f"document.querySelectorAll('details.part').forEach(part => part.open = {json.dumps(opened)})")
        return page

    show.asked, show.said = asked, said
    yield show
    context.close()


def audited(page, *rules):
    """What axe-core finds, each with the first place where it stands."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    options = {"resultTypes": ["violations"], **({"runOnly": {"type": "rule", "values": rules}} if rules else {})}
    where = {"exclude": [["svg.drawing > *"]]}  # a drawing is one picture with a label
    found = page.evaluate(f"axe.run({json.dumps(where)}, {json.dumps(options)})")["violations"]
    return {one["id"]: one["nodes"][0]["html"][:200] for one in found}


@pytest.mark.parametrize("kind", mostly_at_night(KINDS), scope="module")
def test_it_asks_for_nothing_and_says_nothing(visit, kind):
    visit(kind)
    assert len(visit.asked) == 1  # the page itself
    assert visit.asked[0].startswith("file:")
    assert visit.said == []
    assert len(written(kind).encode()) < 1_000_000


@pytest.mark.parametrize("kind", mostly_at_night(KINDS, stay=STAY[2:3]), scope="module")
def test_nothing_keeps_people_from_reading_it(visit, kind):
    assert audited(visit(kind)) == {}


@pytest.mark.parametrize("kind", mostly_at_night(KINDS, stay=STAY[:1]), scope="module")  # the colours are shared
def test_the_dark_can_be_read_too(visit, kind):
    assert audited(visit(kind, scheme="dark"), "color-contrast") == {}


@pytest.mark.parametrize("kind", KINDS, scope="module")
def test_it_fits_a_phone(visit, kind):
    page = visit(kind, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if kind not in IMPOSSIBLE:
        drawn = page.evaluate("[...document.querySelectorAll('svg.drawing')].map(d => [...d.classList, d.clientWidth])")
        assert any("wide" not in classes and classes[-1] > 200 for classes in drawn)
        assert all("wide" not in classes or classes[-1] == 0 for classes in drawn)


@pytest.mark.parametrize("kind", KINDS, scope="module")
def test_no_text_of_a_drawing_is_cut_or_covers_another(visit, kind):
    for width in (1280, 390):
        page = visit(kind, width=width)
        assert page.evaluate(_CUT) == []


_CUT = """
(() => {
  const cut = [];
  const over = (low, high, other_low, other_high) => Math.min(high, other_high) - Math.max(low, other_low);
  for (const drawing of document.querySelectorAll("svg.drawing")) {
    const frame = drawing.getBoundingClientRect();
    if (!frame.width) continue;
    const boxes = [...drawing.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    for (const [text, box] of boxes)
      if (over(box.left, box.right, frame.left, frame.right) < box.width - 3
          || over(box.top, box.bottom, frame.top, frame.bottom) < box.height - 3) cut.push(text.slice(0, 80));
    for (const [one, a] of boxes)
      for (const [other, b] of boxes)
        if (one < other && over(a.left, a.right, b.left, b.right) > 3 && over(a.top, a.bottom, b.top, b.bottom) > 4)
          cut.push(one.slice(0, 80) + " / " + other.slice(0, 80));
  }
  return cut;
})()
"""


@pytest.mark.parametrize(
    "kind",
    mostly_at_night(["proved-sparse-vector", "gaussian-curve", "categories", "invalid"], stay=["categories"]),
    scope="module",
)
def test_print_has_every_section(visit, kind):
    pdf = pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed: pip install '.[test]'")
    page = visit(kind)
    headings = page.locator("section > h2, section > h3, summary > h2").all_inner_texts()
    for paper in ("A4", "Letter") if kind == "invalid" else ("A4",):
        printed = page.pdf(format=paper)
        text = _bare("".join(part.get_textpage().get_text_range() for part in pdf.PdfDocument(printed)))
        assert [heading for heading in headings if _bare(heading) not in text] == []
        assert _bare(page.locator("#verdict .sentence").inner_text()) in text


@pytest.mark.parametrize(
    "kind", mostly_at_night(kind for kind in KINDS if kind not in {"invalid", "nasty"}), scope="module"
)
def test_the_first_screen_answers_and_the_summary_prints_on_two_pages(visit, kind):
    pdf = pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed: pip install '.[test]'")
    page = visit(kind, opened=False)
    last = "#released tbody tr:first-child" if page.locator("#released").count() else "#made code"
    for answer in ("#verdict .sentence", "#about dt", "#about dd", last):
        for each in page.locator(answer).all():
            box = each.bounding_box()
            assert box["y"] + box["height"] < 800, each.inner_text()
    identity = _bare(page.locator("#made code").last.inner_text())
    printed = pdf.PdfDocument(visit(kind, opened=False, media="print").pdf(prefer_css_page_size=True))
    texts = [_bare(part.get_textpage().get_text_range()) for part in printed]
    assert next(number for number, text in enumerate(texts) if "Forreviewers" in text) <= 2
    for number, text in enumerate(texts, 1):
        assert identity in text
        assert f"{number}/{len(printed)}" in text


@pytest.mark.parametrize("kind", ["invalid", "proved-sparse-vector"], scope="module")
def test_what_is_printed_unopened_is_what_a_signature_stands_under(visit, kind):
    pdf = pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed: pip install '.[test]'")
    page = visit(kind, media="print")
    page.reload()  # with everything as it is when a reader comes to it
    printed = pdf.PdfDocument(page.pdf(prefer_css_page_size=True))
    text = _bare("".join(part.get_textpage().get_text_range() for part in printed))
    for heading in (
        "What this does not show",
        "Scope",
        "Layers of the promise",
        "What this audit cannot show",
        "Signature",
    ):
        assert _bare(heading) in text, heading


def _bare(text):
    return re.sub(r"[\s\ufffe\u00ad-]+", "", text)  # a hyphen at the end of a line may be gone


def _without_check(page):
    """The texts of a page, without the line in which its proof is checked."""
    line = page.locator("#recheck")
    checked = line.inner_text() if line.count() else ""
    return [text.replace(checked, "") for text in page.locator("main > *").all_inner_texts()]


@pytest.mark.parametrize("kind", ["refuted-sparse-vector", "model-scores"], scope="module")
def test_it_is_complete_without_scripts(browser, visit, kind):
    scripted = visit(kind)
    scripted.reload()  # what is open is open by itself
    if scripted.locator("script").count() > 1:
        scripted.wait_for_selector("#recheck[data-answer]")  # the only line that a script writes
    with_scripts = _without_check(scripted)
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(visit(kind).url)
    assert _without_check(page) == with_scripts
    context.close()


def test_hostile_text_stays_text(visit):
    page = visit("nasty")
    assert page.evaluate("document.title").startswith("VIOLATED: </title></style><script>")
    heading = page.locator("h1").inner_text()
    assert heading.startswith("</title></style><script>document.title='owned'</script>&amp;\\u202e")
    assert page.locator("script").count() == 1
    assert page.evaluate("document.querySelectorAll('svg.drawing script, [onload], iframe, object').length") == 0
    assert "\u202e" not in page.content()


def test_the_policy_stops_what_a_page_does_not_need(visit):
    page = visit("gaussian-curve")
    stopped = page.evaluate(
        """async () => {
          const broken = [];
          addEventListener("securitypolicyviolation", event => broken.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "document.title = 'owned'";
          document.body.append(script);
          await fetch("http://127.0.0.1:9/").catch(() => {});
          const image = new Image();
          image.src = "http://127.0.0.1:9/x.png";
          await new Promise(done => setTimeout(done, 50));
          return [document.title, broken.map(name => name.split("-")[0]).sort()];
        }"""
    )
    assert stopped[0] != "owned"
    assert stopped[1] == ["connect", "img", "script"]


# --- pages over several ----------------------------------------------------------------------------------


def index():
    return index_page(
        "Reports", "All of them.", [IndexEntry(make(), f"{name}.html", name) for name, make in KINDS.items()]
    )


def comparison():
    before, now = (dp.audit("laplace", parameters={"epsilon": at}, runs=4_000) for at in (1, 3))
    return compare_page(before, now, compare(before, now))


OVER_SEVERAL = {"index": index, "comparison": comparison}


@pytest.fixture
def over_several(browser, tmp_path):
    """Return a page over several, without scripts unless they are asked for, and what it asked and said."""
    contexts = []

    def show(name, *, scripts=False):
        context = browser.new_context(java_script_enabled=scripts, viewport={"width": 1280, "height": 900})
        contexts.append(context)
        page, noted = context.new_page(), []
        page.on("request", lambda request: noted.append(request.url))
        page.on("console", lambda message: noted.append(message.text))
        page.on("pageerror", lambda error: noted.append(str(error)))
        file = tmp_path / f"{name}.html"
        file.write_text(OVER_SEVERAL[name](), encoding="utf-8")
        page.goto(file.as_uri())
        return page, noted

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", OVER_SEVERAL)
def test_a_page_over_several_is_quiet_readable_and_fits(name, over_several):
    page, noted = over_several(name, scripts=True)
    assert len(noted) == 1
    assert audited(page) == {}
    page.emulate_media(color_scheme="dark")
    assert audited(page, "color-contrast") == {}
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("name", mostly_at_night(OVER_SEVERAL))
def test_a_page_over_several_is_complete_without_scripts(name, over_several):
    shown = over_several(name, scripts=True)[0].locator("main").inner_text()
    assert over_several(name)[0].locator("main").inner_text() == shown


def test_an_index_is_sorted_by_a_click_on_a_heading(over_several):
    page, noted = over_several("index", scripts=True)
    bounds = "[...document.querySelectorAll('tbody tr')].map(row => parseFloat(row.cells[3].dataset.order))"
    names = "[...document.querySelectorAll('tbody a')].map(link => link.getAttribute('href')).sort()"
    before, links = page.evaluate(bounds), page.evaluate(names)
    page.get_by_role("button", name="Lower bound").click()
    numbers = [number for number in page.evaluate(bounds) if not math.isnan(number)]
    assert numbers == sorted(number for number in before if not math.isnan(number)) != before
    page.get_by_role("button", name="Lower bound").click()
    assert [number for number in page.evaluate(bounds) if not math.isnan(number)] == numbers[::-1]
    assert page.evaluate(names) == links
    assert page.locator("th[aria-sort=descending]").count() == 1
    assert len(noted) == 1
