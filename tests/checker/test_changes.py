"""Is every certificate refused in which anything was changed, unless it stays true?"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import made_certificates as made
from support import naive_checker as naive
from support.made_certificates import accepted

WORDS = ("", ">", ">=", "<", "int", "float", "none", "laplace", "exponential", "discrete_laplace", "all", "one", None)
FREE = ("mechanism", "parameters")  # texts for people: any text is as true as another


def changes(value: Any) -> list[Any]:
    """Other values that could stand in this place."""
    if isinstance(value, bool):
        return [not value, 1, None]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, float(value), True, str(value)]
    if isinstance(value, str):
        try:
            number = Fraction(value)
        except ValueError:
            return [word for word in WORDS if word != value]
        found = {-number, number + 1, number - 1, number / 2, number * 2, Fraction(0), number - Fraction(1, 100)}
        return [str(other) for other in sorted(found - {number})] + [float(number), int(number), None, value + "0"]
    if isinstance(value, list):
        dropped = [value[:j] + value[j + 1 :] for j in range(len(value))]
        swapped = [[*value[:j], value[j + 1], value[j], *value[j + 2 :]] for j in range(len(value) - 1)]
        return [*dropped, *swapped, [], [*value, *value[-1:]], None]
    if value is None or isinstance(value, float):
        return [0, "0", []]
    dropped = [{k: v for k, v in value.items() if k != key} for key in value]
    renamed = [
        {(other if k == key else k): v for k, v in value.items()}
        for key in value
        for other in ("1", "q0", "q1", "h0", "h1", "x", "s0", ">", ">=", "<", "shifts", "class")
        if other not in value
    ]
    return [*dropped, *renamed, {}, {**value, "more": 0}, None]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path and path[-1] in FREE:
        return
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(certificate: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A certificate that differs in one place, and shares all others: nobody changes it in place."""
    result = inner = copy.copy(certificate)
    for key in path[:-1]:
        inner[key] = inner = copy.copy(inner[key])
    inner[path[-1]] = new
    return result


def at(certificate: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        certificate = certificate[key]
    return certificate


def is_true(certificate: Any) -> bool:
    """Whether the naive twin finds the certificate true, with few runs: they are slow, and there are many changes."""
    return (
        naive.tree_is_true(certificate, runs=25) if certificate["kind"] == "tree" else naive.fold_is_true(certificate)
    )


WHOLE = {**made.TREES, **{f"fold: {name}": make for name, make in made.FOLDS.items()}}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.slow
def test_every_single_change_is_refused_or_leaves_it_true(name: str) -> None:
    """What is still accepted is decided by the naive twin, which shares nothing with the checker."""
    certificate = WHOLE[name]()
    tried = passed = 0
    for path in places(certificate):
        for new in changes(at(certificate, path)):
            tried += 1
            other = changed(certificate, path, new)
            if accepted(other):
                passed += 1
                assert is_true(other), (path, new)
    assert tried > 200
    assert passed < tried / 8


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.slow
def test_pairs_of_changes_are_refused_or_leave_it_true(data: st.DataObject) -> None:
    certificate = WHOLE[data.draw(st.sampled_from(sorted(WHOLE)))]()
    for _ in range(2):
        path = data.draw(st.sampled_from(list(places(certificate))))
        certificate = changed(certificate, path, data.draw(st.sampled_from(changes(at(certificate, path)))))
    if accepted(certificate):
        assert is_true(certificate)


def test_dropping_any_leaf_is_refused() -> None:
    for make in made.TREES.values():
        whole = make()
        for number, node in enumerate(whole["nodes"]):
            if "leaf" in node:
                certificate = copy.deepcopy(whole)
                del certificate["nodes"][number]
                assert not accepted(certificate)
