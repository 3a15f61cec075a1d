"""Which certificates keep a checker busy? Small files, and far more work than their size."""

from __future__ import annotations

from typing import Any

from support import made_certificates as made


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
