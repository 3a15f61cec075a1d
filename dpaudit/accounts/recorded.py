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

import contextlib
import json
import logging
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpaudit.accounting import Block, DiscreteLaplace, Events, Gaussian, Laplace
from dpaudit.accounting.events import Poisson, PrivacyEvent, Sampled, UnsampledEvent
from dpaudit.accounts.plan import AccountPlan, PlannedRun, plan_of
from dpaudit.decimals import read_number
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import read_text
from dpaudit.evidence.further_records import OtherAccountant, Statement
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


def _step(item: Any, number: int) -> PlannedRun:
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
        return PlannedRun(event, event.times(steps).steps)
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


def _parts(event: Any, depth: int) -> Iterator[tuple[PrivacyEvent, int]]:
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
            yield own, times * own.times(_count_of(count)).steps
    elif kind in _SAMPLED:
        yield _SAMPLED[kind](event), 1
    else:
        yield _mechanism(event, kind), 1


def _mechanism(event: Any, kind: str) -> UnsampledEvent:
    if kind not in _MECHANISMS:
        why = _REFUSED.get(kind, "it is not known here")
        raise UsageError(f"the event {kind} of dp-accounting cannot be accounted for: {why}")
    return _MECHANISMS[kind](event)


_REFUSED = {
    "NonPrivateDpEvent": "what is not private loses everything",
    "UnsupportedDpEvent": "it says nothing of what was run",
    "RandomizedResponseDpEvent": "its ε = ln(1 + k(1 − p)/p) is no rational number; give "
    "dp.accounting.RandomisedResponse(ε) or dp.accounting.Block('epsilon=…') with an ε rounded up",
    "SampledWithReplacementDpEvent": "sampling with replacement has no proved pair here",
    "TruncatedSubsampledGaussianDpEvent": "truncated batches have no proved pair here",
    "RepeatAndSelectDpEvent": "it selects among outputs, which is no composition",
    "MixtureOfGaussiansDpEvent": "mixtures of Gaussians have no proved pair here",
    "SingleEpochTreeAggregationDpEvent": "tree aggregation has no proved pair here",
    "ComposedDpEvent": "several mechanisms on one sample are not composed here; each needs a sample of its own",
    "SelfComposedDpEvent": "several mechanisms on one sample are not composed here; each needs a sample of its own",
}


def _discrete_laplace(event: Any) -> UnsampledEvent:
    rate = read_number("noise_parameter", _field(event, "noise_parameter"))
    if rate <= 0:
        raise UsageError(f"the noise_parameter of DiscreteLaplaceDpEvent is above 0, not {rate}")
    return DiscreteLaplace(Fraction(1) / rate, sensitivity=_count_of(_field(event, "sensitivity")))


def _concentrated(event: Any) -> UnsampledEvent:
    if event_xi := getattr(event, "xi", event.get("xi") if isinstance(event, Mapping) else None):
        raise UsageError(
            f"the event ZCDpEvent of dp-accounting has xi = {event_xi!r:.60}, and only ξ = 0 is known here"
        )
    rho = read_number("rho", _field(event, "rho"))
    return Block(ZeroConcentratedDP(float(rho)))


_MECHANISMS: Mapping[str, Callable[[Any], UnsampledEvent]] = {
    "GaussianDpEvent": lambda event: Gaussian(noise_multiplier=_field(event, "noise_multiplier")),
    "LaplaceDpEvent": lambda event: Laplace(noise_multiplier=_field(event, "noise_multiplier")),
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "ZCDpEvent": _concentrated,
}


def _inner(event: Any) -> UnsampledEvent:
    inner = _field(event, "event")
    return _mechanism(inner, _kind(inner))


