"""Does every option of a request reach command line, gate, resume key, handover, replay and printed command?

An option that is added to a request needs a row here; what is read from its `Option` needs nothing more.
"""

from __future__ import annotations

import inspect
import shlex
from typing import Any, get_type_hints

import click
import msgspec
import pytest

import dpaudit as dp
from dpaudit.auditing.audit import described
from dpaudit.auditing.question import validated
from dpaudit.cli.commands.examine import audit_command, prove_command
from dpaudit.evidence.records import Curve, Search, Sequential
from dpaudit.gate.schema import GateSettings, TargetSettings
from dpaudit.gate.target_process import Request
from dpaudit.processes import Asked, other_question
from dpaudit.report.text.reproduce import reproduce_command
from dpaudit.request import AuditOptions, AuditRequest, ProofOptions, ProofRequest, options_of, recorded
from dpaudit.request.proof import TraceRequest
from dpaudit.stats.two_looks import FALSE_ALARM

KINDS = {AuditRequest: AuditOptions, ProofRequest: ProofOptions}
ASKED = {"claim": "epsilon=1", "relation": "replace", "pairs": [([0.0], [1.0])], "runs": 400, "seed": 3}
KEPT = "[0.0]"


def laplace(data, size, rng, *, epsilon=1.0):
    return data[0] + rng.laplace(size=size) / epsilon


def searched(source: str, **more: Any) -> dict[str, Any]:
    return {"search": Search(source, 1, 0, 0, 100, "pair 0", (), **more)}


# what is asked for, and what evidence says then
SAID: dict[str, tuple[Any, dict[str, Any]]] = {
    "parameters": ({"epsilon": 0.5}, {}),
    "claim": ("epsilon=2", {"claim": "epsilon=2"}),
    "runs": (1_000, {"asked": 1_000}),
    "confidence": (0.9, {"confidence": 0.9}),
    "seed": (4, {"seed": 4}),
    "relation": ("declared", {"relation": "declared"}),
    "false_alarm": (0.01, {"false_alarm": 0.01}),
    "floating_point": ("verdict", {"low_bits": "verdict"}),
    "sequential": (True, {"sequential": Sequential(0.0, False, (), 0), "low_bits": "ignore"}),
    "observe": (("time",), {"observed": ("time",), "low_bits": "ignore"}),
    "types": ("ignore", {"types": "ignore"}),
    "curve": (True, {}),
    "learn": ("trees", {"learn": "trees"}),
    "search": (True, searched("given")),
    "pairs": ([([0.0], [2.0])], {}),
    "data": ([0.0, 1.0], searched("data")),
    "domain": ((0.0, 1.0), searched("data", domain='{"$tuple": [0.0, 1.0]}')),
    "beyond_domain": (True, searched("data", domain='{"$tuple": [0.0, 1.0]}', beyond=True)),
    "keep_data": (True, {}),
    "block_size": (64, {"block_size": 64}),
    "reading": ("calls", {}),
}
DATA = {"pairs": None, "data": [0.0, 1.0]}
BEFORE = {"domain": DATA, "beyond_domain": {**DATA, "domain": (0.0, 1.0)}}  # what else is asked for already
PART = [name for name, option in options_of(AuditRequest).items() if option.asked]


@pytest.fixture(scope="module")
def plain():
    return dp.audit(laplace, **ASKED)


def evidence_where(plain, name):
    """Evidence as it would be, had the option been asked for."""
    found = msgspec.structs.replace(plain, **SAID[name][1])
    if name == "parameters":
        return msgspec.structs.replace(found, target=msgspec.structs.replace(found.target, parameters=SAID[name][0]))
    if name == "curve":
        return msgspec.structs.replace(found, curve=Curve(0.95, (), (0.0,), (0.0,), (0.0,), (1.0,), 0.0))
    if name == "reading":
        return msgspec.structs.replace(
            found, target=msgspec.structs.replace(found.target, asks="seeded", reading="run by run")
        )
    if name == "pairs":
        other = msgspec.structs.replace(found.pairs[0], digest1="another")
        return msgspec.structs.replace(found, pairs=(other,))
    if name == "keep_data":
        kept = msgspec.structs.replace(found.pairs[0], data0=KEPT, data1=KEPT)
        return msgspec.structs.replace(found, pairs=(kept,))
    return found


