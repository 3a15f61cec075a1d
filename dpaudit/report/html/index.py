"""What did several audits find? An index, a history, mechanisms side by side, and a dossier, each on one page."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dpaudit.evidence.evidence import Evidence, qualified
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import Claim
from dpaudit.report.document import (
    BREAK,
    Banner,
    Cells,
    Facts,
    Figure,
    Page,
    Span,
    Text,
    TextCell,
    code,
    note,
    number,
    plainly,
    said,
    section,
    strong,
    table,
    texts,
)
from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, PROOF, both, canvas, svg
from dpaudit.report.html.templates import drawn_page, source
from dpaudit.report.text.findings import error_text
from dpaudit.report.text.phrases import NBSP, claim_words, one_line, shortened, symbol
from dpaudit.report.text.reviewer import ANSWERED, KINDS, answers, kinds_of
from dpaudit.report.view import View, view

_SCRIPT = "index.js"
_COLUMNS = (  # heading, key of the row, text if there is none
    ("Claim", "claim", "none"),
    ("Lower bound", "lower", "–"),
    ("Upper bound", "upper", "–"),
    ("True loss on the pairs", "loss", "unknown"),
    ("Detectable from", "detectable", "–"),
    ("Runs", "runs", "–"),
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One row: the evidence, the link to its file or page, and a remark."""

    evidence: Evidence
    link: str
    remark: str = ""


def index_page(title: str, lead: str, entries: Sequence[IndexEntry]) -> str:
    """Return an index page.

    It loads nothing; its only script, which sorts the table, is allowed by its hash in the content security policy.
    """
    rows: list[Cells] = []
    for entry in entries:
        shown = view(entry.evidence)
        link, remark = (
            Span("link", shown.cell("target"), entry.link),
            (BREAK, note(entry.remark)) if entry.remark else (),
        )
        lines = tuple(Span("beside-verdict", line) for line in shown.pressing_lines)
        verdict = TextCell((Span("verdict-word", shown.verdict), *lines), shown.headline.tone)
        cells = [
            TextCell(shown.cell(key, missing), "number" if place else "", order=shown.order(key))
            for place, (_, key, missing) in enumerate(_COLUMNS)
        ]
        rows.append(((link, *remark), verdict, *cells))
    heads = ("Mechanism", "Verdict", *(name for name, _, _ in _COLUMNS))
    listed = replace(table("index", rows, heads=heads, title=title), sorted=True)
    listed_alone = section("index", listed, title=title, headless=True)
    page = Page(title, "Differential privacy audits", title, [listed_alone], lead, "index", source(_SCRIPT), footer="")
    return drawn_page(page)


