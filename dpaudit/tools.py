"""What helps beside audits and proofs? Scores, curves, plans, sensitivities, δ(ε), and the types that they return.

The names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.auditing.audit import privacy_curve as privacy_curve
    from dpaudit.auditing.plan import ErrorPlan as ErrorPlan
    from dpaudit.auditing.plan import Plan as Plan
    from dpaudit.auditing.plan import plan_error as plan_error
    from dpaudit.auditing.scores import audit_outputs as audit_outputs
    from dpaudit.auditing.scores import audit_scores as audit_scores
    from dpaudit.auditing.sensitivity import sensitivity as sensitivity
    from dpaudit.evidence.event import Event as Event
    from dpaudit.evidence.records import Bound as Bound
    from dpaudit.neighbours import Relation as Relation
    from dpaudit.training.watch import trains as trains
    from dpaudit.verify import certified_delta as certified_delta

_HOMES = {
    "auditing.audit": "privacy_curve",
    "auditing.plan": "ErrorPlan Plan plan_error",
    "auditing.scores": "audit_outputs audit_scores",
    "auditing.sensitivity": "sensitivity",
    "evidence.event": "Event",
    "evidence.records": "Bound",
    "neighbours": "Relation",
    "training.watch": "trains",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted({"certified_delta", *_HOME_OF})


def __getattr__(name: str) -> Any:
    if name == "certified_delta":
        value: Any = importlib.import_module("dpaudit.verify.certified_delta")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(f"dpaudit.{_HOME_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'dpaudit.tools' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
