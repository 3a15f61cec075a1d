"""What was run, in which order of words does somebody say it, and what is claimed of it?

A plan is a list of releases with what is asked of all of them together. It is the same value whether it was typed,
stands in a plan file, or was recorded by another library.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from dpaudit import accounting
from dpaudit.accounting import Events
from dpaudit.accounting.events import PrivacyEvent, Sampled, Shuffled, UnsampledEvent
from dpaudit.decimals import read_whole
from dpaudit.errors import UsageError, nearest
from dpaudit.evidence import registered
from dpaudit.evidence.canonical_json import read_text

# --- Which events does a text write? The inverse of ``str`` of events ---
#
# Nothing is evaluated. Entries of the catalogue are read too, with their parameters by name: ``laplace(epsilon=0.5)``.

MECHANISMS = {
    name: getattr(accounting, name)
    for name in (
        "Gaussian",
        "Laplace",
        "DiscreteLaplace",
        "DiscreteGaussian",
        "RandomisedResponse",
        "Exponential",
        "Block",
    )
}
"""The mechanisms by their names."""

_STEPS = ("poisson", "fixed_size", "shuffled", "times")
_LONGEST = 200_000  # characters
_DEEPEST = 8  # calls on calls: Gaussian(1).poisson(0.1).times(2) are three
_EXAMPLE = "Gaussian('1.1').poisson('0.004').times(14000) + Laplace(2)"


def parse_events(text: str) -> Events:
    """Read events from their text.

    Args:
        text: of events.

    Raises:
        UsageError: for what is no such text, or describes nothing that can be run.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"a text of {len(text):,} characters is too long; list the releases in a plan file")
    try:
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse(text)
    parts = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts.append(node.right)
        node = node.left
    parts.append(node)
    parts_read = [_event_of(part, text, 0) for part in reversed(parts)]
    return Events(tuple(part for each in parts_read for part in accounting.as_events(each).parts))


def _event_of(node: ast.expr, text: str, depth: int) -> Any:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth < _DEEPEST:
        return _event_of(node.left, text, depth + 1) + _event_of(node.right, text, depth + 1)
    if not isinstance(node, ast.Call) or depth > _DEEPEST:
        _refuse(text)
    arguments = [_constant(each, text) for each in node.args]
    named = {each.arg: _constant(each.value, text) for each in node.keywords if each.arg is not None}
    if len(named) < len(node.keywords):
        _refuse(text)
    called: Any
    if isinstance(node.func, ast.Name):
        name = node.func.id
        if name not in MECHANISMS:
            if arguments:
                raise UsageError(f"there is no mechanism {name!r}; {nearest(name, MECHANISMS)}")
            event = registered("event")(name, named)
            if event is None:
                raise UsageError(
                    f"there is no mechanism {name!r}, and no entry of the catalogue; {nearest(name, MECHANISMS)}"
                )
            return event
        called = MECHANISMS[name]
    elif isinstance(node.func, ast.Attribute):
        name, on = node.func.attr, _event_of(node.func.value, text, depth + 1)
        called = getattr(on, name, None) if name in _STEPS else None
        if called is None:
            raise UsageError(
                f"{on} has no {name!r}: a mechanism has {', '.join(f'.{each}(…)' for each in _STEPS)}, and what is "
                "sampled .times(…)"
            )
    else:
        _refuse(text)
    try:
        return called(*arguments, **named)
    except TypeError:
        raise UsageError(f"{ast.unparse(node)} is not how {name} is written; write for example {_EXAMPLE}") from None


def _constant(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str) and node.value is not True:
        return node.value
    _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise UsageError(
        f"cannot read the events {text[:80]!r}; write for example {_EXAMPLE!r}, or name a plan file (.toml)"
    )


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
class PlannedRun:
    """One release: an event, how often it is run, and what people call it."""

    event: PrivacyEvent
    steps: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class AccountPlan:
    """A list of releases, and what is asked of them."""

    runs: tuple[PlannedRun, ...]  # what is run
    claims: tuple[str, ...] = ()  # texts of claims
    # delta, epsilon: at which the other one is asked for
    delta: Any = None
    epsilon: Any = None
    # tolerance, relation: as in `dpaudit.request.AccountRequest`; None where nothing is said
    tolerance: float | None = None
    relation: str | None = None
    name: str = ""  # what people call it; empty for the events themselves
    unit: str = ""  # what one record stands for
    recorded_by: str = ""  # the library whose record it is; empty where somebody wrote it

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
    return AccountPlan(tuple(PlannedRun(event, count) for event, count in events.parts), **more)


def release(given: Mapping[str, Any], steps: Any = None, name: str = "", *, epochs: Any = None) -> PlannedRun:
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
    multiplier = [MULTIPLIER] if kind in _CLIPPED else []
    known = [NOISE[kind][1], *multiplier, *([] if kind in _WITHOUT_SENSITIVITY else ["sensitivity"]), *_SAMPLING]
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
        noise["sensitivity"] = _whole_named("the sensitivity of a whole number", noise["sensitivity"])
    mechanism: UnsampledEvent = MECHANISMS[cls](**noise)
    event = _sampled(mechanism, given)
    return PlannedRun(event, _times(event, steps, epochs), name)


def _times(event: PrivacyEvent, steps: Any, epochs: Any) -> int:
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
    return 1 if given is None else _whole_named("epochs" if shuffled else "steps", given)


_EXAMPLES = {"sigma": '"1.1"', "scale": '"2"', "epsilon": '"0.5"', "claim": '"epsilon=1, delta=1e-6"'}


