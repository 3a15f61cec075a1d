"""What does a certificate of accounting hold? Everything from which a checker computes the same masses again.

The format is that of ``docs/certificate.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dpaudit.accounting import losses
from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Events,
    Exponential,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    PrivacyEvent,
    RandomisedResponse,
    Sampled,
    Shuffled,
    UnsampledEvent,
)
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

if TYPE_CHECKING:
    from dpaudit.accounting.compose import End

FORMAT = "dpaudit-certificate"
VERSION = 1
KIND = "account"


def certificate(
    events: Events,
    parameter: str,
    at: Fraction,
    interval: tuple[Decimal, Decimal] | tuple[Fraction | None, Fraction | None],
    digits: int,
    ends: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a certificate of an interval.

    Args:
        events: what was accounted.
        parameter: "epsilon" or "delta": what the interval is about.
        at: the other one.
        interval: its ends; None is infinity.
        digits: masses are whole numbers of 10^−digits.
        ends: the compositions that show it.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": KIND,
        "events": [written(event, count) for event, count in events.parts],
        "parameter": parameter,
        "at": text(at),
        "low": text(interval[0]),
        "high": text(interval[1]),
        "digits": digits,
        "ends": ends,
    }


def text(number: Fraction | Decimal | None) -> str:
    """Return a rational as the certificate writes it: in lowest terms, or "infinity"."""
    if number is None or (isinstance(number, Decimal) and not number.is_finite()):
        return "infinity"
    return str(Fraction(number))


def written(event: PrivacyEvent, count: int) -> dict[str, Any]:
    """Return an event as the certificate writes it.

    Args:
        event: the event.
        count: how often it is run.

    Raises:
        UsageError: for an event that certificates do not know.
    """
    mechanism = event.mechanism if isinstance(event, Sampled) else event
    if not isinstance(mechanism, UnsampledEvent):
        raise UsageError(f"certificates know nothing of the event {event!r}")
    described = {"mechanism": _mechanism(mechanism), "count": count}
    if isinstance(event, Sampled):
        described["sampling"] = _sampling(event)
    return described


def _mechanism(mechanism: UnsampledEvent) -> dict[str, Any]:
    if isinstance(mechanism, Gaussian):
        return {"name": "gaussian", "noise": text(mechanism.ratio)}
    if isinstance(mechanism, Laplace):
        return {"name": "laplace", "noise": text(mechanism.ratio)}
    if isinstance(mechanism, DiscreteLaplace):
        return {"name": "discrete laplace", "noise": text(mechanism.scale), "sensitivity": mechanism.sensitivity}
    if isinstance(mechanism, DiscreteGaussian):
        return {"name": "discrete gaussian", "noise": text(mechanism.sigma), "sensitivity": mechanism.sensitivity}
    if isinstance(mechanism, RandomisedResponse):
        return {"name": "randomised response", "epsilon": text(mechanism.epsilon)}
    if isinstance(mechanism, Exponential):
        return {"name": "exponential", "epsilon": text(mechanism.epsilon)}
    claim = mechanism.claim if isinstance(mechanism, Block) else None
    if isinstance(claim, PureDP | ApproxDP):
        return {"name": "claim", "epsilon": text(number_of(claim.epsilon)), "delta": text(number_of(claim.delta))}
    if isinstance(claim, GaussianDP):
        return {"name": "gaussian", "noise": text(1 / root_of(claim.mu))}
    if isinstance(claim, ZeroConcentratedDP):
        return {"name": "concentrated claim", "rho": text(number_of(claim.rho))}
    raise UsageError(f"certificates know nothing of the mechanism {mechanism!r}")


def _sampling(event: Sampled) -> dict[str, Any]:
    sampling = event.sampling
    if isinstance(sampling, Poisson):
        return {"name": "poisson", "rate": text(sampling.rate)}
    if isinstance(sampling, FixedSize):
        return {"name": "fixed size", "batch": sampling.batch, "records": sampling.records}
    assert isinstance(sampling, Shuffled)
    return {"name": "shuffled", "batches": sampling.batches}


def ending(end: End, high: Decimal, low: Decimal, at: Fraction, parameter: str) -> dict[str, Any]:
    """Return one composition as the certificate writes it.

    Args:
        end: the composition.
        high, low: the interval that is claimed.
        at: the δ, or the ε, at which it is.
        parameter: "epsilon" or "delta": what the interval is about.
    """
    step = end.step
    claimed = (high if end.up else low) if parameter == "epsilon" else at
    index, above = -1, 0
    if not isinstance(claimed, Decimal) or claimed.is_finite():
        index = end.tail.place(Fraction(claimed))
        above = end.tail.sums(index)[0]
    x, y = end.factors
    infinite = end.tail.infinite_units
    return {
        "direction": end.direction,
        "side": "above" if end.up else "below",
        "step": text(step.value) if step.value is not None else {"law": step.anchor, "parts": step.parts},
        "corners": [gaps(part.nodes) for part in end.parts],
        "events": [gaps(part.events) for part in end.parts],
        "cuts": [[str(low_cut), str(high_cut)] for low_cut, high_cut in end.composition.cuts],
        "program": end.composition.program,
        "factors": [x.number] if y is None else [x.number, y.number],
        "digest": digest([x] if y is None else [x, y]),
        "sums": {"place": index, "above": str(above), "infinite": str(infinite)},
    }


def gaps(places: list[int]) -> list[int]:
    """Return the first place and the gaps to the next ones, equal gaps in a row as [gap, how often]… flattened."""
    if not places:
        return []
    runs = [places[0]]
    for before, after in pairwise(places):
        gap = after - before
        if len(runs) > 1 and runs[-2] == gap:
            runs[-1] += 1
        else:
            runs += [gap, 1]
    return runs


def digest(blocks: Iterable[Any]) -> str:
    """Return the SHA-256 of blocks: for each its start, its mass at ∞ and its masses, as decimals with commas."""
    state = sha256()
    for block in blocks:
        numbers = [block.start, block.infinite, *block.poly.coeffs()]
        state.update(",".join(map(str, numbers)).encode() + b";")
    return "sha256:" + state.hexdigest()


# --- Which pairs of distributions stand for an event, from above and from below? ---
#
# From above a pair dominates every pair of neighbours: no H(α) of the event exceeds that of the pair. From below a pair
# is attained, by some records and queries. The proofs are in ``docs/accounting.md``.


@dataclass(frozen=True)
class Pairs:
    """The laws of an event."""

    above: losses.LossLaw  # the loss with the record against without it, of a pair that dominates
    below: losses.LossLaw  # the same of a pair that is attained
    tight: bool = True  # whether both are one pair, so that the interval closes as the lattice gets finer

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


def largest_losses(event: PrivacyEvent) -> tuple[Fraction, Fraction] | None:
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


def pairs(event: PrivacyEvent, digits: int) -> Pairs:
    """Return the laws of an event.

    Args:
        event: a mechanism, or one with sampled records.
        digits: decimal digits of the masses, as far as discrete noise reaches.

    Raises:
        UsageError: for what has no proved bound.
    """
    if isinstance(event, UnsampledEvent):
        return _mechanism_of_pair(event, digits)
    if not isinstance(event, Sampled):
        raise UsageError(f"nothing is proved of the event {event!r}")
    own = _mechanism_of_pair(event.mechanism, digits)
    sampling = event.sampling
    if isinstance(sampling, Poisson):
        if sampling.rate == 1:
            return own
        return Pairs(_sampled(own.above, sampling.rate), _sampled(own.below, sampling.rate), own.tight)
    if isinstance(sampling, FixedSize):
        if sampling.rate == 1:
            return own
        above = _sampled(own.above, sampling.rate)
        spliced = above.spliced() if isinstance(above, losses.Atoms) else losses.Spliced(above)
        return Pairs(spliced, _sampled(own.below, sampling.rate), tight=False)
    if sampling.batches == 1:
        return own
    if not isinstance(own.above, losses.GaussianLaw):
        raise UsageError(
            f"{event}: shuffled batches are accounted for Gaussian noise; for others nothing is proved here"
        )
    return Pairs(own.above, losses.LargestLaw(own.above.square, sampling.batches), tight=False)


def _sampled(law: losses.LossLaw, rate: Fraction) -> losses.Atoms | losses.Continuous:
    if isinstance(law, losses.Atoms):
        return law.sampled(rate)
    if isinstance(law, losses.Continuous):
        return losses.SampledLaw(law, rate)
    raise UsageError("nothing is proved of sampled records for this mechanism")


def _mechanism_of_pair(mechanism: UnsampledEvent, digits: int) -> Pairs:
    if isinstance(mechanism, Gaussian):
        return _one(losses.GaussianLaw((mechanism.ratio) ** 2))
    if isinstance(mechanism, Laplace):
        return _one(losses.LaplaceLaw(mechanism.ratio))
    if isinstance(mechanism, RandomisedResponse):
        return _one(losses.randomised_response(mechanism.epsilon))
    if isinstance(mechanism, DiscreteLaplace):
        return _one(losses.discrete_laplace(mechanism.scale, mechanism.sensitivity))
    if isinstance(mechanism, DiscreteGaussian):
        return _one(losses.discrete_gaussian(mechanism.sigma**2, mechanism.sensitivity, digits))
    if isinstance(mechanism, Exponential):
        # losses ±ε/2: two answers, whose scores are equal in one dataset up to Δ each, against each other
        return Pairs(
            losses.BoundedRangeLaw(mechanism.epsilon), losses.randomised_response(mechanism.epsilon / 2), tight=False
        )
    if isinstance(mechanism, Block):
        return _block(mechanism)
    raise UsageError(f"nothing is proved of the mechanism {mechanism!r}")


def attained(event: PrivacyEvent, digits: int) -> losses.LossLaw:
    """Return the law from below; of a claim of ρ that of Gaussian noise with s² = 1/2ρ, which keeps it."""
    if isinstance(event, Block) and isinstance(event.claim, ZeroConcentratedDP) and event.claim.rho:
        return losses.GaussianLaw(1 / (2 * number_of(event.claim.rho)))
    return pairs(event, digits).below


def _block(block: Block) -> Pairs:
    claim = block.claim
    if isinstance(claim, PureDP | ApproxDP):
        epsilon, delta = number_of(claim.epsilon), number_of(claim.delta)
        if not epsilon:
            raise UsageError(f"{block}: a claim with ε = 0 adds only its δ; leave the event out, and add δ yourself")
        if delta >= 1:
            raise UsageError(f"{block}: with δ = 1 the claim promises nothing, and ε is infinite")
        return _one(losses.randomised_response(epsilon, delta))
    if isinstance(claim, GaussianDP):
        if not claim.mu:
            raise UsageError(f"{block}: a claim of μ = 0 adds nothing; leave the event out")
        return _one(losses.GaussianLaw(1 / root_of(claim.mu) ** 2))
    if isinstance(claim, ZeroConcentratedDP) and not claim.rho:
        raise UsageError(f"{block}: a claim of ρ = 0 adds nothing; leave the event out")
    raise UsageError(
        f"{block}: no single pair of distributions dominates what keeps a claim of {claim.notion}, so it does not "
        "compose with others as a curve; give the mechanism itself, or its claim as (ε, δ) or μ"
    )


def _one(law: losses.LossLaw) -> Pairs:
    return Pairs(law, law)
