"""Does a comparison of mechanisms show both bounds and the error of each, and what keeps them from being compared?"""

import json
import math

import msgspec
import pytest
from click.testing import CliRunner
from support import made_evidence as made

from dpaudit.cli.main import cli
from dpaudit.report.html.index import Lane, side_by_side_figure, side_by_side_page, side_by_side_text


def called(*words):
    """Call the command; return its exit code and what it printed."""
    done = CliRunner().invoke(cli, ["compare", *words])
    return done.exit_code, done.output


@pytest.mark.slow
def test_values_of_a_parameter_stand_side_by_side_with_bounds_from_both_sides_and_errors():
    code, said = called("laplace", "--vary", "epsilon=0.5,2", "--claim", "epsilon=1", "--runs", "2000", "--seed", "0")
    half, two = said.splitlines()[1:3]
    assert code == 1  # the gravest
    assert half.startswith("1  laplace (epsilon=0.5)  PROVED for n = 1")
    assert "ε ≥ 0.499" in half and "ε ≤ 0.5 = 1/2, for 1 answer" in half and "RMSE 2" in half
    assert "VIOLATED" in two and "ε ≥ 1.99" in two and "RMSE 0." in two


@pytest.mark.slow
def test_files_and_targets_may_be_mixed_and_another_target_is_audited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    audited = ["audit", "laplace", "--runs", "2000", "--seed", "0", "--json", "one.json", "--quiet"]
    assert CliRunner().invoke(cli, audited).exit_code == 0
    (tmp_path / "release.py").write_text("def f(data, rng):\n    return len(data) + rng.laplace()\n", encoding="utf-8")
    (tmp_path / "data.json").write_text("[1, 2]", encoding="utf-8")
    words = ("one.json", "release.py:f", "--data", "data.json", "--claim", "epsilon=1", "--runs", "2000", "--seed", "1")
    code, said = called(*words, "--html", "page.html")
    assert code == 0 and said.count("NOT VIOLATED") == 2, said
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<tr") == 3 and "release.py:f" in page


@pytest.mark.nightly
def test_lengths_stand_side_by_side_so_that_it_shows_how_a_bound_grows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = "def each(answers, noise):\n    return [one + noise.laplace(1) for one in answers]\n"
    module += "def ups(x, rng):\n    return abs(x[0] - x[-1]) + rng.laplace(0, 2)\n"
    (tmp_path / "release.py").write_text(module, encoding="utf-8")
    options = ("--runs", "2000", "--seed", "0")
    code, said = called("release.py:each", "release.py:each", "--relation", "queries", "--length", "1,2", *options)
    assert code == 0, said
    each = [line for line in said.splitlines() if " answer" in line and "ε ≤" in line]
    assert [line.partition("ε ≤ ")[2].partition("  ")[0] for line in each] == [
        "1, for 1 answer",
        "2, for 2 answers",
    ] * 2
    numbers = ("release.py:ups", "--domain", "[0, 1]", "--relation", "replace", "--length", "2,3", *options)
    code, said = called(*numbers, "--claim", "epsilon=1")
    assert code == 0 and "PROVED for n = 2" in said and "PROVED for n = 3" in said, said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("laplace", "--length", "1,two"), "is no list of lengths, such as 1,2,3"),
        (("laplace", "--length", "0"), "is no list of lengths, such as 1,2,3"),
        (("laplace", "--length", "2", "--pair", "pair.json"), "--length makes up the data"),
        (("one.json", "--length", "2"), "--length is about a TARGET that is run"),
        (("laplace", "--vary", "epsilon"), "is no NAME=A,B, such as epsilon=0.1,0.5,1"),
        (("laplace", "--vary", "epsilon=1,2", "-p", "epsilon=3"), "given twice, by -p and by --vary"),
        (("nothing_of_this_name",), "no mechanism is called"),
        (("one.json", "--vary", "epsilon=1,2"), "--vary is about a TARGET that is run"),
        ((), "Missing argument 'WHAT...'"),
    ],
)
def test_what_cannot_be_compared_is_refused(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.json").write_text(made.laplace().to_json(), encoding="utf-8")
    (tmp_path / "pair.json").write_text("[[0], [1]]", encoding="utf-8")
    code, said = called(*words)
    assert code == 2 and says in said


@pytest.mark.usefixtures("undrawn")
def test_evidence_that_fails_its_check_is_not_drawn(tmp_path):
    document = json.loads(made.laplace().to_json())
    document["evidence"]["lower"]["value"] = 0.1
    (tmp_path / "one.json").write_text(json.dumps(document), encoding="utf-8")
    assert called(str(tmp_path / "one.json"))[0] == 2


@pytest.mark.usefixtures("undrawn")
def test_what_differs_and_what_was_found_beside_is_said():
    one = made.laplace()
    other = msgspec.structs.replace(one, relation="replace", claim="epsilon=2")
    said = side_by_side_text([one, other])
    assert "Their neighbours differ" in said and "Their claims differ (epsilon=1, epsilon=2)" in said
    assert "differ" not in side_by_side_text([one, one])
    invalid = side_by_side_text([made.invalid()]).splitlines()[1]
    assert "INVALID" in invalid and "≥" not in invalid
    hostile = side_by_side_page([made.hostile(), one])
    assert "<script>alert" not in hostile


def test_missing_and_infinite_numbers_are_drawn_as_gaps():
    nan = math.nan
    lanes = [Lane("a" * 99, 0.5, 1.0, 1.0, 2.0), Lane("b", math.inf, nan, nan, 900.0), Lane("c", nan, nan, nan, nan)]
    assert "of 3 mechanisms" in side_by_side_figure(lanes, "ε")
    assert "of 1 mechanisms" in side_by_side_figure([Lane("c", nan, nan, nan, nan)], "ε", narrow=True)
