"""Is a proof that rests on a statement told with it everywhere, and is a statement that does not hold refused?"""

# ruff: noqa: NPY002 – people draw from np.random
from __future__ import annotations

import functools
import inspect
import json
import math
import os
import random
import re
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.checker import CertificateError, check_certificate
from dpaudit.evidence.evidence import exit_code
from dpaudit.gate.config import read
from dpaudit.gate.drawn import gate_json, junit, markdown, sarif
from dpaudit.gate.result import OutcomeRule
from dpaudit.gate.result import summary as summary_of_gate
from dpaudit.gate.run import GateOptions, run
from dpaudit.gate.target_process import carry_out
from dpaudit.loading import load
from dpaudit.neighbours.domain import parse_all, parse_given
from dpaudit.processes import Asked as Asking
from dpaudit.processes import other_question
from dpaudit.report import FORMATS, html_page
from dpaudit.report.formats import summary
from dpaudit.request import ProofRequest
from dpaudit.review.check import against, check, passes
from dpaudit.verify.proofs import check_proof
from dpaudit.verify.proofs.kind import Goal, NotShownError
from dpaudit.verify.proofs.releases import RELEASES

pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")
DOMAIN = {"age": (0, 120)}
LOG = []


def line_of(function, marker="  # given"):
    """Return the line of a function that bears a mark."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, each in enumerate(lines) if marker in each)


def statement(function, by=120, marker="  # given"):
    return f"{os.path.basename(__file__)}:{line_of(function, marker)} moves by {by}"


def proved(function, by=120, *, given=None, relation="replace", claim="epsilon=500", **options):
    given = statement(function, by) if given is None else given
    return dp.prove(function, domain=DOMAIN, relation=relation, claim=claim, given=given, runs=0, seed=0, **options)


@functools.cache
def proof_of_typical():
    """Evidence is never changed: one proof will do where nothing but the evidence is looked at."""
    return proved(typical)


# --- what holds, and how it is told -------------------------------------------------------------------------------


def typical(df, scale=1.0):
    values = df["age"].to_numpy()
    middle = stats.trim_mean(values, 0.1) if len(values) else 60.0  # given
    return float(middle + np.random.laplace(0, scale)), float(len(df) + np.random.laplace(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "bound"), [("replace", 120), ("add-remove", 121), ("replace(group=2)", 240)])
def test_a_value_of_which_the_movement_is_given_costs_as_much_as_it_moves(relation, bound):
    evidence = proved(typical, relation=relation)
    assert str(evidence.verdict) == "proved"
    assert evidence.upper.exact == str(bound)


@pytest.mark.slow
def test_a_line_that_is_not_read_is_refused_where_nothing_is_given():
    assert str(proved(typical, given=()).verdict) == "inconclusive"


@pytest.mark.slow
def test_no_format_tells_the_verdict_without_what_is_given():
    evidence = proof_of_typical()
    said = f"PROVED given that test_given_moves.py:{line_of(typical)} moves by at most 120"
    assert summary(evidence, width=400).startswith(said)
    assert said in html_page(evidence)
    for name in ("markdown", "in-toto", "registry-yaml"):
        assert said.partition(" ")[2] in str(FORMATS[name].draw([evidence], None)), name
    assert said.partition(" ")[2] in evidence.reason
    assert evidence.proof.given == (said.removeprefix("PROVED given that "),)
    checked = check_certificate(json.loads(json.dumps(evidence.proof.certificate)))
    assert checked.given == (f"{evidence.proof.given[0]} and does nothing else",)
    assert evidence.proof.given[0] in checked.statement
    assert exit_code(evidence) == 0
    assert passes(check(evidence))


def without(evidence, certificate=True, given=True):
    proof = evidence.proof
    record = {name: each for name, each in proof.certificate.items() if name != "given" or not certificate}
    proof = msgspec.structs.replace(proof, certificate=record, given=() if given else proof.given)
    return msgspec.structs.replace(evidence, proof=proof)


@pytest.mark.parametrize("left_out", [(True, False), (False, True), (True, True)])
def test_evidence_from_which_the_statement_was_taken_is_refused(left_out):
    with pytest.raises(NotShownError):
        check_proof(without(proof_of_typical(), *left_out))


@pytest.mark.nightly
def test_evidence_without_the_statement_is_not_what_is_read_again():
    evidence = proof_of_typical()
    scope = evidence.proof.scope.partition(", given that")[0]
    forged = without(evidence)
    forged = msgspec.structs.replace(forged, proof=msgspec.structs.replace(forged.proof, scope=scope))
    assert check_proof(forged).unseen == ""  # nothing in the file shows it
    target = load(typical)
    for one, holds in ((evidence, True), (forged, False)):
        asked = Goal(target, target.parameters_with({}), relation=one.relation)
        assert RELEASES.read_again(one, one.proof, asked) is holds


def test_the_checker_with_a_theorem_says_nothing_of_it(tmp_path):
    if against.node() is None:
        pytest.skip("node is not installed")
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(proof_of_typical().proof.certificate), encoding="utf-8")
    (found,) = against.by_theorem(file)
    assert str(found.answer) == "not checked", found.sentence
    assert "of which somebody said what they do" in found.sentence


@pytest.mark.parametrize("given", [
    [], [{"line": "a.py:1"}], [{"line": "a.py:1", "by": "-1"}], [{"line": 1, "by": "1"}], "a.py:1",
    [{"line": "a.py:1", "by": "1"}, {"line": "a.py:1", "by": "2"}],
])  # fmt: skip
def test_the_checker_refuses_statements_of_another_form(given):
    certificate = {**proof_of_typical().proof.certificate, "given": given}
    with pytest.raises(CertificateError):
        check_certificate(certificate)


def two_lines(df):
    low = stats.trim_mean(df["age"], 0.1) if len(df) else 0.0  # given
    high = stats.trim_mean(df["age"], 0.4) if len(df) else 0.0  # also
    return float(low + np.random.laplace(0, 1)), float(high - low + np.random.laplace(0, 1))


@pytest.mark.nightly
def test_two_statements_add_up():
    evidence = proved(two_lines, given=[statement(two_lines), statement(two_lines, 100.5, "  # also")])
    assert evidence.upper.exact == str(Fraction(681, 2))  # 120 + (120 + 100.5)
    assert evidence.proof.granted.count("moves by at most") == 2


def looped(df):
    out = []
    for part in (0.1, 0.2):
        found = stats.trim_mean(df["age"], part) if len(df) else 0.0  # given
        out.append(float(found + np.random.laplace(0, 1)))
    return out


def helper(values):
    found: float = float(stats.trim_mean(values, 0.1)) if len(values) else 0.0  # given
    return found


def helped(df):
    return float(helper(df["age"]) + np.random.laplace(0, 1)), float(helper(df["age"]) + np.random.laplace(0, 1))


def one_each(df):
    found = sum([stats.trim_mean(df["age"], part) for part in (0.1, 0.2)]) if len(df) else 0.0  # given
    return float(found + np.random.laplace(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "at", "by"), [(looped, looped, 120), (helped, helper, 120), (one_each, one_each, 240)]
)
def test_a_statement_is_about_every_time_that_the_line_is_run(function, at, by):
    assert proved(function, given=statement(at, by)).upper.exact == "240"


# --- what runs refute ---------------------------------------------------------------------------------------------


def unguarded(df):
    middle = stats.trim_mean(df["age"], 0.1)  # given
    return float(middle + np.random.laplace(0, 1))


def of_another_kind(df):
    middle = df["age"].describe() if len(df) else 0.0  # given
    return float(middle + np.random.laplace(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("function", "by", "sentence"), [
    (typical, 1, "moves by [0-9.]+, from .* on .*'age'"),
    (unguarded, 120, "assigns nan"),
    (of_another_kind, 120, "assigns a Series, and no number"),
])  # fmt: skip
def test_a_statement_that_runs_refute_ends_the_proof(function, by, sentence):
    with np.errstate(all="ignore"):
        evidence = proved(function, by, relation="add-remove")
    assert (str(evidence.verdict), evidence.upper, exit_code(evidence)) == ("inconclusive", None, 1)
    assert "what is given does not hold" in summary(evidence)
    assert re.search(sentence, evidence.reason)


def of_the_data(df):
    ages = df["age"]
    middle = 5.0 * (abs(ages - 77.125) < 1e-6).any() if len(df) else 0.0  # given
    return float(middle + np.random.laplace(0, 1))


@pytest.mark.slow
def test_a_statement_is_held_against_the_data_of_which_no_value_is_told():
    import pandas

    data = pandas.DataFrame({"age": [40.0, 77.125, 30.0]})
    assert str(proved(of_the_data, 1).verdict) == "proved"  # no run meets the value
    evidence = proved(of_the_data, 1, data=data, relation="add-remove")
    assert "moves by 5, on the data and without a row" in evidence.reason
    assert "77.125" not in evidence.to_json()


# --- what the line may not do -------------------------------------------------------------------------------------


def draws(df):
    x = stats.trim_mean(df["age"], 0.1) + np.random.laplace(0, 1)  # given
    return float(x + np.random.laplace(0, 1))


def uses_noise(df):
    z = np.random.laplace(0, 1)
    x = stats.trim_mean(df["age"], 0.1) + z  # given
    return float(x + np.random.laplace(0, 1)), len(df) + z


def hands_on_a_generator(df):
    rng = np.random.default_rng()
    x = stats.bootstrap((df["age"],), np.mean, random_state=rng).standard_error  # given
    return float(x + rng.laplace(0, 1))


def logs(df):
    x = (LOG.append(stats.trim_mean(df["age"], 0.1)), stats.trim_mean(df["age"], 0.1))[1]  # given
    return float(x + np.random.laplace(0, 1)), list(LOG)


def short_circuits(df):
    kept = {}
    x = stats.trim_mean(df["age"], 0.1) or (stats.trim_mean(df["age"], 0.2) and kept.update(a=1)) or 3  # given
    return float(x + np.random.laplace(0, 1)), dict(kept)


def by_the_class(df):
    kept = {}
    x = (dict.__setitem__(kept, "k", stats.trim_mean(df["age"], 0.1)), stats.trim_mean(df["age"], 0.1))[1]  # given
    return float(x + np.random.laplace(0, 1)), dict(kept)


def advances(df):
    through = iter([1, 2, 3])
    x = stats.trim_mean(list(through), 0.1) + stats.trim_mean(df["age"], 0.1)  # given
    return float(x + np.random.laplace(0, 1)), list(through)


def prints(df):
    x = (print(stats.trim_mean(df["age"], 0.1)), stats.trim_mean(df["age"], 0.1))[1]  # given
    return float(x + np.random.laplace(0, 1))


def leak(value):
    LOG.append(value)
    return value


def calls_its_own(df):
    x = leak(stats.trim_mean(df["age"], 0.1))  # given
    return float(x + np.random.laplace(0, 1)), len(LOG)


def hands_on_its_own(df):
    x = stats.bootstrap((df["age"],), leak).standard_error  # given
    return float(x + np.random.laplace(0, 1)), len(LOG)


def for_each_record(df):
    total = 0.0
    for age in df["age"]:
        x = random.betavariate(1, age)  # given
        total += x
    return float(total + np.random.laplace(0, 1))


def of_a_sample(df):
    part = df[np.random.random(len(df)) < 0.1]
    x = stats.trim_mean(part["age"], 0.1)  # given
    return float(x + np.random.laplace(0, 1))


def inserts(df):
    part = df[["age"]].copy()
    x = (part.insert(1, "b", 5), stats.trim_mean(df["age"], 0.1))[1]  # given
    return float(x + np.random.laplace(0, 1)), len(part.columns)


def changes_in_place(df):
    part = df[["age"]].copy()
    x = (part.clip(0, 1, inplace=True), stats.trim_mean(df["age"], 0.1))[1]  # given
    return float(x + np.random.laplace(0, 1)), float(part["age"].sum() + np.random.laplace(0, 120))


def pops(df):
    part = df[["age"]].copy()
    x = stats.trim_mean(part.pop("age"), 0.1)  # given
    return float(x + np.random.laplace(0, 1)), len(part.columns)


def sorts(df):
    ages = df["age"].to_numpy()
    x = (ages.sort(), stats.trim_mean(ages, 0.1))[1]  # given
    return float(x + np.random.laplace(0, 1)), float(ages.sum() + np.random.laplace(0, 120))


def writes(df):
    x = stats.trim_mean(df["age"], 0.1) + (df.to_pickle("/dev/null") is None)  # given
    return float(x + np.random.laplace(0, 1))


REFUSED = [
    draws, inserts, changes_in_place, pops, writes, sorts, uses_noise, hands_on_a_generator, logs, short_circuits,
    by_the_class, advances, prints, calls_its_own, hands_on_its_own, for_each_record, of_a_sample,
]  # fmt: skip


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("function", REFUSED, ids=lambda each: each.__name__)
def test_a_line_that_does_more_than_give_a_number_is_refused_by_the_reading_alone(function):
    from dpaudit.reading.universe import drive
    from dpaudit.reading.universe.cells import declared

    found = drive.read(function, {"age": declared("age", (0, 120))}, moves=parse_all(statement(function)))
    assert any(f":{line_of(function)}" in each.line for each in found.refused)


def returned_as_it_is(df):
    x = stats.trim_mean(df["age"], 0.1) if len(df) else 0.0  # given
    return x


def asked_for_its_type(df):
    x = stats.trim_mean(df["age"], 0.1) if len(df) else 0.0  # given
    return x + np.random.laplace(0, 1)


def compared(df):
    x = stats.trim_mean(df["age"], 0.1) if len(df) else 0.0  # given
    return 1 if x > 3 else 0


@pytest.mark.slow
@pytest.mark.parametrize("function", [returned_as_it_is, asked_for_its_type, compared], ids=lambda each: each.__name__)
def test_the_value_is_private_and_of_unknown_type(function):
    assert str(proved(function).verdict) == "inconclusive"


# --- what cannot be given -----------------------------------------------------------------------------------------


def readable(df):
    n = len(df)  # given
    return n + np.random.laplace(0, 1)


def never_run(df):
    if df is None:
        n = stats.trim_mean(df["age"], 0.1)  # given
        return n
    return len(df) + np.random.laplace(0, 1)


def chained(df):
    x = y = stats.trim_mean(df["age"], 0.1)  # given
    return float(x + np.random.laplace(0, 1)), y


def in_place(df):
    x = 0.0
    x += stats.trim_mean(df["age"], 0.1)  # given
    return float(x + np.random.laplace(0, 1))


def walrus(df):
    x = (y := stats.trim_mean(df["age"], 0.1))  # given
    return float(x + np.random.laplace(0, 1)), y


def into_a_dict(df):
    kept = {}
    x = [0.0 for kept["k"] in [stats.trim_mean(df["age"], 0.1)]][0]  # given  # noqa: RUF015
    return float(x + np.random.laplace(0, 1)), dict(kept)


def two_in_one(df):
    x = stats.trim_mean(df["age"], 0.1); y = len(df)  # given  # noqa: E702  # fmt: skip
    return float(x + np.random.laplace(0, 1)), y + np.random.laplace(0, 1)


@pytest.mark.parametrize(("function", "sentence"), [
    (readable, "is read, and how far its value moves is derived"),
    (never_run, "is run on no path"),
    (chained, "is no assignment to one name"),
    (in_place, "is no assignment to one name"),
    (walrus, "does more than assign to x"),
    (into_a_dict, "does more than assign to x"),
    (two_in_one, "several statements stand in this line"),
])  # fmt: skip
def test_a_statement_about_what_cannot_be_given_is_refused_with_a_sentence(function, sentence):
    with pytest.raises(dp.UsageError, match=sentence):
        proved(function)


@pytest.mark.parametrize(("given", "sentence"), [
    ("test_given_moves.py:1000000 moves by 1", "there is no such line; the file has"),
    ("test_given_moves.py:2 moves by 1", "nothing is assigned in this line"),
    ("other.py:2 moves by 1", r"'other.py' is no file .*these are: .*test_given_moves.py"),
    ("test_given_moves.py:7 moves by -1", "not by -1"),
    ("test_given_moves.py:7 moves by nan", "not by nan"),
    ("test_given_moves.py:7 moves by inf", "not by inf"),
    ("test_given_moves.py:7 moves by 1.2345678901234", "at most 12 digits"),
    ("line 7 moves", "none of this form"),
    (["a.py:7 moves by 1", "a.py:7 moves by 2"], "a.py:7 is given twice"),
    (7, "not iterable|none of this form"),
])  # fmt: skip
def test_a_statement_of_another_form_is_refused(given, sentence):
    with pytest.raises((dp.UsageError, TypeError), match=sentence):
        proved(typical, given=given)


def test_a_statement_is_for_functions_of_records_alone():
    with pytest.raises(dp.UsageError, match="a movement is given of a line of a function of records"):
        dp.prove("above_threshold", given="a.py:7 moves by 1")


def test_a_statement_is_written_as_it_is_read():
    for text in ("release.py:7 moves by 1", "release.py:7 moves by at most 0.125", "src/release.py:7  moves by 1e3"):
        move = parse_given(text)
        assert parse_given(str(move)) == move.__class__(os.path.basename(move.file), move.line, move.by)
        assert math.isclose(float(move.distance), float(move.by))


@pytest.mark.parametrize(("given", "is_other"), [(None, True), (1, True), (120, False), ("120.0", False)])
def test_evidence_answers_the_request_with_the_same_statement_alone(given, is_other):
    text = None if given is None else statement(typical, given)
    asked = ProofRequest(f"{__file__}:typical", domain=DOMAIN, given=text, runs=0, claim="epsilon=500")
    evidence = proof_of_typical()
    target = msgspec.structs.replace(evidence.target, name=asked.target)
    told = other_question(msgspec.structs.replace(evidence, target=target), Asking(proof=asked, folder="/"))
    assert bool(told) is is_other, told
    assert not is_other or "what is given" in told


RELEASE = """
import numpy as np
from scipy import stats

