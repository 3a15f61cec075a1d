"""Does the command plan what Python plans, and say it in words?"""

import math
import re

import pytest

import dpaudit as dp

TARGET = "some folder/shapes.py:program"


def plan(run, *options):
    return run("plan", TARGET, "--pair", "pair.json", "--claim", "epsilon=1", *options)


@pytest.mark.slow
def test_the_command_says_what_python_says(run):
    done = plan(run, "--detect", "epsilon=1.2", "--seed", "3", "--relation", "replace")
    assert done.exit_code == 0, done.output
    found = dp.plan(TARGET, 1.2, claim="epsilon=1", pairs=[([1, 0], [1, 1])], relation="replace", seed=3)
    assert done.stdout.startswith(f"About {found.runs:,} runs find ε = 1.2 with probability 0.9, at 95 % confidence.")
    assert f"{found.measuring:,} have to measure the event" in done.stdout
    assert re.search(r"time +about [\d.]+ \w+ with one worker", done.stdout)
    assert "event      points to the" in done.stdout
    assert "This assumes that a loss of ε = 1.2 shows through an event" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_parameters_and_confidence_reach_the_plan(run):
    usual = plan(run, "--detect", "epsilon=1.2").stdout
    sure = plan(run, "--detect", "epsilon=1.2", "--confidence", "0.999").stdout
    assert "at 99.9 % confidence" in sure
    assert sure.split()[1] != usual.split()[1]
    broken = plan(run, "--detect", "epsilon=1.2", "-p", "scale=0.5").stdout
    assert "a short audit already shows ε ≥ 1.9" in " ".join(broken.split())
    assert "already shows" not in usual


def test_bad_input_gets_a_sentence(run):
    done = plan(run, "--detect", "mu=2")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "such as 'epsilon=2' for the claim epsilon=1, not 'mu=2'" in done.stderr
    done = plan(run)
    assert done.exit_code == 2
    assert "--detect" in done.stderr
    done = run("plan", TARGET, "--pair", "pair.json", "--detect", "epsilon=2")
    assert "makes no claim that could be violated" in done.stderr


@pytest.mark.slow
def test_where_no_number_of_runs_would_do_it_says_so(run, monkeypatch):
    monkeypatch.setattr("dpaudit.auditing.plan.runs_to_show", lambda *_, **__: math.inf)
    done = plan(run, "--detect", "epsilon=1.2")
    assert done.exit_code == 3
    assert done.stdout.startswith("No number of runs would show ε = 1.2 through the event that was chosen.")


@pytest.mark.slow
def test_an_error_is_planned_for_too(run):
    done = run("plan", "laplace", "--error", "5", "--seed", "1", "--in-process")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        f"epsilon = {dp.tools.plan_error('laplace', 5, seed=1).value:g} makes 90 % of the answers"
    )
    assert run("plan", "laplace", "--error", "1e-9", "--in-process").exit_code == 3
    for wrong in ((), ("--error", "5", "--detect", "epsilon=2"), ("--error", "-1")):
        assert run("plan", "laplace", *wrong, "--in-process").exit_code == 2
