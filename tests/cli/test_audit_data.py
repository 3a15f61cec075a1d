"""Does the command line audit a release on the neighbours of one file, and say what it searched?"""

import json
from pathlib import Path

import msgspec
import pytest

import dpaudit as dp
from dpaudit.cli.files import domain_of
from dpaudit.report.text.reproduce import reproduce_command

EXAMPLES = Path(__file__).parents[2] / "examples"
PENGUINS = EXAMPLES / "data" / "penguins.csv"


def _audit(run, name, *options):
    return run("audit", f"{EXAMPLES / 'release.py'}:{name}", "--data", str(PENGUINS), "--claim", "epsilon=1", *options)


@pytest.mark.slow
def test_a_file_is_enough(run):
    result = _audit(run, "mean_mass_half", "--runs", "8000", "--json", "found.json", "--html", "found.html")

    assert result.exit_code == 1
    assert "neighbours of the data" in " ".join(result.stdout.split())
    found = dp.Evidence.load("found.json")
    assert found.search.source == "data" and found.relation == "replace"
    assert run("check", "found.json").exit_code == 0
    target = f"{EXAMPLES / 'release.py'}:mean_mass_half"
    replayed = run("replay", "found.json", "--target", target, "--data", str(PENGUINS))
    assert (replayed.exit_code, "the same id" in replayed.stdout) == (0, True)
    missing = run("replay", "found.json", "--target", target)
    assert missing.exit_code == 2 and "--data FILE" in missing.stderr


@pytest.mark.slow
def test_a_domain_is_read_from_the_command_line(run):
    options = ("--domain", "body_mass_g=[2500, 6500]", "--relation", "add-remove", "--runs", "5000")
    result = _audit(run, "total_mass", *options, "--quiet", "--json", "-")

    assert json.loads(result.stdout)["evidence"]["trace"]["domain"] == '{"body_mass_g":{"$tuple":[2500,6500]}}'
    evidence = dp.Evidence.from_json(result.stdout)
    with_missing = msgspec.structs.replace(evidence.trace, domain='{"body_mass_g":[[2500,6500],null]}')
    said = reproduce_command(msgspec.structs.replace(evidence, trace=with_missing))
    assert """--domain '{"body_mass_g": [[2500, 6500], null]}'""" in said


@pytest.mark.slow
def test_a_file_of_pairs_is_searched_when_asked(run):
    Path("pairs.json").write_text(json.dumps([[[0], [0.5]], [[0], [3]], [[0], [0.25]]]))
    result = run(
        "audit", "some folder/shapes.py:sampler", "--pair", "pairs.json", "--search", "--relation", "replace",
        "--claim", "epsilon=1", "--runs", "6000", "--json", "found.json",
    )  # fmt: skip

    assert result.exit_code in (0, 1)
    found = dp.Evidence.load("found.json").search
    assert (found.source, found.found, found.candidates) == ("given", "pair 1", 3)


@pytest.mark.parametrize(
    ("texts", "domain"),
    [
        ((), None),
        (("age=[0, 120]",), {"age": (0, 120)}),
        (("age=[0, 120]", 'place=["a", "b"]'), {"age": (0, 120), "place": ["a", "b"]}),
        (("[0, 1.5]",), (0, 1.5)),
        (("[1, 2, 3]",), [1, 2, 3]),
        (("flag=[true, false]",), {"flag": [True, False]}),
        (('{"values": [0, 1]}',), [0, 1]),
    ],
)
def test_domains_are_ranges_or_lists(texts, domain):
    found = domain_of(texts)

    assert found == domain and type(found) is type(domain)


@pytest.mark.parametrize(
    "texts", [("age",), ("age=5",), ("=[0, 1]",), ("a=[0, 1]", "a=[0, 2]"), ("[0, 1]", "a=[0, 1]")]
)
def test_what_is_no_domain_is_refused(texts):
    with pytest.raises(dp.UsageError, match="domain"):
        domain_of(texts)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--data", "nowhere.csv"), "cannot read the dataset"),
        (("--data", "data.txt"), ".parquet"),
        (("--domain", "age=[0, 1]", "--beyond-domain"), "give data too"),
        (("--domain", "age=5"), "names no values"),
    ],
)
def test_what_cannot_be_searched_ends_with_2(run, options, said):
    Path("data.txt").write_text("1\n")
    result = run("audit", "some folder/shapes.py:sampler", "--claim", "epsilon=1", *options)

    assert result.exit_code == 2 and said in result.stderr
