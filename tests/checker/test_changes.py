"""Is every certificate refused in which anything was changed, unless it stays true?"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import made_certificates as made
from support import naive_checker as naive
from support.changes import at, changed, changes, places
from support.made_certificates import accepted
from support.nightly import mostly_at_night


def is_true(certificate: Any) -> bool:
    """Whether the naive twin finds the certificate true, with few runs: they are slow, and there are many changes."""
    return (
        naive.tree_is_true(certificate, runs=25) if certificate["kind"] == "tree" else naive.fold_is_true(certificate)
    )


WHOLE = {**made.TREES, **{f"fold: {name}": make for name, make in made.FOLDS.items()}}


@pytest.mark.parametrize("name", mostly_at_night(WHOLE, every=5))
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
