"""Is a target run again exactly where something that it depends on has changed? A stale green is the worst of all."""

import json
import os
import time

import msgspec
import pytest
from support import gate_projects as projects

from dpaudit.gate.kept import Cache
from dpaudit.gate.run import GateOptions, run
from dpaudit.gate.target_process import depended_on, listing

READS = """
from pathlib import Path

def weighted(data, noise):
    return len(data) + noise.laplace(float(Path(__file__).with_name("scale.txt").read_text()))
"""


def gated(configuration, **options):
    """Run a gate with a process for each target."""
    return projects.only(run(configuration, GateOptions(**options)).result)


def quick(configuration, **options):
    """Run a gate in this process; its reports say that they depend on the files of the project."""

    def with_files(request, report):
        used = {str(file) for file in configuration.root.glob("*.py")}
        files, folders = depended_on(used, configuration.root, time.time() + 1)
        return msgspec.structs.replace(report, files=files, folders=folders)

    return projects.only(projects.gated(configuration, projects.Runs(with_files), **options))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "scale.txt").write_text("1")
    (tmp_path / "reads.py").write_text(READS)
    (tmp_path / "pair.json").write_text("[[[1, 1], [1]]]")
    return projects.project(tmp_path, projects.target("noisy_count", pairs='pairs = "pair.json"'))


@pytest.mark.slow
def test_an_unchanged_target_is_not_run_again_unless_asked(project):
    first, second, fresh = gated(project), gated(project), gated(project, fresh=True)
    assert (first.cached, second.cached, fresh.cached) == (False, True, False)
    assert first.evidence.id == second.evidence.id == fresh.evidence.id
    assert (second.outcome, second.rule, second.sentence) == (first.outcome, first.rule, first.sentence)
    assert second.location == first.location
    assert (project.root / ".dpaudit" / ".gitignore").read_text() == "*\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["opaque", "noisy_count"])
def test_an_unchanged_target_with_randomness_of_its_own_or_data_is_not_run_again(project, name):
    (project.root / "people.json").write_text("[1, 2, 3]")
    pairs = projects.PAIRS if name == "opaque" else 'data = "people.json"'
    project = projects.configured(project.root, projects.target(name, pairs=pairs), gate="runs = 2000")
    assert [gated(project).cached for _ in range(2)] == [False, True]
    changed = "scales.py" if name == "opaque" else "people.json"
    (project.root / changed).write_text("[1, 2, 3, 4]" if name == "noisy_count" else "scale = None")
    assert not gated(project).cached


@pytest.mark.slow
def test_a_helper_module_that_changed_leaves_no_stale_green(project):
    assert gated(project).exit_code == 0
    (project.root / "scales.py").write_text("def scale(epsilon):\n    return 0.4 / epsilon\n")
    found = gated(project)
    assert not found.cached and found.exit_code == 1


@pytest.mark.parametrize(
    "changes",
    [
        lambda root: (root / "pair.json").write_text("[[[1, 1], [1]], [[1], []]]"),
        lambda root: (root / "release.py").write_text(projects.RELEASES + "\n"),
        lambda root: (root / "scales").mkdir() or (root / "scales" / "__init__.py").write_text("scale = abs"),
        lambda root: (root / "random.py").write_text(""),
    ],
    ids=["pairs", "the file itself", "a package that hides a module", "a new module"],
)
@pytest.mark.slow
def test_whatever_changed_in_the_project_runs_it_again(project, changes):
    quick(project)
    changes(project.root)
    assert not quick(project).cached


@pytest.mark.nightly
def test_a_file_that_is_read_counts_too(project):
    project = projects.configured(project.root, projects.target("reads.py:weighted"))
    assert not gated(project).cached
    assert gated(project).cached
    (project.root / "scale.txt").write_text("0.4")
    found = gated(project)
    assert not found.cached and found.exit_code == 1


