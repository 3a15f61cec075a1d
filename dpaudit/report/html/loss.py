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
from typing import Any

import numpy as np
from matplotlib.patches import Patch

from dpaudit.arrays import Floats
from dpaudit.evidence import event, records
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, both, canvas, svg
from dpaudit.report.figures.curves import Point, curve_points, measured_points, profile_figure, tradeoff_figure
from dpaudit.report.figures.loss import Losses, beyond, cell_losses, frequency_interval, loss_bins, loss_figure
from dpaudit.report.html.templates import Section
from dpaudit.report.text.phrases import (
    claim_text,
    confidence_text,
    count_text,
    detectable_sentence,
    estimate_text,
    exact_lower,
    proved_limit,
    share_text,
    symbol,
    upper_text,
)
from dpaudit.report.view import View
from dpaudit.stats.methods import SEQUENTIAL, method_of

# --- How does the privacy loss compare with the claim? ---------------------------------------------------


def loss_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section on the histogram of the loss; without a histogram it says so."""
    evidence = shown.evidence
    of_score = evidence.histogram is not None and evidence.histogram.axis == "score"
    yield Section("loss", "Privacy loss", {"loss": loss_part(evidence, evidence.claimed), "of_score": of_score})


def loss_part(evidence: Evidence, claim: Claim | None) -> dict[str, Any] | None:
    """Return the section; None if no histogram of both sides was recorded."""
    losses = cell_losses(evidence.histogram)
    if losses is None:
        return None
    limit = claim.value if claim is not None and claim.is_point else None
    text = "" if claim is None or limit is None else f"ε = {claim_text(limit)}"
    bins, upper = loss_bins(losses, limit), proved_limit(evidence)
    infinite = []
    for side in (0, 1):
        alone = losses.infinite & ((losses.count0 if side == 0 else losses.count1) > 0)
        if alone.any():
            infinite.append(
                f"{share_text(losses.mass(side, alone))} of the runs on {event.DATASETS[side]} fell into cells that "
                f"{event.DATASETS[1 - side]} never reached ({'+' if side == 0 else '−'}∞ in the figure)."
            )
    return {
        "figure": both(lambda narrow: loss_figure(bins, limit, text, upper, narrow=narrow)),
        "runs": (count_text(losses.runs[0]), count_text(losses.runs[1])),
        "limit": text or None,
        "beyond": [] if claim is None or limit is None else _beyond_rows(losses, limit, claim.delta),
        "with_excess": claim is not None and claim.delta > 0,
        "within": "" if limit is None else _outside(losses, limit),
        "infinite": infinite,
        "atoms": bool(bins.atoms),
        "rare": _rare(losses),
        "note": _loss_note(claim),
        "stated": "" if bins.stated is None else _stated(losses, claim, limit),
    }


def _stated(losses: Losses, claim: Claim | None, limit: float | None) -> str:
    """Describe the law that is drawn over the bars, and its mass beyond the claim."""
    text = (
        "Over the bars stands the law that the mechanism states for its outputs, of the same cells: what the bars "
        "would come to with ever more runs if the mechanism does what it says. Nothing was concluded from it."
    )
    found = None if limit is None else beyond(losses, limit).stated
    if claim is None or found is None:
        return text
    if not any(mass for mass, _ in found):
        return f"{text} By this law no cell lies beyond ±ε."
    (above, excess0), (below, excess1) = found
    text += (
        f" By this law {share_text(above)} of the outputs on the first dataset fall into cells above +ε, and "
        f"{share_text(below)} of those on the second into cells below −ε"
    )
    if claim.delta > 0:
        more = "more" if max(excess0, excess1) > claim.delta else "not more"
        text += f"; the excess over the cells is {share_text(excess0)} and {share_text(excess1)}, {more} than δ"
    return text + "."


def _rare(losses: Losses) -> str:
    runs = int(losses.count0[losses.rare].sum() + losses.count1[losses.rare].sum())
    if runs == 0:
        return ""
    return (
        f"{count_text(runs)} runs lie in cells that only one dataset reached, too seldom to call the loss infinite; "
        "they are not drawn, and count as beyond by estimate only."
    )


def _outside(losses: Losses, limit: float) -> str:
    reach = float(abs(losses.loss[losses.finite]).max(initial=0.0))
    if limit <= 5 * max(reach, 1e-12) * 1.02:
        return ""
    return "The lines at ± the claimed ε lie outside the figure: every estimated loss is far smaller."


def _beyond_rows(losses: Losses, limit: float, delta: float) -> list[tuple[str, ...]]:
    found = beyond(losses, limit)
    rows = []
    for side, name in enumerate(("loss above +ε, on the first dataset", "loss below −ε, on the second")):
        row: tuple[str, ...] = (name, share_text(found.clear[side]), share_text(found.unclear[side]))
        if delta > 0:
            row += (share_text(found.excess[side]), f"{estimate_text(100 * delta)}\N{NO-BREAK SPACE}%")
        rows.append(row)
    return rows


def _loss_note(claim: Claim | None) -> str:
    if claim is None:
        return "No claim was given, so there is nothing to compare the loss with."
    if claim.pure:
        return (
            "A pure ε claim allows no mass at all beyond ±ε. Frequencies fluctuate: where the true loss of a cell is "
            "exactly ε, as in mechanisms that use their budget fully, its estimate lies beyond in about half of all "
            "audits. Only a cell whose whole interval lies beyond is counted as clear, and even of those a few in a "
            "hundred may be chance."
        )
    if claim.is_point:
        return (
            "What δ limits is not the mass beyond ±ε itself but its excess, the sum of p − e^ε · q over the cells "
            "where that is positive. The mass may be larger than δ where the claim holds. The excess is an estimate, "
            "and noise alone makes it somewhat larger than 0."
        )
    return (
        f"A claim of {claim.notion} sets no limit to the loss of a single output, so no lines are drawn; it limits "
        "the distribution of the loss as a whole."
    )


# --- How sure can an attacker become? --------------------------------------------------------------------

PRIORS = (0.01, 0.1, 0.5)


def posterior_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section, if the claim or the evidence limits single outputs."""
    part = posterior_part(shown.evidence, shown.evidence.claimed)
    if part["figure"] is not None:
        yield Section("posterior", "What an attacker can believe", {"posterior": part})


