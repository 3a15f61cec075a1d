"""Does an accepted finding fail nothing until its day, stand in every summary, and never look like a pass?"""

import datetime
import json
import math
from dataclasses import replace

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner
from support import gate_projects as projects
from support import gate_results as made

from dpaudit.cli.main import cli
from dpaudit.errors import UsageError
from dpaudit.gate.drawn import gate_json, index_page, junit, markdown, sarif, sarif_text
from dpaudit.gate.result import Acceptance, Outcome, OutcomeRule, summary
from dpaudit.gate.run import accepted

TWICE = "parameters = { epsilon = 2.0 }"
ACCEPTABLE = (
    OutcomeRule.CLAIM_VIOLATED,
    OutcomeRule.LEAKIER,
    OutcomeRule.NOT_PROVED,
    OutcomeRule.INCONCLUSIVE,
)
DAY = datetime.date(2027, 3, 31)
ACCEPTED = Acceptance(OutcomeRule.CLAIM_VIOLATED, DAY, "the count is public by law")
PASSED, VIOLATED = made.targets()[:2]


def judged(result, accept=ACCEPTED, today=DAY, compared=True):
    """The result beside what is accepted of it."""
    return accepted(result, accept, today, compared=compared)


def test_through_its_last_day_a_finding_is_accepted_and_stands():
    found = judged(VIOLATED)
    assert (found.outcome, found.rule, found.exit_code) == (Outcome.ACCEPTED, OutcomeRule.CLAIM_VIOLATED, 0)
    assert found.sentence == VIOLATED.sentence
    assert found.notes[0] == "Accepted until 2027-03-31: the count is public by law. The finding stands."


def test_after_its_last_day_it_fails_again_and_says_so():
    found = judged(VIOLATED, today=DAY + datetime.timedelta(days=1))
    assert (found.outcome, found.exit_code, found.accepted, found.stale) == (Outcome.FAILED, 1, None, True)
    assert "was accepted until 2027-03-31, which is over (the count is public by law)" in found.notes[0]


@pytest.mark.parametrize("rule", ACCEPTABLE)
def test_only_the_finding_that_is_named_is_accepted(rule):
    accept = replace(ACCEPTED, rule=rule)
    for result in made.targets():
        assert (judged(result, accept).outcome is Outcome.ACCEPTED) == (result.rule is rule)


def test_what_was_not_found_is_said_to_be_stale_where_it_was_looked_for():
    found = judged(PASSED)
    assert (found.outcome, found.stale) == (Outcome.PASSED, True)
    assert "claim-violated, which was not found now" in found.notes[-1]
    assert judged(PASSED, compared=False) == PASSED
    invalid = made.targets()[-1]
    assert judged(invalid) == invalid  # nothing was looked at


def test_more_than_what_is_accepted_is_not_accepted():
    lower = VIOLATED.evidence.lower
    assert lower.value > 1
    assert judged(VIOLATED, replace(ACCEPTED, up_to=lower.value)).outcome is Outcome.ACCEPTED
    less = judged(VIOLATED, replace(ACCEPTED, up_to=lower.value * 0.999))
    assert (less.outcome, less.exit_code) == (Outcome.FAILED, 1)
    assert "It is accepted up to" in less.notes[0]
    nothing = replace(VIOLATED, evidence=msgspec.structs.replace(VIOLATED.evidence, lower=replaced(lower, math.nan)))
    for odd in (nothing, replace(VIOLATED, evidence=None)):
        assert judged(odd, replace(ACCEPTED, up_to=9.0)).outcome is Outcome.FAILED


def replaced(bound, value):
    """The same bound with another number."""
    return msgspec.structs.replace(bound, value=value)


SUMMARIES = {
    "terminal": lambda result: summary(result, terminal=True, width=200),
    "plain": summary,
    "markdown": markdown,
    "page": index_page,
    "junit": junit,
    "json": gate_json,
    "sarif": sarif_text,
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_summary_shows_what_is_accepted_with_reason_and_finding(name):
    said = " ".join(SUMMARIES[name](made.gate(judged(VIOLATED), PASSED)).split())
    for part in ("ccepted", "2027-03-31", "the count is public by law", "2.252 exceeds the claimed 1"):
        assert part in said


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_summary_reports_what_is_stale(name):
    said = " ".join(SUMMARIES[name](made.gate(judged(PASSED))).split())
    assert "accept names claim-violated" in said


def test_no_green_word_stands_for_what_is_accepted():
    result = made.gate(judged(VIOLATED))
    assert markdown(result).startswith("## dpaudit: 1 accepted of 1 target\n")
    assert "passed" not in summary(result)
    assert '"skipped"' not in gate_json(result) and "<skipped" in junit(result)
    (finding,) = sarif(result)["runs"][0]["results"]
    assert finding["ruleId"] == "claim-violated"
    assert finding["suppressions"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": "accepted until 2027-03-31: the count is public by law",
        }
    ]


