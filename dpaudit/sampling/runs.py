"""What are the outputs of the runs of one block?

A run counts as it was drawn; none is repeated because of its output. What a function returned is read, or copied,
before anything else runs.
"""

from __future__ import annotations

import gc
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence.event import DATASETS
from dpaudit.neighbours.digest import digest
from dpaudit.program import batch_reading, outcome
from dpaudit.program.noise import ScalarNoise
from dpaudit.reading.runs.passes import REPEATED, UnreadError, make
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock, generator_of, heard, loaded, sides_of
from dpaudit.sampling.forms import reading_types
from dpaudit.sampling.outputs import (
    FIXED,
    Outputs,
    agree,
    from_array,
    from_list,
    from_paths,
    from_reading,
    how_many,
    only,
    taken,
    taken_path,
)
from dpaudit.settings import lent
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

# --- What does a single call do? For error messages, which quote the first exception ---

_MOST_NAMED = 12  # columns


def first_exception(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> str:
    """Describe the exception of a call of what raised in every run; the arguments are those of `raised`."""
    return exception_of_call(mechanism, data, parameters) or "an exception that a single call does not raise again"


def exception_of_call(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> str:
    """Call the mechanism once and describe the exception that it raises."""
    rng = np.random.default_rng(0)
    filled = {"noise": ScalarNoise(rng), "rng": rng, "size": 1}
    try:
        with lent():
            mechanism.function(data, **{name: filled[name] for name in mechanism.asked}, **parameters)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}{_another_kind(data, error, mechanism)}"
    return ""


def _another_kind(data: Any, error: BaseException, mechanism: Mechanism) -> str:
    """Advice for a function that seems to expect data of another kind; empty otherwise."""
    kind, text = type(data).__name__, str(error)
    columns = [str(each) for each in getattr(data, "columns", ())]
    if isinstance(error, KeyError) and columns and str(error.args[:1] and error.args[0]) not in columns:
        return f"; the data have the columns {', '.join(map(repr, columns[:_MOST_NAMED]))}"
    if isinstance(error, AttributeError):
        meant = type(error.obj) is type(data)
    else:
        meant = isinstance(error, TypeError) and (text.startswith(f"{kind} indices") or f"'{kind}'" in text)
    if type(data) in (list, tuple, dict) and meant:
        proof = (
            "; a program of data frames is proved by dpaudit prove --domain COLUMN=JSON, which derives its bound for "
            "all frames over the domain, and audits those that lose most"
        )
        return (
            f"; the data are a {kind} here: a function of data frames or arrays takes two .csv, .parquet or .npy files "
            "(--pair data0.csv --pair data1.csv), or pairs=[(frame0, frame1)] in Python, or begins with "
            "pandas.DataFrame(data) or numpy.asarray(data)"
        ) + (proof if mechanism.shape is Shape.PROGRAM else "")
    if kind == "DataFrame" and isinstance(error, TypeError | ValueError):
        columns = [str(name) for name in data.columns]
        if any(sign in text for sign in ("string ind", "'str'", *map(repr, columns))):
            return (
                "; the data are a DataFrame here, and going through one yields the names of its columns: a function of "
                f"records begins with data = data.to_dict('records'), one of numbers with data = data[{columns[0]!r}]"
            )
    return ""


# --- How long does a run take? The run time joins the output as a number: ``(output, seconds)`` ---
#
# Anyone who asks a service sees when the answer comes, and a sampler that draws until it succeeds takes longer for some
# values than for others. One observation is one call, timed by the monotonic clock of the highest resolution: a median
# of several calls would be a release of several outputs, which the claim does not cover. Noise of the machine therefore
# stays in the numbers, and these measures keep it from depending on the side:
#
# - runs come in pairs of one run of each side, in an order picked by a coin, so that a slow minute is slow for both;
# - before every run there is one on the same dataset whose output and time are dropped, so that the run does not find
#   the caches as a run of the other side left them (otherwise a run's time would reveal the side before it, and runs
#   would be dependent);
# - Python's garbage collector is off meanwhile, and everything that a call needs is prepared before the clock starts.
#
# An exception comes without its time. Times drift with the machine by nature, so drift and repetition of outputs are
# judged without them.

OBSERVABLE = ("time",)

Generators = Sequence[np.random.Generator]
Call = Callable[[], Any]


def observed(asked: str | Iterable[str]) -> tuple[str, ...]:
    """Return what is to be observed besides the output, each once; raises `UsageError` for anything unknown."""
    names = tuple(dict.fromkeys((asked,) if isinstance(asked, str) else asked))
    for name in names:
        if name not in OBSERVABLE:
            raise UsageError(f"what can be observed beside the output is {', '.join(OBSERVABLE)}, not {name!r:.40}")
    return names


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
            _with_seconds(_call(mechanism, data[side], parameters, dropped[side]))
            output = _with_seconds(_call(mechanism, data[side], parameters, generators[side]))
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


def _with_seconds(call: Call) -> Any:
    clock, outer = time.perf_counter_ns, sys.exception()
    start = clock()
    try:
        output = call()
        end = clock()
    except (Exception, SystemExit) as error:
        return outcome.raised(error, outer)
    return output, (end - start) / 1e9


def untimed(outputs: Outputs) -> Outputs:
    """Return outputs without the run time, which is the last number of each except exceptions; their forms stay."""
    rows = (
        numbers if form.startswith("raises ") else numbers[:, :-1]
        for form, numbers in zip(outputs.forms, outputs.numbers, strict=True)
    )
    return Outputs(outputs.forms, outputs.codes, tuple(rows))


_LARGE = 50_000  # records
_SINGLY = 6  # the streams of a sampler that is called for one run at a time
_SETTLED = 256  # runs of which one is repeated, where it is settled whether a function is read
_REPEATED = 4  # runs of a block that the function itself repeats, in the first blocks
_RAISED = "a sampler that raises, or returns one object for many runs, of which every call is one run"


class RaisedTogetherError(InvalidRunsError):
    """A sampler raised, or returned one object, in a call for many runs, so the output of each run is unknown."""


def outputs_of(experiment: Experiment, block: RunBlock) -> tuple[tuple[Outputs, Outputs], str | None]:
    """Run a block; return the outputs of side 0 and side 1, and what was called run by run (or None)."""
    mechanism = loaded(experiment.mechanism) if isinstance(experiment.mechanism, str) else experiment.mechanism
    with reading_types(experiment.types), lent():
        data = experiment.pairs[block.pair]
        if experiment.observe:
            return _timed(mechanism, data, experiment, block, sides_of(experiment, block)), None
        shape = experiment.made_as or (Shape.OPAQUE if mechanism.own_randomness else mechanism.shape)
        if shape is Shape.OPAQUE:
            return _interleaved(mechanism, data, experiment, block, sides_of(experiment, block)), None
        # the order of the sides does not matter to independent runs
        heads = int(np.count_nonzero(sides_of(experiment, block)))
        sides, reasons = [], []
        for side, size in enumerate((block.size - heads, heads)):
            runs = heard(experiment.session, block, itertools.repeat(0, size), begun=side * (block.size - heads))
            rng = generator_of(experiment.seed, block, side)
            # unseen draws for a sampler whose joint call failed
            singly = generator_of(experiment.seed, block, _SINGLY + side)
            try:
                if shape is Shape.READ:
                    outputs, reason = _by_reading(mechanism, data[side], experiment, block, rng, size)
                elif shape is Shape.PROGRAM:
                    outputs, reason = _program(mechanism, data[side], experiment, rng, size)
                else:
                    own = rng if shape is mechanism.shape else singly
                    outputs, reason = _run(mechanism, shape, data[side], experiment.parameters, runs, size, own)
            except RaisedTogetherError:
                if block.phase is not Phase.SEARCH:
                    raise
                # a search looks for a pair, which is then measured afresh
                outputs, reason = _run(mechanism, Shape.SEEDED, data[side], experiment.parameters, runs, size, singly)
            _protect(experiment, block, side)
            sides.append(outputs)
            reasons.append(reason)
        return (sides[0], sides[1]), reasons[0] or reasons[1]


def _protect(experiment: Experiment, block: RunBlock, side: int) -> None:
    """Refuse data that have changed. Large data are checked ever more rarely, and when all blocks are done.

    A digest of a million records takes as long as thousands of runs may.
    """
    doubling = block.index & (block.index - 1) == 0
    if experiment.digests and (doubling or not is_large(experiment.pairs[block.pair][side])):
        refuse_if_changed(experiment, block.pair, side)


def is_large(data: Any) -> bool:
    """Whether data have so many records that computing a digest is slow."""
    return hasattr(data, "__len__") and len(data) > _LARGE


def refuse_if_changed(experiment: Experiment, pair: int, side: int) -> None:
    """Raise `UsageError` if data have changed."""
    if digest(experiment.pairs[pair][side]) != experiment.digests[pair][side]:
        raise UsageError(
            f"the mechanism changes its data ({DATASETS[side]} of pair {pair}): later runs would see other data; "
            "let it work on a copy"
        )


def _program(
    mechanism: Mechanism, data: Any, experiment: Experiment, rng: np.random.Generator, size: int
) -> tuple[Outputs, str | None]:
    """Run a program by the batch reading."""
    function, parameters = mechanism.function, experiment.parameters
    result = batch_reading.run_batch(lambda noise: function(data, noise=noise, **parameters), size, rng, taken_path)
    return from_paths(result.paths, size), result.fallback_reason


def _by_reading(
    mechanism: Mechanism, data: Any, experiment: Experiment, block: RunBlock, rng: np.random.Generator, size: int
) -> tuple[Outputs, str | None]:
    """Make runs by reading the function, and read what it returns; name the libraries that are called in each run."""
    seeds = rng.bit_generator.seed_seq
    assert isinstance(seeds, np.random.SeedSequence)
    keywords = {name: {"rng": rng, "size": 1}[name] for name in mechanism.asked} | experiment.parameters
    repeated = _REPEATED if block.index < _REPEATED and block.phase is not Phase.TIMING else 1
    if block.phase is Phase.SETTLING:
        repeated = max(1, min(REPEATED, block.size // _SETTLED))
    try:
        made = make(mechanism.function, (data,), keywords, size, seeds, repeated)
    except UnreadError as error:
        raise UnreadRunsError(str(error)) from None
    outputs = from_reading(made, size)
    if not agree(outputs, made.repeated):
        raise UnreadRunsError("what it returned in a run that the function itself repeated is kept as something else")
    return outputs, ", ".join(made.libraries) or None


class UnreadRunsError(InvalidRunsError):
    """The function that was to be read does something that is not read, or its reading differs from it."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the function cannot be read in many runs at once ({why}); make each run a call: reading='calls'"
        )
        self.why = why


def _run(
    mechanism: Mechanism,
    shape: Shape,
    data: Any,
    parameters: dict[str, Any],
    runs: Iterable[int],
    size: int,
    rng: np.random.Generator,
) -> tuple[Outputs, str | None]:
    if shape is Shape.SAMPLER:
        return _sampled(mechanism, data, parameters, size, rng), None
    call = _one_run(mechanism, data, parameters, rng)
    (outputs,) = _called([call], runs, mechanism)
    return from_list(outputs), None if shape is mechanism.shape else _RAISED


def _one_run(
    mechanism: Mechanism, data: Any, parameters: dict[str, Any], rng: np.random.Generator
) -> Callable[[], Any]:
    """Return a function that makes one run: a call, of a sampler for one output."""
    filled = {name: {"rng": rng, "size": 1}[name] for name in mechanism.asked}
    return partial(mechanism.function, data, **filled, **parameters)


def _called(calls: Sequence[Callable[[], Any]], order: Iterable[int], mechanism: Mechanism) -> tuple[list[Any], ...]:
    """Make one run after another, and return the outputs of each call; an exception is an output."""
    sampler, outer = mechanism.shape is Shape.SAMPLER, sys.exception()
    returned: tuple[list[Any], ...] = tuple([] for _ in calls)
    pairs = [(call, outputs.append) for call, outputs in zip(calls, returned, strict=True)]
    for place in order:
        call, append = pairs[place]
        try:
            output = call()
        except (Exception, SystemExit) as error:
            append(taken(outcome.raised(error, outer)))
            continue
        if sampler:
            output = only(output)
        append(output if type(output) in FIXED else taken(output))
    return returned


def _sampled(
    mechanism: Mechanism, data: Any, parameters: dict[str, Any], size: int, rng: np.random.Generator
) -> Outputs:
    if size == 1:
        return from_list(_called([_one_run(mechanism, data, parameters, rng)], (0,), mechanism)[0])
    try:
        outputs = mechanism.function(data, size=size, rng=rng, **parameters)
    except (Exception, SystemExit) as error:
        raise RaisedTogetherError(
            f"{mechanism.name} raised {type(error).__name__} in a call for {size:,} runs, where no learning run had "
            "raised, and nobody can say which of them it belongs to; return such an output instead of raising, or ask "
            "for rng alone, so that every call is one run"
        ) from None
    count = how_many(outputs)
    if count != size:
        given = f"{outputs!r:.80}" if count is None else f"{count} outputs"
        raise UsageError(f"{mechanism.name} was asked for size={size} outputs and returned {given}")
    if not isinstance(outputs, np.ndarray) or outputs.dtype == object:
        rows = hasattr(outputs, "itertuples")  # of a data frame; list() would give its labels
        listed = list(outputs.itertuples(index=False, name=None) if rows else outputs)
        if isinstance(listed[0], list | dict | set | np.ndarray) and all(each is listed[0] for each in listed):
            raise RaisedTogetherError(
                f"{mechanism.name} returned one and the same {type(listed[0]).__name__} for {size:,} runs, where no "
                "learning run had: if it is filled anew for each, only the last is left; return a copy for each"
            )
        return from_list(listed)
    fresh = np.empty(0)
    alone = outputs.base is None and sys.getrefcount(outputs) == sys.getrefcount(fresh)
    return from_array(outputs if alone else outputs.copy())  # whoever else holds it may refill it


def _interleaved(
    mechanism: Mechanism, data: tuple[Any, Any], experiment: Experiment, block: RunBlock, coins: np.ndarray[Any, Any]
) -> tuple[Outputs, Outputs]:
    """Run a function with its own randomness in the order of the coins, so that its state cannot look like a leak."""
    calls = [
        _one_run(mechanism, data[side], experiment.parameters, generator_of(experiment.seed, block, side))
        for side in (0, 1)
    ]
    sides = _called(calls, heard(experiment.session, block, coins.tolist()), mechanism)
    for side in (0, 1):
        _protect(experiment, block, side)
    return from_list(sides[0]), from_list(sides[1])


def _timed(
    mechanism: Mechanism, data: tuple[Any, Any], experiment: Experiment, block: RunBlock, coins: np.ndarray[Any, Any]
) -> tuple[Outputs, Outputs]:
    """Run any mechanism in the order of the coins, with the time of every run."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    streams = [generator_of(experiment.seed, block, stream) for stream in (0, 1, 4, 5)]
    runs = timed_runs(mechanism, data, experiment.parameters, coins, streams[:2], streams[2:])
    for side, output in heard(experiment.session, block, runs):
        sides[side].append(taken(output))
    for side in (0, 1):
        _protect(experiment, block, side)
    return from_list(sides[0]), from_list(sides[1])
