"""What does a run release, law by law and value by value, where data come to its noise?

For programs that only release: each sum of a number and of noise is closed at once, each choice by scores is noted, and
a second run that is frozen to the first one releases the same. So two runs are comparable value by value: neither can
have gone another way because of its noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpaudit.tracing.operators  # noqa: F401  numbers get their operators
from dpaudit.arrays import Floats
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import run_once
from dpaudit.tracing.coins import FLIP
from dpaudit.tracing.laws import GUMBEL
from dpaudit.tracing.own_noise import OWN, PROPOSE, SELECT, FollowedNoise
from dpaudit.tracing.recording import DivergedError, Event, Recorder, TooLongError, recording

FLIPPED = "randomised_response"
"""What it is called when bits are flipped."""
_OF_CHOICES = {SELECT: "select", PROPOSE: "propose_test_release", FLIP: FLIPPED}
_OF_LAWS = {law.name: method for method, law in OWN.items()}


@dataclass(frozen=True, slots=True)
class Released:
    """One release of a run.

    Attributes:
        law: the method of `Noise`, "select", "propose_test_release" or `FLIPPED`; empty for noise of several kinds.
        scale: of the noise; 1/rate for "select".
        values: what the noise was added to, or the scores, flat: (values,).
        where: the line.
        keys: of the values, where they are those of a pandas object.
    """

    law: str
    scale: float
    values: Floats
    where: str
    keys: str

    @property
    def line(self) -> str:
        """The last part of the file's name, and the number of the line."""
        return self.where.partition(" (")[0].rpartition("/")[2]

    def is_like(self, other: Released) -> bool:
        """Whether another run released the same kind of thing at the same place, by the same keys."""
        same = (self.law, self.where, self.keys, self.values.shape) == (
            other.law,
            other.where,
            other.keys,
            other.values.shape,
        )
        return same and math.isclose(self.scale, other.scale, rel_tol=1e-9)


def run_released(
    program: Callable[[Noise], Any], seed: list[int], spread: float, before: Recorder | None = None
) -> tuple[Any, Recorder]:
    """Run a program that releases.

    Args:
        program: called with its noise.
        seed: of the noise.
        spread: how many times wider it is.
        before: another run, which this one is frozen to.

    Returns:
        What it returned; None where it left that run, as the recorder says. And what it did.
    """
    recorder = Recorder(before, closes=True)
    noise = FollowedNoise(np.random.Generator(np.random.PCG64(seed)), spread=spread)
    try:
        with recording(recorder):
            output = run_once(program, noise)
    except (DivergedError, TooLongError):
        output = None
    if before is not None and recorder.diverged is None and len(recorder.events) < len(before.events):
        recorder.diverged = before.events[len(recorder.events)].site
    return output, recorder


def released(recorder: Recorder) -> Iterator[Released]:
    """Yield what a run released, in order."""
    for event in recorder.events:
        if event.kind == "closed" and event.scale is not None:
            yield _added(event)
        elif event.kind == "extreme":
            yield _contest(event, recorder)
        elif event.kind == "choice" and event.forms and event.scale is not None:
            yield Released(_OF_CHOICES[event.what], float(event.scale[0]), event.forms[0].offset, event.site, "")


def _added(event: Event) -> Released:
    assert event.scale is not None
    scale = float(event.scale[0]) if len(event.scale) and np.all(event.scale == event.scale[0]) else math.nan
    law = _OF_LAWS.get(event.what, "") if len(event.scale) == len(event.forms[0]) else ""
    return Released(law if not math.isnan(scale) else "", scale, event.forms[0].offset, event.site, event.arguments)


def _contest(event: Event, recorder: Recorder) -> Released:
    """Scores with Gumbel noise, of which only the place of the largest is seen: the exponential mechanism."""
    form = event.forms[0]
    known = [recorder.drawn(int(column)) for column in form.column]
    alike = len(form.row) == len(form) and bool((form.row == np.arange(len(form))).all())
    alike = alike and len(set(known)) == 1 and known[0][0] is GUMBEL and len(set(form.column.tolist())) == len(form)
    alike = alike and event.what == "1" and bool((form.coefficient == form.coefficient[0]).all())
    if not alike or form.coefficient[0] <= 0:
        return Released("", math.nan, form.offset, event.site, "")
    return Released("select", float(form.coefficient[0] * known[0][1]), form.offset, event.site, "")
