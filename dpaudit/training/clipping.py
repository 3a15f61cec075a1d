"""Is the sum that gets noise the sum of clipped records, and is the noise Gaussian, large enough and fresh?

Clipping by the norm turns a record's gradient g into min(1, C/‖g‖)·g (Abadi et al. 2016, algorithm 1). The sum of
these over all records of a batch is compared with the sum that the loop made, on coordinates that were drawn at random:
leaving out one record and looking how far the sum moves would not see a batch that is clipped as a whole.

Noise is given over σ·C, so that a right loop's values are independent N(0, 1). Repetition is looked at first: noise
that comes twice makes every other test wrong, and can be subtracted. All laws are exact under that null:

- *scale*: the sum of n squares is χ²(n);
- *law*: the largest distance of the empirical distribution function (Kolmogorov; Marsaglia, Tsang & Wang 2003);
- *independence*: c = ⟨x, y⟩/‖x‖‖y‖ of two independent Gaussian vectors of m values has (1 + c)/2 ~ Beta((m−1)/2,
  (m−1)/2) (Fisher 1915, without means), here of updates a few steps apart, neighbours in one update, parameters in one
  update, and machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats
from scipy.optimize import minimize_scalar

from dpaudit.arrays import Floats, Integers
from dpaudit.training.seen import Fact, GradientReplay, Parameter, Played

# --- Is the sum that gets noise the sum of clipped records? ----------------------------------------------

DIGITS = {"bfloat16": 2.0**-6, "float16": 2.0**-9}
"""What rounding to few digits explains, of norms and products that have them: four units of the last one."""
TOLERANCE = 1e-3
"""The relative distance of two sums that rounding explains: 8 to 10 times what float32 showed for 4,096 records."""
_PARALLEL = 0.9999
_EXCESS = 1e-6  # what libraries add to a norm before they divide by it

ROUNDED = "clipped one by one, rounded"
LOOKS = {
    "not clipped": "the plain sum of gradients",
    "clipped per batch": "the sum of the whole batch, clipped once",
    "a mean": "a mean: the sum of clipped records over the size of the batch, before noise is added",
    "another norm": "clipped at another norm than the noise is scaled to",
    "hangs on others": "a sum in which what a record adds hangs on the others of its batch",
    "clipped by layer": "clipped layer by layer, to norms that together are larger than the one the noise is scaled to",
    "no such sum": "no sum of records that are clipped to the norm that the noise is scaled to",
}


def replayed(
    rows: Floats,
    norms: Floats,
    total: Floats,
    clip: float,
    *,
    whole: float | None = None,
    before: bool = True,
    cast: str = "",
) -> GradientReplay:
    """Return how far a sum of gradients is from that of its clipped records, and what it looks like instead."""
    slack = max(TOLERANCE, DIGITS.get(cast, 0.0))
    if not (np.all(np.isfinite(norms)) and np.all(np.isfinite(total)) and np.all(np.isfinite(rows))):
        return GradientReplay(float("nan"), False, finite=False)
    if not len(rows):
        return GradientReplay(float(np.linalg.norm(total)), False)
    factors = np.minimum(1, clip / (norms + _EXCESS))
    distance = _distance(factors @ rows, total)
    largest = float(np.max(norms * factors)) / clip
    clipped = bool(np.any(norms > clip * (1 + (10 if before else -1) * TOLERANCE)))
    if distance <= slack:
        return GradientReplay(distance, clipped, largest=largest, slack=slack)
    looks, norm = _looks(rows, norms, total, clip, whole)
    if looks == "not clipped" and not before and np.sum(norms > norms.max() * (1 - TOLERANCE)) > 1:
        looks, norm = "another norm", float(norms.max())  # several records contribute as much as each other
    biggest = float(norms.max()) if looks == "not clipped" else min(norm, float(norms.max()))
    return GradientReplay(distance, clipped, looks, norm, largest=biggest / clip if looks else float("nan"))


def _looks(rows: Floats, norms: Floats, total: Floats, clip: float, whole: float | None) -> tuple[str, float]:
    nan = float("nan")
    plain = rows.sum(0)
    if _distance(plain, total) <= TOLERANCE:
        return "not clipped", nan
    if _distance(np.minimum(1, clip / (norms + _EXCESS)) @ rows / len(rows), total) <= TOLERANCE:
        return "a mean", nan

    def off(log_norm: float) -> float:
        return _distance(np.minimum(1, np.exp(log_norm) / (norms + _EXCESS)) @ rows, total)

    low, high = np.log(max(clip * 1e-8, 1e-12)), np.log(max(norms.max(), clip))
    grid = np.linspace(low, high, 200)
    at = int(np.argmin([off(value) for value in grid]))
    minimum = minimize_scalar(off, bounds=(grid[max(0, at - 1)], grid[min(199, at + 1)]), method="bounded")
    # all records clipped to any small norm have the direction of the sum of unit vectors
    if float(minimum.fun) <= TOLERANCE and len(rows) > 1:
        return "another norm", float(np.exp(minimum.x))
    size = float(np.linalg.norm(plain) * np.linalg.norm(total))
    parallel = bool(size) and float(plain @ total) / size > _PARALLEL
    if parallel or (whole is not None and abs(whole - clip) <= TOLERANCE * clip):
        return "clipped per batch", nan
    return "no such sum", nan


def _distance(expected: Floats, total: Floats) -> float:
    scale = max(float(np.linalg.norm(expected)), 1e-12)
    return float(np.linalg.norm(expected - total)) / scale


# --- what is said of it -------------------------------------------------------------------------------------


def clipping_finding(replays: Sequence[GradientReplay], silent: str = "") -> Fact:
    """Say whether every sum that was replayed is one of clipped records."""
    if not replays:
        text = silent or "No gradients of single records were seen."
        return Fact("clipping", "not seen", "not replayed", text)
    bad = [each for each in replays if each.finite and not each.fits]
    distance = max((each.deviation for each in replays if each.finite), default=0.0)
    largest = max((each.largest for each in replays if each.finite), default=0.0)
    detail = f"{len(replays)} sums replayed, largest distance {distance:.2g}, largest contribution {largest:.3g} C"
    if bad:
        looks = [each.looks or "no such sum" for each in bad]
        name = max(sorted(set(looks)), key=looks.count)
        norms = [each.norm for each in bad if each.looks == name and name == "another norm"]
        more = f" ({float(np.median(norms)):.3g})" if norms else ""
        text = f"In {len(bad)} of {len(replays)} replays the sum that got noise is {LOOKS[name]}{more}."
        return Fact("clipping", "wrong", name, text, detail)
    showed = sum(each.clipped for each in replays)
    if not showed:
        text = "No record of a replayed sum was above the clip norm, so that clipping could not show."
        return Fact("clipping", "not seen", "nothing to clip", text, detail)
    text = f"In each of {len(replays)} replays the sum was that of records clipped one by one."
    slack = max(each.slack for each in replays)
    if slack > TOLERANCE:
        text = f"{text[:-1]}, as far as the digits of the forward pass show: to {slack:.1%}."
        return Fact("clipping", "right", ROUNDED, text, detail)
    return Fact("clipping", "right", "clipped one by one", text, detail)


def finite_finding(replays: Sequence[GradientReplay], updates: int, empty: int | None) -> Fact:
    """Say whether gradients were numbers, and whether an empty batch made an update like any other."""
    if any(not each.finite for each in replays):
        text = "A gradient that is no finite number went into a sum: it reaches the weights through any noise."
        return Fact("numbers", "wrong", "gradients that are no numbers", text)
    if not replays or not updates:
        return Fact("numbers", "not seen", "no gradients seen", "No gradients of single records were seen.")
    more = "" if not empty else " Empty batches made updates with noise, as they should."
    text = f"All gradients that were replayed were finite numbers.{more}"
    return Fact("numbers", "right", "finite gradients", text)


# --- Are records kept apart until each is clipped? Clipping bounds a record only if it moves no other's gradient. ---
#
# Nothing here is random but which records are exchanged: what is found is so.

NOT_LOOKED_AT = "not looked at"
IN_PART = "looked at in part"
_OF_SUMS = "what the loop makes of records before its gradient function is called"


def records_finding(
    parameters: Mapping[str, Parameter],
    mixing: Sequence[str],
    played: Sequence[Played],
    asked: Mapping[str, Played],
    sums: int,
) -> Fact:
    """Say whether what one record contributes hangs on others."""
    state = [name for name, each in parameters.items() if each.state and each.moved]
    if state:
        named = ", ".join(state[:3]) + (f" and {len(state) - 3} more" if len(state) > 3 else "")
        text = f"{named} changed while training without noise: state of a layer is released with the model."
        return Fact("records", "wrong", "state without noise", text)
    if mixing:
        kinds = ", ".join(mixing)
        text = f"A layer computes across the records of a batch ({kinds}): clipping single records bounds nothing."
        return Fact("records", "wrong", "records are mixed", text)
    mixed = [each for each in (*asked.values(), *played) if each.where]
    if mixed:
        where = max((each.where for each in mixed), key=[each.where for each in mixed].count)
        text = f"Records are mixed {where}. Clipping what is left of each bounds nothing."
        return Fact("records", "wrong", "records are mixed", text, f"relative change {mixed[0].change:.2g}")
    shown = [each for each in played if not each.blind]
    blind = [f"{name} ({each.blind})" for name, each in asked.items() if each.blind]
    if not shown and not sums:
        why = f": {played[-1].blind}" if played else ""
        return Fact("records", "not seen", NOT_LOOKED_AT, f"Whether records are mixed was not looked at{why}.")
    if not played and not asked:
        blind.append(_OF_SUMS)
    looked = f"{len(shown)} updates were played again" if shown else f"{sums} sums were compared"
    detail = f"{looked}, largest change {max((each.change for each in shown), default=0.0):.2g}"
    unplayed = [each.blind for each in played if each.blind]
    if len(unplayed) > len(shown):
        blind.append(f"{len(unplayed)} of {len(played)} updates ({max(unplayed, key=unplayed.count)})")
    if blind or not asked:
        rest = ", ".join(blind) or "the training set and what puts batches together"
        text = f"Gradients of records do not hang on the others of their batch. Not looked at: {rest}."
        return Fact("records", "not seen", IN_PART, text, detail)
    text = (
        "What makes the gradients of a record stays the same beside other records, and so does what the training set "
        "returns for it, in what was looked at."
    )
    return Fact("records", "right", "kept apart", text, detail)


# --- Is the noise Gaussian, large enough at every coordinate, and drawn afresh each time? ----------------

CORRELATED = "correlated between updates"
"""What noise is called of which some updates hang on others: it may be meant so."""
SIGNATURE = 256
"""Values of an update that are compared with those of every other update."""
_SAME = 0.99  # of a cosine: the same noise, up to scale and rounding
_LAGS = (1, 2, 3, 5, 8)
_MOST_TESTED = 100_000  # values for the distance of distribution functions
_MOST_COMPARED = 1_000  # updates whose signatures are compared, all with all
_LEAST = 16  # values below which two vectors are not compared
_MANY = 1000  # values whose fourth moment is nearly normal
REPEATS, SCALE, LAW, INDEPENDENCE = 1, 3, 1, 5
TESTS = REPEATS + SCALE + LAW + INDEPENDENCE


def cosine_p(cosine: Floats | float, values: int) -> Floats:
    """Return the two-sided p-value of the cosine of two independent Gaussian vectors of so many values."""
    half = (values - 1) / 2
    p_values = 2 * stats.beta.sf((1 + np.minimum(1.0, np.abs(cosine))) / 2, half, half)
    return np.minimum(1.0, np.asarray(p_values, dtype=np.float64))


def _cosine(x: Floats, y: Floats) -> float:
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(np.vdot(x, y)) / size if size else 0.0


# --- repetition ---------------------------------------------------------------------------------------------


def repetition_finding(kept: Floats, names: Sequence[tuple[str, Floats]], ranks: Floats | None, error: float) -> Fact:
    """Say whether noise came twice: in two updates, two parameters of one update, or on two machines."""
    where = _twice(kept, names, ranks, error)
    if where:
        text = f"Noise came twice: {where}. A difference of what was released has none of it."
        return Fact("repetition", "wrong", "noise repeated", text, error=error)
    if kept.shape[0] < 2 or kept.shape[1] < _LEAST:
        text = "Fewer than two updates with enough noise were seen."
        return Fact("repetition", "not seen", "too little noise", text)
    return Fact("repetition", "right", "drawn afresh", "No noise came twice.", error=error)


def _twice(kept: Floats, names: Sequence[tuple[str, Floats]], ranks: Floats | None, error: float) -> str:
    share = error / 3
    if ranks is not None and len(ranks) > 1 and ranks.shape[1] >= _LEAST and _all_pairs(ranks, share):
        return "on several machines"
    if kept.shape[1] >= _LEAST and len(kept) > 1 and _all_pairs(_spread(kept, SIGNATURE)[:_MOST_COMPARED], share):
        return "in several updates"
    blocks = [values for _, values in names if values.size >= _LEAST]
    pairs = max(1, len(blocks) * (len(blocks) - 1) // 2)
    for place, block in enumerate(blocks):
        for other in blocks[:place]:
            width = min(block.shape[1], other.shape[1])
            x, y = block[:, :width].ravel(), other[:, :width].ravel()
            cosine = _cosine(x, y)
            if x.size >= _LEAST and abs(cosine) > _SAME and float(cosine_p(cosine, x.size)) < share / pairs:
                return "in several parameters of one update"
    return ""


def _spread(kept: Floats, width: int) -> Floats:
    """Return so many columns, from the whole width."""
    if kept.shape[1] <= width:
        return kept
    return kept[:, np.linspace(0, kept.shape[1] - 1, width).astype(int)]


def _all_pairs(rows: Floats, error: float) -> bool:
    """Whether two rows are the same up to scale, which independent ones are with the given probability at most."""
    largest, pairs = _most_alike(rows)
    return largest > _SAME and float(cosine_p(largest, rows.shape[1])) < error / pairs


def _most_alike(rows: Floats) -> tuple[float, int]:
    """The largest cosine of two rows, and of how many pairs."""
    norms = np.linalg.norm(rows, axis=1)
    units = rows[norms > 0] / norms[norms > 0, None]
    cosines = np.abs(np.tril(units @ units.T, -1))
    return float(cosines.max()) if len(units) > 1 else 0.0, max(1, len(units) * (len(units) - 1) // 2)


# --- scale and law ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scale:
    """The standard deviation of the noise over σ·C, and an interval that holds it at a confidence."""

    ratio: float
    low: float
    high: float
    values: int


def scale_of(squares: Floats, counts: Integers, error: float) -> Scale | None:
    """Return the scale of all noise together, with an exact interval (χ²); None where there was none."""
    total, values = float(squares.sum()), int(counts.sum())
    if not values:
        return None
    low, high = stats.chi2.isf(error / 2, values), stats.chi2.ppf(error / 2, values)
    return Scale(
        float(np.sqrt(total / values)),
        float(np.sqrt(total / low)),
        float(np.sqrt(total / high)),
        values,
    )


def noise_finding(
    squares: Floats,
    counts: Integers,
    names: Sequence[tuple[str, int, int]],
    kept: Floats,
    updates: tuple[Floats, Integers],
    error: float,
    silent: str = "",
) -> Fact:
    """Whether the noise has at least the scale that the claim assumes, at every update, parameter and coordinate."""
    scale = scale_of(squares, counts, 0.05)
    if scale is None:
        return Fact("noise", "not seen", "no noise seen", silent or "No noise was seen.")
    if not np.isfinite(squares).all():
        text = "Some noise is no finite number, and was not judged."
        return Fact("noise", "not seen", "no finite noise", text)
    share = error / (SCALE + LAW)
    detail = f"standard deviation {scale.ratio:.6g} σC from {scale.values:,} values"
    parts = [(name, float(squares[a:b].sum()), int(counts[a:b].sum())) for name, a, b in names]
    parts = [part for part in parts if part[2]]
    p = np.array([stats.chi2.cdf(total, number) for _, total, number in parts])
    small = [name for (name, _, _), value in zip(parts, p, strict=True) if value < share / len(parts)]
    weak = _weak(updates, share)
    large = stats.chi2.sf(float(squares.sum()), int(counts.sum())) < share
    values = kept.ravel()[:: max(1, kept.size // _MOST_TESTED)][:_MOST_TESTED]
    if (small or len(weak) or large) and _is_flat(values, share):
        text = "The noise has another scale than is claimed, and too few large values for Gaussian noise of any scales."
        return Fact("noise", "wrong", "another law", text, detail, share)
    if small:
        which = "" if len(small) == len(parts) else f" at {_names_in_words(small)}"
        text = (
            f"The noise{which} is too small: {_ratio(scale if not which else None, parts, small)} of the σ·C that is "
            "claimed. Either σ is smaller by that factor, or the noise is scaled to another sensitivity than C."
        )
        return Fact("noise", "wrong", "too little noise", text, detail, share)
    if len(weak):
        text = (
            f"In {len(weak)} of {len(updates[0])} updates the noise is too small, down to {float(np.min(weak)):.3g} of "
            "the σ·C that is claimed."
        )
        return Fact("noise", "wrong", "too little noise", text, detail, share)
    seen = counts > 0
    least = stats.chi2.cdf(squares[seen], counts[seen])
    if np.min(least) < share / np.sum(seen):
        text = f"At {int(np.sum(least < share / np.sum(seen)))} coordinates the noise is too small, or is missing."
        name = "coordinates without noise" if np.any(squares[seen] == 0) else "too little noise at some coordinates"
        return Fact("noise", "wrong", name, text, detail, share)
    if large:
        text = f"The noise is larger than claimed, by a factor of {scale.ratio:.4g}: that costs accuracy, not privacy."
        return Fact("noise", "note", "more noise than claimed", text, detail, share)
    if len(values) >= _LEAST:
        law = stats.kstest(values, "norm")
        if law.pvalue < share:
            text = "The noise has the scale that is claimed, and is not Gaussian."
            return Fact("noise", "wrong", "another law", text, f"{detail}, distance {law.statistic:.4g}", share)
    text = (
        f"The noise is Gaussian with the scale that is claimed: its standard deviation is {scale.ratio:.5g} of σ·C, "
        f"from {scale.values:,} values."
    )
    return Fact("noise", "right", "noise as claimed", text, detail, error)


def _is_flat(values: Floats, error: float) -> bool:
    """Whether the fourth moment is below that of Gaussian noise, which is 3σ⁴ of one scale and more of several."""
    if len(values) < _MANY or not values.any():
        return False
    kurtosis = float(np.mean(values**4) / np.mean(values**2) ** 2)
    return bool(stats.norm.cdf((kurtosis - 3) / np.sqrt(24 / len(values))) < error)


def _weak(updates: tuple[Floats, Integers], error: float) -> Floats:
    """Return the scales of the updates whose noise is too small, as each of right noise is with error/t."""
    squares, values = updates
    if not len(squares):
        return squares
    small = stats.chi2.cdf(squares, values) < error / len(squares)
    return np.asarray(np.sqrt(squares[small] / values[small]))


def least_update(updates: tuple[Floats, Integers], error: float) -> float:
    """Return a bound from below of the scale of every update's noise, at an error for all of them; 1.0 for none."""
    squares, values = updates
    if not len(squares):
        return 1.0
    return float(np.sqrt(np.min(squares / stats.chi2.isf(error / len(squares), values))))


