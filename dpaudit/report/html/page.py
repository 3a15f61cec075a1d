"""What is on the page of an audit, and where? A summary for everybody, and a part each for three readers.

Everything that the template shows is computed in Python; the template only lays it out. The ε line and the picture
that a reader sees first are drawn once, small enough for a phone and for half of a page; their words are for readers
who know nothing of sides, events and cells: two datasets, and outputs that point to one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import PairRecord
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import alone
from dpaudit.report.figures.lines import line, line_drawing, line_reading
from dpaudit.report.figures.loss import Losses, beyond, cell_losses, loss_bins, loss_glance
from dpaudit.report.html import certain, loss, measured
from dpaudit.report.html.certain import Piece, curve_drawing, differences
from dpaudit.report.html.loss import posterior_part
from dpaudit.report.html.measured import methods
from dpaudit.report.html.templates import (
    BLOCK_ID,
    LONG,
    Section,
    drawn_with,
    embedded_json,
    environment,
    plain,
    recheck,
)
from dpaudit.report.text import findings, listed, verdict
from dpaudit.report.text.chain import released
from dpaudit.report.text.phrases import (
    NBSP,
    claim_text,
    confidence_text,
    count_text,
    error_text,
    estimate_text,
    exact_lower,
    is_proof,
    proved_limit,
    share_text,
    shortened,
    symbol,
)
from dpaudit.report.text.reproduce import (
    bibtex,
    citation,
    counted,
    method_sentence,
    reproduce_command,
    reproduce_notes,
    sources,
)
from dpaudit.report.text.reviewer import about, layers, sure
from dpaudit.report.view import View, view

# --- What does a reader see first, beside the verdict? ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with its heading, the name that is read aloud, and what is said below it.

    ``rows`` are (name, text).
    """

    title: str
    name: str
    drawing: Markup | None
    sentences: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


def glance_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the pictures beside the verdict, and what it means for a person."""
    pictures = [_first_line(shown.evidence), *_loss(shown.evidence), *_curve(shown.evidence)]
    yield Section("glance", "At a glance", {"pictures": pictures})


def _first_line(evidence: Evidence) -> Picture:
    letter, meaning = symbol(evidence), verdict.plain_words(evidence)
    rows = (("For a person in the data", meaning.means),)
    how, drawing = line_reading(evidence), line_drawing(evidence, narrow=True)
    return Picture(f"Where {letter} lies", f"The {letter} line", drawing, (how,) if how else (), rows)


def _loss(evidence: Evidence) -> Iterator[Picture]:
    losses, claim = cell_losses(evidence.histogram), evidence.claimed
    if losses is None:
        return
    limit = claim.value if claim is not None and claim.is_point else None
    text = "" if limit is None else f"ε = {claim_text(limit)}"
    bins = loss_bins(losses, limit)
    drawing = alone(loss_glance(bins, limit, text, proved_limit(evidence)))
    yield Picture(
        "What outputs give away", "Histogram of the privacy loss", drawing, tuple(_reading(losses, claim, limit))
    )


def _reading(losses: Losses, claim: Claim | None, limit: float | None) -> Iterator[str]:
    """Yield how to read the histogram, and what lies beyond the claim."""
    how = (
        "How to read this: the same was run on two neighbouring datasets, shown under The pair. Each bar is the share "
        "of outputs that point to one of them so strongly. In the middle they tell nothing; the farther out, the more "
        "they give away."
    )
    if claim is None or limit is None:
        yield how
        return
    found = beyond(losses, limit)
    if claim.delta > 0:
        yield how
        yield (
            f"Beyond the shaded band the claim allows an excess of {_percent(claim.delta)}. Estimated from the runs it "
            f"is {share_text(found.excess[0])} for the first dataset and {share_text(found.excess[1])} for the second."
        )
        return
    yield f"{how} The claim allows nothing outside the shaded band."
    if any(found.clear):
        yield (
            f"Clearly outside it: {share_text(found.clear[0])} of the outputs on the first dataset, and "
            f"{share_text(found.clear[1])} of those on the second."
        )
    else:
        yield "Nothing lies clearly outside it."


def _percent(share: float) -> str:
    return f"{estimate_text(100 * share)}{NBSP}%"


def _curve(evidence: Evidence) -> Iterator[Picture]:
    accounting = listed.accounting_of(evidence)
    drawing = None if accounting is None else curve_drawing(accounting)
    if drawing is not None:
        sentences = (
            "For every ε, the δ with which (ε, δ)-differential privacy holds: below the solid line it certainly does "
            "not hold on some data, on the dashed line and above it always does. Where only one line is seen, the two "
            "agree.",
        )
        yield Picture("The certified curve", "The certified privacy curve", drawing, sentences)


# --- What stands on the first screen below the verdict? Of what it is, what it does not show, and what is released. ---


def about_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield what the page is about, the releases of a proof, and what was found beside the verdict."""
    evidence = shown.evidence
    rows = dict(about(evidence))
    made = {"made_with": rows.pop("Made with"), "digest": evidence.target.digest}
    parts = {"about": list(rows.items()), "not_shown": verdict.plain_words(evidence).not_shown, "sure": sure(evidence)}
    yield Section("about", "What it is about", parts)
    table = released(evidence)
    if table is not None:
        yield Section("released", "What is released", {"released": table})
    yield Section("made", "What made it", made)
    told = [row for row in shown.beside if not row.is_urgent]
    if told:
        yield Section("beside", "Found beside", {"told": told})


