"""Does an audit of a function as it is say PROVED where it is proved, and nowhere else?"""

# ruff: noqa: NPY002

import re

import numpy as np
import pandas as pd
import pytest
from support import forked

import dpaudit as dp
from dpaudit.cli.main import main
from dpaudit.neighbours.digest import read_kept
from dpaudit.processes import Asked, other_question
from dpaudit.report.text.verdict import headline
from dpaudit.report.view import view
from dpaudit.request import AuditRequest
from dpaudit.verify import answer

pytestmark = pytest.mark.slow
DOMAIN = {"age": (0, 100), "city": ["a", "b"]}
DATA = pd.DataFrame({"age": [20, 40, 100, 0], "city": ["a", "b", "a", "a"]})
ASKED = {"claim": "epsilon=1", "relation": "add-remove", "seed": 3, "runs": 8_000}


def report(df, epsilon=1.0):
    total = df["age"].clip(0, 100).sum() + np.random.laplace(0, 200 / epsilon)
    return total, len(df) + np.random.laplace(0, 2 / epsilon)


def twice(df):
    total, size = report(df, 2.0)
    return total / max(size, 1)


def unread(df):
    return eval("len(df)") + np.random.laplace()


@pytest.mark.parametrize("data", [None, DATA], ids=["domain", "data"])
def test_a_proof_within_the_claim_is_the_answer_with_both_bounds_on_one_line(data):
    found = dp.audit(report, domain=DOMAIN, data=data, **ASKED)
    assert found.verdict is dp.Verdict.PROVED
    assert found.upper.exact == "1"
    assert 0 < found.lower.value <= 1
    assert re.search(r"So 0\.\d+\s≤\sε\s≤\s1, from below at 95", headline(found).sentence)


def test_the_proof_says_of_which_numbers_it_is():
    told = [dp.audit(report, domain=DOMAIN, data=data, **ASKED).proof.scope for data in (None, DATA)]
    assert ["whole numbers in 'age'" in each for each in told] == [False, True]


def test_a_proof_above_the_claim_is_measured_on_its_own_pair():
    found = dp.audit(twice, domain=DOMAIN, data=DATA, **ASKED)
    assert found.upper.exact == "2"
    assert found.verdict in (dp.Verdict.VIOLATED, dp.Verdict.INCONCLUSIVE)


def test_what_is_not_proved_is_traced_and_says_why():
    found = dp.audit(unread, domain=DOMAIN, data=DATA, **ASKED)
    assert found.proof is None
    line = next(row.line for row in view(found).beside if row.label == "no proof")
    assert re.search(r"test_answer[.]py:[0-9]+: eval\(\) sees more .*dpaudit prove", line)
    assert "?" not in line


def by_day(df):
    return [(df["day"].dt.day_of_week == day).sum() + np.random.laplace() for day in range(7)]


@pytest.mark.nightly
def test_dates_are_declared_kept_and_proved():
    days = pd.date_range("2024-01-01", periods=7)
    data = pd.DataFrame({"day": days.append(days)})
    for given in (None, data):
        found = dp.audit(by_day, domain={"day": list(days)}, data=given, **{**ASKED, "runs": 4_000})
        assert found.verdict is dp.Verdict.PROVED
        assert read_kept(found.proof.domain) == {"day": list(days)}
    few, other = {**ASKED, "runs": 4_000}, data.astype({"day": "datetime64[s]"})
    assert "times of the type" in dp.audit(by_day, domain={"day": list(days)}, data=other, **few).trace.unproved


def test_without_a_domain_it_says_which_columns_to_declare_and_nothing_of_what_they_hold():
    found = dp.audit(report, data=DATA, **ASKED)
    assert found.verdict is not dp.Verdict.PROVED
    assert found.trace.unproved.endswith("--domain 'age=[LOW, HIGH]'")
    assert dp.audit(report, data=DATA.assign(age=DATA["age"] / 3), **ASKED).trace.unproved == found.trace.unproved


@pytest.mark.nightly
def test_what_is_said_of_a_proof_that_came_to_nothing_stays_in_a_replay():
    found = dp.audit(report, data=DATA, **{**ASKED, "runs": 4_000})
    assert found.trace.unproved
    assert dp.replay(found, target=report, data=DATA).identical


def test_without_a_claim_both_bounds_are_told():
    found = dp.audit(report, domain=DOMAIN, **{**ASKED, "claim": None})
    assert found.verdict is dp.Verdict.NO_CLAIM
    assert found.lower.value <= float(found.upper.exact) == 1
    assert re.search(r"It is 0\.\d+\s≤\sε\s≤\s1: from below at 95", headline(found).sentence)


@pytest.mark.nightly
def test_a_proof_that_the_trace_contradicts_is_none(monkeypatch):
    monkeypatch.setattr(answer.Proving, "keeps_claim", property(lambda self: True))
    found = dp.audit(twice, domain=DOMAIN, data=DATA, **{**ASKED, "runs": 4_000})
    assert found.verdict not in (dp.Verdict.PROVED, dp.Verdict.NOT_VIOLATED)
    assert found.proof is None
    assert "prover is wrong" in found.trace.unproved