def raised(prior: Floats, loss: float) -> Floats:
    """Return the suspicion after an output that is e^loss times as likely on the suspected side; shape of ``prior``."""
    prior = np.asarray(prior, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        after = 1 / (1 + (1 - prior) / prior * math.exp(-loss))
    return np.where(prior <= 0, 0.0, after)


def certified_loss(bound: records.Bound) -> float:
    """Return L such that some event is at least e^L times as likely on one side; 0 if nothing is shown.

    A bound of ε is itself such an L, at any δ, since P ≥ e^ε·Q + δ; so is a bound of a Rényi divergence, which never
    exceeds the largest log ratio. For a bound of μ or ρ, L follows from exact limits of the event's two probabilities
    (Clopper & Pearson 1934), which share the error of the bound.
    """
    if method_of(bound.method).canaries:  # joint guesses about many canaries: no event of a single output
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


def posterior_part(evidence: Evidence, claim: Claim | None, *, drawn: bool = True) -> dict[str, Any]:
    """Return the section on an attacker's suspicion."""
    limit = claim.value if _limits(claim) and claim is not None else None
    bound = exact_lower(evidence) if evidence.verdict is records.Verdict.INVALID else evidence.lower
    loss = 0.0 if bound is None else certified_loss(bound)
    rows = [
        {
            "before": f"{100 * prior:g}\N{NO-BREAK SPACE}%",
            "claim": "no limit" if limit is None else _percent(prior, limit, "upper"),
            "evidence": _percent(prior, loss, "lower") if loss > 0 else "nothing shown",
        }
        for prior in PRIORS
    ]
    figure = None
    if drawn and (limit is not None or loss > 0):
        figure = both(lambda narrow: posterior_figure(limit, loss, narrow=narrow))
    return {
        "rows": rows,
        "limited": limit is not None,
        "shown": loss > 0,
        "basis": _basis(bound, loss),
        "plain": _plain(bound, loss),
        "note": _note(claim),
        "figure": figure,
    }


def _limits(claim: Claim | None) -> bool:
    return claim is not None and claim.pure


def _percent(prior: float, loss: float, rounding: str) -> str:
    after = float(raised(np.array(prior), loss))
    if rounding == "lower" and math.isfinite(loss):
        after = min(after, math.nextafter(1.0, 0.0))  # a finite loss never gives certainty
    return share_text(after, rounding=rounding)


def _basis(bound: records.Bound | None, loss: float) -> str:
    if bound is None or loss <= 0:
        return "Nothing was shown that would raise a suspicion."
    sure = f"at {confidence_text(bound.confidence)} confidence" if bound.kind == "sampled" else "with certainty"
    if bound.method == SEQUENTIAL:
        return (
            "By the evidence, for at least one of the two datasets and one of the events that were bet on: a suspicion "
            f"becomes at least so much whenever the output falls into the event ({sure})."
        )
    return (
        "By the evidence, for at least one of the two datasets: a suspicion of it becomes at least so much whenever "
        f"the output falls into the event that points to it, or misses the one that points away from it ({sure})."
    )


def _plain(bound: records.Bound | None, loss: float) -> str:
    """Return the same for readers who know nothing of events."""
    if bound is None or loss <= 0:
        return "Nothing was shown that would raise a suspicion."
    sure = f"at {confidence_text(bound.confidence)} confidence" if bound.kind == "sampled" else "with certainty"
    return f"By the evidence: some outputs make a suspicion of one of the two datasets at least so strong, {sure}."


def _note(claim: Claim | None) -> str:
    if claim is None:
        return "No claim was given, so there is no limit to compare with."
    if _limits(claim):
        return "By the claim: at most so much, whatever the output."
    if claim.delta > 0:
        return (
            "The claim sets no limit for single outputs: within its δ, an output may give everything away. It limits "
            "how often that happens."
        )
    return "The claim sets no limit for single outputs: it limits all of them together."


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


def curves_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield both sections, if anything usable was measured or computed."""
    curves = curves_part(shown.evidence, shown.evidence.claimed)
    if curves is not None:
        yield Section("tradeoff", "Trade-off curve", {"curves": curves})
        yield Section("profile", "Privacy profile", {})


def curves_part(evidence: Evidence, claim: Claim | None) -> dict[str, Any] | None:
    """Return the trade-off curve and the privacy profile; None if nothing usable was measured or computed."""
    points, curve, upper = measured_points(evidence), evidence.curve, proved_limit(evidence)
    if curve is not None and evidence.verdict is not records.Verdict.INVALID:
        points = [point for point in points if point.exact] + curve_points(curve)
    if not points:
        return None
    known = [] if curve is None else list(zip(curve.epsilons, curve.deltas, strict=True))
    return {
        "tradeoff": both(lambda narrow: tradeoff_figure(points, claim, upper, narrow=narrow)),
        "profile": both(lambda narrow: profile_figure(points, claim, upper, known, narrow=narrow)),
        "rows": [_row(point, claim) for point in _tabled(points)],
        "basis": _basis_of_curves(evidence, points),
        "zoomed": any(point.rare for point in points),
        "claimed": claim is not None,
        "places": not any(point.event for point in points),
    }


def _tabled(points: Sequence[Point]) -> list[Point]:
    """Return every event, and a few points of a curve."""
    places = [point for point in points if not point.event]
    step = max(1, math.ceil(len(places) / _MOST_PLACES))
    return [point for point in points if point.event] + places[::step]


def _basis_of_curves(evidence: Evidence, points: Sequence[Point]) -> str:
    """Say how certain the limits are, and how they relate to the verdict."""
    parts = []
    sampled = sum(point.event and not point.exact for point in points)
    if evidence.curve is not None and not all(point.event for point in points):
        parts.append(
            f"All of the certified curve holds at once, at {confidence_text(evidence.curve.confidence)} confidence. It "
            f"follows from {len(evidence.curve.statements)} statements on events that were fixed before measuring; it "
            "stands beside the verdict and decides nothing."
        )
    elif sampled:
        many = "Both limits" if sampled == 1 else f"The limits of all {sampled} pairs of rates"
        parts.append(
            f"{many} hold together, at {confidence_text(evidence.confidence)} confidence: exact intervals, with an "
            "equal share of the error for each. The bound of the verdict is sharper, since it weighs both rates "
            "together."
        )
    if any(point.exact for point in points):
        parts.append("The rates of the counterexample are computed, and certain.")
    return " ".join(parts)


def _row(point: Point, claim: Claim | None) -> dict[str, Any]:
    allowed, beyond = "–", False
    if claim is not None:
        least = float(claim.tradeoff(point.corner[0]))
        allowed, beyond = share_text(least), point.corner[1] < least
    limits = [share_text(rate, rounding="upper") for rate in point.corner]
    if not point.event:
        limits[0] = share_text(point.corner[0])  # a chosen point of the curve, not a limit
    shares = [share_text(rate) if point.event else "–" for rate in point.rates]
    return {
        "name": point.name,
        "rates": (shares[0], shares[1]),
        "corner": (limits[0], limits[1]),
        "allowed": allowed,
        "beyond": beyond,
    }


# --- What would this audit have found, and how many runs would smaller violations need? ---


def power_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section, if there is a claim and the runs can be trusted."""
    evidence = shown.evidence
    if evidence.detectable is not None and evidence.verdict is not records.Verdict.INVALID:
        rows = [(f"{symbol(evidence)} ≥ {upper_text(one.value)}", count_text(one.runs)) for one in evidence.power]
        part = {"sentence": detectable_sentence(evidence), "rows": rows, "note": _power_note(evidence)}
        yield Section("power", "What it would have found", {"power": part})


def _power_note(evidence: Evidence) -> str:
    text = "This says nothing of violations that show only in events or on datasets that were not tried."
    if math.isinf(evidence.detectable or 0.0):
        return f"{text} More runs would find more."
    if evidence.detectable_on != "event" or evidence.power:
        return text
    return (
        f"{text} As a rule, half the distance between the claim and this value takes about four times as many "
        "measuring runs."
    )
