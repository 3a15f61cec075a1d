"""What does one run of a target do with its noise, and what does it return?"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.privacy import Claim, PureDP
from dpaudit.program.noise import ScalarNoise
from dpaudit.reading import seeded, source
from dpaudit.settings import Taken, lent
from dpaudit.targets.mechanism import Mechanism
from dpaudit.tracing.domain import Following, Labelled, unlabelled
from dpaudit.tracing.hooks import Hooks
from dpaudit.tracing.own_noise import FollowedNoise
from dpaudit.tracing.recording import DivergedError, NoiseForm, Recorder, UnfollowedError, close, raised_at, recording
from dpaudit.tracing.values import is_followed, plain

_LONGEST = 200  # characters of a text that is held against another
_DEEPEST = 12


@dataclasses.dataclass(slots=True, eq=False)
class Output:
    """What a run returned, taken apart."""

    structure: list[tuple[str, str]]  # everything but numbers, as texts by place
    places: list[str]  # of the numbers; ``form`` and ``values``: (n,) what they are
    form: NoiseForm
    values: Floats


@dataclasses.dataclass(slots=True, eq=False)
class FollowedRun:
    """One run."""

    recorder: Recorder  # what happened to its noise
    output: Output | None  # what it returned or raised; None where it could not be followed to its end
    raised: str  # the exception that it ended in, as text; empty without one
    seconds: float  # how long it took
    kept: Any = None  # what was returned, as `Target` was asked to read it; None where it was not, or could not be
    unread: str = ""  # why it could not be read
    raised_at: str = ""  # the line of the target's code that raised; empty where it is not known

    def same_output(self, other: FollowedRun) -> bool:
        """Whether both returned the same, up to rounding."""
        one, two = self.output, other.output
        if one is None or two is None or one.structure != two.structure or len(one.values) != len(two.values):
            return False
        return bool(np.all(close(one.values, two.values, 1e-6)))


class Closing(Enum):
    """Why the runs of a target close (`Recorder`), if they do."""

    NO = ""
    RAISES = "its code wants floats"
    DIVERGES = "on other data it decides something else with followed numbers"


class FollowedTarget:
    """A mechanism that is run and followed.

    Args:
        mechanism: what is run.
        parameters: all of them.
        keep: reads what a run returned, at once: its ``form``, all that is discrete in it, and its ``numbers``; raises
            `UsageError` for what it cannot read.

    Attributes:
        runs: how many were made.
        seconds: how long the last one took.
        closes: whether its runs close, and why.
    """

    def __init__(
        self, mechanism: Mechanism, parameters: Mapping[str, Any], keep: Callable[[Any], Any] | None = None
    ) -> None:
        self.mechanism, self.parameters = mechanism, dict(parameters)
        self._keep = keep
        self.hooks = Hooks()
        self._domain = Following()
        self.work = 0  # of the last run: its draws, decisions and calls of libraries, which hang on no clock
        self.runs = 0
        self.seconds = 0.0  # of the last run, whatever else the machine does
        self.closes = Closing.NO
        self.wanted: set[Closing] = set()

    def run(
        self,
        data: Any,
        seed: int,
        *,
        reference: FollowedRun | None = None,
        given: Floats | None = None,
        choices: Sequence[Any] = (),
        like: FollowedRun | None = None,
        forced: Sequence[int] | None = None,
    ) -> FollowedRun:
        """Run it once.

        Args:
            data: a dataset; the run works on a copy.
            seed: of all noise that can be seeded.
            reference: the run whose path and noise this one is frozen to.
            given, choices, like, forced: as in `Recorder`.
        """
        recorder = Recorder(
            None if reference is None else reference.recorder,
            given,
            choices,
            None if like is None else like.recorder,
            forced,
            self.closes is not Closing.NO,
        )
        own = copy.deepcopy(data)
        self.runs += 1
        output: Output | None = None
        kept, unread = None, ""
        raised = line = ""
        taken, self._domain.calls = Taken(), 0
        with _seeded(seed), lent(), self.hooks.following(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # hundreds of runs on odd data would say the same
            filled = self._filled(seed)
            with recording(recorder):
                try:
                    returned = self._domain.run(self.mechanism.function, own, **filled, **self.parameters)
                except (DivergedError, UnfollowedError):
                    pass
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # whatever a target ends in, it is an output
                    raised, line = f"{type(error).__name__}: {str(error)[:_LONGEST]}", raised_at(error)
                    output = _taken_apart(("raises", raised))
                else:
                    with recorder.own_work():
                        output, (kept, unread) = _taken_apart(returned), self._read(unlabelled(returned))
        if self.hooks.came_late:  # the target imported it itself: from now on it is there
            return self.run(data, seed, reference=reference, given=given, choices=choices, like=like, forced=forced)
        if recorder.diverged is not None or recorder.too_long:
            output = None
        elif reference is not None and len(recorder.events) < len(reference.recorder.events):
            recorder.diverged, output = reference.recorder.events[len(recorder.events)].site, None
        self.seconds = taken.seconds()
        self.work = len(recorder.events) + self._domain.calls
        return FollowedRun(recorder, output, raised, self.seconds, kept, unread, line)

    def _read(self, returned: Any) -> tuple[Any, str]:
        try:
            return None if self._keep is None else self._keep(returned), ""
        except UsageError as error:
            return None, str(error)

    def raised_plainly(self, data: Any, seed: int) -> str:
        """Return the kind of exception that a run ends in that nobody follows; empty without one."""
        rng = np.random.Generator(np.random.PCG64(seed))
        filled = {"noise": ScalarNoise(rng), "rng": rng, "size": 1}
        own = copy.deepcopy(data)
        self.runs += 1
        with _seeded(seed), lent(), self.hooks.following():
            try:
                self.mechanism.function(own, **{name: filled[name] for name in self.mechanism.asked}, **self.parameters)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                return type(error).__name__
        return ""

    def seeded_at_import(self, data: Any, seed: int) -> str:
        """Return where a module seeds, while it is imported, a state that a run draws from; empty if it does not."""
        function = inspect.unwrap(self.mechanism.function)
        function = getattr(function, "__func__", function)
        seeds = seeded.seeded_by([function], surely=True) if source.is_own(function) else seeded.Seeded()
        if not seeds:
            return ""

        def states() -> dict[str, str]:
            kept = {place: str(each.bit_generator.state) for each, place in seeds.generators}
            numpy = [str(np.asarray(each).tolist()) for each in np.random.get_state()]  # noqa: NPY002
            shared = {seeds.numpy: str(numpy), seeds.python: str(random.getstate())}
            return {place: state for place, state in {**kept, **shared}.items() if place}

        rng = np.random.Generator(np.random.PCG64(seed))
        filled = {"noise": ScalarNoise(rng), "rng": rng, "size": 1}
        own = copy.deepcopy(data)
        with _seeded(seed), lent(), self.hooks.following(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = states()
            try:
                self.mechanism.function(own, **{name: filled[name] for name in self.mechanism.asked}, **self.parameters)
            except KeyboardInterrupt:
                raise
            except BaseException:
                pass
            after = states()
        self.runs += 1
        return next((place for place in before if before[place] != after[place]), "")

    def wants_floats(self, data: Any, seed: int) -> bool:
        """Whether code raises that meets numbers with noise, and would not with plain floats: from now on runs close.

        This is asked once; from the second time on nothing is imported or made at the first call any more.
        """
        if Closing.RAISES in self.wanted or self.closes is not Closing.NO:
            return False
        self.wanted.add(Closing.RAISES)
        again = self.run(data, seed)
        if again.raised and not self.raised_plainly(data, seed):
            self.closes = Closing.RAISES
            if self.run(data, seed).raised:
                self.closes = Closing.NO
        return self.closes is not Closing.NO

    def _filled(self, seed: int) -> dict[str, Any]:
        rng = self.hooks.generator(np.random.PCG64(seed))
        every = {"noise": FollowedNoise(np.random.Generator(np.random.PCG64([seed, 1]))), "rng": rng, "size": 1}
        return {name: every[name] for name in self.mechanism.asked}


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the generators that everybody shares, and give them their states back afterwards."""
    state, own = np.random.get_state(), random.getstate()  # noqa: NPY002 – what targets draw from
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        random.setstate(own)


