"""How does the privacy loss compare with the claim? The section on the histogram of ln(p/q)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import both
from dpaudit.report.figures.loss import loss_figure
from dpaudit.report.figures.loss_bins import Losses, beyond, cell_losses, loss_bins
from dpaudit.report.html.templates import Section
from dpaudit.report.text.bound_kinds import proved_limit
from dpaudit.report.text.numerals import claim_text, count_text, estimate_text, share_text
from dpaudit.report.view import View


@dataclass(frozen=True, slots=True)
class LossPart:
    """The section on the privacy loss: its drawing, and the mass beyond the claim."""

    figure: Markup
    runs: tuple[str, str]
    limit: str | None
    beyond: list[tuple[str, ...]]
    with_excess: bool
    within: str
    infinite: list[str]
    atoms: bool
    rare: str
    note: str
    stated: str = ""


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section on the histogram of the loss; without a histogram it says so."""
    evidence = shown.evidence
    of_score = evidence.histogram is not None and evidence.histogram.axis == "score"
    yield Section("loss", "Privacy loss", {"loss": loss_part(evidence, evidence.claimed), "of_score": of_score})


def _limit(claim: Claim | None) -> float | None:
    """Return the ε that limits the loss, for claims of pure and approximate DP only."""
    return claim.value if claim is not None and claim.is_point else None


def loss_part(evidence: Evidence, claim: Claim | None) -> LossPart | None:
    """Return the section; None if no histogram of both sides was recorded."""
    losses = cell_losses(evidence.histogram)
    if losses is None:
        return None
    limit = _limit(claim)
    text = "" if claim is None or limit is None else f"ε = {claim_text(limit)}"
    bins, upper = loss_bins(losses, limit), proved_limit(evidence)
    infinite = []
    for side in (0, 1):
        alone = losses.infinite & ((losses.count0 if side == 0 else losses.count1) > 0)
        if alone.any():
            infinite.append(
                f"{share_text(losses.mass(side, alone))} of the runs on {DATASETS[side]} fell into cells that "
                f"{DATASETS[1 - side]} never reached ({'+' if side == 0 else '−'}∞ in the figure)."
            )
    return LossPart(
        figure=both(lambda narrow: loss_figure(bins, limit, text, upper, narrow=narrow)),
        runs=(count_text(losses.runs[0]), count_text(losses.runs[1])),
        limit=text or None,
        beyond=[] if claim is None or limit is None else _beyond_rows(losses, limit, claim.delta),
        with_excess=claim is not None and claim.delta > 0,
        within="" if limit is None else _outside(losses, limit),
        infinite=infinite,
        atoms=bool(bins.atoms),
        rare=_rare(losses),
        note=_loss_note(claim),
        stated="" if bins.stated is None else _stated(losses, claim, limit),
    )


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
