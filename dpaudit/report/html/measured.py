"""What was measured, and how often did it occur? The event of an audit, its counts, its drawing, and every attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from dpaudit.evidence.event import DATASETS, Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Candidate, Counts, Histogram, Scores, Verdict
from dpaudit.report.document import (
    BREAK,
    Block,
    Bullets,
    Cell,
    Cells,
    Content,
    Figure,
    Section,
    Span,
    Table,
    Text,
    note,
    number,
    plainly,
    said,
    section,
    strong,
    table,
)
from dpaudit.report.figures.canvas import INK, MUTED, both, canvas, svg
from dpaudit.report.figures.event import bars, event_figure, is_drawn_as_bars, regions
from dpaudit.report.figures.loss import frequency_interval
from dpaudit.report.text.phrases import (
    bound_text,
    confidence_text,
    count_text,
    error_text,
    estimate_text,
    gaussian_text,
    guesses_text,
    is_proof,
    low_bits_sentence,
    rate_text,
    sampled_lower,
    share_text,
    shortened,
)
from dpaudit.report.text.reproduce import counted, how_counted, how_fixed, is_by_rank
from dpaudit.report.view import View
from dpaudit.stats.methods import METHODS, method_of


def measured_section(shown: View) -> Iterator[Section]:
    """Yield the section on the event that showed most in the runs."""
    evidence, bound, histogram = shown.evidence, sampled_lower(shown.evidence), shown.evidence.histogram
    if bound is None:
        yield section("event", *event_blocks(evidence, evidence.lower if not is_proof(evidence) else None))
        return
    drawings, drawn, notes = Markup(), "", []
    if histogram is not None:
        notes.append(_drawing_note(histogram, bound.event))
    if histogram is not None and histogram.cells:
        outputs = histogram
        drawings += both(lambda narrow: event_figure(outputs, bound.event, narrow=narrow))
        first, second = map(count_text, histogram.runs)
        drawn = f"{first} runs on the first dataset and {second} on the second"
    found, scores = evidence.counterexample, evidence.scores
    computed = found is not None and bound.event == found.event
    if evidence.sequential is not None:
        epochs = len(evidence.sequential.epochs)
        last = plainly("event.last", times="once" if epochs == 1 else f"{count_text(epochs)} times")
        blocks = event_blocks(evidence, bound, computed=computed, guesses=last)
    elif scores is None:
        blocks = event_blocks(evidence, bound, computed=computed)
    else:
        if scores.roc:
            drawings += both(lambda narrow: roc_figure(scores, narrow=narrow))
            notes.append(roc_note(scores, evidence.confidence))
        if method_of(bound.method).canaries and bound.counts is not None:
            drawn = f"{count_text(scores.given[0])} scores of members and {count_text(scores.given[1])} of others"
        blocks = _with_scores(evidence, scores, bound, computed=computed)
    if drawings:
        text = f"Drawn from {drawn}. {' '.join(notes).strip()}"
        blocks += [Figure(drawings, "Outputs on both datasets and the event"), Text(text, "note")]
    yield section("event", *blocks)


def low_bits_section(shown: View) -> Iterator[Section]:
    """Yield the section on the low-order bits, if they were examined."""
    evidence, bound, text = shown.evidence, shown.evidence.floating_point, low_bits_sentence(shown.evidence)
    if text is not None:
        there = bound is not None and bound.event is not None
        blocks = event_blocks(evidence, bound, what="the event in the low-order bits") if there else []
        yield section("low-bits", Text(said("low-bits.why", found=text)), *blocks)


def _with_scores(evidence: Evidence, scores: Scores, bound: Bound, *, computed: bool) -> list[Block]:
    """Return the event with what scores show besides; guesses by rank have no event and no intervals."""
    also = _scores_sentences(evidence, scores)
    counts = bound.counts
    if not method_of(bound.method).canaries or counts is None:
        said = "" if counts is None or not method_of(bound.method).guesses else _guesses(counts)
        return event_blocks(evidence, bound, computed=computed, guesses=" ".join(filter(None, [said, *also])))
    sentences = [
        (side, f"a score among the {count_text(sum(hits))} {end} of all {count_text(sum(counts.runs))} canaries")
        for side, hits, end in ((0, counts.toward0, "highest"), (1, counts.toward1, "lowest"))
        if sum(hits)
    ]
    said = " ".join([f"Guessed were the {guesses_text(bound)}.", *also])
    return event_blocks(evidence, bound, computed=computed, guesses=said, sentences=sentences)


def _scores_sentences(evidence: Evidence, scores: Scores) -> list[str]:
    """Say what scores show besides the bound."""
    found, estimate = "; ".join(rate_text(rate) for rate in scores.rates), gaussian_text(scores)
    how = f"exact limits at {confidence_text(evidence.confidence)} confidence, each by itself"
    if scores.design == "one-run":
        how = "estimates; scores of one model hang together, and have no exact limits"
    gaussian = [plainly("event.gaussian", estimate=estimate)] if estimate else []
    return [f"The true positive rate is {found}: {how}.", *gaussian]


def event_blocks(
    evidence: Evidence,
    bound: Bound | None,
    *,
    computed: bool = False,
    guesses: str | None = None,
    sentences: list[tuple[int, str]] | None = None,
    what: str = "the event",
) -> list[Block]:
    """Return what was measured and how often it occurred.

    Args:
        evidence: the evidence.
        bound: the bound whose event it is; None if nothing was measured.
        computed: whether the event was found with its probabilities.
        guesses: what guesses by it show, if not what its counts say.
        sentences: (side, outputs that point to it), if not those of the event.
        what: what the table is about, for readers who hear it.
    """
    event, counts = (None, None) if bound is None else (bound.event, bound.counts)
    intervals = evidence.sequential is None and not is_by_rank(evidence)
    if sentences is None:
        sentences = [] if event is None else [(side, event.describe(side)) for side in (0, 1) if event.toward(side)]
    blocks: list[Block] = []
    if sentences:
        items = [
            Cell(
                (Span("chip", _CHIPS[side]), f" {text[:1].upper()}{text[1:]} points to {DATASETS[side]}."),
                f"side{side}",
            )
            for side, text in sentences
        ]
        fixed = how_fixed(evidence, None if bound is None else bound.pair, computed=computed)
        blocks += [Text(fixed), Bullets(items, "events")]
    else:
        nothing = ": nothing was run" if not evidence.measuring and is_proof(evidence) else ""
        blocks.append(Text(f"No event was measured{nothing}."))
    if counts is not None and sentences:
        caption = how_counted(evidence, intervals=intervals)
        blocks.append(
            _counts_table(evidence, counts, [side for side, _ in sentences], caption, what, intervals=intervals)
        )
    if guesses is None and bound is not None and counts is not None and method_of(bound.method).guesses:
        guesses = _guesses(counts)
    return [*blocks, Text(guesses)] if guesses else blocks


_CHIPS = ("● first", "■ second")


def _counts_table(
    evidence: Evidence, counts: Counts, sides: list[int], caption: str, what: str, *, intervals: bool
) -> Table:
    """Return how often each part of an event occurred on either dataset."""
    runs, columns = counted(evidence), 3 if intervals else 2
    above = [
        Cell("Output", rows=2),
        Cell(f"● First dataset, {count_text(counts.runs[0])} {runs}", "side0", columns=columns),
        Cell(f"■ Second, {count_text(counts.runs[1])} {runs}", "side1", columns=columns),
    ]
    heads = [number(name) for name in (runs, "share", "interval")[:columns]] * 2
    rows: list[Sequence[Content | Cell]] = []
    rest = list(counts.runs)
    for side in sides:
        hits = counts.toward0 if side == 0 else counts.toward1
        rest = [rest[own] - hits[own] for own in (0, 1)]
        rows.append((f"points to {DATASETS[side]}", *_shares(hits, counts.runs, columns)))
    rows.append(("any other output", *_shares((rest[0], rest[1]), counts.runs, columns)))
    return Table(f"counts of {what}", heads, rows, caption, "counts", above)


def _drawing_note(histogram: Histogram, event: Event | None) -> str:
    if is_drawn_as_bars(histogram):
        marked = any(bar.side is not None for bar in bars(histogram, event))
        return "An arrow names the dataset that the event takes an output to point to." if marked else ""
    if histogram.axis == "score":
        return "The figure shows one score of outputs that have several numbers; the event may use another."
    strips = "The strips above the axis mark the outputs that the event takes. " if regions(event) else ""
    return strips + "Rare outputs outside of the axis are not drawn."


def _shares(hits: tuple[int, int], runs: tuple[int, int], columns: int) -> list[Cell]:
    low, high = frequency_interval(hits, runs)
    found = []
    for own in (0, 1):
        share = share_text(hits[own] / runs[own]) if runs[own] else "–"
        ends = f"{share_text(float(low[own]), rounding='lower')} to {share_text(float(high[own]), rounding='upper')}"
        found += [number(text) for text in (count_text(hits[own]), share, ends)[:columns]]
    return found


def _guesses(counts: Counts) -> str:
    right, wrong = counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]
    if right + wrong == 0:
        return "No output fell into the event, so the attacker never guessed."
    return (
        f"An attacker who guesses the dataset by this event, and passes otherwise, guessed {count_text(right + wrong)} "
        f"times and was right {count_text(right)} times ({share_text(right / (right + wrong))}); a coin would be "
        "right half of the time."
    )


# --- the ROC of scores ------------------------------------------------------------------------------------


def roc_figure(scores: Scores, *, narrow: bool = False) -> str:
    """Draw the ROC at its thresholds, and the region that certainly contains it, if there is one."""
    sizes = scores.measured
    points = sorted((b / sizes[1], a / sizes[0]) for a, b in (point.counts for point in scores.roc))
    with canvas("roc", 3.8, narrow=narrow) as figure:
        axes = figure.add_subplot()
        region = _roc_region(scores)
        if region:
            x, low, high = zip(*region, strict=True)
            axes.fill_between(x, low, high, step="post", color=INK, alpha=0.16, linewidth=0)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.plot(
            *zip((0.0, 0.0), *points, (1.0, 1.0), strict=True), color=INK, linewidth=1.2, marker="o", markersize=3
        )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.grid()
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("true positive rate")
        label = "True positive rate against false positive rate" + ("" if not region else ", with its certain region")
        return svg(figure, "roc", label, narrow=narrow)


def _roc_region(scores: Scores) -> list[tuple[float, float, float]]:
    """Return corners (FPR, lowest TPR, highest TPR) of the region from left to right, each valid up to the next."""
    limits = [point.limits for point in scores.roc if point.limits is not None]
    if not limits:
        return []
    ends = sorted({0.0, 1.0, *(limit[2] for limit in limits), *(limit[3] for limit in limits)})
    return [
        (
            x,
            max((limit[0] for limit in limits if limit[3] <= x), default=0.0),
            min((limit[1] for limit in limits if limit[2] > x), default=1.0),
        )
        for x in ends
    ]


def roc_note(scores: Scores, confidence: float) -> str:
    """Say what the ROC shows."""
    if any(point.limits is None for point in scores.roc):
        return "The curve is that of these scores; scores of one model hang together, so no region is certain."
    return (
        f"The curve is that of the measuring scores; all of the true curve lies within the grey region, at "
        f"{confidence_text(confidence)} confidence. The region is a statement of its own and decides nothing."
    )


# --- Which events were measured, and with which result? --------------------------------------------------

_LONGEST = 200  # characters of an event in the table, about three lines
_MOST = 5  # candidates that are named; the others were predicted to show less


def attempts_section(shown: View) -> Iterator[Section]:
    """Yield the section on all measured events."""
    evidence = shown.evidence
    if not evidence.attempts:
        yield section("attempts", Text(said("attempts.none")))
        return
    notes = {
        "low_bits": plainly("attempts.low_bits") if evidence.low_bits == "report" else "",
        "doubt": "" if evidence.second is None or evidence.second.confirmed else plainly("attempts.doubt"),
    }
    error, confidence = error_text(evidence.confidence), confidence_text(evidence.confidence)
    considered = [
        f"Pair {each.pair}, {each.name}: {'; '.join(_candidates(each.considered))}."
        for each in evidence.attempts
        if each.considered
    ]
    yield section(
        "attempts",
        Text(said("attempts.how", error=error, confidence=confidence, **notes)),
        table("attempts", [_row(evidence, each) for each in evidence.attempts], kind="attempts"),
        Text(said("attempts.compared")) if considered else None,
        Bullets(considered) if considered else None,
    )


def _row(evidence: Evidence, attempt: Attempt) -> Cells:
    bound, sampled = attempt.bound, attempt.bound.kind == "sampled"
    value = bound_text(bound, evidence.claimed) if bound.value > 0 else "none above 0"
    value = value if evidence.verdict is not Verdict.INVALID or not sampled else "not used"
    sure = confidence_text(bound.confidence) if sampled else "certain"
    counts = [part for text in _counts(attempt) for part in (BREAK, text)][1:]
    return (
        str(attempt.pair),
        (strong(attempt.name), f", {bound.method}", BREAK, note(_event(bound))),
        number(tuple(counts)),
        number((value, BREAK, note(f"{sure} by itself"))),
        number(error_text(bound.confidence) if sampled else "none"),
    )


def _event(bound: Bound) -> str:
    if bound.event is not None:
        return shortened(bound.event.words, _LONGEST)
    return "nothing to measure" if bound.counts is None else "guesses by the order of the scores"


def _counts(attempt: Attempt) -> list[str]:
    bound, counts = attempt.bound, attempt.bound.counts
    if counts is None:
        return ["–"]
    texts = [
        f"pointing to {DATASETS[side]}: {count_text(hits[0])} | {count_text(hits[1])}"
        for side, hits in ((0, counts.toward0), (1, counts.toward1))
        if bound.event is None or bound.event.toward(side)
    ]
    return [*texts, f"of {count_text(counts.runs[0])} | {count_text(counts.runs[1])}"]


def _candidates(considered: Sequence[Candidate]) -> list[str]:
    texts = [f"{one.family}, {one.method}: {estimate_text(one.predicted)}" for one in considered[:_MOST]]
    rest = len(considered) - len(texts)
    return [*texts, f"and {rest} more in the record"] if rest else texts


def methods(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the methods of the bounds, with a description of each."""
    bounds = [evidence.lower, evidence.floating_point, *(attempt.bound for attempt in evidence.attempts)]
    used = dict.fromkeys(bound.method for bound in bounds if bound is not None)
    return [(name, METHODS[name].words) for name in used if name in METHODS]
