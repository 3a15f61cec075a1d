"""Where only some canaries of a model have a score, does the bound hold whatever the coins of the others were?"""

import itertools

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

import dpaudit as dp
from dpaudit.auditing.canaries import ranked_members
from dpaudit.cli.main import cli
from dpaudit.review.check import check, passes


def drawn(seed, canaries, mu=3.0):
    rng = np.random.default_rng([68, seed])
    coins = rng.random(canaries) < 0.5
    return coins, rng.normal(np.where(coins, mu, 0), 1)


def test_the_order_is_the_least_favourable_one():
    """Against every way in which the coins without a score may have fallen, at every number of guesses."""
    rng = np.random.default_rng(0)
    for size, missing in itertools.product((5, 6, 9), (1, 2, 3, 4)):
        coins = rng.random(size) < 0.5
        scores = rng.normal(size=size)
        stated = ranked_members(scores[coins], scores[~coins], missing)
        whole = size + missing
        order = coins[np.argsort(-scores)]
        upper = size - size // 2
        assert len(stated) == whole
        for others in itertools.product((False, True), repeat=missing):
            true = np.concatenate([order[:upper], others, order[upper:]])
            for high in range(whole - whole // 2 + 1):
                for low in range(whole // 2 + 1):
                    right = [each[:high].sum() + (~each[whole - low :]).sum() for each in (stated, true)]
                    assert right[0] <= right[1]


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["at random", "the extreme ones"])
def test_the_bound_is_lower_and_the_evidence_says_how_many_there_were(kept):
    coins, scores = drawn(1, 2_000)
    chosen = np.abs(scores - 1.5) > 2 if kept == "the extreme ones" else np.random.default_rng(2).random(2_000) < 0.3
    some = dp.tools.audit_scores(
        scores[coins & chosen], scores[~coins & chosen], claim="epsilon=1, delta=1e-6", design="one-run", canaries=2_000
    )
    whole = dp.tools.audit_scores(scores[coins], scores[~coins], claim="epsilon=1, delta=1e-6", design="one-run")
    alone = dp.tools.audit_scores(
        scores[coins & chosen], scores[~coins & chosen], claim="epsilon=1, delta=1e-6", design="one-run"
    )
    assert some.lower.value <= min(whole.lower.value, alone.lower.value)
    assert kept == "at random" or some.lower.value > 1
    assert (some.scores.canaries, sum(some.lower.counts.runs), some.measuring) == (2_000, 2_000, 2_000)
    assert any("without one were guessed wrong" in each for each in some.assumptions)
    assert passes(check(some)) and "canaries" not in alone.record()["scores"]
    assert dp.Evidence.from_json(some.to_json()).id == some.id


@pytest.mark.nightly
def test_chosen_scores_of_a_private_model_are_hardly_ever_above_the_truth():
    """Randomised response of ε = 1 for each coin; an attack hands in some of the answers that say "in"."""
    above = 0
    for seed in range(60):
        rng = np.random.default_rng([70, seed])
        coins = rng.random(600) < 0.5
        told = np.where(rng.random(600) < np.e / (1 + np.e), coins, ~coins)
        scores = told + rng.random(600)
        chosen = scores > np.quantile(scores, 0.8)
        found = dp.tools.audit_scores(scores[coins & chosen], scores[~coins & chosen], design="one-run", canaries=600)
        above += found.lower.value > 1
    assert above <= 6  # P(Bin(60, .05) > 6) < .03, and it is far rarer: they are guessed out as well


@pytest.mark.slow
def test_another_number_of_canaries_is_noticed():
    coins, scores = drawn(2, 400)
    found = dp.tools.audit_scores(scores[coins][:100], scores[~coins][:100], design="one-run", canaries=400)
    for canaries in (None, 100, 200, 399, 4_000):
        forged = msgspec.structs.replace(found, scores=msgspec.structs.replace(found.scores, canaries=canaries))
        assert not passes(check(forged)), canaries


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"design": "independent", "canaries": 100}, "belongs to the design 'one-run'"),
        ({"design": "one-run", "canaries": 59}, "it is no fewer"),
        ({"design": "one-run", "canaries": 0}, "canaries"),
        ({"design": "one-run", "canaries": 1.5}, "canaries"),
        ({}, "'independent': every score comes from a training run.*'one-run': all scores come from one model"),
    ],
)
def test_what_cannot_be_is_refused(options, says):
    with pytest.raises(dp.UsageError, match=says):
        dp.tools.audit_scores(np.arange(30.0), np.arange(30.0), **options)


def test_no_coin_decided_where_even_the_others_do_not_even_it_out():
    with pytest.raises(dp.UsageError, match="no fair coin"):
        dp.tools.audit_scores(np.arange(300.0), np.arange(30.0), design="one-run", canaries=350)
    found = dp.tools.audit_scores(np.arange(300.0), np.arange(30.0), design="one-run", canaries=650)
    assert found.verdict is dp.Verdict.NO_CLAIM


@pytest.mark.slow
def test_the_command_asks_for_the_design_and_repeats_what_was_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    coins, scores = drawn(3, 300)
    np.save("in.npy", scores[coins])
    np.save("out.npy", scores[~coins])
    asked = CliRunner().invoke(cli, ["scores", "in.npy", "out.npy", "--json", "e.json"])
    assert asked.exit_code == 2 and not (tmp_path / "e.json").exists()
    assert "'independent': every score" in asked.output and "'one-run': all scores" in asked.output
    done = CliRunner().invoke(cli, ["scores", "in.npy", "out.npy", "--design", "one-run", "--canaries", "5e3"])
    assert done.exit_code == 0, done.output
    assert "--canaries 5000" in done.output and "5,000 canaries, not all with a score" in " ".join(done.output.split())


@pytest.mark.slow
def test_guesses_are_called_what_is_guessed():
    rng = np.random.default_rng(3)
    given = rng.normal(0, 1, 300), rng.normal(0, 1, 300)
    evidence = dp.tools.audit_scores(*given, claim="epsilon=1, delta=1e-5", design="one-run")
    assert not [finding for finding in check(evidence) if finding.fails]
    first = msgspec.structs.replace(evidence.attempts[0], name="all of them right")
    changed = msgspec.structs.replace(evidence, attempts=(first, *evidence.attempts[1:]))
    assert "scores" in [finding.what for finding in check(changed) if finding.fails]
