"""Which pairs of distributions stand for an event, from above and from below?

From above a pair dominates every pair of neighbours: no H(α) of the event exceeds that of the pair. From below a
pair is attained, by some records and queries. The proofs are in ``docs/accounting.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Events,
    Exponential,
    FixedSize,
    Gaussian,
    Laplace,
    Mechanism,
    Poisson,
    RandomisedResponse,
    Sampled,
    Shuffled,
)
from dpaudit.accounting.losses import (
    Atoms,
    BoundedRangeLaw,
    Continuous,
    GaussianLaw,
    LaplaceLaw,
    LargestLaw,
    LossLaw,
    SampledLaw,
    Spliced,
    discrete_gaussian,
    discrete_laplace,
    randomised_response,
)
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP


@dataclass(frozen=True)
class Pairs:
    """The laws of an event.

    Attributes:
        above: the loss with the record against without it, of a pair that dominates.
        below: the same of a pair that is attained.
        tight: whether both are one pair, so that the interval closes as the lattice gets finer.
    """

    above: LossLaw
    below: LossLaw
    tight: bool = True

    @property
    def symmetric(self) -> bool:
        """Whether the other direction, from Q to P, has the same law from above."""
        return self.above.symmetric


def apart(events: Events) -> str:
    """Say why the pairs from above and from below differ, of the first event where they do."""
    for event, _ in events.parts:
        sampling = event.sampling if isinstance(event, Sampled) else None
        if isinstance(sampling, Shuffled) and sampling.batches > 1:
            return "no amplification by shuffling is proved, so that from above the batches count as known"
        if isinstance(sampling, FixedSize) and sampling.rate < 1:
            return "for batches of a fixed size no one pair dominates both directions"
        if isinstance(event.mechanism if isinstance(event, Sampled) else event, Exponential):
            return "of the exponential mechanism only the range of the loss is used from above"
    return "from above and from below different pairs are known"


def largest_losses(event: Event) -> tuple[Fraction, Fraction] | None:
    """Return the largest loss of an event, of the pairs from below and from above; None where it is no rational."""
    if isinstance(event, Laplace | DiscreteLaplace):
        return (1 / event.ratio,) * 2
    if isinstance(event, RandomisedResponse):
        return event.epsilon, event.epsilon
    if isinstance(event, Exponential):
        return event.epsilon / 2, event.epsilon
    if isinstance(event, Block) and isinstance(event.claim, PureDP) and event.claim.epsilon:
        return (number_of(event.claim.epsilon),) * 2
    return None


def pairs(event: Event, digits: int) -> Pairs:
    """Return the laws of an event.

    Args:
        event: a mechanism, or one with sampled records.
        digits: decimal digits of the masses, as far as discrete noise reaches.

    Raises:
        UsageError: for what has no proved bound.
    """
    if isinstance(event, Mechanism):
        return _mechanism(event, digits)
    if not isinstance(event, Sampled):
        raise UsageError(f"nothing is proved of the event {event!r}")
    own = _mechanism(event.mechanism, digits)
    sampling = event.sampling
    if isinstance(sampling, Poisson):
        if sampling.rate == 1:
            return own
        return Pairs(_sampled(own.above, sampling.rate), _sampled(own.below, sampling.rate), own.tight)
    if isinstance(sampling, FixedSize):
        if sampling.rate == 1:
            return own
        sampled = _sampled(own.above, sampling.rate)
        if not isinstance(sampled, Continuous):
            raise UsageError(
                f"{event}: sampling without replacement is accounted for mechanisms of continuous noise; "
                "for others give the claim of the sampled mechanism as a Block"
            )
        return Pairs(Spliced(sampled), _sampled(own.below, sampling.rate), tight=False)
    return _shuffled(event, own, sampling)


def _sampled(law: LossLaw, rate: Fraction) -> LossLaw:
    if isinstance(law, Atoms):
        return law.sampled(rate)
    if isinstance(law, Continuous):
        return SampledLaw(law, rate)
    raise UsageError("nothing is proved of sampled records for this mechanism")


def _shuffled(event: Sampled, own: Pairs, sampling: Shuffled) -> Pairs:
    if sampling.batches == 1:
        return own
    if not isinstance(own.above, GaussianLaw):
        raise UsageError(
            f"{event}: shuffled batches are accounted for Gaussian noise; for others nothing is proved here"
        )
    return Pairs(own.above, LargestLaw(own.above.square, sampling.batches), tight=False)


def _mechanism(mechanism: Mechanism, digits: int) -> Pairs:
    if isinstance(mechanism, Gaussian):
        return _one(GaussianLaw((mechanism.ratio) ** 2))
    if isinstance(mechanism, Laplace):
        return _one(LaplaceLaw(mechanism.ratio))
    if isinstance(mechanism, RandomisedResponse):
        return _one(randomised_response(mechanism.epsilon))
    if isinstance(mechanism, DiscreteLaplace):
        return _one(discrete_laplace(mechanism.scale, mechanism.sensitivity))
    if isinstance(mechanism, DiscreteGaussian):
        return _one(discrete_gaussian(mechanism.sigma**2, mechanism.sensitivity, digits))
    if isinstance(mechanism, Exponential):
        # losses ±ε/2: two answers, whose scores are equal in one dataset up to Δ each, against each other
        return Pairs(BoundedRangeLaw(mechanism.epsilon), randomised_response(mechanism.epsilon / 2), tight=False)
    if isinstance(mechanism, Block):
        return _block(mechanism)
    raise UsageError(f"nothing is proved of the mechanism {mechanism!r}")


def attained(event: Event, digits: int) -> LossLaw:
    """Return the law from below; of a claim of ρ that of Gaussian noise with s² = 1/2ρ, which keeps it."""
    if isinstance(event, Block) and isinstance(event.claim, ZeroConcentratedDP) and event.claim.rho:
        return GaussianLaw(1 / (2 * number_of(event.claim.rho)))
    return pairs(event, digits).below


def _block(block: Block) -> Pairs:
    claim = block.claim
    if isinstance(claim, PureDP | ApproxDP):
        epsilon, delta = number_of(claim.epsilon), number_of(claim.delta)
        if not epsilon:
            raise UsageError(f"{block}: a claim with ε = 0 adds only its δ; leave the event out, and add δ yourself")
        if delta >= 1:
            raise UsageError(f"{block}: with δ = 1 the claim promises nothing, and ε is infinite")
        return _one(randomised_response(epsilon, delta))
    if isinstance(claim, GaussianDP):
        if not claim.mu:
            raise UsageError(f"{block}: a claim of μ = 0 adds nothing; leave the event out")
        return _one(GaussianLaw(1 / root_of(claim.mu) ** 2))
    if isinstance(claim, ZeroConcentratedDP) and not claim.rho:
        raise UsageError(f"{block}: a claim of ρ = 0 adds nothing; leave the event out")
    raise UsageError(
        f"{block}: no single pair of distributions dominates what keeps a claim of {claim.notion}, so it does not "
        "compose with others as a curve; give the mechanism itself, or its claim as (ε, δ) or μ"
    )


def _one(law: LossLaw) -> Pairs:
    return Pairs(law, law)
