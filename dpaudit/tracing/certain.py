"""What is certain of a program whose outputs are offset + R·noise? The loss itself, given the stated laws.

Where no decision, no value that goes where it is not followed, and nothing but sums and multiples lies between noise
and output, on both sides and in every run that was made, the output *is* Rn + r, for every noise n. Then:

* what holds no noise and differs, or is there on one side alone, tells the sides apart in every run;
* where r − r′ is no value of R, the outputs of the two sides lie on parallel planes that do not meet: likewise;
* where one noise has another scale on either side, its loss has no limit at δ = 0, and a closed form at δ > 0;
* where R has full column rank the output determines the noise, everywhere and not only near by (R is linear), so that
  with Rc = r − r′ the loss is that of all noises shifted by c, exactly: Σ|c|/b for Laplace noise, and the certified
  accounting of the composition where δ > 0.

The rank counts all noise that reaches the part of the output that moves, moved or not. |x + Laplace| is no such
program: a function that is neither sum nor multiple makes the run one of which nothing is certain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, ZeroConcentratedDP
from dpaudit.program.laws import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    EXPONENTIAL,
    GAUSSIAN,
    GEOMETRIC,
    GUMBEL,
    LAPLACE,
    LOGISTIC,
    NoiseLaw,
)
from dpaudit.tracing.recording import NoiseForm, Recorder, close
from dpaudit.tracing.runs import FollowedRun, FollowedTarget, Output

_LARGEST = 1500  # rows or columns of R
_CLEARLY = 1e-6  # relative: what is less may be rounding
_IMPOSSIBLE = -20.0  # ln of a probability
_SAME_DRAWS = 4  # runs that have to agree before noise is called constant
RAISES = "it raises"  # how a sentence begins on runs that raise on one side alone


@dataclass(frozen=True, slots=True)
class CertainStep:
    """Noise of a law and scale that moves by so much; ``other``: its scale on the other side, where that differs."""

    law: NoiseLaw
    scale: float
    by: float
    site: str
    other: float | None = None


@dataclass(frozen=True, slots=True)
class Certain:
    """A loss that is certain, given the stated laws."""

    why: str  # in a sentence
    where: str  # a line, or a place of the output
    epsilon: float  # at least so much is lost, at the claim's δ; infinite where the outputs never agree
    steps: tuple[CertainStep, ...]  # the noises and their shifts, from which it follows; empty where it is infinite
    leaks: bool  # whether it follows from the flow of data alone, whatever the laws are
    whole: bool = False  # whether it is the whole loss of the pair, so that nothing is left open there


@dataclass(slots=True)
class _Side:
    """One side: the output with constant noise put in, and the noise that is left."""

    output: Output
    form: NoiseForm
    laws: list[tuple[NoiseLaw, float, str]]


def certain(sides: tuple[Sequence[FollowedRun], Sequence[FollowedRun]], claim: Claim | None) -> Certain | None:
    """Return what is certain of a pair, or None.

    Args:
        sides: runs on either dataset, each with noise of its own: at least four.
        claim: at whose δ the loss is meant; None for pure privacy.
    """
    if any(each.recorder.unseen for runs in sides for each in runs):
        return None
    told = [_side(runs) for runs in sides]
    one, two = told
    if one is None or two is None:
        return None
    if one.output.structure != two.output.structure or one.output.places != two.output.places:
        why, place = _unlike(one.output, two.output)
        lines = [runs[0].raised_at for runs in sides if runs[0].raised_at]
        return Certain(why, lines[0] if why.startswith(RAISES) and lines else place, math.inf, (), leaks=True)
    bare = (
        ~one.form.noisy_rows() | ~np.isfinite(one.form.offset),
        ~two.form.noisy_rows() | ~np.isfinite(two.form.offset),
    )
    for row in np.flatnonzero(bare[0] | bare[1]):
        place = one.output.places[row]
        values = one.form.offset[row], two.form.offset[row]
        if bare[0][row] and bare[1][row]:
            if not close(*values, 1e-3):
                one_value, other_value = map(_number_text, values)
                said = f"{one_value} on one side and {other_value} on the other, whatever the noise is"
                return Certain(said, place, math.inf, (), leaks=True)
        elif not any(law.is_whole for law, _, _ in (*one.laws, *two.laws)):
            return Certain("there is noise in it on one side alone", place, math.inf, (), leaks=True)
    return _of_linear(one, two, claim)


def _number_text(number: float) -> str:
    return "NaN" if math.isnan(number) else f"{number:.6g}"


def raised_kind(output: Output) -> str:
    """Return the kind of exception that a run ended in; empty where it returned."""
    raised = output.structure[1:3]
    is_raised = len(raised) == 2 and raised[0] == ("the output[0]", "'raises'")
    return raised[1][1].strip("'\"").partition(":")[0] if is_raised else ""


def _unlike(one: Output, two: Output) -> tuple[str, str]:
    kinds = raised_kind(one), raised_kind(two)
    if any(kinds) and not all(kinds):
        return f"{RAISES} {kinds[0] or kinds[1]} on one side and returns on the other", "the output"
    for (place, text), (other, theirs) in zip(one.structure, two.structure, strict=False):
        if (place, text) != (other, theirs):
            return f"it has another form on either side, whatever the noise is: {text[:80]}, and {theirs[:80]}", place
    return f"it holds {len(one.places)} numbers on one side and {len(two.places)} on the other", "the output"


def _side(runs: Sequence[FollowedRun]) -> _Side | None:
    """Return what the runs of a side agree on, or None where it is more than sums and multiples of noise."""
    first = runs[0]
    if len(runs) < _SAME_DRAWS or any(each.output is None for each in runs):
        return None
    constant = _constant(runs)
    if constant is None:
        return None
    determined = bool(constant.all())  # all that was drawn is the same in every run, decisions and choices too
    for each in runs:
        recorder = each.recorder
        if not determined and (
            any(event.kind != "draw" for event in recorder.events)
            or _repeats(each)
            or any(not mark.used and mark.form.is_noisy for marks in recorder.marks.values() for mark in marks)
        ):
            return None
    forms = [_with_constants(each, constant) for each in runs]
    output = first.output
    assert output is not None
    for each, form in zip(runs[1:], forms[1:], strict=True):
        assert each.output is not None
        if each.output.structure != output.structure or len(form) != len(forms[0]):
            return None
        if not (form.same_terms(forms[0]).all() and np.all(close(form.offset, forms[0].offset, 1e-6))):
            return None
        if not _same_laws(first, each):
            return None
    laws = [(block.law, float(scale), block.site) for block in first.recorder.blocks for scale in block.scale.tolist()]
    return _Side(output, forms[0], laws)


def _repeats(run: FollowedRun) -> bool:
    """Whether the same noise was drawn twice, so that it is not independent."""
    return run.recorder.given is None and repeated(run.recorder) is not None


def repeated(recorder: Recorder) -> str | None:
    """Return the line where noise was drawn that had been drawn before, or None."""
    known: set[float] = set()
    for block in recorder.blocks:
        if block.made is None and not block.law.is_whole:
            with np.errstate(all="ignore"):
                drawn = [each for each in (block.values / block.scale).tolist() if math.isfinite(each) and each]
            if len(known & set(drawn)) or len(set(drawn)) < len(drawn):
                return block.site
            known |= set(drawn)
    return None


def constant_line(recorders: Sequence[Recorder]) -> str | None:
    """Return the line where continuous noise is drawn that is the same in every run, or None; of four runs at least."""
    if len(recorders) < _SAME_DRAWS:
        return None
    for blocks in zip(*([b for b in each.blocks if b.made is None] for each in recorders), strict=False):
        first = blocks[0]
        if first.law.is_whole or not len(first.values) or any(each.site != first.site for each in blocks):
            continue
        if not np.any(first.scale):  # no noise at all, whatever is drawn
            continue
        if all(len(b.values) and b.values[0] == first.values[0] and b.law is first.law for b in blocks):
            return str(first.site)
    return None


def constant_choice(recorders: Sequence[Recorder]) -> str | None:
    """Return the line of a choice that is the same in every run though that is all but impossible, or None."""
    if len(recorders) < _SAME_DRAWS:
        return None
    for events in zip(*([e for e in each.events if e.kind == "choice"] for each in recorders), strict=False):
        first = events[0]
        if any(each.site != first.site or each.chance is None for each in events):
            return None
        alike = all(each.arguments == first.arguments and str(each.outcome) == str(first.outcome) for each in events)
        if alike and math.fsum(each.chance for each in events[1:]) < _IMPOSSIBLE:
            return str(first.site)
    return None


def _constant(runs: Sequence[FollowedRun]) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """(columns,) which noise is the same in every run that drew its own; None where runs draw other numbers of it."""
    own = [each for each in runs if each.recorder.given is None]
    sizes = {each.recorder.columns for each in runs}
    if len(sizes) != 1 or len(own) < _SAME_DRAWS:
        return None
    values = np.array([each.recorder.noise() for each in own])
    if values.shape[1] == 0:
        alike = [each.recorder.choices() for each in own]
        return None if any(map(len, alike)) and any(str(each) != str(alike[0]) for each in alike) else np.zeros(0, bool)
    same = np.asarray((values == values[0]).all(axis=0))
    whole = np.concatenate([np.full(len(block.values), block.law.is_whole) for block in own[0].recorder.blocks])
    same &= ~whole
    if same.all() and any(str(each.recorder.choices()) != str(own[0].recorder.choices()) for each in own):
        return None
    return same


def _with_constants(run: FollowedRun, constant: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> NoiseForm:
    """Return the output's form, with constant noise put in as the number that it is."""
    assert run.output is not None
    form = run.output.form
    if not len(constant) or not constant.any():
        return form
    terms = constant[form.column]
    added = form.coefficient * run.recorder.noise()[form.column]
    offset = form.offset + np.bincount(form.row[terms], weights=added[terms], minlength=len(form))
    return NoiseForm(np.asarray(offset), form.row[~terms], form.column[~terms], form.coefficient[~terms])


