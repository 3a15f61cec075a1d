"""Does a gate trace what asks for it, and do its findings reach every rendering?"""

import msgspec
import pytest

from dpaudit.errors import UsageError
from dpaudit.gate.config import read
from dpaudit.gate.drawn import junit, markdown
from dpaudit.gate.result import OutcomeRule, summary
from dpaudit.gate.run import GateOptions, relied_on, run
from dpaudit.gate.target_process import Request, carry_out

MODULE = """
def half(data, rng):
    "A sum with half of the noise that it needs."
    return sum(data) + rng.laplace(0, 0.5)

def ratio(data, rng):
    "Noise for the number of records that is there, which is too much to be measured."
    return len(data) + rng.laplace(0, 50 + len(data))
"""
TARGET = """
target = "release.py:{name}"
pairs = [[[1], [1, 1]]]
relation = "add-remove"
claim = "epsilon=1"
trace = true
"""


def project(folder, *targets):
    (folder / "release.py").write_text(MODULE, encoding="utf-8")
    listed = "\n".join(f"[[tool.dpaudit.targets]]\n{target}\n" for target in targets)
    (folder / "pyproject.toml").write_text(f"[tool.dpaudit]\nseed = 0\nruns = 2000\n{listed}", encoding="utf-8")
    return folder / "pyproject.toml"


@pytest.fixture
def gated(tmp_path, monkeypatch):
    def gated(*targets, **options):
        file = project(tmp_path, *targets)
        monkeypatch.chdir(tmp_path)
        return run(read(file), GateOptions(**options), runner=lambda request, *_: carry_out(request)).result

    return gated


@pytest.mark.slow
def test_a_certain_loss_is_red_and_names_its_line(gated):
    result = gated(TARGET.format(name="half"), TARGET.format(name="ratio"))
    half, ratio = result.results
    assert (half.rule, half.evidence.measuring) == (OutcomeRule.CLAIM_VIOLATED, 0)
    assert half.evidence.trace.word == "violated, given the stated laws"
    assert half.location.file == "release.py"
    assert ratio.rule is OutcomeRule.CLAIM_VIOLATED  # two scales of one noise are a certain loss
    assert ratio.evidence.trace.loss is not None
    assert 'failures="2"' in junit(result) and ratio.evidence.trace.loss.why in junit(result)
    assert half.notes == ()  # no run hangs on randomness of its own: none was made
    for told in (summary(result, width=2000), markdown(result)):  # once, with the line of the noise, and not in the row
        assert told.count("scale 0.5: ε = 2") == 1 and "release.py:2" not in told


def test_what_a_trace_does_not_know_is_refused(tmp_path):
    for more, word in (('types = "ignore"', "types"), ('require = "proved"', "trace")):
        with pytest.raises(UsageError, match=word):
            read(project(tmp_path, TARGET.format(name="half") + more))


@pytest.mark.slow
def test_evidence_of_an_audit_is_none_of_a_trace(tmp_path, monkeypatch):
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    request = Request(
        target="release.py:half", root=str(tmp_path), claim="epsilon=1", relation="add-remove", runs=2000, seed=1,
        pairs=[[[1], [1, 1]]], confidence=0.95, false_alarm=0.001, trace=True, parameters={},
    )  # fmt: skip
    report = carry_out(request)
    assert report.error is None, report.error
    assert relied_on(report.evidence, request) is not None
    with pytest.raises(UsageError, match="something else"):
        relied_on(report.evidence, msgspec.structs.replace(request, trace=False))
