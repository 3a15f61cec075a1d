"""What changed between two audits, and does an event lose more than before? As text, as a page and as JSON.

Two lower bounds cannot be compared: each says "at least", and the smaller bound may belong to the larger loss. But one
event on one pair, fixed before either audit measured it, can be: each audit has counts of it, and counts give an
interval for the loss of that event (`dpaudit.stats.joint_region`). If the two intervals do not overlap, the event's
loss has changed. The wording separates what is certain about one event from what is unknown about the mechanism.

An audit reports its most revealing event, so each of its intervals gets a share of the error, and all of them hold
simultaneously. The two audits get half of the error each, so that they need not be independent; audits with the same
seed may have drawn the same noise.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Verdict, round_outward
from dpaudit.privacy import Claim, parse_claim
from dpaudit.report.document import (
    Bar,
    Bars,
    Bullets,
    Cells,
    Page,
    Text,
    TextCell,
    number,
    plainly,
    said,
    section,
    table,
)
from dpaudit.report.html.templates import drawn_page
from dpaudit.report.text.phrases import (
    COUNTEREXAMPLE,
    NBSP,
    bound_text,
    claim_text,
    claim_words,
    confidence_text,
    count_text,
    exact_lower,
    lower_text,
    one_line,
    sampled_lower,
    shortened,
    symbol,
    upper_text,
)
from dpaudit.report.view import view
from dpaudit.stats import joint_region, methods

_LISTED = "accounting"  # the method of an interval that is about a whole list of releases
_EVEN = 0.7071  # 1/√2: equal weights for both counts of an event with many degrees, which has no weight of its own


@dataclass(frozen=True, slots=True)
class EventLoss:
    """One measured event, and an interval for its loss."""

    event: str  # which outputs speak for which side, in words
    pair: tuple[str, str]  # digests of the two datasets
    parameter: str  # the parameter of the ends: "epsilon", "mu" or "rho"; at ``delta`` or a Rényi ``order``, else 0
    delta: float
    order: float
    method: str  # the method of the bound; for many degrees, that of an event with two sides
    runs: tuple[int, int]  # measuring runs of both sides
    # low, high: exact limits, rounded outward; ``high`` is ∞ if the counts do not exclude any loss
    low: float
    high: float
    considered: int  # how many events of the audit have an interval; they share the error


@dataclass(frozen=True, slots=True)
class LossComparison:
    """The losses of two events, of an earlier audit and of a later one."""

    # before, after: None if an audit measured nothing that gives an interval
    before: EventLoss | None
    after: EventLoss | None
    confidence: float  # that both intervals hold
    obstacle: str  # why the two intervals cannot be compared, as a sentence; empty if both are about the same event

    @property
    def change(self) -> str:
        """Return "more", "less" or "none shown", or "not comparable"."""
        if self.obstacle or self.before is None or self.after is None:
            return "not comparable"
        if self.after.low > self.before.high:
            return "more"
        return "less" if self.after.high < self.before.low else "none shown"

    @property
    def listed(self) -> bool:
        """Whether the intervals are about whole lists of releases."""
        return self.before is not None and self.before.method == _LISTED

    @property
    def significant(self) -> bool:
        """Whether the loss of one event on one pair has changed, at the confidence."""
        return self.change in ("more", "less")


def compare(before: Evidence, after: Evidence) -> LossComparison:
    """Compare the losses of two audits from their counts.

    If both audits measured the same event on the same pair, that event is compared (the most revealing one in the later
    audit). Otherwise the most revealing event of each is returned, and they are not comparable.
    """
    if before.accounting is not None and after.accounting is not None:
        return _certified(before, after)
    old, new = _measured(before), _measured(after)
    # ordered by their bounds, and for equal bounds by their place
    pairs = [(i, k) for k in _ranked(new) for i in _ranked(old) if not _obstacle(old[i], new[k], before, after)]
    i, k = pairs[0] if pairs else (next(iter(_ranked(old)), None), next(iter(_ranked(new)), None))
    first = None if i is None else _interval(old[i], before, len(old))
    second = None if k is None else _interval(new[k], after, len(new))
    error = ((1 - before.confidence) + (1 - after.confidence)) / 2
    return LossComparison(first, second, 1 - error, _why_not(before, after, old, new, i, k))


def _certified(before: Evidence, after: Evidence) -> LossComparison:
    """Compare two lists of releases by their certified intervals, which are about all that they list."""
    first, second = _both_bounds(before), _both_bounds(after)
    obstacle = ""
    other = first.parameter == "delta" and before.lower.notion != after.lower.notion  # at another ε
    if other or (first.parameter, first.delta, before.relation) != (second.parameter, second.delta, after.relation):
        obstacle = "The two intervals are of different parameters, at a different δ or ε, or about other neighbours."
    return LossComparison(first, second, 1.0, obstacle)


def _both_bounds(evidence: Evidence) -> EventLoss:
    low, upper = evidence.lower, evidence.upper
    high = math.inf if upper is None else upper.value
    name = evidence.target.name
    return EventLoss(name, ("", ""), low.parameter, low.delta, 0.0, _LISTED, (0, 0), low.value, high, 1)


def _measured(evidence: Evidence) -> list[Bound]:
    """Return the bounds whose events, and numbers of runs, were fixed in advance.

    Runs that cannot be trusted are ignored. The second look at a counterexample is left out, since whether it was taken
    depended on the first.
    """
    if evidence.verdict is Verdict.INVALID:
        return []
    bounds, looked = [], False
    for attempt in evidence.attempts:
        again, looked = looked and attempt.name == COUNTEREXAMPLE, looked or attempt.name == COUNTEREXAMPLE
        if not again and _is_countable(attempt.bound):
            bounds.append(attempt.bound)
    return bounds


def _is_countable(bound: Bound) -> bool:
    counted = bound.counts is not None and bound.event is not None and bound.pair is not None
    return counted and bound.arithmetic == "real" and methods.method_of(_method(bound)).interval


def _ranked(bounds: Sequence[Bound]) -> list[int]:
    return sorted(range(len(bounds)), key=lambda number: -bounds[number].value)


def _method(bound: Bound) -> str:
    """Return the method for the loss of an event; one with many degrees counts as an event with two sides."""
    if isinstance(bound.weight, tuple):
        return methods.BOTH_SIDES
    return methods.plain(bound.method)  # the variant for few runs only orders the outcomes


def _interval(bound: Bound, evidence: Evidence, considered: int) -> EventLoss:
    assert bound.counts is not None and bound.event is not None
    notion, method = parse_claim(bound.notion), _method(bound)
    weight = _EVEN if isinstance(bound.weight, tuple) else bound.weight
    error = (1 - evidence.confidence) / 2 / considered
    low, high = joint_region.loss_interval(method, bound.counts, claim=notion, weight=weight, error=error)
    return EventLoss(
        event=bound.event.words,
        pair=_pair(bound, evidence),
        parameter=notion.parameter,
        delta=notion.delta,
        order=float(getattr(notion, "order", 0.0)),
        method=method,
        runs=bound.counts.runs,
        low=round_outward(low, "lower"),
        high=round_outward(high, "upper"),
        considered=considered,
    )


def _pair(bound: Bound, evidence: Evidence) -> tuple[str, str]:
    pair = evidence.pairs[bound.pair or 0]
    return pair.digest0, pair.digest1


def _why_not(
    before: Evidence, after: Evidence, old: Sequence[Bound], new: Sequence[Bound], i: int | None, k: int | None
) -> str:
    if i is not None and k is not None:
        return _obstacle(old[i], new[k], before, after)
    who = (
        "Neither audit"
        if i is None and k is None
        else "Only the later audit"
        if i is None
        else "Only the earlier audit"
    )
    return f"{who} measured an event whose loss can be bounded from both sides."


def _obstacle(old: Bound, new: Bound, before: Evidence, after: Evidence) -> str:
    """Say why two events cannot be compared; empty if they can."""
    assert old.event is not None and new.event is not None
    if _pair(old, before) != _pair(new, after):
        return "The two audits measured on different pairs of datasets, so each interval is about its own pair."
    if old.event.rules != new.event.rules:
        return (
            "The two audits measured different events, so each interval is about what its own event shows; a gate "
            "with a baseline counts the earlier event again."
        )
    notions = [parse_claim(bound.notion).with_value(0.0) for bound in (old, new)]
    if notions[0] != notions[1]:
        one, other = (_unit(bound) for bound in (old, new))
        return f"One audit is about {one} and the other about {other}, which are not the same thing."
    if _method(old) != _method(new):
        return "The two audits read the loss of the event in different ways, which give different numbers."
    return ""


def _unit(bound: Bound) -> str:
    notion = parse_claim(bound.notion)
    order = getattr(notion, "order", None)
    at = f" at order{NBSP}{claim_text(order)}" if order is not None else ""
    return notion.symbol + (f" at δ{NBSP}={NBSP}{claim_text(notion.delta)}" if notion.delta > 0 else at)


# --- What changed between two audits, the worst first? The headline of a comparison is the worst of all changes. ---
#
# The loss of an event is only one thing that may change, and seldom the worst: the verdict may change, the claim may be
# weakened, the audit may be about something else, or may detect less. "No change" is said only if there is none of
# these.

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
    changes_seen = [
        *_verdict(before, now),
        *_loss(comparison),
        *_claim(before, now),
        *_beside(before, now),
        *_bounds(before, now),
        *_question(before, now),
        *_power(before, now),
    ]
    if before.target.digest != now.target.digest:
        changes_seen.append(Change("The code changed", "The digest of the target's code is another one."))
    return sorted(changes_seen, key=lambda change: change.better)


def heading(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the worst of all changes as a short heading."""
    if before.id == now.id:
        return "The same evidence"
    listed = changes(before, now, comparison)
    if listed:
        return listed[0].title
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
    old, new = ({row.label: row for row in view(one).beside} for one in (before, now))
    for label, row in new.items():
        if row.is_urgent and not (label in old and old[label].is_urgent):
            yield Change(
                f"{row.name}: found beside the verdict", f"Found beside the verdict now ({label}): {row.line}."
            )
    for label, row in old.items():
        if row.is_urgent and label not in new:
            text = f"What was found beside the verdict ({label}: {row.line}) was not looked for again."
            yield Change(f"{row.name}: not looked at again", text)
        elif row.is_urgent and not new[label].is_urgent:
            yield Change(f"{row.name}: no longer found", f"No longer found beside the verdict: {label}.", True)
        elif label not in new:
            yield Change(f"{row.name}: not looked at any more", f"Not looked at any more: {label}.")


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
        listed = [", ".join(f"{name} = {one.parameters.get(name, '(none)')}" for name in names) for one in (old, new)]
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


