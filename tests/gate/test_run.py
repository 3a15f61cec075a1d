"""Does a gate end as it should: each rule, each exit code, seeds, shares of the error, a second look at what is red?"""

import re
import threading

import msgspec
import pytest
from support import gate_projects as projects

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.gate.result import Outcome, OutcomeRule
from dpaudit.gate.run import GateOptions, run, seed_of

HALF = "parameters = { epsilon = 0.5 }"
TWICE = "parameters = { epsilon = 2.0 }"


@pytest.mark.slow
def test_correct_targets_pass(tmp_path):
    targets = [projects.target(name) for name in ("noisy_count", "program", "response")]
    result = projects.gated(projects.project(tmp_path, *targets), workers=2)
    assert result.exit_code == 0
    assert [item.name for item in result.results] == ["noisy_count", "program", "response"]
    assert {item.rule for item in result.results} == {OutcomeRule.PASSED}
    assert all("not a proof of privacy" in item.sentence for item in result.results)
    assert (result.confidence, result.seed) == (0.95, 0)


@pytest.mark.slow
def test_a_violated_claim_fails(tmp_path):
    runs = projects.Runs()
    result = projects.gated(projects.project(tmp_path, projects.target("noisy_count", TWICE)), runs)
    found = projects.only(result)
    assert (result.exit_code, found.outcome, found.rule) == (1, Outcome.FAILED, OutcomeRule.CLAIM_VIOLATED)
    assert len(runs.requests) == 1  # the audit has made sure of it
    assert found.evidence.false_alarm == runs.requests[0].false_alarm
    assert (found.location.file, found.location.line) == ("release.py", 8)


@pytest.mark.slow
def test_one_false_alarm_is_shared_by_all_targets(tmp_path):
    targets = [projects.target("program", f'name = "{number}"') for number in range(5)]
    for confidence, alarm in ((0.95, 1e-3), (0.9999, 1e-4)):
        configuration = projects.project(tmp_path, *targets, gate=f"confidence = {confidence}\nruns = 400")
        runs = projects.Runs()
        projects.gated(configuration, runs, names=["1", "3"])
        assert [request.false_alarm for request in runs.requests] == pytest.approx([alarm / 10] * 2)


@pytest.mark.slow
def test_evidence_at_a_larger_false_alarm_is_no_answer(tmp_path):
    def lenient(request, report):
        return projects.Runs()(msgspec.structs.replace(request, false_alarm=0.05), None, None)

    runs = projects.Runs(lenient)
    found = projects.only(projects.gated(projects.project(tmp_path, projects.target("noisy_count", TWICE)), runs))
    assert found.rule is OutcomeRule.CANNOT_RUN and "the false alarm" in found.sentence


@pytest.mark.slow
def test_the_error_is_shared_by_all_targets_also_when_some_are_run(tmp_path):
    targets = [projects.target("program", f'name = "{number}"') for number in range(5)]
    configuration = projects.project(tmp_path, *targets, gate="confidence = 0.9\nruns = 400")
    runs = projects.Runs()
    projects.gated(configuration, runs, names=["1", "3"])
    assert [request.confidence for request in runs.requests] == pytest.approx([0.98, 0.98])
    assert len({request.seed for request in runs.requests}) == 2


@pytest.mark.slow
def test_the_same_seed_gives_the_same_evidence_on_any_number_of_workers(tmp_path):
    targets = [projects.target(name) for name in ("noisy_count", "program", "response")]
    configuration = projects.project(tmp_path, *targets, gate="runs = 1000")
    ids = [
        [item.evidence.id for item in projects.gated(configuration, **options).results]
        for options in ({}, {"workers": 3}, {"seed": 0}, {"seed": 1})
    ]
    assert ids[0] == ids[1] == ids[2]
    assert set(ids[0]).isdisjoint(ids[3])


def test_seeds_differ_by_name_and_look():
    seeds = {seed_of(root, name, look) for root in (0, 1) for name in ("a", "b") for look in (1, 2)}
    assert len(seeds) == 8
    assert seed_of(0, "a", 1) == seed_of(0, "a", 1) < 2**53


@pytest.mark.slow
def test_expected_violations(tmp_path):
    broken = projects.target("noisy_count", TWICE, 'expect = "violated"')
    mended = projects.target("noisy_count", 'expect = "violated"', 'name = "mended"')
    runs = projects.Runs()
    result = projects.gated(projects.project(tmp_path, broken, mended), runs)
    assert [(item.outcome, item.rule) for item in result.results] == [
        (Outcome.PASSED, OutcomeRule.PASSED),
        (Outcome.FAILED, OutcomeRule.VIOLATION_MISSING),
    ]
    assert result.exit_code == 3  # failed, but nothing was violated
    assert len(runs.requests) == 2  # what is expected needs no second look


