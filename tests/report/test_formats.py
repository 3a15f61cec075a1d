"""Are the other formats what their readers expect, for every verdict and kind, and is hostile text only text?"""

import hashlib
import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import msgspec
import pytest
import rfc8785
import yaml
from markdown_it import MarkdownIt
from support import made_evidence
from support.drawings import undrawn

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report import html_page
from dpaudit.report.formats import escaped, markdown, pdf, statement, statement_text
from dpaudit.report.registry import FIELDS, checked, read_context, registry_record, registry_yaml
from dpaudit.report.text.reproduce import bibtex
from dpaudit.report.text.verdict import reason_says_more

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "evidence" / "old").glob("*.json"))
LOADED = {file.stem: Evidence.load(file) for file in FILES}
MADE = {
    name: make()
    for name, make in vars(made_evidence).items()
    if callable(make) and getattr(make, "__module__", "") == made_evidence.__name__ and not name.startswith("_")
    if make.__code__.co_argcount == 0 and isinstance(make(), Evidence)
}
ALL = {**LOADED, **MADE}
every = pytest.mark.parametrize("name", ALL)
TWISTED = (
    made_evidence.HOSTILE
    + "\n- a\n# b\t| c | \ufffe \U0001f600 {{ x }} %s ]( http://e.vil ) www.evil @you #1 :+1: ~~s~~ \\"
)


def hostile(evidence):
    """The same evidence with hostile text wherever somebody else's text may stand."""
    parameters = {TWISTED: TWISTED}
    target = msgspec.structs.replace(
        evidence.target, name=TWISTED, summary=TWISTED, source=TWISTED, parameters=parameters, digest=TWISTED
    )
    return msgspec.structs.replace(
        evidence, target=target, unit=TWISTED, relation=TWISTED, reason=TWISTED, assumptions=(TWISTED,), written=None
    )


def test_all_verdicts_and_kinds_are_here():
    assert {evidence.verdict for evidence in ALL.values()} == set(Verdict)
    assert {evidence.lower.kind for evidence in ALL.values()} == {"sampled", "exact"}
    assert len(LOADED) >= 21


@pytest.mark.slow
def test_the_bytes_are_the_same_in_another_process():
    code = (
        "import sys, hashlib; from dpaudit.evidence.evidence import Evidence; from dpaudit.report import FORMATS\n"
        "for file in sys.argv[1:]:\n"
        "    e = Evidence.load(file)\n"
        "    for name in ('markdown', 'in-toto', 'registry-yaml', 'bibtex'):\n"
        "        print(hashlib.sha256(FORMATS[name].draw([e], None).encode()).hexdigest())"
    )
    names = [str(file) for file in FILES]
    again = subprocess.run(
        [sys.executable, "-c", code, *names],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={"PYTHONHASHSEED": "99"},
    ).stdout.split()
    here = [
        hashlib.sha256(text.encode()).hexdigest()
        for e in LOADED.values()
        for text in (markdown([e]), statement_text([e]), registry_yaml(e), f"{bibtex(e)}\n")
    ]
    assert again == here


@every
@pytest.mark.slow
def test_no_format_calls_a_mechanism_private_or_safe(name):
    for text in (markdown([ALL[name]]), statement_text([ALL[name]]), registry_yaml(ALL[name])):
        assert not re.search(r"\b(is|be|are) (private|safe|secure)\b", text.replace("how are the data secured", ""))
        if ALL[name].verdict is Verdict.NOT_VIOLATED:
            assert re.search("not a proof of privacy|does not prove the claim", text)


def test_every_format_stands_in_the_documentation():
    from dpaudit.report import FORMATS

    rows = re.findall(
        r"^\| `([\w-]+)` \|.*\| (yes|no) \|$", (ROOT / "docs/formats.md").read_text("utf-8"), re.MULTILINE
    )
    assert dict(rows) == {name: "yes" if known.several else "no" for name, known in FORMATS.items()}


# --- Markdown ---------------------------------------------------------------------------------------------


def rendered(text):
    """What a reader of GitHub's Markdown sees: the tokens, HTML and tables included."""
    return MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"]).parse(text)


