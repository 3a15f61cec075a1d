"""What was run, in which order of words does somebody say it, and what is claimed of it?

A plan is a list of releases with what is asked of all of them together. It is the same value whether it was typed,
stands in a plan file, or was recorded by another library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit.accounting import Events
from dpaudit.accounting.events import Event, Mechanism, Sampled, Shuffled
from dpaudit.accounts.expression import MECHANISMS
from dpaudit.decimals import read_whole
from dpaudit.errors import UsageError, nearest

MOST_RELEASES = 10_000

NOISE = {
    "gaussian": ("Gaussian", "sigma"),
    "laplace": ("Laplace", "scale"),
    "discrete-laplace": ("DiscreteLaplace", "scale"),
    "discrete-gaussian": ("DiscreteGaussian", "sigma"),
    "randomised-response": ("RandomisedResponse", "epsilon"),
    "exponential": ("Exponential", "epsilon"),
    "block": ("Block", "claim"),
}
"""For the name of a mechanism its class, and what its one parameter is called."""

MULTIPLIER = "noise_multiplier"
_CLIPPED = ("gaussian", "laplace")  # whose noise may be told by a multiplier of the norm of clipping
_SAMPLING = ("rate", "batch", "records", "batches")
_WAYS = (
    "records come in in one way: rate (Poisson), batch and records (without replacement), or batches (shuffled data)"
)
_WITHOUT_SENSITIVITY = ("randomised-response", "exponential", "block")


@dataclass(frozen=True, slots=True)
class Run:
    """One release: an event, how often it is run, and what people call it."""

    event: Event
    steps: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class AccountPlan:
    """A list of releases, and what is asked of them.

    Attributes:
        runs: what is run.
        claims: texts of claims.
        delta, epsilon: at which the other one is asked for.
        tolerance, relation: as in `dpaudit.request.AccountRequest`; None where nothing is said.
        name: what people call it; empty for the events themselves.
        unit: what one record stands for.
        recorded_by: the library whose record it is; empty where somebody wrote it.
    """

    runs: tuple[Run, ...]
    claims: tuple[str, ...] = ()
    delta: Any = None
    epsilon: Any = None
    tolerance: float | None = None
    relation: str | None = None
    name: str = ""
    unit: str = ""
    recorded_by: str = ""

    def __post_init__(self) -> None:
        if not self.runs:
            raise UsageError("there is no release: give at least one, such as --gaussian 1.1 --steps 1000")
        if len(self.runs) > MOST_RELEASES:
            raise UsageError(
                f"{len(self.runs):,} releases are more than {MOST_RELEASES:,}; equal ones are one, by steps"
            )

    @property
    def events(self) -> Events:
        """All releases as one list of events."""
        return Events(tuple((run.event, run.steps) for run in self.runs))


def plan_of(events: Events, **more: Any) -> AccountPlan:
    """Return the plan of a list of events; ``more`` are other members of it."""
    return AccountPlan(tuple(Run(event, count) for event, count in events.parts), **more)


def release(given: Mapping[str, Any], steps: Any = None, name: str = "", *, epochs: Any = None) -> Run:
    """Return a release from plain values.

    Args:
        given: ``mechanism`` with its parameter and ``sensitivity``, or ``noise_multiplier``; and how records come in:
            ``rate``, ``batch`` and ``records``, or ``batches``.
        steps: how often it is run; 1 by default.
        name: what people call it.
        epochs: how often shuffled data are gone through, instead of steps.

    Raises:
        UsageError: for what cannot be run, with the key.
    """
    kind = given.get("mechanism")
    if not isinstance(kind, str) or kind not in NOISE:
        wrong = "a release needs a mechanism" if kind is None else f"there is no mechanism {kind!r:.60}"
        raise UsageError(f"{wrong}; {nearest(str(kind), NOISE)}")
    known = _keys(kind)
    for key in given:
        if key in ("sampler", "sampling"):
            raise UsageError(f"a release has no key {key!r}: {_WAYS}")
        if key not in known and key != "mechanism":
            raise UsageError(
                f"a {kind} release has no key {key!r:.60}; {nearest(key, [*known, 'steps', 'epochs', 'name'])}"
            )
    cls, parameter = NOISE[kind]
    if parameter not in given and MULTIPLIER not in given:
        other = ", or noise_multiplier, the noise over the norm of clipping" if kind in _CLIPPED else ""
        raise UsageError(f"a {kind} release needs {parameter}, such as {parameter} = {_EXAMPLES[parameter]}{other}")
    noise = {name: given[name] for name in (parameter, MULTIPLIER, "sensitivity") if name in given}
    if kind.startswith("discrete") and "sensitivity" in noise:
        noise["sensitivity"] = _whole("the sensitivity of a whole number", noise["sensitivity"])
    mechanism: Mechanism = MECHANISMS[cls](**noise)
    event = _sampled(mechanism, given)
    return Run(event, _times(event, steps, epochs), name)


def _times(event: Event, steps: Any, epochs: Any) -> int:
    """How often an event is run. Of shuffled data it is an epoch, of which each batch is a step."""
    shuffled = isinstance(event, Sampled) and isinstance(event.sampling, Shuffled)
    if epochs is not None and not shuffled:
        raise UsageError("epochs are of shuffled data, with batches; of other releases say steps")
    if steps is not None and shuffled:
        raise UsageError(
            "of shuffled data say epochs, how often all batches are gone through, not steps: 2340 steps of 234 batches "
            "are 10 epochs"
        )
    given = epochs if shuffled else steps
    return 1 if given is None else _whole("epochs" if shuffled else "steps", given)


_EXAMPLES = {"sigma": '"1.1"', "scale": '"2"', "epsilon": '"0.5"', "claim": '"epsilon=1, delta=1e-6"'}


def _keys(kind: str) -> list[str]:
    multiplier = [MULTIPLIER] if kind in _CLIPPED else []
    return [NOISE[kind][1], *multiplier, *([] if kind in _WITHOUT_SENSITIVITY else ["sensitivity"]), *_SAMPLING]


def _sampled(mechanism: Mechanism, given: Mapping[str, Any]) -> Event:
    said = [key for key in _SAMPLING if key in given]
    if not said:
        return mechanism
    if said == ["rate"]:
        return mechanism.poisson(given["rate"])
    if said == ["batches"]:
        return mechanism.shuffled(_whole("batches", given["batches"]))
    if said == ["batch", "records"]:
        return mechanism.fixed_size(_whole("batch", given["batch"]), _whole("records", given["records"]))
    raise UsageError(f"{_WAYS}; given {'is' if len(said) == 1 else 'are'} {' and '.join(said)}")


def _whole(name: str, value: Any) -> int:
    """A whole number, which files also write as 1e4 or 14000.0."""
    found = read_whole(value)
    if found is None:
        raise UsageError(f"{name} must be a whole number, not {value!r:.60}")
    return found
