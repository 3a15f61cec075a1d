"""Do the scalar and the batch reading of every program agree, run by run, on the draws of the batch?

That both draw from the same laws, `tests/program/test_batch.py` asks, and of every entry `test_distributions.py`.
"""

from functools import partial

import pytest
from support.nightly import mostly_at_night
from support.replaying import Replay

import mechanisms
from dpaudit.targets.signature import Shape

PROGRAMS = [name for name in mechanisms.__all__ if getattr(mechanisms, name).shape is Shape.PROGRAM]


@pytest.mark.parametrize("name", mostly_at_night(PROGRAMS))
@pytest.mark.slow
def test_the_readings_agree(name, monkeypatch):
    mechanism = getattr(mechanisms, name)
    parameters = mechanism.parameters_with(None)
    replay = Replay(monkeypatch)
    for seed, data in enumerate(mechanism.pairs_for(parameters)[0]):
        result = replay(partial(_call, mechanism.function, data, parameters), seed=seed)
        assert result.fallback_reason is None
        assert len(replay.tapes) > 100  # all but those that few runs share a path with


def _call(function, data, parameters, noise):
    return function(data, noise=noise, **parameters)
