"""Does the page of a proof check itself in a real browser, and say so, and nothing else of it run?"""

import base64
import copy
import gzip
import json
import re
from pathlib import Path

import msgspec
import pytest
from support import hostile_certificates as hostile
from support import made_certificates, made_releases
from support import made_evidence as made
from support.drawings import undrawn
from support.nightly import mostly_at_night

from dpaudit.evidence.evidence import Evidence
from dpaudit.report import evidence_from_page, html_page
from dpaudit.report.html.templates import BLOCK_ID, checker, packed

pytestmark = pytest.mark.slow

OLD = Path(__file__).resolve().parents[1] / "evidence" / "old"


@pytest.fixture(scope="module")
def drawn():
    """Return the page of kept evidence, drawn once."""
    pages = {}

    def page(name, **options):
        key = (name, *options)
        if key not in pages:
            pages[key] = html_page(Evidence.load(OLD / f"{name}.json"), **options)
        return pages[key]

    return page


@pytest.fixture
def opened(browser, tmp_path):
    """Return the line under the verdict of a page that is opened, its word, and what the browser complained of."""
    contexts = []

    def open_(html, scripts=True, size=None):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(java_script_enabled=scripts, viewport=size)
        contexts.append(context)
        page, complaints = context.new_page(), []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(file.as_uri())
        if scripts and "<script>" in html:
            page.wait_for_selector("#recheck[data-answer]", timeout=30_000)
        line = page.locator("#recheck")
        found = (line.inner_text(), line.get_attribute("data-answer")) if line.count() else ("", None)
        return *found, complaints, page

    yield open_
    for context in contexts:
        context.close()


def forged(html, change):
    """The page with other evidence in it, as someone would edit it who leaves the text as it is."""
    document = evidence_from_page(html).document()
    again = copy.deepcopy(document)
    change(again["evidence"])
    assert again != document
    return holding(html, json.dumps(again).replace("<", "\\u003c"))


def holding(html, text):
    """The page with another text in the block of its evidence."""
    return re.sub(rf'(id="{BLOCK_ID}">).*?(?=</script>)', lambda found: found[1] + text, html, flags=re.DOTALL)


def test_a_page_that_is_right_says_proved_with_bound_and_scope(opened, drawn):
    line, word, complaints, _ = opened(drawn("proved_any_length"))
    assert (word, complaints) == ("PROVED", [])
    assert line.startswith(
        "PROVED. ε ≤ 1 for prefix_sum with epsilon=1, for any number of queries, real numbers, where one query moves "
        "by at most 1. Checked in this browser"
    )
    assert line.endswith("That the program is what the certificate describes is not checked here.")


@pytest.mark.parametrize("name", mostly_at_night(["proved", "proved_any_length", "proved_from_records"]))
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_line_is_on_the_first_screen(opened, drawn, name, width, height):
    page = opened(drawn(name), size={"width": width, "height": height})[3]
    box = page.locator("#recheck").bounding_box()
    assert box["y"] + box["height"] <= height


@pytest.mark.nightly
def test_a_page_of_a_program_on_records_checks_itself(opened, drawn):
    line, word, complaints, _ = opened(drawn("proved_from_records"))
    assert (word, complaints) == ("PROVED", [])
    assert line.startswith("PROVED. ε ≤ 1 for ")
    assert "two_sums with epsilon=1, for any number of records, where one record comes or goes." in line

    def wider(evidence):
        evidence["proof"]["certificate"]["releases"][1]["values"][0]["terms"][0]["high"] = "91"

    for change in (smaller_bound, smaller_statement, larger_group, wider):
        line, word, complaints, _ = opened(forged(drawn("proved_from_records"), change))
        assert (word, complaints, "Do not rely on this page" in line) == ("REFUSED", [], True), change


def smaller_bound(evidence):
    evidence["proof"]["certificate"]["bound"] = "1/4"


def smaller_statement(evidence):
    evidence["upper"] |= {"value": 0.25, "exact": "1/4"}


def larger_group(evidence):
    evidence["proof"]["certificate"]["scope"]["group"] = 2


def more_movement(evidence):
    evidence["proof"]["certificate"]["scope"]["movement"] = "norm=1"
    evidence["proof"]["certificate"]["scope"]["group"] = 3


def less_noise(evidence):
    evidence["proof"]["certificate"]["nodes"][0]["scale"] = "1"


@pytest.mark.parametrize(
    "change", mostly_at_night([smaller_bound, smaller_statement, larger_group, more_movement, less_noise])
)
def test_a_page_that_is_forged_says_refused(opened, drawn, change):
    line, word, complaints, page = opened(forged(drawn("proved"), change))
    assert (word, complaints) == ("REFUSED", [])
    assert "Do not rely on this page" in line
    assert "presses" in page.locator("#recheck").get_attribute("class")


def other_kind(evidence):
    evidence["proof"]["certificate"]["kind"] = "selection"


def merged(evidence):
    evidence["proof"]["certificate"]["classes"] = [{}]


def broken(evidence):
    evidence["proof"]["certificate"]["bound"] = ["1"]


@pytest.mark.parametrize("change", mostly_at_night([other_kind, merged, broken]))
def test_what_is_not_covered_says_so(opened, drawn, change):
    line, word, complaints, _ = opened(forged(drawn("proved"), change))
    assert (word, complaints) == ("NOT COVERED", [])
    assert "Nothing was checked here; dpaudit check FILE does." in line