def _ratio(scale: Scale | None, parts: Sequence[tuple[str, float, int]], small: Sequence[str]) -> str:
    if scale is not None:
        return f"{scale.ratio:.3g}"
    return f"{min(np.sqrt(total / number) for name, total, number in parts if name in small):.3g}"


def _names_in_words(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# --- independence -------------------------------------------------------------------------------------------


def independence_finding(kept: Floats, names: Sequence[tuple[str, Floats]], ranks: Floats | None, error: float) -> Fact:
    """Say whether noise is independent between updates, coordinates, parameters and machines."""
    updates, width = kept.shape
    if updates < 2 or width < _LEAST:
        return Fact("independence", "not seen", "too little noise", "Too little noise was seen to compare it.")
    share = error / INDEPENDENCE
    rows = _spread(kept, SIGNATURE)[:_MOST_COMPARED]
    alike, pairs = _most_alike(rows)
    tested = {
        "updates": min((_lagged(kept, lag) for lag in _LAGS), default=1.0) * len(_LAGS),
        "some updates": float(cosine_p(alike, rows.shape[1])) * pairs,
        "neighbouring coordinates": _pair(kept[:, : width // 2 * 2 : 2], kept[:, 1 : width // 2 * 2 : 2]),
        "parameters": _blocks([block for _, block in names]),
        "machines": 1.0 if ranks is None or len(ranks) < 2 else _blocks([row[None] for row in ranks]),
    }
    detail = ", ".join(f"{name} p = {min(1.0, p):.2g}" for name, p in tested.items())
    low = [name for name, p in tested.items() if p < share]
    if low and not set(low) - {"updates", "some updates"}:
        text = (
            "The noise of one update hangs on that of others, as noise does that is meant to cancel out. Whether it "
            "was accounted for in this way was not seen."
        )
        return Fact("independence", "not seen", CORRELATED, text, detail)
    if low:
        text = f"The noise hangs together between {' and '.join(low)}."
        return Fact("independence", "wrong", "dependent noise", text, detail, error)
    text = "The noise of updates, coordinates and parameters is independent, as far as this shows."
    return Fact("independence", "right", "independent noise", text, detail, error)


def _pair(x: Floats, y: Floats) -> float:
    return float(cosine_p(_cosine(x, y), x.size)) if x.size >= _LEAST else 1.0


def _lagged(kept: Floats, lag: int) -> float:
    """Of updates so many steps apart, in disjoint pairs."""
    first = [at for at in range(len(kept) - lag) if at // lag % 2 == 0]
    return _pair(kept[first], kept[[at + lag for at in first]]) if first else 1.0


def _blocks(blocks: Sequence[Floats]) -> float:
    """The smallest p-value of neighbouring blocks, over how many there are."""
    p = []
    for block, other in pairwise(blocks):
        width = min(block.shape[1], other.shape[1])
        p.append(_pair(block[:, :width], other[:, :width]))
    return min(p, default=1.0) * max(1, len(p))
