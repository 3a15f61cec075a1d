"""What may be asked of an accounting?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from dpaudit.request.option import described

if TYPE_CHECKING:
    from dpaudit.privacy import Claim


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
        memory: the most memory to use, in GiB, about.
        alone: whether no other accountant that is installed is asked too.
    """

    events: Any
    delta: Any = field(
        default=None,
        metadata=described(
            "The δ at which ε is asked for; a claim without a δ is meant at it.", shown="DELTA", asked="δ"
        ),
    )
    epsilon: Any = field(default=None, metadata=described("The ε at which δ is asked for.", shown="EPSILON", asked="ε"))
    claim: Claim | str | Sequence[Claim | str] | None = field(
        default=None,
        metadata=described(
            "The claim to hold it against, such as 'epsilon=3, delta=1e-5'; may be given several times.",
            several=True,
            asked="the claim",
            gate="target",
        ),
    )
    tolerance: float = field(
        default=5e-4,
        metadata=described(
            "Width of the interval that is wished for, in ε.",
            kind="number",
            asked="the tolerance",
            recorded=lambda evidence: None if evidence.accounting is None else evidence.accounting.tolerance,
        ),
    )
    relation: str | None = field(
        default=None,
        metadata=described(
            "Which datasets are neighbours, where the events allow several; replace and replace-one are the same.",
            kind="choice",
            allowed=("add-remove", "replace", "replace-one", "zero-out"),
            asked="the relation",
            recorded=lambda evidence: evidence.relation,
        ),
    )
    memory: float = field(default=2.0, metadata=described("The most memory to use, about.", kind="number", shown="GIB"))
    alone: bool = field(
        default=False, metadata=described("Ask no other accountant, though one is installed.", kind="flag")
    )


class AccountOptions(TypedDict, total=False):
    """The options of an `AccountRequest`, as keyword arguments of `dpaudit.account`; a test keeps both alike."""

    delta: Any
    epsilon: Any
    claim: Claim | str | Sequence[Claim | str] | None
    tolerance: float
    relation: str | None
    memory: float
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

    gaussian: str | None = field(
        default=None,
        metadata=described("Gaussian noise of this σ, in units of --sensitivity.", shown="SIGMA"),
    )
    noise_multiplier: str | None = field(
        default=None,
        metadata=described(
            "Gaussian noise over the norm that each record's part of a sum is clipped to, as DP-SGD states it.",
            shown="NUMBER",
        ),
    )
    laplace: str | None = field(
        default=None, metadata=described("Laplace noise of this scale, in units of --sensitivity.", shown="SCALE")
    )
    discrete_laplace: str | None = field(
        default=None, metadata=described("Whole-number noise, P(k) ∝ e^(−|k|/SCALE).", shown="SCALE")
    )
    discrete_gaussian: str | None = field(
        default=None, metadata=described("Whole-number noise, P(k) ∝ e^(−k²/2σ²).", shown="SIGMA")
    )
    randomised_response: str | None = field(
        default=None, metadata=described("Randomised response of this ε.", shown="EPSILON")
    )
    exponential: str | None = field(
        default=None, metadata=described("Exponential mechanism of this ε.", shown="EPSILON")
    )
    block: str | None = field(
        default=None, metadata=described("Anything that keeps a claim, such as 'epsilon=1, delta=1e-6'.", shown="CLAIM")
    )
    sensitivity: str | None = field(
        default=None, metadata=described("How far one record moves the answer; 1 by default.", shown="NUMBER")
    )
    rate: str | None = field(default=None, metadata=described("Of Poisson sampling.", shown="RATE"))
    batch: int | None = field(
        default=None, metadata=described("Records of a batch, without replacement.", kind="count")
    )
    records: int | None = field(default=None, metadata=described("All records, with --batch.", kind="count"))
    batches: int | None = field(
        default=None, metadata=described("Batches that shuffled data are cut into, for each epoch.", kind="count")
    )
    steps: int | None = field(default=None, metadata=described("How often it is run.", kind="count"))
    epochs: int | None = field(
        default=None, metadata=described("How often shuffled data are gone through, with --batches.", kind="count")
    )
