"""Is a mechanism that became leakier found, one that did not left alone, and is the baseline a file to be trusted?"""

import json
import math

import msgspec
import numpy as np
import pytest
from scipy.stats import binomtest
from support import gate_projects as projects

from dpaudit.errors import UsageError
from dpaudit.evidence.records import Counts
from dpaudit.gate import kept
from dpaudit.gate.kept import BaselineEntry, BaselineEvent, compare
from dpaudit.gate.result import Outcome, OutcomeRule


def loose(name="noisy_count", *lines):
    """A target that keeps its claim by far, so that it may become leakier and keep it still."""
    return projects.target(name, *lines, claim="epsilon=4")


def updated(configuration, **options):
    done = projects.finished(configuration, update_baseline=True, **options)
    return done, configuration.root / kept.BASELINE_FILE


def rewritten(folder, text):
    """Change what the helper module of the project says."""
    (folder / "scales.py").write_text(text)
    (folder / "release.py").write_text(projects.RELEASES + "\n# another version\n")  # read anew


@pytest.mark.slow
def test_unchanged_code_is_not_leakier(tmp_path):
    configuration = projects.project(tmp_path, loose(), loose("program"), loose("opaque"))
    done, file = updated(configuration)
    assert done.refused is None and file.exists()
    result = projects.gated(configuration)
    assert result.exit_code == 0
    for item in result.results:
        assert item.comparison is not None and not item.comparison.leakier
        assert (
            item.comparison.before[0] < item.comparison.after[1]
            and item.comparison.after[0] < item.comparison.before[1]
        )
        assert not any(note.startswith("Since") for note in item.notes)


@pytest.mark.slow
def test_leakier_code_fails_although_its_claim_holds(tmp_path, monkeypatch):
    configuration = projects.project(tmp_path, loose())
    updated(configuration)
    runs = projects.Runs()
    configuration = projects.configured(tmp_path, loose("noisy_count", "parameters = { epsilon = 2.0 }"))
    result = projects.gated(configuration, runs)
    found = projects.only(result)
    assert (result.exit_code, found.outcome, found.rule) == (1, Outcome.FAILED, OutcomeRule.LEAKIER)
    assert str(found.evidence.verdict) == "not violated"
    assert found.comparison.before[1] < found.comparison.after[0]
    assert "parameters changed from epsilon=1.0 to epsilon=2.0" in " ".join(found.notes)
    assert len(runs.requests) == 2 and runs.requests[1].frozen.runs == 2 * runs.requests[0].frozen.runs


@pytest.mark.slow
def test_less_leaky_code_passes(tmp_path):
    updated(projects.project(tmp_path, loose()))
    configuration = projects.configured(tmp_path, loose("noisy_count", "parameters = { epsilon = 0.3 }"))
    found = projects.only(projects.gated(configuration))
    assert found.rule is OutcomeRule.PASSED
    assert found.comparison.after[1] < found.comparison.before[0]


@pytest.mark.slow
def test_a_target_with_a_baseline_shares_its_error_with_the_comparison(tmp_path):
    configuration = projects.project(tmp_path, loose(), projects.target("program"))
    updated(configuration, names=["noisy_count"])
    runs = projects.Runs()
    result = projects.gated(configuration, runs)
    assert [request.confidence for request in runs.requests] == pytest.approx([1 - 0.05 / 4, 1 - 0.05 / 2])
    assert any("--update-baseline adds it" in note for note in result.results[1].notes)
    entry = kept.read_baseline(tmp_path / kept.BASELINE_FILE)["noisy_count"]
    counts = msgspec.to_builtins(compare_counts(entry))
    assert compare(entry, counts, 0.05 / 4).before == result.results[0].comparison.before


def compare_counts(entry):
    return msgspec.convert(entry.measured.counts, Counts)


@pytest.mark.slow
def test_changed_code_and_claims_are_noticed(tmp_path):
    updated(projects.project(tmp_path, loose()))
    text = projects.RELEASES.replace("return len(data) +", "return len(data) + 0 +")
    assert text != projects.RELEASES
    configuration = projects.configured(tmp_path, projects.target("noisy_count", claim="epsilon=3"))
    (tmp_path / "release.py").write_text(text)
    notes = " ".join(projects.only(projects.gated(configuration)).notes)
    assert "the claim changed from epsilon=4 to epsilon=3" in notes
    assert "the source of the function changed" in notes


@pytest.mark.slow
def test_another_pair_is_not_compared(tmp_path):
    updated(projects.project(tmp_path, loose()))
    other = loose().replace(projects.PAIRS, "pairs = [[[5, 5], [5]]]")
    found = projects.only(projects.gated(projects.configured(tmp_path, other)))
    assert found.comparison is None
    assert any("nothing was compared" in note for note in found.notes)


