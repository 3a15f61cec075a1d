"""Does a check accept what was found, and notice whatever was changed in it afterwards?"""

from __future__ import annotations

import copy
import importlib
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.records import Counts, round_outward
from dpaudit.review.check import check, check_file, exit_code, passes
from dpaudit.review.check.finding import CheckResult
from dpaudit.review.check.sampled import second_opinion
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.methods import BOTH_SIDES, GUESS, ODDS

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]


def laplace(data, noise, *, epsilon=1):
    return data[0] + noise.laplace(1 / epsilon)


def sampler(data, size, rng):
    return data[0] + rng.laplace(size=size)


def response(bit, noise, *, keep=0.75):
    return bit if noise.bernoulli(keep) else 1 - bit


PAIR = [([1.0], [0.0])]
FOUND = {
    "proved": lambda: dp.prove(laplace, length=1, relation="queries", claim="epsilon=1", runs=20_000),
    "delta": lambda: dp.prove(laplace, length=1, relation="queries", claim="epsilon=0.5, delta=0.1", runs=20_000),
    "violated": lambda: dp.prove("svt_unscaled_noise", length=3, runs=20_000),
    "infinite": lambda: dp.prove("svt_noiseless_answers", length=2, runs=20_000),
    "any length": lambda: dp.prove("prefix_sum", runs=20_000),
    "without runs": lambda: dp.prove("above_threshold", length=2, runs=0),
    "enumerated": lambda: dp.prove(response, domain=[0, 1], relation="replace", claim="epsilon=1.1", runs=20_000),
    "sampled": lambda: dp.audit(laplace, pairs=PAIR, relation="queries", claim="epsilon=1", runs=20_000),
    "few runs": lambda: dp.audit(laplace, pairs=PAIR, relation="queries", claim="epsilon=0.2", runs=2_000),
    "two pairs": lambda: dp.audit(laplace, pairs=PAIR * 2, relation="queries", claim="epsilon=1", runs=20_000),
    "gaussian": lambda: dp.audit("gaussian", runs=20_000),
    "no claim": lambda: dp.audit(laplace, pairs=PAIR, relation="queries", runs=20_000),
    "low bits": lambda: dp.audit(sampler, pairs=PAIR, claim="epsilon=1", runs=20_000),
    "low bits decide": lambda: dp.audit(sampler, pairs=PAIR, claim="epsilon=1", runs=20_000, floating_point="verdict"),
}
_known: dict[str, dp.Evidence] = {}


def found(name):
    """Evidence of this name, found once."""
    if name not in _known:
        _known[name] = FOUND[name]()
    return _known[name]


def noticed(record):
    """Whether a record that was changed, and given its new id, is refused or found wrong."""
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    try:
        return any(finding.fails for finding in check(dp.Evidence.from_json(text)))
    except dp.UsageError:
        return True


def put(record, path, value):
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = value


def changed(record, path, value):
    forged = copy.deepcopy(record)
    put(forged, path, value)
    return forged


def at(record, path):
    for key in path:
        record = record[key]
    return record


@pytest.mark.parametrize("name", mostly_at_night(FOUND))
def test_everything_holds_in_what_was_found(name):
    findings = list(check(found(name)))
    assert passes(findings), [finding for finding in findings if not finding.holds]
    assert {"id", "runs", "confidence", "headline", "verdict"} <= {finding.what for finding in findings}
    assert not noticed(found(name).record())


WHATS = {
    "proved": {"bound", "second opinion", "second look", "histogram", "counterexample", "probabilities", "certificate"},
    "infinite": {
        "bound",
        "second opinion",
        "second look",
        "histogram",
        "counterexample",
        "probabilities",
        "certificate",
    },
    "any length": {
        "bound",
        "second opinion",
        "second look",
        "histogram",
        "counterexample",
        "probabilities",
        "certificate",
    },
    "without runs": {"counterexample", "probabilities", "certificate"},
    "enumerated": {"bound", "second opinion", "second look", "histogram", "enumeration"},
    "low bits": {"bound", "second opinion", "second look", "histogram", "low-order bits"},
}


@pytest.mark.parametrize("name", WHATS)
def test_everything_is_looked_at(name):
    always = {"id", "runs", "confidence", "headline", "power", "target", "assumptions", "pair", "verdict", "fields"}
    looked_at = [each.what for each in check(found(name)) if each.what not in always]
    assert set(looked_at) - {"accuracy"} == WHATS[name]
    assert ("accuracy" in looked_at) == (found(name).accuracy is not None)
    assert looked_at.count("bound") == len(found(name).attempts)


# --- one digit --------------------------------------------------------------------------------------------

FIELDS = ["claim", "verdict", "confidence", "lower", "upper", "exact", "floating_point", "attempts"]
BOUND = {"value", "confidence", "delta", "notion", "counts", "exact", "method", "parameter"}
UNUSED = {"event", "considered", "pair", "assumes", "name", "side", "kind", "arithmetic", "weight"}
PROOF = [("length",), ("scope",), ("certificate", "bound"), ("certificate", "scope"), ("certificate", "nodes")]


