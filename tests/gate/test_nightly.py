"""Do nights add up to a statement that is wrong as rarely as it says, also when targets start anew?"""

import itertools
import math
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from scipy.stats import binomtest
from support import gate_projects as projects

from dpaudit.errors import UsageError
from dpaudit.evidence.records import Verdict
from dpaudit.gate import kept
from dpaudit.gate.kept import Ledger
from dpaudit.gate.result import Outcome, OutcomeRule


def after(ledger, name="a", tested="x", log_wealth=0.0, runs=10):
    return ledger.after(name, tested=tested, claim="epsilon=1", log_wealth=log_wealth, runs=runs)


def test_wealth_multiplies_over_nights():
    ledger = Ledger(error=0.05, planned=1)
    for wealth in (1.5, -0.5, 1.25):
        ledger = after(ledger, log_wealth=wealth)
    found = ledger.targets["a"]
    assert (found.nights, found.runs, found.log_wealth) == (3, 30, 2.25)
    assert found.most == 2.25 and not found.rejected
    assert after(ledger, log_wealth=2.0).targets["a"].rejected


def test_a_claim_that_was_rejected_stays_rejected():
    ledger = after(Ledger(error=0.05, planned=1), log_wealth=10.0)
    assert after(ledger, log_wealth=-50.0).targets["a"].rejected
    assert not after(ledger, log_wealth=-50.0, tested="y").targets["a"].rejected


@pytest.mark.parametrize("planned", [1, 2, 40])
def test_all_starts_together_keep_the_error(planned):
    ledger = Ledger(error=0.05, planned=planned)
    levels = []
    for start in range(3000):
        ledger = after(ledger, name=str(start % 7), tested=str(start))
        levels.append(ledger.targets[str(start % 7)].error)
    assert 0.9 * 0.05 < sum(levels) < 0.05
    assert all(first > second for first, second in itertools.pairwise(levels))
    assert levels[0] == pytest.approx(0.05 / (planned + 2))
    assert levels[planned - 1] >= 0.05 / (4 * planned + 2)


def test_another_code_or_claim_starts_anew_with_its_own_error():
    ledger = after(after(Ledger(error=0.05, planned=3)), name="b", log_wealth=2.0)
    same, other = after(ledger, name="b"), after(ledger, name="b", tested="y")
    assert (same.starts, other.starts) == (2, 3)
    assert same.targets["b"].error == ledger.targets["b"].error > other.targets["b"].error
    assert (other.targets["b"].nights, other.targets["b"].log_wealth) == (1, 0.0)
    assert other.targets["a"] == ledger.targets["a"]


@pytest.mark.parametrize("wealth", [math.nan, math.inf])
def test_wealth_that_is_no_number_counts_for_nothing(wealth):
    with pytest.raises(ArithmeticError):
        after(Ledger(error=0.05, planned=1), log_wealth=wealth)


def test_a_night_that_lost_everything_is_kept(tmp_path):
    ledger = after(Ledger(error=0.05, planned=1), log_wealth=-math.inf)
    file = tmp_path / kept.NIGHTLY_FILE
    kept.write_nights(file, ledger)
    assert kept.read_nights(file, error=0.05, targets=1) == ledger
    assert not after(ledger, log_wealth=1e9).targets["a"].rejected


@pytest.mark.slow
def test_how_often_correct_targets_are_rejected_in_many_nights():
    # e-values of a fair bet: 1.9 or 0.1 with equal chances, as tight as can be
    rng = np.random.default_rng(7)
    times, error, found = 300, 0.2, 0
    for _ in range(times):
        ledger = Ledger(error=error, planned=3)
        for night in range(60):
            for name in "abc":
                tested = "old" if night < 30 or name != "c" else "new"
                wealth = math.log(1.5 if rng.random() < 0.5 else 0.5)
                ledger = after(ledger, name=name, tested=tested, log_wealth=wealth)
        found += any(each.rejected for each in ledger.targets.values())
    assert binomtest(found, times, error, alternative="greater").pvalue > 1e-3
    assert found > 0.02 * times  # it is not so careful that it finds nothing


