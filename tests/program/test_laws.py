"""Is every law what its row says: support, shifts, density, quantiles; and does the checker's table say the same?"""

import inspect

import numpy as np
import pytest
from scipy import stats

from dpaudit.checker.tree import LAWS as CHECKED
from dpaudit.program.laws import LAWS, Support
from dpaudit.program.noise import Noise

TWINS = {
    "laplace": stats.laplace,
    "exponential": stats.expon,
    "gaussian": stats.norm,
    "gumbel": stats.gumbel_r,
    "uniform": stats.uniform,
    "discrete_laplace": stats.dlaplace(1),
    "logistic": stats.logistic,
    "geometric": stats.geom(1 - np.exp(-1)),
}
PRICED = [name for name, law in LAWS.items() if law.cost in ("pure", "locked")]
PROVABLE = [name for name in PRICED if LAWS[name].sample]
QUANTILES = [name for name, law in LAWS.items() if law.quantile is not None]
DENSITIES = [name for name, law in LAWS.items() if law.density is not None]


def logs(name, x):
    twin = TWINS[name]
    return (twin.logpmf if LAWS[name].is_discrete else twin.logpdf)(x)


def cost(name, direction):
    """The largest ln f(x)/f(x + direction) over a grid."""
    x = np.arange(-40, 41) if LAWS[name].is_discrete else np.linspace(-6, 40, 4601)
    inside = np.isfinite(logs(name, x))
    return np.max(logs(name, x[inside]) - logs(name, x[inside] + direction))


def test_every_method_that_draws_has_a_law():
    methods = {name for name, _ in inspect.getmembers(Noise, inspect.isfunction) if not name.startswith("_")}
    assert methods - {"argmax", "choice", "select", "propose_test_release", "poisson", "post", "repeat"} == {
        name for name, law in LAWS.items() if law.sample
    }


def test_what_is_proved_stands_in_the_table_of_the_checker():
    supports = {
        Support.LINE: "line",
        Support.HALF_LINE: "half-line",
        Support.INTERVAL: "interval",
        Support.INTEGERS: "integers",
    }
    said = {name: (supports[LAWS[name].support], 1 in LAWS[name].shifts, -1 in LAWS[name].shifts) for name in PROVABLE}
    assert said == {name: (law.support, law.up, law.down) for name, law in CHECKED.items()}


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("name", PRICED)
def test_a_shift_is_allowed_exactly_where_its_cost_is_bounded_by_its_size(name, direction):
    assert (direction in LAWS[name].shifts) == (cost(name, direction) <= 1 + 1e-9)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_density_in_floats_is_the_one_in_pieces(name):
    density, twin = LAWS[name].density, TWINS[name]
    x = np.linspace(-5, 5, 1002)  # no break among them
    place = np.searchsorted(np.array(density.breaks, dtype=float), x)
    pieces = [
        sum(float(c) * np.exp(r * at) for r, c in density.pieces[k].items()) for at, k in zip(x, place, strict=True)
    ]
    inside = np.array(pieces) > 0
    assert np.allclose(pieces, twin.pdf(x), rtol=1e-12)
    assert np.allclose(density.pdf(x[inside]), twin.pdf(x[inside]), rtol=1e-12)
    assert np.allclose(density.cdf(x), twin.cdf(x), rtol=1e-12)
    assert np.allclose(density.sf(x), twin.sf(x), rtol=1e-12)


@pytest.mark.parametrize("name", QUANTILES)
def test_quantiles_are_those_of_the_law(name):
    q = np.linspace(0.001, 0.999, 101)
    assert np.allclose(LAWS[name].quantile(q), TWINS[name].ppf(q), rtol=1e-12)


def test_a_proof_shifts_no_noise_of_another_price():
    assert {name for name, law in LAWS.items() if law.provable_shifts} == {*PRICED} - {"uniform"}


def test_every_law_that_is_priced_or_added_to_numbers_has_a_twin():
    assert {*PRICED, *DENSITIES, *QUANTILES} == {*TWINS}
