"""Does the batch reading agree with the scalar reading? Every run of a batch is replayed on its own draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpaudit.program import batch_reading as batch
from dpaudit.program.batch_reading import BatchPath, Prefix
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import entry, run_once


def plainly(value: Any) -> Any:
    """Convert NumPy scalars to plain numbers, so that the repr shows type and value to the last bit."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(plainly, value))
    if type(value) is dict:
        return {key: plainly(item) for key, item in value.items()}
    return value


class Replay:
    """Runs programs in batches and compares every run on a path with the scalar reading."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tapes: dict[int, tuple[list[Any], int]] = {}
        replay = self

        class Recording(BatchPath):
            def forget(self) -> list[Prefix]:
                if self.given_up is None:
                    replay.tapes.update(
                        {int(run): (self.tape(position), self.drawn) for position, run in enumerate(self.runs)}
                    )
                return super().forget()

        monkeypatch.setattr(batch, "BatchPath", Recording)

    def __call__(self, program: Callable[..., Any], size: int = 300, seed: int = 0) -> batch.BatchResult:
        self.tapes.clear()
        result = batch.run_batch(program, size, np.random.default_rng(seed))
        outputs = {
            int(run): entry(path.output, position) for path in result.paths for position, run in enumerate(path.runs)
        }
        assert sorted(outputs) == list(range(size))
        assert sum(len(path.runs) for path in result.paths) == size
        differs = result.fallback_reason == "a program whose batch reading differs from its scalar reading"
        for run, (tape, drawn) in ({} if differs else self.tapes).items():
            noise = ScalarNoise(np.random.default_rng(12345), tape)
            plain = run_once(program, noise)
            assert noise.drawn == drawn and not noise.diverged
            assert repr(plainly(plain)) == repr(plainly(outputs[run])), tape
        return result
