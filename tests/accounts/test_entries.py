"""Are entries of the catalogue accounted for with the noise that they draw, and others refused with a sentence?"""

from __future__ import annotations

from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accounting import events
from dpaudit.accounts.plan import parse_events
from mechanisms.events import EVENTS

DRAWS = {
    "laplace": (events.Laplace, "scale"),
    "gaussian": (events.Gaussian, "sigma"),
    "discrete_laplace": (events.DiscreteLaplace, "scale"),
    "discrete_gaussian": (events.DiscreteGaussian, "sigma"),
}
DATA = {"count": [1]}


class Asked:
    """In place of noise: it says what it was asked for."""

    def __init__(self) -> None:
        self.draws: list[tuple[str, float]] = []

    def __getattr__(self, method: str) -> Any:
        def draw(scale: float) -> int:
            self.draws.append((method, scale))
            return 0

        return draw


@pytest.mark.parametrize("name", sorted(set(EVENTS) - {"randomised_response", "exponential"}))
def test_an_entry_draws_the_noise_that_is_accounted_for(name: str) -> None:
    ((event, steps),) = parse_events(f"{name}()").parts
    noise = Asked()
    dp.load(name).function(DATA.get(name, 0), noise, **dp.load(name).parameters_with({}))
    ((method, scale),) = noise.draws
    kind, own = DRAWS[method]
    assert (type(event), float(getattr(event, own)), steps) == (kind, scale, 1)
    assert event.sensitivity == 1


def test_parameters_are_those_of_the_entry() -> None:
    assert parse_events("laplace(epsilon=0.5, sensitivity=3).times(2)") == dp.accounting.Laplace(
        6.0, sensitivity=3
    ).times(2)
    assert parse_events("exponential(epsilon=2) + randomised_response()").parts == (
        (dp.accounting.Exponential(2), 1),
        (dp.accounting.RandomisedResponse(1), 1),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("laplace(eps=1)", "did you mean 'epsilon'"),
        ("laplace(epsilon='x')", "no such parameters"),
        ("laplace(1)", "did you mean 'Laplace'"),
        ("above_threshold()", r"Block\('epsilon=1'\)"),
        ("float_laplace()", "by its law$"),
        ("nothing()", "no entry of the catalogue"),
    ],
)
def test_what_is_no_such_entry_gets_a_sentence(text: str, said: str) -> None:
    with pytest.raises(dp.UsageError, match=said):
        parse_events(text)
