"""What does training with Opacus promise? What its accountant states for the steps that were made.

Training is your own function: it takes the data, makes a model private with a `PrivacyEngine`, trains it, and returns
what is published or scored together with the engine. A large model is audited by the scores of canaries
(`dpaudit.audit_scores`); `claim_of` states the claim for that. A tiny one can be trained anew for every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.adapters import approximate, required, wrapped
from dpaudit.errors import UsageError
from dpaudit.privacy import Claim
from dpaudit.targets.mechanism import Mechanism


def claim_of(engine: Any, delta: float) -> Claim:
    """Return what the accountant of a `PrivacyEngine` states at ``delta``, after training."""
    required("opacus")
    accountant = engine.accountant
    if not accountant.history:
        raise UsageError("the accountant of this PrivacyEngine has seen no step; ask for the claim after training")
    return approximate(engine.get_epsilon(delta), delta)


def mechanism_of(
    train: Callable[[Any], tuple[Any, Any]],
    *,
    delta: float,
    pairs: Sequence[tuple[Any, Any]],
    relation: str = "add-remove",
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of a training run; its output is what ``train`` returns besides the engine."""
    _, release = required("opacus")
    title = name or str(getattr(train, "__name__", "training"))
    try:
        _, engine = train(pairs[0][0])
    except Exception as error:
        raise UsageError(f"{title} cannot be run once: {type(error).__name__}: {error}") from error

    def training(data: Any) -> Any:
        return train(data)[0]

    accountant = type(engine.accountant).__name__
    return wrapped(
        "opacus",
        training,
        name=title,
        shown=f"{title}, accounted by {accountant}",
        release=release,
        claim=claim_of(engine, delta),
        relation=relation,
        unit="one training record",
        pairs=pairs,
        made_of=(train,),
        more=_versions(),
    )


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"torch": version("torch")}