def _same_laws(one: FollowedRun, two: FollowedRun) -> bool:
    first, second = one.recorder.blocks, two.recorder.blocks
    return len(first) == len(second) and all(
        a.law is b.law and len(a.scale) == len(b.scale) and bool(np.all(close(a.scale, b.scale)))
        for a, b in zip(first, second, strict=True)
    )


# --- Rn + r -----------------------------------------------------------------------------------------------


def _of_linear(one: _Side, two: _Side, claim: Claim | None) -> Certain | None:
    kept = np.flatnonzero(one.form.noisy_rows() & two.form.noisy_rows())
    first, second = one.form.take(kept), two.form.take(kept)
    columns = [np.unique(form.column) for form in (first, second)]
    if len(columns[0]) != len(columns[1]) or max(len(kept), len(columns[0])) > _LARGEST or not len(kept):
        return None
    matrices = [_matrix(form, own) for form, own in zip((first, second), columns, strict=True)]
    laws = [[side.laws[column] for column in own] for side, own in zip((one, two), columns, strict=True)]
    alike = all(a[0] is b[0] and bool(close(np.float64(a[1]), np.float64(b[1]))) for a, b in zip(*laws, strict=True))
    if not alike or not np.all(close(*matrices)):
        return _of_scales(one, two, kept, claim)
    matrix = matrices[0]
    with np.errstate(invalid="ignore", over="ignore"):
        change: Floats = first.offset - second.offset
    change[close(first.offset, second.offset)] = 0.0
    if not change.any():
        return None
    shift: Floats = np.asarray(np.linalg.lstsq(matrix, change, rcond=None)[0], dtype=np.float64)
    left = float(np.linalg.norm(matrix @ shift - change))
    if left > _CLEARLY * float(np.linalg.norm(change)):
        place = one.output.places[kept[int(np.argmax(abs(matrix @ shift - change)))]]
        return Certain("no value of the noise gives the same output on both sides: fewer noises than numbers that "
                       "move", place, math.inf, (), leaks=True)  # fmt: skip
    part = _reached(matrix, change)
    own = matrix[np.ix_(*part)]
    if np.linalg.matrix_rank(own) < own.shape[1]:
        return None
    exact: Floats = np.asarray(np.linalg.lstsq(own, change[part[0]], rcond=None)[0], dtype=np.float64)
    steps = tuple(
        CertainStep(laws[0][column][0], laws[0][column][1], by, laws[0][column][2])
        for column, by in zip(part[1].tolist(), exact.tolist(), strict=True)
        if abs(by) > 1e-9 * abs(exact).max()
    )
    return loss_of(steps, claim)