def seen(tokens):
    """All text of tokens, with references resolved."""
    return "".join(
        seen(token.children) if token.children else token.content
        for token in tokens
        if token.type in ("inline", "text", "html_inline") or token.children
    )


@every
def test_markdown_keeps_the_kinds_apart(name):
    evidence, text = ALL[name], markdown([ALL[name]])
    cells = dict(re.findall(r"^\| ([^|]+) \| (.*) \|$", text, re.MULTILINE))
    assert str(evidence.verdict).upper() in text.splitlines()[0]
    assert evidence.id in text.replace("&#58;", ":")
    assert ("Lower bound, exact" in cells) == (evidence.exact is not None or evidence.lower.kind == "exact")
    if evidence.upper is not None and evidence.upper.kind == "proof":
        assert "by proof" in cells["Upper bound, proved"]
    assert ("Reason" in cells) == (bool(evidence.reason) and reason_says_more(evidence))
    if "Lower bound, counted in runs" in cells:
        assert "by exact" not in cells["Lower bound, counted in runs"]
    tables = [token for token in rendered(text) if token.type == "table_open"]
    assert len(tables) == 1


@every
@pytest.mark.slow
def test_markdown_shows_hostile_text_as_it_stands(name):
    evidence = hostile(ALL[name])
    tokens = rendered(markdown([evidence, evidence]))
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "html_inline"),
        *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close"),
        *("tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close", "strong_open", "strong_close"),
        "text_special",
    }
    tags = {child.content for token in tokens for child in token.children or () if child.type == "html_inline"}
    assert tags == {"<code>", "</code>"}
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in markdown([evidence]).splitlines() if line.startswith("|")]
    assert set(widths) == {3}


def test_escaping_hides_nothing():
    shown = rendered(f"x {escaped(TWISTED, 9_999)}")
    text = "".join(child.content for child in shown[1].children)
    assert "<script>alert(1)</script>" in text
    assert "http://e.vil" in text
    for raw in ("@", "<", "http://", "www.", ":+1:", "#1"):
        assert raw not in escaped(TWISTED, 9_999).replace("&#", "")
    assert "\\u001b" in text


def test_a_summary_of_several_names_all():
    text = markdown(list(LOADED.values()))
    assert text.startswith(f"# {len(LOADED)} audits")
    assert sum(token.type == "tr_open" for token in rendered(text.split("\n## ")[0])) == len(LOADED) + 1
    assert text.index("## ") < text.rindex("not a proof of privacy")


# --- BibTeX -----------------------------------------------------------------------------------------------


@every
def test_bibtex_cites_the_id_alone_on_its_line(name):
    entry = bibtex(hostile(ALL[name]))
    assert re.match(r"@misc\{dpaudit-[0-9a-f]{12},\n", entry)
    assert f"note = {{{hostile(ALL[name]).id}}}" in entry
    assert len(entry.splitlines()) in (6, 5)
    assert entry.count("{") == entry.count("}")


# --- in-toto ----------------------------------------------------------------------------------------------

LISTS = ("passedTests", "warnedTests", "failedTests")


def check_statement(document, audits):
    """The published rules of Statement v1, ResourceDescriptor v1 and test-result v0.1."""
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert document.keys() == {"_type", "subject", "predicateType", "predicate"}
    names = [subject["name"] for subject in document["subject"]]
    assert len(set(names)) == len(names) > 0
    predicate = document["predicate"]
    assert predicate["result"] in ("PASSED", "WARNED", "FAILED")
    for descriptor in [*document["subject"], *predicate["configuration"]]:
        assert descriptor.keys() <= {
            *("name", "uri", "digest", "content", "downloadLocation", "mediaType", "annotations"),
        }
        assert descriptor["digest"].keys() == {"sha256"}
        assert re.fullmatch("[0-9a-f]{64}", descriptor["digest"]["sha256"])
    assert len(predicate["configuration"]) == audits
    assert all(isinstance(test, str) for tests in LISTS for test in predicate[tests])
    for extension in predicate.keys() - {"result", "configuration", "url", *LISTS}:
        assert re.fullmatch(r"dpaudit_\w+", extension)
    for each in predicate["configuration"]:
        assert hashlib.sha256(rfc8785.dumps(each["annotations"])).hexdigest() == each["digest"]["sha256"]
    assert (predicate["result"] == "FAILED") == bool(predicate["failedTests"])
    assert (predicate["result"] == "PASSED") == (not predicate["failedTests"] and not predicate["warnedTests"])


