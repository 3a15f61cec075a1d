"""Is everything that a target changes for all of Python put back after it ran?"""

from __future__ import annotations

import decimal
import gc
import sys
import warnings

import numpy as np
import pytest

import dpaudit as dp


def raises_on_errors():
    np.seterr(all="raise")


def traps():
    decimal.getcontext().traps[decimal.Inexact] = True
    decimal.getcontext().prec = 2


def warns_as_errors():
    warnings.simplefilter("error")


def is_shallow():
    sys.setrecursionlimit(sys.getrecursionlimit() + 100)


def hoards():
    gc.disable()


def is_silent():
    sys.stdout = None


def now():
    context, errors = decimal.getcontext(), [it for it in warnings.filters if it[0] == "error"]
    decimals = context.prec, context.traps[decimal.Inexact]
    return np.geterr(), decimals, errors, sys.getrecursionlimit(), gc.isenabled(), sys.stdout


@pytest.mark.parametrize("change", [raises_on_errors, traps, warns_as_errors, is_shallow, hoards, is_silent])
@pytest.mark.parametrize("sampler", [False, True])
def test_what_a_target_changes_is_put_back(change, sampler):
    def seeded(data, rng):
        change()
        return data + rng.laplace()

    def many(data, size, rng):
        change()
        return data + rng.laplace(size=size)

    before = now()
    asked = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "runs": 500, "seed": 0}
    found = dp.audit(many if sampler else seeded, **asked)
    assert found.verdict is not dp.Verdict.VIOLATED
    assert now() == before
