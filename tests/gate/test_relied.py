"""Does a gate rely on nothing that its child says, and do two gates at once lose nothing?"""

import copy
import json
import threading

import msgspec
import pytest
from support import gate_projects as projects

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.gate import kept
from dpaudit.gate.kept import alone_with
from dpaudit.gate.result import Outcome, OutcomeRule
from dpaudit.gate.run import GateOptions, run
from dpaudit.gate.target_process import Request

TWICE = "parameters = { epsilon = 2.0 }"


def rewritten(document, change):
    """The same document with another record, under an id of its own."""
    record = copy.deepcopy(document["evidence"])
    change(record)
    return {**document, "evidence": record, "id": content_id(record)}


def answering(**other):
    """Evidence of another question."""
    return lambda request, report: projects.Runs()(msgspec.structs.replace(request, **other), None, None)


def forging(change):
    """The report with a record that was changed, its id repaired."""
    return lambda _, report: msgspec.structs.replace(report, evidence=rewritten(report.evidence, change))


def acquitted(record):
    record["verdict"] = "not violated"
    record["lower"]["value"] = 0.5


FORGERIES = {
    "another target": answering(target="release.py:response"),
    "another seed": answering(seed=12345),
    "fewer runs": answering(runs=400),
    "another confidence": answering(confidence=0.5),
    "another false alarm": answering(false_alarm=1e-12, parameters={"epsilon": 1.3}),
    "a weaker claim": answering(claim="epsilon=9"),
    "other parameters": answering(parameters={"epsilon": 0.5}),
    "another pair": answering(pairs=[[[1, 2], [1]]]),
    "another verdict": forging(lambda record: record.update(verdict="not violated")),
    "a smaller bound": forging(lambda record: record["lower"].update(value=0.5)),
    "both": forging(acquitted),
    "other counts": forging(lambda record: record["attempts"][0]["bound"]["counts"]["runs"].__setitem__(0, 10**9)),
    "counts that are too huge to be checked": forging(lambda record: record.update(learning=10**13)),
    "proved": forging(lambda record: record.update(verdict="proved")),
    "another name": forging(lambda record: record["target"].update(name="release.py:other")),
    "an altered record": lambda _, report: msgspec.structs.replace(
        report, evidence={**report.evidence, "id": "dpa1:0"}
    ),
    "no evidence": lambda _, report: msgspec.structs.replace(report, evidence={"green": True}),
}


ALTERED = {  # what a request says, and something else; but for where and how it is carried out
    "target": "release.py:response",
    "parameters": {"epsilon": 0.5},
    "claim": "epsilon=9",
    "relation": "replace",
    "pairs": [[[1, 2], [1]]],
    "files": ["other.json"],
    "runs": 400,
    "seed": 12345,
    "confidence": 0.5,
    "floating_point": "ignore",
    "learn": "trees",
    "sequential": True,
    "prove": True,
    "length": 1,
    "domain": "integer",
    "false_alarm": 1e-9,
    "types": "ignore",
    "account": {"mechanism": "laplace", "scale": 2},
    "trace": True,
}
PLACES = {"root", "frozen", "kept"}  # where it lies, and what is counted beside
ELSEWHERE = {"training", "data", "beyond_domain", "given"}  # test_training.py, test_data.py, verify/test_given_moves.py
PROOFS = {"prove", "length", "domain"}


def test_every_part_of_a_request_is_altered_below():
    assert set(ALTERED) | PLACES | ELSEWHERE == set(msgspec.structs.asdict(EXAMPLE))


EXAMPLE = Request(target="release.py:noisy_count", root=".")


@pytest.mark.parametrize("part", sorted(set(ALTERED) - PROOFS))
@pytest.mark.slow
def test_no_part_of_a_request_may_be_another_one(part, tmp_path):
    """Honest evidence of a request that differs in one part is no answer."""
    configuration = projects.project(
        tmp_path,
        projects.target("noisy_count", TWICE, 'relation = "add-remove"', pairs='pairs = "pair.json"')
        if part == "files"
        else projects.target("noisy_count", TWICE, 'relation = "add-remove"'),
        gate="runs = 2000\nseed = 1",
        files={"pair.json": "[[1, 2, 1], [1, 2]]", "other.json": "[[1, 2, 2, 2], [1, 2, 2]]"},
    )
    change = {part: ALTERED[part]}
    if part == "relation":
        change["pairs"] = [[[1, 2], [1, 3]]]
    answer = forging(lambda record: record.update(learn="trees")) if part == "learn" else answering(**change)
    found = projects.only(projects.gated(configuration, projects.Runs(answer)))
    assert (found.outcome, found.rule) == (Outcome.INVALID, OutcomeRule.CANNOT_RUN)
    assert "evidence about something else" in found.sentence
    if part == "files":
        assert projects.only(projects.gated(configuration)).rule is not OutcomeRule.CANNOT_RUN