def render(evidence: Evidence, baseline: Evidence | None = None, *, script: bool = True) -> str:
    """Return the page of an audit; with a baseline it includes what changed since."""
    shown = view(evidence)
    layout = LAYOUT if listed.accounting_of(evidence) is None else LAYOUT_OF_ACCOUNTING
    layout = layout if evidence.training is None else LAYOUT_OF_TRAINING
    summary, *others = [
        [section for sections in makers for section in sections(shown, baseline)]
        for makers in (layout.summary, layout.reviewers, layout.engineers, layout.statisticians)
    ]
    parts = [Part(*names, sections, names == PARTS[0]) for names, sections in zip(PARTS, others, strict=True)]
    context = {**_context(shown, baseline), "recheck": recheck(evidence, script=script)}
    for section in [*summary, *(section for sections in others for section in sections)]:
        context |= section.parts
    return environment().get_template("template.html.j2").render(**context, summary=summary, parts=parts)


def _context(shown: View, baseline: Evidence | None) -> dict[str, Any]:
    """Return the values that the page needs besides its sections, and those that several sections need."""
    evidence = shown.evidence
    return {
        "evidence": evidence,
        "identity": evidence.id,
        "head": shown.headline,
        "reason": _reason(shown.cell("reason", "")),
        "pressing": shown.pressing_still,
        "symbol": symbol(evidence),
        "apart": is_proof(evidence),
        "counted": counted(evidence),
        "proof": None,
        "accounted": listed.accounting_of(evidence) is not None,
        "watched": "" if evidence.training is None else count_text(listed.updates_of(evidence.training)),
        "drawn_with": drawn_with(beside=baseline),
        "block_id": BLOCK_ID,
        "embedded": Markup(embedded_json(evidence)),
        "count": count_text,
        "confidence": confidence_text,
        "error": error_text,
    }


def _reason(reason: str) -> str:
    """Return the recorded reason as a sentence that begins with a capital letter."""
    return reason[:1].upper() + reason[1:] if reason[:1].isascii() else reason  # not ε, which would become Ε


# --- pairs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    number: int
    digests: tuple[str, str]
    origin: str
    shown: tuple[list[Piece], list[Piece]] | None
    where: str


_ORIGINS = {
    "mechanism": "named by the mechanism as its worst case",
    "given": "given by whoever ran the audit",
    "found": "found by a search",
    "made": "made up by the proof: the one on which it allows most",
    "counterexample": "found together with the event whose probabilities are computed exactly",
}