def _of_scales(
    one: _Side, two: _Side, kept: np.ndarray[Any, np.dtype[np.int64]], claim: Claim | None
) -> Certain | None:
    """Return what the number tells by itself whose one noise has another scale on either side, the most of all."""
    best: Certain | None = None
    for row in kept.tolist():
        own: list[tuple[NoiseLaw, float, str]] = []
        for side in (one, two):
            terms = np.flatnonzero(side.form.row == row)
            if len(terms) == 1:
                law, scale, site = side.laws[int(side.form.column[terms[0]])]
                own.append((law, scale * abs(float(side.form.coefficient[terms[0]])), site))
        if len(own) < 2 or own[0][0] is not own[1][0] or bool(close(np.float64(own[0][1]), np.float64(own[1][1]))):
            continue
        by = float(one.form.offset[row]) - float(two.form.offset[row])
        if not math.isfinite(by):
            continue
        loss = loss_of((CertainStep(own[0][0], own[0][1], by, own[0][2], own[1][1]),), claim)
        if loss is not None and (best is None or loss.epsilon > best.epsilon):
            best = loss
    return best


def _matrix(form: NoiseForm, columns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    """(n, columns) the coefficients of n numbers."""
    matrix = np.zeros((len(form), len(columns)))
    matrix[form.row, np.searchsorted(columns, form.column)] = form.coefficient
    return matrix


def _reached(
    matrix: Floats, change: Floats
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return rows and columns that hang together with a row that changes."""
    used = matrix != 0
    rows = change != 0
    columns = np.zeros(matrix.shape[1], dtype=bool)
    while True:
        more = used[rows].any(axis=0)
        further = rows | used[:, more].any(axis=1)
        if (further == rows).all() and (more == columns).all():
            return np.flatnonzero(rows), np.flatnonzero(columns)
        rows, columns = further, more


_EXACT = (
    LAPLACE,
    DISCRETE_LAPLACE,
    LOGISTIC,
)  # whose loss at a shift c has the supremum |c|/s, and reaches or nears it
_ONE_SIDED = (EXPONENTIAL, GEOMETRIC, GUMBEL)  # whose loss has no limit in one of the two directions


def loss_of(steps: Sequence[CertainStep], claim: Claim | None) -> Certain | None:
    """Return the loss of independent noises of which each moves, from below, at the claim's δ; None where not known."""
    if not steps or any(not (0 < step.scale < math.inf) for step in steps):
        return None
    if any(step.other is not None for step in steps):
        return _of_two_scales(steps[0], claim) if len(steps) == 1 else None
    where = max(steps, key=lambda step: abs(step.by) / step.scale).site
    delta = 0.0 if claim is None else claim.delta
    if any(step.law.is_whole and abs(step.by - round(step.by)) > _CLEARLY for step in steps):
        return Certain(
            "noise takes whole numbers alone, and the data move by a part of one", where, math.inf, (), leaks=True
        )
    laws = {step.law for step in steps}
    if isinstance(claim, GaussianDP | ZeroConcentratedDP):
        return None if laws != {GAUSSIAN} else _gaussian(steps, claim, where)
    if claim is not None and not isinstance(claim, PureDP | ApproxDP):
        return None
    if delta == 0:
        if laws & {GAUSSIAN, DISCRETE_GAUSSIAN, *_ONE_SIDED}:
            why = "the loss of such noise has no limit at δ = 0"
            return Certain(why, where, math.inf, tuple(steps), leaks=False) if laws <= _KNOWN else None
        if not laws <= set(_EXACT):
            return None
        epsilon = math.fsum(abs(step.by) / step.scale for step in steps) * (1 - 1e-9)
        return Certain(_moves(steps), where, epsilon, tuple(steps), leaks=False)
    if not laws <= {LAPLACE, GAUSSIAN, DISCRETE_LAPLACE}:
        return None
    return _certified(steps, delta, where)


def _of_two_scales(step: CertainStep, claim: Claim | None) -> Certain | None:
    """Return the loss of one noise that has another scale on either side, from below.

    At δ = 0 it has no limit: far out, the density of the wider one is any number of times that of the other. Nor has
    the ρ or μ of Laplace and Gaussian noise: with the wider scale p the Rényi divergence of orders above p/(p − q),
    or p²/(p² − q²), is infinite, which those of a claim of ρ or μ never are (Dong, Roth & Su 2022). With δ > 0 it is
    the ε at which the larger of the two hockey-stick divergences δ(ε) = ∫ (p − e^ε·q)₊ is the claim's δ: in closed
    form, as p/q is monotone between few points (Laplace), or a quadratic decides (Gaussian).
    """
    other = step.other
    if other is None or not 0 < other < math.inf or bool(close(np.float64(step.scale), np.float64(other))):
        return None
    sides = f"{step.law.title} noise has scale {step.scale:.6g} on one side and {other:.6g} on the other"
    delta = 0.0 if claim is None else claim.delta
    is_epsilon = claim is None or isinstance(claim, PureDP | ApproxDP)
    if not is_epsilon and not isinstance(claim, GaussianDP | ZeroConcentratedDP):
        return None
    if delta == 0:
        limitless = Certain(f"{sides}: its loss has no limit", step.site, math.inf, (step,), leaks=False)
        return limitless if step.law in (_KNOWN if is_epsilon else (LAPLACE, GAUSSIAN)) else None
    if step.law not in (LAPLACE, GAUSSIAN):
        return None
    divergence = _laplace_divergence if step.law is LAPLACE else _gaussian_divergence
    ways = ((step.scale, other), (other, step.scale))

    def most(epsilon: float) -> float:
        return max(divergence(p, q, step.by, epsilon) for p, q in ways)

    low, high = 0.0, 1.0
    if most(low) * (1 - 1e-6) <= delta:
        return None
    while most(high) * (1 - 1e-6) > delta and high < 500:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if most(middle) * (1 - 1e-6) > delta else (low, middle)
    return Certain(sides, step.site, low * (1 - 1e-9), (step,), leaks=False)


def _laplace_divergence(p: float, q: float, by: float, epsilon: float) -> float:
    """δ(ε) of Laplace noise of scale p against one of scale q that is shifted: ∫ (f − e^ε·g)₊.

    ln f/g = ln(q/p) − |x|/p + |x − c|/q is linear between 0, c and the points where it is ε, so that both cumulative
    distributions at these say all.
    """
    from scipy.stats import laplace

    shift = abs(by)

    def loss(x: float) -> float:
        return math.log(q / p) - abs(x) / p + abs(x - shift) / q

    # where each of the three lines meets ε; one outside of its own piece only cuts another in two
    start = math.log(q / p) - epsilon
    lines = (
        (1 / p - 1 / q, start + shift / q),
        (-1 / p - 1 / q, start + shift / q),
        (1 / q - 1 / p, start - shift / q),
    )
    cuts = sorted({0.0, shift, *(-rest / slope for slope, rest in lines if slope)})
    total = 0.0
    for low, high in itertools.pairwise([-math.inf, *cuts, math.inf]):
        inside = high - 1.0 if low == -math.inf else low + 1.0 if high == math.inf else (low + high) / 2
        if loss(inside) > epsilon:
            mass = _between(laplace, low, high, 0.0, p) - math.exp(epsilon) * _between(laplace, low, high, shift, q)
            total += max(mass, 0.0)
    return total


def _between(law: Any, low: float, high: float, loc: float, scale: float) -> float:
    """P(low < x < high), without loss of digits in a far tail."""
    if low >= loc:
        return float(law.sf(low, loc, scale) - law.sf(high, loc, scale))
    return float(law.cdf(high, loc, scale) - law.cdf(low, loc, scale))


def _gaussian_divergence(p: float, q: float, by: float, epsilon: float) -> float:
    """δ(ε) of Gaussian noise of scale p against one of scale q that is shifted: ∫ (f − e^ε·g)₊.

    ln f/g = ln(q/p) − x²/2p² + (x − c)²/2q² is quadratic, so that it is above ε between its two roots, or beyond them.
    """
    from scipy.stats import norm

    square, linear = 1 / (2 * q * q) - 1 / (2 * p * p), -by / (q * q)
    rest = by * by / (2 * q * q) + math.log(q / p) - epsilon
    inner = linear * linear - 4 * square * rest
    if inner <= 0:
        return 0.0 if square < 0 else max(1.0 - math.exp(min(epsilon, 700.0)), 0.0)
    roots = sorted((-linear + sign * math.sqrt(inner)) / (2 * square) for sign in (-1, 1))
    pieces = [(roots[0], roots[1])] if square < 0 else [(-math.inf, roots[0]), (roots[1], math.inf)]
    return sum(
        max(_between(norm, low, high, 0.0, p) - math.exp(epsilon) * _between(norm, low, high, by, q), 0.0)
        for low, high in pieces
    )


_KNOWN = {*_EXACT, *_ONE_SIDED, GAUSSIAN, DISCRETE_GAUSSIAN}


def _moves(steps: Sequence[CertainStep]) -> str:
    one = max(steps, key=lambda step: abs(step.by) / step.scale)
    more = f", and {len(steps) - 1} more" if len(steps) > 1 else ""
    return f"{one.law.title} noise of scale {one.scale:.6g} has to hide a move of {abs(one.by):.6g}{more}"


def _gaussian(steps: Sequence[CertainStep], claim: Claim, where: str) -> Certain:
    mu = math.sqrt(math.fsum((step.by / step.scale) ** 2 for step in steps)) * (1 - 1e-9)
    value = mu if isinstance(claim, GaussianDP) else mu**2 / 2
    return Certain(_moves(steps), where, value, tuple(steps), leaks=False)


def _certified(steps: Sequence[CertainStep], delta: float, where: str) -> Certain | None:
    from dpaudit.accounting import DiscreteLaplace, Events, Gaussian, Laplace, certify

    listed = []
    mu = math.sqrt(math.fsum((step.by / step.scale) ** 2 for step in steps if step.law is GAUSSIAN)) * (1 - 1e-9)
    for step in steps:
        if step.law is LAPLACE:
            listed.append(Laplace(step.scale / abs(step.by) * (1 + 1e-9)).times(1))
        elif step.law is DISCRETE_LAPLACE:
            listed.append(DiscreteLaplace(step.scale * (1 + 1e-9), sensitivity=round(abs(step.by))).times(1))
    if mu > 0:
        listed.append(Gaussian(1 / mu).times(1))
    events = Events(tuple(part for each in listed for part in each.parts))
    if len(events.parts) > 200:
        return None
    try:
        low = certify(events, delta=delta).low
    except UsageError:
        return None
    return Certain(_moves(steps), where, low, tuple(steps), leaks=False)


# --- What does a program lose that only chooses? Every outcome of every choice is tried, with its probability ---

MOST_WAYS = 2048
"""Ways through a program that are tried on each side."""
_FAR_MORE = 2  # times as many, if all went as the first one does: they are not begun
_ROUNDING = 1e-9


def enumerated(target: FollowedTarget, pair: tuple[Any, Any], claim: Claim | None, seed: int) -> Certain | None:
    """Return the exact loss of a program that draws nothing but choices of known chances, or None."""
    if claim is not None and not isinstance(claim, PureDP | ApproxDP):
        return None
    laws = []
    for data in pair:
        law = _law(target, data, seed)
        if law is None:
            return None
        laws.append(law)
    delta = 0.0 if claim is None else claim.delta
    losses = [_loss(laws[side], laws[1 - side], delta) for side in (0, 1)]
    epsilon, output = max(losses, key=lambda each: each[0])
    if math.isinf(epsilon):
        why = f"{output} is possible on one side alone"
        return Certain(why, "the output", math.inf, (), leaks=True)
    why = f"all ways through its choices were tried: {output} tells most"
    least = max(epsilon * (1 - _ROUNDING) - _ROUNDING, 0.0)
    return Certain(why, "the output", least, (), leaks=False, whole=True)


def _law(target: FollowedTarget, data: Any, seed: int) -> dict[str, float] | None:
    """Return the probability of every output, or None where not all of them can be tried."""
    law: dict[str, float] = {}
    todo: list[list[int]] = [[]]
    ways = 0
    while todo:
        start = todo.pop()
        ways += 1
        if ways > MOST_WAYS:
            return None
        run = target.run(data, seed, forced=start)
        if run.output is None or run.recorder.unseen:
            return None
        chance = 1.0
        if ways == 1 and math.prod(len(event.options or ()) for event in run.recorder.events) > _FAR_MORE * MOST_WAYS:
            return None
        for number, event in enumerate(run.recorder.events):
            if event.kind != "choice" or event.options is None:
                return None
            place = start[number] if number < len(start) else 0
            chance *= event.options[place][1]
            if number >= len(start):
                taken = [*start, *([0] * (number - len(start)))]
                todo += [[*taken, other] for other in range(1, len(event.options)) if event.options[other][1] > 0]
        if chance > 0:
            key = _key(run)
            law[key] = law.get(key, 0.0) + chance
    return law


def _key(run: FollowedRun) -> str:
    assert run.output is not None
    if run.kept is not None:
        return str((run.kept.form, run.kept.numbers))
    return str((run.output.structure, run.output.values.tolist()))


def _loss(one: dict[str, float], two: dict[str, float], delta: float) -> tuple[float, str]:
    """Return ε at δ, from below, and the output that tells most."""
    ratios = {key: math.inf if two.get(key, 0.0) == 0 else math.log(p / two[key]) for key, p in one.items()}
    worst = max(ratios, key=ratios.__getitem__)
    if delta == 0:
        return ratios[worst], _output_text(worst)
    # Σ (p − e^ε·q)₊ = δ over the outputs above each ratio in turn: the likelihood-ratio sets are the best events
    best = 0.0
    p = q = 0.0
    for key in sorted(ratios, key=ratios.__getitem__, reverse=True):
        p, q = p + one[key], q + two.get(key, 0.0)
        if p > delta * (1 + _ROUNDING):
            best = max(best, math.inf if q == 0 else math.log((p - delta) / q))
    return best, _output_text(worst)


def _output_text(key: str) -> str:
    return f"the output {key[:80]}"
