"""dpaudit: is a claim of differential privacy to be believed?

The public names are loaded when they are first used, so that importing dpaudit costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dpaudit.evidence import register

if TYPE_CHECKING:
    __version__: str

    from dpaudit import strategies as strategies
    from dpaudit.accounting import Block as Block
    from dpaudit.accounting import DiscreteGaussian as DiscreteGaussian
    from dpaudit.accounting import DiscreteLaplace as DiscreteLaplace
    from dpaudit.accounting import Exponential as Exponential
    from dpaudit.accounting import Gaussian as Gaussian
    from dpaudit.accounting import Laplace as Laplace
    from dpaudit.accounting import RandomisedResponse as RandomisedResponse
    from dpaudit.accounts.account import account as account
    from dpaudit.auditing.audit import privacy_curve as privacy_curve
    from dpaudit.auditing.plan import ErrorPlan as ErrorPlan
    from dpaudit.auditing.plan import Plan as Plan
    from dpaudit.auditing.plan import plan as plan
    from dpaudit.auditing.plan import plan_error as plan_error
    from dpaudit.auditing.scores import audit_outputs as audit_outputs
    from dpaudit.auditing.scores import audit_scores as audit_scores
    from dpaudit.auditing.sensitivity import sensitivity as sensitivity
    from dpaudit.auditing.trace import trace as trace
    from dpaudit.errors import InvalidRunsError as InvalidRunsError
    from dpaudit.errors import UsageError as UsageError
    from dpaudit.evidence.event import Event as Event
    from dpaudit.evidence.evidence import Evidence as Evidence
    from dpaudit.evidence.records import Bound as Bound
    from dpaudit.evidence.records import Verdict as Verdict
    from dpaudit.loading import catalogue as catalogue
    from dpaudit.loading import load as load
    from dpaudit.neighbours import Relation as Relation
    from dpaudit.privacy import ApproxDP as ApproxDP
    from dpaudit.privacy import Claim as Claim
    from dpaudit.privacy import GaussianDP as GaussianDP
    from dpaudit.privacy import PureDP as PureDP
    from dpaudit.privacy import RenyiDP as RenyiDP
    from dpaudit.privacy import ZeroConcentratedDP as ZeroConcentratedDP
    from dpaudit.privacy import composition as composition
    from dpaudit.privacy import parse_claim as parse_claim
    from dpaudit.review.replay import replay as replay
    from dpaudit.targets.mechanism import Mechanism as Mechanism
    from dpaudit.targets.mechanism import mechanism as mechanism
    from dpaudit.training.watch import trains as trains
    from dpaudit.training.watch import watch_training as watch_training
    from dpaudit.verify import certified_delta as certified_delta
    from dpaudit.verify.answer import audit as audit
    from dpaudit.verify.answer import prove as prove

register("page", "dpaudit.report:html_page")
register("card", "dpaudit.report:evidence_card")
register("event", "dpaudit.loading:event_of")

_MODULES = {
    "certified_delta": "verify.certified_delta",
    "composition": "privacy.composition",
    "strategies": "strategies",
}
_HOMES = {
    "accounts.account": "account",
    "accounting": "Block DiscreteGaussian DiscreteLaplace Exponential Gaussian Laplace RandomisedResponse",
    "verify.answer": "audit prove",
    "auditing.scores": "audit_outputs audit_scores",
    "auditing.audit": "privacy_curve",
    "auditing.plan": "Plan plan ErrorPlan plan_error",
    "review.replay": "replay",
    "auditing.sensitivity": "sensitivity",
    "auditing.trace": "trace",
    "loading": "catalogue load",
    "errors": "InvalidRunsError UsageError",
    "evidence.evidence": "Bound Evidence Verdict",
    "evidence.event": "Event",
    "targets.mechanism": "Mechanism mechanism",
    "neighbours": "Relation",
    "privacy": "ApproxDP Claim GaussianDP PureDP RenyiDP ZeroConcentratedDP parse_claim",
    "training.watch": "trains watch_training",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted({"__version__", *_MODULES, *_HOME_OF})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(f"dpaudit.{_MODULES[name]}")
    elif name == "__version__":
        value = importlib.import_module("importlib.metadata").version("dpaudit")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(f"dpaudit.{_HOME_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