def _is_bare(value: Any) -> bool:
    """Whether an object has no text of its own."""
    return getattr(type(value), "__repr__", None) is getattr(object, "__repr__")  # noqa: B009


def _as_numbers(value: Any) -> Any:
    """Return a tensor of another library as an array; anything else as it is."""
    library = type(value).__module__.partition(".")[0]
    if hasattr(value, "followed") and hasattr(value, "detach"):
        return value.followed
    if library == "torch" and hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    return np.asarray(value) if library in ("jax", "jaxlib") and hasattr(value, "dtype") else value


def _taken_apart(returned: Any) -> Output:
    structure: list[tuple[str, str]] = []
    places: list[str] = []
    forms: list[NoiseForm] = []
    values: list[Floats] = []

    def numbers(place: str, value: Any) -> None:
        flat = np.asarray(plain(value), dtype=np.float64).reshape(-1)
        if is_followed(value):
            value.mark.used = True
        forms.append(value.mark.form if is_followed(value) else NoiseForm.constant(flat))
        values.append(flat)
        places.extend([place] if np.ndim(plain(value)) == 0 else [f"{place}[{number}]" for number in range(len(flat))])

    def visit(place: str, value: Any, depth: int) -> None:
        value = _as_numbers(value)
        if is_followed(value) or (
            isinstance(value, float | int | np.number) and not isinstance(value, bool | np.bool_)
        ):
            if is_followed(value) and np.ndim(plain(value)):
                structure.append((place, f"shape {np.shape(plain(value))}"))
            if isinstance(value, complex | np.complexfloating):
                structure.append((place, repr(value)))
            elif isinstance(value, int) and abs(value) >= 2**53:
                structure.append((place, hex(value)))
            else:
                numbers(place, value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
            structure.append((place, f"shape {value.shape}"))
            numbers(place, value)
        elif isinstance(value, np.ndarray):
            structure.append((place, f"shape {value.shape}"))
            for number, each in enumerate(value.reshape(-1).tolist()):
                visit(f"{place}[{number}]", each, depth + 1)
        elif isinstance(value, dict):
            structure.append((place, f"keys {[repr(plain(key))[:_LONGEST] for key in value]}"))
            for key, each in value.items():
                visit(f"{place}[{repr(plain(key))[:40]}]", each, depth + 1)
        elif isinstance(value, list | tuple) and depth < _DEEPEST:
            structure.append((place, f"length {len(value)}"))
            for number, each in enumerate(value):
                visit(f"{place}[{number}]", each, depth + 1)
        elif type(value) is Labelled or (
            type(value).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(value, "to_numpy")
        ):
            structure.append(
                (place, f"{list(getattr(value, 'columns', ()))} {list(getattr(value, 'index', ()))}"[:2000])
            )
            visit(place, value.to_numpy(), depth + 1)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                visit(f"{place}.{field.name}", getattr(value, field.name), depth + 1)
        elif _is_bare(value) and hasattr(value, "__dict__") and depth < 3:
            for name, each in sorted(vars(value).items()):
                visit(f"{place}.{name}", each, depth + 1)
        else:
            structure.append((place, repr(value)[:_LONGEST] if not _is_bare(value) else ""))

    visit("the output", returned, 0)
    joined = NoiseForm.joined(forms) if forms else NoiseForm.constant([])
    return Output(structure, places, joined, np.concatenate(values) if values else np.zeros(0))


_FAR = 1e-6
_PATTERNS = (
    (_FAR, "but the first"), (_FAR, "but the ends"), (_FAR, "all"), (1 - _FAR, "all"), (_FAR, "in turn"),
    (1 - _FAR, "in turn"),
)  # fmt: skip


def noises(recorded: Sequence[FollowedRun]) -> Iterator[Floats | None]:
    """Yield the noise of each path: its own, or extreme noise, which forces what would seldom happen."""
    yield None
    yield None
    for quantile, pattern in _PATTERNS:
        longest = max((each.recorder for each in recorded), key=lambda recorder: recorder.columns)
        yield forced(longest, quantile, pattern)
    while True:
        yield None


def forced(recorder: Recorder, quantile: float, pattern: str) -> Floats | None:
    """Return noise at one quantile: "all" of it; with "in turn" every second draw at the other end; with "but the
    first" that one in the middle, as the noise of a threshold; with "but the ends" also the last at the other end.
    """
    parts = []
    turn = 0
    for block in recorder.blocks:
        if block.made is not None:
            continue
        levels = np.full(len(block.values), quantile)
        if pattern == "in turn":
            turns = (turn + np.arange(len(levels))) % 2 == 1
            levels[turns] = 1 - quantile
        turn += len(levels)
        made = block.law.extreme(block.scale, levels)
        if made is None:
            return None
        parts.append(made)
    if not parts:
        return None
    whole = np.concatenate(parts)
    if pattern in ("but the first", "but the ends"):
        middle = forced(recorder, 0.5, "all")
        whole[0] = 0.0 if middle is None else middle[0]
    if pattern == "but the ends" and len(whole) > 1:
        other = forced(recorder, 1 - quantile, "all")
        whole[-1] = whole[-1] if other is None else other[-1]
    return whole


# --- Which part of the output tells the two sides apart, as a few dozen runs show it? ---
#
# A value that is often there on one side and never on the other is no proof, whatever the runs: what is said rests on
# bounds of both probabilities, beside what the claim allows; thresholds come from other runs than those that count.

LEAST = 32
"""Runs of each side; where a claim allows much, or something is rare, more are made."""
_LEVEL = 1e-4  # of each bound
_SELDOM = 8  # one in so many runs, at least, is worth more runs
_CLEARLY_APART = 0.5  # of the runs, on one side of a threshold
_MOST_PLACES = 500
_UNCLAIMED = PureDP(1.0)


def telling_place(
    target: FollowedTarget, pair: tuple[Any, Any], claim: Claim | None, seed: int, most: int
) -> str | None:
    """Return a place of the output that has, much more often on one side than the claim allows, one value; or None."""
    if most < LEAST:
        return None
    seen, above = _Counts(), _Counts()
    thresholds: dict[str, float] = {}
    made, wanted = 0, LEAST
    while True:
        outputs: tuple[list[Output], list[Output]] = ([], [])
        for side, data in enumerate(pair):
            for number in range(made, wanted):
                output = target.run(data, seed + 31 * (number + 1)).output
                if output is None:
                    return None
                outputs[side].append(output)
        seen.add(outputs, _values)
        above.add(outputs, partial(_above, thresholds))
        place = seen.telling(claim or _UNCLAIMED) or above.telling(claim or _UNCLAIMED)
        if made == 0:
            thresholds, above = _between(outputs), _Counts()
        made = wanted
        if place is not None or made >= most or not (seen.is_promising() or thresholds):
            return place
        wanted = min(2 * made, most)


class _Counts:
    """How many of the runs of each side have each of many properties."""

    def __init__(self) -> None:
        self._sides: tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]] = (Counter(), Counter())
        self._runs = 0

    def add(
        self, outputs: tuple[list[Output], list[Output]], properties: Callable[[Output], list[tuple[str, str]]]
    ) -> None:
        """Count as many further runs of each side."""
        for counts, own in zip(self._sides, outputs, strict=True):
            for output in own:
                counts.update(properties(output))
        self._runs += len(outputs[0])

    def is_promising(self) -> bool:
        """Whether there may be what more runs would show."""
        one, two = self._sides
        return any(
            count * _SELDOM >= self._runs and not other[key]
            for own, other in ((one, two), (two, one))
            for key, count in own.items()
        )

    def telling(self, claim: Claim) -> str | None:
        """Return the place of a property that one side has more often than a claim allows, or None."""
        from scipy.stats import beta

        one, two = self._sides
        for own, other in ((one, two), (two, one)):
            for (place, value), count in own.most_common():
                against, runs = other[place, value], self._runs
                if count * _SELDOM < runs:
                    break
                if against * 2 > count:
                    continue
                # Clopper & Pearson (1934)
                low = float(beta.ppf(_LEVEL, count, runs - count + 1))
                high = float(beta.ppf(1 - _LEVEL, against + 1, runs - against))
                if claim.least([low], [high])[0] > claim.value:
                    return place
        return None