def test_every_option_that_is_part_of_what_is_asked_has_a_row():
    assert set(PART) == set(SAID)


@pytest.mark.parametrize("kind", KINDS)
def test_keyword_arguments_are_the_fields(kind):
    fields = {name: each for name, each in kind.__annotations__.items() if name != "target"}
    assert {name: str(each) for name, each in KINDS[kind].__annotations__.items()}.keys() == fields.keys()
    for name, each in KINDS[kind].__annotations__.items():
        assert fields[name] in (each, getattr(each, "__forward_arg__", each)), name


@pytest.mark.parametrize(
    ("function", "kind"), [(dp.audit, AuditRequest), (dp.prove, ProofRequest), (dp.trace, TraceRequest)]
)
def test_functions_show_their_options(function, kind):
    names = ["target", *options_of(kind)]
    assert list(inspect.signature(function).parameters) == names
    assert inspect.signature(function).parameters["confidence"].default == 0.95
    meanings = inspect.getdoc(function)
    assert all(f"\n    {name}: " in meanings for name in names), meanings
    with pytest.raises(dp.UsageError, match="takes no 'parameter'; did you mean 'parameters'"):
        function("laplace", parameter={})


def test_the_default_of_a_false_alarm_is_that_of_the_rule():
    assert AuditRequest("laplace").false_alarm == ProofRequest("laplace").false_alarm == FALSE_ALARM


@pytest.mark.parametrize(("command", "kind"), [(audit_command, AuditRequest), (prove_command, ProofRequest)])
def test_every_option_is_on_the_command_line(command: click.Command, kind):
    found = {each.name: each for each in command.params}
    for name, option in options_of(kind).items():
        if option.kind:
            assert found[name].help, name
            assert found[name].is_flag == (option.kind == "flag")
            assert list(getattr(found[name].type, "choices", ())) == list(option.allowed)


def test_a_gate_offers_what_is_marked():
    own, shared, asked = (kind.__struct_fields__ for kind in (TargetSettings, GateSettings, Request))
    for kind in KINDS:
        for name, option in options_of(kind).items():
            assert (name in own) == (option.gate in ("target", "shared")) or option.gate != "target", name
            assert name in asked or not option.gate, name
            assert name in shared or option.gate != "shared", name


@pytest.mark.parametrize("name", PART)
def test_the_resume_key_says_it(name, monkeypatch):
    def key(**said):
        request = AuditRequest(laplace, **{**ASKED, **said})
        return described(validated(request), request, int(request.runs), {})

    monkeypatch.setattr("dpaudit.auditing.question.learner", lambda name: None)  # whether it is installed or not
    before, value = BEFORE.get(name, {}), DATA if name == "data" else {name: SAID[name][0]}
    assert key(**before) != key(**{**before, **value})


@pytest.mark.parametrize("name", PART)
def test_an_answer_that_was_not_asked_for_is_refused(name, plain):
    evidence = evidence_where(plain, name)
    asked = {**ASKED, "pairs": None, "seed": 3}
    where = Asked(
        AuditRequest(plain.target.name, **{**asked, "parameters": {"epsilon": 1.0}, "false_alarm": 1e-3}),
        pairs=[(plain.pairs[0].digest0, plain.pairs[0].digest1)],
    )
    assert other_question(plain, where) is None
    assert other_question(evidence, where) is not None


@pytest.mark.parametrize("name", sorted(set(PART) - {"pairs", "data", "domain"}))
def test_a_replay_asks_for_it(name, plain):
    assert recorded(AuditRequest, evidence_where(plain, name))[name] == SAID[name][0]


@pytest.mark.parametrize("name", PART)
def test_the_printed_command_says_it(name, plain):
    named = msgspec.structs.replace(plain, run=msgspec.structs.replace(plain.run, named=True))
    option = options_of(AuditRequest)[name]
    words = shlex.split(reproduce_command(evidence_where(named, name)))
    flag = option.short or option.flag or f"--{name.replace('_', '-')}"
    assert flag in words
    if not option.always and name not in ("parameters", "claim", "pairs"):
        assert flag not in shlex.split(reproduce_command(named))


def test_hints_can_be_read():
    assert get_type_hints(AuditRequest, localns={"Claim": dp.Claim})["runs"] == int | float