_RECORDED = {
    "scores": "recorded elsewhere: scores of members (the first dataset) and of others (the second)",
    "outputs": "recorded elsewhere: outputs on either dataset",
}


def _pair(number: int, pair: PairRecord, *, shown_above: bool, asks: str) -> _Pair:
    shown, origin, where = None, pair.origin, "Its data are not part of the evidence; the digests identify them."
    if shown_above:  # proofs are not given a pair
        origin, where = "counterexample", "Its data stand above, beside the exact numbers."
    elif pair.change:
        where = f"{pair.change[:1].upper()}{pair.change[1:]}."
    elif pair.shown0 is not None and pair.shown1 is not None:
        shown, where = differences(pair.shown0, pair.shown1), ""
    words = _RECORDED.get(asks) or _ORIGINS.get(origin, origin)
    return _Pair(number, (pair.digest0, pair.digest1), words, shown, where)


# --- short sections, and where all of them stand ----------------------------------------------------------


def _line(shown: View, _: Evidence | None) -> Iterator[Section]:
    evidence = shown.evidence
    yield Section("line", "The numbers", {"line": line(evidence, evidence.claimed)})


def _words(shown: View, _: Evidence | None) -> Iterator[Section]:
    evidence = shown.evidence
    posterior = posterior_part(evidence, evidence.claimed, drawn=False)
    yield Section(
        "words",
        "What was claimed, and what was found",
        {
            "meaning": verdict.plain_words(evidence),
            "posterior": posterior,
            "accuracy": shown.cell("accuracy", ""),
        },
    )


def _scope(shown: View, _: Evidence | None) -> Iterator[Section]:
    yield Section("scope", "Scope", {"scope": shown.section("scope"), "layers": layers(shown.evidence)})


def _limits(shown: View, _: Evidence | None) -> Iterator[Section]:
    yield Section("limits", "What it cannot show", {"limits": shown.section("limits")})


def _pairs(shown: View, _: Evidence | None) -> Iterator[Section]:
    evidence = shown.evidence
    above, asks = evidence.counterexample is not None and exact_lower(evidence) is not None, evidence.target.asks
    pairs = [_pair(number, pair, shown_above=above, asks=asks) for number, pair in enumerate(evidence.pairs)]
    yield Section("pair", "The pair", {"pairs": pairs})


def _search(shown: View, _: Evidence | None) -> Iterator[Section]:
    search = findings.search_part(shown.evidence)
    if search is not None:
        yield Section("search", "How the pair was found", {"search": search})


def _sensitivity(shown: View, _: Evidence | None) -> Iterator[Section]:
    sensitivity = findings.sensitivity_part(shown.evidence)
    if sensitivity is not None:
        yield Section("sensitivity", "Sensitivity", {"sensitivity": sensitivity})


def _accuracy(shown: View, _: Evidence | None) -> Iterator[Section]:
    found = shown.evidence.accuracy
    if found is not None:
        yield plain("accuracy", "Accuracy", findings.accuracy_sentences(found), findings.accuracy_rows(found))


def _trace(shown: View, _: Evidence | None) -> Iterator[Section]:
    trace = findings.trace_part(shown.evidence)
    if trace is not None:
        yield Section("trace", "Trace", {"trace": trace})


def _method(shown: View, _: Evidence | None) -> Iterator[Section]:
    evidence = shown.evidence
    parts = {"method": method_sentence(evidence), "methods": methods(evidence), "sources": sources(evidence)}
    yield Section("method", "Method", parts)


def _reproduce(shown: View, _: Evidence | None) -> Iterator[Section]:
    evidence = shown.evidence
    parts = {"command": reproduce_command(evidence), "notes": reproduce_notes(evidence)}
    yield Section("reproduce", "Reproduce", parts)