def test_the_log_is_valid_with_what_is_accepted_and_stale():
    hostile = replace(ACCEPTED, why=made.HOSTILE)
    result = made.gate(judged(VIOLATED, hostile), judged(PASSED, hostile))
    jsonschema.validate(json.loads(sarif_text(result)), made.schema("sarif-2.1.0.json"))
    assert "<script>alert" not in index_page(result) and "<script>alert" not in markdown(result)


UNTIL = "until = 2999-01-01, why = 'known'"


@pytest.mark.slow
def test_a_gate_with_an_accepted_finding_ends_with_0_and_keeps_a_baseline_of_the_rest(tmp_path):
    accept = f"accept = {{ rule = 'claim-violated', {UNTIL}, up_to = 3 }}"
    targets = (projects.target("noisy_count", TWICE, accept), projects.target("program"))
    configuration = projects.project(tmp_path, *targets, gate="runs = 2000\nseed = 1")
    finished = projects.finished(configuration, update_baseline=True)
    assert finished.refused is None
    assert [item.outcome for item in finished.result.results] == [Outcome.ACCEPTED, Outcome.PASSED]
    assert finished.result.exit_code == 0
    assert list(json.loads((tmp_path / "dpaudit-baseline.json").read_text())["baseline"]["targets"]) == ["program"]


@pytest.mark.slow
def test_a_day_that_is_over_fails_the_gate(tmp_path):
    accept = "accept = { rule = 'claim-violated', until = 2020-01-01, why = 'known' }"
    configuration = projects.project(tmp_path, projects.target("noisy_count", TWICE, accept), gate="runs = 2000")
    assert projects.gated(configuration).exit_code == 1


@pytest.mark.parametrize(
    ("accept", "says"),
    [
        ("accept = true", "it is a table, not True; write\naccept = { rule ="),
        (f"accept = {{ {UNTIL} }}", "the key 'rule' is missing; write\naccept = { rule ="),
        ("accept = { rule = 'claim-violated', until = 2999-01-01 }", "the key 'why' is missing"),
        ("accept = { rule = 'claim-violated', why = 'known' }", "the key 'until' is missing"),
        (f"accept = {{ rule = 'cannot-run', {UNTIL} }}", "accept.rule: Expected one of 'claim-violated'"),
        ("accept = { rule = 'claim-violated', until = 'soon', why = 'known' }", "accept.until: "),
        ("accept = { rule = 'claim-violated', until = 2999-01-01, why = ' ' }", "accept.why: "),
        (f"accept = {{ rule = 'claim-violated', {UNTIL}, up_to = nan }}", "up_to is a finite number"),
        (f"accept = {{ rule = 'not-proved', {UNTIL}, up_to = 2 }}", "it is about a violated claim"),
        (f"accept = {{ rule = 'claim-violated', {UNTIL}, reason = 'x' }}", "there is no key 'reason'"),
        (f"accept = {{ rule = 'claim-violated', {UNTIL} }}\nexpect = 'violated'", "leave one of the two out"),
    ],
)
def test_what_cannot_be_accepted_is_refused_with_its_line(accept, says, tmp_path):
    with pytest.raises(UsageError) as refused:
        projects.project(tmp_path, projects.target("program", accept))
    assert says in str(refused.value)
    assert "pyproject.toml, line " in str(refused.value)


def test_a_date_may_be_written_as_a_text(tmp_path):
    accept = """accept = { rule = 'inconclusive', until = '2027-03-31', why = "a  few\\nrows" }"""
    configuration = projects.project(tmp_path, projects.target("program", accept))
    (target,) = configuration.targets
    assert target.accept.acceptance == Acceptance(OutcomeRule.INCONCLUSIVE, DAY, "a few rows")


def test_rules_can_be_explained():
    for rule in ACCEPTABLE:
        assert CliRunner().invoke(cli, ["explain", str(rule)]).exit_code == 0
