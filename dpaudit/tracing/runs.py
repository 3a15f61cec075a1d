"""What does one run of a target do with its noise, and what does it return?"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import random
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import numpy as np

import dpaudit.tracing.operators  # noqa: F401  numbers get their operators
from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.program.scalar import ScalarNoise
from dpaudit.reading.seeded import Seeded, seeded_by
from dpaudit.reading.source import is_own
from dpaudit.settings import lent
from dpaudit.targets.mechanism import Mechanism
from dpaudit.tracing.domain import Following, unlabelled
from dpaudit.tracing.forms import Form, close
from dpaudit.tracing.hooks import Hooks
from dpaudit.tracing.labelled import Labelled
from dpaudit.tracing.own_noise import FollowedNoise
from dpaudit.tracing.recording import DivergedError, Recorder, TooLongError, recording
from dpaudit.tracing.values import is_followed, plain

_LONGEST = 200  # characters of a text that is held against another
_DEEPEST = 12


@dataclasses.dataclass(slots=True, eq=False)
class Output:
    """What a run returned, taken apart."""

    structure: list[tuple[str, str]]  # everything but numbers, as texts by place
    places: list[str]  # of the numbers; ``form`` and ``values``: (n,) what they are
    form: Form
    values: Floats


@dataclasses.dataclass(slots=True, eq=False)
class Run:
    """One run."""

    recorder: Recorder  # what happened to its noise
    output: Output | None  # what it returned or raised; None where it could not be followed to its end
    raised: str  # the exception that it ended in, as text; empty without one
    seconds: float  # how long it took
    kept: Any = None  # what was returned, as `Target` was asked to read it; None where it was not, or could not be
    unread: str = ""  # why it could not be read

    def same_output(self, other: Run) -> bool:
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


class Target:
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
        self.runs = 0
        self.seconds = 0.0
        self.closes = Closing.NO
        self.wanted: set[Closing] = set()

    def run(
        self,
        data: Any,
        seed: int,
        *,
        reference: Run | None = None,
        given: Floats | None = None,
        choices: Sequence[Any] = (),
        like: Run | None = None,
        forced: Sequence[int] | None = None,
    ) -> Run:
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
        raised = ""
        began = time.perf_counter()
        with _seeded(seed), lent(), self.hooks.following(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # hundreds of runs on odd data would say the same
            filled = self._filled(seed)
            with recording(recorder):
                try:
                    returned = self._domain.run(self.mechanism.function, own, **filled, **self.parameters)
                except (DivergedError, TooLongError):
                    pass
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # whatever a target ends in, it is an output
                    raised = f"{type(error).__name__}: {str(error)[:_LONGEST]}"
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
        self.seconds = time.perf_counter() - began
        return Run(recorder, output, raised, self.seconds, kept, unread)

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
        found = seeded_by([function], surely=True) if is_own(function) else Seeded()
        if not found:
            return ""

        def states() -> dict[str, str]:
            kept = {place: str(each.bit_generator.state) for each, place in found.generators}
            numpy = [str(np.asarray(each).tolist()) for each in np.random.get_state()]  # noqa: NPY002
            shared = {found.numpy: str(numpy), found.python: str(random.getstate())}
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
    forms: list[Form] = []
    values: list[Floats] = []

    def numbers(place: str, value: Any) -> None:
        flat = np.asarray(plain(value), dtype=np.float64).reshape(-1)
        if is_followed(value):
            value.mark.used = True
        forms.append(value.mark.form if is_followed(value) else Form.constant(flat))
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
    joined = Form.joined(forms) if forms else Form.constant([])
    return Output(structure, places, joined, np.concatenate(values) if values else np.zeros(0))
