"""Is a search in data that were given part of a gate, and is it the answer to nothing else?"""

import msgspec
import pytest
from support import gate_projects as projects

from dpaudit.auditing.question import SearchSpace
from dpaudit.auditing.search import least_of
from dpaudit.errors import UsageError
from dpaudit.gate import kept
from dpaudit.gate.config import LEAST_SEARCHED
from dpaudit.gate.result import Outcome, OutcomeRule
from dpaudit.gate.run import relied_on
from dpaudit.gate.schema import offered
from dpaudit.gate.target_process import Request

DATA = 'data = "numbers.json"'
FILES = {"numbers.json": "[1, 2, 3]", "other.json": "[1, 2, 4]", "people.csv": "age\n30\n40\n"}
ASKED = {
    "target": "release.py:noisy_count",
    "data": "numbers.json",
    "claim": "epsilon=1",
    "relation": "add-remove",
    "domain": [0, 9],
    "beyond_domain": False,
    "parameters": {},
    "runs": 2000,
    "seed": 1,
    "confidence": 0.95,
    "false_alarm": 0.001,
}
OTHER = {"data": "other.json", "domain": [0, 8], "beyond_domain": True, "trace": True}


def project(folder, *lines, gate="runs = 2000\nseed = 1"):
    return projects.project(folder, projects.target("noisy_count", *lines, pairs=""), gate=gate, files=FILES)


@pytest.mark.slow
def test_evidence_of_a_search_answers_for_its_own_data_and_options(tmp_path):
    project(tmp_path, DATA)
    own = Request(root=str(tmp_path), **ASKED)
    honest = projects.carried_out(own)
    found = relied_on(honest.evidence, own)
    assert (found.search.source, found.run.files) == ("data", ("numbers.json",))
    for name, value in OTHER.items():
        other = msgspec.structs.replace(own, **{name: value})
        with pytest.raises(UsageError, match="about something else"):
            relied_on(honest.evidence, other)
    # nothing is searched for where pairs are given, or data are not
    for change in ({"data": None, "domain": None}, {"data": None, "domain": None, "pairs": [[[1], []]]}):
        with pytest.raises(UsageError, match="about something else"):
            relied_on(honest.evidence, msgspec.structs.replace(own, **change))
    known = kept.key_of(own)
    (tmp_path / "numbers.json").write_text("[1, 2, 5]")
    with pytest.raises(UsageError, match="the digest of the data is"):
        relied_on(honest.evidence, own)
    assert kept.key_of(own) != known


@pytest.mark.nightly
def test_a_gate_searches_in_data(tmp_path):
    configuration = project(tmp_path, DATA, "parameters = { epsilon = 3.0 }")
    runs = projects.Runs()
    found = projects.only(projects.gated(configuration, runs))
    assert (found.rule, found.evidence.search.source) == (OutcomeRule.CLAIM_VIOLATED, "data")
    assert not projects.gated(project(tmp_path, DATA), update_baseline=True).results[0].notes


def own_draws(scale):
    return f"import numpy as np\n\n\ndef total(people):\n    return sum(people) + np.random.laplace(0, {scale})\n"


@pytest.mark.nightly
def test_a_baseline_of_data_is_compared_on_a_pair_of_its_own(tmp_path):
    """Whatever pair an audit finds, and whatever its seed: less noise is seen."""
    gate = "runs = 4000\nseed = 1"
    lines = ('data = "numbers.json"', "domain = [0, 3]")
    (tmp_path / "own.py").write_text(own_draws(6))
    configuration = projects.project(
        tmp_path, projects.target("own.py:total", *lines, pairs="", claim="epsilon=4"), gate=gate, files=FILES
    )
    before = projects.only(projects.gated(configuration, update_baseline=True))
    assert before.outcome is Outcome.PASSED
    entry = kept.read_baseline(tmp_path / kept.BASELINE_FILE)["total"]
    assert entry.measured is not None
    same = projects.only(projects.gated(configuration, seed=2))
    assert same.outcome is Outcome.PASSED and same.comparison is not None
    (tmp_path / "own.py").write_text(own_draws(2))
    leakier = projects.only(projects.gated(configuration, seed=3))
    assert leakier.rule is OutcomeRule.LEAKIER and leakier.comparison.after[0] > leakier.comparison.before[1]
    (tmp_path / "own.py").write_text(own_draws(6))
    (tmp_path / "numbers.json").write_text("[3, 1, 2, 2]")
    other = projects.only(projects.gated(configuration, seed=4))
    assert other.comparison is None and any("no longer among the first neighbours" in note for note in other.notes)


@pytest.mark.slow
def test_what_cannot_be_proved_about_data_is_audited_on_them(tmp_path):
    lines = ('data = "people.csv"', "domain = { age = [0, 99] }", 'require = "proved"', 'relation = "add-remove"')
    found = projects.only(projects.gated(project(tmp_path, *lines)))
    assert (found.rule, found.evidence.search.source) == (OutcomeRule.NOT_PROVED, "data")
    assert "prove the function of one output" in found.sentence
    found = projects.only(projects.gated(project(tmp_path, *lines[1:2])))
    assert (found.rule, 'with data = "FILE" it is audited' in found.sentence) == (OutcomeRule.CANNOT_RUN, True)


REFUSED = {
    "targets[0].data: there is no file 'gone.csv'": ('data = "gone.csv"',),
    "targets[0].data: it names no dataset: 'people.xls'; give a .csv": ('data = "people.xls"',),
    "targets[0].data: it is searched for pairs, and pairs are given": (DATA, "pairs = [[[1], []]]"),
    "targets[0].data: Expected": ("data = [1, 2]",),
    "targets[0].domain: beside data it says what records may hold": (DATA, 'domain = "real"'),
    "targets[0].domain: beside data it says": (DATA, "domain = [0, 9]", 'require = "proved"'),
    "targets[0].domain: the domain starts at 9": (DATA, "domain = [9, 0]"),
    "targets[0].beyond_domain: what lies beyond": (DATA, "beyond_domain = true"),
    "targets[0].runs: a search in data takes at least 1,000 runs, not 500": (DATA, "runs = 500"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_wrong_with_data_is_said_with_its_key(tmp_path, sentence):
    with pytest.raises(UsageError) as refused:
        project(tmp_path, *REFUSED[sentence])
    assert f"tool.dpaudit.{sentence}" in str(refused.value)


def test_runs_of_the_whole_gate_are_named_where_they_are_too_few_for_data(tmp_path):
    with pytest.raises(UsageError, match=r"line 2, tool\.dpaudit\.runs: a search in data"):
        project(tmp_path, DATA, gate="runs = 500")


def test_a_gate_knows_what_a_search_needs_and_offers_its_options():
    assert least_of(SearchSpace("data", [1], "", None, False)) == LEAST_SEARCHED
    assert {"data", "domain", "beyond_domain"} <= set(offered("target"))
