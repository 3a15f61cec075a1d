"""How does a gate hold a training loop to its claim? By a table, a run, and what its evidence must say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training
from dpaudit.privacy import parse_claim
from dpaudit.request import TrainingRequest, default_of, options_of

if TYPE_CHECKING:
    from dpaudit.gate.target_process import Request

OPTIONS = {name: option for name, option in options_of(TrainingRequest).items() if option.gate == "table"}
"""Of the watch, in the table of a training target; all others are those of the target, or of the gate."""
KEYS = ("function", *OPTIONS)
"""What the table of a training target may say."""


def table_of(given: str | dict[str, Any] | None, claim: str | None) -> dict[str, Any]:
    """Return the table of a training target; a text alone is its function."""
    from dpaudit.training.watch import check_request

    table = {"function": given} if isinstance(given, str) else dict(given or {})
    for key in table:
        if key not in KEYS:
            raise UsageError(f"there is no key {key!r}; {nearest(key, KEYS)}")
    name = table.get("function")
    if not isinstance(name, str) or not name.rpartition(":")[0]:
        raise UsageError(f'it names a function that trains, as in "train.py:train", not {name!r:.60}')
    if claim is None:
        raise UsageError('a gate holds claims: give claim = "epsilon=8, delta=1e-5" beside it')
    for key, value in table.items():
        if key in OPTIONS and OPTIONS[key].kind == "count":
            table[key] = _count(key, value)
    options: dict[str, Any] = {key: value for key, value in table.items() if key != "function"}
    check_request(TrainingRequest(None, None, **{**options, "claim": claim}))
    return table


def _count(key: str, value: Any) -> Any:
    """Return a whole number, which may be written like 5e2; `check_request` refuses other numbers."""
    if isinstance(value, list):
        raise UsageError(
            f"{key} is how many there are. Listed records need scores of theirs: list them in the function, which "
            "takes watch: with watch(model, optimizer, loader, canaries=[…], canary_scores=…)"
            if key == "canaries"
            else f"{key} is a whole number, not a list"
        )
    return int(value) if isinstance(value, float) and value.is_integer() else value


def options_of_watch(request: Request) -> dict[str, Any]:
    """Return the options of the watch that a request asks for."""
    given = {name: value for name, value in (request.training or {}).items() if name != "function"}
    given |= {name: getattr(request, name) for name in ("claim", "seed", "confidence", "false_alarm")}
    return {**given, "name": request.target.replace("\\", "/").rpartition("/")[2]}


def trained(function: Callable[..., Any], request: Request) -> Evidence:
    """Run a function that trains, and return the evidence of the loop in it.

    Raises:
        UsageError: where there is no loop to watch, and where the training ends with an error.
    """
    from dpaudit.training.script import watched

    evidence, raised = watched(function, options_of_watch(request))
    if raised is not None:
        raise UsageError(f"the training ended with {type(raised).__name__}: {raised}") from raised
    return evidence


def other_training(evidence: Evidence, request: Request) -> str | None:
    """Say where evidence is of another loop, or asked otherwise, than a request says; None if it answers it.

    What is not asked for may be the function's own: its canaries, its σ.
    """
    training = evidence.training
    if training is None:
        return "it is of no training loop"
    asked = {"sampling": default_of(TrainingRequest, "sampling"), **options_of_watch(request)}
    asked["claim"] = str(parse_claim(asked["claim"]))
    found = {
        "name": evidence.target.name,
        "claim": evidence.claim,
        "sampling": training.assumed,
        "false_alarm": evidence.false_alarm,
        "confidence": evidence.confidence,
        "seed": evidence.seed,
        "clip": training.clip,
        "canaries": _canaries(training),
    }
    of_steps = {"sigma": {sigma for sigma, _, _ in training.steps}, "rate": {rate for _, rate, _ in training.steps}}
    if training.sampler == "another rate":  # then it is the one that was seen
        del of_steps["rate"]
    found |= {name: value for name, values in of_steps.items() for value in values if value != asked.get(name)}
    for name, value in found.items():
        if name in asked and value != asked[name]:
            return f"{name} is {value!r:.80}, and {asked[name]!r:.80} was asked for"
    return None


def _canaries(training: Training) -> int | str | None:
    """How many canaries stood in place of records, as a gate can ask for them; others in words."""
    told = training.canaries
    if told is None:
        return None
    many = sum(told.given)
    return many if told.kind == "gradients" else f"{many} listed records"
