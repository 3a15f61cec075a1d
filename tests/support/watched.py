"""What would be seen of a training loop, drawn by NumPy: right in everything but what is asked to be wrong."""

from contextlib import contextmanager

import numpy as np
import pytest

from dpaudit.privacy import parse_claim
from dpaudit.review.check import listed as check_training
from dpaudit.training import judge
from dpaudit.training.clipping import replayed
from dpaudit.training.judge import concluded, judged
from dpaudit.training.seen import Delivery, Parameter, Played, TakenRows, TrainingRun, Update

RECORDS, RATE, EPOCH, WEIGHTS = 400, 0.05, 20, 600
CLAIM = parse_claim("epsilon=4, delta=1e-5")


def poisson(rng, rate=RATE):
    return np.flatnonzero(rng.random(RECORDS) < rate)


def seen_loop(seed=0, updates=EPOCH, *, batches=None, noise=None, divisor=None, clip=1.0, replays=3):
    """Return what is seen of a loop; ``noise(rng, t)`` and ``divisor(rows)`` replace the right ones."""
    rng = np.random.default_rng(seed)
    seen = TrainingRun("drawn by NumPy", records=RECORDS, epoch=EPOCH, rate=RATE, processes=1)
    seen.batches = [poisson(rng) for _ in range(updates)] if batches is None else batches(rng, updates)
    seen.passes = [list(range(len(seen.batches)))]
    seen.deliveries = [Delivery(len(each), number) for number, each in enumerate(seen.batches)]
    seen.names = [("weight", 0, WEIGHTS - 100), ("bias", WEIGHTS - 100, WEIGHTS)]
    seen.squares, seen.counts = np.zeros(WEIGHTS), np.zeros(WEIGHTS, dtype=np.int64)
    seen.parameters = {name: Parameter(b - a, True, moved=True) for name, a, b in seen.names}
    for step, batch in enumerate(seen.batches):
        values = rng.normal(size=WEIGHTS) if noise is None else noise(rng, step)
        seen.squares += values**2
        seen.counts += 1
        for each in seen.parameters.values():
            each.noised += 1
        by = 25.0 if divisor is None else divisor(len(batch))
        kept = values.astype(np.float32)
        seen.updates.append(
            Update(
                step + 1,
                (TakenRows(None, len(batch)),),
                1.0,
                1.0,
                RATE,
                by,
                0.0,
                kept,
                WEIGHTS,
                np.vdot(values, values),
            )
        )
    for _ in range(replays):
        rows = rng.normal(size=(20, 50)) * rng.uniform(0.01, 1, size=(20, 1))
        norms = np.linalg.norm(rows, axis=1)
        seen.replays.append(replayed(rows, norms, np.minimum(1, clip / norms) @ rows, 1.0))
    seen.played, seen.asked = [Played()], {"the training set": Played()}
    seen.accounted = [(1.0, RATE, updates)]
    return seen


def evidence_of(seen, claim=CLAIM):
    """Return the evidence of what was seen."""
    training, _ = judged(seen, claim, clip=1.0, confidence=0.95, false_alarm=1e-2, seed=3, stated=2.0)
    options = {"seed": 3, "confidence": 0.95, "false_alarm": 1e-2}
    return concluded(training, claim, name="digits", unit="one image", versions={"dpaudit": "0"}, **options)


@contextmanager
def certified_once():
    """What is certified twice, for a loop and for its check, is computed once."""
    before, cached = judge.certified, {}

    def once(events, claim, tolerance):
        key = str(events), str(claim), tolerance
        if key not in cached:
            cached[key] = before(events, claim, tolerance)
        return cached[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "certified", once)
        patch.setattr(check_training, "certified", once)
        yield
