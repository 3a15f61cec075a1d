"""What does a person need to read in a terminal? Eight to fifteen lines, the verdict first."""

from __future__ import annotations

import math
import textwrap

from dpaudit.evidence.event import Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Proof, Scores, Verdict
from dpaudit.privacy.claims import number_text
from dpaudit.report.text.bound_kinds import (
    contradicting,
    counterexample_attempt,
    exact_lower,
    is_proof,
    proved_for,
    sampled_lower,
    without_bound,
)
from dpaudit.report.text.command import reproduce_command, reproduce_notes
from dpaudit.report.text.findings import beside
from dpaudit.report.text.headline import NO_PROOF, headline, reason_says_more
from dpaudit.report.text.numerals import NBSP, count_text, share_text
from dpaudit.report.text.phrases import (
    bound_text,
    certainty,
    claim_words,
    detectable_text,
    full_text,
    gaussian_text,
    guesses_text,
    rate_text,
    shortened,
    symbol,
    visible,
    yardstick,
)
from dpaudit.report.text.search import search_line
from dpaudit.report.text.second_look import second_text

_WIDTH, _LABEL = 100, 13


# as the page has them, for terminals of 16 colours; only PROVED is green
_COLOURS = {"violated": "31", "proved": "32", "inconclusive": "33", "invalid": "35"}


def summary(evidence: Evidence, *, width: int | None = None, colour: bool = False) -> str:
    """Return the summary as text, ending in a line break; without control codes unless ``colour``."""
    columns = max(_WIDTH if width is None else width, 40)
    head = headline(evidence)
    verdict = f"{head.word}: {head.sentence}"
    caution = NO_PROOF if evidence.verdict is Verdict.NOT_VIOLATED else head.caution
    lines = textwrap.wrap(_plain(verdict), columns) + textwrap.wrap(_plain(caution), columns)
    if colour:
        lines[0] = _coloured(lines[0], head.word, head.tone)
    for label, text, most in _rows(evidence, columns):
        lines += _row(label, _plain(text), columns, most)
    lines.append("  " + "id".ljust(_LABEL) + evidence.id)
    command = reproduce_command(evidence)
    lines.append(
        "  " + "seed".ljust(_LABEL) + str(evidence.seed)
        if command is None
        else "  " + "reproduce".ljust(_LABEL) + command
    )
    for note in reproduce_notes(evidence):
        lines += _row("", _plain(note), columns, 4)
    return "\n".join(lines) + "\n"


def _coloured(line: str, word: str, tone: str) -> str:
    """The first line with its verdict in bold and in colour; nothing of the evidence stands inside the codes."""
    codes = ";".join(filter(None, ("1", _COLOURS.get(tone))))
    return f"\x1b[{codes}m{word}\x1b[0m{line.removeprefix(word)}"


def _plain(text: str) -> str:
    return visible(text.replace(NBSP, " "), one_line=True)


def _row(label: str, text: str, columns: int, most: int) -> list[str]:
    room = columns - _LABEL - 2
    wrapped = textwrap.wrap(text, room, break_on_hyphens=False, max_lines=most, placeholder=" …") or [""]
    return ["  " + (label if number == 0 else "").ljust(_LABEL) + line for number, line in enumerate(wrapped)]


def _rows(evidence: Evidence, columns: int) -> list[tuple[str, str, int]]:
    """Return label, text and the most lines of every row that applies."""
    rows: list[tuple[str, str, int]] = []
    if evidence.reason and reason_says_more(evidence):
        rows.append(("reason", evidence.reason, 2))
    rows.append(("target", _target(evidence), 2))
    how = search_line(evidence)
    rows += [] if how is None else [("pair", how, 3)]
    rows.append(("claim", _claim(evidence), 1 if columns >= _WIDTH else 2))
    rows += _kinds(evidence, columns) if is_proof(evidence) else _bounds(evidence)
    second = second_text(evidence)
    rows += [] if second is None else [("second look", second, 2)]
    rows += [(found.label, found.line, 2) for found in beside(evidence)]
    smallest = detectable_text(evidence)
    if smallest is not None and evidence.verdict is not Verdict.INVALID:
        how = "" if math.isinf(evidence.detectable or 0.0) else f", with probability 0.9 {yardstick(evidence)}"
        rows.append(("detectable", smallest + how, 1))
    rows.append(("runs", _runs(evidence), 1))
    return rows


def _bounds(evidence: Evidence) -> list[tuple[str, str, int]]:
    """The bounds of an audit by runs."""
    rows: list[tuple[str, str, int]] = []
    if evidence.verdict is not Verdict.INVALID:
        rows.append(("lower bound", _bound(evidence.lower, evidence), 1))
    if evidence.upper is not None:
        rows.append(("upper bound", _bound(evidence.upper, evidence), 1))
    if evidence.scores is not None:
        return rows + _scores(evidence, evidence.scores)
    return rows + _event(evidence.lower)


_DESIGNS = {
    "independent": "a training run for every score",
    "one-run": "all scores from one model; a fair coin included each canary, or not",
}