# --- How did the evidence about one target change over time? One page, from the oldest to the newest. ---


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of evidence, and when it was made or committed."""

    evidence: Evidence
    when: str
    remark: str = ""


def history_page(entries: Sequence[Entry]) -> str:
    """Return the page."""
    newest = entries[-1].evidence
    letter, name, head = symbol(newest), newest.target.name, view(newest).headline
    places = [_place(each.evidence) for each in entries if symbol(each.evidence) == letter]
    figure = both(lambda narrow: history_figure(places, letter, narrow=narrow))
    rows = [_entry(entry, entries[place - 1] if place else None) for place, entry in enumerate(entries)][::-1]
    sections = [
        section("history", Figure(figure, "Bounds and claim over time"), Text(said("history.points"), "note")),
        section("over-time", table("over-time", rows)),
    ]
    lead = f"Today: {head.word}. {head.sentence}"
    return drawn_page(Page(f"{name} over time", "Differential privacy over time", name, sections, lead, "history"))


def _entry(entry: Entry, before: Entry | None) -> Cells:
    shown, when = view(entry.evidence), entry.when[:16].replace("T", " ")
    return (
        (when, BREAK, note(entry.remark)) if entry.remark else when,
        TextCell(Span("verdict-word", shown.headline.word), shown.headline.tone),
        *(shown.cell(key, missing) for key, missing in (("claim", "none"), ("lower", "–"), ("upper", "–"))),
        "" if before is None else _changed(before, entry),
        TextCell(f"{entry.evidence.id[:17]}…", "code"),
    )


def _place(evidence: Evidence) -> LinePlace:
    claim, upper = evidence.claimed, evidence.upper
    trusted = evidence.verdict is not Verdict.INVALID
    return LinePlace(
        lower=evidence.lower.value if trusted else math.nan,
        upper=math.nan if upper is None else upper.value,
        claim=math.nan if claim is None else claim.value,
        violated=evidence.verdict is Verdict.VIOLATED,
    )


def _changed(before: Entry, now: Entry) -> str:
    """Say what is another than before: the verdict, the claim, the code, the parameters, dpaudit."""
    old, new = before.evidence, now.evidence
    said = [
        name
        for name, one, other in (
            ("verdict", old.verdict, new.verdict),
            ("claim", old.claim, new.claim),
            ("code", old.target.digest, new.target.digest),
            ("parameters", old.target.parameters, new.target.parameters),
            ("neighbours", old.relation, new.relation),
            ("dpaudit", old.versions.get("dpaudit"), new.versions.get("dpaudit")),
        )
        if one != other
    ]
    return ", ".join(said) or "nothing but the runs"


# --- Which of several mechanisms loses how much, and at what error? One table and one picture, as text and as a page.

_WIDTH = 100  # columns of what is said beside the table
HEADS = ("", "Mechanism", "Verdict", "From below", "From above", "Error")
EACH = (
    "Each row is evidence of its own, with its own confidence; – is not known. A smaller bound from below is no "
    "smaller loss: that is what a bound from above says. Errors are estimated on the data of each row, and decide "
    "nothing."
)


def rows(evidences: Sequence[Evidence]) -> list[tuple[str, ...]]:
    """Return the table, one row for each piece of evidence, in the order of `HEADS`."""
    listed: list[tuple[str, ...]] = []
    for place, (evidence, name) in enumerate(zip(evidences, _names(evidences), strict=True), 1):
        shown = view(evidence)
        trusted = evidence.verdict is not Verdict.INVALID
        lower = shown.cell("lower", "–") if trusted else "–"
        error = "–" if evidence.accuracy is None else error_text(evidence.accuracy)
        listed.append((str(place), name, shown.headline.word, lower, _above(shown), error))
    return listed


def _names(listed: Sequence[Evidence]) -> list[str]:
    """The targets, each with the parameters in which they differ."""
    given = [each.target.parameters for each in listed]
    apart = [
        name for name in dict.fromkeys(itertools.chain(*given)) if len({str(each.get(name)) for each in given}) > 1
    ]
    said = [", ".join(f"{name}={each[name]}" for name in apart if name in each) for each in given]
    return [f"{each.target.name} ({own})" if own else each.target.name for each, own in zip(listed, said, strict=True)]


def _above(shown: View) -> str:
    """The bound from above, with the data that it is about: a proof for one number of answers is no proof for all."""
    row = shown.row("upper")
    return "–" if row is None or math.isnan(shown.order("upper")) else row.line.partition(" (")[0]


def cautions(listed: Sequence[Evidence]) -> list[str]:
    """Say what keeps rows from being compared, and what every row is."""
    said = []
    for name, values in (
        ("neighbours", [evidence.relation for evidence in listed]),
        ("claims", [evidence.claim or "none" for evidence in listed]),
    ):
        different = list(dict.fromkeys(values))
        if len(different) > 1:
            said.append(f"Their {name} differ ({', '.join(different)}): compare rows of the same {name}.")
    said += [
        f"{number}: {line.rstrip('.')}." for number, each in enumerate(listed, 1) for line in view(each).pressing_lines
    ]
    return [*said, EACH]


def side_by_side_text(listed: Sequence[Evidence]) -> str:
    """Return the table as text for a terminal, with what is to be said beside it."""
    table = [HEADS, *rows(listed)]
    plain = [[one_line(cell) for cell in row] for row in table]
    widths = [max(len(row[place]) for row in plain) for place in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in plain]
    said = [line for text in cautions(listed) for line in textwrap.wrap(one_line(text), _WIDTH)]
    return "\n".join([*lines, "", *said]) + "\n"


def side_by_side_page(evidences: Sequence[Evidence]) -> str:
    """Return the page."""
    letter = symbol(evidences[0])
    named = enumerate(zip(_names(evidences), evidences, strict=True), 1)
    lanes = [
        _lane(f"{place}{NBSP}{name.rpartition(':')[2]}", each)
        for place, (name, each) in named
        if symbol(each) == letter
    ]
    left, listed = len(evidences) - len(lanes), list[Cells]()
    for evidence, (place, name, word, lower, above, error) in zip(evidences, rows(evidences), strict=True):
        verdict = TextCell(word, f"word {view(evidence).headline.tone}")
        numbers = (number(lower), above, number(error), code(f"{evidence.id[:17]}…"))
        listed.append((TextCell(place, "place"), TextCell(name, head=True), verdict, *numbers))
    figure = both(lambda narrow: side_by_side_figure(lanes, letter, narrow=narrow))
    apart = plainly("side.one" if left == 1 else "side.several", many=left, letter=letter)
    sections = [
        section(
            "side",
            Figure(figure, "Loss and error of each mechanism"),
            *texts([apart] * bool(left) + cautions(evidences), "note"),
        ),
        section("numbers", table("numbers", listed, heads=("No.", *HEADS[1:], "Evidence"))),
    ]
    many = f"{len(evidences)} mechanisms"
    title = f"{many}: what they lose, and at what error"
    return drawn_page(Page(f"{many} side by side", "Differential privacy, side by side", title, sections, kind="lanes"))


def _lane(name: str, evidence: Evidence) -> Lane:
    claim, upper, accuracy = evidence.claimed, evidence.upper, evidence.accuracy
    trusted = evidence.verdict is not Verdict.INVALID
    errors = () if accuracy is None else accuracy.errors
    return Lane(
        name=name,
        lower=evidence.lower.value if trusted else math.nan,
        upper=math.nan if upper is None or not trusted else upper.value,
        claim=math.nan if claim is None else claim.value,
        error=max((each.rmse for each in errors), default=math.nan),
    )


# --- What is known of one release, from all evidence about it? One page. ---
#
# The number, the program, the library and the training run each have evidence of their own, or are named as not
# examined. What one piece says against another is said first.

GRAVEST = (
    Verdict.VIOLATED,
    Verdict.INVALID,
    Verdict.INCONCLUSIVE,
    Verdict.NO_CLAIM,
    Verdict.NOT_VIOLATED,
    Verdict.PROVED,
)
"""Verdicts from the worst to the best."""

_WORDS = {
    Verdict.VIOLATED: "A claim about this release is false.",
    Verdict.INVALID: "Some of the runs cannot be trusted, so nothing is concluded from them.",
    Verdict.INCONCLUSIVE: "Some of the evidence could not decide.",
    Verdict.NO_CLAIM: "Some of the evidence states no claim to be judged.",
    Verdict.NOT_VIOLATED: "No evidence contradicts the claim. This is not a proof of privacy.",
    Verdict.PROVED: "Every piece of evidence proves the claim, each within its own scope.",
}


def gravest_word(all_evidence: Sequence[Evidence]) -> str:
    """Return the gravest verdict as a word, with the statements that any of the evidence rests on."""
    verdict = gravest(all_evidence)
    given = (
        [] if verdict is not Verdict.PROVED else [qualified(each).removeprefix(str(verdict)) for each in all_evidence]
    )
    return str(verdict).upper() + ",".join(filter(None, dict.fromkeys(given)))


def gravest(all_evidence: Sequence[Evidence]) -> Verdict:
    """Return the worst verdict of several."""
    return min((each.verdict for each in all_evidence), key=GRAVEST.index)


def dossier_page(
    name: str, all_evidence: Sequence[Evidence], links: Sequence[str], context: Mapping[str, Any] | None = None
) -> str:
    """Return the page about a release."""
    views, verdict = [view(each) for each in all_evidence], gravest(all_evidence)
    claims = dict.fromkeys(claim_words(each.claimed) for each in all_evidence if each.claimed is not None)
    many = f"{len(views)} verdict{'s' if len(views) > 1 else ''}"
    below = [Text(_WORDS[verdict], "sentence"), Text(said("dossier.gravest", many=many), "caution")]
    pressing = [(shown, line) for shown in views for line in shown.pressing_lines]
    tone, word = str(verdict).replace(" ", "-"), gravest_word(all_evidence)
    sections = [
        section(
            "verdict",
            Banner(tone, word, "The gravest verdict", below),
            *texts(list(contradictions(all_evidence)), "beside presses"),
            *(Text((strong(f"{one.evidence.target.name}."), f" {line}"), "beside presses") for one, line in pressing),
            title=word,
            kind=f"verdict {tone}",
            headless=True,
        ),
        section("examined", table("examined", list(_examined(views, links)))),
        section("questions", Text(said("questions.of")), table("questions", _answers(all_evidence, context or {}))),
        section(
            "cited",
            Text(said("cited.id")),
            Facts(
                [
                    (
                        Span("link", shown.evidence.target.name, link),
                        (shown.headline.sentence, " ", Span("note code", shown.evidence.id)),
                    )
                    for shown, link in zip(views, links, strict=True)
                ]
            ),
            Text(said("cited.legal")),
        ),
    ]
    lead = f"Claimed: {'; '.join(claims)}" if claims else "No claim was stated"
    title, footer = f"{word}: {name}", plainly("dossier.footer")
    return drawn_page(Page(title, "Differential privacy dossier", name, sections, lead, "dossier", footer=footer))


def _examined(views: Sequence[View], links: Sequence[str]) -> Iterator[Cells]:
    """Yield a row for each kind of evidence that there is, and for each kind that there is not."""
    for kind, (about, command) in KINDS.items():
        of_kind = [each for each in zip(views, links, strict=True) if kind in kinds_of(each[0].evidence)]
        if not of_kind:
            yield about, TextCell(("○ not examined: ", code(command)), columns=4)
        for shown, link in of_kind:
            verdict = TextCell(Span("verdict-word", shown.headline.word), shown.headline.tone)
            bounds = (shown.sure("lower", "–"), shown.sure("upper", "–"))
            yield about, Span("link", shown.evidence.target.name, link), verdict, *bounds


def _answers(all_evidence: Sequence[Evidence], context: Mapping[str, Any]) -> list[Cells]:
    rows: list[Cells] = []
    for each in answers(all_evidence, context):
        mark = "○" if each.status != ANSWERED else "◐" if each.from_people else "●"
        status = TextCell(f"{mark} {each.status}", "status")
        rows.append((each.question, status, each.text, TextCell(each.asked_by, "note")))
    return rows


def contradictions(all_evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what one piece of evidence says against another, or leaves for a reader to explain."""
    claims = dict.fromkeys(claim_words(each.claimed) for each in all_evidence if each.claimed is not None)
    if len(claims) > 1:
        yield f"The evidence is about different claims: {'; '.join(claims)}."
    relations = dict.fromkeys(each.relation for each in all_evidence if not each.relation.startswith("queries"))
    if len(relations) > 1:
        yield f"The evidence is about different neighbours: {'; '.join(relations)}."
    yield from _apart(all_evidence)
    for above in all_evidence:
        for below in all_evidence:
            if _exceeds(below, above):
                shown, limit = view(below).cell("lower"), view(above).cell("upper")
                yield (
                    f"{below.target.name} loses more than {above.target.name} is certified to: "
                    f"{shown} in {below.id[:13]}…, {limit} in {above.id[:13]}…. "
                    "Either they are not about the same release, or one of them is wrong."
                )


