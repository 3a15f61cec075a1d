"""Are larger certificates accepted with the bounds that are known, soon, and refused when something is changed?"""

from __future__ import annotations

import copy
import json
import random
import time
from fractions import Fraction
from typing import Any

import pytest
from support import naive_checker as naive
from support import produced_certificates as produced

from dpaudit.checker import CertificateError, check_certificate, check_text

# at n = 5: optima of an independent computation by linear programmes (Laplace scales in units of 1/ε)
KNOWN = {
    "sparse vector, 1": (produced.sparse, (5, 1), "1"),
    "sparse vector, 2": (produced.sparse, (5, 2), "5/8"),
    "gap, 2": (produced.sparse, (5, 2, "gap"), "5/8"),
    "numbers, 2": (produced.sparse, (5, 2, "number"), "3/4"),
    "adaptive, 1": (produced.adaptive, (5, 1), "1"),
    "adaptive, 2": (produced.adaptive, (5, 2), "13/16"),
}
_MADE: dict[str, Any] = {}


def certificate(name: str) -> Any:
    if name not in _MADE:
        make, arguments, _ = KNOWN[name]
        _MADE[name] = produced.certificate(make(*arguments), 5)
    return copy.deepcopy(_MADE[name])


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.slow
def test_known_bounds_are_accepted_soon(name: str) -> None:
    text = json.dumps(certificate(name))
    start = time.process_time()
    assert check_text(text).bound == Fraction(KNOWN[name][2])
    assert time.process_time() - start < 1.5  # about 0.1 s for the largest


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KNOWN if name != "adaptive, 2"])
def test_the_naive_twin_agrees(name: str) -> None:
    assert naive.tree_is_true(certificate(name), runs=40)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sparse vector, 2", "gap, 2", "adaptive, 1"])
def test_a_changed_shift_is_refused_or_still_true(name: str) -> None:
    source = random.Random(name)
    kept = 0
    for _ in range(20):
        other = certificate(name)
        leaf = source.choice([node for node in other["nodes"] if "leaf" in node])
        shift = source.choice(leaf["shifts"])["shift"]
        place = source.randrange(len(shift))
        shift[place] = str(Fraction(shift[place]) + source.choice([-3, -1, Fraction(-1, 2), Fraction(1, 2), 1, 3]))
        try:
            check_certificate(other)
        except CertificateError:
            continue
        kept += 1
        assert naive.tree_is_true(other, runs=0)
    assert kept < 10


@pytest.mark.parametrize("name", ["sparse vector, 2", "adaptive, 1"])
def test_a_dropped_or_exchanged_part_is_refused(name: str) -> None:
    for number, node in enumerate(certificate(name)["nodes"]):
        if "leaf" in node:
            other = certificate(name)
            other["nodes"][number]["shifts"].pop()
            with pytest.raises(CertificateError, match="no shift is given"):
                check_certificate(other)
        if "compare" in node and number % 2 == 0:
            other = certificate(name)
            given = other["nodes"][number]
            given["<"], given[">="] = given[">="], given["<"]
            with pytest.raises(CertificateError):
                check_certificate(other)
