"""dpaudit: is a claim of differential privacy to be believed?

The public names are loaded when they are first used, so that importing dpaudit costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dpaudit.evidence.registered import register

if TYPE_CHECKING:
    __version__: str

    from dpaudit import strategies
    from dpaudit.accounting import (
        Block,
        DiscreteGaussian,
        DiscreteLaplace,
        Exponential,
        Gaussian,
        Laplace,
        RandomisedResponse,
    )
    from dpaudit.accounts.account import account
    from dpaudit.auditing.audit import privacy_curve
    from dpaudit.auditing.plan import ErrorPlan, Plan, plan, plan_error
    from dpaudit.auditing.scores import audit_outputs, audit_scores
    from dpaudit.auditing.sensitivity import sensitivity
    from dpaudit.auditing.trace import trace
    from dpaudit.errors import InvalidRunsError, UsageError
    from dpaudit.evidence.event import Event
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.evidence.records import Bound, Verdict
    from dpaudit.loading.named import catalogue, load
    from dpaudit.neighbours import Relation
    from dpaudit.privacy import (
        ApproxDP,
        Claim,
        GaussianDP,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
        composition,
        parse_claim,
    )
    from dpaudit.review.replay import replay
    from dpaudit.targets.mechanism import Mechanism, mechanism
    from dpaudit.training.small_runs import trains
    from dpaudit.training.watch import watch_training
    from dpaudit.verify import certified_delta
    from dpaudit.verify.answer import audit
    from dpaudit.verify.prove_and_audit import prove

register("page", "dpaudit.report:html_page")
register("card", "dpaudit.report:evidence_card")
register("event", "dpaudit.loading.named:event_of")

_MODULES = {
    "certified_delta": "verify.certified_delta",
    "composition": "privacy.composition",
    "strategies": "strategies",
}
_HOMES = {
    "account": "accounts.account",
    "Block": "accounting",
    "DiscreteGaussian": "accounting",
    "DiscreteLaplace": "accounting",
    "Exponential": "accounting",
    "Gaussian": "accounting",
    "Laplace": "accounting",
    "RandomisedResponse": "accounting",
    "audit": "verify.answer",
    "audit_outputs": "auditing.scores",
    "audit_scores": "auditing.scores",
    "privacy_curve": "auditing.audit",
    "Plan": "auditing.plan",
    "plan": "auditing.plan",
    "ErrorPlan": "auditing.plan",
    "plan_error": "auditing.plan",
    "prove": "verify.prove_and_audit",
    "replay": "review.replay",
    "sensitivity": "auditing.sensitivity",
    "trace": "auditing.trace",
    "catalogue": "loading.named",
    "load": "loading.named",
    "InvalidRunsError": "errors",
    "UsageError": "errors",
    "Bound": "evidence.evidence",
    "Event": "evidence.event",
    "Evidence": "evidence.evidence",
    "Verdict": "evidence.evidence",
    "Mechanism": "targets.mechanism",
    "mechanism": "targets.mechanism",
    "Relation": "neighbours",
    "ApproxDP": "privacy",
    "Claim": "privacy",
    "GaussianDP": "privacy",
    "PureDP": "privacy",
    "RenyiDP": "privacy",
    "ZeroConcentratedDP": "privacy",
    "parse_claim": "privacy",
    "trains": "training.small_runs",
    "watch_training": "training.watch",
}

__all__ = [
    "ApproxDP",
    "Block",
    "Bound",
    "Claim",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ErrorPlan",
    "Event",
    "Evidence",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "InvalidRunsError",
    "Laplace",
    "Mechanism",
    "Plan",
    "PureDP",
    "RandomisedResponse",
    "Relation",
    "RenyiDP",
    "UsageError",
    "Verdict",
    "ZeroConcentratedDP",
    "__version__",
    "account",
    "audit",
    "audit_outputs",
    "audit_scores",
    "catalogue",
    "certified_delta",
    "composition",
    "load",
    "mechanism",
    "parse_claim",
    "plan",
    "plan_error",
    "privacy_curve",
    "prove",
    "replay",
    "sensitivity",
    "strategies",
    "trace",
    "trains",
    "watch_training",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found = importlib.import_module(f"dpaudit.{_MODULES[name]}")
    elif name == "__version__":
        found = importlib.import_module("importlib.metadata").version("dpaudit")
    elif name in _HOMES:
        found = getattr(importlib.import_module(f"dpaudit.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
