"""Does a gate hold lists of releases to their claims, with its cache, and against what its process says?"""

import json

import msgspec
import pytest

from dpaudit.errors import UsageError
from dpaudit.gate.config import read
from dpaudit.gate.kept import BASELINE_FILE
from dpaudit.gate.result import Outcome, OutcomeRule
from dpaudit.gate.run import GateOptions, relied_on, run
from dpaudit.gate.target_process import Request, carry_out

PLAN = 'claims = ["epsilon=2"]\n[[release]]\nmechanism = "laplace"\nscale = 2\nsteps = {steps}\n'


def project(folder, *targets, steps=4):
    (folder / "plan.toml").write_text(PLAN.format(steps=steps), encoding="utf-8")
    listed = "\n".join(f"[[tool.dpaudit.targets]]\n{target}\n" for target in targets)
    (folder / "pyproject.toml").write_text(f"[tool.dpaudit]\nseed = 0\n{listed}", encoding="utf-8")
    return folder / "pyproject.toml"


def gated(file, **options):
    """Gate with each request carried out in this process."""
    return run(read(file), GateOptions(**options), runner=lambda request, *_: carry_out(request)).result


def test_a_plan_passes_and_fails_when_its_steps_grow(tmp_path):
    result = gated(project(tmp_path, 'account = "plan.toml"\nrequire = "proved"'))
    assert (result.exit_code, result.results[0].rule, result.results[0].name) == (0, OutcomeRule.PASSED, "plan.toml")
    result = gated(project(tmp_path, 'account = "plan.toml"', steps=5), fresh=True)
    assert (result.exit_code, result.results[0].rule) == (1, OutcomeRule.CLAIM_VIOLATED)
    assert result.results[0].location.file == "plan.toml"


def test_one_release_stands_in_the_configuration(tmp_path):
    one = 'account = { mechanism = "laplace", scale = 0.5 }\nclaim = '
    result = gated(project(tmp_path, f'{one}"epsilon=2"', f'{one}"epsilon=1"\nexpect = "violated"'))
    assert [item.outcome for item in result.results] == [Outcome.PASSED, Outcome.PASSED]
    assert [item.name for item in result.results] == ["Laplace(0.5)", "Laplace(0.5) (2)"]


def test_between_the_bounds_the_policy_decides(tmp_path):
    loose = 'account = { mechanism = "exponential", epsilon = 1, steps = 4 }\nclaim = "epsilon=3"'
    for policy, code in (("report", 3), ("pass", 0), ("fail", 3)):
        assert gated(project(tmp_path, f'{loose}\ninconclusive = "{policy}"')).exit_code == code
    assert gated(project(tmp_path, f'{loose}\nrequire = "proved"')).results[0].rule is OutcomeRule.NOT_PROVED


def test_nights_do_not_bet_on_what_is_certain(tmp_path):
    file = project(tmp_path, 'account = "plan.toml"')
    for _ in range(2):
        assert gated(file, nightly=True).exit_code == 0
    ledger = json.loads((tmp_path / "dpaudit-nightly.json").read_text(encoding="utf-8"))
    assert "plan.toml" not in json.dumps(ledger)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ('account = "other.toml"\nclaim = "epsilon=1"', "targets[0].account: cannot read the plan"),
        ('account = { mechanism = "laplace" }\nclaim = "epsilon=1"', "a laplace release needs scale"),
        ('account = { mechanism = "laplace", scale = 1 }', "a gate holds claims"),
        ('account = "plan.toml"\nruns = 1000', "runs: it has no meaning beside account"),
        ('account = "plan.toml"\ntarget = "a.py:f"', "target: it has no meaning beside account"),
        ("account = 3", "Expected"),
        ('claim = "epsilon=1"', "the key 'target' is missing"),
    ],
)
def test_what_is_no_accounting_is_refused_with_its_place(target, said, tmp_path):
    with pytest.raises(UsageError) as refused:
        read(project(tmp_path, target))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        {"account": {"mechanism": "laplace", "scale": "3", "steps": 4}},
        {"account": {"mechanism": "laplace", "scale": 2, "steps": 3}},
        {"claim": "epsilon=3"},
    ],
)
def test_evidence_of_another_list_or_claim_is_no_answer(change, tmp_path):
    account = {"mechanism": "laplace", "scale": 2, "steps": 4}
    request = Request(target="laplace", root=str(tmp_path), account=account, claim="epsilon=2")
    other = carry_out(msgspec.structs.replace(request, **change)).evidence
    assert relied_on(carry_out(request).evidence, request).claim == "epsilon=2"
    with pytest.raises(UsageError, match="about something else"):
        relied_on(other, request)


@pytest.mark.slow
def test_a_list_that_has_not_changed_is_not_accounted_for_again(tmp_path):
    file = project(tmp_path, 'account = "plan.toml"')
    first, second = (run(read(file)).result.results[0] for _ in range(2))
    assert (first.cached, second.cached, first.evidence.id) == (False, True, second.evidence.id)
    third = run(read(project(tmp_path, 'account = "plan.toml"', steps=3))).result.results[0]
    assert not third.cached and third.evidence.upper.value < first.evidence.upper.value


@pytest.mark.slow
def test_a_list_that_loses_more_than_its_baseline_fails_although_its_claim_holds(tmp_path):
    settings = 'account = "plan.toml"\nclaim = "epsilon=9, delta=1e-5"'
    file = project(tmp_path, settings, steps=3)
    gated(file, update_baseline=True)
    kept = json.loads((tmp_path / BASELINE_FILE).read_text(encoding="utf-8"))["baseline"]["targets"]
    assert [each["accounted"][0]["at"] for each in kept.values()] == ["1/100000"]
    same = gated(file).results[0]
    assert same.outcome is Outcome.PASSED and same.comparison is not None and not same.notes
    more = gated(project(tmp_path, settings, steps=4)).results[0]
    assert more.outcome is Outcome.FAILED and more.rule is OutcomeRule.LEAKIER
    assert more.sentence.startswith("ε at δ = 1e-5 grew: it is at least ")
    assert any("list of releases changed from" in note for note in more.notes)
    fewer = gated(project(tmp_path, settings, steps=2)).results[0]
    assert fewer.outcome is Outcome.PASSED
    other = gated(project(tmp_path, settings.replace("1e-5", "1e-6"), steps=4)).results[0]
    assert other.outcome is Outcome.PASSED and any("nothing was compared" in note for note in other.notes)