@every
@pytest.mark.slow
def test_statements_keep_the_published_rules(name):
    for evidence in (ALL[name], hostile(ALL[name])):
        text = statement_text([evidence])
        document = json.loads(text)
        assert document == statement([evidence])
        check_statement(document, 1)
        digests = {subject["digest"]["sha256"] for subject in document["subject"]}
        assert evidence.id.removeprefix("dpa1:") in digests
        assert hashlib.sha256(evidence.to_json().encode()).hexdigest() in digests
        assert (evidence.target.digest in digests) == bool(re.fullmatch("[0-9a-f]{64}", str(evidence.target.digest)))


@every
def test_only_a_proof_passes_as_a_proof(name):
    predicate = statement([ALL[name]])["predicate"]
    proofs = [test for test in predicate["passedTests"] if test.startswith("claim proved")]
    assert bool(proofs) == (ALL[name].verdict is Verdict.PROVED)
    assert (
        predicate["result"]
        in {
            Verdict.VIOLATED: ("FAILED",),
            Verdict.INVALID: ("FAILED",),
            Verdict.INCONCLUSIVE: ("WARNED",),
            Verdict.NO_CLAIM: ("WARNED",),
            Verdict.NOT_VIOLATED: ("PASSED", "WARNED"),
            Verdict.PROVED: ("PASSED", "WARNED"),
        }[ALL[name].verdict]
    )


def test_low_order_bits_beyond_the_claim_are_a_warning():
    leaky = LOADED["float_laplace"]
    assert leaky.verdict is Verdict.NOT_VIOLATED and leaky.floating_point.value > leaky.claimed.value
    assert statement([leaky])["predicate"]["result"] == "WARNED"
    quiet = msgspec.structs.replace(leaky, floating_point=msgspec.structs.replace(leaky.floating_point, value=0.5))
    assert statement([quiet])["predicate"]["result"] == "PASSED"
    nothing = msgspec.structs.replace(
        leaky, floating_point=msgspec.structs.replace(leaky.floating_point, value=float("nan"))
    )
    assert statement([nothing])["predicate"]["result"] == "WARNED"


@pytest.mark.slow
def test_one_statement_over_several_is_as_bad_as_the_worst():
    good, open_, bad = LOADED["exponential"], LOADED["no_claim"], LOADED["refuted"]
    for audits, result in (([good], "PASSED"), ([good, open_], "WARNED"), ([good, open_, bad], "FAILED")):
        document = statement(audits)
        check_statement(document, len(audits))
        assert document["predicate"]["result"] == result
    check_statement(statement(list(LOADED.values())), len(LOADED))
    assert len(statement([good, good])["subject"]) == len(statement([good])["subject"])


# --- the registry -----------------------------------------------------------------------------------------

PLACES = {
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters "
    "privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type release_type_details "
    "data_source_type data_source_type_details access_type access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
    "utility additional_information",
    "administrative": "evidence_sources status registry_authors tier",
}
"""The members of a record, in the order that the registry asks for."""

