"""Is the sum that gets noise the sum of clipped records? Replayed from the gradients of single records.

Clipping by the norm turns a record's gradient g into min(1, C/‖g‖)·g (Abadi et al. 2016, algorithm 1). The sum of
these over all records of a batch is compared with the sum that the loop made, on coordinates that were drawn at random:
leaving out one record and looking how far the sum moves would not see a batch that is clipped as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from dpaudit.arrays import Floats
from dpaudit.training.facts.finding import Finding
from dpaudit.training.seen import Replay

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
) -> Replay:
    """Return how far a sum of gradients is from that of its clipped records, and what it looks like instead."""
    slack = max(TOLERANCE, DIGITS.get(cast, 0.0))
    if not (np.all(np.isfinite(norms)) and np.all(np.isfinite(total)) and np.all(np.isfinite(rows))):
        return Replay(float("nan"), False, finite=False)
    if not len(rows):
        return Replay(float(np.linalg.norm(total)), False)
    factors = np.minimum(1, clip / (norms + _EXCESS))
    distance = _distance(factors @ rows, total)
    largest = float(np.max(norms * factors)) / clip
    clipped = bool(np.any(norms > clip * (1 + (10 if before else -1) * TOLERANCE)))
    if distance <= slack:
        return Replay(distance, clipped, largest=largest, slack=slack)
    looks, norm = _looks(rows, norms, total, clip, whole)
    if looks == "not clipped" and not before and np.sum(norms > norms.max() * (1 - TOLERANCE)) > 1:
        looks, norm = "another norm", float(norms.max())  # several records contribute as much as each other
    biggest = float(norms.max()) if looks == "not clipped" else min(norm, float(norms.max()))
    return Replay(distance, clipped, looks, norm, largest=biggest / clip if looks else float("nan"))


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
    found = minimize_scalar(off, bounds=(grid[max(0, at - 1)], grid[min(199, at + 1)]), method="bounded")
    # all records clipped to any small norm have the direction of the sum of unit vectors
    if float(found.fun) <= TOLERANCE and len(rows) > 1:
        return "another norm", float(np.exp(found.x))
    size = float(np.linalg.norm(plain) * np.linalg.norm(total))
    parallel = bool(size) and float(plain @ total) / size > _PARALLEL
    if parallel or (whole is not None and abs(whole - clip) <= TOLERANCE * clip):
        return "clipped per batch", nan
    return "no such sum", nan


def _distance(expected: Floats, total: Floats) -> float:
    scale = max(float(np.linalg.norm(expected)), 1e-12)
    return float(np.linalg.norm(expected - total)) / scale


# --- what is said of it -------------------------------------------------------------------------------------


def clipping_finding(replays: Sequence[Replay], silent: str = "") -> Finding:
    """Say whether every sum that was replayed is one of clipped records."""
    if not replays:
        text = silent or "No gradients of single records were seen."
        return Finding("clipping", "not seen", "not replayed", text)
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
        return Finding("clipping", "wrong", name, text, detail)
    showed = sum(each.clipped for each in replays)
    if not showed:
        text = "No record of a replayed sum was above the clip norm, so that clipping could not show."
        return Finding("clipping", "not seen", "nothing to clip", text, detail)
    text = f"In each of {len(replays)} replays the sum was that of records clipped one by one."
    slack = max(each.slack for each in replays)
    if slack > TOLERANCE:
        text = f"{text[:-1]}, as far as the digits of the forward pass show: to {slack:.1%}."
        return Finding("clipping", "right", ROUNDED, text, detail)
    return Finding("clipping", "right", "clipped one by one", text, detail)


def finite_finding(replays: Sequence[Replay], updates: int, empty: int | None) -> Finding:
    """Say whether gradients were numbers, and whether an empty batch made an update like any other."""
    if any(not each.finite for each in replays):
        text = "A gradient that is no finite number went into a sum: it reaches the weights through any noise."
        return Finding("numbers", "wrong", "gradients that are no numbers", text)
    if not replays or not updates:
        return Finding("numbers", "not seen", "no gradients seen", "No gradients of single records were seen.")
    more = "" if not empty else " Empty batches made updates with noise, as they should."
    text = f"All gradients that were replayed were finite numbers.{more}"
    return Finding("numbers", "right", "finite gradients", text)