@pytest.mark.parametrize("part", sorted(PROOFS))
@pytest.mark.slow
def test_no_part_of_a_request_for_a_proof_may_be_another_one(part, tmp_path):
    asked = ['require = "proved"', "length = 2", 'domain = "real"', 'relation = "queries(norm=1)"']
    if part == "prove":
        asked = ['relation = "queries(norm=1)"']
    configuration = projects.project(
        tmp_path, projects.target("program", *asked, pairs=""), gate="runs = 2000\nseed = 1"
    )
    change = {part: ALTERED[part], **({"length": 2} if part == "prove" else {})}
    honest = projects.only(projects.gated(configuration))
    found = projects.only(projects.gated(configuration, projects.Runs(answering(**change))))
    assert (found.outcome, found.rule) == (Outcome.INVALID, OutcomeRule.CANNOT_RUN)
    assert "evidence about something else" in found.sentence
    if part != "prove":
        assert honest.outcome is Outcome.PASSED


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.slow
def test_evidence_that_is_no_answer_or_does_not_hold_is_no_green(name, tmp_path):
    configuration = projects.project(tmp_path, projects.target("noisy_count", TWICE), gate="runs = 2000\nseed = 1")
    found = projects.only(projects.gated(configuration, projects.Runs(FORGERIES[name])))
    assert (found.outcome, found.rule) == (Outcome.INVALID, OutcomeRule.CANNOT_RUN)
    assert found.evidence is None


@pytest.mark.slow
def test_a_forged_report_in_the_cache_is_run_again(tmp_path):
    (tmp_path / "release.py").write_text(projects.RELEASES)
    configuration = projects.project(tmp_path, projects.target("noisy_count", TWICE), gate="runs = 2000\nseed = 1")
    assert run(configuration, GateOptions()).result.exit_code == 1
    files = list((tmp_path / ".dpaudit" / "gate").glob("*.json"))
    for file in files:
        document = json.loads(file.read_text())
        report = document["record"]["report"]
        report["evidence"] = rewritten(report["evidence"], acquitted)
        file.write_text(json.dumps({**document, "id": content_id(document["record"])}))
    assert files
    assert run(configuration, GateOptions()).result.exit_code == 1


@pytest.mark.slow
def test_two_gates_at_once_lose_no_entry_of_the_baseline(tmp_path):
    names = ("program", "noisy_count", "response")
    configuration = projects.project(tmp_path, *map(projects.target, names), gate="runs = 400\nseed = 1")
    together = threading.Barrier(len(names))

    def waits(request, report):
        together.wait(60)  # every gate has read the baseline, and none has written it
        return report

    def update(name):
        projects.gated(configuration, projects.Runs(waits), names=[name], update_baseline=True)

    threads = [threading.Thread(target=update, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(kept.read_baseline(tmp_path / kept.BASELINE_FILE)) == set(names)


@pytest.mark.slow
def test_a_night_is_alone_with_its_file(tmp_path):
    configuration = projects.project(tmp_path, projects.target("program"), gate="runs = 400")
    with (
        alone_with(tmp_path / kept.NIGHTLY_FILE, wait=False),
        pytest.raises(UsageError, match=r"another gate is writing dpaudit-nightly\.json; wait for it"),
    ):
        projects.gated(configuration, nightly=True)
    assert not (tmp_path / kept.NIGHTLY_FILE).exists()
    projects.gated(configuration, nightly=True)
    assert (tmp_path / kept.NIGHTLY_FILE).exists()
    assert (tmp_path / ".dpaudit" / ".gitignore").read_text() == "*\n"


@pytest.mark.slow
def test_what_a_gate_relies_on_is_relied_on(tmp_path):
    configuration = projects.project(tmp_path, projects.target("noisy_count"), gate="runs = 2000\nseed = 1")
    found = projects.only(projects.gated(configuration))
    assert found.outcome is Outcome.PASSED
    assert isinstance(found.evidence, Evidence)
