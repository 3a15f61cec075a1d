"""Does the command that every audit prints run it again, to the same id?"""

from __future__ import annotations

import json
import shlex
import sys

import numpy as np
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.cli.main import main
from dpaudit.evidence.evidence import Evidence
from dpaudit.report import console_summary, html_page
from dpaudit.report.text.reproduce import DATA_FILE, PAIRS_FILE, reproduce_command, reproduce_notes

MODULE = """
def count(data, size, rng, *, epsilon=1.0, mode="plain", bounds=(0, 1)):
    return len(data) + rng.laplace(0, 1 / epsilon, size)


def seeded(data, rng):
    return round(float(sum(data)) + rng.laplace(), 1)


def program(data, noise, *, epsilon=1.0):
    return data[0] + noise.laplace(1 / epsilon)


def table(data, size, rng):
    return data["age"].sum() / 100 + rng.laplace(0, 1, size)


def plain(data, size, rng):
    return float(np.sum(data)) + rng.laplace(0, 1, size)


import numpy as np
"""
FILES = {
    "near.json": [[1, 1], [1]],
    "one pair.json": [[0, 0], [0, 1]],
    "two.json": [[[1, 1], [1]], [[0, 1], [0]]],
    "people.csv": "age,sex\n10,a\n20,b\n30,a\n",
    "numbers.json": [0, 1, 1, 0],
}
CLAIM, RUNS = ["--claim", "epsilon=1"], ["--runs", "1000"]
NEAR = ["--pair", "near.json"]
SEARCHED = ["--runs", "3000"]
KINDS: dict[str, list[str]] = {
    "the catalogue": ["laplace", *RUNS],
    "parameters": ["laplace", "-p", "epsilon=0.1", *RUNS],
    "a pair from a file": ["m.py:count", *CLAIM, *RUNS, *NEAR],
    "a name with a space": ["m.py:plain", *CLAIM, *RUNS, "--pair", "one pair.json"],
    "two pairs": ["m.py:count", *CLAIM, *RUNS, "--pair", "two.json"],
    "parameters to be quoted": [
        "m.py:count", "-p", "mode=it's \"$HOME\" & co", "-p", "bounds=[0, 2]", *CLAIM, *RUNS, *NEAR,
    ],
    "a text that reads as a number": ["m.py:count", "-p", 'mode="1"', *CLAIM, *RUNS, *NEAR],
    "no claim": ["m.py:count", *RUNS, *NEAR],
    "a group": ["m.py:count", *CLAIM, *RUNS, *NEAR, "--relation", "add-remove(group=2)"],
    "approximate": ["m.py:count", "--claim", "epsilon=1, delta=1e-6", *RUNS, *NEAR],
    "confidence": ["m.py:count", *CLAIM, *RUNS, *NEAR, "--confidence", "0.999"],
    "a time budget": ["m.py:count", *CLAIM, "--time-budget", "0.1", *NEAR],
    "a time budget, two pairs": ["m.py:count", *CLAIM, "--time-budget", "0.1", "--pair", "two.json"],
    "a time budget, run by run": ["m.py:seeded", *CLAIM, "--time-budget", "0.1", "--pair", "one pair.json"],
    "a time budget, searching": ["m.py:table", *CLAIM, "--time-budget", "0.2", "--data", "people.csv"],
    "low-order bits decide": ["m.py:count", *CLAIM, *RUNS, *NEAR, "--floating-point", "verdict"],
    "low-order bits ignored": ["m.py:count", *CLAIM, *RUNS, *NEAR, "--floating-point", "ignore"],
    "a curve": ["m.py:count", *CLAIM, *RUNS, *NEAR, "--curve"],
    "sequential": ["m.py:count", *CLAIM, "--runs", "1000", *NEAR, "--sequential"],
    "data": ["m.py:table", *CLAIM, *SEARCHED, "--data", "people.csv"],
    "data and a domain": [
        "m.py:table", *CLAIM, *SEARCHED, "--data", "people.csv", "--domain", "age=[0, 120]", "--domain",
        'sex=["a", "it\'s"]', "--beyond-domain",
    ],
    "a domain of two numbers": ["m.py:plain", *CLAIM, *SEARCHED, "--domain", '{"values": [0, 1]}'],
    "a range": ["m.py:plain", *CLAIM, *SEARCHED, "--data", "numbers.json", "--domain", "[0, 1]"],
    "the worst of the pairs": ["m.py:count", *CLAIM, *SEARCHED, "--search", "--pair", "two.json"],
    "kept data": ["m.py:count", *CLAIM, *RUNS, *NEAR, "--keep-data"],
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    for name, content in FILES.items():
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return tmp_path


def run(words: list[str], folder, name: str) -> Evidence:
    here = [] if words[0] == "scores" else ["--in-process"]  # a process of its own takes seconds, and changes nothing
    with pytest.raises(SystemExit) as stop:
        main([words[0], *here, *words[1:], "--quiet", "--json", str(folder / name)])
    assert stop.value.code in (0, 1, 3), words
    return Evidence.load(folder / name)


def typed(evidence: Evidence) -> list[str]:
    """The words of the printed command, as a shell hands them on."""
    line = next(line for line in console_summary(evidence).splitlines() if line.startswith("  reproduce"))
    words = shlex.split(line.removeprefix("  reproduce").strip())
    assert words[0] == "dpaudit"
    return words[1:]


@pytest.mark.parametrize("kind", mostly_at_night(KINDS))
@pytest.mark.slow
def test_the_printed_command_gives_the_same_id(kind, here):
    first = run(["audit", *KINDS[kind]], here, "first.json")
    assert reproduce_notes(first) == []
    again = run(typed(first), here, "again.json")
    assert again.id == first.id
    assert typed(again) == typed(first)


@pytest.mark.parametrize(
    "words", [["m.py:program", "--length", "1", "--relation", "queries"], ["report_noisy_max", "--length", "3"]]
)
@pytest.mark.slow
def test_the_printed_command_of_a_proof_too(words, here):
    first = run(["prove", *words, *CLAIM, "--runs", "2000"], here, "first.json")
    assert run(typed(first), here, "again.json").id == first.id


@pytest.mark.slow
def test_scores_name_their_files(here):
    rng = np.random.default_rng(0)
    np.save("a b.npy", rng.normal(1, 1, 300))
    np.save("out.npy", rng.normal(0, 1, 300))
    first = run(["scores", "a b.npy", "out.npy", "--design", "independent", *CLAIM], here, "first.json")
    assert run(typed(first), here, "again.json").id == first.id


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.slow
def test_pairs_from_python_say_what_to_save(keep, here):
    sys.path.insert(0, str(here))
    try:
        import m
    finally:
        sys.path.remove(str(here))
    pairs = [([1, 1], [1])]
    evidence = dp.audit(m.count, claim="epsilon=1", pairs=pairs, runs=4_000, seed=5, keep_data=keep)
    sys.modules.pop("m")
    (note,) = reproduce_notes(evidence)
    assert PAIRS_FILE in note and "[data0, data1]" in note and ("dpaudit replay" in note) is keep
    assert note in html_page(evidence) and note.split()[3] in console_summary(evidence)
    (here / PAIRS_FILE).write_text(json.dumps(pairs))
    again = run(typed(evidence), here, "again.json")
    assert again.id == evidence.id


@pytest.mark.nightly
def test_data_from_python_say_what_to_save(here):
    evidence = dp.audit("m.py:plain", claim="epsilon=1", data=[0, 1, 1, 0], domain=(0, 1), runs=9_000, seed=5)
    assert DATA_FILE in reproduce_notes(evidence)[0]
    (here / DATA_FILE).write_text("[0, 1, 1, 0]")
    assert run(typed(evidence), here, "again.json").id == evidence.id


@pytest.mark.slow
def test_a_function_without_a_name_has_no_command_that_would_fail():
    evidence = dp.audit(
        lambda data, size, rng: len(data) + rng.laplace(size=size), pairs=[([1], [])], runs=1_000, seed=0
    )
    assert reproduce_command(evidence) is None
    assert "no name that a command line could find" in reproduce_notes(evidence)[0]
    assert "no name that a command line could find" in html_page(evidence)
    assert "no name that a command line could find" in " ".join(console_summary(evidence).split())


def test_file_names_are_no_part_of_the_id_and_cannot_become_options(here):
    import msgspec

    evidence = run(["audit", *KINDS["a pair from a file"]], here, "first.json")
    forged = msgspec.structs.replace(evidence, run=msgspec.structs.replace(evidence.run, files=("a; rm -rf $HOME",)))
    assert forged.id == evidence.id
    assert typed(forged)[-2:] == ["--pair", "a; rm -rf $HOME"]
