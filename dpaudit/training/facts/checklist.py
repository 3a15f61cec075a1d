"""What is right and what is wrong in a loop that was watched? All facts in one list, at one error.

The tests that can err share the error equally, by the number of tests there are (a union bound); what cannot err has
none. So a right loop is called wrong with at most the error that was asked for, whatever was seen of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.training.facts import batches, noise
from dpaudit.training.facts.batches import Sampler, batch_finding, recognised, rounds_of, use_of
from dpaudit.training.facts.clipping import clipping_finding, finite_finding, records_finding
from dpaudit.training.facts.noise import independence_finding, noise_finding, repetition_finding
from dpaudit.training.facts.updates import (
    adaptive_finding,
    altered_finding,
    divisor_finding,
    generator_finding,
    machines_finding,
    parameters_finding,
    precision_finding,
    steps_finding,
)
from dpaudit.training.seen import Finding, Seen

TESTS = batches.TESTS + noise.TESTS
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


def checklist(seen: Seen, error: float, seed: int = 0) -> tuple[list[Finding], Sampler | None]:
    """Return a finding for every fact, in the order of `FACTS`, and the sampler that was recognised.

    Args:
        seen: what was recorded.
        error: the probability with which anything in a right loop is called wrong, at most.
        seed: of Monte Carlo tests.
    """
    share = error / TESTS
    sampler = sampler_of(seen, share * batches.TESTS, seed)
    found = [
        Finding("batches", "not seen", "no batches seen", seen.silent.get("batches", _NO_BATCHES))
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
        return [_of_one(each, seen) for each in found], None
    more = altered_finding(seen.updates, seen.options, followed=seen.followed)
    return [*found, *([more] if more else [])], sampler


def several(seen: Seen) -> bool:
    """Whether several processes train together, of which one was seen."""
    return seen.processes is not None and seen.processes > 1


def _of_one(found: Finding, seen: Seen) -> Finding:
    """What one of several processes shows: its sums and its steps, and neither all records nor all noise."""
    if found.fact not in OF_ALL:
        return found
    text = (
        f"{seen.processes} processes share the training set, the noise and the update; what this one drew and added "
        "says nothing by itself."
    )
    return Finding(found.fact, "not seen", "one of several processes", text)


def sampler_of(seen: Seen, error: float, seed: int = 0) -> Sampler | None:
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


def _unless_silent(found: Finding, seen: Seen) -> Finding:
    """A fact of which a part was not seen is not right."""
    if found.status != "right" or found.fact not in seen.silent:
        return found
    return Finding(found.fact, "not seen", "seen in part", seen.silent[found.fact], found.detail)


def _noise(seen: Seen, share: float) -> list[Finding]:
    kept = seen.kept()
    blocks = _blocks(seen, kept)
    again = repetition_finding(kept, blocks, seen.ranks, share * noise.REPEATS)
    level = share * (noise.SCALE + noise.LAW)
    each = seen.each_update()
    size = noise_finding(seen.squares, seen.counts, seen.names, kept, each, level, seen.silent.get("noise", ""))
    size = _unless_silent(size, seen)
    if again.status == "wrong":  # the other tests take independent values for granted
        text = "Noise that comes twice makes every other test of it meaningless."
        return [
            replace(size, status="not seen", name="not judged", text=text, error=0.0),
            again,
            Finding("independence", "not seen", "not judged", text),
        ]
    if size.status == "wrong":
        again_text = "Not judged: the tests take the noise that is claimed for granted."
        return [size, again, Finding("independence", "not seen", "not judged", again_text)]
    return [size, again, independence_finding(kept, blocks, seen.ranks, share * noise.INDEPENDENCE)]


def _blocks(seen: Seen, kept: Floats) -> list[tuple[str, Floats]]:
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


def _empty(seen: Seen) -> int | None:
    rows = [each.rows for each in seen.updates]
    return None if not rows or any(each is None for each in rows) else sum(each == 0 for each in rows)
