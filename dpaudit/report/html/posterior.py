"""How sure can an attacker become? Suspicion before and after an output, by the claim and by the evidence.

Under pure ε-DP a suspicion of π becomes at most π·e^ε / (1 + π·(e^ε − 1)), whatever the output (Dwork, McSherry,
Nissim & Smith 2006, by Bayes' rule); at δ > 0, and for μ, ρ and Rényi claims, single outputs have no such limit.
Evidence gives a lower limit: if an event is at least e^L times as likely on one side, the suspicion of that side
becomes at least π·e^L / (1 + π·(e^L − 1)) whenever the event occurs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.patches import Patch

from dpaudit.arrays import Floats
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, both, canvas, svg
from dpaudit.report.figures.loss_bins import frequency_interval
from dpaudit.report.html.templates import Section
from dpaudit.report.text.bound_kinds import exact_lower
from dpaudit.report.text.numerals import confidence_text, share_text
from dpaudit.report.view import View
from dpaudit.stats.methods import SEQUENTIAL, method_of

PRIORS = (0.01, 0.1, 0.5)


@dataclass(frozen=True, slots=True)
class PosteriorRow:
    """A suspicion before the output, and after it: at most by the claim, at least by the evidence."""

    before: str
    claim: str
    evidence: str


@dataclass(frozen=True, slots=True)
class PosteriorPart:
    """The table of suspicions, its drawing, and a sentence on their basis."""

    rows: list[PosteriorRow]
    limited: bool
    shown: bool
    basis: str
    plain: str
    note: str
    figure: Markup | None


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section, if the claim or the evidence limits single outputs."""
    part = posterior_part(shown.evidence, shown.evidence.claimed)
    if part.figure is not None:
        yield Section("posterior", "What an attacker can believe", {"posterior": part})


def raised(prior: Floats, loss: float) -> Floats:
    """Return the suspicion after an output that is e^loss times as likely on the suspected side; shape of ``prior``."""
    prior = np.asarray(prior, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        after = 1 / (1 + (1 - prior) / prior * math.exp(-loss))
    return np.where(prior <= 0, 0.0, after)


def certified_loss(bound: Bound) -> float:
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


def posterior_part(evidence: Evidence, claim: Claim | None, *, drawn: bool = True) -> PosteriorPart:
    """Return the section on an attacker's suspicion."""
    limit = claim.value if _limits(claim) and claim is not None else None
    bound = _used(evidence)
    loss = 0.0 if bound is None else certified_loss(bound)
    rows = [
        PosteriorRow(
            f"{100 * prior:g}\N{NO-BREAK SPACE}%",
            "no limit" if limit is None else _percent(prior, limit, "upper"),
            _percent(prior, loss, "lower") if loss > 0 else "nothing shown",
        )
        for prior in PRIORS
    ]
    figure = None
    if drawn and (limit is not None or loss > 0):
        figure = both(lambda narrow: posterior_figure(limit, loss, narrow=narrow))
    return PosteriorPart(
        rows, limit is not None, loss > 0, _basis(bound, loss), _plain(bound, loss), _note(claim), figure
    )


def _limits(claim: Claim | None) -> bool:
    return claim is not None and claim.pure


def _used(evidence: Evidence) -> Bound | None:
    """Return the bound of the evidence, or None if its runs cannot be trusted."""
    return exact_lower(evidence) if evidence.verdict is Verdict.INVALID else evidence.lower


def _percent(prior: float, loss: float, rounding: str) -> str:
    after = float(raised(np.array(prior), loss))
    if rounding == "lower" and math.isfinite(loss):
        after = min(after, math.nextafter(1.0, 0.0))  # a finite loss never gives certainty
    return share_text(after, rounding=rounding)


def _basis(bound: Bound | None, loss: float) -> str:
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


def _plain(bound: Bound | None, loss: float) -> str:
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