def numbers(value, path):
    """The places of all that holds digits."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            if key not in UNUSED:
                yield from numbers(item, (*path, key))
    elif not isinstance(value, bool) and isinstance(value, int | float | str) and any(map(str.isdigit, str(value))):
        yield path


def places(name, record):
    """Where a digit says something that can be computed again; a shift of a cheap class may be another as well."""
    kept = [path for name in FIELDS for path in numbers(record.get(name), (name,))]
    proof = record["proof"]
    for tail in PROOF if proof is not None and proof["certificate"] is not None else []:
        if proof["method"] == "alignment" or tail[-1] not in ("nodes",):
            value = proof
            for key in tail:
                value = value.get(key) if value is not None else None
            kept += [path for path in numbers(value, ("proof", *tail)) if name == "proved" or "shifts" not in path]
    if record["counterexample"] is not None:
        for side in ("probability0", "probability1"):
            kept += numbers(record["counterexample"][side], ("counterexample", side))
    return kept


def with_digit(value, data):
    """The value with another digit at one place."""
    text = repr(value) if isinstance(value, float) else str(value)
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    place = data.draw(st.sampled_from(digits))
    digit = data.draw(st.sampled_from([each for each in "0123456789" if each != text[place]]))
    new = text[:place] + digit + text[place + 1 :]
    try:
        return new if isinstance(value, str) else type(value)(new)
    except ValueError:
        return None


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_another_digit_is_noticed(data):
    name = data.draw(st.sampled_from(["proved", "violated", "enumerated", "without runs", "sampled", "any length"]))
    record = found(name).record()
    path = data.draw(st.sampled_from(places(name, record)))
    value = at(record, path)
    forged = with_digit(value, data)
    if forged is None or forged == value:
        return
    if path == ("confidence",) and (forged < value or not record["attempts"]):
        return  # modest and true, or of nothing
    if path[0] == "attempts" and path[-1] == "value" and math.isclose(forged, value, rel_tol=1e-9):
        return  # the last of ten digits, in which machines may differ
    assert noticed(changed(record, path, forged)), (name, path, value, forged)


# --- whole lies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("proved", {("verdict",): "violated"}),
        ("proved", {("verdict",): "inconclusive"}),
        ("violated", {("verdict",): "not violated"}),
        ("violated", {("verdict",): "proved"}),
        ("sampled", {("verdict",): "proved"}),
        ("two pairs", {("detectable",): 5.0}),
        ("proved", {("upper", "value"): 0.5, ("upper", "exact"): "1/2", ("claim",): "epsilon=0.5"}),
        ("proved", {("proof",): None}),
        ("proved", {("proof", "certificate"): None}),
        ("proved", {("counterexample",): None}),
        ("proved", {("target", "parameters", "epsilon"): 0.1}),
        ("proved", {("target", "digest"): "0" * 64}),
        ("violated", {("proof", "certificate", "nodes", 6, "compare", "h3"): "2"}),
        ("proved", {("relation",): "queries(one)"}),
        ("proved", {("proof", "scope"): "everything"}),
        ("any length", {("proof", "length"): 7}),
        ("proved", {("attempts", 0, "bound", "counts"): None}),
        ("proved", {("attempts", 0, "bound", "method"): "hope"}),
        ("proved", {("attempts", -1, "bound", "weight"): None}),
        ("proved", {("attempts", 0, "bound", "counts", "toward0"): [10**6, 0]}),
        ("proved", {("attempts", 0, "bound", "counts", "runs"): [0, 0]}),
        ("proved", {("measuring",): 1}),
        ("proved", {("attempts",): []}),
        ("proved", {("confidence",): 0.99}),
        ("proved", {("exact",): None}),
        ("proved", {("exact", "exact"): "1e999999999"}),
        ("proved", {("counterexample", "probability0"): ["1e999999999", "1"]}),
        ("proved", {("counterexample", "probability0"): ["nan", "nan"]}),
        ("infinite", {("exact", "value"): 9.0, ("exact", "exact"): "9"}),
        ("violated", {("exact", "value"): "inf", ("exact", "exact"): "infinite"}),
        ("enumerated", {("upper", "exact"): "ln(2)", ("upper", "value"): 0.6931471806}),
        ("enumerated", {("exact", "exact"): "ln(4)", ("exact", "value"): 1.386294361}),
        ("enumerated", {("proof", "certificate"): None}),
        ("enumerated", {("proof", "certificate", "exp_epsilon"): "2"}),
        ("low bits", {("floating_point", "value"): 0.1}),
        ("low bits decide", {("low_bits",): "report"}),
    ],
    ids=str,
)
def test_a_lie_is_noticed(name, changes):
    record = copy.deepcopy(found(name).record())
    for path, value in changes.items():
        put(record, path, value)
    assert noticed(record)


def test_the_sentences_name_the_number():
    record = found("proved").record()
    forged = changed(record, ("attempts", 0, "bound", "value"), 2.0)
    text = json.dumps({"id": content_id(forged), "evidence": forged, "run": None})
    (wrong,) = [each for each in check(dp.Evidence.from_json(text)) if each.what == "bound" and each.fails]
    assert wrong.sentence.endswith("and it states 2")


# --- files ------------------------------------------------------------------------------------------------


def test_files_of_every_kind(tmp_path):
    evidence = found("proved")
    evidence.save(tmp_path / "evidence.json")
    evidence.to_html(tmp_path / "page.html")
    (tmp_path / "certificate.json").write_text(json.dumps(evidence.proof.certificate))
    whole = len(list(check(evidence)))
    for name, count in [("evidence.json", whole), ("page.html", 1 + whole), ("certificate.json", 1)]:
        findings = check_file(tmp_path / name)
        assert len(findings) == count
        assert passes(findings)


@pytest.mark.parametrize("text", ["", "{}", "[]", "<html></html>", "[" * 100_000, '{"format": "other"}'])
def test_what_is_no_evidence_gets_a_sentence(tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(dp.UsageError):
        check_file(path)


def test_invalid_evidence_is_taken_as_it_is():
    def repeats(data, size, rng):
        return data[0] + __import__("numpy").random.default_rng(0).laplace(size=size)

    evidence = dp.audit(repeats, pairs=PAIR, claim="epsilon=1", runs=20_000)
    assert evidence.verdict is dp.Verdict.INVALID
    assert exit_code(check(evidence)) == 3
    assert math.isclose(evidence.lower.value, 0)


# --- a second opinion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sampled", "gaussian", "proved"])
def test_a_bound_that_only_this_library_finds_is_noticed(name, monkeypatch):
    """Were the quantiles of an audit wrong, and wrong again in the check, those in plain Python would tell."""
    sampled = importlib.import_module("dpaudit.review.check.sampled")
    monkeypatch.setattr(sampled, "lower_bound", lambda *given, **named: 1.01 * lower_bound(*given, **named))
    record = found(name).record()
    for bound in [record["lower"], *(each["bound"] for each in record["attempts"])]:
        if bound["kind"] == "sampled":
            bound["value"] = round_outward(1.01 * bound["value"], "lower")
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    wrong = {finding.what for finding in check(dp.Evidence.from_json(text)) if finding.fails}
    assert "second opinion" in wrong
    assert "bound" not in wrong


BOTH = [
    Counts((5000, 5000), (2500, 2600), (900, 880)),
    Counts((400, 300), (90, 70), (20, 21)),
    Counts((2000, 2000), (40, 3), (900, 1200)),
    Counts((30, 30), (30, 2), (0, 28)),
    Counts((12, 12), (12, 0), (0, 12)),
    Counts((9, 9), (0, 9), (0, 9)),
]
ONE = [
    Counts((20_000, 20_000), (400, 90), (0, 0)),
    Counts((3000, 9000), (0, 0), (40, 31)),
    Counts((30, 40), (9, 2), (0, 0)),
    Counts((50, 50), (50, 3), (0, 0)),
    Counts((50, 50), (20, 0), (0, 0)),
    Counts((50, 50), (3, 20), (0, 0)),
]
PURE, APPROXIMATE = dp.PureDP(1), dp.ApproxDP(1, 1e-3)
OPINIONS = [
    *[(method, counts, PURE, None) for method in (GUESS, "guess") for counts in BOTH],
    *[(ODDS, counts, PURE, None) for counts in ONE],
    *[(BOTH_SIDES, counts, PURE, 0.7) for counts in BOTH],
    *[(BOTH_SIDES, counts, APPROXIMATE, 0.2) for counts in BOTH],
]


@pytest.mark.parametrize("error", [0.05, 1e-4])
@pytest.mark.parametrize(("method", "counts", "claim", "weight"), OPINIONS)
def test_the_same_bound_is_found_in_another_way_given_the_sides(method, counts, claim, weight, error):
    value = lower_bound(method, counts, claim=claim, weight=weight, error=error)

    def opinion(value):
        bound = dp.tools.Bound(
            value=value,
            side="lower",
            kind="sampled",
            parameter=claim.parameter,
            notion=str(claim),
            confidence=1 - error,
            delta=claim.delta,
            method=method,
            arithmetic="real",
            weight=weight,
            counts=counts,
        )
        return [finding.answer for finding in second_opinion("it", bound, counts, claim)]

    assert opinion(value) == [CheckResult.HOLDS]
    assert opinion(value * 1.001 + 1e-4) == [CheckResult.FAILS]


@pytest.mark.parametrize("method", [GUESS, ODDS, BOTH_SIDES])
def test_these_bounds_are_no_zeros(method):
    asked = [(counts, claim, weight) for name, counts, claim, weight in OPINIONS if name == method]
    found = [lower_bound(method, counts, claim=claim, weight=weight, error=0.05) for counts, claim, weight in asked]
    assert sum(bound > 0.3 for bound in found) >= 2
