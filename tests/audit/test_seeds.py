"""Where nobody names a seed, is it a fresh one, recorded and enough to see the same again?"""

import inspect
import itertools
import secrets
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing import question
from dpaudit.errors import Notice
from dpaudit.gate.run import seed_of_commit
from dpaudit.sampling.checkpoint import question_in

pytestmark = pytest.mark.slow

PAIR = [([1.0], [0.0])]
QUICK = {"pairs": PAIR, "relation": "declared", "claim": "epsilon=2", "runs": 2_000}


def release(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)


def program(data, noise):
    return data[0] + noise.laplace(1)


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    """Fresh seeds are 100, 101, …: each call that asks for one gets another."""
    numbers = itertools.count(100)
    monkeypatch.setattr(question, "secrets", SimpleNamespace(randbits=lambda bits: next(numbers)))


def outputs(rng, n=200):
    return rng.random(n) < 0.5


def test_fresh_seeds_differ_and_fit_into_every_json(monkeypatch):
    monkeypatch.setattr(question, "secrets", secrets)
    found = {question.fresh_seed() for _ in range(100)}
    assert len(found) == 100 and max(found) < 2**53


@pytest.mark.parametrize(
    "function", [dp.audit, dp.tools.privacy_curve, dp.prove, dp.tools.audit_scores, dp.tools.audit_outputs, dp.plan]
)
def test_no_function_has_a_seed_of_its_own(function):
    assert inspect.signature(function).parameters["seed"].default is None


@pytest.mark.parametrize(
    "made",
    [
        lambda **seed: dp.audit(release, **QUICK, **seed),
        lambda **seed: dp.audit(release, sequential=True, **{**QUICK, "runs": 200}, **seed),
        lambda **seed: dp.prove(program, claim="epsilon=1", relation="queries", length=1, runs=0, **seed),
        lambda **seed: dp.tools.audit_outputs(*map(outputs, map(np.random.default_rng, (1, 2))), **seed),
        lambda **seed: dp.tools.audit_scores(
            *map(outputs, map(np.random.default_rng, (1, 2))), **seed, design="independent"
        ),
        lambda **seed: dp.tools.audit_scores(
            *map(outputs, map(np.random.default_rng, (1, 2))), design="one-run", **seed
        ),
    ],
)
def test_a_fresh_seed_is_recorded_and_gives_the_same_again(made):
    first, second = made(), made()
    assert (first.seed, second.seed) == (100, 101)
    assert made(seed=100).id == first.id
    assert made(seed=0).seed == 0


def test_the_printed_command_or_the_summary_names_it():
    from dpaudit.report.formats import summary

    assert "--seed 100" in summary(dp.audit("laplace", runs=2_000))
    assert "101" in summary(dp.audit(lambda data, rng: rng.random(), **{**QUICK, "runs": 200}))


def test_what_is_resumed_keeps_the_seed_of_its_file(tmp_path):
    file = tmp_path / "blocks"
    first = dp.audit(release, resume=file, **QUICK)
    assert question_in(file)["seed"] == first.seed == 100
    assert dp.audit(release, resume=file, **QUICK).id == first.id
    file.write_bytes(file.read_bytes()[:40])  # torn before the question was whole: begun afresh
    assert question_in(file) is None
    with pytest.warns(Notice, match="nothing is resumed"):
        assert dp.audit(release, resume=file, **QUICK).seed == 101


def test_two_processes_have_two_seeds(tmp_path):
    code = "from dpaudit.auditing.question import given_or_fresh as g; print(g(None), g(7))"
    done = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in "ab"]
    (first, seven), (second, _) = (each.stdout.split() for each in done)
    assert first != second and seven == "7"


def test_a_gate_has_the_seed_of_its_commit(tmp_path):
    assert seed_of_commit(tmp_path) is None
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    found = []
    subprocess.run([*git, "init", "-q"], check=True)
    assert seed_of_commit(tmp_path) is None  # no commit yet
    for message in ("first", "second"):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
        found.append(seed_of_commit(tmp_path))
        assert seed_of_commit(tmp_path) == found[-1] < 2**53
    assert len(set(found)) == 2
