"""Does bad input get a sentence that names it and says what is possible, exit code 2, and no file?"""

import errno
import os
from pathlib import Path

import pytest
from support.drawings import undrawn

import dpaudit as dp
from dpaudit.report import html_page

FILES = {
    "no.json": "nope",
    "three.json": "[1, 2, 3]",
    "object.json": '{"a": 1}',
    "empty.json": "[]",
    "deep.json": "[" * 100_000,
    "empty.csv": "",
    "empty.npy": "",
    "raises.py": "x = 1\nraise ValueError('boom')\n",
    "exits.py": "import sys\nsys.exit(1)\n",
    "odd.py": "class Odd(BaseException): pass\nraise Odd('hm')\n",
    "claims.py": (
        "import sys\nimport dpaudit as dp\n"
        "@dp.mechanism(claim=lambda: sys.exit(1), pairs=[(0, 1)])\ndef f(data, noise): return noise.laplace(1)\n"
        "@dp.mechanism(claim='epsilon=1', relation='near', pairs=[(0, 1)])\ndef g(data, noise): return 1\n"
        "@dp.mechanism(claim='epsilon=1', pairs=lambda: 1 / 0)\ndef h(data, noise): return 1\n"
    ),
}
LAPLACE = ["laplace", "--runs", "2000"]
SHAPES = "some folder/shapes.py"
ON_PAIR = ["--pair", "pair.json", "--runs", "2000"]

