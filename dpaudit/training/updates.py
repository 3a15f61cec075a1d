"""What is a noisy sum divided by, which parameters moved, and what is right and wrong in the whole loop?

The tests that can err share the error equally, by the number of tests there are (a union bound); what cannot err has
none. So a right loop is called wrong with at most the error that was asked for, whatever was seen of it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.training import batches, clipping
from dpaudit.training.batches import Sampler, Use, batch_finding, recognised, rounds_of, use_of
from dpaudit.training.clipping import (
    clipping_finding,
    finite_finding,
    independence_finding,
    noise_finding,
    records_finding,
    repetition_finding,
)
from dpaudit.training.seen import Fact, Parameter, TrainingRun, Update

# --- What is a noisy sum divided by, how many were made, and which parameters moved? ---------------------

_SAME = 1e-3  # relative, of two divisors
_ALTERED = 1e-3
FOLLOWS = "the rate follows the loss"
UNEXPLAINED = "not explained by batches"
"""What the steps are called of which nobody knows the batches that they hold."""


def divisor_finding(updates: Sequence[Update], records: int | None, rate: float | None, silent: str = "") -> Fact:
    """Say whether noisy sums are divided by a constant that hangs on no record."""
    seen = [each for each in updates if each.divisor is not None]
    if not seen:
        return Fact(
            "divisor", "not seen", "no divisor seen", silent or "What the noisy sum is divided by was not seen."
        )
    divisors = np.array([each.divisor for each in seen], dtype=np.float64)
    detail = f"divisors from {divisors.min():.6g} to {divisors.max():.6g}"
    if np.ptp(divisors) <= _SAME * np.abs(divisors).mean():
        return _constant(float(np.median(divisors)), records, rate, detail)
    rows = np.array([each.rows if each.rows is not None else math.nan for each in seen], dtype=np.float64)
    if np.all(np.isfinite(rows)) and np.allclose(divisors, np.maximum(rows, 1), rtol=_SAME):
        text = (
            "The noisy sum is divided by the size of the batch that was drawn: the scale of an update tells how many "
            "records were in it, without noise."
        )
        return Fact("divisor", "wrong", "divided by the batch size", text, detail)
    text = "The divisor of the noisy sum is not the same in all updates; it may hang on records only through noise."
    return Fact("divisor", "note", "another divisor each time", text, detail)


def _constant(divisor: float, records: int | None, rate: float | None, detail: str) -> Fact:
    expected = None if records is None or rate is None else records * rate
    whole = expected is not None and math.isclose(expected, round(expected), rel_tol=1e-9)
    if expected is not None and not whole and math.isclose(divisor, math.floor(expected), rel_tol=1e-6):
        text = (
            "The divisor is the whole part of (number of records)·(sampling rate), a function of the number of "
            "records: that matters where neighbours have one record more or less. State a public number instead."
        )
        return Fact("divisor", "note", "whole part of N·q", text, detail)
    if expected is not None and any(
        math.isclose(divisor, each, rel_tol=1e-6) for each in (expected, round(expected), math.ceil(expected))
    ):
        text = (
            "Every noisy sum was divided by one constant, which is (number of records)·(sampling rate). Whether it was "
            "computed from the number of records, which may be private, or is a public number, was not seen."
        )
        return Fact("divisor", "not seen", "equals N·q", text, detail)
    return Fact("divisor", "right", "a constant divisor", "Every noisy sum was divided by one constant.", detail)


# --- steps --------------------------------------------------------------------------------------------------


def steps_finding(
    updates: Sequence[Update],
    use: Use | None,
    accounted: Sequence[tuple[float, float, int]] | None,
    rate: float | None,
    silent: str = "",
) -> Fact:
    """Say whether the updates that were made are those that were accounted for, each of one batch of its own."""
    detail = f"{len(updates)} updates" if use is None else (
        f"{len(updates)} updates, of up to {use.together} batches; {use.again()} batches in more than one, {use.cut} "
        f"updates of a part of one, {use.left} batches in none, {use.unexplained} updates unexplained"
    )  # fmt: skip
    if not updates:
        return Fact("steps", "not seen", "no updates", "No update with noise was made.", detail)
    if use is not None:
        wrongly_held = _held_wrongly(use, accounted, rate, detail)
        if wrongly_held is not None:
            return wrongly_held
    if accounted is not None:
        total = sum(steps for _, _, steps in accounted)
        if total < len(updates):
            text = f"{len(updates):,} updates with noise were made, and {total:,} are accounted for."
            return Fact("steps", "wrong", "steps that are not accounted for", text, detail)
        rates = {each for _, each, _ in accounted}
        other = rate is not None and rates and max(abs(each - rate) for each in rates) > 1e-9 + 1e-6 * rate
        if other and rate is not None and min(rates) < rate:
            text = f"Batches are drawn at the rate {rate:.6g}, and {min(rates):.6g} is accounted for."
            return Fact("steps", "wrong", "another rate is accounted for", text, detail)
    if silent or (use is not None and use.unexplained):
        text = silent or (
            f"In {use.unexplained if use else 0} of {len(updates)} updates the numbers of records are not those of the "
            "batches that were drawn: what these updates hold was not seen."
        )
        return Fact("steps", "not seen", UNEXPLAINED, text, detail)
    if use is not None and use.left:
        text = (
            f"{use.left:,} of the batches that reached the loop were not trained on. That costs no privacy, unless it "
            "hung on records which; that was not seen."
        )
        return Fact("steps", "note", "batches left out", text, detail)
    if accounted is None:
        text = f"{len(updates):,} updates with noise were made; no accountant counts them beside."
        return Fact("steps", "right", "counted", text, detail)
    if total > len(updates):
        text = f"{len(updates):,} updates with noise were made, and {total:,} are accounted for."
        return Fact("steps", "note", "fewer steps than accounted for", text, detail)
    if other and rate is not None:
        text = f"Batches are drawn at the rate {rate:.6g}, and {min(rates):.6g} is accounted for."
        return Fact("steps", "note", "a larger rate is accounted for", text, detail)
    text = (
        f"All {total:,} updates with noise are accounted for. Whether their number hung on what was trained was not "
        "seen."
    )
    return Fact("steps", "right", "steps as accounted", text, detail)


def _held_wrongly(
    use: Use, accounted: Sequence[tuple[float, float, int]] | None, rate: float | None, detail: str
) -> Fact | None:
    """What is wrong with the batches that updates hold; None where nothing is."""
    if use.cut:
        text = (
            f"In {use.cut} of {len(use.held)} updates a part of a batch was trained on. Which part a record is in "
            "hangs on how many come before it, so that one record more moves others in or out, too."
        )
        return Fact("steps", "wrong", "batches are cut", text, detail)
    if use.again():
        text = (
            f"{use.again():,} batches were trained on more than once: a record that was drawn comes into several "
            "updates for sure, and not with the rate of each."
        )
        return Fact("steps", "wrong", "batches are used again", text, detail)
    several = use.together
    if several == 1:
        return None
    text = (
        f"An update takes the records of up to {several} batches that were drawn independently, so that one record "
        f"may come into it {several} times: it then moves the sum by {several}·C. "
    )
    counted = _counted(accounted, rate)
    name = "accumulated batches" if counted in (None, several) else "uncounted accumulation"
    text += (
        f"Accounting for it as one batch drawn at {several} times the rate counts too little."
        if counted == several
        else "An accountant has to know that."
        if counted is None
        else f"It was accounted for as {counted} of them."
    )
    return Fact("steps", "wrong", name, text, detail)


def _counted(accounted: Sequence[tuple[float, float, int]] | None, rate: float | None) -> int | None:
    """As how many batches an update was accounted for; None without an accountant."""
    if not accounted or not rate:
        return None
    return max(1, *(round(each / rate) for _, each, _ in accounted), 1)


# --- parameters ---------------------------------------------------------------------------------------------


def parameters_finding(parameters: Mapping[str, Parameter], updates: int) -> Fact:
    """Say which parameters moved without noise, and which never moved."""
    if not parameters or not updates:
        return Fact("parameters", "not seen", "no updates", "No parameter was seen before and after an update.")
    moved = {name: each for name, each in parameters.items() if each.moved and not each.state}
    bare = [name for name, each in moved.items() if each.bare]
    if bare:
        text = (
            f"{_names_in_words(bare)} had gradients without noise in some update: what it learned is released as it is."
        )
        return Fact("parameters", "wrong", "moved without noise", text)
    unknown = [name for name, each in moved.items() if each.unknown]
    if unknown:
        text = f"{_names_in_words(unknown)} moved, and no noise was seen in its gradient in some update."
        return Fact("parameters", "wrong", "no noise was seen in it", text)
    outside = [name for name, each in parameters.items() if each.outside or (each.moved and not each.trained)]
    outside = [name for name in outside if not parameters[name].state]
    if outside:
        text = f"{_names_in_words(outside)} moved, and not by a step of the optimizer: how was not seen."
        return Fact("parameters", "not seen", "moved otherwise", text)
    still = [name for name, each in parameters.items() if each.trained and not each.moved]
    if still:
        text = f"{_names_in_words(still)} never moved, though the optimizer holds it."
        return Fact("parameters", "note", "never moved", text)
    return Fact("parameters", "right", "all moved with noise", "Every parameter that moved got noise in every update.")


def altered_finding(updates: Sequence[Update], options: Collection[str] = (), *, followed: bool = False) -> Fact | None:
    """Say that gradients, or the steps made of them, were changed after the noise; None where they were not."""
    if followed:
        text = (
            "The rate of learning was computed from losses of the batches: it is released with the weights, and "
            "nothing accounts for it. Let it follow a public validation set, or the number of updates alone."
        )
        return Fact("altered", "wrong", FOLLOWS, text)
    if max((each.altered for each in updates), default=0.0) > _ALTERED:
        text = "Gradients were changed after the noise was added; whether only by what has noise, was not seen."
        return Fact("altered", "not seen", "changed after the noise", text)
    if not options:
        return None
    text = (
        f"The loop itself changed {', '.join(sorted(options))} of the optimizer between updates. What it hangs on, a "
        "loss perhaps, is released with the weights, and was not seen; a schedule of torch.optim.lr_scheduler, which "
        "knows nothing but the number of updates, is recognised."
    )
    return Fact("altered", "not seen", "steps changed by the loop", text)


def _names_in_words(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# --- What else does accounting take for granted? One clip norm, digits enough, one machine, a generator that is
# secret. ---
#
# No test is random here.

_SAME_CLIP = 1e-6  # relative, of two clip norms


def adaptive_finding(
    updates: Sequence[Update], counts: Sequence[float] | None, silent: str = "", planned: int = 0
) -> Fact:
    """Say whether the clip norm, or the noise multiplier, hangs on records."""
    norms = np.array([each.clip for each in updates if each.clip is not None])
    if counts is not None:
        bare = [each for each in counts if each == round(each)]
        if bare:
            text = "The clip norm adapts to how many records are below it, and this count has no noise."
            return Fact("adaptive", "wrong", "a count without noise", text, f"{len(bare)} of {len(counts)} counts")
        text = (
            "The clip norm adapts to how many records are below it. The count has noise, whose scale was not looked "
            "at; the noise of the sums has to be raised for it (Andrew, Thakkar, McMahan & Ramaswamy 2021, Theorem 1)."
        )
        return Fact("adaptive", "not seen", "adapts to a noisy count", text)
    if silent:
        return Fact("adaptive", "not seen", "no clip norm seen", f"The clip norm was not seen: {silent}")
    if not len(norms):
        return Fact("adaptive", "not seen", "no clip norm seen", "The clip norm of no update was seen.")
    if np.ptp(norms) > _SAME_CLIP * np.abs(norms).max():
        text = "The clip norm changed between updates; whether by a public plan or by records, was not seen."
        return Fact("adaptive", "not seen", "another norm each time", text)
    sigmas = np.array([each.sigma for each in updates if each.sigma is not None])
    if planned and planned < len(updates):
        text = f"The plan states {planned:,} noise multipliers, and {len(updates):,} updates were made."
        return Fact("adaptive", "not seen", "a plan that is too short", text)
    if planned:
        text = (
            "The clip norm was the same in every update, and the noise multiplier is that of the plan that was given."
        )
        return Fact("adaptive", "right", "a public plan", text)
    if len(sigmas) and np.ptp(sigmas) > _SAME_CLIP * sigmas.max():
        text = "The noise multiplier changed between updates; whether by a public plan or by records, was not seen."
        return Fact("adaptive", "not seen", "another noise each time", text)
    return Fact("adaptive", "right", "one clip norm", "The clip norm was the same in every update.")


def precision_finding(rounded: str, cast: str, after: str, updates: int) -> Fact:
    """Say whether sums and noise have digits enough to be taken for real numbers."""
    if not updates:
        return Fact("precision", "not seen", "no updates", "No sum and no noise was seen.")
    if rounded:
        text = (
            f"Sums and their noise are numbers of {rounded}: they lie on a coarse grid, and which of its points are "
            "reached may tell of records what no Gaussian noise would. Keep gradients and noise in float32."
        )
        return Fact("precision", "wrong", "noise with few digits", text)
    text = "Sums and noise have the digits of float32 or more; their last bits were not looked at."
    if cast:
        text = f"The forward pass is cast to {cast}. {text}"
    if after:
        text += f" Noisy gradients were rounded to {after} afterwards, which costs no privacy."
    return Fact("precision", "right", "mixed precision" if cast else "float32 or more", text)


def generator_finding(secure: bool | None, readable: bool) -> Fact:
    """Say whether noise comes from a generator that is made for cryptography."""
    if secure and readable:
        text = (
            "secure_mode is on, but noise comes from a generator whose state can be read, so that it can be predicted."
        )
        return Fact("generator", "wrong", "secure mode without its generator", text)
    if secure:
        text = "Noise comes from a generator for cryptography (secure_mode), as sums of several draws."
        return Fact("generator", "right", "secure mode", text)
    why = "secure_mode is off: " if secure is not None else ""
    text = f"{why}whether the generator of the noise can be predicted was not seen."
    return Fact("generator", "not seen", "an ordinary generator", text[:1].upper() + text[1:] if not why else text)


def machines_finding(processes: int | None, devices: int, updates: int) -> Fact:
    """Say whether all noise was made where the watch could see it."""
    if not updates:
        return Fact("machines", "not seen", "no updates", "No sum and no noise was seen.")
    if processes is None:
        return Fact("machines", "not seen", "not known", "How many processes train together was not seen.")
    if processes > 1:
        text = (
            f"{processes} processes train together, and only the sums and the noise of this one were seen; what the "
            "others add was not."
        )
        return Fact("machines", "not seen", "several processes", text)
    where = "one device" if devices == 1 else f"{devices} devices, all of which were looked at"
    return Fact("machines", "right", "one process", f"One process made all sums and all noise, on {where}.")


# --- What is right and what is wrong in a loop that was watched? -----------------------------------------

TESTS = batches.TESTS + clipping.TESTS
"""How many tests share the error."""
FACTS = (
    "batches",
    "clipping",
    "noise",
    "repetition",
    "independence",
    "divisor",
    "steps",
    "parameters",
    "records",
    "numbers",
    "adaptive",
    "precision",
    "generator",
    "machines",
)
OF_ALL = ("batches", "noise", "repetition", "independence", "parameters")
"""Those that one of several processes cannot show: records, noise and parameters are shared between them."""
_NO_BATCHES = "The batches of this loader were not seen: it has no batch sampler over a training set of known length."


def checklist(seen: TrainingRun, error: float, seed: int = 0) -> tuple[list[Fact], Sampler | None]:
    """Return a finding for every fact, in the order of `FACTS`, and the sampler that was recognised.

    Args:
        seen: what was recorded.
        error: the probability with which anything in a right loop is called wrong, at most.
        seed: of Monte Carlo tests.
    """
    share = error / TESTS
    sampler = sampler_of(seen, share * batches.TESTS, seed)
    facts = [
        Fact("batches", "not seen", "no batches seen", seen.silent.get("batches", _NO_BATCHES))
        if sampler is None
        else batch_finding(sampler, seen.assumed),
        _unless_silent(clipping_finding(seen.replays, seen.silent.get("clipping", "")), seen),
        *_noise(seen, share),
        divisor_finding(seen.updates, seen.records, seen.sampled, seen.silent.get("divisor", "")),
        steps_finding(seen.updates, use_of(seen), seen.accounted, seen.rate, seen.silent.get("steps", "")),
        _unless_silent(parameters_finding(seen.parameters, len(seen.updates)), seen),
        records_finding(seen.parameters, seen.mixing, seen.played, seen.asked, seen.alone),
        finite_finding(seen.replays, len(seen.updates), _empty(seen)),
        adaptive_finding(seen.updates, seen.adapting, seen.silent.get("clipping", ""), seen.planned),
        precision_finding(seen.rounded, seen.cast, seen.rounded_after, len(seen.updates)),
        generator_finding(seen.secure, seen.readable),
        machines_finding(seen.processes, seen.devices, len(seen.updates)),
    ]
    if several(seen):
        return [_of_one(each, seen) for each in facts], None
    more = altered_finding(seen.updates, seen.options, followed=seen.followed)
    return [*facts, *([more] if more else [])], sampler


def several(seen: TrainingRun) -> bool:
    """Whether several processes train together, of which one was seen."""
    return seen.processes is not None and seen.processes > 1


def _of_one(fact: Fact, seen: TrainingRun) -> Fact:
    """What one of several processes shows: its sums and its steps, and neither all records nor all noise."""
    if fact.fact not in OF_ALL:
        return fact
    text = (
        f"{seen.processes} processes share the training set, the noise and the update; what this one drew and added "
        "says nothing by itself."
    )
    return Fact(fact.fact, "not seen", "one of several processes", text)


def sampler_of(seen: TrainingRun, error: float, seed: int = 0) -> Sampler | None:
    """Return how records came in; None where batches were not seen, or nothing is known of them."""
    if not seen.batches or not seen.records:
        return None
    if seen.copies:
        return Sampler("copies", {}, 0.0)
    rate = seen.sampled or float(np.mean([len(each) for each in seen.batches])) / seen.records
    if not 0 < rate < 1 or len(seen.batches) < 2:
        return Sampler("", {}, error)
    epoch = seen.epoch or max(1, round(1 / rate))
    return recognised(
        seen.batches, seen.records, rate, epoch, error, seed, rounds_of(seen.passes, epoch, len(seen.batches))
    )


def _unless_silent(fact: Fact, seen: TrainingRun) -> Fact:
    """A fact of which a part was not seen is not right."""
    if fact.status != "right" or fact.fact not in seen.silent:
        return fact
    return Fact(fact.fact, "not seen", "seen in part", seen.silent[fact.fact], fact.detail)


def _noise(seen: TrainingRun, share: float) -> list[Fact]:
    kept = seen.kept()
    blocks = _blocks(seen, kept)
    again = repetition_finding(kept, blocks, seen.ranks, share * clipping.REPEATS)
    level = share * (clipping.SCALE + clipping.LAW)
    each = seen.each_update()
    size = noise_finding(seen.squares, seen.counts, seen.names, kept, each, level, seen.silent.get("noise", ""))
    size = _unless_silent(size, seen)
    if again.status == "wrong":  # the other tests take independent values for granted
        text = "Noise that comes twice makes every other test of it meaningless."
        return [
            replace(size, status="not seen", name="not judged", text=text, error=0.0),
            again,
            Fact("independence", "not seen", "not judged", text),
        ]
    if size.status == "wrong":
        again_text = "Not judged: the tests take the noise that is claimed for granted."
        return [size, again, Fact("independence", "not seen", "not judged", again_text)]
    return [size, again, independence_finding(kept, blocks, seen.ranks, share * clipping.INDEPENDENCE)]


def _blocks(seen: TrainingRun, kept: Floats) -> list[tuple[str, Floats]]:
    """The kept noise of each parameter: kept coordinates are spread evenly over all, in their order."""
    if not len(kept):
        return []
    where = kept_coordinates(len(seen.squares), kept.shape[1])
    return [(name, kept[:, (where >= a) & (where < b)]) for name, a, b in seen.names]


def kept_coordinates(values: int, most: int) -> np.ndarray:
    """Return which coordinates of noise are kept: all of them, or so many in runs of neighbours."""
    if values <= most:
        return np.arange(values)
    run = 64
    starts = np.linspace(0, values - run, max(1, most // run)).astype(int)
    return np.unique((starts[:, None] + np.arange(run)).ravel())


def _empty(seen: TrainingRun) -> int | None:
    rows = [each.rows for each in seen.updates]
    return None if not rows or any(each is None for each in rows) else sum(each == 0 for each in rows)
