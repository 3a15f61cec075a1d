"""What was measured, how often did it occur, and what do outputs give away?

The event of an audit, its counts, its drawing, and every attempt; the privacy loss, suspicion, and the two curves.

Under pure ε-DP a suspicion of π becomes at most π·e^ε / (1 + π·(e^ε − 1)), whatever the output (Dwork, McSherry,
Nissim & Smith 2006, by Bayes' rule); at δ > 0, and for μ, ρ and Rényi claims, single outputs have no such limit.
Evidence gives a lower limit: if an event is at least e^L times as likely on one side, the suspicion of that side
becomes at least π·e^L / (1 + π·(e^L − 1)) whenever the event occurs.

A claim excludes every pair of rates below its trade-off curve (Dong, Roth & Su 2022, Definition 2.1), so an event whose
rates are certainly there refutes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.patches import Patch

from dpaudit.arrays import Floats
from dpaudit.evidence import records
from dpaudit.evidence.event import DATASETS, Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Candidate, Counts, Histogram, Scores, Verdict
from dpaudit.privacy import Claim
from dpaudit.report.document import (
    BREAK,
    Block,
    Bullets,
    Cells,
    Content,
    Figure,
    Section,
    Span,
    TableBlock,
    Text,
    TextCell,
    head,
    marked,
    note,
    number,
    plainly,
    said,
    section,
    strong,
    table,
    words,
)
from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, both, canvas, svg
from dpaudit.report.figures.curves import Point, curve_points, measured_points, profile_figure, tradeoff_figure
from dpaudit.report.figures.event import bars, event_figure, is_drawn_as_bars, regions
from dpaudit.report.figures.loss import Losses, beyond, cell_losses, frequency_interval, loss_bins, loss_figure
from dpaudit.report.text.phrases import (
    NBSP,
    Proved,
    bound_text,
    claim_text,
    confidence_text,
    count_text,
    error_text,
    estimate_text,
    exact_lower,
    gaussian_text,
    guesses_text,
    is_proof,
    low_bits_sentence,
    proved_limit,
    rate_text,
    sampled_lower,
    share_text,
    shortened,
)
from dpaudit.report.text.reproduce import counted, how_counted, how_fixed, is_by_rank
from dpaudit.report.view import View
from dpaudit.stats.methods import METHODS, SEQUENTIAL, method_of


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
    counterexample, scores = evidence.counterexample, evidence.scores
    computed = counterexample is not None and bound.event == counterexample.event
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
    rates, estimate = "; ".join(rate_text(rate) for rate in scores.rates), gaussian_text(scores)
    how = f"exact limits at {confidence_text(evidence.confidence)} confidence, each by itself"
    if scores.design == "one-run":
        how = "estimates; scores of one model hang together, and have no exact limits"
    gaussian = [plainly("event.gaussian", estimate=estimate)] if estimate else []
    return [f"The true positive rate is {rates}: {how}.", *gaussian]


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
            TextCell(
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
) -> TableBlock:
    """Return how often each part of an event occurred on either dataset."""
    runs, columns = counted(evidence), 3 if intervals else 2
    above = [
        TextCell("Output", rows=2),
        TextCell(f"● First dataset, {count_text(counts.runs[0])} {runs}", "side0", columns=columns),
        TextCell(f"■ Second, {count_text(counts.runs[1])} {runs}", "side1", columns=columns),
    ]
    heads = [number(name) for name in (runs, "share", "interval")[:columns]] * 2
    rows: list[Sequence[Content | TextCell]] = []
    rest = list(counts.runs)
    for side in sides:
        hits = counts.toward0 if side == 0 else counts.toward1
        rest = [rest[own] - hits[own] for own in (0, 1)]
        rows.append((f"points to {DATASETS[side]}", *_shares(hits, counts.runs, columns)))
    rows.append(("any other output", *_shares((rest[0], rest[1]), counts.runs, columns)))
    return TableBlock(f"counts of {what}", heads, rows, caption, "counts", above)


def _drawing_note(histogram: Histogram, event: Event | None) -> str:
    if is_drawn_as_bars(histogram):
        marked = any(bar.side is not None for bar in bars(histogram, event))
        return "An arrow names the dataset that the event takes an output to point to." if marked else ""
    if histogram.axis == "score":
        return "The figure shows one score of outputs that have several numbers; the event may use another."
    strips = "The strips above the axis mark the outputs that the event takes. " if regions(event) else ""
    return strips + "Rare outputs outside of the axis are not drawn."


def _shares(hits: tuple[int, int], runs: tuple[int, int], columns: int) -> list[TextCell]:
    low, high = frequency_interval(hits, runs)
    cells = []
    for own in (0, 1):
        share = share_text(hits[own] / runs[own]) if runs[own] else "–"
        ends = f"{share_text(float(low[own]), rounding='lower')} to {share_text(float(high[own]), rounding='upper')}"
        cells += [number(text) for text in (count_text(hits[own]), share, ends)[:columns]]
    return cells


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


# --- How does the privacy loss compare with the claim? ---------------------------------------------------


def loss_section(shown: View) -> Iterator[Section]:
    """Yield the section on the histogram of the loss; without a histogram of both sides it says so."""
    evidence, losses = shown.evidence, cell_losses(shown.evidence.histogram)
    if losses is None:
        unrun = is_proof(evidence) and not evidence.measuring
        yield section("loss", Text(said("loss.unrun" if unrun else "loss.none")))
        return
    of_score = evidence.histogram is not None and evidence.histogram.axis == "score"
    yield section("loss", *loss_blocks(losses, evidence.claimed, proved_limit(evidence), of_score=of_score))


def loss_blocks(losses: Losses, claim: Claim | None, upper: Proved | None, *, of_score: bool) -> list[Block]:
    """Return the drawing, how it is read, and what lies beyond the claim."""
    limit = claim.value if claim is not None and claim.is_point else None
    text = "" if claim is None or limit is None else f"ε = {claim_text(limit)}"
    bins, (first, second) = loss_bins(losses, limit), map(count_text, losses.runs)
    notes = {
        "atoms": plainly("loss.atoms") if bins.atoms else "",
        "outside": "" if limit is None else _outside(losses, limit),
        "score": plainly("loss.score") if of_score else "",
    }
    drawing = both(lambda narrow: loss_figure(bins, limit, text, upper, narrow=narrow))
    blocks: list[Block] = [Text(said("loss.read")), Figure(drawing, "Histogram of the privacy loss")]
    blocks.append(Text(said("loss.drawn", first=first, second=second, **notes), "note"))
    if bins.stated is not None:
        blocks.append(Text(_stated(losses, claim, limit), "note"))
    for side, sign in ((0, "+"), (1, "−")):
        alone = losses.infinite & ((losses.count0 if side == 0 else losses.count1) > 0)
        if alone.any():
            names = {"side": DATASETS[side], "other": DATASETS[1 - side]}
            blocks.append(Text(said("loss.infinite", share=share_text(losses.mass(side, alone)), sign=sign, **names)))
    if claim is not None and limit is not None:
        blocks.append(_beyond_table(losses, limit, claim.delta, text))
    blocks.append(Text(_loss_note(claim)))
    rare = int(losses.count0[losses.rare].sum() + losses.count1[losses.rare].sum())
    return [*blocks, Text(said("loss.rare", runs=count_text(rare)), "note")] if rare else blocks


def _stated(losses: Losses, claim: Claim | None, limit: float | None) -> str:
    """Describe the law that is drawn over the bars, and its mass beyond the claim."""
    text, law = plainly("loss.stated"), None if limit is None else beyond(losses, limit).stated
    if claim is None or law is None:
        return text
    if not any(mass for mass, _ in law):
        return f"{text} By this law no cell lies beyond ±ε."
    (above, excess0), (below, excess1) = law
    text += plainly("loss.stated_beyond", above=share_text(above), below=share_text(below))
    if claim.delta > 0:
        more = "more" if max(excess0, excess1) > claim.delta else "not more"
        text += f"; the excess over the cells is {share_text(excess0)} and {share_text(excess1)}, {more} than δ"
    return text + "."


def _outside(losses: Losses, limit: float) -> str:
    reach = float(abs(losses.loss[losses.finite]).max(initial=0.0))
    return "" if limit <= 5 * max(reach, 1e-12) * 1.02 else plainly("loss.outside")


def _beyond_table(losses: Losses, limit: float, delta: float, text: str) -> TableBlock:
    beyond_limit, rows, heads = beyond(losses, limit), list[Cells](), list[Content]()
    for side, name in enumerate(("loss above +ε, on the first dataset", "loss below −ε, on the second")):
        row = [share_text(beyond_limit.clear[side]), share_text(beyond_limit.unclear[side])]
        row += [share_text(beyond_limit.excess[side]), f"{estimate_text(100 * delta)}{NBSP}%"] if delta > 0 else []
        rows.append((name, *map(number, row)))
    if delta > 0:
        heads = [marked(each) for each in words()["loss"]["excess"]]
    return table("loss", rows, heads=heads, limit=text)


def _loss_note(claim: Claim | None) -> str:
    if claim is None:
        return plainly("loss.unclaimed")
    kind = "loss.pure" if claim.pure else "loss.point" if claim.is_point else "loss.whole"
    return plainly(kind, notion=claim.notion)


# --- How sure can an attacker become? --------------------------------------------------------------------

PRIORS = (0.01, 0.1, 0.5)


def posterior_section(shown: View) -> Iterator[Section]:
    """Yield the section, if the claim or the evidence limits single outputs."""
    limit, bound, loss = suspicion(shown.evidence)
    if limit is None and not loss > 0:
        return
    limited = "" if limit is None else plainly("posterior.limited")
    how = said("posterior.how", limited=limited, shown=plainly("posterior.shown") if loss > 0 else "")
    figure = both(lambda narrow: posterior_figure(limit, loss, narrow=narrow))
    drawn = Figure(figure, "Suspicion after an output against suspicion before it")
    basis = _basis(bound, loss) if loss > 0 else _note(shown.evidence.claimed)
    yield section("posterior", Text(how), drawn, Text(basis, "note"))


def suspicion(evidence: Evidence) -> tuple[float | None, records.Bound | None, float]:
    """Return the claimed limit of the loss of an output, if there is one; and the bound and the loss that are shown."""
    claim = evidence.claimed
    bound = exact_lower(evidence) if evidence.verdict is records.Verdict.INVALID else evidence.lower
    return claim.value if claim is not None and claim.pure else None, bound, certified_loss(bound)


def suspicion_rows(limit: float | None, loss: float) -> list[tuple[str, str, str]]:
    """Return (before, at most by the claim, at least by the evidence) of a few suspicions."""
    return [
        (
            f"{100 * prior:g}{NBSP}%",
            "no limit" if limit is None else _percent(prior, limit, "upper"),
            _percent(prior, loss, "lower") if loss > 0 else "nothing shown",
        )
        for prior in PRIORS
    ]


def suspicion_blocks(evidence: Evidence) -> list[Block]:
    """Return what suspicions become, for readers who know nothing of events; nothing if outputs have no limit."""
    limit, bound, loss = suspicion(evidence)
    if limit is None and not loss > 0:
        return []
    rows = [
        (head(before, "number"), number(most), number(least)) for before, most, least in suspicion_rows(limit, loss)
    ]
    sure = f"{_note(evidence.claimed)} {_basis(bound, loss, plain=True)}"
    return [table("words", rows, kind="odds"), Text(sure, "note")]


def raised(prior: Floats, loss: float) -> Floats:
    """Return the suspicion after an output that is e^loss times as likely on the suspected side; shape of ``prior``."""
    prior = np.asarray(prior, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        after = 1 / (1 + (1 - prior) / prior * math.exp(-loss))
    return np.where(prior <= 0, 0.0, after)


def certified_loss(bound: records.Bound | None) -> float:
    """Return L such that some event is at least e^L times as likely on one side; 0 if nothing is shown.

    A bound of ε is itself such an L, at any δ, since P ≥ e^ε·Q + δ; so is a bound of a Rényi divergence, which never
    exceeds the largest log ratio. For a bound of μ or ρ, L follows from exact limits of the event's two probabilities
    (Clopper & Pearson 1934), which share the error of the bound.
    """
    if (
        bound is None or method_of(bound.method).canaries
    ):  # joint guesses about many canaries: no event of a single output
        return 0.0
    if bound.parameter == "epsilon":
        return max(bound.value, 0.0)
    counts = bound.counts
    if counts is None or bound.value <= 0:
        return 0.0
    side = 0 if any(counts.toward0) else 1
    hits = counts.toward1 if side else counts.toward0
    low, high = frequency_interval(hits, counts.runs, bound.confidence)
    with np.errstate(divide="ignore"):
        return max(0.0, float(np.log(low[side]) - np.log(high[1 - side])))


def _percent(prior: float, loss: float, rounding: str) -> str:
    after = float(raised(np.array(prior), loss))
    if rounding == "lower" and math.isfinite(loss):
        after = min(after, math.nextafter(1.0, 0.0))  # a finite loss never gives certainty
    return share_text(after, rounding=rounding)


def _basis(bound: records.Bound | None, loss: float, *, plain: bool = False) -> str:
    """Say what raises a suspicion; ``plain``: for readers who know nothing of events."""
    if bound is None or loss <= 0:
        return plainly("posterior.nothing")
    sure = f"at {confidence_text(bound.confidence)} confidence" if bound.kind == "sampled" else "with certainty"
    kind = "plain" if plain else "bets" if bound.method == SEQUENTIAL else "event"
    return plainly(f"posterior.{kind}", sure=sure)


def _note(claim: Claim | None) -> str:
    kind = "unclaimed" if claim is None else "pure" if claim.pure else "delta" if claim.delta > 0 else "whole"
    return plainly(f"posterior.{kind}")


def posterior_figure(limit: float | None, loss: float, *, narrow: bool = False) -> str:
    """Draw suspicion after an output against suspicion before it."""
    prior = np.linspace(0.0, 1.0, 151)
    with canvas("posterior", 4.6 if narrow else 3.8, narrow=narrow) as figure:
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, label="nothing learned")
        if limit is not None:
            top, bottom = raised(prior, limit), raised(prior, -limit)
            axes.fill_between(prior, bottom, top, facecolor=(CLAIM, 0.1), linewidth=0)
            for edge in (top, bottom):
                axes.plot(prior, edge, color=CLAIM, linewidth=1.3, linestyle=(0, (4, 2)))
            axes.fill_between(prior, top, 1.0, facecolor="none", edgecolor=(CLAIM, 0.45), hatch="////", linewidth=0)
        if loss > 0:
            axes.plot(prior, raised(prior, loss), color=INK, linewidth=1.8, label="evidence: at least, in the event")
            places = np.array(PRIORS)
            axes.plot(places, raised(places, loss), "o", color=INK, markersize=4.5)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("suspicion before the output")
        axes.set_ylabel("suspicion after it")
        handles = axes.get_legend_handles_labels()[0]
        if limit is not None:
            handles += [
                Patch(facecolor=(CLAIM, 0.1), edgecolor=CLAIM, linestyle="--", label="allowed by the claim"),
                Patch(facecolor="none", edgecolor=(CLAIM, 0.45), hatch="////", label="ruled out by the claim"),
            ]
        figure.legend(handles=handles, loc="outside upper left", ncols=1 if narrow else 2)
        label = "Suspicion after an output against suspicion before it" + (
            "" if limit is None else ", with the band that the claim allows"
        )
        return svg(figure, "posterior", label, narrow=narrow)


# --- What is in the sections on the trade-off curve and the privacy profile? -----------------------------

_MOST_PLACES = 10  # points of a certified curve in the table, to keep it short


def curves_section(shown: View) -> Iterator[Section]:
    """Yield the trade-off curve and the privacy profile, if anything usable was measured or computed."""
    evidence, claim = shown.evidence, shown.evidence.claimed
    points, curve, upper = certain_points(evidence), evidence.curve, proved_limit(evidence)
    if not points:
        return
    known = [] if curve is None else list(zip(curve.epsilons, curve.deltas, strict=True))
    tradeoff = both(lambda narrow: tradeoff_figure(points, claim, upper, narrow=narrow))
    profile = both(lambda narrow: profile_figure(points, claim, upper, known, narrow=narrow))
    rare = plainly("tradeoff.rare") if any(point.rare for point in points) else ""
    yield section(
        "tradeoff",
        Text(said("tradeoff.how", forbids="" if claim is None else plainly("tradeoff.forbids"))),
        Figure(tradeoff, "Trade-off between false positives and false negatives"),
        Text(f"{rare}{_basis_of_curves(evidence, points)}", "note"),
        _mistakes(points, claim),
    )
    yield section(
        "profile",
        Text(said("profile.how", enough="" if claim is None else plainly("profile.enough"))),
        Figure(profile, "Privacy profile: δ against ε"),
        Text(said("profile.from"), "note"),
    )


def certain_points(evidence: Evidence) -> list[Point]:
    """Return the points of both curves: of a certified curve and of what was computed, else of what was measured."""
    points, curve = measured_points(evidence), evidence.curve
    if curve is None or evidence.verdict is records.Verdict.INVALID:
        return points
    return [point for point in points if point.exact] + curve_points(curve)


def _mistakes(points: Sequence[Point], claim: Claim | None) -> TableBlock:
    """Return the table of the mistakes of an attacker, by each event, or at places of a curve."""
    rows, known = mistake_rows(points, claim), words()["tradeoff"]
    if any(point.event for point in points):
        return table("tradeoff", rows, heads=known["allowed"] if claim is not None else ())
    places = [(head(row[2].content, "number"), *row[4:]) for row in rows]
    heads = known["places"]["allowed"] if claim is not None else ()
    return table("tradeoff.places", places, kind="odds", heads=heads)


def mistake_rows(points: Sequence[Point], claim: Claim | None) -> list[list[TextCell]]:
    """Return name, false positives and their limit, false negatives and theirs, and what a claim allows, by point."""
    return [_mistake(point, claim) for point in _tabled(points)]


def _tabled(points: Sequence[Point]) -> list[Point]:
    """Return every event, and a few points of a curve."""
    places = [point for point in points if not point.event]
    step = max(1, math.ceil(len(places) / _MOST_PLACES))
    return [point for point in points if point.event] + places[::step]


def _basis_of_curves(evidence: Evidence, points: Sequence[Point]) -> str:
    """Say how certain the limits are, and how they relate to the verdict."""
    parts, curve = [], evidence.curve
    sampled = sum(point.event and not point.exact for point in points)
    if curve is not None and not all(point.event for point in points):
        parts.append(plainly("tradeoff.curve", sure=confidence_text(curve.confidence), many=len(curve.statements)))
    elif sampled:
        many = "Both limits" if sampled == 1 else f"The limits of all {sampled} pairs of rates"
        parts.append(plainly("tradeoff.rates", many=many, sure=confidence_text(evidence.confidence)))
    if any(point.exact for point in points):
        parts.append(plainly("tradeoff.exact"))
    return " ".join(parts)


def _mistake(point: Point, claim: Claim | None) -> list[TextCell]:
    limits = [share_text(rate, rounding="upper") for rate in point.corner]
    if not point.event:
        limits[0] = share_text(point.corner[0])  # a chosen point of the curve, not a limit
    shares = [share_text(rate) if point.event else "–" for rate in point.rates]
    row = [head(point.name), *map(number, (shares[0], limits[0], shares[1], limits[1]))]
    if claim is not None:
        least = float(claim.tradeoff(point.corner[0]))
        allowed = share_text(least)
        row.append(number((allowed, " ", strong("beyond the claim")) if point.corner[1] < least else allowed))
    return row