ANSWERS = {
    "url_slug": "counts-2026",
    "name": "Counts",
    "data_curator_name": "An office",
    "data_curator_type": "Government",
    "description": "Counts of people.",
    "intended_use": "Planning.",
    "data_product_type": "Summary statistics",
    "data_product_region": "Nowhere",
    "data_product_sector": "Government",
    "publication_date": "2026-01-31",
    "data_domain": "All records.",
    "unprotected_quantities": "None.",
    "privacy_unit": "Person",
    "privacy_unit_details": "One record more or less.",
    "number_of_privacy_units": 1_000,
    "privacy_parameters_details": "For each release.",
    "model_name": "Central",
    "model_name_details": "One office.",
    "trust_assumptions": "The office is trusted.",
    "actors": "The office and the public.",
    "release_type": "One release",
    "release_type_details": "None planned.",
    "data_source_type": "Static",
    "data_source_type_details": "A survey.",
    "access_type": "Non-interactive",
    "access_type_details": "Tables.",
    "preprocessing_and_hyperparameter_tuning": "None.",
    "composition": "One release.",
    "post_processing": "Rounded.",
    "justification": "By a panel.",
    "utility": "Errors of 1.",
    "additional_information": "A page.",
    "library": "our own",
    "contribution_bounds": "one record",
    "random_source": "the system's",
    "floating_point": "a grid",
    "timing": "not interactive",
    "data_security": "a safe",
    "registry_authors": ["A. Person"],
    "evidence_source_type": "Other public source",
}


