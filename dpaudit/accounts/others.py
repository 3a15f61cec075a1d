"""What do other accountants say of the same list? Whoever is installed is asked; none of them decides.

dp-accounting (Google): the PLD accountant, pessimistic, and the RDP accountant both state upper bounds, computed in
floating point. Opacus (Meta): RDP states an upper bound, PRV and GDP an estimate. prv-accountant (Microsoft): an
estimate between two bounds, of which the upper one is shown, too.
"""

from __future__ import annotations

import contextlib
import logging
import math
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from dpaudit.accounting import DiscreteLaplace, Events, Gaussian, Laplace
from dpaudit.accounting.events import Event, Poisson, Sampled
from dpaudit.evidence.further_records import OtherAccountant, Statement

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
    found = []
    for ask in (_dp_accounting, _opacus, _prv):
        with _quiet(), contextlib.suppress(Exception):  # what another library cannot do is left out
            found += [each for each in ask(events, asked.parameter, at, about) if math.isfinite(each.value)]
    return tuple(found)


def _is_common(event: Event) -> bool:
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


def _as_dp_event(library: Any, event: Event) -> Any:
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


def _noise_and_rate(event: Event) -> tuple[float | None, float]:
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


def _as_prv(library: Any, event: Event) -> Any:
    if isinstance(event, Laplace):
        return library.LaplaceMechanism(mu=float(1 / event.ratio))
    noise, rate = _noise_and_rate(event)
    if noise is None:
        return None
    return library.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=noise)