def typical(people):
    ages = people["age"].clip(20, 60).to_numpy()
    middle = stats.trim_mean(ages, 0.2) if len(ages) else 40.0
    return float(middle + np.random.laplace(0, 40))
"""
TARGET = """
[tool.dpaudit]
seed = 0
runs = 1000
[[tool.dpaudit.targets]]
target = "release.py:typical"
claim = "epsilon=1"
relation = "add-remove"
require = "proved"
domain = { age = [0, 120] }
given = GIVEN
"""


def gated(folder, given):
    (folder / "release.py").write_text(RELEASE, encoding="utf-8")
    (folder / "pyproject.toml").write_text(TARGET.replace("GIVEN", given), encoding="utf-8")
    configuration = read(folder / "pyproject.toml")
    return run(configuration, GateOptions(update_baseline=False), runner=lambda asked, *_: carry_out(asked)).result


@pytest.mark.slow
def test_a_gate_tells_it_in_every_format_and_fails_where_runs_refute_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = gated(tmp_path, '"release.py:7 moves by 40"')
    assert (result.exit_code, result.results[0].rule) == (0, OutcomeRule.PASSED), result.results[0].sentence
    for draw in (summary_of_gate, junit, markdown, gate_json):
        assert "release.py:7 moves by at most 40" in draw(result), draw
    beside = [each["message"]["text"] for each in sarif(result)["runs"][0]["results"]]  # low-order bits of a float
    assert all("proved given that release.py:7 moves by at most 40" in each for each in beside), beside
    assert beside
    result = gated(tmp_path, '["release.py:7 moves by 4"]')
    assert (result.exit_code, result.results[0].rule) == (1, OutcomeRule.GIVEN_REFUTED)
    (found,) = sarif(result)["runs"][0]["results"]
    assert found["ruleId"] == "given-refuted"
    assert "release.py:7 moves by 20" in found["message"]["text"]
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}  # not that of the function


@pytest.mark.parametrize("by", mostly_at_night([40, 4]))
@pytest.mark.slow
@pytest.mark.usefixtures("all_pairs")
def test_a_proof_that_rests_on_a_statement_is_replayed_with_it(tmp_path, monkeypatch, by):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "release.py").write_text(RELEASE, encoding="utf-8")
    given = f"release.py:7 moves by {by}"
    evidence = dp.prove("release.py:typical", domain=DOMAIN, relation="add-remove", claim="epsilon=1", given=given,
                        runs=0, seed=0)  # fmt: skip
    assert str(evidence.verdict) == ("proved" if by == 40 else "inconclusive")
    found = dp.replay(evidence, target=load("release.py:typical"))
    assert found.identical, list(found.sentences())
    (tmp_path / "release.py").write_text(RELEASE.replace("0.2)", "0.1)").replace("20, 60", "0, 90"), encoding="utf-8")
    changed = dp.replay(evidence, target=load("release.py:typical"))
    assert not changed.holds
    assert str(changed.after.verdict) == "inconclusive"  # runs refute it of what the line is now


@pytest.mark.parametrize("given", ['"release.py moves"', '["release.py:7 moves by 1", "release.py:7 moves by 2"]'])
def test_a_gate_refuses_a_statement_of_another_form(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dp.UsageError, match="given"):
        gated(tmp_path, given)
