"""Does the command audit what it is given, write what it is asked to, and exit as promised?"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.report import evidence_from_page


@pytest.mark.slow
@pytest.mark.parametrize("name", ["program", "sampler", "seeded", "opaque"])
def test_a_function_of_each_shape_in_a_file_is_audited(name, audit):
    done = audit(name, "--claim", "epsilon=1", "--runs", "20000", "--json", "e.json")
    assert done.exit_code == 0, done.stderr
    evidence = dp.Evidence.load("e.json")
    assert evidence.target.asks == name
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert evidence.runs == 20_000
    assert 0.8 < evidence.lower.value <= 1
    assert evidence.reproducible  # a function with randomness of its own too: it is read
    assert evidence.id in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("name", "claim", "code", "verdict"),
    [
        ("program", "epsilon=1", 0, "not violated"),
        ("program", "epsilon=0.5", 1, "violated"),
        ("program", None, 0, "no claim"),
        ("exact", "epsilon=1", 1, "violated"),
        ("program", "epsilon=9", 3, "inconclusive"),
        ("repeats", "epsilon=1", 4, "invalid"),
        ("sometimes_exits", "epsilon=2.5", 0, "not violated"),
    ],
)
@pytest.mark.slow
def test_exit_codes_and_the_verdict_that_is_written(name, claim, code, verdict, audit):
    done = audit(name, *(["--claim", claim] if claim else []), "--json", "e.json")
    assert (done.exit_code, str(dp.Evidence.load("e.json").verdict)) == (code, verdict), done.output
    assert done.stdout.lower().startswith(verdict)


@pytest.mark.slow
def test_parameters_options_and_the_python_call_agree(audit):
    done = audit("program", "-p", "scale=2", "--claim", "epsilon=0.5", "--seed", "7", "--confidence", "0.9",
                 "--relation", "replace", "--floating-point", "ignore", "--json", "e.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    evidence = dp.audit(
        "some folder/shapes.py:program",
        parameters={"scale": 2},
        claim="epsilon=0.5",
        seed=7,
        confidence=0.9,
        relation="replace",
        runs=4_000,
        pairs=[([1, 0], [1, 1])],
    )
    assert dp.Evidence.load("e.json").id == evidence.id


@pytest.mark.parametrize("runs", ["2e4", "20_000", "20000.0", "2E4"])
def test_a_number_of_runs_may_be_written_in_several_ways(runs, audit):
    done = audit("program", "--runs", runs, "--json", "-", "--quiet")
    assert json.loads(done.stdout)["evidence"]["learning"] + json.loads(done.stdout)["evidence"]["measuring"] == 20_000


@pytest.mark.slow
def test_a_large_seed_is_kept_to_the_last_digit(audit):
    done = audit("program", "--seed", "123456789012345678901234567890", "--json", "-", "--quiet")
    assert json.loads(done.stdout)["evidence"]["seed"] == "123456789012345678901234567890"
    done = audit("program", "--seed", "1e30", "--json", "-", "--quiet")
    assert json.loads(done.stdout)["evidence"]["seed"] == "1" + 30 * "0"


def test_a_parameter_is_json_or_else_text(run):
    (Path.cwd() / "echo.py").write_text(
        "def f(data, noise, *, a=0, b=0, c=0):\n    return noise.laplace(1)\n", encoding="utf-8"
    )
    done = run("audit", "echo.py:f", "--pair", "pair.json", "--runs", "1000", "-p", "a=[1, 0.5]", "-p", "b= x=y",
               "-p", "c=true", "--json", "-", "--quiet")  # fmt: skip
    assert json.loads(done.stdout)["evidence"]["target"]["parameters"] == {"a": [1, 0.5], "b": " x=y", "c": True}


# --- where the results go ---


def test_standard_output_holds_the_evidence_alone(audit):
    done = audit("prints", "--runs", "200", "--json", "-")
    document = json.loads(done.stdout)
    assert document.keys() == {"id", "evidence", "run"}
    assert document["id"] in done.stderr
    assert "printed" in done.stderr


@pytest.mark.slow
def test_standard_output_can_hold_the_page_instead(audit):
    done = audit("program", "--html", "-", "--json", "e.json")
    assert evidence_from_page(done.stdout) == dp.Evidence.load("e.json")
    assert "NO CLAIM" in done.stderr


@pytest.mark.slow
def test_page_and_evidence_are_named_in_the_summary(audit):
    done = audit("program", "--html", "e.html", "--json", "e.json")
    assert evidence_from_page(Path("e.html").read_text(encoding="utf-8")).id == dp.Evidence.load("e.json").id
    assert "e.html" in done.stdout
    assert "e.json" in done.stdout


def test_quiet_says_nothing(audit):
    done = audit("exact", "--claim", "epsilon=1", "--quiet", "--json", "e.json")
    assert (done.exit_code, done.output) == (1, "")


def test_results_go_where_they_were_asked_to_though_the_mechanism_moves_elsewhere(audit, folder, monkeypatch):
    done = audit("moves", "--runs", "200", "--json", "e.json")
    os.chdir(folder)
    assert done.exit_code == 0
    assert Path("e.json").exists()


def test_a_written_file_is_never_half_written(audit, monkeypatch):
    Path("e.json").write_text("old", encoding="utf-8")

    class Full:
        """The module os, on a disk that is full."""

        def __getattr__(self, name):
            return getattr(os, name)

        def replace(self, *_):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("dpaudit.evidence.canonical_json.os", Full())
    done = audit("exact", "--claim", "epsilon=1", "--json", "e.json")
    assert done.exit_code == 2  # nothing was written, so not 1
    assert "cannot write" in done.stderr
    assert "No space left" in done.stderr
    assert Path("e.json").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == ["e.json", "pair.json", "some folder"]


# --- pairs ---


def learned(*arguments, run):
    done = run("audit", *arguments, "--runs", "1000", "--quiet", "--json", "-")
    assert done.exit_code in (0, 3), done.output
    return json.loads(done.stdout)["evidence"]


@pytest.mark.slow
def test_pairs_from_json_npy_and_csv(run):
    np.save("a.npy", np.array([1.0, 0.0]))
    np.save("b.npy", np.array([1.0, 1.0]))
    Path("a.csv").write_text("x,y\n1,0\n0,1\n", encoding="utf-8")
    Path("b.csv").write_text("x,y\n1,0\n", encoding="utf-8")
    Path("frames.py").write_text("def f(data, noise):\n    return len(data) + noise.laplace(1)\n", encoding="utf-8")
    Path("two.json").write_text("[[[0], [1]], [[1], [0]]]", encoding="utf-8")
    shapes = "some folder/shapes.py:program"
    assert len(learned(shapes, "--pair", "a.npy", "--pair", "b.npy", "--relation", "replace", run=run)["pairs"]) == 1
    frames = learned("frames.py:f", "--pair", "a.csv", "--pair", "b.csv", "--relation", "add-remove", run=run)
    assert len(frames["pairs"]) == 1
    several = ["--pair", "a.npy", "--pair", "b.npy", "--pair", "two.json", "--pair", "pair.json"]
    assert len(learned(shapes, *several, run=run)["pairs"]) == 4


def test_a_pair_file_that_can_be_read_in_two_ways(run):
    """The relation decides; where it allows both, nobody does."""
    Path("twice.json").write_text("[[[1, 2], [3, 4]], [[1, 2], [3, 5]]]", encoding="utf-8")
    Path("rows.py").write_text("def f(data, noise):\n    return len(data) + noise.laplace(1)\n", encoding="utf-8")
    assert len(learned("rows.py:f", "--pair", "twice.json", "--relation", "replace-one", run=run)["pairs"]) == 1
    done = run("audit", "rows.py:f", "--pair", "twice.json", "--relation", "declared", "--claim", "epsilon=1")
    assert done.exit_code == 2 and "one pair of datasets with two records each, or two pairs" in done.stderr