def _change(shown: View, baseline: Evidence | None) -> Iterator[Section]:
    """Yield what both records state, side by side and without a judgement, if there is a baseline."""
    if baseline is not None:
        old, new = _compared(view(baseline)), _compared(shown)
        rows = [
            {"name": name, "before": old[name], "now": new[name], "differs": old[name] != new[name]} for name in new
        ]
        yield Section("change", "Change", {"change": {"identity": baseline.id, "rows": rows}})


def _compared(shown: View) -> dict[str, str]:
    return {
        "Mechanism": shown.cell("target"),
        "Verdict": shown.headline.word,
        "Claim": shown.cell("claim"),
        "Lower bound": shown.sure("lower"),
        "Upper bound": shown.sure("upper"),
        "Beside the verdict": "; ".join(f"{row.label}: {row.line}" for row in shown.beside) or "nothing",
        "Runs": shown.cell("runs"),
        "Code digest": shown.cell("digest"),
        "dpaudit": shown.evidence.versions.get("dpaudit", "not recorded"),
    }


def _cite(shown: View, _: Evidence | None) -> Iterator[Section]:
    evidence = shown.evidence
    yield Section("cite", "Check and cite", {"bibtex": bibtex(evidence), "citation": citation(evidence)})


def _glossary(_: View, __: Evidence | None) -> Iterator[Section]:
    yield Section("glossary", "Glossary", {})


def _raw(shown: View, _: Evidence | None) -> Iterator[Section]:
    record = shown.evidence.to_json()
    size = count_text(len(record.encode("utf-8")) // 1000)
    parts = {"record": record if len(record) <= LONG else None, "record_size": size}
    yield Section("raw", "Raw evidence", parts)


_Sections = tuple[Callable[[View, Evidence | None], Iterator[Section]], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands where: a summary for everybody, and three parts that open.

    The functions yield nothing if the evidence (and the baseline, if any) has nothing for them.
    """

    summary: _Sections
    reviewers: _Sections
    engineers: _Sections
    statisticians: _Sections


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page that opens: its anchor, its heading, what is in it, and its sections.

    ``signed``: whether it is open from the start, so that every browser prints it: it is what a signature stands under.
    """

    name: str
    title: str
    about: str
    sections: list[Section]
    signed: bool = False


PARTS = (
    ("reviewers", "For reviewers", "what it holds for, what was taken for granted, how to check and cite it"),
    ("engineers", "For engineers", "what was run, what tells the datasets apart, how to run it again"),
    ("statisticians", "For statisticians", "the method, every attempt, curves, the record itself"),
)

LAYOUT = Layout(
    summary=(about_section, glance_section, _words),
    reviewers=(_line, certain.section, _scope, _limits, _change, _cite, _glossary),
    engineers=(
        _pairs,
        _search,
        measured.measured_section,
        measured.low_bits_section,
        _accuracy,
        _sensitivity,
        _trace,
        _reproduce,
    ),
    statisticians=(
        loss.loss_section,
        loss.curves_section,
        loss.posterior_section,
        loss.power_section,
        measured.attempts_section,
        _method,
        _raw,
    ),
)
"""The page of an audit or a proof."""

LAYOUT_OF_ACCOUNTING = Layout(
    summary=(about_section, glance_section, _words),
    reviewers=(_line, certain.accounting_section, _scope, _limits, _cite, _glossary),
    engineers=(_reproduce,),
    statisticians=(_method, _raw),
)
"""The same for an accounting, of which nothing was run."""

LAYOUT_OF_TRAINING = Layout(
    summary=(about_section, glance_section, certain.training_section, _words),
    reviewers=(_line, certain.reviewed, _scope, _limits, _cite, _glossary),
    engineers=(_reproduce,),
    statisticians=(_method, _raw),
)
"""The same for a training loop that was watched: a checklist."""

# --- How does evidence look in a notebook? ---------------------------------------------------------------


def card(evidence: Evidence) -> str:
    """Return a piece of HTML that needs no style sheet and no script."""
    shown = view(evidence)
    name, drawing = shortened(shown.cell("target"), 80), line_drawing(evidence)
    return environment().get_template("card.html.j2").render(view=shown, name=name, drawing=drawing)