@pytest.mark.parametrize(
    ("certificate", "scope"),
    mostly_at_night(
        [
            (made_releases.reports("54930614433405484571/50000000000000000000", "1/4"), {"relation": "add-remove"}),
            (made_certificates.merged_below(), {"group": 2}),
            (made_certificates.fold_changes(), {"movement": "norm=1", "group": 2}),
        ]
    ),
    ids=["reports", "merged", "couplings"],
)
def test_what_is_right_is_proved_and_a_forged_bound_or_scope_refused(opened, drawn, certificate, scope):
    def held(**more):
        def change(evidence):
            own = evidence["proof"]["certificate"]["mechanism"]
            evidence["proof"]["certificate"] = certificate | more | {"mechanism": own}
            evidence["upper"] |= {"value": 1.5, "exact": "3/2"}

        return opened(forged(drawn("proved"), change))[1:3]

    assert held() == ("PROVED", [])
    assert held(bound="99/100") == ("REFUSED", [])
    assert held(scope=certificate["scope"] | scope) == ("REFUSED", [])


@pytest.mark.nightly
def test_a_hostile_certificate_ends_with_a_sentence(opened, drawn):
    def heavy(evidence):
        evidence["proof"]["certificate"] = hostile.heavy()

    line, word, complaints, _ = opened(forged(drawn("proved"), heavy))
    assert (word, complaints) == ("NOT COVERED", [])
    assert "it takes more steps than a page may" in line


@pytest.mark.nightly
def test_a_broken_file_is_a_sentence_and_no_exception(opened, drawn):
    html = drawn("proved")
    held = json.dumps(evidence_from_page(html).document())
    for text in (f"[{held[1:]}", f"{packed(held)}="):
        line, word, complaints, _ = opened(holding(html, text))
        assert (word, complaints) == ("NOT COVERED", [])
        assert "it cannot be read" in line or "the checker stopped" in line
    assert opened(holding(html, packed(held)))[1] == "PROVED"


def test_a_kind_that_is_not_covered_has_no_script(opened, drawn):
    html = drawn("enumerated")
    assert "<script>" not in html and "script-src" not in html
    line, word, complaints, _ = opened(html)
    assert (word, complaints) == (None, [])
    assert "(enumeration) is not covered" in line


@pytest.mark.nightly
def test_without_scripts_it_says_which_command_checks_it(opened, drawn):
    line, word, _, _ = opened(drawn("proved"), scripts=False)
    assert word is None
    assert "did not: dpaudit check FILE does" in line
    html = drawn("proved", script=False)
    assert "<script>" not in html and "script-src" not in html
    assert "This page has no script" in opened(html)[0]


def test_the_policy_allows_this_script_and_no_other(opened, drawn):
    html = drawn("proved")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    hashes = re.findall(r"'sha256-[^']*'", policy)
    assert len(hashes) == 2 and re.findall(r"script-src ([^;]*)", policy) == [" ".join(hashes)]
    altered = html.replace("[word, said] = dpaudit_check(", "[word, said] = ['PROVED', 'everything']; (")
    assert altered != html
    page = opened(altered.replace("<script>", "<script >"))[3]
    page.wait_for_timeout(200)
    assert page.locator("#recheck").inner_text().startswith("This page checks its proof where scripts may run")
    stopped = opened(html)[3].evaluate(
        """async () => {
          const broken = [];
          addEventListener("securitypolicyviolation", event => broken.push(event.effectiveDirective.split("-")[0]));
          const script = document.createElement("script");
          script.textContent = "document.title = 'owned'";
          document.body.append(script);
          await fetch("http://127.0.0.1:9/").catch(() => {});
          await new Promise(done => setTimeout(done, 50));
          return [document.title === "owned", [...new Set(broken)].sort()];
        }"""
    )
    assert stopped == [False, ["connect", "script"]]


def test_a_checker_that_was_altered_does_not_run(opened, drawn):
    other = checker().replace("dpaudit_check", "dpaudit_other") + "globalThis.dpaudit_check=()=>['PROVED','everything']"
    packed = base64.b64encode(gzip.compress(other.encode())).decode()
    html = re.sub(r'(<script type="text/plain" id="checker">)[^<]*', lambda found: found[1] + packed, drawn("proved"))
    assert packed in html
    assert opened(html)[:2][1] == "NOT COVERED"


@pytest.mark.nightly
def test_an_audit_without_a_proof_has_neither_line_nor_script(drawn):
    assert 'id="recheck"' not in drawn("laplace_first") and "<script>" not in drawn("laplace_first")


def test_hostile_names_stay_text(opened):
    evidence = Evidence.load(OLD / "proved.json")
    name = "<img src=x onerror=alert(1)></script>"
    certificate = copy.deepcopy(evidence.proof.certificate)
    certificate["mechanism"]["name"] = name
    evidence = msgspec.structs.replace(
        evidence,
        target=msgspec.structs.replace(evidence.target, name=name),
        proof=msgspec.structs.replace(evidence.proof, certificate=certificate),
    )
    line, word, complaints, page = opened(html_page(evidence))
    assert (word, complaints) == ("PROVED", [])
    assert name in line
    assert page.locator("#recheck img").count() == 0


@pytest.mark.parametrize(
    "kind", ["proved", "proved for any length", "refuted", "above the claim", "enumerated", "laplace"]
)
def test_a_page_has_its_line_where_something_was_proved(kind):
    evidence = made.KINDS[kind]()
    with undrawn():
        html = html_page(evidence)
    proved = evidence.proof is not None and evidence.proof.certificate is not None and evidence.upper is not None
    assert html.count('id="recheck"') == proved
    assert html.count("<script>") == (proved and kind != "enumerated")