CASES = {
    "an unknown mechanism": (["laplac"], ["'laplac'", "did you mean 'laplace'"]),
    "a name like nothing": (["zzzzzz"], ["'zzzzzz'", "dpaudit list"]),
    "no target": ([], ["TARGET"]),
    "an unknown parameter": ([*LAPLACE, "-p", "epsilo=1"], ["'epsilo'", "did you mean 'epsilon'?"]),
    "a parameter without a value": ([*LAPLACE, "-p", "epsilon"], ["'epsilon'", "epsilon=0.5"]),
    "a parameter without a name": ([*LAPLACE, "-p", "=1"], ["'=1'", "epsilon=0.5"]),
    "a parameter given twice": ([*LAPLACE, "-p", "epsilon=1", "-p", "epsilon=2"], ["'epsilon' is given twice"]),
    "an option given twice": ([*LAPLACE, "--runs", "4000"], ["--runs is given 2 times", "give it once"]),
    "a parameter out of range": ([*LAPLACE, "-p", "epsilon=-1"], ["epsilon", "at least 0", "-1"]),
    "a parameter of a wrong type": ([*LAPLACE, "-p", "epsilon=abc"], ["epsilon must be a number", "'abc'"]),
    "a parameter that is missing": ([f"{SHAPES}:needs", *ON_PAIR], ["needs a value for epsilon"]),
    "a claim of nothing": ([*LAPLACE, "--claim", ""], ["''", "'epsilon=1, delta=1e-6'"]),
    "an unknown claim": ([*LAPLACE, "--claim", "privacy=1"], ["'privacy=1'", "'epsilon=1, delta=1e-6'"]),
    "a claim without a number": ([*LAPLACE, "--claim", "epsilon=one"], ["'one'", "'epsilon=1"]),
    "a claim out of range": ([*LAPLACE, "--claim", "epsilon=1, delta=2"], ["delta", "at most 1"]),
    "an unknown relation": ([*LAPLACE, "--relation", "near"], ["'near'", "'add-remove'", "'declared'"]),
    "a relation of no such norm": ([*LAPLACE, "--relation", "queries(norm=3)"], ["'norm=3'", "'queries(norm=2)'"]),
    "no neighbours": (
        [f"{SHAPES}:program", *ON_PAIR, "--relation", "add-remove"],
        ["'add-remove'", "removed: 1, added: 1", "declared"],
    ),
    "too few runs": (["laplace", "--runs", "99"], ["runs", "99", "100"]),
    "negative runs": (["laplace", "--runs", "-5"], ["runs", "-5"]),
    "runs that are no number": (["laplace", "--runs", "many"], ["'many'", "4e5"]),
    "half a run": (["laplace", "--runs", "1000.5"], ["'1000.5'", "whole number"]),
    "endless runs": (["laplace", "--runs", "inf"], ["'inf'", "whole number"]),
    "runs beyond measure": (["laplace", "--runs", "1e999999999"], ["'1e999999999'", "whole number"]),
    "confidence 0": ([*LAPLACE, "--confidence", "0"], ["confidence", "between 0 and 1"]),
    "confidence 1": ([*LAPLACE, "--confidence", "1"], ["confidence", "between 0 and 1"]),
    "a confidence that is none": ([*LAPLACE, "--confidence", "1e-300"], ["a confidence of 1e-300 is none", "0.95"]),
    "confidence 95": ([*LAPLACE, "--confidence", "95"], ["confidence", "between 0 and 1", "0.95"]),
    "confidence NaN": ([*LAPLACE, "--confidence", "nan"], ["confidence", "between 0 and 1", "nan"]),
    "a confidence in words": ([*LAPLACE, "--confidence", "high"], ["'high'", "--confidence"]),
    "a negative seed": ([*LAPLACE, "--seed", "-1"], ["seed", "-1", "at least 0"]),
    "half a seed": ([*LAPLACE, "--seed", "0.5"], ["'0.5'", "--seed"]),
    "no workers": ([*LAPLACE, "--workers", "0"], ["workers", "at least 1"]),
    "no time": (["laplace", "--time-budget", "0"], ["time_budget", "positive", "0"]),
    "negative time": (["laplace", "--time-budget", "-1"], ["time_budget", "positive", "-1"]),
    "endless time": (["laplace", "--time-budget", "inf"], ["time_budget", "inf"]),
    "NaN of time": (["laplace", "--time-budget", "nan"], ["time_budget", "nan"]),
    "an unknown choice": ([*LAPLACE, "--floating-point", "maybe"], ["'maybe'", "report", "verdict", "ignore"]),
    "an unknown option": ([*LAPLACE, "--speed", "9"], ["--speed"]),
    "a folder that is not there": ([*LAPLACE, "--json", "none/e.json"], ["'none/e.json'", "no folder"]),
    "a file for a folder": ([*LAPLACE, "--html", "no.json/e.html"], ["'no.json/e.html'", "no folder"]),
    "a folder for a file": ([*LAPLACE, "--json", "some folder"], ["'some folder'", "it is a folder"]),
    "a name of nothing": ([*LAPLACE, "--json", ""], ["cannot write ''"]),
    "a name too long": ([*LAPLACE, "--json", 300 * "e"], ["cannot write", "too long"]),
    "one output for two": ([*LAPLACE, "--json", "-", "--html", "-"], ["'-'", "only one format"]),
    "one file for two": ([*LAPLACE, "--json", "e", "--html", "./e"], ["'e'", "two formats"]),
    "no pair file": ([*LAPLACE, "--pair", "none.json"], ["none.json", "No such file", "[data0, data1]"]),
    "a pair file that is a folder": ([*LAPLACE, "--pair", "some folder"], ["some folder", "directory"]),
    "a pair file that is no JSON": ([*LAPLACE, "--pair", "no.json"], ["no.json", "is no JSON", "[data0, data1]"]),
    "a pair file of three": ([*LAPLACE, "--pair", "three.json"], ["three.json", "no pair", "[data0, data1]"]),
    "a pair file of an object": ([*LAPLACE, "--pair", "object.json"], ["object.json", "no pair"]),
    "a pair file of nothing": ([*LAPLACE, "--pair", "empty.json"], ["empty.json", "no pair"]),
    "a pair file too deep": ([*LAPLACE, "--pair", "deep.json"], ["deep.json", "is no JSON"]),
    "half a pair": ([*LAPLACE, "--pair", "empty.npy"], ["empty.npy", "cannot read the dataset"]),
    "an empty CSV": ([*LAPLACE, "--pair", "empty.csv", "--pair", "empty.csv"], ["empty.csv", "cannot read"]),
    "no target file": (["none.py:f"], ["'none.py'", "path/to/file.py:name"]),
    "no name in the target": (["raises.py"], ["'raises.py:name'"]),
    "a target file that raises": (["raises.py:f"], ["'raises.py' (line 2)", "ValueError: boom"]),
    "a target file that exits with 1": (["exits.py:f"], ["'exits.py' (line 2)", "SystemExit: 1"]),
    "a target file that raises oddly": (["odd.py:f"], ["'odd.py'", "Odd: hm"]),
    "a name that is not there": ([f"{SHAPES}:programm"], ["'programm'", "did you mean 'program'"]),
    "a target that is not callable": ([f"{SHAPES}:number"], ["'number'", "no function but 3", "f(data, noise"]),
    "no module": (["none.at_all:f"], ["'none.at_all'", "ModuleNotFoundError", "package.module:name"]),
    "a claim that exits with 1": (["claims.py:f"], ["claim of f cannot be computed", "SystemExit"]),
    "a mechanism's own bad relation": (["claims.py:g"], ["'near'", "'add-remove'"]),
    "pairs that cannot be computed": (["claims.py:h"], ["pairs of h cannot be computed", "ZeroDivisionError"]),
    "a mechanism without pairs": ([f"{SHAPES}:program"], ["program", "pair"]),
    "a mechanism that always raises": (
        [f"{SHAPES}:always_raises", *ON_PAIR],
        ["always_raises", "raises in every run", "ValueError: never works"],
    ),
    "a mechanism that always exits": ([f"{SHAPES}:always_exits", *ON_PAIR], ["raises in every run", "SystemExit: 1"]),
    "a mechanism that changes its data": ([f"{SHAPES}:changes_its_data", *ON_PAIR], ["changes its data", "copy"]),
    "a sampler that returns too few": ([f"{SHAPES}:returns_too_few", *ON_PAIR], ["returns_too_few", "outputs"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_bad_input_of_an_audit(case, run, folder):
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    before = sorted(os.listdir(folder))
    arguments, parts = CASES[case]
    output = [] if "--json" in arguments or "--html" in arguments else ["--json", "e.json", "--html", "e.html"]
    done = run("audit", *arguments, *output)
    assert done.exit_code == 2, done.output
    assert [part for part in parts if part not in done.stderr] == []
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 600
    assert done.stdout == ""
    assert [name for name in sorted(os.listdir(folder)) if name != "__pycache__"] == before


def test_an_unwritable_output_is_refused_before_anything_is_run(audit, monkeypatch):
    def runs(*_, **__):
        raise AssertionError("it was run")

    monkeypatch.setattr("dpaudit.verify.answer.audit", runs)
    assert audit("program", "--json", "none/e.json").exit_code == 2


def test_an_interrupt_exits_with_130_and_writes_nothing(audit):
    done = audit("interrupted", "--json", "e.json")
    assert done.exit_code == 130
    assert "interrupted" in done.stderr
    assert not Path("e.json").exists()


class Unheard(BaseException):
    """Of no kind that anybody expects."""


GONE = BrokenPipeError(errno.EPIPE, "the reader of the output has gone")


@pytest.mark.parametrize("error", [RuntimeError("hm"), MemoryError(), Unheard("hm"), SystemExit(1), GONE])
def test_whatever_happens_inside_is_never_exit_code_1(error, audit, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("dpaudit.verify.answer.audit", fails)
    done = audit("program", "--json", "e.json")
    assert done.exit_code == 2
    assert not Path("e.json").exists()
    assert ("there is no verdict" in done.stderr) == (error is not GONE)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_fault_of_dpaudit_is_a_sentence_and_a_traceback_where_it_is_asked_for(debug, audit, monkeypatch):
    monkeypatch.setattr("dpaudit.verify.answer.audit", None)
    monkeypatch.setenv("DPAUDIT_DEBUG", debug)
    done = audit("program")
    assert done.exit_code == 2
    assert "fault of dpaudit (TypeError" in done.stderr and "please report" in done.stderr
    assert ("Traceback" in done.stderr) == bool(debug)


# --- evidence ---


@pytest.fixture(scope="module")
def written():
    made = dp.audit("laplace", runs=1000)
    with undrawn():
        return made.to_json(), html_page(made)


@pytest.fixture
def evidence(written, folder):
    for name, text in zip(("e.json", "e.html"), written, strict=True):
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda text: text[:100], "is no evidence file"),
        (lambda text: "[]", "is no evidence file"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version 2; this dpaudit reads version 1"),
        (lambda text: text.replace('"learning": ', '"learning": 1'), "altered after it was written"),
    ],
    ids=["cut off", "no object", "of another version", "altered"],
)
@pytest.mark.parametrize("options", [[], ["--html", "page.html"], ["--json", "again.json"]])
@pytest.mark.slow
def test_evidence_that_cannot_be_trusted_is_refused(alter, message, options, evidence, run):
    text = Path("e.json").read_text(encoding="utf-8")
    assert alter(text) != text
    Path("bad.json").write_text(alter(text), encoding="utf-8")
    done = run("report", "bad.json", *options)
    assert done.exit_code == 2
    assert "bad.json" in done.stderr
    assert message in done.stderr
    assert not Path("page.html").exists()
    assert not Path("again.json").exists()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ([], ["EVIDENCE"]),
        (["none.json"], ["cannot read the evidence 'none.json'", "No such file"]),
        (["some folder"], ["cannot read the evidence 'some folder'"]),
        (["plain.html"], ["cannot read 'plain.html'", "no evidence"]),
        (["altered.html"], ["cannot read 'altered.html'", "altered"]),
        (["e.json", "e.json", "--json", "-"], ["--json writes one evidence file"]),
        (["e.json", "e.html", "--html", "one.html"], ["'one.html'", "name a folder"]),
        (["e.json", "e.html", "--html", "e.json"], ["cannot make the folder 'e.json'"]),
        (["e.json", "e.html", "--html", "-"], ["'-'", "name a folder"]),
        (["e.json", "--html", "none/deeper"], ["'none/deeper'", "cannot make the folder"]),
        (["e.json", "--html", "-", "--json", "-"], ["only one format"]),
    ],
)
def test_bad_input_of_a_report(arguments, parts, evidence, run, folder):
    Path("plain.html").write_text("<p>nothing</p>", encoding="utf-8")
    page = Path("e.html").read_text(encoding="utf-8")
    Path("altered.html").write_text(page.replace('"learning":', '"learning":1'), encoding="utf-8")
    before = sorted(os.listdir(folder)), sorted(os.listdir("some folder"))
    done = run("report", *arguments)
    assert done.exit_code == 2, done.output
    assert [part for part in parts if part not in done.stderr] == []
    assert (sorted(os.listdir(folder)), sorted(os.listdir("some folder"))) == before