def _between(outputs: tuple[list[Output], list[Output]]) -> dict[str, float]:
    """Return a threshold for each number that seems to be larger on one side; what it tells, other runs have to say."""
    numbers = [
        {place: [dict(zip(each.places, each.values.tolist(), strict=True)).get(place, np.nan) for each in own]
         for place in own[0].places[:_MOST_PLACES]}
        for own in outputs
    ]  # fmt: skip
    thresholds = {}
    for place in filter(numbers[1].__contains__, numbers[0]):
        middle = (float(np.median(numbers[0][place])) + float(np.median(numbers[1][place]))) / 2
        shares = [float(np.mean(np.array(each[place]) > middle)) for each in numbers]
        if abs(shares[0] - shares[1]) > _CLEARLY_APART:
            thresholds[place] = middle
    return thresholds


def _above(thresholds: dict[str, float], output: Output) -> list[tuple[str, str]]:
    """Return on which side of their thresholds the numbers are."""
    return [
        (place, "above" if number > thresholds[place] else "below")
        for place, number in zip(output.places, output.values.tolist(), strict=True)
        if place in thresholds
    ]


def _values(output: Output) -> list[tuple[str, str]]:
    """Return the places of an output with what is there: forms, texts and numbers, each once, in their order."""
    numbers = zip(output.places, output.values.tolist(), strict=True)
    values = ((place, repr(number)) for place, number in numbers)
    return [*dict.fromkeys((*output.structure, *values, *((place, "") for place in output.places)))]