@pytest.mark.parametrize(
    "line",
    ["runs = 5000", "parameters = { epsilon = 0.9 }", 'relation = "add-remove"', 'floating_point = "ignore"'],
)
@pytest.mark.slow
def test_whatever_changed_in_the_configuration_runs_it_again(project, line):
    quick(project)
    target = projects.target("noisy_count", line, pairs='pairs = "pair.json"')
    changed = projects.configured(project.root, target)
    assert not quick(changed).cached


@pytest.mark.slow
def test_seed_confidence_and_claim_run_it_again_and_notes_do_not(project):
    quick(project)
    assert not quick(project, seed=1).cached
    target = projects.target("noisy_count", pairs='pairs = "pair.json"')
    other = projects.configured(project.root, target.replace("epsilon=1", "epsilon=1.1"))
    assert not quick(other).cached
    assert not quick(projects.configured(project.root, target, gate="runs = 4000\nconfidence = 0.9")).cached
    quick(project)
    assert quick(projects.configured(project.root, f"# a comment\n{target}time_limit = 50")).cached


@pytest.mark.slow
def test_other_versions_and_another_dpaudit_run_it_again(project, monkeypatch):
    quick(project)
    assert quick(project).cached
    monkeypatch.setattr("dpaudit.gate.kept.environment", lambda: "another")
    assert not quick(project).cached


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("not violated", "NOT violated"),
        lambda text: text.replace('"opaque": false', '"opaque": true'),
        lambda text: text[: len(text) // 2],
        lambda text: "[" * 100_000,
        lambda text: "{}",
    ],
)
@pytest.mark.slow
def test_a_damaged_cache_is_none(project, damage):
    quick(project)
    (file,) = (project.root / ".dpaudit" / "gate").iterdir()
    text = file.read_text()
    file.write_text(damage(text))
    assert file.read_text() != text
    assert not quick(project).cached


@pytest.mark.slow
def test_what_could_not_be_run_is_tried_again(project):
    project = projects.configured(project.root, projects.target("nowhere.py:f"))
    assert not quick(project).cached
    assert not quick(project).cached


@pytest.mark.slow
def test_a_file_that_changed_while_it_was_used_is_not_relied_on(project):
    later = time.time() + 60
    os.utime(project.root / "scales.py", (later, later))
    gated(project)
    assert not gated(project).cached


@pytest.mark.slow
def test_a_second_look_is_kept_too(project):
    target = projects.target("noisy_count", "parameters = { epsilon = 2.0 }")
    project = projects.configured(project.root, target)
    first, second = quick(project), quick(project)
    assert (first.exit_code, first.cached) == (1, False)
    assert (second.exit_code, second.cached) == (1, True)
    assert second.notes == first.notes and second.evidence.id == first.evidence.id


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_costs_no_verdict(project):
    (project.root / ".dpaudit").write_text("a file in the way")
    assert quick(project).exit_code == 0
    assert not quick(project).cached


def test_names_that_look_alike_have_files_of_their_own(tmp_path):
    cache = Cache(tmp_path)
    files = {cache._file(name, look) for name in ("a b", "a_b", "a/b", "../a") for look in ("look 1", "look 2")}
    assert len(files) == 8
    assert {file.parent for file in files} == {cache.folder}


def test_a_listing_sees_modules_and_packages_alone(tmp_path):
    before = listing(tmp_path)
    (tmp_path / "data.csv").write_text("1")
    (tmp_path / "folder").mkdir()
    assert listing(tmp_path) == before
    (tmp_path / "folder" / "__init__.py").write_text("")
    assert listing(tmp_path) != before


@pytest.mark.slow
def test_the_cache_holds_json_without_surprises(project):
    quick(project)
    (file,) = (project.root / ".dpaudit" / "gate").iterdir()
    record = json.loads(file.read_text())["record"]
    assert set(record) == {"version", "key", "report"}
    names = {os.path.basename(path) for path in record["report"]["files"]}
    assert {"release.py", "scales.py"} <= names
