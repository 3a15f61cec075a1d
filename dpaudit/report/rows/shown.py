"""What do runs, proofs and exact numbers show? Bounds, their events, and what would have been detected."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpaudit.evidence.event import DATASETS, Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counts, Proof, Scores, Verdict
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.accuracy import accuracy_line, accuracy_sentences
from dpaudit.report.text.bound_kinds import (
    contradicting,
    counterexample_attempt,
    exact_lower,
    is_proof,
    proved_for,
    sampled_lower,
    unconfirmed,
    without_bound,
)
from dpaudit.report.text.chain import chain
from dpaudit.report.text.headline import decisive, doubt_sentence, second_text
from dpaudit.report.text.numerals import count_text, estimate_text, share_text, upper_text
from dpaudit.report.text.phrases import (
    certainty,
    detectable_text,
    full_text,
    gaussian_text,
    guesses_text,
    lacks_line,
    rate_text,
    shortened,
    symbol,
    yardstick,
)
from dpaudit.stats.methods import SEQUENTIAL


def bounds(evidence: Evidence) -> Iterator[Row]:
    """Yield the lower and upper bounds; proved, exact and sampled ones each in their own row."""
    lower, invalid = evidence.lower, evidence.verdict is Verdict.INVALID
    yield Row(
        "lower",
        "",
        "Lower bound",
        "–" if invalid else _cell(lower, evidence),
        note="" if invalid else _sure(lower),
        importance=Importance.OWN,
        order=math.nan if invalid else max(lower.value, 0.0),
    )
    if is_proof(evidence):
        yield from _proved(evidence)
        yield from _exact(evidence)
        yield from _sampled(evidence)
        return
    how = f"sampled, {certainty(lower)}" if lower.kind == "sampled" else certainty(lower)
    key, kind = ("sampled", "counted in runs") if lower.kind == "sampled" else ("exact", "exact")
    yield _lower(key, "lower bound", kind, lower, evidence, f"{_shown(lower, evidence)} ({how})")
    upper = evidence.upper
    if upper is not None:
        line = f"{_cell(upper, evidence)} ({certainty(upper)})"
        yield _bound("upper", "upper bound", _upper_name(upper), upper, evidence, line)


def _cell(bound: Bound, evidence: Evidence) -> str:
    return "none above 0" if _is_nothing(bound) else full_text(bound, evidence.claimed)


def _sure(bound: Bound) -> str:
    return "" if _is_nothing(bound) else certainty(bound)


def _is_nothing(bound: Bound) -> bool:
    return bound.side == "lower" and bound.value <= 0


def _shown(bound: Bound, evidence: Evidence) -> str:
    return f"none above 0 was shown for {symbol(evidence)}" if _is_nothing(bound) else _cell(bound, evidence)


def _bound(key: str, label: str, name: str, bound: Bound, evidence: Evidence, line: str, more: str = "") -> Row:
    cell, sure = _cell(bound, evidence), _sure(bound)
    text = f"{cell} {sure}".rstrip() + more
    return Row(key, label, name, cell, line, text, sure, Importance.SUMMARY, "bounds", bound.value)


def _lower(key: str, label: str, kind: str, bound: Bound, evidence: Evidence, line: str) -> Row:
    name = f"Lower bound, {kind}"
    if bound.kind == "sampled" and evidence.verdict is Verdict.INVALID:  # numbers from invalid runs are not shown
        return Row(key, label, name, "not used", importance=Importance.OWN, section="bounds")
    return _bound(key, label, name, bound, evidence, line)


def _upper_name(upper: Bound) -> str:
    return f"Upper bound, {'proved' if upper.kind == 'proof' else upper.kind}"


def _proved(evidence: Evidence) -> Iterator[Row]:
    proof, upper = evidence.proof, evidence.upper
    if upper is not None:
        doubt = "" if contradicting(evidence) is None else ", contradicted by the runs"
        line = f"{_cell(upper, evidence)}, {proved_for(proof)}{doubt}{_read(proof)}"
        more = doubt if proof is None else f", {proved_for(proof)}{doubt}: {proof.scope}"
        yield _bound("upper", "proved", _upper_name(upper), upper, evidence, line, more)
        links = chain(evidence)
        if links is not None:
            yield Row("chain", "released", "Releases", links.brief, importance=Importance.SUMMARY)
    elif proof is not None:
        why = without_bound(evidence)
        what = "a bound that is not accepted" if proof.is_refused else "no finite bound"
        line, name = f"{what}{_read(proof)}; {why}", "Upper bound, proved"
        yield Row("upper", "proved", name, "none found", line, f"none; {why}", "", Importance.SUMMARY, "bounds")


def _read(proof: Proof | None) -> str:
    if proof is None:
        return ""
    return f" ({proof.method}, {count_text(proof.paths)} path{'' if proof.paths == 1 else 's'})"


def _exact(evidence: Evidence) -> Iterator[Row]:
    bound = exact_lower(evidence)
    if bound is not None:
        line = f"{full_text(bound, evidence.claimed)}, certain, on one pair"
        yield _lower("exact", "exact", "exact", bound, evidence, line)


def _sampled(evidence: Evidence) -> Iterator[Row]:
    bound = sampled_lower(evidence)
    if bound is not None and unconfirmed(evidence):
        name, text = "Lower bound, counted in runs", "more than is claimed at first; fresh runs did not confirm it"
        yield Row("sampled", "sampled", name, "not confirmed", text, text, "", Importance.SUMMARY, "bounds", 0.0)
    elif bound is not None:
        line = f"{_shown(bound, evidence)} ({certainty(bound)})"
        yield _lower("sampled", "sampled", "counted in runs", bound, evidence, line)
    elif evidence.verdict is not Verdict.INVALID:
        name, nothing = "Lower bound, counted in runs", "nothing was run"
        yield Row("sampled", "sampled", name, "none", nothing, nothing, "", Importance.SUMMARY, "bounds")


# --- events and scores ------------------------------------------------------------------------------------


def events(evidence: Evidence) -> Iterator[Row]:
    """Yield the event that showed most in the runs, and the event that the verdict rests on if it is another."""
    decided, violated = decisive(evidence), evidence.verdict is Verdict.VIOLATED
    event, counts = _most_telling(evidence)
    other = decided.event if violated and decided.counts is not None and decided.event != event else None
    scores = None if is_proof(evidence) else evidence.scores
    if scores is not None:
        design = _DESIGNS.get(scores.design, scores.design)
        if scores.canaries is not None:
            design = f"one model; a fair coin for each of {count_text(scores.canaries)} canaries, not all with a score"
        yield _score("design", "design", "Design", design)
    names = DATASETS if scores is None else ("members", "others")
    if scores is not None and scores.design == "one-run" and evidence.lower.counts is not None:
        yield _score("guesses", "guesses", "Guesses", guesses_text(evidence.lower))
    elif event is not None:
        label = "last event" if evidence.lower.method == SEQUENTIAL else "event"
        yield from _event("event", label, event, counts, Importance.BRIEF, names)
    if scores is not None:
        yield from _rates(scores)
    if other is not None:
        yield from _event("decided", "decided by", other, decided.counts, Importance.FULL, names)


def _most_telling(evidence: Evidence) -> tuple[Event | None, Counts | None]:
    """Return the event of the runs, or of the counterexample, and its counts if it was measured."""
    if not is_proof(evidence):
        return evidence.lower.event, evidence.lower.counts
    if evidence.verdict is Verdict.INVALID:
        return None, None
    found, attempt = evidence.counterexample, counterexample_attempt(evidence)
    if attempt is not None:
        return attempt.bound.event, attempt.bound.counts
    return (None if found is None else found.event), None


def _event(
    key: str, label: str, event: Event, counts: Counts | None, importance: Importance, names: tuple[str, str]
) -> Iterator[Row]:
    for side in (0, 1):
        if not event.toward(side):
            continue
        text = f"points to {names[side]}: {shortened(event.describe(side), 400)}"
        yield Row(key, label, "Event", text, importance=importance)
        label = ""
        if counts is not None:
            hits = counts.toward0 if side == 0 else counts.toward1
            shares = [
                f"{brief} {count_text(hits[own])} of {count_text(counts.runs[own])}"
                + (f" ({share_text(hits[own] / counts.runs[own])})" if counts.runs[own] else "")
                for own, brief in enumerate(each.removeprefix("the ").removesuffix(" dataset") for each in names)
            ]
            seen = ", ".join(shares)
            yield Row(key, "", "Seen", seen, f"seen: {seen}", importance=importance)


_DESIGNS = {
    "independent": "a training run for every score",
    "one-run": "all scores from one model; a fair coin included each canary, or not",
}


def _rates(scores: Scores) -> Iterator[Row]:
    """Yield what the scores show besides the bound."""
    yield _score("rates", "true pos.", "True positives", ", ".join(rate_text(rate) for rate in scores.rates))
    estimate = gaussian_text(scores)
    if estimate:
        yield _score("gaussian", "if Gaussian", "If Gaussian", f"{estimate}, an estimate that decides nothing")


def _score(key: str, label: str, name: str, text: str) -> Row:
    return Row(key, label, name, text, importance=Importance.SUMMARY)


# --- looks, power and runs --------------------------------------------------------------------------------


def second_look(evidence: Evidence) -> Iterator[Row]:
    """Yield the result of a second look, and what an unconfirmed bound above the claim means."""
    text, doubt = second_text(evidence), doubt_sentence(evidence)
    if text is not None:
        yield Row("second", "second look", "Second look", text, importance=Importance.BRIEF)
    if doubt:  # the headline says this already
        yield Row("doubt", "", "No violation", doubt, importance=Importance.OWN)


def power(evidence: Evidence) -> Iterator[Row]:
    """Yield the smallest violation that would have been found, and the true loss if it is known in theory."""
    smallest, found = detectable_text(evidence), evidence.detectable
    if smallest is not None and found is not None and evidence.verdict is not Verdict.INVALID:
        how = "" if math.isinf(found) else f", with probability 0.9 {yardstick(evidence)}"
        cell, line = upper_text(found), smallest + how
        # who has to look for a line at fault does not ask how large a violation would have been found
        kept = Importance.FULL if lacks_line(evidence) else Importance.SUMMARY
        yield Row("detectable", "detectable", "Would have been found", cell, line, line, "", kept, "power", found)
    true = evidence.target.true_loss
    if true is not None:
        cell = "∞" if math.isinf(true) else estimate_text(true, 5)
        yield Row("loss", "", "True loss on the pairs", cell, importance=Importance.OWN, order=true)


def accuracy(evidence: Evidence) -> Iterator[Row]:
    """Yield how far outputs are from the exact answer."""
    found = evidence.accuracy
    if found is not None:
        line, text = accuracy_line(found), " ".join(accuracy_sentences(found))
        yield Row("accuracy", "accuracy", "Accuracy", line, line, text, importance=Importance.SUMMARY)


def runs(evidence: Evidence) -> Iterator[Row]:
    """Yield how often the mechanism was run, and for which purpose."""
    count, line = count_text(evidence.runs), _runs(evidence)
    yield Row("runs", "runs", "Runs", count, line, line, importance=Importance.SUMMARY, order=evidence.runs)


def _runs(evidence: Evidence) -> str:
    if is_proof(evidence) and not evidence.runs:
        return "none"
    pairs = len(evidence.pairs)
    searching = "" if evidence.search is None else f"{count_text(evidence.search.runs)} searching, "
    again = "" if evidence.second is None else f", {count_text(sum(evidence.second.counts.runs))} second look"
    how = f"{searching}{count_text(evidence.learning)} learning, {count_text(evidence.measuring)} measuring{again}"
    if evidence.sequential is not None:
        limit = count_text(evidence.budget)
        how = f"stopped early, of at most {limit}" if evidence.sequential.stopped else "all that were allowed"
        how += "; each bet on as it came"
    text = f"{count_text(evidence.runs)} ({how}; {pairs} pair{'' if pairs == 1 else 's'})"
    text += "; each with its run time" if "time" in evidence.observed else ""
    return text if evidence.reproducible else text + "; not reproducible"