def questions(value, at=()):
    """All places where a question stands, also within a list of points."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in questions(item, (*at, key))]
    if isinstance(value, list):
        return [found for item in value for found in questions(item, at)]
    return [at] if isinstance(value, str) and re.search(r"^(- (Code: )?)?\?", value, re.MULTILINE) else []


@every
@pytest.mark.slow
def test_registry_records_have_the_published_members_and_parse(name):
    for evidence in (ALL[name], hostile(ALL[name])):
        text, record = registry_yaml(evidence), registry_record(evidence)
        assert yaml.safe_load(text) == json.loads(json.dumps(record))
        assert list(record) == ["url_slug", "deployment"]
        assert {place: " ".join(members) for place, members in record["deployment"].items()} == PLACES
        assert list(record["deployment"]) == list(PLACES)
        assert record["deployment"]["administrative"]["status"] == "Draft"
        assert record["deployment"]["administrative"]["tier"] == 1
        source = record["deployment"]["administrative"]["evidence_sources"]["dpaudit_evidence"]
        assert source["misc"]["note"] == evidence.id


@every
def test_what_evidence_cannot_know_is_a_question(name):
    record = registry_record(ALL[name])["deployment"]
    open_ = {place[-1] for place in questions(record)}
    for key in ("name", "description", "model_name", "actors", "post_processing", "composition", "release_type"):
        assert key in open_
    parameters = record["privacy_loss"]["privacy_parameters"]
    claim, verdict = ALL[name].claimed, ALL[name].verdict
    if claim is None or verdict is Verdict.VIOLATED:
        assert questions(parameters)  # what is refuted, or was never said, is not stated
    else:
        assert not questions(parameters)
        numbers = {"epsilon": claim.value if claim.parameter == "epsilon" else None, "delta": claim.delta or None}
        assert {key: value for key, value in parameters.items() if key in numbers} == {
            key: value for key, value in numbers.items() if value is not None
        }
    details = record["privacy_loss"]["privacy_parameters_details"]
    assert (claim is None) == details.startswith("?")
    if claim is not None:
        assert str(verdict).upper() in details


@pytest.mark.parametrize(
    ("claim", "variant", "parameters"),
    [
        ("epsilon=1", "Pure DP", {"epsilon": 1.0}),
        ("epsilon=2, delta=1e-6", "Approximate DP", {"epsilon": 2.0, "delta": 1e-6}),
        ("rho=0.5", "Zero-concentrated DP", {"rho": 0.5}),
        ("order=2, epsilon=0.5", "Renyi DP", {"epsilon": 0.5}),
        ("mu=1", "Custom", {}),
    ],
)
def test_every_variant_has_its_numbers(claim, variant, parameters):
    evidence = msgspec.structs.replace(made_evidence.laplace(), claim=claim)
    record = yaml.safe_load(registry_yaml(evidence))["deployment"]
    assert record["dp_variant"]["variant_name"] == variant
    assert record["privacy_loss"]["privacy_parameters"] == parameters


def test_a_move_of_answers_is_nobodys_data():
    moved = registry_record(LOADED["exponential"])["deployment"]["privacy_loss"]["privacy_unit"]
    assert moved.startswith("?") and "one move of every score" in moved
    person = registry_record(LOADED["randomised_response"])["deployment"]["privacy_loss"]["privacy_unit"]
    assert person == "one person's answer"


def test_answers_of_people_close_the_questions():
    evidence = LOADED["randomised_response"]
    record = registry_record(evidence, checked(ANSWERS))
    assert questions(record) == []
    assert record["deployment"]["administrative"]["tier"] == 3
    assert yaml.safe_load(registry_yaml(evidence, checked(ANSWERS))) == json.loads(json.dumps(record))
    some = {key: value for key, value in ANSWERS.items() if key != "utility"}
    assert registry_record(evidence, checked(some))["deployment"]["administrative"]["tier"] == 2
    assert set(ANSWERS) | {"evidence_url", "mechanisms"} == {field.key for field in FIELDS if field.kind != "evidence"}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("modelname", "Central", "did you mean 'model_name'"),
        ("epsilon", 1.0, "there is no question 'epsilon'"),
        ("variant_name", "Pure DP", "there is no question"),
        ("model_name", "central", "one of 'Local', 'Central'"),
        ("name", "", "leave out what is not known"),
        ("name", 3, "is a text"),
        ("number_of_privacy_units", "many", "a whole number"),
        ("number_of_privacy_units", True, "a whole number"),
        ("number_of_privacy_units", -1, "a whole number"),
        ("publication_date", "last week", "such as 2025-12-31"),
        ("registry_authors", [], "a list of texts"),
        ("registry_authors", [1], "a list of texts"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_its_key(key, value, words):
    with pytest.raises(UsageError, match=re.escape(words)) as refused:
        checked({key: value}, "context.toml")
    assert "context.toml" in str(refused.value) and key in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        '[tool.dpaudit.context]\nmodel_name = "Local"\npublication_date = 2026-01-02',
        '[context]\nmodel_name = "Local"\npublication_date = "2026-01-02"',
        'model_name = "Local"\npublication_date = 2026-01-02',
    ],
)
def test_a_context_stands_in_a_table_or_is_a_file_of_its_own(text, tmp_path):
    file = tmp_path / "some.toml"
    file.write_text(text, encoding="utf-8")
    assert read_context(file.read_text(), file.name) == {"model_name": "Local", "publication_date": "2026-01-02"}


@pytest.mark.parametrize(
    ("text", "words"), [("[tool.x]", "no table"), ("= 1", "cannot read"), ("context = 1", "a table")]
)
def test_a_context_that_is_none_is_refused(text, words, tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        read_context(file.read_text(), file.name)


# --- PDF --------------------------------------------------------------------------------------------------


def test_without_the_library_a_pdf_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(UsageError, match=re.escape("pip install 'dpaudit[pdf]'")):
        pdf("<p>x</p>")


@pytest.mark.filterwarnings("ignore:HarfBuzz-Subset:DeprecationWarning")  # of the library, on its own future
@pytest.mark.nightly
def test_a_pdf_is_the_page_and_loads_nothing():
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError):
        pytest.skip("WeasyPrint or its libraries are not here")
    import pypdfium2

    evidence = hostile(made_evidence.categories())
    with undrawn():
        printed = pdf(html_page(evidence))
    text = "".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(printed))
    for part in ("VIOLATED", "<script>alert(1)</script>", evidence.id[:20]):
        assert part in text
    kept = pypdfium2.PdfDocument(
        pdf('<img src="http://127.0.0.1:9/x.png"><img src="file:///etc/hostname"><p>still</p>')
    )
    assert "still" in kept[0].get_textpage().get_text_range()
    drawing = "<p>x</p><svg width='9' height='9'><circle r='4'/></svg>"
    first = pdf(drawing)
    time.sleep(1.1)  # fonts have a date in seconds
    assert pdf(drawing) == first


# --- the tool itself --------------------------------------------------------------------------------------


def test_the_citation_of_the_tool_is_of_this_version():
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (stated["version"], stated["license"]) == (project["version"], project["license"])
    assert {"cff-version", "message", "title", "authors"} <= stated.keys()
