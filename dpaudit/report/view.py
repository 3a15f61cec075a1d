"""What should every rendering of evidence show? One view, made from evidence alone, from which all of them select.

Every row that a rendering shows is made here, or with its subject in `dpaudit.report.text`. A rendering selects rows by
their importance, or one row by its key, and lays them out. It never makes its own rows, so that nothing important is
forgotten in any of them.

A verdict answers one question: do the runs, with outputs as real numbers, show more than the claim allows? Everything
else that an audit or a proof finds is a row too. Full renderings show all rows; the shortest, a row of a table, shows
those that are worse than the verdict (`Row.is_urgent`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dpaudit.evidence.event import DATASETS, Event
from dpaudit.evidence.evidence import Evidence, qualified
from dpaudit.evidence.records import Bound, Counts, Proof, Scores, Verdict
from dpaudit.privacy.claims import number_text
from dpaudit.report.document import Importance, Row
from dpaudit.report.text import reproduce, reviewer, verdict
from dpaudit.report.text.chain import chain
from dpaudit.report.text.findings import (
    FINDINGS,
    accuracy_line,
    accuracy_sentences,
    search_line,
    trace_line,
    trace_story,
)
from dpaudit.report.text.listed import accounted, accounting_of, trained
from dpaudit.report.text.phrases import (
    ASKS,
    certainty,
    claim_meaning,
    claim_words,
    contradicting,
    count_text,
    counterexample_attempt,
    detectable_text,
    estimate_text,
    exact_lower,
    full_text,
    gaussian_text,
    guesses_text,
    is_proof,
    lacks_line,
    limits,
    proved_for,
    rate_text,
    relation_words,
    sampled_lower,
    share_text,
    shortened,
    symbol,
    unconfirmed,
    upper_text,
    without_bound,
    yardstick,
)
from dpaudit.report.text.verdict import Headline, headline
from dpaudit.stats.methods import SEQUENTIAL

# --- What was audited, why is this the verdict, and how is it run again? ---------------------------------

_DATA = re.compile(r", sha256:[0-9a-f]{64}$")  # a parameter that is a table or an array


def reason(evidence: Evidence) -> Iterator[Row]:
    """Yield the recorded reason, if it says more than the headline."""
    if evidence.reason and verdict.reason_says_more(evidence):
        yield Row("reason", "reason", "Reason", evidence.reason, importance=Importance.BRIEF)


def scope(evidence: Evidence) -> Iterator[Row]:
    """Yield what was audited, as it was recorded, with explanations."""
    target, claim, unit = evidence.target, evidence.claimed, evidence.unit
    values = ", ".join(f"{name} = {reviewer.parameter_text(value)}" for name, value in target.parameters.items())
    yield _scope("target", "Mechanism", target.name, target.summary, "target", _named(evidence), Importance.BRIEF)
    how = search_line(evidence)
    if how is not None:
        yield Row("search", "pair", "How the pair was found", how, importance=Importance.SUMMARY)
    yield _scope("parameters", "Parameters", values or "none")
    tables = [name for name, value in target.parameters.items() if isinstance(value, str) and _DATA.search(value)]
    if tables:
        fixed = f"{' and '.join(tables)}, the same on both sides: of what it holds nothing is said"
        yield _scope("fixed", "Held fixed", fixed, label="held fixed", importance=Importance.SUMMARY)
    cell = "none" if claim is None else claim_words(claim)
    promised = cell if claim is None else f"{cell} ({claim.notion})"
    note = "" if claim is None else f"{claim.notion} ({claim}). {claim_meaning(claim)}"
    yield Row(
        "claim",
        "claim",
        "Claim",
        cell,
        promised,
        note=note,
        importance=Importance.BRIEF,
        section="scope",
        order=math.nan if claim is None else claim.value,
    )
    unknown = "" if unit else "What one record stands for was not recorded."
    yield _scope("unit", "Unit of privacy", unit or "not stated", unknown)
    words = relation_words(evidence.relation) or evidence.relation
    if target.asks == "scores":
        words = "a record that is a member, and one that is not"
    yield Row("relation", "neighbours", "Neighbours", words, words, importance=Importance.BRIEF, section="scope")
    yield from _attacker(evidence)
    digest = "SHA-256 of the function's code" if target.digest else ""
    own = target.digest or "not available"
    yield Row("digest", "code digest", "Code digest", own, note=digest, section="scope", code=True)
    yield from _conditions(evidence)


def _scope(
    key: str,
    name: str,
    cell: str,
    note: str = "",
    label: str = "",
    line: str = "",
    importance: Importance = Importance.FULL,
) -> Row:
    return Row(key, label, name, cell, line, note=note, importance=importance, section="scope")


def _named(evidence: Evidence) -> str:
    parameters = ", ".join(
        f"{name}={number_text(value) if isinstance(value, float) else value}"
        for name, value in evidence.target.parameters.items()
    )
    name = shortened(evidence.target.name, 80)
    return f"{name} ({parameters})" if parameters else name


def _attacker(evidence: Evidence) -> Iterator[Row]:
    """Yield the attacker's view: what is observed, and from which kind of function."""
    target = evidence.target
    timed = ", and how long the call took" if "time" in evidence.observed else ""
    sees = f"sees one output of the mechanism{timed}"
    knows = "and knows the code, its parameters and both datasets of the pair, but not which of them was used."
    if target.asks == "scores":
        sees, knows = (
            "sees a score that one attack gives a record",
            ("and guesses by the score alone whether it was in the training data."),
        )
    yield _scope("attacker", "Attacker", sees, knows, importance=Importance.OWN)
    words, reading = ASKS.get(target.asks, ""), target.reading
    read = f"{words}; read as: {reading}" if reading and reading != target.asks else words
    yield _scope("asks", "Kind of function", target.asks, read, importance=Importance.OWN)


