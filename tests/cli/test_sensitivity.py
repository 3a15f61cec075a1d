"""What does the command say of a query, and with which exit code? And the options of an audit beside it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from support import forked

from dpaudit.cli.main import cli

QUERIES = """
import dpaudit as dp

def total(data, *, upper=100.0):
    return sum(min(max(x, 0), upper) for x in data)

def both(data):
    return [len(data), 2 * len(data)]

def mean(data):
    return sum(data) / len(data)

@dp.mechanism(claim="epsilon=1", relation="add-remove", query=total, sensitivity=50)
def noisy(data, rng, *, upper=100.0):
    return total(data, upper=upper) + rng.laplace(0, upper)

def bare(data, rng):
    return len(data) + rng.laplace()

def opaque(data):
    import random
    return len(data) + random.random()
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "queries.py").write_text(QUERIES)
    (tmp_path / "data.json").write_text("[3, 41, 17, 90]")
    (tmp_path / "pair.json").write_text("[[1, 1], [1]]")
    monkeypatch.chdir(tmp_path)

    def call(*words):
        return CliRunner().invoke(cli, list(words))

    return call


def sensitivity(run, target, *words, source=("--data", "data.json")):
    return run("sensitivity", f"queries.py:{target}", *source, *words)


def test_none_found_is_no_proof(run):
    result = sensitivity(run, "total", "--claim", "100", "--domain", "[0, 200]")
    assert result.exit_code == 0
    assert result.output.startswith("NO COUNTEREXAMPLE FOUND: queries.py:total moves by 100")
    assert "That none was found is no proof" in result.output


@pytest.mark.slow
def test_a_counterexample_is_exit_code_1(run):
    result = sensitivity(run, "total", "--claim", "99", "--domain", "[0, 200]")
    assert result.exit_code == 1
    assert result.output.startswith("COUNTEREXAMPLE: queries.py:total moves by 100")
    assert "1 record" in result.output
    assert sensitivity(run, "total", "--claim", "99", "--domain", "[0, 200]", "--quiet").output == ""


def test_without_a_claim_the_movement_is_told(run):
    result = sensitivity(run, "total", "--domain", "[0, 200]", "-p", "upper=30")
    assert result.exit_code == 0
    assert result.output.startswith("NO CLAIM: queries.py:total moves by 30 ")


def test_what_a_mechanism_declares_is_held_against_its_query(run):
    result = sensitivity(run, "noisy", "--domain", "[0, 200]")
    assert result.exit_code == 1
    assert "moves by at most 50\n" in result.output


def test_norms_and_pairs(run):
    pair = ("--pair", "pair.json")
    assert sensitivity(run, "both", "--claim", "2", source=pair).exit_code == 1
    assert sensitivity(run, "both", "--claim", "2", "--norm", "inf", source=pair).exit_code == 0
    assert (
        sensitivity(run, "both", "--claim", "2.3", "--norm", "2", "--relation", "add-remove", source=pair).exit_code
        == 0
    )


def test_no_number_is_a_counterexample_of_its_own(run):
    result = sensitivity(run, "mean", "--claim", "1000", "--domain", "[0, 200]")
    assert result.exit_code == 1
    assert "raises ZeroDivisionError" in result.output
    assert "without a bound" in result.output


@pytest.mark.parametrize(
    ("target", "words", "message"),
    [
        ("bare", (), "asks for rng, so it is no deterministic query"),
        ("opaque", (), "answers differently when it is asked twice"),
        ("total", ("--claim", "-1"), "a sensitivity is a number of at least 0"),
        ("total", ("--relation", "nothing"), "no relation 'nothing'"),
        ("missing", (), "has no 'missing'"),
    ],
)
def test_where_there_is_no_answer_the_exit_code_is_2(run, target, words, message):
    result = sensitivity(run, target, *words)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_file_that_cannot_be_read_is_exit_code_2(run):
    result = sensitivity(run, "total", source=("--data", "missing.json"))
    assert result.exit_code == 2
    assert "missing.json" in result.output
    assert "there is nothing to try" in sensitivity(run, "total", source=()).output


# --- options of an audit ----------------------------------------------------------------------------------

AUDIT = ("--claim", "epsilon=1", "--relation", "add-remove", "--pair", "pair.json", "--runs", "3000")


@pytest.mark.slow
def test_an_audit_observes_time(run):
    result = run("audit", "queries.py:bare", *AUDIT, "--observe", "time", "--json", "found.json")
    assert result.exit_code in (0, 1, 3)
    with open("found.json", encoding="utf-8") as file:
        record = json.load(file)["evidence"]
    assert record["observed"] == ["time"]
    assert record["reproducible"] is False
    assert run("audit", "queries.py:bare", *AUDIT, "--observe", "memory").exit_code == 2


@pytest.mark.slow
def test_an_audit_resumes(run):
    ids = []
    for words in ((), ("--resume", "blocks"), ("--resume", "blocks")):
        assert run("audit", "queries.py:bare", *AUDIT, *words, "--json", "found.json").exit_code == 0
        with open("found.json", encoding="utf-8") as file:
            ids.append(json.load(file)["id"])
    assert len(set(ids)) == 1
    other = run("audit", "queries.py:bare", *AUDIT, "--resume", "blocks", "--seed", "1")
    assert other.exit_code == 2
    assert "seed was 0 and is 1" in other.output
    assert run("audit", "queries.py:bare", *AUDIT, "--resume", "blocks", "--time-budget", "1").exit_code == 2


@pytest.mark.slow
def test_one_process_instead_of_two_is_said_in_a_line(run):
    result = run("audit", "queries.py:opaque", *AUDIT, "--workers", "2")
    assert "dpaudit: opaque runs in one process: it has randomness of its own" in result.output
    assert "Warning" not in result.output


SLOW = """
import os, time

def slow(data, rng):
    if "SLOW" in os.environ:
        time.sleep(0.0005)
    return len(data) + rng.laplace()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process there")
@pytest.mark.slow
def test_an_audit_that_is_interrupted_ends_with_130_and_goes_on(run, tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(SLOW)
    words = ["audit", "slow.py:slow", *AUDIT, "--seed", "0", "--resume", "blocks", "--json", "found.json"]
    monkeypatch.setenv("SLOW", "yes")
    with forked.children():
        process = forked.Popen(
            [sys.executable, "-m", "dpaudit", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
    monkeypatch.delenv("SLOW")
    file = tmp_path / "blocks"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not file.exists() or file.stat().st_size < 4_000):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in said
    assert not (tmp_path / "found.json").exists()
    assert run(*words).exit_code == 0
    resumed = json.loads((tmp_path / "found.json").read_text())["id"]
    file.unlink()
    assert run(*words).exit_code == 0
    assert json.loads((tmp_path / "found.json").read_text())["id"] == resumed
