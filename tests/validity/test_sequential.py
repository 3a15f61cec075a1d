"""Does an audit that may stop at any run err as rarely as it says, and stop soon enough where it should?

Fixed seeds, judged by a binomial test.
"""

import itertools

import numpy as np
import pytest
from support.curtailed import at_most
from support.nightly import mostly_at_night

import dpaudit as dp

pytestmark = pytest.mark.slow

ERROR, AUDITS = 0.2, 6  # a large error, so that so few audits can show that it is exceeded


def randomised_response(data, size, rng):
    """ln 3-DP, and no less."""
    return (data + (rng.random(size) < 0.25)) % 2


def catastrophe(data, size, rng):
    """(0, 0.2)-DP, and no less: one side gives itself away in a fifth of all runs."""
    return np.where(rng.random(size) < 0.2, data + 1, 0)


def gaussian(data, size, rng):
    return data + rng.normal(0, 1, size)


def stopped(function, claim, **options):
    settings = {
        "false_alarm": ERROR,
        "pairs": [(1, 0)],
        "confidence": 1 - ERROR,
        "sequential": True,
        "runs": 200,
        **options,
    }
    return dp.audit(function, claim=claim, **settings).sequential.stopped


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (randomised_response, "epsilon=1.0986122886681098"),
        (catastrophe, "epsilon=0, delta=0.2"),
        (gaussian, "mu=1"),
    ],
)
def test_a_true_claim_is_refuted_as_rarely_as_stated(function, claim):
    assert at_most(lambda seed: stopped(function, claim, seed=seed), AUDITS, ERROR, 0.1)


@pytest.mark.parametrize(
    ("function", "claim", "runs"),
    mostly_at_night(
        [
            (randomised_response, "epsilon=0.3", 300),
            (catastrophe, "epsilon=0, delta=0.05", 500),
            (gaussian, "mu=0.2", 600),
        ]
    ),
)
def test_a_false_claim_is_refuted_soon(function, claim, runs):
    found = (stopped(function, claim, seed=seed, runs=runs) for seed in range(3))
    assert sum(itertools.islice(filter(None, found), 2)) == 2  # of three, and no more are asked than that takes