def _conditions(evidence: Evidence) -> Iterator[Row]:
    own = Importance.OWN
    if evidence.target.source:
        yield _scope("source", "Source", evidence.target.source, importance=own)
    if "time" in evidence.observed:
        note = "In seconds, the last number of each output."
        yield _scope("observed", "Observed", "the run time of every call", note, importance=own)
    if not evidence.reproducible:
        seeded = evidence.target.asks != "opaque"
        why = "No call takes as long twice" if seeded else "The function's randomness cannot be seeded"
        yield _scope("reproducible", "Reproducible", "no", f"{why}; another run gives other counts.", importance=own)
    for text in evidence.assumptions:
        yield _scope("trust", "Taken on trust", text)


def pair(evidence: Evidence) -> Iterator[Row]:
    """Yield the pair that the verdict rests on, if there is one."""
    number, pairs = verdict.decisive(evidence).pair, evidence.pairs
    if number is not None and number < len(pairs):
        record, trace = pairs[number], evidence.trace
        searched = trace is not None and trace.source in ("data", "domain")
        own = record.change or (
            trace.change if trace is not None and searched else f"{record.shown0} and {record.shown1}"
        )
        known = searched or record.origin in ("mechanism", "made")
        place = f"{number + 1} of {len(pairs)}{': ' if known else ', '}" if len(pairs) > 1 else ""
        cell = shortened(f"{place}{own if known and own else 'as it was given'}", 300)
        # one that a trace found stands in the headline
        told = record.origin == "made" and evidence.trace is None and evidence.verdict is Verdict.VIOLATED
        yield Row("pair", "pair", "Pair", cell, importance=Importance.SUMMARY if told else Importance.OWN)


def uncovered(evidence: Evidence) -> Iterator[Row]:
    """Yield what the audit cannot show."""
    for name, text in limits(evidence):
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


def again(evidence: Evidence) -> Iterator[Row]:
    """Yield how the evidence is identified, reproduced and cited."""
    command, identity = reproduce.reproduce_command(evidence), evidence.id
    yield _again("id", "id", "Evidence", identity, Importance.SUMMARY, code=True)
    kept = Importance.SUMMARY if command is None else Importance.FULL
    if accounting_of(evidence) is None:
        yield _again("seed", "seed", "Seed", str(evidence.seed), kept)
    if command is not None:
        yield _again("reproduce", "reproduce", "Run it again", command, Importance.BRIEF, code=True)
    for note in reproduce.reproduce_notes(evidence):
        yield _again("note", "", "To run it again", note, Importance.BRIEF)
    yield _again("cite", "cite as", "Cite as", reproduce.citation(evidence, identity), Importance.FULL)


def _again(key: str, label: str, name: str, text: str, importance: Importance, *, code: bool = False) -> Row:
    return Row(key, label, name, text, importance=importance, section="again", code=code)


# --- What do runs, proofs and exact numbers show? --------------------------------------------------------


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
    decided, violated = verdict.decisive(evidence), evidence.verdict is Verdict.VIOLATED
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
    counterexample, attempt = evidence.counterexample, counterexample_attempt(evidence)
    if attempt is not None:
        return attempt.bound.event, attempt.bound.counts
    return (None if counterexample is None else counterexample.event), None


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
    text, doubt = verdict.second_text(evidence), verdict.doubt_sentence(evidence)
    if text is not None:
        yield Row("second", "second look", "Second look", text, importance=Importance.BRIEF)
    if doubt:  # the headline says this already
        yield Row("doubt", "", "No violation", doubt, importance=Importance.OWN)


