"""What may be asked of an accounting, and of the watch of a training loop?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from dpaudit.request.option import CLAIM, KEEP_DATA, SEED, option

if TYPE_CHECKING:
    from dpaudit.privacy import Claim


# --- What may be asked of an accounting? ---


@dataclass(frozen=True)
class AccountRequest:
    """A request for an accounting.

    Attributes:
        events: what was run: ``dp.Gaussian("1.1").poisson("0.004").times(14000)``, the same as text, the name of a plan
            file (.toml), the accountant of Opacus or its history, or an event of dp-accounting.
        delta: the δ at which ε is asked for. A claim without a δ is meant at it.
        epsilon: the ε at which δ is asked for, in nats.
        claim: a claim or its text, or several: pure or (ε, δ). By default those of the plan file; without any the
            verdict is NO CLAIM.
        tolerance: the width of the interval that is wished for, in ε.
        relation: which datasets are neighbours, where the events allow several: "add-remove", "replace" or
            "zero-out".
        alone: whether no other accountant that is installed is asked too.
    """

    events: Any
    delta: Any = option(
        None, "The δ at which ε is asked for; a claim without a δ is meant at it.", shown="DELTA", asked="δ"
    )
    epsilon: Any = option(None, "The ε at which δ is asked for.", shown="EPSILON", asked="ε")
    claim: Claim | str | Sequence[Claim | str] | None = option(
        None,
        "The claim to hold it against, such as 'epsilon=3, delta=1e-5'; may be given several times.",
        several=True,
        asked="the claim",
        gate="target",
    )
    tolerance: float = option(
        5e-4,
        "Width of the interval that is wished for, in ε.",
        kind="number",
        asked="the tolerance",
        recorded=lambda evidence: None if evidence.accounting is None else evidence.accounting.tolerance,
    )
    relation: str | None = option(
        None,
        "Which datasets are neighbours, where the events allow several; replace and replace-one are the same.",
        kind="choice",
        allowed=("add-remove", "replace", "replace-one", "zero-out"),
        asked="the relation",
        recorded=lambda evidence: evidence.relation,
    )
    alone: bool = option(False, "Ask no other accountant, though one is installed.", kind="flag")


class AccountOptions(TypedDict, total=False):
    """The options of an `AccountRequest`, as keyword arguments of `dpaudit.account`; a test keeps both alike."""

    delta: Any
    epsilon: Any
    claim: Claim | str | Sequence[Claim | str] | None
    tolerance: float
    relation: str | None
    alone: bool


@dataclass(frozen=True)
class ReleaseRequest:
    """One release in plain options: as the command line types it. A plan file lists several.

    Attributes:
        gaussian, noise_multiplier, laplace, discrete_laplace, discrete_gaussian, randomised_response, exponential,
            block: the mechanism, by the parameter of its noise or its claim; one of them.
        sensitivity: how far one record moves the answer.
        rate: of Poisson sampling. batch, records: of sampling without replacement. batches: of shuffled data.
        steps: how often it is run. epochs: how often shuffled data are gone through.
    """

    gaussian: str | None = option(None, "Gaussian noise of this σ, in units of --sensitivity.", shown="SIGMA")
    noise_multiplier: str | None = option(
        None,
        "Gaussian noise over the norm that each record's part of a sum is clipped to, as DP-SGD states it.",
        shown="NUMBER",
    )
    laplace: str | None = option(None, "Laplace noise of this scale, in units of --sensitivity.", shown="SCALE")
    discrete_laplace: str | None = option(None, "Whole-number noise, P(k) ∝ e^(−|k|/SCALE).", shown="SCALE")
    discrete_gaussian: str | None = option(None, "Whole-number noise, P(k) ∝ e^(−k²/2σ²).", shown="SIGMA")
    randomised_response: str | None = option(None, "Randomised response of this ε.", shown="EPSILON")
    exponential: str | None = option(None, "Exponential mechanism of this ε.", shown="EPSILON")
    block: str | None = option(None, "Anything that keeps a claim, such as 'epsilon=1, delta=1e-6'.", shown="CLAIM")
    sensitivity: str | None = option(None, "How far one record moves the answer; 1 by default.", shown="NUMBER")
    rate: str | None = option(None, "Of Poisson sampling.", shown="RATE")
    batch: int | None = option(None, "Records of a batch, without replacement.", kind="count")
    records: int | None = option(None, "All records, with --batch.", kind="count")
    batches: int | None = option(None, "Batches that shuffled data are cut into, for each epoch.", kind="count")
    steps: int | None = option(None, "How often it is run.", kind="count")
    epochs: int | None = option(None, "How often shuffled data are gone through, with --batches.", kind="count")


# --- What may be asked of the watch of a training loop? ---


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
    claim: Claim | str | None = option(None, CLAIM)
    sigma: float | Sequence[float] | None = option(
        None, "The noise multiplier; else as the optimizer states it.", kind="number", gate="table"
    )
    clip: float | None = option(None, "The clip norm; else as the optimizer states it.", kind="number", gate="table")
    rate: float | None = option(None, "The sampling rate; else as the loader states it.", kind="number", gate="table")
    records: int | None = option(
        None, "Records in the training set; else as the loader states it.", kind="count", gate="table"
    )
    sampling: str = option(
        "poisson",
        "How records come in, as the claim's accounting assumes.",
        kind="choice",
        allowed=("poisson", "fixed-size", "shuffled"),
        recorded=lambda evidence: None if evidence.training is None else evidence.training.assumed,
        gate="table",
    )
    gradient: Callable[[Any], Any] | None = option(None, "In Python only.", kind="")
    canaries: int | Sequence[int] | None = option(
        None, "Canaries in the loop, for a bound of ε by one run; in Python also a list.", kind="count", gate="table"
    )
    canary_scores: Callable[[], Any] | None = option(None, "In Python only.", kind="")
    accountant: Any = option(None, "In Python only.", kind="")
    confidence: float = option(
        0.95,
        "Of the noise's scale and of the audit of a step.",
        kind="number",
        recorded=lambda evidence: evidence.confidence,
    )
    false_alarm: float = option(
        1e-3,
        "Chance that anything in a right loop is called wrong.",
        kind="number",
        recorded=lambda evidence: evidence.false_alarm,
    )
    seed: int | None = option(None, SEED)
    name: str | None = option(None, "What to call the loop.", kind="")
    unit: str = option("one training record", "What one record stands for.", kind="")
    keep_data: bool = option(False, KEEP_DATA)


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