@pytest.mark.parametrize(
    ("policy", "outcome", "code"),
    [("report", Outcome.INCONCLUSIVE, 3), ("pass", Outcome.PASSED, 0), ("fail", Outcome.FAILED, 3)],
)
def test_inconclusive_is_what_the_policy_says(tmp_path, policy, outcome, code):
    few = projects.target("noisy_count", claim="epsilon=0.01")
    few = few.replace(projects.PAIRS, projects.PAIRS + "\nparameters = { epsilon = 0.01 }")
    result = projects.gated(projects.project(tmp_path, few, gate=f'runs = 200\ninconclusive = "{policy}"'))
    found = projects.only(result)
    assert (found.outcome, found.rule, result.exit_code) == (outcome, OutcomeRule.INCONCLUSIVE, code)


@pytest.mark.slow
def test_runs_that_cannot_be_trusted_and_targets_that_cannot_run(tmp_path):
    targets = [
        projects.target("repeats"),
        projects.target("nowhere.py:f"),
        projects.target("noisy_count", "parameters = { sigma = 1 }", 'name = "parameter"'),
        projects.target("noisy_count", 'name = "claimless"', claim=None),
        projects.target("noisy_count", 'relation = "replace"', 'name = "strangers"'),
        projects.target("noisy_count", 'name = "fine"'),
    ]
    result = projects.gated(projects.project(tmp_path, *targets, gate="runs = 600_000"))
    found = {item.name: item for item in result.results}
    assert found["repeats"].rule is OutcomeRule.RUNS_INVALID
    assert found["f"].rule is found["parameter"].rule is OutcomeRule.CANNOT_RUN
    assert "there is no file" in found["f"].sentence
    assert "has no parameter 'sigma'" in found["parameter"].sentence
    assert "a gate holds claims" in found["claimless"].sentence
    assert found["strangers"].outcome is Outcome.INVALID
    assert found["fine"].outcome is Outcome.PASSED
    assert result.exit_code == 4


@pytest.mark.slow
def test_of_several_exit_codes_the_first_of_1_4_3_0_counts(tmp_path):
    violated, passed = projects.target("noisy_count", TWICE), projects.target("program")
    gone, missing = projects.target("nowhere.py:f"), projects.target("response", 'expect = "violated"')
    configuration = projects.project(tmp_path, violated, passed, gone, missing)
    codes = {
        names: projects.gated(configuration, names=names).exit_code
        for names in ((), ("program", "f", "response"), ("program", "response"), ("program",))
    }
    assert list(codes.values()) == [1, 4, 3, 0]


@pytest.mark.slow
def test_only_what_no_seed_reaches_cannot_be_promised(tmp_path):
    """A function that is called once a run draws what it will; one that is read draws by the seed."""
    (tmp_path / "called.py").write_text("import os\n\n\ndef f(data):\n    return (len(data) + os.urandom(1)[0]) % 2\n")
    for name, promised in (("opaque", True), ("called.py:f", False)):
        found = projects.only(projects.gated(projects.project(tmp_path, projects.target(name))))
        assert found.outcome is Outcome.PASSED
        assert any("randomness of its own" in note for note in found.notes) is not promised


@pytest.mark.slow
def test_a_target_near_its_limit_of_time_is_told(tmp_path):
    """What took a third of its limit may take all of it on a slower machine."""
    for cost, told in ((0.9, False), (1.1, True)):
        runs = projects.Runs(lambda _, report, cost=cost: msgspec.structs.replace(report, cost=cost))
        target = projects.target("noisy_count", "time_limit = 3")
        found = projects.only(projects.gated(projects.project(tmp_path, target), runs))
        assert any("time_limit = 12" in note for note in found.notes) is told


@pytest.mark.slow
def test_required_proofs(tmp_path):
    pair = 'relation = "queries"\nlength = 3'
    targets = [
        projects.target("above_threshold", "length = 2", claim=None, pairs=""),
        projects.target("program", pair, TWICE, 'name = "refuted"', pairs=""),
        projects.target("noisy_count", 'name = "no program"'),
        projects.target("noisy_count", TWICE, 'name = "violated"'),
        projects.target("svt_unlimited", 'expect = "violated"', claim=None, pairs=""),
    ]
    configuration = projects.project(tmp_path, *targets, gate="runs = 20_000")
    found = {item.name: item for item in projects.gated(configuration, require="proved").results}
    assert found["above_threshold"].rule is OutcomeRule.PASSED
    assert str(found["above_threshold"].evidence.verdict) == "proved"
    assert found["refuted"].rule is OutcomeRule.CLAIM_VIOLATED
    assert (found["no program"].outcome, found["no program"].rule) == (Outcome.INCONCLUSIVE, OutcomeRule.NOT_PROVED)
    assert "only a program" in found["no program"].sentence
    assert found["violated"].rule is OutcomeRule.CLAIM_VIOLATED
    assert found["svt_unlimited"].rule is OutcomeRule.PASSED