def power(evidence: Evidence) -> Iterator[Row]:
    """Yield the smallest violation that would have been found, and the true loss if it is known in theory."""
    smallest, detectable = detectable_text(evidence), evidence.detectable
    if smallest is not None and detectable is not None and evidence.verdict is not Verdict.INVALID:
        how = "" if math.isinf(detectable) else f", with probability 0.9 {yardstick(evidence)}"
        cell, line = upper_text(detectable), smallest + how
        # who has to look for a line at fault does not ask how large a violation would have been found
        kept = Importance.FULL if lacks_line(evidence) else Importance.SUMMARY
        yield Row("detectable", "detectable", "Would have been found", cell, line, line, "", kept, "power", detectable)
    true = evidence.target.true_loss
    if true is not None:
        cell = "∞" if math.isinf(true) else estimate_text(true, 5)
        yield Row("loss", "", "True loss on the pairs", cell, importance=Importance.OWN, order=true)


def accuracy(evidence: Evidence) -> Iterator[Row]:
    """Yield how far outputs are from the exact answer."""
    errors = evidence.accuracy
    if errors is not None:
        line, text = accuracy_line(errors), " ".join(accuracy_sentences(errors))
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


# --- What was found beside the verdict, and must not be missing from any summary? ------------------------


def findings(evidence: Evidence) -> Iterator[Row]:
    """Yield everything that was found beside the verdict, in reading order."""
    for finding in FINDINGS:
        yield from finding(evidence)


def next_step(evidence: Evidence) -> Iterator[Row]:
    """Yield how to look for the line at fault, where runs show a violation and nothing names a line."""
    if lacks_line(evidence):
        text = "dpaudit trace, with the same options, looks for the line at fault"
        yield Row("next", "next", "At which line", text, importance=Importance.SUMMARY)


ORDER: tuple[Callable[[Evidence], Iterator[Row]], ...] = (
    reason,
    scope,
    bounds,
    events,
    pair,
    second_look,
    findings,
    next_step,
    power,
    accuracy,
    runs,
    uncovered,
)


@dataclass(frozen=True, slots=True)
class View:
    """Evidence as people read it."""

    evidence: Evidence  # the source of everything here
    headline: Headline  # the verdict, its sentence, and what must not be concluded from it
    stated: tuple[Row, ...]  # all rows in reading order, except how the evidence is identified, reproduced and cited
    baseline: Evidence | None = None  # earlier evidence of the same mechanism, to show what changed

    @property
    def verdict(self) -> str:
        """The verdict, with the statements that it rests on."""
        return qualified(self.evidence)

    @property
    def rows(self) -> Iterator[Row]:
        """Yield all rows; the last ones hash the record, which takes longer than all others."""
        yield from self.stated
        yield from again(self.evidence)

    def select(self, importance: Importance, *also: str) -> list[Row]:
        """Return the rows of at least this importance, and those with the named keys."""
        return [row for row in self.rows if row.importance >= importance or row.key in also]

    def section(self, name: str) -> list[Row]:
        """Return the rows of one section."""
        return [row for row in self.stated if row.section == name]

    def row(self, key: str) -> Row | None:
        """Return the first row with a key, or None."""
        return next((row for row in self.rows if row.key == key), None)

    def cell(self, key: str, missing: str = "none") -> str:
        """Return the cell of the first row with a key, or ``missing``."""
        row = self.row(key)
        return missing if row is None else row.cell

    def sure(self, key: str, missing: str = "none") -> str:
        """Return the cell with its note, such as a bound with its confidence, or ``missing``."""
        row = self.row(key)
        return missing if row is None else row.stated

    def order(self, key: str) -> float:
        """Return the sort key of the first row with a key; NaN if there is none."""
        row = self.row(key)
        return math.nan if row is None else row.order

    def told_once(self, row: Row) -> Row:
        """Return a row without the story that the headline tells already, for renderings that show both."""
        story = " ".join(trace_story(self.evidence))
        if row.key != "trace" or not story or story not in self.headline.sentence:
            return row
        line = trace_line(self.evidence, told=True) or row.line
        return replace(row, line=line, text=row.text.replace(f"{story} ", "", 1))

    @property
    def beside(self) -> list[Row]:
        """All findings beside the verdict, and all pressing rows; renderings with room for a table show all of them."""
        return [row for row in self.stated if row.section == "beside" or row.is_urgent]

    @property
    def pressing(self) -> list[Row]:
        """The rows that are worse than the verdict; every rendering shows them."""
        return [row for row in self.stated if row.is_urgent]

    @property
    def pressing_still(self) -> list[Row]:
        """The pressing rows that the headline does not tell already, for renderings that show both."""
        return [row for row in self.pressing if self.told_once(row) is row]

    @property
    def pressing_lines(self) -> list[str]:
        """The pressing rows as lines of text: "low bits: ε ≥ 6.0 …"."""
        return [f"{row.label}: {row.line}" for row in self.pressing]


def view(evidence: Evidence, baseline: Evidence | None = None) -> View:
    """Return the view of evidence, beside earlier evidence if there is any."""
    order = ORDER if accounting_of(evidence) is None else (accounted,)
    order = order if evidence.training is None else (trained,)
    stated = tuple(row for yielded in order for row in yielded(evidence))
    return View(evidence, headline(evidence), stated, baseline)
