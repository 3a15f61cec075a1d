"""dpaudit: is a claim of differential privacy to be believed?

The public names are loaded when they are first used, so that importing dpaudit costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit import strategies
    from dpaudit.conductor import audit, privacy_curve
    from dpaudit.errors import InvalidRunsError, UsageError
    from dpaudit.event import Event
    from dpaudit.evidence import Evidence
    from dpaudit.function import Mechanism, mechanism
    from dpaudit.loading import catalogue, load
    from dpaudit.members import Bound, Verdict
    from dpaudit.moving import sensitivity
    from dpaudit.neighbours import Relation
    from dpaudit.planner import Plan, plan
    from dpaudit.privacy import (
        ApproxDP,
        Claim,
        GaussianDP,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
        parse_claim,
    )
    from dpaudit.prover import prove
    from dpaudit.replaying import replay
    from dpaudit.scores import audit_outputs, audit_scores

_HOMES = {
    "audit": "conductor",
    "audit_outputs": "scores",
    "audit_scores": "scores",
    "privacy_curve": "conductor",
    "Plan": "planner",
    "plan": "planner",
    "prove": "prover",
    "replay": "replaying",
    "sensitivity": "moving",
    "catalogue": "loading",
    "load": "loading",
    "InvalidRunsError": "errors",
    "UsageError": "errors",
    "Bound": "evidence",
    "Event": "event",
    "Evidence": "evidence",
    "Verdict": "evidence",
    "Mechanism": "function",
    "mechanism": "function",
    "Relation": "neighbours",
    "ApproxDP": "privacy",
    "Claim": "privacy",
    "GaussianDP": "privacy",
    "PureDP": "privacy",
    "RenyiDP": "privacy",
    "ZeroConcentratedDP": "privacy",
    "parse_claim": "privacy",
}

__all__ = [
    "ApproxDP",
    "Bound",
    "Claim",
    "Event",
    "Evidence",
    "GaussianDP",
    "InvalidRunsError",
    "Mechanism",
    "Plan",
    "PureDP",
    "Relation",
    "RenyiDP",
    "UsageError",
    "Verdict",
    "ZeroConcentratedDP",
    "audit",
    "audit_outputs",
    "audit_scores",
    "catalogue",
    "load",
    "mechanism",
    "parse_claim",
    "plan",
    "privacy_curve",
    "prove",
    "replay",
    "sensitivity",
    "strategies",
]


def __getattr__(name: str) -> Any:
    if name == "strategies":
        return importlib.import_module("dpaudit.strategies")
    if name not in _HOMES:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"dpaudit.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