def test_the_command_line_hands_the_proof_over_and_its_evidence_is_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = "import numpy as np\ndef f(df): return len(df) + np.random.laplace()\n"
    (tmp_path / "own.py").write_text(text)
    DATA.to_csv(tmp_path / "people.csv", index=False)
    # the columns in another order than the data have them
    asked = ["own.py:f", "--data", "people.csv", "--domain", 'city=["a", "b"]', "--domain", "age=[0, 100]"]
    codes = []
    for command in (
        ["audit", *asked, "--claim", "epsilon=1", "--runs", "30000", "--json", "e.json", "--quiet"],
        ["check", "e.json"],
        ["replay", "e.json", "--trust"],
    ):
        with pytest.raises(SystemExit) as end, forked.children():
            main(command)
        codes.append(end.value.code)
    assert codes == [0, 0, 0], capsys.readouterr().out
    assert dp.Evidence.load(tmp_path / "e.json").verdict is dp.Verdict.PROVED


def ups_and_downs(x, scale=2.0):
    return np.abs(np.diff(x)).sum() + np.random.laplace(0, scale)


NUMBERS = {"domain": (0, 1), "length": 3, "claim": "epsilon=1", "seed": 3, "runs": 8_000}


def test_lists_of_numbers_are_proved_with_both_bounds_on_one_line():
    found = dp.audit(ups_and_downs, **NUMBERS)
    assert (found.verdict, found.upper.exact, found.relation) == (dp.Verdict.PROVED, "1", "replace")
    assert re.search(r"So 0\.\d+\s≤\sε\s≤\s1, from below at 95", headline(found).sentence)
    assert found.id == dp.prove(ups_and_downs, **NUMBERS).id


def test_a_proof_of_another_length_answers_another_audit():
    found = dp.prove(ups_and_downs, **{**NUMBERS, "runs": 0})
    name = found.target.name
    asked = {"domain": (0, 1), "claim": "epsilon=1", "runs": 0}
    assert other_question(found, Asked(AuditRequest(name, length=3, **asked))) is None
    assert "the length" in other_question(found, Asked(AuditRequest(name, length=4, **asked)))
    assert other_question(found, Asked(AuditRequest(name, **{**asked, "domain": {"age": (0, 1)}}))) is not None


def test_half_the_noise_on_numbers_is_refuted_with_no_pair_given():
    found = dp.audit(ups_and_downs, parameters={"scale": 1.0}, **NUMBERS)
    assert (found.verdict, found.upper.exact) == (dp.Verdict.VIOLATED, "2")
    assert found.lower.value > 1.5


def test_numbers_that_a_trace_contradicts_are_not_proved(monkeypatch):
    monkeypatch.setattr(answer.Proving, "keeps_claim", property(lambda self: True))
    found = dp.audit(ups_and_downs, parameters={"scale": 1.0}, **NUMBERS)
    assert found.verdict is not dp.Verdict.PROVED
    assert found.proof is None and "prover is wrong" in found.trace.unproved


@pytest.mark.parametrize("given", [{"domain": None}, {"domain": DOMAIN}, {"data": [0.5]}, {"sequential": True}])
def test_a_length_is_of_a_range_of_numbers_alone(given):
    with pytest.raises(dp.UsageError, match="--length 3"):
        dp.audit(ups_and_downs, **{**NUMBERS, **given})


def test_a_length_is_not_passed_over_where_nothing_is_proved():
    with pytest.raises(dp.UsageError, match="tries a proof"):
        dp.tools.privacy_curve(ups_and_downs, **NUMBERS)


def of_records(records):
    return sum(each["age"] > 30 for each in records) + np.random.laplace()


def of_records_exactly(records):
    return sum(1 for each in records if each["age"] > 30)


def of_numbers(x):
    return np.clip(x, 0, 100).sum() + np.random.laplace(0, 100)


@pytest.mark.parametrize("data", [DATA.to_dict("records"), DATA["age"].to_numpy()], ids=["list", "array"])
def test_a_proof_is_of_data_frames_and_of_no_other_data(data):
    function, handed = (of_records, "records") if isinstance(data, list) else (of_numbers, "to_numpy")
    domain = DOMAIN if isinstance(data, list) else (0, 100)
    found = dp.audit(function, domain=domain, data=data, **ASKED)
    assert found.verdict is dp.Verdict.NOT_VIOLATED
    assert found.trace.unproved.startswith("a proof is of data frames, whose columns are declared")
    assert handed in found.trace.unproved


def test_a_wrong_function_of_a_list_is_no_mistake_of_the_prover():
    found = dp.audit(of_records_exactly, domain=DOMAIN, data=DATA.to_dict("records"), **ASKED)
    assert found.verdict is dp.Verdict.VIOLATED
    assert "prover is wrong" not in found.trace.unproved


def raising(df):
    return df["age"].clip(0, 100).total() + np.random.laplace(0, 100)


@pytest.mark.parametrize("function", [of_records, raising])
def test_what_raises_for_all_data_is_no_proof_of_anything(function):
    with pytest.raises(dp.UsageError, match=r"raises on all data that was tried \(\d+ runs\): (Type|Attribute)Error"):
        dp.prove(function, domain=DOMAIN, relation="add-remove", claim="epsilon=1", runs=0, seed=1)
