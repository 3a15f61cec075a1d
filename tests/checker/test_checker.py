"""Does the checker accept true certificates, and only those? Proofs by hand, and forgeries."""

from __future__ import annotations

import copy
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from support import made_certificates as made
from support import naive_checker as naive
from support.made_certificates import accepted

from dpaudit.checker import CertificateError, Checked, ForgedError, check_certificate


def refused(certificate: Any, words: str) -> None:
    with pytest.raises(ForgedError, match=words):
        check_certificate(certificate)


def refused_by_form(certificate: Any, words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        check_certificate(certificate)


@pytest.mark.parametrize("name", made.TREES)
@pytest.mark.slow
def test_a_tree_by_hand_is_accepted_and_its_naive_twin_agrees(name: str) -> None:
    certificate = made.TREES[name]()
    checked = check_certificate(certificate)
    assert isinstance(checked, Checked)
    assert checked.bound == Fraction(certificate["bound"])
    assert naive.tree_is_true(certificate)
    assert f"ε ≤ {checked.bound} " in checked.sentences[0]


@pytest.mark.parametrize("name", made.FOLDS)
def test_a_fold_by_hand_is_accepted_and_its_naive_twin_agrees(name: str) -> None:
    certificate = made.FOLDS[name]()
    assert check_certificate(certificate).bound == Fraction(certificate["bound"])
    assert naive.fold_is_true(certificate, 4)


def test_a_checked_certificate_is_not_changed_and_says_its_scope() -> None:
    certificate = made.merged_max()
    before = copy.deepcopy(certificate)
    checked = check_certificate(certificate)
    assert certificate == before
    assert checked.scope == before["scope"]
    assert checked.mechanism == before["mechanism"]


# ---- the three forgeries that a first checker accepted -------------------------------------------------------


def test_forgery_bound_zero_with_emptied_lists() -> None:
    """ε = 0 with hull, inside and apart emptied: a loop over pairs of lists ends with the shorter one."""
    certificate = made.merged_max()
    certificate["bound"] = "0"
    entry = certificate["classes"][0]
    entry["hull"], entry["inside"], entry["apart"] = [], [], []
    refused(certificate, "not listed")
    entry["inside"] = [{"leaf": 7, "reasons": []}, {"leaf": 9, "reasons": []}]
    refused(certificate, "not listed")
    entry["apart"] = [{"leaf": 8, "reason": []}, {"leaf": 10, "reason": []}]
    with pytest.raises(CertificateError):
        check_certificate(certificate)
    for entry in (certificate["classes"][0], *(certificate["nodes"][at] for at in (8, 10))):
        entry["shifts"] = []
    with pytest.raises(CertificateError):
        check_certificate(certificate)


def test_forgery_released_outputs_emptied() -> None:
    """What a class releases is taken from its leaves; a class cannot say that it releases nothing."""
    certificate = made.tree(
        1,
        "0",
        [
            made.draw("laplace", "1", 1),
            {"compare": made.e("h0"), ">": 2, "<=": 3},
            {"leaf": ["float", made.e("q0 + h0")], "class": 0},
            {"leaf": ["float", made.e("q0 + h0")], "class": 0},
        ],
        [
            {
                "hull": [],
                "inside": [{"leaf": 2, "reasons": []}, {"leaf": 3, "reasons": []}],
                "apart": [],
                "shifts": [{"difference": [d], "shift": ["0"]} for d in ("-1", "1")],
            }
        ],
    )
    refused(certificate, "does not keep the released expression")
    certificate["classes"][0]["couts"] = []
    with pytest.raises(CertificateError, match="unknown field"):
        check_certificate(certificate)
    del certificate["classes"][0]["couts"]
    certificate["nodes"][3]["leaf"] = ["list"]
    refused(certificate, "different outputs")
    certificate["nodes"][3]["leaf"] = ["float", made.e("q0 + h0")]
    certificate["bound"], certificate["classes"][0]["shifts"] = "1", made.laplace()["nodes"][1]["shifts"]
    assert check_certificate(certificate).bound == 1


def test_forgery_negative_scale() -> None:
    """Σ|d|/b falls below zero with a negative b."""
    for scale, bound in (("-1", "-1"), ("-1", "0"), ("-2", "-1/2"), ("0", "0")):
        certificate = made.laplace()
        certificate["nodes"][0]["scale"], certificate["bound"] = scale, bound
        refused(certificate, "scale must be positive")


# ---- changes that make a certificate false -------------------------------------------------------------------


def test_a_lowered_or_raised_bound_is_refused() -> None:
    for make in (*made.TREES.values(), *made.FOLDS.values()):
        for change in (Fraction(-1, 100), Fraction(1, 100)):
            certificate = make()
            certificate["bound"] = str(Fraction(certificate["bound"]) + change)
            refused(certificate, "the shifts show the bound")


@pytest.mark.parametrize("name", ["laplace", "noisy max", "gap", "sparse vector", "integers", "norm", "monotone"])
def test_a_larger_group_is_refused(name: str) -> None:
    certificate = made.TREES[name]()
    certificate["scope"]["group"] += 1
    refused(certificate, "no shift is given")


def test_a_wider_relation_is_refused() -> None:
    certificate = made.monotone()
    certificate["scope"]["movement"] = "all"
    refused(certificate, "no shift is given")
    certificate = made.norm()
    certificate["scope"]["movement"] = "all"
    refused(certificate, "no shift is given")
    certificate = made.fold_prefix_sum()
    certificate["scope"]["movement"] = "all"
    with pytest.raises(CertificateError, match="allowance"):
        check_certificate(certificate)
    certificate["cases"][0]["allowances"] = [["1"]]
    refused(certificate, "does not cover")


def test_a_group_of_monotone_steps_may_go_up_and_down() -> None:
    """Two steps, one up and one down, lie in the box [−1, 1]^n, in neither [0, 2]^n nor [−2, 0]^n."""
    certificate = made.monotone()
    certificate["scope"]["group"], certificate["bound"] = 2, "2"
    for at, far in ((3, (("0 -2", "0 2"), ("2 0", "0 2"))), (4, (("-2 0", "2 0"), ("0 2", "2 0")))):
        certificate["nodes"][at] = made.leaf(certificate["nodes"][at]["leaf"], *far)
    refused(certificate, "no shift is given")
    for at, middle in ((3, ("1 -1", "0 2")), (4, ("-1 1", "2 0"))):
        certificate["nodes"][at]["shifts"] += made.leaf([], middle)["shifts"]
    assert check_certificate(certificate).bound == 2


def test_integer_noise_proves_nothing_of_real_data() -> None:
    certificate = made.integers()
    certificate["scope"]["values"] = "real"
    refused(certificate, "data that are real")


def test_integer_noise_needs_every_whole_difference_and_whole_shifts() -> None:
    certificate = made.integers(2)
    del certificate["nodes"][1]["shifts"][1]
    refused(certificate, r"no shift is given for the difference \(-1\)")
    certificate = made.integers()
    certificate["nodes"][1]["leaf"] = ["none"]
    certificate["nodes"][1]["shifts"] = [{"difference": ["-1"], "shift": ["1/2"]}]
    certificate["bound"] = "1/6"
    refused(certificate, "integer noise")


def test_whole_points_of_a_sum_hold_those_that_are_no_vertices() -> None:
    """Σ|δ| ≤ 2 with integer noise: (1, 1), (0, 1) and 0 count beside the vertices."""
    nodes = [
        made.draw("discrete_laplace", "1", 1),
        made.draw("discrete_laplace", "1", 2),
        made.leaf(
            ["list", ["int", made.e("q0 + h0")], ["int", made.e("q1 + h1")]],
            *((f"{a} {b}", f"{-a} {-b}") for a in range(-2, 3) for b in range(-2, 3) if abs(a) + abs(b) <= 2),
        ),
    ]
    certificate = made.tree(2, "2", nodes, movement="norm=1", group=2, values="integer")
    assert check_certificate(certificate).bound == 2
    for gone in range(len(nodes[2]["shifts"])):
        without = copy.deepcopy(certificate)
        del without["nodes"][2]["shifts"][gone]
        refused(without, "no shift is given")


@pytest.mark.parametrize("method", ["exponential", "gumbel"])
def test_one_sided_noise_is_never_shifted_down(method: str) -> None:
    """The same shifts that Laplace noise allows: down for the losers."""
    certificate = made.argmax(method)
    for at, shift in ((4, "1 -1 -1"), (5, "-1 1 -1"), (6, "-1 -1 1")):
        certificate["nodes"][at]["shifts"][0]["shift"] = shift.split()
    certificate["bound"] = "3/2"
    refused(certificate, "must not be shifted down")
    for node in certificate["nodes"][:3]:
        node["draw"] = "laplace"
    assert check_certificate(certificate).bound == Fraction(3, 2)


def test_uniform_noise_is_never_shifted() -> None:
    certificate = made.three_ways()
    certificate["nodes"][6]["shifts"][0]["shift"] = ["1", "-1/4"]
    refused(certificate, "uniform noise")


def test_merged_leaves_with_different_draws_are_refused() -> None:
    certificate = made.merged_max()
    certificate["nodes"][4]["scale"] = "3"
    refused(certificate, "different draws")


def test_merged_classes_need_one_support_for_each_draw() -> None:
    certificate = made.merged_max()
    certificate["nodes"][3]["draw"] = "exponential"
    refused(certificate, "same support")
    # draws of other leaves only, which the class never makes, must not differ either
    certificate = made.merged_max()
    certificate["nodes"] += [
        made.draw("uniform", "1", 13),
        made.draw("laplace", "2", 14),
        made.leaf(["int", {"1": "1"}], ("1 -1 1", "0 2 0 0")),
        made.leaf(["int", {}], ("-1 1 1", "2 0 0 0")),
    ]
    certificate["nodes"][5]["<="], certificate["nodes"][6]["<="] = 8, 10
    certificate["nodes"][8], certificate["nodes"][10] = made.draw("uniform", "1", 11), made.draw("laplace", "2", 12)
    certificate["nodes"][11:] = certificate["nodes"][13:]
    certificate["classes"][0]["apart"] = [
        {"leaf": 11, "reason": [[1, "1"], [3, "1"]]},
        {"leaf": 12, "reason": [[0, "1"], [3, "1"]]},
    ]
    refused(certificate, "same support")
    certificate["nodes"][10]["draw"] = "uniform"
    refused(certificate, "same support")  # [0, 1) and [0, 2)
    certificate["nodes"][10]["scale"] = "1"
    assert check_certificate(certificate).bound == 1


def test_each_condition_of_a_hull_has_its_reason() -> None:
    """A hull that is too small makes a class too cheap; a loop that ends with the shorter list would not see it."""
    certificate = made.merged_max()
    entry = certificate["classes"][0]
    for inside in entry["inside"]:
        inside["reasons"].pop()
    refused_by_form(certificate, "1 members, between 2 and 2")
    certificate = made.merged_max()
    certificate["classes"][0]["inside"][0]["reasons"].append([[0, "1"]])
    refused_by_form(certificate, "3 members, between 2 and 2")


def test_lists_of_leaves_hold_the_leaves_that_belong_there() -> None:
    for name, number in (("inside", 8), ("inside", 99), ("apart", 7), ("apart", 99)):
        certificate = made.merged_max()
        entry = certificate["classes"][0]
        entry[name].append(copy.deepcopy(entry[name][0]) | {"leaf": number})
        refused(certificate, "does not belong there")


def test_a_class_has_leaves() -> None:
    certificate = made.laplace()
    certificate["classes"] = [{"hull": [], "inside": [], "apart": [], "shifts": []}]
    refused_by_form(certificate, "no leaf belongs to it")


def test_a_null_leaf_has_no_shifts() -> None:
    certificate = made.three_ways()
    certificate["nodes"][3]["shifts"] = []
    refused_by_form(certificate, "it is null")


def test_a_hull_speaks_of_its_own_draws_only() -> None:
    certificate = made.merged_max()
    certificate["classes"][0]["hull"][0][0]["h3"] = "1"
    refused_by_form(certificate, "class 0: the hull: there is no variable 'h3'")


def test_conditions_speak_of_draws_above_them_only() -> None:
    certificate = made.sparse_vector()
    certificate["nodes"][2]["compare"]["h2"] = "1"
    with pytest.raises(CertificateError, match="no variable 'h2'"):
        check_certificate(certificate)


def test_a_null_leaf_is_one_only_by_a_continuous_draw() -> None:
    """With integer noise, or none, a tie has a probability; it needs its shifts."""
    certificate = made.three_ways()
    certificate["nodes"][0]["draw"] = "discrete_laplace"
    certificate["scope"]["values"] = "integer"
    refused(certificate, "leaf 3: it has shifts of its own or a class")
    certificate["nodes"][0]["draw"], certificate["nodes"][1]["compare"] = "laplace", {"q0": "1"}
    refused(certificate, "leaf 3: it has shifts of its own or a class")
    certificate["nodes"][1]["compare"]["h0"] = "0"  # mentions the draw, and does not depend on it
    refused_by_form(certificate, "zero coefficients are left out")


def test_a_branch_on_the_data_alone_has_no_proof() -> None:
    certificate = made.tree(
        1,
        "0",
        [
            {"compare": {"q0": "1"}, ">": 1, "<=": 2},
            made.leaf(made.TRUE, ("-1", "")),
            made.leaf(made.FALSE, ("1", "")),
        ],
    )
    refused(certificate, "does not keep the condition")


def test_a_boundary_of_positive_probability_is_no_contradiction() -> None:
    """[h ≥ 0 and −h ≥ 0] is a single point: nothing for Laplace noise, much for integer noise."""
    nodes = [
        made.draw("laplace", "1", 1),
        {"compare": made.e("h0"), ">=": 2, "<": 5},
        {"compare": made.e("h0"), "<=": 3, ">": 4},
        {"dead": [[0, "1"], [1, "1"]]},
        made.leaf(made.TRUE, ("-1", "0")),
        made.leaf(made.FALSE, ("-1", "0")),
    ]
    certificate = made.tree(1, "0", nodes, values="integer")
    assert check_certificate(certificate).bound == 0
    certificate["nodes"][0]["draw"] = "discrete_laplace"
    refused(certificate, "no contradiction")


def small(branch: Any, second: Any, dead: int, below: int) -> Any:
    """A constant output after one discrete draw: ``branch`` first, then ``second`` in one of its ways, one way dead."""
    others = [made.leaf(made.TRUE, ("-1", "0")) for _ in range(4)]
    nodes = [made.draw("discrete_laplace", "1", 1), branch, *others]
    nodes[below] = second
    nodes[dead] = {"dead": [[0, "1"], [1, "1"]]}
    return made.tree(1, "0", nodes, values="integer")


@pytest.mark.parametrize(
    ("way", "other", "strict"),
    [("<", ">=", True), ("<=", ">", False), (">", "<=", True), (">=", "<", False)],
)
def test_strictness_counts_for_integer_noise(way: str, other: str, strict: bool) -> None:
    """h0 < 0 leaves nothing of h0 ≥ 0, but h0 ≤ 0 leaves 0; and so for the way of an argmax that wins a tie."""
    again = {"<": ("<", ">="), "<=": ("<", ">="), ">": ("<=", ">"), ">=": ("<=", ">")}[way]
    dead = again[1] if way[0] == "<" else again[0]
    live = again[0] if way[0] == "<" else again[1]
    branch = {"compare": made.e("h0"), way: 2, other: 3}
    certificate = small(branch, {"compare": made.e("h0"), dead: 4, live: 5}, 4, 2)
    assert accepted(certificate) == strict
    values = [{}, made.e("h0")] if way[0] == "<" else [made.e("h0"), {}]
    if way in ("<=", ">="):  # the first of two equals wins, so the first value's way is not strict
        certificate = small({"argmax": values, "then": [2, 3]}, {"compare": made.e("h0"), dead: 4, live: 5}, 4, 2)
        assert not accepted(certificate)
    else:
        certificate = small({"argmax": values[::-1], "then": [3, 2]}, {"compare": made.e("h0"), dead: 4, live: 5}, 4, 2)
        assert accepted(certificate)


@pytest.mark.parametrize(
    ("way", "hull", "inside"), [(">=", ">=", True), (">", ">=", True), (">", ">", True), (">=", ">", False)]
)
def test_the_boundary_of_a_hull_counts_for_integer_noise(way: str, hull: str, inside: bool) -> None:
    other = "<" if way == ">=" else "<="
    certificate = made.tree(
        1,
        "0",
        [
            made.draw("discrete_laplace", "1", 1),
            {"compare": made.e("h0"), way: 2, other: 3},
            {"leaf": made.TRUE, "class": 0},
            made.leaf(made.FALSE, ("-1", "0")),
        ],
        [
            {
                "hull": [[made.e("h0"), hull]],
                "inside": [{"leaf": 2, "reasons": [[[0, "1"], [1, "1"]]]}],
                "apart": [{"leaf": 3, "reason": [[0, "1"], [1, "1"]]}],
                "shifts": [{"difference": ["-1"], "shift": ["0"]}],
            }
        ],
        values="integer",
    )
    # the leaf lies in the hull, and the hull apart from the other leaf: both only if the boundary is on one side
    assert accepted(certificate) == (inside and (way, hull) != (">", ">="))


def test_farkas_multipliers_of_inequalities_are_positive() -> None:
    certificate = made.three_ways()
    certificate["nodes"][8]["dead"] = [[2, "-1"], [4, "-1"]]
    refused(certificate, "not positive")
    certificate["nodes"][8]["dead"] = [[2, "1"]]
    refused(certificate, "no contradiction")


def test_a_cycle_that_costs_has_no_allowances() -> None:
    """Noise that is not scaled with the positives, without a limit: each positive costs, and may come again."""
    certificate = made.fold_sparse_vector()
    certificate["states"][0]["step"][2]["next"] = 0
    for allowance in ("1/2", "5", "1000000"):
        certificate["cases"][0]["allowances"][0] = [allowance]
        certificate["bound"] = str(Fraction(allowance) + Fraction(1, 2))
        refused(certificate, "does not cover")


def test_a_fold_with_negative_allowances_is_refused() -> None:
    certificate = made.fold_sparse_vector()
    certificate["cases"][0]["allowances"] = [["-1/2"], ["-3/4"]]
    certificate["bound"] = "0"
    refused(certificate, "is negative")


@pytest.mark.parametrize("name", made.FOLDS)
def test_a_lowered_allowance_is_refused(name: str) -> None:
    """Every allowance by hand is the length of a longest path; a lower one fails, with the old bound or its own."""
    for case, entry in enumerate(made.FOLDS[name]()["cases"]):
        for state, allowances in enumerate(entry["allowances"]):
            for place, allowance in enumerate(allowances):
                for new in {Fraction(0), Fraction(allowance) / 2} - {Fraction(allowance)}:
                    certificate = made.FOLDS[name]()
                    certificate["cases"][case]["allowances"][state][place] = str(new)
                    for lower in (Fraction(0), Fraction(allowance) - new):
                        other = copy.deepcopy(certificate)
                        other["bound"] = str(Fraction(certificate["bound"]) - lower)
                        refused(other, "does not cover")


def test_a_fold_of_integer_noise_needs_integer_data() -> None:
    certificate = made.fold_prefix_sum()
    certificate["states"][0]["step"][0]["draw"] = "discrete_laplace"
    refused(certificate, "data that are real")


def test_a_fold_of_integer_noise_needs_every_whole_difference() -> None:
    certificate = made.fold_second()
    certificate["scope"] |= {"movement": "all", "group": 2, "values": "integer"}
    certificate["bound"], certificate["cases"][0]["allowances"] = "2", [["2"], ["2"]]
    first, (draw, then) = certificate["states"][0]["step"][0], certificate["states"][1]["step"]
    first["shifts"], draw["draw"] = [[{"difference": "-2", "shift": []}]], "discrete_laplace"
    every = [{"difference": str(k), "shift": [str(-k)]} for k in range(-2, 3)]
    then["shifts"] = [every]
    assert check_certificate(certificate).bound == 2
    for gone in range(5):
        then["shifts"] = [every[:gone] + every[gone + 1 :]]
        refused(certificate, "no shift is given")


def test_queries_are_known_in_steps_only() -> None:
    certificate = made.fold_prefix_sum()
    certificate["init"][0]["state"] = [{"x": "1"}]
    refused_by_form(certificate, "no variable 'x'")


def test_nothing_follows_an_end() -> None:
    certificate = made.fold_sparse_vector()
    end = certificate["states"][1]["end"][0]
    end["next"], end["state"] = 1, [{"s0": "1"}]
    refused_by_form(certificate, "nothing follows an end")


def test_a_fold_keeps_its_distances() -> None:
    certificate = made.fold_sparse_vector()
    certificate["init"][1]["shifts"][0][0]["shift"] = ["0"]
    certificate["bound"] = "1/2"
    refused(certificate, "does not keep")
    certificate = made.fold_sparse_vector()
    certificate["cases"][0]["distances"] = ["0"]
    refused(certificate, "does not keep")


def test_a_fold_with_integer_noise_and_a_group_in_sum_is_refused() -> None:
    certificate = made.fold_prefix_sum()
    certificate["states"][0]["step"][0]["draw"] = "discrete_laplace"
    certificate["scope"]["values"] = "integer"
    assert check_certificate(certificate).bound == 1
    certificate["scope"]["group"] = 2
    refused(certificate, "group 1 only")


@pytest.mark.slow
def test_the_checker_imports_nothing_heavy() -> None:
    code = (
        "import sys; import dpaudit.checker; "
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy', 'msgspec', 'z3') "
        "or m.startswith('dpaudit.') and not m.startswith(('dpaudit.checker', 'dpaudit.evidence'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_parts_cover_what_there_is() -> None:
    def forged(change: Any, made_of: Any = made.vector, words: str = ".") -> None:
        certificate = made_of()
        change(certificate, certificate["nodes"][-1]["parts"])
        refused(certificate, words)

    forged(lambda _, parts: parts.pop(), words="every query belongs to one part")
    forged(lambda _, parts: parts[1].update(queries=[0]), words="every query belongs to one part")
    forged(lambda _, parts: parts[0]["shifts"].pop(), words="no shift is given for the difference")
    forged(lambda _, parts: parts[0].update(draws=[1]), words="does not keep")
    forged(lambda all_of, _: all_of.update(bound="1"), words="show the bound 2")
    forged(lambda all_of, _: all_of.update(bound="1"), made.shared, words="show the bound 2")
    # a draw that both release cannot be shifted for one of them alone
    certificate = made.shared()
    certificate["nodes"][-1]["leaf"] = ["list", ["float", {"q0": "1", "h0": "1"}], ["float", {"q1": "1", "h0": "1"}]]
    refused(certificate, "does not keep")
    # of whole numbers whose sum moves by two, one part cannot tell what is left
    certificate = made.vector("one", "discrete_laplace")
    assert accepted(certificate)
    certificate["scope"]["group"] = 2
    refused(certificate, "share no sum")
