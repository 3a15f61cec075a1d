"""How long does a run take? The run time joins the output as a number: ``(output, seconds)``.

Anyone who asks a service sees when the answer comes, and a sampler that draws until it succeeds takes longer for some
values than for others. One observation is one call, timed by the monotonic clock of the highest resolution: a median of
several calls would be a release of several outputs, which the claim does not cover. Noise of the machine therefore
stays in the numbers, and these measures keep it from depending on the side:

- runs come in pairs of one run of each side, in an order picked by a coin, so that a slow minute is slow for both;
- before every run there is one on the same dataset whose output and time are dropped, so that the run does not find the
  caches as a run of the other side left them (otherwise a run's time would reveal the side before it, and runs would be
  dependent);
- Python's garbage collector is off meanwhile, and everything that a call needs is prepared before the clock starts.

An exception comes without its time. Times drift with the machine by nature, so drift and repetition of outputs are
judged without them.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.program.outcome import raised
from dpaudit.program.scalar import ScalarNoise
from dpaudit.sampling.outputs import Outputs, only
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

OBSERVABLE = ("time",)

Generators = Sequence[np.random.Generator]
Call = Callable[[], Any]


def observed(asked: str | Iterable[str]) -> tuple[str, ...]:
    """Return what is to be observed besides the output, each once; raises `UsageError` for anything unknown."""
    found = tuple(dict.fromkeys((asked,) if isinstance(asked, str) else asked))
    for name in found:
        if name not in OBSERVABLE:
            raise UsageError(f"what can be observed beside the output is {', '.join(OBSERVABLE)}, not {name!r:.40}")
    return found


def timed_runs(
    mechanism: Mechanism,
    data: tuple[Any, Any],
    parameters: dict[str, Any],
    coins: np.ndarray[Any, Any],
    generators: Generators,
    dropped: Generators,
) -> Iterator[tuple[int, Any]]:
    """Run a mechanism once for each entry of ``coins``, and yield the side with (output, seconds)."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        for coin in coins:
            side = int(coin)
            _timed(_call(mechanism, data[side], parameters, dropped[side]))
            output = _timed(_call(mechanism, data[side], parameters, generators[side]))
            if mechanism.shape is Shape.SAMPLER and isinstance(output, tuple):
                output = (only(output[0]), output[1])
            yield side, output
    finally:
        if collecting:
            gc.enable()


def _call(mechanism: Mechanism, data: Any, parameters: dict[str, Any], rng: np.random.Generator) -> Call:
    """A call of the mechanism, prepared with everything that it asks for."""
    filled: dict[str, Any] = {}
    if mechanism.shape is Shape.PROGRAM:
        filled["noise"] = ScalarNoise(rng)
    elif "rng" in mechanism.asked:
        filled["rng"] = rng
    if mechanism.shape is Shape.SAMPLER:
        return partial(mechanism.function, data, size=1, **filled, **parameters)
    return partial(mechanism.function, data, **filled, **parameters)


def _timed(call: Call) -> Any:
    clock, outer = time.perf_counter_ns, sys.exception()
    start = clock()
    try:
        output = call()
        end = clock()
    except (Exception, SystemExit) as error:
        return raised(error, outer)
    return output, (end - start) / 1e9


def untimed(outputs: Outputs) -> Outputs:
    """Return outputs without the run time, which is the last number of each except exceptions; their forms stay."""
    rows = (
        numbers if form.startswith("raises ") else numbers[:, :-1]
        for form, numbers in zip(outputs.forms, outputs.numbers, strict=True)
    )
    return Outputs(outputs.forms, outputs.codes, tuple(rows))
