"""What is on the page of an audit, and where? A summary for everybody, and a part each for three readers.

Everything that the template shows is computed in Python; the template only lays it out. The ε line and the picture
that a reader sees first are drawn once, small enough for a phone and for half of a page; their words are for readers
who know nothing of sides, events and cells: two datasets, and outputs that point to one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import PairRecord, Verdict
from dpaudit.privacy import Claim
from dpaudit.report.document import (
    BREAK,
    Banner,
    Block,
    Bullets,
    Cells,
    Content,
    Facts,
    Figure,
    Folded,
    Group,
    Heading,
    Page,
    Section,
    Span,
    TableBlock,
    Text,
    TextCell,
    Verbatim,
    code,
    head,
    marked,
    note,
    number,
    plainly,
    points,
    said,
    section,
    strong,
    table,
    texts,
    words,
)
from dpaudit.report.figures.canvas import alone
from dpaudit.report.figures.loss import Losses, beyond, cell_losses, loss_bins, loss_glance
from dpaudit.report.html import certain, measured
from dpaudit.report.html.certain import curve_drawing, differences, line, line_drawing, line_reading, sided
from dpaudit.report.html.measured import methods
from dpaudit.report.html.templates import (
    LONG,
    Recheck,
    drawn_page,
    drawn_with,
    embedded_json,
    environment,
    recheck,
)
from dpaudit.report.text import findings, listed, verdict
from dpaudit.report.text.chain import ReleasedTable, proof_section, released
from dpaudit.report.text.phrases import (
    NBSP,
    claim_text,
    confidence_text,
    count_text,
    detectable_sentence,
    error_text,
    estimate_text,
    exact_lower,
    is_proof,
    proved_limit,
    share_text,
    shortened,
    symbol,
    upper_text,
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


def _picture(title: str, drawing: Markup | None, name: str, *below: Block) -> Group:
    drawn = [] if drawing is None else [Figure(drawing, name)]
    return Group("picture", [Heading(title), *drawn, *below])


def glance_section(shown: View) -> Iterator[Section]:
    """Yield the pictures beside the verdict, and what it means for a person."""
    evidence = shown.evidence
    pictures = [_first_line(evidence), *_loss(evidence), *_curve(evidence)]
    yield section("glance", *pictures, kind="glance", headless=True)


def _first_line(evidence: Evidence) -> Group:
    letter, how = symbol(evidence), line_reading(evidence)
    means = Facts([("For a person in the data", verdict.plain_words(evidence).means)], "meaning")
    drawing = line_drawing(evidence, narrow=True)
    return _picture(f"Where {letter} lies", drawing, f"The {letter} line", means, *texts([how] if how else [], "note"))


def _loss(evidence: Evidence) -> Iterator[Group]:
    losses, claim = cell_losses(evidence.histogram), evidence.claimed
    if losses is None:
        return
    limit = claim.value if claim is not None and claim.is_point else None
    text = "" if limit is None else f"ε = {claim_text(limit)}"
    drawing = alone(loss_glance(loss_bins(losses, limit), limit, text, proved_limit(evidence)))
    said = texts(list(_reading(losses, claim, limit)), "note")
    yield _picture("What outputs give away", drawing, "Histogram of the privacy loss", *said)


def _reading(losses: Losses, claim: Claim | None, limit: float | None) -> Iterator[str]:
    """Yield how to read the histogram, and what lies beyond the claim."""
    how = plainly("glance.loss")
    if claim is None or limit is None:
        yield how
        return
    beyond_limit = beyond(losses, limit)
    if claim.delta > 0:
        first, second = map(share_text, beyond_limit.excess)
        allowed = f"{estimate_text(100 * claim.delta)}{NBSP}%"
        yield how
        yield plainly("glance.excess", allowed=allowed, first=first, second=second)
        return
    yield f"{how} The claim allows nothing outside the shaded band."
    first, second = map(share_text, beyond_limit.clear)
    clear = plainly("glance.clear", first=first, second=second)
    yield clear if any(beyond_limit.clear) else "Nothing lies clearly outside it."


def _curve(evidence: Evidence) -> Iterator[Group]:
    accounting = listed.accounting_of(evidence)
    drawing = None if accounting is None else curve_drawing(accounting)
    if drawing is not None:
        how = Text(said("glance.curve"), "note")
        yield _picture("The certified curve", drawing, "The certified privacy curve", how)


# --- What stands on the first screen? The verdict, what it is of and does not show, and what is released. ---


def verdict_section(shown: View, check: Recheck | None) -> Section:
    """Return the verdict with what must not be missed; the proof is checked again in one of its lines."""
    head, reason = shown.headline, shown.cell("reason", "")
    reason = reason[:1].upper() + reason[1:] if reason[:1].isascii() else reason  # not ε, which would become Ε
    below = [Text(head.sentence, "sentence"), *([Text(reason)] if reason else []), Text(head.caution, "caution")]
    besides = [] if check is None else [Text(check.sentence, "beside", "recheck")]
    besides += [Text((strong(f"{row.name}."), f" {row.text}"), "beside presses") for row in shown.pressing_still]
    blocks: list[Block] = [Banner(head.tone, head.word, "Verdict", below), Group("besides", besides)]
    return Section("verdict", head.word, blocks, kind=f"verdict {head.tone}", headless=True)


def about_section(shown: View) -> Iterator[Section]:
    """Yield what the page is about, the releases of a proof, and what was found beside the verdict."""
    evidence, certain = shown.evidence, sure(shown.evidence)
    rows = dict(about(evidence))
    made: list[tuple[Content, Content]] = [("Made with", rows.pop("Made with"))]
    made += [("Code digest", code(evidence.target.digest))] if evidence.target.digest else []
    not_shown = [(plainly("about.not_shown"), verdict.plain_words(evidence).not_shown)]
    not_shown += [(plainly("about.sure"), certain)] if certain else []
    named = Facts(list(rows.items()), "named")
    yield section("about", named, Facts(not_shown, ""), kind="about", headless=True)
    drawn = released(evidence)
    if drawn is not None:
        reach = Text(said("released.reach"), "note")
        yield section("released", _releases(drawn), reach, headless=True)
    made.append(("Evidence", code(evidence.id)))
    yield section("made", Facts(made, "named wide"), kind="about", headless=True)
    told = [Text((strong(f"{row.name}."), f" {row.text}"), "beside") for row in shown.beside if not row.is_urgent]
    if told:
        yield section("beside", *told, headless=True)


def _releases(drawn: ReleasedTable) -> TableBlock:
    rows: list[Cells] = []
    for each in drawn.releases:
        place = (each.place, BREAK, code(each.code)) if each.code else each.place
        within = TextCell(f"±{NBSP}{each.within}" if each.within else "–", "number", name="In 95 % within")
        price = TextCell(each.price, "number", name="Price")
        rows.append((place, TextCell(each.moves, name=drawn.by), TextCell(each.law, name="Noise"), within, price))
    rows += [(TextCell(drawn.left_out, head=True, columns=5),)] if drawn.left_out else []
    heads = (drawn.first, drawn.by, "Noise", number("In 95 % within"), number("Price"))
    total = ("Total", TextCell("; ".join(drawn.composition), columns=3), TextCell(drawn.bound, "number", name="Bound"))
    return table("released", rows, kind="released", heads=heads, total=total)


def facts(evidence: Evidence) -> Facts:
    """Return how much was run, how sure it is, and when, for the end of the summary."""
    training, accounted, apart = evidence.training, listed.accounting_of(evidence) is not None, is_proof(evidence)
    rows: list[tuple[str, str]] = []
    began = "Made" if accounted else "Audit started" if training is None else "Watch began"
    if training is not None:
        alarm = error_text(1 - evidence.false_alarm) if evidence.false_alarm else "none"
        rows += [("Updates watched", count_text(listed.updates_of(training))), ("Chance of a false alarm", alarm)]
    elif accounted:
        rows.append(("Runs", "none: what is listed was accounted for"))
    else:
        what, ran = counted(evidence), bool(evidence.runs) or not apart
        rows.append((f"{what[:1].upper()}{what[1:]}", count_text(evidence.runs) if ran else "none"))
        name = "Confidence of what is sampled" if apart else "Confidence"
        rows += [(name, confidence_text(evidence.confidence))] if ran else []
    rows += [(began, evidence.run.started)] if evidence.run is not None else []
    return Facts(rows, "facts")


def render(evidence: Evidence, baseline: Evidence | None = None, *, script: bool = True) -> str:
    """Return the page of an audit; with a baseline it includes what changed since."""
    shown = view(evidence, baseline)
    accounted = listed.accounting_of(evidence) is not None
    layout = LAYOUT_OF_TRAINING if evidence.training is not None else LAYOUT_OF_ACCOUNTING if accounted else LAYOUT
    summary, *others = [
        [each for sections in makers for each in sections(shown)]
        for makers in (layout.summary, layout.reviewers, layout.engineers, layout.statisticians)
    ]
    what = "accounting" if accounted else "proof and audit" if is_proof(evidence) else "audit"
    on: Content = "" if evidence.run is None else (" of ", Span("number", evidence.run.started[:10]))
    target, check = evidence.target, recheck(evidence, script=script)
    return drawn_page(
        Page(
            f"{shown.headline.word}: {target.name}",
            (f"Differential privacy {what}", on),
            target.name,
            [verdict_section(shown, check), *summary],
            lead=target.summary.replace("``", ""),
            script="" if check is None else check.script,
        ),
        closing=[facts(evidence)],
        parts=[Part(*names, sections, names == PARTS[0]) for names, sections in zip(PARTS, others, strict=True)],
        identity=evidence.id,
        drawn_with=drawn_with(beside=baseline),
        embedded=Markup(embedded_json(evidence)),
        checker="" if check is None else check.packed,
        hashes=() if check is None else check.hashes,
    )


# --- pairs -----------------------------------------------------------------------------------------------

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


def _pair(number: int, pair: PairRecord, *, shown_above: bool, asks: str) -> Group:
    data: tuple[Verbatim, ...] = ()
    origin, where = pair.origin, f" {plainly('pair.digests')}"
    if shown_above:  # proofs are not given a pair
        origin, where = "counterexample", f" {plainly('pair.above')}"
    elif pair.change:
        where = f" {pair.change[:1].upper()}{pair.change[1:]}."
    elif pair.shown0 is not None and pair.shown1 is not None:
        data, where = differences(pair.shown0, pair.shown1), ""
    origins = _RECORDED.get(asks) or _ORIGINS.get(origin, origin)
    sides = [
        sided(side, [*data[side : side + 1], Text(("SHA-256 ", code(digest)), "digest")])
        for side, digest in enumerate((pair.digest0, pair.digest1))
    ]
    return Group("pair", [Heading(f"Pair {number}"), Text(f"The pair was {origins}.{where}"), *sides])


# --- short sections, and where all of them stand ----------------------------------------------------------


def _line(shown: View) -> Iterator[Section]:
    rows = [(name, number(value), how, sure, means) for name, value, how, sure, means in line(shown.evidence)]
    yield section("line", table("line", rows) if rows else Text("There is no number to show."))


def _words(shown: View) -> Iterator[Section]:
    plain, costs = verdict.plain_words(shown.evidence), shown.cell("accuracy", "")
    rows = [("Claimed", plain.claimed), ("Found", plain.found)]
    rows += [("What privacy costs", f"{costs[:1].upper()}{costs[1:]}.")] if costs else []
    rows.append(("What to do next", plain.next))
    yield section("words", Facts(rows), *measured.suspicion_blocks(shown.evidence))


def _scope(shown: View) -> Iterator[Section]:
    rows: list[tuple[Content, Content]] = []
    for row in shown.section("scope"):
        cell: Content = code(row.cell) if row.key in ("digest", "parameters") else row.cell
        stated: Content = (cell, " ", note(row.note)) if row.note else cell
        if row.key == "relation" and row.note:
            stated = (f"{row.note[:1].upper()}{row.note[1:]}. ", note(f"In commands: {row.cell}"))
        rows.append((row.name, stated))
    answered = [(each.name, f"{'○' if each.is_open else '●'} {each.answer}") for each in layers(shown.evidence)]
    asked = Text(said("scope.asked"))
    yield section("scope", Facts(rows), Heading(plainly("scope.layers")), asked, Facts(answered))


def _limits(shown: View) -> Iterator[Section]:
    what = "audit" if listed.accounting_of(shown.evidence) is None else "accounting"
    named = points([(row.name, row.text) for row in shown.section("limits")])
    yield section("limits", named, Text(said("limits.legal")), title=plainly("limits.title", what=what))


def _pairs(shown: View) -> Iterator[Section]:
    evidence = shown.evidence
    above, asks = evidence.counterexample is not None and exact_lower(evidence) is not None, evidence.target.asks
    pairs = [_pair(number, pair, shown_above=above, asks=asks) for number, pair in enumerate(evidence.pairs)]
    none = None if pairs else Text(said("pair.none" if evidence.proof is None else "pair.proof"))
    yield section("pair", *pairs, none, title="The pairs" if len(pairs) > 1 else "The pair")


def _accuracy(shown: View) -> Iterator[Section]:
    accuracy = shown.evidence.accuracy
    if accuracy is not None:
        rows = findings.accuracy_rows(accuracy)
        yield section("accuracy", *texts(findings.accuracy_sentences(accuracy)), Facts(rows) if rows else None)


def power_section(shown: View) -> Iterator[Section]:
    """Yield the section, if there is a claim and the runs can be trusted."""
    evidence = shown.evidence
    if evidence.detectable is None or evidence.verdict is Verdict.INVALID:
        return
    rows = [
        (head(f"{symbol(evidence)} ≥ {upper_text(one.value)}", "number"), number(count_text(one.runs)))
        for one in evidence.power
    ]
    needed: list[Block] = [Text(said("power.needed")), table("power", rows, kind="odds")] if rows else []
    text = plainly("power.limits")
    if math.isinf(evidence.detectable):
        text += plainly("power.more")
    elif evidence.detectable_on == "event" and not rows:
        text += plainly("power.rule")
    yield section("power", Text(detectable_sentence(evidence)), *needed, Text(text, "note"))


def _method(shown: View) -> Iterator[Section]:
    evidence, apart = shown.evidence, is_proof(shown.evidence)
    accounted, watched = listed.accounting_of(evidence) is not None, evidence.training is not None
    how = f" {method_sentence(evidence)}" if evidence.measuring or watched or not apart else ""
    versions, run = list(evidence.versions.items()), evidence.run
    if run is not None:
        versions += [("host", run.host), ("workers", str(run.workers)), ("duration", f"{run.duration} s")]
    blocks: list[Block] = [Text(said("method.guess", how=how)), *([Text(said("method.kinds"))] if apart else [])]
    for name, text in methods(evidence):
        blocks += [Heading(f"Bound by the {name} method"), Text(text)]
    blocks.append(Text(said("method.training" if watched else "method.accounting" if accounted else "method.audit")))
    blocks += [Heading("Sources"), Bullets(sources(evidence)), table("method", versions, kind="versions")]
    yield section("method", *blocks)


def _reproduce(shown: View) -> Iterator[Section]:
    evidence, command, notes = shown.evidence, reproduce_command(shown.evidence), reproduce_notes(shown.evidence)
    proved, accounted = evidence.proof is not None, listed.accounting_of(evidence) is not None
    blocks: list[Block] = []
    if not accounted:
        of = " of what was replayed" if evidence.training is not None else ""
        blocks.append(Text((f"Seed{of}: ", code(str(evidence.seed)))))
    if command:
        what = "audit, on a machine with the mechanism and"
        what = "accounting, on a machine with" if accounted else f"proof and {what}" if proved else what
        blocks += [Text(said("reproduce.command", what=what)), Verbatim(command, "command")]
    blocks += texts(notes)
    if command and not proved and any(pair.origin != "mechanism" for pair in evidence.pairs):
        blocks.append(Text(said("reproduce.given")))
    if command and not evidence.reproducible:
        blocks.append(Text(said("reproduce.unseeded")))
    if not command and not notes:
        blocks.append(Text(said("reproduce.enumerated" if proved else "reproduce.recorded")))
    yield section("reproduce", *blocks)


def _change(shown: View) -> Iterator[Section]:
    """Yield what both records state, side by side and without a judgement, if there is a baseline."""
    baseline = shown.baseline
    if baseline is not None:
        old, new = _compared(view(baseline)), _compared(shown)
        rows = [(name, old[name], new[name], "yes" if old[name] != new[name] else "no") for name in new]
        yield section("change", Text(said("change.beside", baseline=baseline.id)), table("change", rows))


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


def _cite(shown: View) -> Iterator[Section]:
    cited = Text(citation(shown.evidence))
    yield section("cite", Text(said("cite.check")), Text(said("cite.id")), cited, Verbatim(bibtex(shown.evidence)))


def _glossary(_: View) -> Iterator[Section]:
    terms = [(name, marked(text)) for name, text in words()["glossary"]["terms"].items()]
    yield section("glossary", Facts(terms, "glossary"))


def _raw(shown: View) -> Iterator[Section]:
    record = shown.evidence.to_json()
    size, is_long = count_text(len(record.encode("utf-8")) // 1000), len(record) > LONG
    whole = said("raw.whole", packed=" in gzip" if is_long else "", id=shown.evidence.id)
    shown_record = Folded(plainly("raw.show", size=size), [Verbatim(record, "record")])
    yield section("raw", Text(whole), Text(said("raw.long", size=size)) if is_long else shown_record)


_Sections = tuple[Callable[[View], Iterator[Section]], ...]


def _of(sections: Callable[[Evidence], Iterator[Section]]) -> Callable[[View], Iterator[Section]]:
    return lambda shown: sections(shown.evidence)


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
    reviewers=(_line, _of(proof_section), certain.exact_section, _scope, _limits, _change, _cite, _glossary),
    engineers=(
        _pairs,
        _of(findings.search_section),
        measured.measured_section,
        measured.low_bits_section,
        _accuracy,
        _of(findings.sensitivity_section),
        _of(findings.trace_section),
        _reproduce,
    ),
    statisticians=(
        measured.loss_section,
        measured.curves_section,
        measured.posterior_section,
        power_section,
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
    reviewers=(_line, certain.pitfalls_section, _scope, _limits, _cite, _glossary),
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
