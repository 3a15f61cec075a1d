"""Does `dpaudit account` say what is certified, with the exit code of its verdict, and refuse what it cannot do?"""

import json
import re
import shlex
from pathlib import Path

import pytest

import dpaudit as dp

LAPLACE = ["--laplace", "2", "--steps", "4", "--alone"]
PLAN = 'name = "Counts"\nclaims = ["epsilon=2"]\n[[release]]\nmechanism = "laplace"\nscale = 2\nsteps = 4\n'


@pytest.mark.parametrize(("claim", "code", "word"), [("epsilon=2", 0, "PROVED"), ("epsilon=1", 1, "VIOLATED")])
def test_the_exit_code_is_that_of_the_verdict(run, claim, code, word):
    found = run("account", *LAPLACE, "--claim", claim)
    assert (found.exit_code, found.output.partition(":")[0]) == (code, word)
    assert "certified    2 ≤ ε ≤ 2 at δ = 0" in found.output
    said = " ".join(found.output.split())
    assert "was not checked" in said or "on some data" in said
    assert 8 <= len(found.output.splitlines()) <= 15


def test_between_the_bounds_nothing_is_decided(run):
    found = run("account", "Exponential(1).times(4)", "--claim", "epsilon=3", "--alone")
    assert found.exit_code == 3 and found.output.startswith("INCONCLUSIVE: ")


@pytest.mark.slow
def test_the_printed_command_gives_the_same_evidence(run, tmp_path):
    import shlex

    first = run(
        "account",
        "--gaussian",
        "2",
        "--rate",
        ".1",
        "--steps",
        "3",
        "--delta",
        "1e-3",
        "--tolerance",
        "0.05",
        "--alone",
        "--json",
        "a.json",
    )
    line = next(line for line in first.output.splitlines() if line.strip().startswith("reproduce"))
    again = run(*shlex.split(line.split(None, 2)[2]), "--alone", "--json", "b.json")
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert dp.Evidence.load("a.json").id == dp.Evidence.load("b.json").id


def test_a_plan_file_is_named_in_the_command_and_not_overwritten(run, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    found = run("account", "plan.toml", "--alone", "--json", "e.json", "--html", "e.html")
    assert found.exit_code == 0 and "dpaudit account plan.toml --claim" in found.output
    assert dp.Evidence.load("e.json").target.name == "Counts"
    assert run("check", "e.html").exit_code in (0, 3)
    refused = run("account", "plan.toml", "--json", "plan.toml")
    assert refused.exit_code == 2 and (tmp_path / "plan.toml").read_text(encoding="utf-8") == PLAN


def test_records_of_libraries_are_read(run, tmp_path):
    (tmp_path / "opacus.json").write_text(
        json.dumps({"history": [[2.0, 0.1, 3]], "mechanism": "rdp"}), encoding="utf-8"
    )
    found = run("account", "--from", "opacus:opacus.json", "--delta", "1e-3", "--tolerance", "0.05", "--alone")
    assert found.exit_code == 0 and "--from opacus:opacus.json" in found.output


def test_the_smallest_noise_is_found_and_certified(run):
    claims = ["--claim", "epsilon=0.02, delta=1e-5", "--claim", "epsilon=2, delta=1e-5"]
    found = run("account", "--calibrate", "--steps", "2", *claims, "--alone", "--json", "e.json")
    assert found.exit_code == 0 and "PROVED" in found.output
    enough, less = re.findall(r"σ = ([0-9.]+) (?:keeps|breaks)", found.output)
    assert f"Gaussian('{enough}')" in dp.Evidence.load("e.json").accounting.releases[0].event
    assert 1 < float(enough) / float(less) < 1.0001
    again = dp.account(dp.accounting.Gaussian(less).times(2), claim=claims[1], alone=True, tolerance=1e-6)
    assert str(again.verdict) == "violated"


def test_the_most_steps_are_found(run):
    found = run("account", "--calibrate", "steps", "--laplace", "10", "--claim", "epsilon=1.05", "--alone")
    assert "10 steps keep the claim, certified; 11 break it on some data." in found.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gaussian", "1e-300", "--delta", "0.1"], "in one unit"),
        (["--laplace", "1e100", "--delta", "0.1"], "in one unit"),
        (["--block", "mu=1e200", "--delta", "0.1"], "beyond what curves reach"),
        (["--gaussian", "0.001", "--delta", "0.1"], "nothing finite from above"),
        (["--block", "epsilon=1e9", "--delta", "0.1"], "beyond what curves reach"),
        (["--gaussian", "1", "--delta", "0"], "infinite"),
    ],
)
def test_what_is_out_of_reach_is_said_and_no_error(run, arguments, said):
    found = run("account", *arguments, "--alone")
    assert found.exit_code == 0 and said in " ".join(found.output.split())