@pytest.mark.slow
def test_the_file_is_sorted_and_stable_and_names_update_alone(tmp_path):
    configuration = projects.project(tmp_path, loose("program"), loose())
    _, file = updated(configuration)
    before = file.read_text()
    assert list(json.loads(before)["baseline"]["targets"]) == ["noisy_count", "program"]
    updated(configuration)
    assert file.read_text() == before
    changed = projects.configured(tmp_path, loose("program", "runs = 1000"), loose("noisy_count", "runs = 1000"))
    updated(changed, names=["program"])
    now = kept.read_baseline(file)
    old = msgspec.convert(json.loads(before)["baseline"]["targets"], dict[str, BaselineEntry])
    assert now["noisy_count"] == old["noisy_count"] and now["program"] != old["program"]
    updated(projects.configured(tmp_path, loose()))
    assert list(kept.read_baseline(file)) == ["noisy_count"]


@pytest.mark.parametrize("bad", ["violated", "gone"])
def test_what_is_violated_or_cannot_run_has_no_baseline(tmp_path, bad):
    configuration = projects.project(tmp_path, loose())
    _, file = updated(configuration)
    before = file.read_text()
    wrong = projects.target("response", "parameters = { epsilon = 3.0 }", 'name = "violated"')
    gone = projects.target("nowhere.py:f", 'name = "gone"')
    configuration = projects.configured(tmp_path, loose("program"), wrong if bad == "violated" else gone)
    done, file = updated(configuration)
    assert bad in done.refused
    assert done.result.exit_code == (1 if bad == "violated" else 4)
    assert file.read_text() == before


@pytest.mark.slow
def test_expected_violations_have_no_entry(tmp_path):
    wrong = projects.target("response", "parameters = { epsilon = 3.0 }", 'expect = "violated"')
    done, file = updated(projects.project(tmp_path, loose(), wrong))
    assert done.refused is None
    assert list(kept.read_baseline(file)) == ["noisy_count"]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: text.replace('"program"', '"progran"'), "altered after it was written"),
        (lambda text: text.replace("4", "5", 1), "altered after it was written"),
        (lambda text: text[:-20], "no baseline of this version"),
        (lambda text: "[]", "no baseline of this version"),
        (lambda text: "", "no baseline of this version"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "no baseline of this version"),
        (lambda text: '{"id": "x", "evidence": {}}', "no baseline of this version"),
        (lambda text: "[" * 100_000, "no baseline of this version"),
    ],
)
@pytest.mark.slow
def test_a_damaged_or_foreign_baseline_is_refused(tmp_path, damage, why):
    configuration = projects.project(tmp_path, loose("program"))
    _, file = updated(configuration)
    file.write_text(damage(file.read_text()))
    for update in (False, True):
        with pytest.raises(UsageError, match=why):
            projects.gated(configuration, update_baseline=update)


@pytest.mark.slow
def test_what_is_audited_sequentially_has_a_baseline_of_fixed_runs(tmp_path):
    configuration = projects.project(tmp_path, loose("noisy_count", "sequential = true"))
    updated(configuration)
    assert kept.read_baseline(tmp_path / kept.BASELINE_FILE)["noisy_count"].measured is not None
    found = projects.only(projects.gated(configuration))
    assert found.evidence.sequential is not None and found.comparison is not None
    assert kept.entry_of("t", found.evidence).measured is None  # its number of runs was not fixed


def entry_with(counts, method="guess", weight=None, considered=1, notion="epsilon=4"):
    event = {"family": "tails", "rules": []}
    measured = BaselineEvent(("a", "b"), method, weight, considered, event, msgspec.to_builtins(counts), notion)
    return BaselineEntry("t", notion, "declared", {}, None, "not violated", 0.5, 0.95, "dpa1:0", measured)


def guesses(rng, epsilon, size=1000):
    right = int(rng.binomial(size, 1 / (1 + math.exp(-epsilon))))
    return Counts(runs=(size, 0), toward0=(right, 0), toward1=(size - right, 0))


@pytest.mark.parametrize(("after", "least", "most"), [(1.0, 0.0, 0.2), (1.6, 0.95, 1.0)])
def test_how_often_a_mechanism_is_called_leakier(after, least, most):
    # both codes lose the same: at most the error; the new one loses more: nearly always
    rng = np.random.default_rng(3)
    times = 400
    found = sum(
        compare(entry_with(guesses(rng, 1.0)), msgspec.to_builtins(guesses(rng, after)), 0.2).leakier
        for _ in range(times)
    )
    if most < 1:
        assert binomtest(found, times, most, alternative="greater").pvalue > 1e-3
    else:
        assert found >= least * times


def test_the_intervals_hold_together():
    rng = np.random.default_rng(4)
    times, error, missed = 400, 0.2, 0
    for _ in range(times):
        both = compare(entry_with(guesses(rng, 1.0)), msgspec.to_builtins(guesses(rng, 1.5)), error)
        missed += not (both.before[0] <= 1.0 <= both.before[1] and both.after[0] <= 1.5 <= both.after[1])
    assert binomtest(missed, times, error, alternative="greater").pvalue > 1e-3
    assert missed > 0.2 * error * times  # and they are not much wider than they need to be


def test_an_event_chosen_from_several_has_a_part_of_the_error():
    counts = guesses(np.random.default_rng(5), 1.0)
    one, several = (
        compare(entry_with(counts, considered=number), msgspec.to_builtins(counts), 0.1) for number in (1, 4)
    )
    assert several.before[0] < one.before[0] and several.before[1] > one.before[1]
    assert several.after == one.after
