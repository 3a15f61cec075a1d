"""Is the configuration read as it is meant, and does every mistake in it name its key and its line?"""

import json
from pathlib import Path

import jsonschema
import pytest
from support import gate_projects as projects

from dpaudit.errors import UsageError
from dpaudit.gate.config import find, line_of, pair_files, read
from dpaudit.gate.schema import SCHEMA_FILE, GateSettings, TargetSettings, json_schema, schema_text
from dpaudit.neighbours.domain import declared_domain

FACE = """
[project]
name = "runs"                          # a word that is a key elsewhere

[tool.dpaudit]
confidence = 0.95                      # of the whole gate
[[tool.dpaudit.targets]]
target = "release.py:noisy_count"      # as on the command line
parameters = { epsilon = 1.0 }         # optional
claim = "epsilon=1"                    # optional where the mechanism has its own
pairs = [[[1, 2, 3], [1, 2]]]          # or a file; optional likewise
runs = 200000
"""


def written(folder, text, name="pyproject.toml"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def refusal(folder, text, name="pyproject.toml"):
    with pytest.raises(UsageError) as caught:
        read(written(folder, text, name))
    return str(caught.value)


def test_the_face(tmp_path):
    configuration = read(written(tmp_path, FACE))
    (target,) = configuration.targets
    assert (target.name, target.target, target.runs) == ("noisy_count", "release.py:noisy_count", 200_000)
    assert target.parameters == {"epsilon": 1.0}
    assert target.pairs == [[[1, 2, 3], [1, 2]]]
    assert target.claim == "epsilon=1"
    assert configuration.root == tmp_path
    assert configuration.share == pytest.approx(0.05)


def test_a_file_of_its_own_says_the_same(tmp_path):
    whole = read(written(tmp_path, FACE)).settings
    own = FACE[FACE.index("confidence") :].replace("tool.dpaudit.", "")
    assert read(written(tmp_path, own, "gate.toml")).settings == whole
    assert read(written(tmp_path, FACE, "other.toml")).settings == whole


def test_targets_inherit_from_the_gate_and_may_differ(tmp_path):
    gate = 'runs = 5e3\nrequire = "proved"\ninconclusive = "pass"\ntime_limit = 7\nmemory_limit = 100\nconfidence = 0.9'
    first = projects.target("noisy_count")
    second = projects.target("program", "runs = 600", 'inconclusive = "fail"', "sequential = true")
    configuration = projects.project(tmp_path, first, second, gate=gate)
    one, two = configuration.targets
    assert (one.runs, one.require, one.inconclusive, one.sequential) == (5000, "proved", "pass", False)
    assert (two.runs, two.require, two.inconclusive, two.sequential) == (600, "proved", "fail", True)
    assert (one.time_limit, one.memory_limit) == (7, 100)
    assert configuration.share == pytest.approx(0.05)


def test_names_tell_targets_apart(tmp_path):
    same = [projects.target("noisy_count", f"parameters = {{ epsilon = {value} }}") for value in (1, 2, 2)]
    configuration = projects.project(tmp_path, *same, projects.target("laplace"), projects.target("a", 'name = "a b"'))
    names = [target.name for target in configuration.targets]
    assert names == ["noisy_count", "noisy_count(epsilon=2)", "noisy_count (2)", "laplace", "a b"]
    assert [item.name for item in configuration.named(["a b", "release.py:laplace"])] == ["laplace", "a b"]
    with pytest.raises(UsageError, match=r"no target is called 'noisy'.*did you mean 'noisy_count'"):
        configuration.named(["noisy"])


def test_a_given_name_goes_before_a_derived_one(tmp_path):
    first, second = projects.target("noisy_count"), projects.target("program", 'name = "noisy_count"')
    names = [target.name for target in projects.project(tmp_path, first, second).targets]
    assert names == ["noisy_count (2)", "noisy_count"]


def test_the_nearest_configuration_is_found(tmp_path):
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "src" / "pyproject.toml").write_text('[project]\nname = "another"\n')
    file = written(tmp_path, FACE)
    assert find(inner) == file
    with pytest.raises(UsageError, match=r"no pyproject.toml here or above has a table \[tool.dpaudit\]"):
        find(Path(tmp_path.anchor))


def test_pairs_may_be_files(tmp_path):
    (tmp_path / "pair.json").write_text("[[1], [2]]")
    configuration = projects.project(tmp_path, projects.target("program", pairs='pairs = ["pair.json"]'))
    assert pair_files(configuration.targets[0]) == ["pair.json"]