def _sampled(mechanism: UnsampledEvent, given: Mapping[str, Any]) -> PrivacyEvent:
    said = [key for key in _SAMPLING if key in given]
    if not said:
        return mechanism
    if said == ["rate"]:
        return mechanism.poisson(given["rate"])
    if said == ["batches"]:
        return mechanism.shuffled(_whole_named("batches", given["batches"]))
    if said == ["batch", "records"]:
        return mechanism.fixed_size(_whole_named("batch", given["batch"]), _whole_named("records", given["records"]))
    raise UsageError(f"{_WAYS}; given {'is' if len(said) == 1 else 'are'} {' and '.join(said)}")


def _whole_named(name: str, value: Any) -> int:
    """A whole number, which files also write as 1e4 or 14000.0."""
    number = read_whole(value)
    if number is None:
        raise UsageError(f"{name} must be a whole number, not {value!r:.60}")
    return number


# --- What does a plan file say? Releases and claims in TOML, read with errors that name the place ---
#
# name = "Nightly training"
#     unit = "one user"
#     claims = ["epsilon=3.2, delta=1e-5"]
#
#     [[release]]
#     mechanism = "gaussian"
#     sigma = "1.1"
#     rate = 0.004
#     steps = 14000
#
# A number is the decimal that is written, as a number or as a text.

SUFFIX = ".toml"
"""By which a plan file is known."""

_KEYS = ("release", "claims", "delta", "epsilon", "tolerance", "relation", "name", "unit")
_TEXTS = ("relation", "name", "unit")
_LARGEST = 4_000_000  # characters


def is_plan_file(text: str) -> bool:
    """Whether a text names a plan file, and is no list of releases."""
    return text.endswith(SUFFIX)


def read_plan(path: str | Path) -> AccountPlan:
    """Read a plan file.

    Raises:
        UsageError: where it cannot be read, or says what cannot be run; with the place.
    """
    text = read_text(path, "the plan")
    name = Path(path).name
    if len(text) > _LARGEST:
        raise UsageError(f"{name} has {len(text):,} characters, and a plan at most {_LARGEST:,}")
    try:
        # a decimal stays the one that is written
        document = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is no TOML: {error}") from None
    return plan_in(document, name)


def plan_in(document: Mapping[str, Any], place: str) -> AccountPlan:
    """Return the plan that a table holds.

    Args:
        document: the table; its floats are texts, or are the decimals that they are written as.
        place: what it is called in errors.
    """
    for key in document:
        if key not in _KEYS:
            raise UsageError(f"{place}: there is no key {key!r:.60}; {nearest(key, _KEYS)}")
    listed = document.get("release")
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{place}: a plan lists at least one [[release]], such as\n{_EXAMPLE_OF_FILE}")
    for key in _TEXTS:
        if not isinstance(document.get(key, ""), str):
            raise UsageError(f"{place}, {key}: it is a text, not {document[key]!r:.60}")
    claims = document.get("claims", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise UsageError(f'{place}, claims: they are a list of texts, such as ["epsilon=3, delta=1e-5"]')
    return AccountPlan(
        tuple(_run(item, f"{place}, release {number}") for number, item in enumerate(listed, 1)),
        tuple(claims),
        _number_at(document, "delta", place),
        _number_at(document, "epsilon", place),
        _tolerance(document, place),
        document.get("relation"),
        document.get("name", ""),
        document.get("unit", ""),
    )


_EXAMPLE_OF_FILE = '[[release]]\nmechanism = "gaussian"\nsigma = "1.1"\nrate = 0.004\nsteps = 14000'


def _run(item: Any, place: str) -> PlannedRun:
    if not isinstance(item, dict):
        raise UsageError(f"{place}: it is a table, such as\n{_EXAMPLE_OF_FILE}")
    given = {key: value for key, value in item.items() if key not in ("steps", "epochs", "name")}
    for key, value in item.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"{place}, {key}: it is a number or a text, not {value!r:.60}")
    name = item.get("name", "")
    if not isinstance(name, str):
        raise UsageError(f"{place}, name: it is a text, not {name!r:.60}")
    try:
        return release(_decimals(given), item.get("steps"), name, epochs=item.get("epochs"))
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _decimals(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with floats as the decimals that they are written as."""
    return {key: repr(value) if isinstance(value, float) else value for key, value in given.items()}


def _number_at(document: Mapping[str, Any], key: str, place: str) -> Any:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise UsageError(f"{place}, {key}: it is a number or a text, not {value!r:.60}")
    return repr(value) if isinstance(value, float) else value


def _tolerance(document: Mapping[str, Any], place: str) -> float | None:
    value = _number_at(document, "tolerance", place)
    try:
        return None if value is None else float(value)
    except ValueError:
        raise UsageError(f"{place}, tolerance: it is a number, not {value!r:.60}") from None


def settings_plan(settings: Any, folder: str | Path, place: str = "account") -> AccountPlan:
    """Return the plan that the settings of a gate describe.

    Args:
        settings: the name of a plan file; or a table, of a whole plan or of one release.
        folder: where a plan file is looked for.
        place: what the table is called in errors.

    Raises:
        UsageError: for what is no plan.
    """
    if isinstance(settings, str):
        return read_plan(Path(folder) / settings)
    if not isinstance(settings, dict):
        raise UsageError(f"{place}: it is the name of a plan file, or a table, not {settings!r:.60}")
    if "release" in settings:
        return plan_in(settings, place)
    own = {key: value for key, value in settings.items() if key in _OF_ONE}
    release_alone = {key: value for key, value in settings.items() if key not in _OF_ONE}
    return plan_in({**own, "release": [release_alone]}, place)


_OF_ONE = ("claims", "delta", "tolerance", "relation", "unit")
