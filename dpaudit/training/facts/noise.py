"""Is the noise Gaussian, large enough at every coordinate, and drawn afresh each time? Seen from its values.

Noise is given over σ·C, so that a right loop's values are independent N(0, 1). Repetition is looked at first: noise
that comes twice makes every other test wrong, and can be subtracted. All laws are exact under that null:

- *scale*: the sum of n squares is χ²(n);
- *law*: the largest distance of the empirical distribution function (Kolmogorov; Marsaglia, Tsang & Wang 2003);
- *independence*: c = ⟨x, y⟩/‖x‖‖y‖ of two independent Gaussian vectors of m values has (1 + c)/2 ~ Beta((m−1)/2,
  (m−1)/2) (Fisher 1915, without means), here of updates a few steps apart, neighbours in one update, parameters in one
  update, and machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from dpaudit.arrays import Floats, Integers
from dpaudit.training.seen import Finding

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
    found = 2 * stats.beta.sf((1 + np.minimum(1.0, np.abs(cosine))) / 2, half, half)
    return np.minimum(1.0, np.asarray(found, dtype=np.float64))


def _cosine(x: Floats, y: Floats) -> float:
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(np.vdot(x, y)) / size if size else 0.0


# --- repetition ---------------------------------------------------------------------------------------------


def repetition_finding(
    kept: Floats, names: Sequence[tuple[str, Floats]], ranks: Floats | None, error: float
) -> Finding:
    """Say whether noise came twice: in two updates, two parameters of one update, or on two machines."""
    where = _twice(kept, names, ranks, error)
    if where:
        text = f"Noise came twice: {where}. A difference of what was released has none of it."
        return Finding("repetition", "wrong", "noise repeated", text, error=error)
    if kept.shape[0] < 2 or kept.shape[1] < _LEAST:
        text = "Fewer than two updates with enough noise were seen."
        return Finding("repetition", "not seen", "too little noise", text)
    return Finding("repetition", "right", "drawn afresh", "No noise came twice.", error=error)


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
) -> Finding:
    """Whether the noise has at least the scale that the claim assumes, at every update, parameter and coordinate."""
    scale = scale_of(squares, counts, 0.05)
    if scale is None:
        return Finding("noise", "not seen", "no noise seen", silent or "No noise was seen.")
    if not np.isfinite(squares).all():
        text = "Some noise is no finite number, and was not judged."
        return Finding("noise", "not seen", "no finite noise", text)
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
        return Finding("noise", "wrong", "another law", text, detail, share)
    if small:
        which = "" if len(small) == len(parts) else f" at {_listed(small)}"
        text = (
            f"The noise{which} is too small: {_ratio(scale if not which else None, parts, small)} of the σ·C that is "
            "claimed. Either σ is smaller by that factor, or the noise is scaled to another sensitivity than C."
        )
        return Finding("noise", "wrong", "too little noise", text, detail, share)
    if len(weak):
        text = (
            f"In {len(weak)} of {len(updates[0])} updates the noise is too small, down to {float(np.min(weak)):.3g} of "
            "the σ·C that is claimed."
        )
        return Finding("noise", "wrong", "too little noise", text, detail, share)
    seen = counts > 0
    least = stats.chi2.cdf(squares[seen], counts[seen])
    if np.min(least) < share / np.sum(seen):
        text = f"At {int(np.sum(least < share / np.sum(seen)))} coordinates the noise is too small, or is missing."
        name = "coordinates without noise" if np.any(squares[seen] == 0) else "too little noise at some coordinates"
        return Finding("noise", "wrong", name, text, detail, share)
    if large:
        text = f"The noise is larger than claimed, by a factor of {scale.ratio:.4g}: that costs accuracy, not privacy."
        return Finding("noise", "note", "more noise than claimed", text, detail, share)
    if len(values) >= _LEAST:
        law = stats.kstest(values, "norm")
        if law.pvalue < share:
            text = "The noise has the scale that is claimed, and is not Gaussian."
            return Finding("noise", "wrong", "another law", text, f"{detail}, distance {law.statistic:.4g}", share)
    text = (
        f"The noise is Gaussian with the scale that is claimed: its standard deviation is {scale.ratio:.5g} of σ·C, "
        f"from {scale.values:,} values."
    )
    return Finding("noise", "right", "noise as claimed", text, detail, error)


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


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# --- independence -------------------------------------------------------------------------------------------


def independence_finding(
    kept: Floats, names: Sequence[tuple[str, Floats]], ranks: Floats | None, error: float
) -> Finding:
    """Say whether noise is independent between updates, coordinates, parameters and machines."""
    updates, width = kept.shape
    if updates < 2 or width < _LEAST:
        return Finding("independence", "not seen", "too little noise", "Too little noise was seen to compare it.")
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
        return Finding("independence", "not seen", CORRELATED, text, detail)
    if low:
        text = f"The noise hangs together between {' and '.join(low)}."
        return Finding("independence", "wrong", "dependent noise", text, detail, error)
    text = "The noise of updates, coordinates and parameters is independent, as far as this shows."
    return Finding("independence", "right", "independent noise", text, detail, error)


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
