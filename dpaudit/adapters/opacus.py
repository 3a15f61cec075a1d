"""What does training with Opacus promise? What its accountant states for the steps that were made.

Training is your own function: it takes the data, makes a model private with a `PrivacyEngine`, trains it, and returns
what is published or scored together with the engine. A large model is audited by the scores of canaries
(`dpaudit.tools.audit_scores`); `claim_of` states the claim for that. A tiny one can be trained anew for every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.privacy import Claim
from dpaudit.targets.mechanism import Mechanism, approximate, required, wrapped
from dpaudit.tracing.primitives import DrawingMethod, Stated, Unit, apart
from dpaudit.tracing.recording import active, site


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


# --- How is the step of an optimiser of Opacus followed? ---


def _stepping(original: Callable[..., Any]) -> Callable[..., Any]:
    """The noise of a step is Gaussian, of scale σC, on the sum of all clipped gradients."""

    def add_noise(self: Any) -> Any:
        recorder = active()
        if recorder is None:
            return original(self)
        where = site()
        with recorder.own_work():
            import torch  # type: ignore[import-not-found, unused-ignore]

            clipped = np.concatenate([p.summed_grad.detach().cpu().numpy().reshape(-1) for p in self.params])
            scale = float(self.noise_multiplier * self.max_grad_norm)
            original(self)
            noisy = np.concatenate([p.grad.detach().cpu().numpy().reshape(-1) for p in self.params])
            loss = lambda one, other: Stated(mu=apart(one, other, 2) / scale, by=apart(one, other, 2))  # noqa: E731
            noisy = recorder.unit("Opacus' step", noisy, where, Unit(clipped, f"scale {scale}", loss))
            start = 0
            for p in self.params:
                size = p.grad.numel()
                p.grad = torch.tensor(noisy[start : start + size], dtype=p.grad.dtype).view_as(p)
                start += size
        return None

    return add_noise


ROWS = (DrawingMethod("opacus.optimizers.optimizer", "DPOptimizer", "add_noise", followed=_stepping),)
"""Its methods."""