def _scores(evidence: Evidence, scores: Scores) -> list[tuple[str, str, int]]:
    """What was guessed or counted, and what the scores show beside the bound."""
    rows = [("design", _DESIGNS.get(scores.design, scores.design), 1)]
    rows += [("guesses", guesses_text(evidence.lower), 1)] if scores.design == "one-run" else _event(evidence.lower)
    rows.append(("true pos.", ", ".join(rate_text(rate) for rate in scores.rates), 2))
    estimate = gaussian_text(scores)
    return [*rows, ("if Gaussian", f"{estimate}, an estimate that decides nothing", 1)] if estimate else rows


def _kinds(evidence: Evidence, columns: int) -> list[tuple[str, str, int]]:
    """What is proved, what is exact, and what was sampled, each on its own; and the event of the counterexample."""
    rows: list[tuple[str, str, int]] = []
    most = 1 if columns >= _WIDTH else 2
    proof, upper, claim = evidence.proof, evidence.upper, evidence.claimed
    exact, sampled = exact_lower(evidence), sampled_lower(evidence)
    if upper is not None:
        doubt = "" if contradicting(evidence) is None else ", contradicted by the runs"
        rows.append(("proved", f"{full_text(upper, claim)}, {proved_for(proof)}{doubt}{_read(proof)}", most))
    elif proof is not None:
        rows.append(("proved", f"no finite bound{_read(proof)}; {without_bound(evidence)}", most))
    if exact is not None:
        rows.append(("exact", f"{full_text(exact, claim)}, certain, on one pair", 1))
    if evidence.verdict is Verdict.INVALID:
        return rows
    if sampled is None:
        rows.append(("sampled", "nothing was run", 1))
    else:
        shown = bound_text(sampled, claim) if sampled.value > 0 else f"none above 0 was shown for {symbol(evidence)}"
        rows.append(("sampled", f"{shown} ({certainty(sampled)})", 1))
    found, attempt = evidence.counterexample, counterexample_attempt(evidence)
    if attempt is not None:
        return rows + _event(attempt.bound)
    return rows if found is None else [*rows, ("event", _says(found.event, 0), 1)]


def _read(proof: Proof | None) -> str:
    if proof is None:
        return ""
    return f" ({proof.method}, {count_text(proof.paths)} path{'' if proof.paths == 1 else 's'})"


def _target(evidence: Evidence) -> str:
    parameters = ", ".join(
        f"{name}={number_text(value) if isinstance(value, float) else value}"
        for name, value in evidence.target.parameters.items()
    )
    name = shortened(evidence.target.name, 80)
    return f"{name} ({parameters})" if parameters else name


def _claim(evidence: Evidence) -> str:
    claim = evidence.claimed
    text = "none" if claim is None else f"{claim_words(claim)} ({claim.notion})"
    return f"{text}; neighbours: {evidence.relation}"


def _bound(bound: Bound, evidence: Evidence) -> str:
    if bound.side == "lower" and bound.value <= 0:
        return f"none above 0 was shown for {symbol(evidence)} ({_how(bound)})"
    return f"{bound_text(bound, evidence.claimed)} ({_how(bound)})"


def _how(bound: Bound) -> str:
    return f"sampled, {certainty(bound)}" if bound.kind == "sampled" else certainty(bound)


def _event(bound: Bound) -> list[tuple[str, str, int]]:
    event, counts = bound.event, bound.counts
    if event is None:
        return []
    rows: list[tuple[str, str, int]] = []
    for side in (0, 1):
        if not event.toward(side):
            continue
        named = "last event" if bound.method == "sequential" else "event"
        rows.append((named if not rows else "", _says(event, side), 1))
        if counts is not None:
            hits = counts.toward0 if side == 0 else counts.toward1
            shares = [
                f"side {own}: {count_text(hits[own])} of {count_text(counts.runs[own])}"
                + (f" ({share_text(hits[own] / counts.runs[own])})" if counts.runs[own] else "")
                for own in (0, 1)
            ]
            rows.append(("", "seen on " + ", on ".join(shares), 1))
    return rows


def _says(event: Event, side: int) -> str:
    return f"for side {side}: {shortened(event.describe(side), 400)}"


def _runs(evidence: Evidence) -> str:
    if is_proof(evidence) and not evidence.runs:
        return "none"
    pairs = len(evidence.pairs)
    searching = "" if evidence.search is None else f"{count_text(evidence.search.runs)} searching, "
    again = "" if evidence.second is None else f", {count_text(sum(evidence.second.counts.runs))} second look"
    text = (
        f"{count_text(evidence.runs)} ({searching}{count_text(evidence.learning)} learning, "
        f"{count_text(evidence.measuring)} measuring{again}; {pairs} pair{'' if pairs == 1 else 's'})"
    )
    if evidence.sequential is not None:
        limit = count_text(evidence.budget)
        how = f"stopped early, of at most {limit}" if evidence.sequential.stopped else "all that were allowed"
        text = f"{count_text(evidence.runs)} ({how}; each bet on as it came; {pairs} pair{'' if pairs == 1 else 's'})"
    text += "; each with its run time" if "time" in evidence.observed else ""
    return text if evidence.reproducible else text + "; not reproducible"
