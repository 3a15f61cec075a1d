"""What do outputs give away? The sections on the privacy loss, on suspicion, and on the two curves.

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
from dataclasses import replace

import numpy as np
from matplotlib.patches import Patch

from dpaudit.arrays import Floats
from dpaudit.evidence import event, records
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim
from dpaudit.report.document import (
    Block,
    Cell,
    Cells,
    Content,
    Figure,
    Section,
    Table,
    Text,
    head,
    marked,
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
from dpaudit.report.figures.loss import Losses, beyond, cell_losses, frequency_interval, loss_bins, loss_figure
from dpaudit.report.text.phrases import (
    NBSP,
    Proved,
    claim_text,
    confidence_text,
    count_text,
    detectable_sentence,
    estimate_text,
    exact_lower,
    is_proof,
    proved_limit,
    share_text,
    symbol,
    upper_text,
)
from dpaudit.report.view import View
from dpaudit.stats.methods import SEQUENTIAL, method_of

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
            names = {"side": event.DATASETS[side], "other": event.DATASETS[1 - side]}
            blocks.append(Text(said("loss.infinite", share=share_text(losses.mass(side, alone)), sign=sign, **names)))
    if claim is not None and limit is not None:
        blocks.append(_beyond_table(losses, limit, claim.delta, text))
    blocks.append(Text(_loss_note(claim)))
    rare = int(losses.count0[losses.rare].sum() + losses.count1[losses.rare].sum())
    return [*blocks, Text(said("loss.rare", runs=count_text(rare)), "note")] if rare else blocks


def _stated(losses: Losses, claim: Claim | None, limit: float | None) -> str:
    """Describe the law that is drawn over the bars, and its mass beyond the claim."""
    text, found = plainly("loss.stated"), None if limit is None else beyond(losses, limit).stated
    if claim is None or found is None:
        return text
    if not any(mass for mass, _ in found):
        return f"{text} By this law no cell lies beyond ±ε."
    (above, excess0), (below, excess1) = found
    text += plainly("loss.stated_beyond", above=share_text(above), below=share_text(below))
    if claim.delta > 0:
        more = "more" if max(excess0, excess1) > claim.delta else "not more"
        text += f"; the excess over the cells is {share_text(excess0)} and {share_text(excess1)}, {more} than δ"
    return text + "."


def _outside(losses: Losses, limit: float) -> str:
    reach = float(abs(losses.loss[losses.finite]).max(initial=0.0))
    return "" if limit <= 5 * max(reach, 1e-12) * 1.02 else plainly("loss.outside")


def _beyond_table(losses: Losses, limit: float, delta: float, text: str) -> Table:
    found, rows, heads = beyond(losses, limit), list[Cells](), list[Content]()
    for side, name in enumerate(("loss above +ε, on the first dataset", "loss below −ε, on the second")):
        row = [share_text(found.clear[side]), share_text(found.unclear[side])]
        row += [share_text(found.excess[side]), f"{estimate_text(100 * delta)}{NBSP}%"] if delta > 0 else []
        rows.append((name, *map(number, row)))
    if delta > 0:
        heads = [marked(each) for each in words()["loss"]["excess"]]
    drawn = table("loss", rows, heads=heads)
    return replace(drawn, caption=plainly("loss.caption", limit=text))


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


def _mistakes(points: Sequence[Point], claim: Claim | None) -> Table:
    """Return the table of the mistakes of an attacker, by each event, or at places of a curve."""
    rows, known = mistake_rows(points, claim), words()["tradeoff"]
    if any(point.event for point in points):
        return table("tradeoff", rows, heads=known["allowed"] if claim is not None else ())
    places = [(head(row[2].content, "number"), *row[4:]) for row in rows]
    heads = known["places"]["allowed"] if claim is not None else ()
    return table("tradeoff.places", places, kind="odds", heads=heads)


def mistake_rows(points: Sequence[Point], claim: Claim | None) -> list[list[Cell]]:
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


def _mistake(point: Point, claim: Claim | None) -> list[Cell]:
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


# --- What would this audit have found, and how many runs would smaller violations need? ---


def power_section(shown: View) -> Iterator[Section]:
    """Yield the section, if there is a claim and the runs can be trusted."""
    evidence = shown.evidence
    if evidence.detectable is None or evidence.verdict is records.Verdict.INVALID:
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