# --- What changed between two audits, and does an event lose more than before? As text, as a page and as JSON. ---

FORMAT = "dpaudit-comparison"
CAUTION_LISTED = "Both are about what is listed, in real arithmetic; that the programs do it was not checked."
CAUTION = (
    "An interval is about the loss of one event. Its upper end says nothing of other events, and so nothing of how "
    "much the mechanism loses at most."
)
_SYMBOLS = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}
_WIDTH = 100  # columns of a terminal, wide enough for three columns of text
_LABEL, _COLUMN = 15, 40  # columns for the names, and for each record


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One thing that both records state, as JSON values and as text for people."""

    key: str
    name: str
    before: Any
    now: Any
    before_text: str
    now_text: str

    @property
    def differs(self) -> bool:
        """Whether the records differ, even if rounding makes their texts equal."""
        return bool(self.before != self.now)


def rows(before: Evidence, now: Evidence) -> list[ComparedRow]:
    """Return everything that is compared between the two records, in reading order."""
    old, new = dict(_stated(before)), dict(_stated(now))
    return [
        ComparedRow(key, name, old[key, name][0], new[key, name][0], old[key, name][1], new[key, name][1])
        for key, name in new
    ]


def sentence(comparison: LossComparison, *, same: bool = False) -> str:
    """Say what the two intervals show; ``same``: both records are the same."""
    if same:
        return "Both are the same evidence, so there is nothing to compare."
    before, after = comparison.before, comparison.after
    if comparison.obstacle or before is None or after is None:
        return f"Whether the loss changed cannot be said. {comparison.obstacle}".strip()
    then, later = interval_text(before), interval_text(after)
    if comparison.listed:
        text = f"What is listed lost {then} before and loses {later} now"
        if comparison.significant:
            return f"{text}: certainly {comparison.change} than before."
        return f"{text}. The intervals meet, so that no change is certain."
    text = f"The same event on the same pair lost {then} before and loses {later} now"
    sure = f"{confidence_text(comparison.confidence)} confidence"
    if comparison.significant:
        return f"{text}: {comparison.change} than before, at {sure}."
    return (
        f"{text}. The intervals meet: no change of its loss is shown at {sure}, which does not show that there is none."
    )


def caution(comparison: LossComparison) -> str:
    """Say what the intervals are not about."""
    return CAUTION_LISTED if comparison.listed else CAUTION


def interval_text(loss: EventLoss) -> str:
    """Return the text of an interval with its ends rounded outward: ε between 0.9 and 1.1."""
    letter = _SYMBOLS.get(loss.parameter, loss.parameter)
    at = f" at δ{NBSP}={NBSP}{claim_text(loss.delta)}" if loss.delta > 0 else ""
    at += f" at order{NBSP}{claim_text(loss.order)}" if loss.order > 0 else ""
    if math.isinf(loss.high):
        return f"{letter}{NBSP}≥{NBSP}{lower_text(loss.low)}{at}, with no upper end"
    return f"{letter} between {lower_text(loss.low)} and {upper_text(loss.high)}{at}"


def compare_text(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the comparison as text for a terminal."""
    listed = changes(before, now, comparison)
    changed = [f"{'Better' if change.better else 'Changed'}: {change.sentence}" for change in listed]
    said = [
        f"{heading(before, now, comparison)}.",
        *changed,
        sentence(comparison, same=before.id == now.id),
        caution(comparison),
    ]
    lines = [line for text in said for line in textwrap.wrap(one_line(text), _WIDTH)]
    lines += ["", _line("", "before", "now", " ")]
    for row in rows(before, now):
        lines += _wrapped(row)
    lines += _wrapped(
        ComparedRow("", "event's loss", *_ends(comparison), *_ends(comparison)), mark=comparison.significant
    )
    return "\n".join(line.rstrip() for line in lines) + "\n\n* differs\n"