@pytest.mark.slow
def test_an_exact_counterexample_needs_no_second_look(tmp_path):
    pytest.importorskip("flint")
    runs = projects.Runs()
    refuted = projects.target("program", TWICE, 'relation = "queries"', "length = 2", 'require = "proved"', pairs="")
    result = projects.gated(projects.project(tmp_path, refuted), runs)
    assert projects.only(result).rule is OutcomeRule.CLAIM_VIOLATED
    assert len(runs.requests) == 1


def test_evidence_of_another_dpaudit_is_none(tmp_path):
    def altered(request, report):
        return msgspec.structs.replace(report, evidence={**report.evidence, "id": "dpa1:0"})

    result = projects.gated(projects.project(tmp_path, projects.target("program")), projects.Runs(altered))
    assert projects.only(result).rule is OutcomeRule.CANNOT_RUN


def test_baselines_are_not_updated_at_night(tmp_path):
    with pytest.raises(UsageError, match="without --nightly"):
        projects.gated(projects.project(tmp_path, projects.target("program")), nightly=True, update_baseline=True)


def test_each_result_is_told_as_it_comes(tmp_path):
    from dpaudit.gate.run import GateOptions, run

    heard = []
    targets = [projects.target("program"), projects.target("nowhere.py:f")]
    run(projects.project(tmp_path, *targets), GateOptions(), runner=projects.Runs(), listen=heard.append)
    assert sorted(item.name for item in heard) == ["f", "program"]


def test_evidence_is_whole(tmp_path):
    found = projects.only(projects.gated(projects.project(tmp_path, projects.target("program"))))
    assert Evidence.from_json(found.evidence.to_json()) == found.evidence
    assert found.evidence.target.parameters == {"epsilon": 1.0}


# --- whether types count ------------------------------------------------------------------------------------

TYPED = "def typed(data, rng):\n    return rng.integers(3) if len(data) == 2 else float(rng.integers(3))\n"


def typed(tmp_path, *lines, gate="runs = 1000"):
    (tmp_path / "typed.py").write_text(TYPED)
    return projects.project(tmp_path, projects.target("typed.py:typed", *lines), gate=gate)


@pytest.mark.slow
def test_a_target_says_whether_types_count(tmp_path):
    for lines, gate, outcome in (
        ((), "runs = 1000", Outcome.FAILED),
        (('types = "ignore"',), "runs = 1000", Outcome.PASSED),
        ((), 'runs = 1000\ntypes = "ignore"', Outcome.PASSED),
        (('types = "count"',), 'runs = 1000\ntypes = "ignore"', Outcome.FAILED),
    ):
        found = projects.only(projects.gated(typed(tmp_path, *lines, gate=gate), seed=0))
        assert found.outcome is outcome
        assert (found.evidence.types == "ignore") == (outcome is Outcome.PASSED)


@pytest.mark.slow
def test_an_event_of_other_types_is_not_compared(tmp_path):
    projects.finished(typed(tmp_path, 'types = "ignore"', 'inconclusive = "pass"'), seed=0, update_baseline=True)
    found = projects.only(projects.gated(typed(tmp_path, 'expect = "kept"'), seed=1))
    assert found.comparison is None
    assert any("no longer audited" in note for note in found.notes)


def test_a_proof_is_about_types(tmp_path):
    with pytest.raises(UsageError, match=r"types: a proof is about outputs with their types"):
        typed(tmp_path, 'types = "ignore"', 'require = "proved"')
    configuration = typed(tmp_path, 'types = "ignore"')
    with pytest.raises(UsageError, match="typed: a proof is about outputs with their types"):
        projects.gated(configuration, require="proved")


def test_a_line_of_life_says_what_is_running(tmp_path, monkeypatch):
    monkeypatch.setattr("dpaudit.gate.run._ALIVE", 0.02)
    configuration = projects.project(tmp_path, projects.target("program"), projects.target("response"))
    said, heard = [], threading.Event()

    def waits(request, report):
        assert not request.target.endswith("program") or heard.wait(60)
        return report

    def alive(line):
        said.append(line)
        if line.startswith("1 of 2"):
            heard.set()

    run(configuration, GateOptions(workers=2), runner=projects.Runs(waits), alive=alive)
    assert heard.is_set()
    assert re.fullmatch(r"1 of 2 targets have ended; running: program \(\d+ s\)", said[-1])
