"""Is a typed domain read as it was meant?"""

from __future__ import annotations

from typing import Any

import pytest

from dpaudit import UsageError
from dpaudit.neighbours.domain import ListedValues, Range, allowed_of, read_domain


@pytest.mark.parametrize(
    ("texts", "domain"),
    [
        ([], None),
        (["age=[0, 120]"], {"age": (0, 120)}),
        (["age=[0, 120]", 'species=["Adelie", "Gentoo"]'], {"age": (0, 120), "species": ["Adelie", "Gentoo"]}),
        (["[0, 1.5]"], (0, 1.5)),
        (['{"age": [0, 120]}', "x=[1, 2, 3]"], {"age": (0, 120), "x": [1, 2, 3]}),
        (["b=[false, true]"], {"b": [False, True]}),
        (["plan=[free, basic,pro plus, null]"], {"plan": ["free", "basic", "pro plus", None]}),
        (['n={"values": [0, 1]}'], {"n": [0, 1]}),
        (['{"values": [0, 1]}'], [0, 1]),
    ],
)
def test_domains_as_they_are_typed(texts: list[str], domain: Any) -> None:
    assert read_domain(texts) == domain


@pytest.mark.parametrize(
    "texts",
    [
        ["age"],
        ["age=[0,"],
        ["a=[0, 1]", "a=[0, 2]"],
        ["[0, 1]", "a=[0, 1]"],
        ["[0, 1]", "[0, 2]"],
        ["b=[true, no]"],
        ["a=[nan, 1]"],
        ["a=[b,, c]"],
        ["a=[[b]]"],
    ],
)
def test_what_is_no_domain_is_refused(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="domain"):
        read_domain(texts)


def test_ranges_and_values() -> None:
    assert allowed_of((0, 120)) == Range(0, 120)
    assert allowed_of([0, 120]) == ListedValues((0, 120))
    assert allowed_of({"values": [0, 1]}) == ListedValues((0, 1))
    assert -0.0 in Range(0, 1) and float("nan") not in Range(0, 1) and "a" not in Range(0, 1)
    assert True not in ListedValues((0, 1)) and 1.0 in ListedValues((0, 1)) and None not in ListedValues((0, 1))
    assert None in allowed_of(["a", None]) and float("nan") in allowed_of(["a", None])
    assert ListedValues(("a", "b")).holds(["a", "c", None, []]).tolist() == [True, False, False, False]