@pytest.mark.parametrize(
    ("line", "number", "key", "why"),
    [
        ("rums = 5", 12, ".rums", "did you mean 'runs'"),
        ("runs = 5", 12, ".runs", "Expected int >= 100, not 5"),
        ("runs = 1000.5", 12, ".runs", "Expected int, not 1000.5"),
        ("runs = true", 12, ".runs", "Expected int"),
        ('claim = "eps=x"', 12, ".claim", "cannot read the number 'x'"),
        ('relation = "twins"', 12, ".relation", "no relation 'twins'"),
        ("pairs = [[1, 2, 3]]", 12, ".pairs", "pairs are [[data0, data1], …]"),
        ("pairs = []", 12, ".pairs", "pairs are [[data0, data1], …]"),
        ('pairs = "nowhere.json"', 12, ".pairs", "there is no file 'nowhere.json'"),
        ('expect = "broken"', 12, ".expect", "one of 'kept', 'violated', not 'broken'"),
        ('name = ""', 12, ".name", "length >= 1"),
        ("time_limit = inf", 12, ".time_limit", "finite"),
        ("parameters = { a = { b = 1979-05-27 } }", 12, ".parameters.a.b", "a number, text or list"),
        ('# runs\npairs = [[[1],\n [2]]]\nruns = "x"', 15, ".runs", "Expected int, not 'x'"),
        ('[[tool.dpaudit.targets]]\ntarget = "b"\nruns = 5', 14, "targets[2].runs", "Expected int >= 100"),
        ("[[tool.dpaudit.targets]]\nruns = 500", 12, "targets[2]", "the key 'target' is missing"),
        ('name = "first"', 12, "targets[1].name", "another target is called 'first' already"),
    ],
)
def test_a_mistake_names_its_key_and_its_line(tmp_path, line, number, key, why):
    text = '# gate\n\n[project]\nname = "runs"\n[tool.dpaudit]\nconfidence = 0.95\n[[tool.dpaudit.targets]]\n'
    text += 'name = "first"\ntarget = "a"\n[[tool.dpaudit.targets]]\ntarget = "release.py:noisy_count"\n'
    said = refusal(tmp_path, text + line + "\n")
    assert f"pyproject.toml, line {number}, tool.dpaudit." in said
    assert key in said
    assert why in said


@pytest.mark.parametrize("value", ["0", "1", "1.5", "nan", "-inf", '"high"', "true", "0.9999999999995"])
def test_a_confidence_lies_between_0_and_1(tmp_path, value):
    said = refusal(tmp_path, FACE.replace("0.95", value))
    assert "line 6, tool.dpaudit.confidence: " in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no table [tool.dpaudit]"),
        ("[tool.dpaudit]\n", "line 1, tool.dpaudit.targets: a gate needs a list of targets, and there is none"),
        ("[tool.dpaudit]\ntargets = []\n", "line 2, tool.dpaudit.targets: a gate needs a list of targets, and it is e"),
        ('[tool.dpaudit]\ntargets = ["a"]\n', "line 2, tool.dpaudit.targets[0]: a target is a table, not 'a'"),
        ("[tool.dpaudit\n", "is no TOML"),
        ("a = 1\na = 2\n", "is no TOML"),
        ("tool = 5", "has no table"),
    ],
)
def test_an_empty_or_broken_file_is_refused(tmp_path, text, why):
    assert why in refusal(tmp_path, text)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read the configuration"):
        read(tmp_path / "none.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        read(tmp_path / "x.toml")


def test_lines_are_found_past_comments_and_strings_that_look_alike():
    text = 'x = """\nruns = 1\n"""\n[a]\n# runs = 2\nb = { runs = 3 }\n[[c]]\n[[c]]\n"runs" = 4\n'
    assert line_of(text, ["a", "b", "runs"]) == 6
    assert line_of(text, ["c", 1, "runs"]) == 9
    assert line_of(text, ["c", 1]) == 8
    assert line_of(text, ["c", 1, "absent"]) == 8
    assert line_of(text, ["absent"]) is None


def test_the_shipped_schema_is_that_of_the_types():
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run python -m dpaudit.gate.schema"


@pytest.mark.slow
def test_the_schema_accepts_the_face_and_refuses_what_the_reader_refuses():
    import tomllib

    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    table = tomllib.loads(FACE)["tool"]["dpaudit"]
    jsonschema.validate(table, schema)
    for wrong in ({"runs": 5}, {"rums": 500}, {"expect": "x"}, {"pairs": 5}):
        changed = json.loads(json.dumps(table))
        changed["targets"][0] |= wrong
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(changed, schema)


def test_every_key_is_described():
    for kind in (GateSettings, TargetSettings):
        for name, known in json_schema()["$defs"][kind.__name__]["properties"].items():
            parts = [known, *known.get("anyOf", ())]
            assert any("description" in part for part in parts), name


def test_a_domain_is_a_table_of_columns(tmp_path):
    declared = FACE.replace("pairs = [[[1, 2, 3], [1, 2]]]", "domain = { age = [0, 120], city = '[\"a\", null]' }")
    (target,) = read(written(tmp_path, declared)).targets
    assert declared_domain(target.domain) == {"age": (0, 120), "city": ["a", None]}
    for wrong, why in (("[120, 0]", "starts at 120"), ("'a'", "no JSON"), ("7", "cannot be 7"), ("[]", "no value")):
        refused = refusal(tmp_path, declared.replace("[0, 120]", wrong))
        assert "line 11, tool.dpaudit.targets[0].domain" in refused
        assert "'age'" in refused
        assert why in refused
