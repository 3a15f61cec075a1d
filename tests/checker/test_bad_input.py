"""Does every text and object get a sentence, soon? Floats, huge inputs, deep nesting, junk in every place."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import made_certificates as made

from dpaudit.checker import CertificateError, check_certificate, check_text

SECONDS = 20  # generous: the machine may be busy; what hangs takes far longer


def refused(certificate: Any, words: str = ".") -> None:
    start = time.perf_counter()
    with pytest.raises(CertificateError, match=words):
        check_certificate(certificate)
    assert time.perf_counter() - start < SECONDS


def laplace(*path: Any, value: Any) -> Any:
    """The Laplace certificate with one value replaced."""
    certificate = made.laplace()
    inner = certificate
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return certificate


@pytest.mark.parametrize("make", [*made.TREES.values(), *made.FOLDS.values()])
def test_a_text_is_read_as_its_object(make: Callable[[], Any]) -> None:
    text = json.dumps(make())
    assert check_text(text) == check_text(text.encode()) == check_certificate(make())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("[", "no JSON"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        (b"\xff\xfe\xff", "no JSON"),
        ('{"format": 1.0}', "float"),
        ('{"format": NaN}', "float"),
        ('{"format": 1, "format": 1}', "twice"),
        ('{"format": ' + "1" * 5000 + "}", "12 digits"),
        ("[" * 100_000 + "]" * 100_000, "nested"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested"),
        (" " * (16 * 2**20 + 1), "longer"),
    ],
)
def test_a_bad_text_is_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        check_text(text)


@pytest.mark.parametrize(
    "number",
    [
        *(1, 1.0, True, None, [], {}, "", " 1", "1 ", "+1", "01", "-0", "1/1", "2/2", "4/2", "1/0", "1/-1", "--1"),
        *("0/3", "1e3", "1.0", "0.5", "nan", "inf", "١", "1_0", "1\n", "1" * 61, "1/" + "3" * 61, "9" * 10**6),
    ],
)
def test_a_rational_is_a_text_in_lowest_terms(number: Any) -> None:
    for path in (
        ("nodes", 0, "scale"),
        ("nodes", 1, "leaf", 1, "q0"),
        ("nodes", 1, "shifts", 0, "shift", 0),
        ("nodes", 1, "shifts", 0, "difference", 0),
        ("bound",),
    ):
        refused(laplace(*path, value=number), "rational in lowest terms")


@pytest.mark.parametrize(
    "name", ["q1", "q-1", "q01", "q", "h1", "h00", "Q0", "q0 ", "s0", "x", "", "0", "h٠", "q" * 9999]
)
def test_a_variable_has_one_name(name: str) -> None:
    refused(laplace("nodes", 1, "leaf", 1, value={"q0": "1", name: "1"}), "no variable")


def test_numbers_that_count_are_whole_numbers_of_a_range() -> None:
    for field in ("length", "group"):
        for value in (0, -1, 1.0, True, "1", None, 10**6, 10**4000):
            refused(laplace("scope", field, value=value), "whole number")
    for value in (0, -1, 2, 1.0, True, "1", None, 10**4000):
        refused(laplace("nodes", 0, "then", value=value))
    refused(laplace("version", value=True), "version")
    refused(laplace("version", value=2), "version 1")
    refused(laplace("scope", "length", value="any"), "whole number")


def test_the_scope_is_one_that_is_known() -> None:
    for field, value in (("movement", "norm=2"), ("movement", "two"), ("values", "complex"), ("data", "records")):
        refused(laplace("scope", field, value=value), "scope")
        refused(laplace("scope", field, value=[]), "scope")
    for parameters in ([], None, {"epsilon": 1}, {"epsilon": 0.5}):
        refused(laplace("scope", "parameters", value=parameters), "parameter")


def test_nodes_form_one_tree() -> None:
    certificate = made.noisy_max()
    for at, field, value in ((2, "<=", 3), (1, "then", 1), (1, "then", 0), (1, "then", 3), (2, ">", 5)):
        other = copy.deepcopy(certificate)
        other["nodes"][at][field] = value
        refused(other, "node")
    shared = copy.deepcopy(certificate)
    shared["nodes"][2]["<="] = 3
    del shared["nodes"][4]
    refused(shared, "free to be its child")
    shared["nodes"][2]["<="] = 2
    refused(shared, "free to be its child")
    certificate["nodes"].append(made.laplace()["nodes"][1])
    refused(certificate, "no earlier node leads to it")


def test_listed_twice_is_refused() -> None:
    certificate = made.three_ways()
    certificate["nodes"][8]["dead"] = [[2, "1/2"], [2, "1/2"], [4, "1"]]
    refused(certificate, "must rise")
    certificate = made.laplace()
    certificate["nodes"][1]["shifts"].append(certificate["nodes"][1]["shifts"][0])
    refused(certificate, "twice")
    certificate = made.fold_prefix_sum()
    shifts = certificate["states"][0]["step"][1]["shifts"][0]
    shifts.append(shifts[0])
    refused(certificate, "twice")
    certificate = made.merged_max()
    certificate["classes"][0]["apart"].append(certificate["classes"][0]["apart"][0])
    refused(certificate, "twice")


# ---- huge ----------------------------------------------------------------------------------------------------


def test_a_deep_output_is_refused() -> None:
    deep: Any = ["none"]
    for _ in range(100_000):
        deep = ["list", deep]
    refused(laplace("nodes", 1, "leaf", value=deep), "levels")
    circle: list[Any] = ["list"]
    circle.append(circle)
    refused(laplace("nodes", 1, "leaf", value=circle), "levels")
    wide: Any = ["none"]
    for _ in range(18):  # small in memory, 2^18 members when it is walked
        wide = ["list", wide, wide]
    refused(laplace("nodes", 1, "leaf", value=wide), "members")
    while True:  # undo the nesting step by step: Python's own clean-up of it must not overflow either
        if deep == ["none"]:
            break
        deep = deep[1]


def test_too_many_nodes_are_refused() -> None:
    refused(laplace("nodes", value=[{}] * 100_001), "100,001 members")
    draws = [made.draw("laplace", "1", j + 1) for j in range(2_000)]
    refused(laplace("nodes", value=[*draws, made.leaf(["none"])]), "1,000 draws on a path")


@pytest.mark.slow
def test_a_long_path_is_checked_or_given_up_soon() -> None:
    nodes = [made.draw("laplace", "1", 1)]
    for j in range(20_000):
        at = len(nodes)
        nodes += [
            {"compare": {"h0": "1", "1": str(j + 1)}, "<": at + 1, ">=": at + 2},
            made.leaf(["none"], ("-1", "0")),
        ]
    nodes.append(made.leaf(["none"], ("-1", "0")))
    refused(made.tree(1, "0", nodes), "steps")


def test_a_wide_argmax_is_given_up_soon() -> None:
    width = 1_000
    nodes = [
        made.draw("laplace", "1", 1),
        {"argmax": [{"h0": str(j + 1)} for j in range(width)], "then": list(range(2, width + 2))},
        *(made.leaf(["none"], ("-1", "0")) for _ in range(width)),
    ]
    refused(made.tree(1, "0", nodes), "steps")


def test_too_many_worst_differences_are_refused() -> None:
    total = {f"q{j}": "1" for j in range(1_000)}
    certificate = laplace("nodes", 1, "leaf", value=["float", {**total, "h0": "1"}])
    certificate["scope"]["length"], certificate["nodes"][1]["shifts"] = 1_000, []
    refused(certificate, "worst differences")
    certificate["scope"] |= {"movement": "norm=1", "group": 1_000, "values": "integer"}
    certificate["nodes"][0]["draw"] = "discrete_laplace"
    refused(certificate, "worst differences|steps")


def test_fractions_without_a_common_denominator_are_refused() -> None:
    primes = [p for p in range(10**6, 10**6 + 3_000) if all(p % d for d in range(2, 1_100))]
    expression = {f"q{j}": f"1/{p}" for j, p in enumerate(primes)}
    certificate = laplace("nodes", 1, "leaf", value=["float", {**expression, "h0": "1"}])
    certificate["scope"]["length"] = len(primes)
    refused(certificate, "common denominator|worst")
    certificate["nodes"][1]["leaf"] = ["none"]
    certificate["nodes"][1]["shifts"] = [{"difference": [f"1/{p}" for p in primes], "shift": ["0"]}]
    refused(certificate, "common denominator")


@pytest.mark.slow
def test_large_farkas_vectors_are_checked_soon() -> None:
    """A class that lies apart from 500 leaves, by vectors that use every condition above them, with long numbers."""
    depth, long = 500, "9" * 60
    nodes: list[Any] = [
        made.draw("laplace", "1", 1),
        {"compare": {"h0": long}, ">": 2, "<=": 3},
        {"leaf": ["none"], "class": 0},
    ]
    for j in range(depth):
        at = len(nodes)
        end = made.leaf(["none"], ("-1", "0"))
        nodes += [{"compare": {"h0": long, "1": str(j + 1)}, "<": at + 1, ">=": at + 2}, end]
        nodes[at] = nodes[at] | {"<": at + 2, ">=": at + 1}
    nodes.append(made.leaf(["none"], ("-1", "0")))
    apart = []
    for number, node in enumerate(nodes):
        if "shifts" in node:
            above = min((number - 2) // 2, depth) - (0 if number == len(nodes) - 1 else 1)
            multiplier = 10**50 + number
            vector = [[j, str(multiplier)] for j in range(1, above + 2)]
            apart.append({"leaf": number, "reason": [[0, str(multiplier * (above + 1))], *vector]})
    entry = {
        "hull": [[{"h0": long}, ">"]],
        "inside": [{"leaf": 2, "reasons": [[[0, "1"], [1, "1"]]]}],
        "apart": apart,
        "shifts": [{"difference": ["-1"], "shift": ["0"]}],
    }
    start = time.perf_counter()
    assert check_certificate(made.tree(1, "0", nodes, [entry])).bound == 0
    assert time.perf_counter() - start < SECONDS


def test_many_states_and_cases_are_checked_soon() -> None:
    certificate = made.fold_monotone()
    certificate["scope"]["group"] = 1_000
    certificate["cases"] = [certificate["cases"][0]] * 1_001
    refused(certificate, "shifts must be listed for each of the 1001 cases")
    certificate["states"] = certificate["states"] * 10_001
    refused(certificate, "10,001 members")


# ---- junk ----------------------------------------------------------------------------------------------------

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["0", "1", "q0", "h0"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3) | st.just("leaf"), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.slow
def test_junk_in_any_place_gets_a_sentence(data: st.DataObject) -> None:
    makes = [*made.TREES.values(), *made.FOLDS.values()]
    certificate = copy.deepcopy(data.draw(st.sampled_from(makes))())
    inner = certificate
    while True:
        keys = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or not inner[key] or data.draw(st.integers(0, 5)) == 0:
            break
        inner = inner[key]
    inner[key] = data.draw(JUNK)
    try:
        check_certificate(certificate)
        said = "accepted"
    except CertificateError as error:
        said = str(error)
    assert 0 < len(said) < 600