def test_a_leak_that_no_night_shows_alone_is_found_in_some():
    rng = np.random.default_rng(8)
    ledger = Ledger(error=0.05, planned=1)
    while not ledger.targets.get("a", msgspec.structs.replace(after(ledger).targets["a"])).rejected:
        ledger = after(ledger, log_wealth=float(rng.normal(0.5, 0.5)))
    assert 2 < ledger.targets["a"].nights < 40


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: text.replace('"nights": 1', '"nights": 2'), "altered"),
        (lambda text: text[:-9], "no nights of this version"),
        (lambda text: "[]", "no nights of this version"),
        (lambda text: text.replace('"version": 1', '"version": 3'), "no nights of this version"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused(tmp_path, damage, why):
    file = tmp_path / kept.NIGHTLY_FILE
    kept.write_nights(file, after(Ledger(error=0.05, planned=1)))
    file.write_text(damage(file.read_text()))
    with pytest.raises(UsageError, match=why):
        kept.read_nights(file, error=0.05, targets=1)


def test_another_confidence_is_refused(tmp_path):
    file = tmp_path / kept.NIGHTLY_FILE
    kept.write_nights(file, after(Ledger(error=0.05, planned=1)))
    with pytest.raises(UsageError, match=r"counted at confidence 0.95, and the gate asks for 0.9"):
        kept.read_nights(file, error=0.1, targets=1)


def test_a_night_that_came_to_nothing_ends_what_had_accumulated(tmp_path):
    file = tmp_path / kept.NIGHTLY_FILE
    ledger = after(after(after(Ledger(error=0.05, planned=2), log_wealth=2.0), name="b"), name="c", log_wealth=9.0)
    kept.write_nights(file, ledger.begin(["a", "c"]))  # and the gate is killed
    found = kept.read_nights(file, error=0.05, targets=2)
    assert set(found.targets) == {"b", "c"}  # c was rejected already
    again = after(found)
    assert again.starts == 4 and again.targets["a"].error < ledger.targets["c"].error
    tonight = after(ledger.begin(["a", "b"])).ended()
    assert set(tonight.targets) == {"a", "c"}


def test_skipping_nights_that_lose_would_err_far_more_often():
    # a bet that ends at once when it wins, and is killed for want of time when it does not
    rng = np.random.default_rng(9)
    times, nights, found = 200, 30, {"skipped": 0, "counted": 0}
    for _ in range(times):
        ledgers = dict.fromkeys(found, Ledger(error=0.2, planned=1))
        for _ in range(nights):
            won = rng.random() < 0.5
            for how, ledger in ledgers.items():
                if won:
                    ledgers[how] = after(ledger.begin(["a"]), log_wealth=math.log(2))
                elif how == "counted":
                    ledgers[how] = ledger.begin(["a"]).ended()
        for how, ledger in ledgers.items():
            found[how] += "a" in ledger.targets and ledger.targets["a"].rejected
    assert found["skipped"] > 0.9 * times
    assert binomtest(found["counted"], times, 0.2, alternative="greater").pvalue > 1e-3


# --- the gate at night ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _every_night_another_seed(monkeypatch):
    """Fresh seeds differ, and are the same whenever these tests are run."""
    numbers = itertools.count()
    monkeypatch.setattr("dpaudit.auditing.question.secrets", SimpleNamespace(randbits=lambda bits: next(numbers)))


class Nights(projects.Runs):
    """Audits that claim the wealth that they are given."""

    def __init__(self, monkeypatch, wealth):
        super().__init__()
        monkeypatch.setattr("dpaudit.gate.run.log_wealth_of", lambda evidence: wealth[evidence.target.name[-7:]])

    def __call__(self, request, limits, stop):
        assert request.sequential and not request.prove and request.frozen is None
        return super().__call__(request, limits, stop)


@pytest.mark.slow
def test_nights_accumulate_and_fail_together(tmp_path, monkeypatch):
    targets = [projects.target("program"), projects.target("noisy_count"), projects.target("nowhere.py:f")]
    configuration = projects.project(tmp_path, *targets, gate="runs = 1000")
    runs = Nights(monkeypatch, {"program": 3.0, "y_count": -1.0})
    codes, seeds = [], set()
    for _ in range(2):
        result = projects.gated(configuration, runs, nightly=True)
        codes.append(result.results[0].exit_code)
        seeds |= {request.seed for request in runs.requests}
        assert result.seed is None
    assert codes == [0, 1]  # log(1/(0.05/5)) is 4.6
    assert len(seeds) == 6  # fresh ones, every night
    first, second, third = result.results
    assert (first.outcome, first.rule) == (Outcome.FAILED, OutcomeRule.CLAIM_VIOLATED)
    assert "VIOLATED over 2 nights" in first.sentence
    assert second.outcome is Outcome.PASSED and "not a proof of privacy" in second.sentence
    assert third.rule is OutcomeRule.CANNOT_RUN
    assert '"begun": []' in (tmp_path / kept.NIGHTLY_FILE).read_text()
    assert not (tmp_path / ".dpaudit" / "gate").exists()


@pytest.mark.slow
def test_a_night_that_rejects_by_itself_passes_nothing(tmp_path, monkeypatch):
    """Among many nights some do by chance, so it fails nothing either."""
    wrong = projects.target("response", "parameters = { epsilon = 3.0 }")
    configuration = projects.project(tmp_path, wrong, gate="runs = 2000")
    result = projects.gated(configuration, Nights(monkeypatch, {"esponse": 1.0}), nightly=True)
    assert projects.only(result).evidence.verdict is Verdict.VIOLATED
    assert projects.only(result).outcome is Outcome.INCONCLUSIVE and result.exit_code == 3
    assert any("Tonight alone would reject the claim" in note for note in projects.only(result).notes)


@pytest.mark.nightly
def test_another_claim_starts_anew_at_night(tmp_path, monkeypatch):
    runs = Nights(monkeypatch, {"program": 3.0})
    for claim in ("epsilon=1", "epsilon=2", "epsilon=2"):
        configuration = projects.project(tmp_path, projects.target("program", claim=claim), gate="runs = 1000")
        result = projects.gated(configuration, runs, nightly=True)
    ledger = kept.read_nights(tmp_path / kept.NIGHTLY_FILE, error=0.05, targets=1)
    assert ledger.starts == 2
    assert ledger.targets["program"].nights == 2
    assert ledger.targets["program"].log_wealth == 6.0
    assert projects.only(result).rule is OutcomeRule.CLAIM_VIOLATED


@pytest.mark.slow
def test_a_real_night(tmp_path):
    wrong = projects.target("response", "parameters = { epsilon = 3.0 }")
    configuration = projects.project(tmp_path, wrong, projects.target("program"), gate="runs = 2000")
    first, second = projects.gated(configuration, nightly=True).results
    assert (first.rule, second.rule) == (OutcomeRule.CLAIM_VIOLATED, OutcomeRule.PASSED)
    assert first.evidence.sequential.stopped and first.evidence.runs < 2000
