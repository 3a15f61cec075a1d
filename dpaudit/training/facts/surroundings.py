"""What else does accounting take for granted? One clip norm, digits enough, one machine, a generator that is secret.

No test is random here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit.training.facts.finding import Finding
from dpaudit.training.seen import Update

_SAME = 1e-6  # relative, of two clip norms


def adaptive_finding(
    updates: Sequence[Update], counts: Sequence[float] | None, silent: str = "", planned: int = 0
) -> Finding:
    """Say whether the clip norm, or the noise multiplier, hangs on records."""
    norms = np.array([each.clip for each in updates if each.clip is not None])
    if counts is not None:
        bare = [each for each in counts if each == round(each)]
        if bare:
            text = "The clip norm adapts to how many records are below it, and this count has no noise."
            return Finding("adaptive", "wrong", "a count without noise", text, f"{len(bare)} of {len(counts)} counts")
        text = (
            "The clip norm adapts to how many records are below it. The count has noise, whose scale was not looked "
            "at; the noise of the sums has to be raised for it (Andrew, Thakkar, McMahan & Ramaswamy 2021, Theorem 1)."
        )
        return Finding("adaptive", "not seen", "adapts to a noisy count", text)
    if silent:
        return Finding("adaptive", "not seen", "no clip norm seen", f"The clip norm was not seen: {silent}")
    if not len(norms):
        return Finding("adaptive", "not seen", "no clip norm seen", "The clip norm of no update was seen.")
    if np.ptp(norms) > _SAME * np.abs(norms).max():
        text = "The clip norm changed between updates; whether by a public plan or by records, was not seen."
        return Finding("adaptive", "not seen", "another norm each time", text)
    sigmas = np.array([each.sigma for each in updates if each.sigma is not None])
    if planned and planned < len(updates):
        text = f"The plan states {planned:,} noise multipliers, and {len(updates):,} updates were made."
        return Finding("adaptive", "not seen", "a plan that is too short", text)
    if planned:
        text = (
            "The clip norm was the same in every update, and the noise multiplier is that of the plan that was given."
        )
        return Finding("adaptive", "right", "a public plan", text)
    if len(sigmas) and np.ptp(sigmas) > _SAME * sigmas.max():
        text = "The noise multiplier changed between updates; whether by a public plan or by records, was not seen."
        return Finding("adaptive", "not seen", "another noise each time", text)
    return Finding("adaptive", "right", "one clip norm", "The clip norm was the same in every update.")


def precision_finding(rounded: str, cast: str, after: str, updates: int) -> Finding:
    """Say whether sums and noise have digits enough to be taken for real numbers."""
    if not updates:
        return Finding("precision", "not seen", "no updates", "No sum and no noise was seen.")
    if rounded:
        text = (
            f"Sums and their noise are numbers of {rounded}: they lie on a coarse grid, and which of its points are "
            "reached may tell of records what no Gaussian noise would. Keep gradients and noise in float32."
        )
        return Finding("precision", "wrong", "noise with few digits", text)
    text = "Sums and noise have the digits of float32 or more; their last bits were not looked at."
    if cast:
        text = f"The forward pass is cast to {cast}. {text}"
    if after:
        text += f" Noisy gradients were rounded to {after} afterwards, which costs no privacy."
    return Finding("precision", "right", "mixed precision" if cast else "float32 or more", text)


def generator_finding(secure: bool | None, readable: bool) -> Finding:
    """Say whether noise comes from a generator that is made for cryptography."""
    if secure and readable:
        text = (
            "secure_mode is on, but noise comes from a generator whose state can be read, so that it can be predicted."
        )
        return Finding("generator", "wrong", "secure mode without its generator", text)
    if secure:
        text = "Noise comes from a generator for cryptography (secure_mode), as sums of several draws."
        return Finding("generator", "right", "secure mode", text)
    why = "secure_mode is off: " if secure is not None else ""
    text = f"{why}whether the generator of the noise can be predicted was not seen."
    return Finding("generator", "not seen", "an ordinary generator", text[:1].upper() + text[1:] if not why else text)


def machines_finding(processes: int | None, devices: int, updates: int) -> Finding:
    """Say whether all noise was made where the watch could see it."""
    if not updates:
        return Finding("machines", "not seen", "no updates", "No sum and no noise was seen.")
    if processes is None:
        return Finding("machines", "not seen", "not known", "How many processes train together was not seen.")
    if processes > 1:
        text = (
            f"{processes} processes train together, and only the sums and the noise of this one were seen; what the "
            "others add was not."
        )
        return Finding("machines", "not seen", "several processes", text)
    where = "one device" if devices == 1 else f"{devices} devices, all of which were looked at"
    return Finding("machines", "right", "one process", f"One process made all sums and all noise, on {where}.")
