"""How does a question stand in its evidence, and what do the counts of an event become there?"""

from __future__ import annotations

from dpaudit.auditing.question import Question
from dpaudit.events import SelectedEvent, needed_by
from dpaudit.evidence.build import Subject, sampled_bound
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.evidence.event import Event
from dpaudit.evidence.installed import installed_versions
from dpaudit.evidence.records import Attempt, Bound, Counts, Target
from dpaudit.loading.named import public_name
from dpaudit.privacy import Claim
from dpaudit.sampling.blocks import Reading
from dpaudit.stats.joint_region import lower_bound
from dpaudit.targets.signature import Shape


def target_of(question: Question) -> Target:
    """Return the record that describes the audited mechanism."""
    mechanism = question.mechanism
    usual = "run by run" if question.unread is None else f"run by run: {question.unread}"
    programs = str(question.reading) if question.reading is not Reading.CALLS else "run by run"
    rewritten = "rewritten" if question.called is None else f"rewritten; called in each run: {question.called}"
    kinds = {Shape.PROGRAM: programs, Shape.SAMPLER: "sampler", Shape.READ: rewritten}
    reading = kinds.get(question.runs_as, usual)
    own_pairs = not question.given_pairs
    return Target(
        name=public_name(mechanism),
        digest=mechanism.digest,
        parameters={name: plain_value(value) for name, value in question.parameters.items()},
        asks=str(mechanism.shape),
        reading=reading,
        summary=mechanism.summary,
        source=mechanism.source,
        true_loss=mechanism.true_loss_for(question.parameters) if own_pairs else None,
    )


def versions_of(question: Question, learn: str | None = None) -> dict[str, str]:
    """Return the versions of everything that the evidence depends on; ``learn`` names the requested learner."""
    needed = (*needed_by(learn), *(("numba",) if question.reading is Reading.COMPILED else ()))
    return {**installed_versions(*needed), **question.mechanism.versions}


def subject_of(question: Question, target: Target | None = None, learn: str | None = None) -> Subject:
    """Return what the evidence says about a question."""
    return Subject(
        target=target_of(question) if target is None else target,
        claim=question.claim,
        notion=question.notion,
        relation=str(question.relation),
        unit=question.mechanism.unit,
        pairs=question.records,
        seed=question.seed,
        confidence=question.confidence,
        versions=versions_of(question, learn),
        assumptions=question.assumptions,
        low_bits=question.floating_point if question.reads_low_bits else "ignore",
        learn=question.learn,
        reproducible=question.reproducible,
        observed=question.observe,
        types=question.types,
        block_size=question.block_size,
    )


def attempt_of(
    choice: SelectedEvent,
    counts: Counts,
    notion: Claim,
    *,
    error: float,
    pair: int,
    assumes: tuple[str, ...],
    arithmetic: str = "real",
) -> Attempt:
    """Return a measured event with its bound."""
    bound = measured_bound(
        choice.method,
        counts,
        notion,
        weight=choice.weight,
        event=choice.event,
        error=error * choice.share,
        pair=pair,
        assumes=assumes,
        arithmetic=arithmetic,
    )
    return Attempt(pair, choice.name, bound, choice.considered)


def measured_bound(
    method: str,
    counts: Counts,
    notion: Claim,
    *,
    weight: float | tuple[float, ...] | None,
    error: float,
    pair: int,
    assumes: tuple[str, ...],
    event: Event | None = None,
    arithmetic: str = "real",
) -> Bound:
    """Return the lower bound that counts give by a method."""
    confidence = 1 - error
    own = 1 - confidence  # as computed from the confidence in the evidence
    value = lower_bound(method, counts, claim=notion, weight=weight, error=own)
    return sampled_bound(
        value,
        notion,
        method=method,
        confidence=confidence,
        weight=weight,
        counts=counts,
        event=event,
        pair=pair,
        arithmetic=arithmetic,
        assumes=assumes,
    )