def _apart(all_evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what evidence about functions has not in common: the function, or its code."""
    coded = [each.target for each in all_evidence if each.target.digest is not None and each.accounting is None]
    digests = {name: {each.digest for each in coded if each.name == name} for name in (each.name for each in coded)}
    for name, known in digests.items():
        if len(known) > 1:
            yield f"The evidence is about different code of {name}: {len(known)} digests. Make all of it anew."
    if len(digests) > 1 and len(set.union(*digests.values())) > 1:
        yield (
            f"The evidence is about different functions: {'; '.join(digests)}. Nothing in it says that they belong to "
            "one release, and what one piece shows says nothing of the others."
        )


def _exceeds(below: Evidence, above: Evidence) -> bool:
    """Whether a lower bound is above an upper bound of the same parameter, δ and neighbours."""
    if above.upper is None or below is above or below.verdict is Verdict.INVALID:
        return False
    same = _notion(below.claimed) == _notion(above.claimed) and below.relation == above.relation
    return same and below.lower.parameter == above.upper.parameter and below.lower.value > above.upper.value


def _notion(claim: Claim | None) -> tuple[str, float] | None:
    return None if claim is None else (claim.notion, claim.delta)


# --- How do several mechanisms compare? ------------------------------------------------------------------

_LETTERS, _NARROW_LETTERS = 26, 16  # of a name; the table beside the drawing has all of it
_FAR = 20.0  # how many times as large the largest error may be until the axis is logarithmic


@dataclass(frozen=True, slots=True)
class Lane:
    """What one mechanism shows, in one unit; NaN where there is no number."""

    name: str
    lower: float
    upper: float
    claim: float
    error: float


def side_by_side_figure(lanes: Sequence[Lane], symbol: str, *, narrow: bool = False) -> str:
    """Draw an interval in each lane, its claim as a stroke, and beside it the error."""
    heights = [len(lanes) - place for place in range(len(lanes))]
    errors = [lane.error for lane in lanes]
    is_known = any(math.isfinite(error) for error in errors)
    with canvas("side by side", 1.5 + 0.34 * len(lanes), narrow=narrow) as figure:
        if is_known:
            axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        else:
            axes, beside = figure.add_subplot(), None
        finite = [x for lane in lanes for x in (lane.lower, lane.upper, lane.claim) if math.isfinite(x)]
        edge = 1.08 * max(finite, default=1.0) or 1.0
        for height, lane in zip(heights, lanes, strict=True):
            if not math.isnan(lane.lower):
                low, high = min(lane.lower, edge), lane.upper if math.isfinite(lane.upper) else edge
                style = "-" if math.isfinite(lane.upper) else (0, (1, 2))
                axes.plot([low, high], [height] * 2, color=MUTED, linewidth=1.6, linestyle=style)
                axes.plot([low], [height], color=INK, marker=">", markersize=7)
            if math.isfinite(lane.upper):
                axes.plot([lane.upper], [height], color=PROOF, marker="<", markersize=7)
            if math.isfinite(lane.claim):
                axes.plot([lane.claim] * 2, [height - 0.34, height + 0.34], color=CLAIM, linewidth=1.6)
        axes.set_xlim(0, edge)
        axes.set_ylim(0.4, len(lanes) + 0.6)
        letters = _NARROW_LETTERS if narrow else _LETTERS
        axes.set_yticks(heights, [shortened(lane.name, letters) for lane in lanes])
        axes.set_xlabel(symbol)
        axes.grid(axis="x")
        if beside is not None:
            beside.plot(errors, heights, color=INK, marker="o", linestyle="", markersize=5)
            positive = [error for error in errors if math.isfinite(error) and error > 0]
            if positive and max(positive) > _FAR * min(positive):
                beside.set_xscale("log")
            else:
                beside.set_xlim(left=0)
            beside.set_xlabel("error (RMSE)")
            beside.tick_params(axis="y", length=0)
            beside.grid(axis="x")
        handles = [
            Line2D([], [], color=INK, marker=">", linestyle="", label="from below"),
            Line2D([], [], color=PROOF, marker="<", linestyle="", label="from above"),
            Line2D([], [], color=CLAIM, linewidth=1.6, label="claim"),
            Line2D([], [], color=MUTED, linestyle=(0, (1, 2)), label="nothing from above"),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = f"{symbol} from below and above, claim and error of {len(lanes)} mechanisms; the table has the numbers"
        return svg(figure, "side by side", label, narrow=narrow)


# --- How did bounds and claim of one target move over time? ----------------------------------------------


@dataclass(frozen=True, slots=True)
class LinePlace:
    """What one piece of evidence shows: bounds and claim in one unit, NaN where there is none."""

    lower: float
    upper: float
    claim: float
    violated: bool


def history_figure(places: Sequence[LinePlace], symbol: str, *, narrow: bool = False) -> str:
    """Draw lower and upper bounds as points, and the claim as a line."""
    numbers = range(1, len(places) + 1)
    with canvas("history", 3.4, narrow=narrow) as figure:
        axes = figure.add_subplot()
        claims = [place.claim for place in places]
        axes.step(numbers, claims, where="mid", color=CLAIM, linewidth=1.4, linestyle=(0, (4, 2)))
        if len(places) == 1:
            axes.plot(numbers, claims, color=CLAIM, marker="D", linestyle="")
        for values, marker, ink in (
            ([place.lower for place in places], "^", INK),
            ([place.upper for place in places], "v", PROOF),
        ):
            shown = [value if math.isfinite(value) else math.nan for value in values]
            axes.plot(numbers, shown, color=ink, marker=marker, linewidth=0.8, markersize=6)
        broken = [(number, place.lower) for number, place in zip(numbers, places, strict=True) if place.violated]
        style: Any = {"marker": "x", "color": INK, "linestyle": "", "markersize": 11, "markeredgewidth": 1.6}
        axes.plot([x for x, y in broken if math.isfinite(y)], [y for _, y in broken if math.isfinite(y)], **style)
        axes.set_xlim(0.5, len(places) + 0.5)
        axes.margins(y=0.08)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_xlabel("evidence, from the oldest to the newest")
        axes.set_ylabel(symbol)
        axes.grid(axis="y")
        handles = [
            Line2D([], [], color=INK, marker="^", label="lower bound"),
            Line2D([], [], color=PROOF, marker="v", label="upper bound"),
            Line2D([], [], color=CLAIM, linestyle=(0, (4, 2)), label="claim"),
            Line2D([], [], label="violated", **style),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = f"Lower bounds, upper bounds and claims of {symbol} over {len(places)} pieces of evidence"
        return svg(figure, "history", label, narrow=narrow)
