"""Does `replay` say what it found, with the exit code that is documented?"""

import json

import pytest

import dpaudit as dp

QUICK = ("--runs", "4000", "--json", "e.json", "--quiet")


@pytest.fixture
def made(folder, run):
    """Audit a function of shapes.py, and return what replays it."""

    def call(name, *options):
        found = run("audit", f"some folder/shapes.py:{name}", "--pair", "pair.json", *QUICK, *options)
        assert found.exit_code in (0, 3), found.output
        return lambda *more: run("replay", "e.json", *more)

    return call


@pytest.mark.slow
def test_the_same_is_exit_code_0(made):
    result = made("program", "--keep-data")()
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("holds    the same id, dpa1:")


@pytest.mark.slow
def test_pages_are_replayed_too(folder, made, run):
    made("program", "--keep-data")
    assert run("report", "e.json", "--html", "e.html").exit_code == 0
    assert run("replay", "e.html").exit_code == 0


@pytest.mark.slow
def test_what_changed_is_exit_code_1(folder, made):
    replay = made("program", "--keep-data")
    (folder / "some folder" / "shapes.py").write_text(
        "def program(data, noise, *, scale=1.0):\n    return sum(data) + noise.laplace(0.3 * scale)\n", encoding="utf-8"
    )
    result = replay("--json", "now.json")
    assert result.exit_code == 1
    assert "DIFFERS  lower.value was " in result.stdout
    assert "the code of the target has changed" in result.stdout
    assert dp.Evidence.load(folder / "now.json").id != dp.Evidence.load(folder / "e.json").id


@pytest.mark.slow
def test_data_that_were_not_kept_are_given(made):
    replay = made("program")
    refused = replay()
    assert refused.exit_code == 2
    assert "--pair FILE" in refused.stderr
    assert replay("--pair", "pair.json").exit_code == 0


@pytest.mark.slow
def test_a_function_with_randomness_of_its_own(made):
    replay = made("opaque", "--keep-data", "--reading", "calls")
    result = replay()
    assert result.exit_code == 0
    assert "as often as before" in result.stdout
    assert replay("--json", "now.json").exit_code == 2


def test_a_domain(folder, run):
    (folder / "own.py").write_text(
        "def response(bit, noise):\n    return bit if noise.bernoulli(0.75) else 1 - bit\n", encoding="utf-8"
    )
    options = ("own.py:response", "--domain", "[0, 1]", "--relation", "replace", "--runs", "0", "--json", "e.json")
    assert run("prove", *options).exit_code == 0
    assert run("replay", "e.json").exit_code == 2
    assert run("replay", "e.json", "--domain", "[0, 1]").exit_code == 0
    assert run("replay", "e.json", "--domain", "7").exit_code == 2
    assert run("prove", *options, "--keep-data").exit_code == 0
    assert run("replay", "e.json").exit_code == 0


@pytest.mark.slow
def test_what_cannot_be_found_is_given(folder, made, run, monkeypatch):
    made("program", "--keep-data")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    result = run("replay", "../e.json")
    assert result.exit_code == 2
    assert "--target" in result.stderr
    assert run("replay", "../e.json", "--target", "../some folder/shapes.py:program", "--quiet").exit_code == 0


@pytest.mark.parametrize("text", ["", "{}", "[" * 10_000, json.dumps({"id": "x", "evidence": {}, "run": None})])
def test_what_is_no_evidence_is_exit_code_2(folder, run, text):
    (folder / "e.json").write_text(text, encoding="utf-8")
    result = run("replay", "e.json")
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
