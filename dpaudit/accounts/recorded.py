"""What did another library record that it ran? Histories of Opacus, and events of dp-accounting.

Both are read by their documented form, as objects or as JSON, and nothing of these libraries is imported. What is not
known is refused by its name, never guessed.

Both state noise as a multiplier of the norm that each record's part of a sum is clipped to, not of the sensitivity: how
far a record moves the sum hangs on the neighbours, which neither records. Where records are replaced, as in batches of
one size, it is twice that norm.

Opacus: ``accountant.history`` is a list of (noise multiplier, sampling rate, steps), and ``accountant.state_dict()``
has it as "history" beside "mechanism". It says nothing of the data loader: the accountants of Opacus assume that
records come in by Poisson sampling, and so does this reading.

dp-accounting, whose events JAX Privacy and TensorFlow Privacy make too: a ``DpEvent`` is a class with plain fields; as
JSON it is ``{"class_name": …, field: …}``, what ``to_named_tuple()._asdict()`` gives. The noise multiplier of its
Gaussian and Laplace events is "s/C" where "the norms of the values are bounded ‖v_i‖ ≤ C" (dp_event.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.accounting import Block, DiscreteLaplace, Events, Gaussian, Laplace
from dpaudit.accounting.events import Event, Mechanism
from dpaudit.accounts.plan import AccountPlan, Run, plan_of
from dpaudit.decimals import read_number
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import read_text
from dpaudit.privacy import ZeroConcentratedDP

OPACUS, DP_ACCOUNTING = "Opacus", "dp-accounting"
FORMS = {"opacus": OPACUS, "dp-event": DP_ACCOUNTING}
"""What ``--from`` calls a record, and whose it is."""

_OPACUS_ACCOUNTANTS = ("rdp", "gdp", "prv")
_OPACUS_KEYS = ("history", "mechanism")
_SAMPLED_HOW = (
    "state_dict() of an accountant has history and mechanism. If records come in otherwise than by Poisson sampling, "
    "list the releases in a plan file"
)
_DEEPEST = 40


def read_recorded(text: str) -> AccountPlan:
    """Return the plan in a record, ``opacus:FILE`` or ``dp-event:FILE``.

    Raises:
        UsageError: where it cannot be read, or holds what is not known.
    """
    form, colon, path = text.partition(":")
    if not colon or form not in FORMS:
        raise UsageError(f"--from is opacus:FILE or dp-event:FILE, not {text!r:.80}")
    content = read_text(path, f"the record of {FORMS[form]}")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{Path(path).name} is no JSON: {error}") from None
    return opacus_plan(document) if form == "opacus" else dp_event_plan(document)


def recorded_plan(value: Any) -> AccountPlan | None:
    """Return the plan of an object that another library made, or of its plain form; None for anything else."""
    home = type(value).__module__.partition(".")[0]
    if home == "opacus" or (isinstance(value, Mapping) and "history" in value):
        return opacus_plan(value)
    if home == "dp_accounting" or (isinstance(value, Mapping) and "class_name" in value):
        return dp_event_plan(value)
    if isinstance(value, list | tuple) and value and all(_is_triple(item) for item in value):
        return opacus_plan(value)
    return None


def _is_triple(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 3 and all(isinstance(each, int | float) for each in item)


# --- Opacus -----------------------------------------------------------------------------------------------


def opacus_plan(value: Any) -> AccountPlan:
    """Return the plan of an accountant of Opacus, its state, or its history.

    Raises:
        UsageError: for a history that is none, or an accountant that is not known.
    """
    history = value
    if isinstance(value, Mapping):
        kind = value.get("mechanism", "rdp")
        if kind not in _OPACUS_ACCOUNTANTS:
            raise UsageError(
                f"the accountant {kind!r:.60} of Opacus is not known here; known: {', '.join(_OPACUS_ACCOUNTANTS)}"
            )
        for key in value:
            if key not in _OPACUS_KEYS:
                raise UsageError(f"the record of Opacus has {key!r:.60}, which is not known here; {_SAMPLED_HOW}")
        history = value.get("history")
    elif hasattr(value, "history"):
        history = value.history
    elif hasattr(value, "accountant"):  # a PrivacyEngine
        history = value.accountant.history
    if not isinstance(history, Sequence) or isinstance(history, str):
        raise UsageError('a history of Opacus is a list of [noise multiplier, sampling rate, steps], or {"history": …}')
    if not history:
        raise UsageError("the accountant of Opacus has seen no step; ask after training")
    return AccountPlan(tuple(_step(item, number) for number, item in enumerate(history, 1)), recorded_by=OPACUS)


def _step(item: Any, number: int) -> Run:
    if not _is_triple(item):
        raise UsageError(
            f"entry {number} of the history of Opacus is [noise multiplier, sampling rate, steps], not {item!r:.60}"
        )
    sigma, rate, steps = item
    if isinstance(steps, float) and steps.is_integer():
        steps = int(steps)
    try:
        # with a rate of 1 all records take part: as Poisson sampling, so that the neighbours stay those of Opacus
        event = Gaussian(noise_multiplier=sigma).poisson(rate)
        return Run(event, event.times(steps).steps)
    except UsageError as error:
        raise UsageError(f"entry {number} of the history of Opacus: {error}") from None


# --- dp-accounting ----------------------------------------------------------------------------------------


def dp_event_plan(value: Any) -> AccountPlan:
    """Return the plan of an event of dp-accounting.

    Raises:
        UsageError: for an event of a kind that has no bounds from both sides here, by its name.
    """
    parts = tuple(_parts(value, 0))
    if not parts:
        raise UsageError("the event of dp-accounting runs nothing (NoOpDpEvent): there is nothing to account for")
    return plan_of(Events(parts), recorded_by=DP_ACCOUNTING)


def _parts(event: Any, depth: int) -> Iterator[tuple[Event, int]]:
    kind = _kind(event)
    if depth > _DEEPEST:
        raise UsageError(f"events of dp-accounting are nested more than {_DEEPEST} deep")
    if kind == "NoOpDpEvent":
        return
    if kind == "ComposedDpEvent":
        for each in _list(event, "events"):
            yield from _parts(each, depth + 1)
    elif kind == "SelfComposedDpEvent":
        count = _field(event, "count")
        for own, times in _parts(_field(event, "event"), depth + 1):
            yield own, times * own.times(_whole(count)).steps
    elif kind in _SAMPLED:
        yield _SAMPLED[kind](event), 1
    else:
        yield _mechanism(event, kind), 1


def _mechanism(event: Any, kind: str) -> Mechanism:
    if kind not in _MECHANISMS:
        why = _REFUSED.get(kind, "it is not known here")
        raise UsageError(f"the event {kind} of dp-accounting cannot be accounted for: {why}")
    return _MECHANISMS[kind](event)


_REFUSED = {
    "NonPrivateDpEvent": "what is not private loses everything",
    "UnsupportedDpEvent": "it says nothing of what was run",
    "RandomizedResponseDpEvent": "its ε = ln(1 + k(1 − p)/p) is no rational number; give "
    "dp.RandomisedResponse(ε) or dp.Block('epsilon=…') with an ε rounded up",
    "SampledWithReplacementDpEvent": "sampling with replacement has no proved pair here",
    "TruncatedSubsampledGaussianDpEvent": "truncated batches have no proved pair here",
    "RepeatAndSelectDpEvent": "it selects among outputs, which is no composition",
    "MixtureOfGaussiansDpEvent": "mixtures of Gaussians have no proved pair here",
    "SingleEpochTreeAggregationDpEvent": "tree aggregation has no proved pair here",
    "ComposedDpEvent": "several mechanisms on one sample are not composed here; each needs a sample of its own",
    "SelfComposedDpEvent": "several mechanisms on one sample are not composed here; each needs a sample of its own",
}


def _discrete_laplace(event: Any) -> Mechanism:
    rate = read_number("noise_parameter", _field(event, "noise_parameter"))
    if rate <= 0:
        raise UsageError(f"the noise_parameter of DiscreteLaplaceDpEvent is above 0, not {rate}")
    return DiscreteLaplace(Fraction(1) / rate, sensitivity=_whole(_field(event, "sensitivity")))


def _concentrated(event: Any) -> Mechanism:
    if event_xi := getattr(event, "xi", event.get("xi") if isinstance(event, Mapping) else None):
        raise UsageError(
            f"the event ZCDpEvent of dp-accounting has xi = {event_xi!r:.60}, and only ξ = 0 is known here"
        )
    rho = read_number("rho", _field(event, "rho"))
    return Block(ZeroConcentratedDP(float(rho)))


_MECHANISMS: Mapping[str, Callable[[Any], Mechanism]] = {
    "GaussianDpEvent": lambda event: Gaussian(noise_multiplier=_field(event, "noise_multiplier")),
    "LaplaceDpEvent": lambda event: Laplace(noise_multiplier=_field(event, "noise_multiplier")),
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "ZCDpEvent": _concentrated,
}


def _inner(event: Any) -> Mechanism:
    inner = _field(event, "event")
    return _mechanism(inner, _kind(inner))


_SAMPLED: Mapping[str, Callable[[Any], Event]] = {
    "PoissonSampledDpEvent": lambda event: _inner(event).poisson(_field(event, "sampling_probability")),
    "SampledWithoutReplacementDpEvent": lambda event: _inner(event).fixed_size(
        _whole(_field(event, "sample_size")), _whole(_field(event, "source_dataset_size"))
    ),
}


def _kind(event: Any) -> str:
    if isinstance(event, Mapping):
        kind = event.get("class_name")
        if not isinstance(kind, str):
            raise UsageError(f'an event of dp-accounting is {{"class_name": …, field: …}}, not {event!r:.80}')
        return kind
    kind = getattr(event, "class_name", type(event).__name__)
    if not str(kind).endswith("DpEvent"):
        raise UsageError(f"{event!r:.80} is no event of dp-accounting")
    return str(kind)


def _field(event: Any, name: str) -> Any:
    found = event.get(name) if isinstance(event, Mapping) else getattr(event, name, None)
    if found is None:
        raise UsageError(f"the event {_kind(event)} of dp-accounting has no {name}")
    return found


def _list(event: Any, name: str) -> Sequence[Any]:
    found = _field(event, name)
    if not isinstance(found, list | tuple):
        raise UsageError(f"the {name} of {_kind(event)} are a list, not {found!r:.60}")
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"a count of dp-accounting is a whole number from 1 on, not {value!r:.60}")
    return value
