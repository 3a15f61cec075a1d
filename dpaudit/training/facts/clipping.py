"""Is the sum that gets noise the sum of clipped records? Replayed from the gradients of single records.

Clipping by the norm turns a record's gradient g into min(1, C/‖g‖)·g (Abadi et al. 2016, algorithm 1). The sum of
these over all records of a batch is compared with the sum that the loop made, on coordinates that were drawn at random:
leaving out one record and looking how far the sum moves would not see a batch that is clipped as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from dpaudit.arrays import Floats
from dpaudit.training.seen import Finding, Parameter, Played, Replay

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
) -> Finding:
    """Say whether what one record contributes hangs on others."""
    state = [name for name, each in parameters.items() if each.state and each.moved]
    if state:
        named = ", ".join(state[:3]) + (f" and {len(state) - 3} more" if len(state) > 3 else "")
        text = f"{named} changed while training without noise: state of a layer is released with the model."
        return Finding("records", "wrong", "state without noise", text)
    if mixing:
        kinds = ", ".join(mixing)
        text = f"A layer computes across the records of a batch ({kinds}): clipping single records bounds nothing."
        return Finding("records", "wrong", "records are mixed", text)
    mixed = [each for each in (*asked.values(), *played) if each.where]
    if mixed:
        where = max((each.where for each in mixed), key=[each.where for each in mixed].count)
        text = f"Records are mixed {where}. Clipping what is left of each bounds nothing."
        return Finding("records", "wrong", "records are mixed", text, f"relative change {mixed[0].change:.2g}")
    shown = [each for each in played if not each.blind]
    blind = [f"{name} ({each.blind})" for name, each in asked.items() if each.blind]
    if not shown and not sums:
        why = f": {played[-1].blind}" if played else ""
        return Finding("records", "not seen", NOT_LOOKED_AT, f"Whether records are mixed was not looked at{why}.")
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
        return Finding("records", "not seen", IN_PART, text, detail)
    text = (
        "What makes the gradients of a record stays the same beside other records, and so does what the training set "
        "returns for it, in what was looked at."
    )
    return Finding("records", "right", "kept apart", text, detail)
