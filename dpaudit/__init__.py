"""dpaudit: is a claim of differential privacy to be believed?

The public names are loaded when they are first used, so that importing dpaudit costs nothing.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from dpaudit.evidence import register

if TYPE_CHECKING:
    __version__: str

    from dpaudit import accounting as accounting
    from dpaudit import strategies as strategies
    from dpaudit import tools as tools
    from dpaudit.accounts.account import account as account
    from dpaudit.auditing.plan import plan as plan
    from dpaudit.auditing.trace import trace as trace
    from dpaudit.errors import InvalidRunsError as InvalidRunsError
    from dpaudit.errors import UsageError as UsageError
    from dpaudit.evidence.evidence import Evidence as Evidence
    from dpaudit.evidence.records import Verdict as Verdict
    from dpaudit.loading import catalogue as catalogue
    from dpaudit.loading import load as load
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
    from dpaudit.training.watch import watch_training as watch_training
    from dpaudit.verify.answer import audit as audit
    from dpaudit.verify.answer import prove as prove

register("page", "dpaudit.report:html_page")
register("card", "dpaudit.report:evidence_card")
register("summary", "dpaudit.report:console_summary")
register("event", "dpaudit.loading:event_of")

_MODULES = {
    "accounting": "accounting",
    "composition": "privacy.composition",
    "strategies": "strategies",
    "tools": "tools",
}
_HOMES = {
    "accounts.account": "account",
    "verify.answer": "audit prove",
    "auditing.plan": "plan",
    "review.replay": "replay",
    "auditing.trace": "trace",
    "loading": "catalogue load",
    "errors": "InvalidRunsError UsageError",
    "evidence.evidence": "Evidence Verdict",
    "targets.mechanism": "Mechanism mechanism",
    "privacy": "ApproxDP Claim GaussianDP PureDP RenyiDP ZeroConcentratedDP parse_claim",
    "training.watch": "watch_training",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_MOVED = {
    "accounting": "Block DiscreteGaussian DiscreteLaplace Exponential Gaussian Laplace RandomisedResponse",
    "tools": "Bound ErrorPlan Event Plan Relation audit_outputs audit_scores certified_delta plan_error privacy_curve "
    "sensitivity trains",
}
"""What was here once, by where it is now; it goes with 0.2."""
_NOW_IN = {name: home for home, names in _MOVED.items() for name in names.split()}

__all__ = sorted({"__version__", *_MODULES, *_HOME_OF})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(f"dpaudit.{_MODULES[name]}")
    elif name == "__version__":
        value = importlib.import_module("importlib.metadata").version("dpaudit")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(f"dpaudit.{_HOME_OF[name]}"), name)
    elif name in _NOW_IN:
        home = f"dpaudit.{_NOW_IN[name]}"
        warnings.warn(f"dpaudit.{name} is {home}.{name} now", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(home), name)
    else:
        raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
