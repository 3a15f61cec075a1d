"""Which certificates keep a checker busy? Small files, and far more work than their size."""

from __future__ import annotations

from typing import Any

from support import made_certificates as made
from support import made_releases


def heavy(queries: int = 60, depth: int = 50, coefficient: str = "12345678901234567/1000000007") -> Any:
    """Every shift keeps every row, so that all of the work is done: some 360,000 products of long fractions."""
    row = {f"{letter}{number}": coefficient for letter in "qh" for number in range(queries)}
    nodes = [made.draw("laplace", "1", number + 1) for number in range(queries)]
    nodes += [{"compare": row, "<": queries + at + 1, ">=": queries + depth + at + 1} for at in range(depth)]
    axes = [["1" if at == number else "0" for at in range(queries)] for number in range(queries)]
    nodes.append({"leaf": ["none"], "shifts": [{"difference": axis, "shift": ["-1"] * queries} for axis in axes]})
    nodes += [{"dead": [[0, "1"]]}] * depth
    return made.tree(queries, "60", nodes, movement="norm=1")


def many_answers() -> Any:
    """One comparison of 60 answers has 2^60 worst differences."""
    row = {f"{letter}{number}": ["1", "-1"][number % 2] for letter in "qh" for number in range(60)}
    nodes = [*(made.draw("laplace", "1", number + 1) for number in range(60)), {"compare": row, "<": 61, ">=": 62}]
    return made.tree(60, "1", [*nodes, *({"leaf": ["none"], "shifts": []} for _ in range(2))])


def many_vectors() -> Any:
    """Thirty branches of a value have 900 pairs, of twenty values."""
    nodes = []
    for number in range(29):
        nodes.append({"compare": {"q0": "1", "1": str(number + 1)}, "<": 2 * number + 1, ">=": 2 * number + 2})
        nodes.append({"leaf": ["float", {"q0": "1", "1": str(number + 1)}]})
    value = {"nodes": [*nodes, {"leaf": ["float", {"q0": "-1"}]}], "pairs": [[[k, "1"] for k in range(60)]] * 900}
    one = made.tree(50, "1", [made.draw("laplace", "1", 1), {"leaf": ["float", made.e("q0 + h0")], "shifts": []}])
    return one | {"values": [value] * 7}


def long_fractions() -> Any:
    primes = [each for each in range(10**6, 10**6 + 800) if all(each % other for other in range(2, 1_001))]
    leaves = [{"dead": [[0, f"1/{prime}"] for prime in primes]}, {"dead": [[0, "1"]]}]
    return made.tree(1, "1", [made.draw("laplace", "1", 1), {"compare": made.e("q0 + h0"), "<": 2, ">=": 3}, *leaves])


def late_boundaries(draws: int = 400, ways: int = 80) -> Any:
    """Conditions that name the last of many draws alone, each of which is looked at for every dead end below it."""
    last = f"h{draws - 1}"
    leaf = {"leaf": ["none"], "shifts": [{"difference": ["-1"], "shift": ["0"] * draws}]}
    nodes = [*(made.draw("laplace", "1", number + 1) for number in range(draws))]
    nodes += [{"compare": {last: "1", "1": "1"}, ">": draws + 1, "<=": draws + 2}, leaf]
    for way in range(ways):
        at = len(nodes)
        nodes += [{"compare": {last: "1", "1": str(-way - 1)}, ">": at + 1, "<=": at + 2}]
        nodes += [{"dead": [[0, "1"], [way + 1, "1"]]}]
    return made.tree(1, "0", [*nodes, leaf])


def many_classes(leaves: int = 200, classes: int = 100, vector: int = 20) -> Any:
    """Leaves in a row; each class is held against every other leaf, by a vector that counts many conditions."""
    nodes = [made.draw("laplace", "1", 1)]
    for number in range(leaves - 1):
        nodes.append({"compare": made.e(f"q0 + h0 - {number + 1}"), "<": 2 * number + 2, ">=": 2 * number + 3})
        shifted = made.leaf(["int", {"1": str(number + 1)}], ("-1", "1"), ("1", "-1"))
        nodes.append({"leaf": shifted["leaf"], "class": number} if number < classes else shifted)
    nodes.append(made.leaf(["int", {}], ("-1", "1")))
    ends = [*range(2, 2 * leaves - 1, 2), 2 * leaves - 1]
    merged = [
        {
            "hull": [[{"1": str(number + 1), "q0": "-1", "h0": "-1"}, ">"]],
            "inside": [{"leaf": 2 * number + 2, "reasons": [[[number, "1"], [number + 1, "1"]]]}],
            "apart": [
                {"leaf": end, "reason": [[k, "1"] for k in range(vector)]} for end in ends if end != 2 * number + 2
            ],
            "shifts": [{"difference": ["1"], "shift": ["-1"]}],
        }
        for number in range(classes)
    ]
    return made.tree(1, "1", nodes, merged)


def merged_argmax(many: int = 60) -> Any:
    """Every way of an argmax is a class of its own."""
    nodes = [made.draw("laplace", "1", number + 1) for number in range(many)]
    values = [made.e(f"q{number} + h{number}") for number in range(many)]
    nodes.append({"argmax": values, "then": [many + 1 + number for number in range(many)]})
    nodes += [{"leaf": ["int", {"1": str(number + 1)}], "class": number} for number in range(many)]
    vector = [[k, "1"] for k in range(many)]
    merged = [
        {
            "hull": [],
            "inside": [{"leaf": many + 1 + number, "reasons": []}],
            "apart": [{"leaf": many + 1 + other, "reason": vector} for other in range(many) if other != number],
            "shifts": [],
        }
        for number in range(many)
    ]
    return made.tree(many, "1", nodes, merged)


def many_couplings(many: int = 900) -> Any:
    """Each coupling looks for its links among all of them."""
    one = made.fold_changes()
    for case in one["cases"]:
        case["couplings"] += [case["couplings"][2]] * many
    for lists in one["states"][0]["step"][1]["shifts"]:
        lists[:0] = [made.link(number + 3, "0", "0", number + 3) for number in range(many)]
    return one


def many_odds(many: int = 40) -> Any:
    """Each release has a logarithm of its own."""
    releases = [
        made_releases.release("randomised_response", "1", made_releases.OLD, probability=f"1/{number + 7}")
        for number in range(many)
    ]
    return made_releases.certificate(releases, "1", relation="replace")