@pytest.mark.slow
@pytest.mark.nightly
def test_the_examples_of_the_documentation_run(run, tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "account.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL)
    (plan,) = [block for kind, block in blocks if kind == "toml" and block.startswith("# plan.toml")]
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    (tmp_path / "accountant.json").write_text('{"history": [[2, 0.1, 3]]}', encoding="utf-8")
    event = {"class_name": "GaussianDpEvent", "noise_multiplier": 3.0}
    (tmp_path / "plan.json").write_text(json.dumps(event), encoding="utf-8")
    typed = [line for kind, block in blocks if not kind for line in block.splitlines() if line.startswith("dpaudit ")]
    typed += re.findall(r"`(dpaudit account [^`]+|dpaudit check [^`]+)`", text)
    assert len(typed) >= 6
    for line in typed:
        arguments = shlex.split(line)[1:]
        if "--calibrate" in arguments:  # takes seconds, and has a test of its own
            continue
        found = run(*arguments, *(["--alone"] if arguments[0] == "account" else []))
        assert found.exit_code == 0, (line, found.output)
    (example,) = [block for kind, block in blocks if kind == "python" and "import dpaudit" in block]
    exec(example, {})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say what was run"),
        (["--laplace", "2"], "say what is asked"),
        (["--laplace", "2", "--laplace", "3", "--delta", "0"], "written as PLAN, such as 'Laplace(2) + Laplace(2)'"),
        (["--laplace", "2", "--gaussian", "1", "--delta", "0.1"], "not --gaussian and --laplace"),
        (["--rate", "0.1", "--delta", "0.1"], "give one mechanism, one of --gaussian"),
        (["plan.toml", "--laplace", "2", "--delta", "0.1"], "given twice, by PLAN and by --laplace"),
        (["plan.toml", "--delta", "0.1"], "cannot read the plan 'plan.toml'"),
        (["--gaussian", "1", "--rate", "1.5", "--delta", "0.1"], "at most 1"),
        (["--gaussian", "0", "--delta", "0.1"], "above 0"),
        (["--gaussian", "1", "--epsilon", "1e10"], "at most 3,000, not 1e+10"),
        (["--gaussian", "1", "--delta", "2"], "below 1, not 2"),
        (["--gaussian", "nan", "--delta", "0.1"], "finite"),
        (["--gaussian", "1", "--steps", "1.5", "--delta", "0.1"], "whole number"),
        (["--gaussian", "1", "--sensitivity", "x", "--delta", "0.1"], "sensitivity"),
        (["--gaussian", "1", "--batch", "3", "--delta", "0.1"], "in one way"),
        (["--gaussian", "1", "--rate", "0.1", "--relation", "replace-one", "--delta", "0.1"], "do not fit"),
        (["--block", "epsilon=1", "--sensitivity", "2", "--delta", "0.1"], "no key 'sensitivity'"),
        (["--calibrate", "--gaussian", "1", "--claim", "epsilon=1, delta=0.1"], "--calibrate finds the noise"),
        (["--calibrate", "--steps", "3"], "needs a claim"),
        (["--calibrate", "epsilon", "--claim", "epsilon=1"], "--calibrate finds one of gaussian, noise-multiplier"),
        (["plan.toml", "--calibrate", "--claim", "epsilon=1"], "for one release that options describe"),
        (["--calibrate", "steps", "--gaussian", "1", "--steps", "2", "--claim", "mu=1"], "leave out --steps"),
        (["--calibrate", "steps", "--claim", "epsilon=1"], "give one mechanism"),
        (["--calibrate", "--steps", "0", "--claim", "epsilon=1, delta=0.1"], "whole number from 1"),
        (["--gaussian", "1", "--steps", "0", "--delta", "0.1"], "whole number from 1"),
        (["--from", "keras:a.json", "--delta", "0.1"], "opacus:FILE"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(run, arguments, said):
    found = run("account", *arguments)
    assert found.exit_code == 2 and said in found.output and "Traceback" not in found.output
