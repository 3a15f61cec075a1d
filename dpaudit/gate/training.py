"""How does a gate hold a training loop to its claim? By a table, a run, and what its evidence must say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import parse_claim
from dpaudit.request import TrainingRequest

if TYPE_CHECKING:
    from dpaudit.gate.target_process import Request

KEYS = ("function", "sigma", "clip", "rate", "records", "sampling")
"""What the table of a training target may say."""


def table_of(given: str | dict[str, Any] | None, claim: str | None) -> dict[str, Any]:
    """Return the table of a training target; a text alone is its function.

    Raises:
        UsageError: for what cannot be watched, and a claim without a δ.
    """
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
    options: dict[str, Any] = {key: value for key, value in table.items() if key != "function"}
    check_request(TrainingRequest(None, None, **{**options, "claim": claim}))
    return table


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
    """Say where evidence is of another loop, or asked otherwise, than a request says; None if it answers it."""
    if evidence.training is None:
        return "it is of no training loop"
    asked = options_of_watch(request)
    found = {
        "name": evidence.target.name,
        "claim": evidence.claim,
        "sampling": evidence.training.assumed,
        "false_alarm": evidence.false_alarm,
        "confidence": evidence.confidence,
        "seed": evidence.seed,
    }
    wanted = {"sampling": "poisson", **asked, "claim": str(parse_claim(asked["claim"]))}
    for name, value in found.items():
        if value != wanted[name]:
            return f"{name} is {value!r:.80}, and {wanted[name]!r:.80} was asked for"
    return None
