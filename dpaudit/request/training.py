"""What may be asked of the watch of a training loop?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from dpaudit.request.option import described
from dpaudit.request.shared import CLAIM, KEEP_DATA, SEED

if TYPE_CHECKING:
    from dpaudit.privacy import Claim


@dataclass(frozen=True)
class TrainingRequest:
    """A request to watch a training loop.

    Attributes:
        model: that is trained: of Opacus, what ``make_private`` returned; of JAX, the parameters to begin with.
        optimizer: whose steps are watched: one of Opacus, or of PyTorch; of JAX, the transformation that adds noise, or
            a chain with it.
        loader: whose batches are watched; None where there is none to watch. Of JAX, a strategy of
            ``jax_privacy.batch_selection``, or whatever yields record indices.
        claim: of ε at a δ, such as "epsilon=8, delta=1e-5". Without one nothing is judged.
        sigma: the noise multiplier, or a list of those of all updates, which is a public plan; and clip: the norm that
            records are clipped to; by default those that an optimizer of Opacus states. A plain loop does not say them.
        rate: at which records are sampled; by default as the loader states it.
        records: how many there are in the training set, where batches of JAX do not say it.
        sampling: how records come in, as the claim's accounting assumes: "poisson", "fixed-size" or "shuffled".
        gradient: of a plain loop, a function that returns the clipped sum of a batch, a tensor for each parameter in
            their order; of JAX, the function of parameters and batch whose sum gets noise. Without it clipping is not
            seen.
        canaries: of PyTorch, for a bound of ε that rests on fair coins alone. A number: so many records of the training
            set, by the seed, give their place to gradients that are easiest to tell, half of them by coins; for loops
            of Opacus with hooks. A list: the numbers of the records that are canaries, each left out of every batch
            by a coin of its own.
        canary_scores: for listed canaries, a function without arguments that returns a score for each, called after
            the training: higher for one that was learned, such as minus its loss.
        accountant: that counts the steps; by default the one that an optimizer of Opacus reports to.
        confidence: of the interval of the noise's scale, and of the audit of a step.
        false_alarm: the probability with which anything in a right loop is called wrong.
        seed: of what is replayed, by default a fresh one. No draw of the loop hangs on it.
        name: what to call the loop.
        unit: what one record stands for.
        keep_data: refused here: evidence of a training loop holds nothing about its records.
    """

    model: Any
    optimizer: Any
    loader: Any = None
    claim: Claim | str | None = field(default=None, metadata=CLAIM)
    sigma: float | Sequence[float] | None = field(
        default=None,
        metadata=described("The noise multiplier; else as the optimizer states it.", kind="number", gate="table"),
    )
    clip: float | None = field(
        default=None,
        metadata=described("The clip norm; else as the optimizer states it.", kind="number", gate="table"),
    )
    rate: float | None = field(
        default=None,
        metadata=described("The sampling rate; else as the loader states it.", kind="number", gate="table"),
    )
    records: int | None = field(
        default=None,
        metadata=described("Records in the training set; else as the loader states it.", kind="count", gate="table"),
    )
    sampling: str = field(
        default="poisson",
        metadata=described(
            "How records come in, as the claim's accounting assumes.",
            kind="choice",
            allowed=("poisson", "fixed-size", "shuffled"),
            recorded=lambda evidence: None if evidence.training is None else evidence.training.assumed,
            gate="table",
        ),
    )
    gradient: Callable[[Any], Any] | None = field(default=None, metadata=described("In Python only.", kind=""))
    canaries: int | Sequence[int] | None = field(
        default=None,
        metadata=described(
            "Canaries in the loop, for a bound of ε by one run; in Python also a list.", kind="count", gate="table"
        ),
    )
    canary_scores: Callable[[], Any] | None = field(default=None, metadata=described("In Python only.", kind=""))
    accountant: Any = field(default=None, metadata=described("In Python only.", kind=""))
    confidence: float = field(
        default=0.95,
        metadata=described(
            "Of the noise's scale and of the audit of a step.",
            kind="number",
            recorded=lambda evidence: evidence.confidence,
        ),
    )
    false_alarm: float = field(
        default=1e-3,
        metadata=described(
            "Chance that anything in a right loop is called wrong.",
            kind="number",
            recorded=lambda evidence: evidence.false_alarm,
        ),
    )
    seed: int | None = field(default=None, metadata=SEED)
    name: str | None = field(default=None, metadata=described("What to call the loop.", kind=""))
    unit: str = field(default="one training record", metadata=described("What one record stands for.", kind=""))
    keep_data: bool = field(default=False, metadata=KEEP_DATA)


class TrainingOptions(TypedDict, total=False):
    """The options of a `TrainingRequest`, as keyword arguments of `dpaudit.watch_training`; a test keeps both alike."""

    claim: Claim | str | None
    sigma: float | Sequence[float] | None
    clip: float | None
    rate: float | None
    records: int | None
    sampling: str
    gradient: Callable[[Any], Any] | None
    canaries: int | Sequence[int] | None
    canary_scores: Callable[[], Any] | None
    accountant: Any
    confidence: float
    false_alarm: float
    seed: int | None
    name: str | None
    unit: str
    keep_data: bool