_SAMPLED: Mapping[str, Callable[[Any], PrivacyEvent]] = {
    "PoissonSampledDpEvent": lambda event: _inner(event).poisson(_field(event, "sampling_probability")),
    "SampledWithoutReplacementDpEvent": lambda event: _inner(event).fixed_size(
        _count_of(_field(event, "sample_size")), _count_of(_field(event, "source_dataset_size"))
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
    value = event.get(name) if isinstance(event, Mapping) else getattr(event, name, None)
    if value is None:
        raise UsageError(f"the event {_kind(event)} of dp-accounting has no {name}")
    return value


def _list(event: Any, name: str) -> Sequence[Any]:
    listed = _field(event, name)
    if not isinstance(listed, list | tuple):
        raise UsageError(f"the {name} of {_kind(event)} are a list, not {listed!r:.60}")
    return listed


def _count_of(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"a count of dp-accounting is a whole number from 1 on, not {value!r:.60}")
    return value


# --- What do other accountants say of the same list? Whoever is installed is asked; none of them decides. ---
#
# dp-accounting (Google): the PLD accountant, pessimistic, and the RDP accountant both state upper bounds, computed in
# floating point. Opacus (Meta): RDP states an upper bound, PRV and GDP an estimate. prv-accountant (Microsoft): an
# estimate between two bounds, of which the upper one is shown, too.

# beyond these an accountant in floating point may take minutes, or all memory
_LEAST_NOISE = Fraction(1, 10)
_MOST_STEPS, _MOST_EVENTS, _MOST_EPSILON = 10**7, 50, 300.0
_PRV_STEPS, _PRV_EPSILON, _PRV_DELTA, _PRV_ERROR = 20_000, 20.0, 1e-13, 0.01


def others_say(events: Events, asked: Statement) -> tuple[OtherAccountant, ...]:
    """Return what each accountant that is installed, and knows these events, says of a statement's number."""
    at = float(Fraction(asked.at))
    about = asked.high if asked.parameter == "epsilon" else at
    small = events.steps <= _MOST_STEPS and len(events.parts) <= _MOST_EVENTS and 0 < about <= _MOST_EPSILON
    if not small or at <= 0 or not all(_is_common(event) for event, _ in events.parts):
        return ()
    others = []
    for ask in (_dp_accounting, _opacus, _prv):
        with _quiet(), contextlib.suppress(Exception):  # what another library cannot do is left out
            others += [each for each in ask(events, asked.parameter, at, about) if math.isfinite(each.value)]
    return tuple(others)


def _is_common(event: PrivacyEvent) -> bool:
    """Whether others know an event: noise of one of three kinds, on all records or on a Poisson sample."""
    mechanism = event.mechanism if isinstance(event, Sampled) else event
    if isinstance(event, Sampled) and not isinstance(event.sampling, Poisson):
        return False
    return isinstance(mechanism, Gaussian | Laplace | DiscreteLaplace) and mechanism.ratio >= _LEAST_NOISE


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _installed(package: str, module: str) -> str:
    if find_spec(module) is None:
        return ""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


# --- dp-accounting ----------------------------------------------------------------------------------------


def _dp_accounting(events: Events, parameter: str, at: float, _: float) -> Iterator[OtherAccountant]:
    own = _installed("dp-accounting", "dp_accounting")
    if not own:
        return
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant
    from dp_accounting.rdp import rdp_privacy_accountant

    event = dp_event.ComposedDpEvent(
        [dp_event.SelfComposedDpEvent(_as_dp_event(dp_event, each), count) for each, count in events.parts]
    )
    accountants: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("PLD", pld_privacy_accountant.PLDAccountant),
        ("RDP", rdp_privacy_accountant.RdpAccountant),
    )
    for name, made in accountants:
        accountant = made()
        if accountant.supports(event):
            accountant.compose(event)
            value = accountant.get_epsilon(at) if parameter == "epsilon" else accountant.get_delta(at)
            yield OtherAccountant(f"dp-accounting, {name}", own, float(value), "upper")


def _as_dp_event(library: Any, event: PrivacyEvent) -> Any:
    if isinstance(event, Sampled):
        assert isinstance(event.sampling, Poisson)
        return library.PoissonSampledDpEvent(float(event.sampling.rate), _as_dp_event(library, event.mechanism))
    if isinstance(event, Gaussian):
        return library.GaussianDpEvent(float(event.ratio))
    if isinstance(event, Laplace):
        return library.LaplaceDpEvent(float(event.ratio))
    assert isinstance(event, DiscreteLaplace)
    return library.DiscreteLaplaceDpEvent(float(1 / event.scale), event.sensitivity)


# --- Opacus -----------------------------------------------------------------------------------------------


def _opacus(events: Events, parameter: str, at: float, _: float) -> Iterator[OtherAccountant]:
    own = _installed("opacus", "opacus")
    if not own or parameter != "epsilon":
        return
    history = [(*_noise_and_rate(event), count) for event, count in events.parts]
    if any(noise is None for noise, _, _ in history):
        return
    from opacus.accountants import create_accountant

    for name, side in (("rdp", "upper"), ("prv", "estimate"), ("gdp", "estimate")):
        if name == "gdp" and len(history) > 1:  # its formula is for one kind of step
            continue
        accountant = create_accountant(name)
        accountant.history = list(history)
        yield OtherAccountant(f"Opacus, {name.upper()}", own, float(accountant.get_epsilon(delta=at)), side)


def _noise_and_rate(event: PrivacyEvent) -> tuple[float | None, float]:
    mechanism, rate = event, Fraction(1)
    if isinstance(event, Sampled) and isinstance(event.sampling, Poisson):
        mechanism, rate = event.mechanism, event.sampling.rate
    return (float(mechanism.ratio) if isinstance(mechanism, Gaussian) else None), float(rate)


# --- prv-accountant ---------------------------------------------------------------------------------------


def _prv(events: Events, parameter: str, at: float, about: float) -> Iterator[OtherAccountant]:
    own = _installed("prv-accountant", "prv_accountant")
    if not own or parameter != "epsilon" or events.steps > _PRV_STEPS or about > _PRV_EPSILON or at < _PRV_DELTA:
        return
    import prv_accountant as library

    laws = [_as_prv(library, event) for event, _ in events.parts]
    if any(law is None for law in laws):
        return
    counts = [count for _, count in events.parts]
    accountant = library.PRVAccountant(laws, eps_error=_PRV_ERROR, delta_error=at / 1000, max_self_compositions=counts)
    _, estimate, upper = accountant.compute_epsilon(delta=at, num_self_compositions=counts)
    yield OtherAccountant("prv-accountant, estimate", own, float(estimate), "estimate")
    yield OtherAccountant("prv-accountant, upper end", own, float(upper), "upper")


def _as_prv(library: Any, event: PrivacyEvent) -> Any:
    if isinstance(event, Laplace):
        return library.LaplaceMechanism(mu=float(1 / event.ratio))
    noise, rate = _noise_and_rate(event)
    if noise is None:
        return None
    return library.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=noise)
