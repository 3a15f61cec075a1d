"""What changed between two audits, the worst first? The headline of a comparison is the worst of all changes.

The loss of an event is only one thing that may change, and seldom the worst: the verdict may change, the claim may be
weakened, the audit may be about something else, or may detect less. "No change" is said only if there is none of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import Claim
from dpaudit.report.text.bound_kinds import exact_lower
from dpaudit.report.text.numerals import confidence_text, count_text, upper_text
from dpaudit.report.text.phrases import bound_text, claim_words, shortened, symbol
from dpaudit.report.view import view

if TYPE_CHECKING:
    from dpaudit.review.compare.intervals import LossComparison

NO_CHANGE = "No change shown"
# from the best to the worst, for users who rely on the mechanism
_VERDICTS = (
    Verdict.PROVED,
    Verdict.NOT_VIOLATED,
    Verdict.NO_CLAIM,
    Verdict.INCONCLUSIVE,
    Verdict.INVALID,
    Verdict.VIOLATED,
)
_SHORT = 60  # characters of a parameter that still read well in a sentence
_FEWER = 0.95  # of the earlier number of runs; below that it counts as a change


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that changed: as a short heading and as a sentence; ``better``: whether it improved."""

    title: str
    sentence: str
    better: bool = False


def changes(before: Evidence, now: Evidence, comparison: LossComparison) -> list[Change]:
    """Return all changes between two records: the worst first, improvements last."""
    if before.id == now.id:
        return []
    found = [
        *_verdict(before, now),
        *_loss(comparison),
        *_claim(before, now),
        *_beside(before, now),
        *_bounds(before, now),
        *_question(before, now),
        *_power(before, now),
        *_code(before, now),
    ]
    return sorted(found, key=lambda change: change.better)