def compare_page(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the comparison as one self-contained HTML page."""
    said_of = [f"{'Better: ' if change.better else ''}{change.sentence}" for change in changes(before, now, comparison)]
    measured = [("Before", comparison.before), ("Now", comparison.after)]
    drawn = bars([(name, loss) for name, loss in measured if loss is not None])
    label = "The intervals of the table below, on one axis from 0"
    sure = confidence_text(comparison.confidence)
    losses = table("compare", [_loss_row(name, loss) for name, loss in measured], sure=sure)
    stated = [
        (row.name, row.before_text, row.now_text, TextCell("yes", "differs") if row.differs else "no")
        for row in rows(before, now)
    ]
    sections = [
        section(
            "loss",
            Bullets(said_of, "") if said_of else None,
            Text(sentence(comparison, same=before.id == now.id), "sentence"),
            Text(caution(comparison), "caution"),
            title=heading(before, now, comparison),
            kind="verdict",
        ),
        section("compare", Bars(label, drawn) if drawn else None, losses),
        section("changes", Text(said("changes.apart")), table("changes", stated)),
    ]
    names, footer = [one.target.name for one in (before, now)], plainly("compare.footer")
    title, lead = f"{' and '.join(names)}: what changed", " and ".join(dict.fromkeys(names))
    top = (title, "Two differential privacy audits", "What changed")
    return drawn_page(Page(*top, sections, lead, "compare", footer=footer))


def _loss_row(name: str, loss: EventLoss | None) -> Cells:
    if loss is None:
        return name, TextCell(plainly("compare.none"), columns=4)
    runs = number(f"{count_text(loss.runs[0])} and {count_text(loss.runs[1])}")
    return name, interval_text(loss), loss.event, f"{loss.method}, one of {loss.considered}", runs


def compare_json(before: Evidence, now: Evidence, comparison: LossComparison) -> str:
    """Return the comparison as JSON; infinities are the text "inf", as in evidence."""
    document = {
        "format": FORMAT,
        "version": 1,
        "before": before.id,
        "now": now.id,
        "headline": heading(before, now, comparison),
        "found": [
            {"title": one_line(change.title), "sentence": one_line(change.sentence), "better": change.better}
            for change in changes(before, now, comparison)
        ],
        "changes": [
            {"key": row.key, "before": row.before, "now": row.now, "differs": row.differs} for row in rows(before, now)
        ],
        "loss": {
            "before": _loss_values(comparison.before),
            "now": _loss_values(comparison.after),
            "confidence": comparison.confidence,
            "change": comparison.change,
            "significant": comparison.significant,
            "obstacle": comparison.obstacle.replace(NBSP, " "),
            "caution": caution(comparison),
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# --- what the records state -------------------------------------------------------------------------------


def _stated(evidence: Evidence) -> Iterator[tuple[tuple[str, str], tuple[Any, str]]]:
    """Yield ((key, name), (value, text)) for everything that is compared."""
    record, shown = evidence.record(), view(evidence)
    own, pairs = record["target"], [[pair["digest0"], pair["digest1"]] for pair in record["pairs"]]
    versions = dict(sorted(record["versions"].items()))
    yield ("id", "Evidence"), (evidence.id, evidence.id)
    yield ("target", "Target"), (own["name"], shown.cell("target"))
    yield ("digest", "Code digest"), (own["digest"], shown.cell("digest"))
    yield ("parameters", "Parameters"), (own["parameters"], shown.cell("parameters"))
    yield ("claim", "Claim"), (record["claim"], shown.cell("claim"))
    yield ("relation", "Neighbours"), (record["relation"], shown.cell("relation"))
    yield ("unit", "Unit of privacy"), (record["unit"], shown.cell("unit"))
    yield ("pairs", "Pairs"), (pairs, "; ".join(f"{a[:12]}… and {b[:12]}…" for a, b in pairs) or "none")
    yield ("asks", "Kind of function"), (own["asks"], shown.cell("asks"))
    yield ("versions", "Versions"), (versions, ", ".join(f"{name} {text}" for name, text in versions.items()))
    yield ("seed", "Seed"), (record["seed"], shown.cell("seed"))
    runs = f"{count_text(evidence.learning)} learning, {count_text(evidence.measuring)} measuring"
    yield ("runs", "Runs"), ([record["learning"], record["measuring"]], runs)
    yield ("confidence", "Confidence"), (evidence.confidence, confidence_text(evidence.confidence))
    yield ("verdict", "Verdict"), (str(evidence.verdict), shown.headline.word)
    yield ("sampled", "Lower, sampled"), (_bound(sampled_lower(evidence)), shown.sure("sampled"))
    if evidence.accounting is None:
        yield ("exact", "Lower, exact"), (_bound(exact_lower(evidence)), shown.sure("exact"))
    else:
        yield ("exact", "Lower, exact"), (_bound(evidence.lower), shown.cell("lower"))
    yield ("upper", "Upper"), (_bound(evidence.upper), shown.sure("upper"))
    scope = None if evidence.proof is None else evidence.proof.scope
    yield ("scope", "Proof for"), (None if scope is None else one_line(scope), scope or "none")
    yield ("low_bits", "Low-order bits"), (_bound(evidence.floating_point), shown.sure("low bits"))
    also = [f"{row.label}: {row.line}" for row in shown.beside]
    yield ("beside", "Beside verdict"), ([one_line(line) for line in also], "; ".join(also) or "nothing")


def _bound(bound: Bound | None) -> dict[str, Any] | None:
    if bound is None:
        return None
    return {
        "value": _json_number(bound.value),
        "parameter": bound.parameter,
        "kind": bound.kind,
        "confidence": bound.confidence,
        "delta": bound.delta,
    }


def _json_number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _loss_values(loss: EventLoss | None) -> dict[str, Any] | None:
    if loss is None:
        return None
    return {
        **asdict(loss),
        "event": one_line(loss.event),
        "low": _json_number(loss.low),
        "high": _json_number(loss.high),
    }


# --- how it is laid out -----------------------------------------------------------------------------------


def bars(losses: Sequence[tuple[str, EventLoss]]) -> list[Bar]:
    """Return intervals on an axis from 0, by name; an infinite end is drawn at the edge."""
    ends = [end for _, loss in losses for end in (loss.low, loss.high) if math.isfinite(end)]
    most = max(ends, default=0.0) * 1.15 or 1.0
    drawn = []
    for name, loss in losses:
        left = 100 * min(loss.low / most, 1.0) if math.isfinite(loss.low) else 99.0
        right = 100 * loss.high / most if math.isfinite(loss.high) else 100.0
        width, is_open = max(right - left, 0.6), math.isinf(loss.high)
        drawn.append(Bar(name, interval_text(loss), round(left, 2), round(width, 2), is_open))
    return drawn


def _ends(comparison: LossComparison) -> tuple[str, str]:
    before, after = ("none" if loss is None else interval_text(loss) for loss in (comparison.before, comparison.after))
    return before, after


def _wrapped(row: ComparedRow, *, mark: bool | None = None) -> list[str]:
    """Return a row of the table, with each column wrapped to its width."""
    one, other = (textwrap.wrap(one_line(text), _COLUMN) or [""] for text in (row.before_text, row.now_text))
    height = max(len(one), len(other))
    one, other = one + [""] * (height - len(one)), other + [""] * (height - len(other))
    differs = row.differs if mark is None else mark
    return [
        _line(row.name if number == 0 else "", left, right, "*" if differs and number == 0 else " ")
        for number, (left, right) in enumerate(zip(one, other, strict=True))
    ]


def _line(name: str, left: str, right: str, mark: str) -> str:
    return f"{mark} {name:<{_LABEL}} {left:<{_COLUMN}}  {right}"