def heading(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the worst of all changes as a short heading."""
    if before.id == now.id:
        return "The same evidence"
    found = changes(before, now, comparison)
    if found:
        return found[0].title
    return "Not comparable" if comparison.change == "not comparable" else NO_CHANGE


def _turned(what: str, before: str, now: str, better: bool = False) -> Change:
    return Change(f"{what} changed", f"{what} was {before} and is {now}.", better)


# --- what was found ---------------------------------------------------------------------------------------


def _verdict(before: Evidence, now: Evidence) -> Iterator[Change]:
    old, new = before.verdict, now.verdict
    if old is new:
        return
    better = _VERDICTS.index(new) < _VERDICTS.index(old)
    words = f"{str(old).upper()} before, {str(new).upper()} now"
    yield Change(f"The verdict turned: {words}", f"The verdict turned: {words}.", better)


def _loss(comparison: LossComparison) -> Iterator[Change]:
    if comparison.significant:
        how = comparison.change
        if comparison.listed:
            text = f"What is listed certainly loses {how}."
            yield Change(f"The list loses {how}", text, how == "less")
            return
        yield Change(f"The event loses {how}", f"The same event on the same pair loses {how}.", how == "less")


def _beside(before: Evidence, now: Evidence) -> Iterator[Change]:
    old, new = ({found.label: found for found in view(one).beside} for one in (before, now))
    for label, found in new.items():
        if found.is_urgent and not (label in old and old[label].is_urgent):
            yield Change(
                f"{found.name}: found beside the verdict", f"Found beside the verdict now ({label}): {found.line}."
            )
    for label, found in old.items():
        if found.is_urgent and label not in new:
            text = f"What was found beside the verdict ({label}: {found.line}) was not looked for again."
            yield Change(f"{found.name}: not looked at again", text)
        elif found.is_urgent and not new[label].is_urgent:
            yield Change(f"{found.name}: no longer found", f"No longer found beside the verdict: {label}.", True)
        elif label not in new:
            yield Change(f"{found.name}: not looked at any more", f"Not looked at any more: {label}.")


def _bounds(before: Evidence, now: Evidence) -> Iterator[Change]:
    """Yield changes of certain bounds; different sampled bounds show nothing."""
    old, new = before.upper, now.upper
    if old is not None and new is None:
        yield Change("The upper bound is gone", f"{bound_text(old, before.claimed)} was proved, and nothing is now.")
    elif old is None and new is not None:
        yield Change("An upper bound was found", f"{bound_text(new, now.claimed)} is proved now.", True)
    elif old is not None and new is not None and old.value != new.value:
        words = bound_text(old, before.claimed), bound_text(new, now.claimed)
        yield _turned("The upper bound", *words, new.value < old.value and old.notion == new.notion)
    scopes = [None if one.proof is None else one.proof.scope for one in (before, now)]
    if None not in scopes and scopes[0] != scopes[1]:
        yield _turned("What the proof holds for", str(scopes[0]), str(scopes[1]))
    was, is_now = exact_lower(before), exact_lower(now)
    if is_now is not None and (was is None or was.value != is_now.value):
        text = "unknown" if was is None else bound_text(was, before.claimed)
        better = was is not None and is_now.value < was.value
        yield _turned("The exact lower bound", text, bound_text(is_now, now.claimed), better)


# --- what was asked ---------------------------------------------------------------------------------------


def _claim(before: Evidence, now: Evidence) -> Iterator[Change]:
    old, new = before.claimed, now.claimed
    if before.claim == now.claim:
        return
    words = ("none" if old is None else claim_words(old), "none" if new is None else claim_words(new))
    if old is None or (new is not None and _at_least_as_strong(new, old)):
        yield Change("The claim is stronger", f"The claim was {words[0]} and is {words[1]}.", True)
    elif new is None or _at_least_as_strong(old, new):
        yield Change(
            "The claim fell", f"The claim was {words[0]} and is {words[1]}: less is promised, and less is held against."
        )
    else:
        yield Change(
            "The claim is another one", f"The claim was {words[0]} and is {words[1]}, which is another promise."
        )


def _at_least_as_strong(claim: Claim, other: Claim) -> bool:
    """Whether two claims are of the same privacy notion, and the first is at least as strong in every parameter."""
    epsilons = claim.is_point and other.is_point
    same = claim.notion == other.notion and getattr(claim, "order", None) == getattr(other, "order", None)
    return (same or epsilons) and claim.value <= other.value and claim.delta <= other.delta


def _question(before: Evidence, now: Evidence) -> Iterator[Change]:
    """Yield differences that make the later audit one of something else."""
    old, new = before.target, now.target
    if before.relation != now.relation:
        yield _turned("The relation of neighbours", before.relation, now.relation)
    if before.unit != now.unit:
        yield _turned("The unit of privacy", before.unit or "not stated", now.unit or "not stated")
    if old.parameters != new.parameters:
        names = [
            name
            for name in dict.fromkeys([*old.parameters, *new.parameters])
            if name not in old.parameters or name not in new.parameters or old.parameters[name] != new.parameters[name]
        ]
        listed = [_listed(one.parameters, names) for one in (old, new)]
        yield Change("The parameters changed", f"The parameters were {listed[0]} and are {listed[1]}.")
    if old.name != new.name:
        yield _turned("The target", shortened(old.name, _SHORT), shortened(new.name, _SHORT))
    if [(one.digest0, one.digest1) for one in before.pairs] != [(one.digest0, one.digest1) for one in now.pairs]:
        yield Change("The pairs are others", "The two audits ran on other pairs of datasets.")
    if before.observed != now.observed:
        yield _turned(
            "What joins the output", ", ".join(before.observed) or "nothing", ", ".join(now.observed) or "nothing"
        )
    if before.low_bits == "verdict" != now.low_bits:
        yield Change("Low-order bits decide no more", "The low-order bits decided the verdict too, and do not now.")
    fewer = [text for text in now.assumptions if text not in before.assumptions]
    if fewer:
        yield Change("More is taken on trust", f"Taken on trust now: {'; '.join(fewer)}.")


def _listed(parameters: dict[str, object], names: list[str]) -> str:
    return ", ".join(f"{name} = {parameters.get(name, '(none)')}" for name in names)


def _power(before: Evidence, now: Evidence) -> Iterator[Change]:
    """Yield differences in what the audits could detect."""
    if before.confidence != now.confidence:
        words = confidence_text(before.confidence), confidence_text(now.confidence)
        better = now.confidence > before.confidence
        yield Change(
            "The confidence rose" if better else "The confidence fell", "It was {} and is {}.".format(*words), better
        )
    old, new = before.detectable, now.detectable
    if old is not None and not (new is not None and new <= old) and before.claim == now.claim:
        letter = symbol(before)
        later = "nothing" if new is None else f"{letter} = {upper_text(new)}"
        text = f"From {letter} = {upper_text(old)} on a violation would have been found, and now from {later} on."
        yield Change("Less would have been found", text)
    if now.measuring < _FEWER * before.measuring:
        text = f"{count_text(before.measuring)} runs were measured, and {count_text(now.measuring)} now."
        yield Change("Fewer runs were measured", text)


def _code(before: Evidence, now: Evidence) -> Iterator[Change]:
    if before.target.digest != now.target.digest:
        yield Change("The code changed", "The digest of the target's code is another one.")
