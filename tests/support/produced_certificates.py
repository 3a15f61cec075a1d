"""How are larger certificates made for tests? By a small producer for the sparse vector family, one class per leaf."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from support import made_certificates as made
from support import naive_checker as naive

Lin = dict[str, int]


def text(terms: Lin, constant: int = 0) -> Any:
    return {name: str(c) for name, c in ({**terms, "1": constant}).items() if c}


class Nodes:
    """Builds a tree depth first; a mechanism is a chain of functions that return the next node."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []

    def add(self, node: Any) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def draw(self, scale: int, above: int, then: Callable[[str, int], int]) -> int:
        at = self.add({"draw": "laplace", "scale": str(scale)})
        self.nodes[at]["then"] = then(f"h{above}", above + 1)
        return at

    def at_least(self, terms: Lin, level: int, yes: Callable[[], int], no: Callable[[], int]) -> int:
        at = self.add({"compare": text(terms, -level)})
        self.nodes[at] |= {">=": yes(), "<": no()}
        return at


def sparse(length: int, most: int, emit: str = "bool") -> list[Any]:
    """Return the sparse vector technique: Laplace(2), Laplace(4·most); a positive emits True, its gap, or a number."""
    tree = Nodes()

    def query(j: int, count: int, drawn: int, outputs: list[Any]) -> int:
        if j == length or count == most:
            return tree.add({"leaf": ["list", *outputs]})

        def test(v: str, drawn: int) -> int:
            terms = {f"q{j}": 1, v: 1, "h0": -1}

            def yes() -> int:
                if emit == "number":
                    return tree.draw(
                        3 * most,
                        drawn,
                        lambda h, drawn: query(
                            j + 1, count + 1, drawn, [*outputs, ["float", text({f"q{j}": 1, h: 1})]]
                        ),
                    )
                shown = ["bool", True] if emit == "bool" else ["float", text(terms)]
                return query(j + 1, count + 1, drawn, [*outputs, shown])

            return tree.at_least(terms, 0, yes, lambda: query(j + 1, count, drawn, [*outputs, ["bool", False]]))

        return tree.draw((6 if emit == "number" else 4) * most, drawn, test)

    tree.draw(3 if emit == "number" else 2, 0, lambda _, drawn: query(0, 0, drawn, []))
    return tree.nodes


def adaptive(length: int, most: int) -> list[Any]:
    """Return adaptive sparse vector with gap (Ding et al.): two tests for each query, the top one cheaper."""
    tree = Nodes()

    def query(j: int, spent: int, drawn: int, outputs: list[Any]) -> int:
        if j == length or spent > 4 * most - 2:
            return tree.add({"leaf": ["list", *outputs]})

        def first(v: str, drawn: int) -> int:
            top = {f"q{j}": 1, v: 1, "h0": -1}

            def second(w: str, drawn: int) -> int:
                gap = {f"q{j}": 1, w: 1, "h0": -1}
                return tree.at_least(
                    gap,
                    0,
                    lambda: query(j + 1, spent + 2, drawn, [*outputs, ["float", text(gap)]]),
                    lambda: query(j + 1, spent, drawn, [*outputs, ["bool", False]]),
                )

            return tree.at_least(
                top,
                16,
                lambda: query(j + 1, spent + 1, drawn, [*outputs, ["float", text(top)]]),
                lambda: tree.draw(4 * most, drawn, second),
            )

        return tree.draw(8 * most, drawn, first)

    tree.draw(2, 0, lambda _, drawn: query(0, 2 * most, drawn, []))
    return tree.nodes


def certificate(nodes: list[Any], length: int) -> Any:
    """Add the cheapest shifts, by linear programming."""
    bound = Fraction(0)
    for at, conditions, draws in naive.paths(nodes):
        rows = [e for e, _ in conditions]
        released = naive.releases(nodes[at]["leaf"])
        width = len(draws)

        def split(e: Any, width: int = width) -> tuple[Any, Any]:
            return np.array([float(e.get(f"h{j}", 0)) for j in range(width)]), [
                Fraction(e.get(f"q{j}", 0)) for j in range(length)
            ]

        options = []
        for j in range(length):
            signs = {Fraction(e[f"q{j}"]) > 0 for e in rows if f"q{j}" in e}
            both = len(signs) == 2 or any(f"q{j}" in e for e in released)
            options.append((-1, 1) if both else (1,) if signs == {False} else (-1,))
        upper, equal = [split(e) for e in rows], [split(e) for e in released]
        shifts = []
        for point in product(*options):
            moved = [float(sum(c * p for c, p in zip(q, point, strict=True))) for _, q in upper]
            fixed = [-float(sum(c * p for c, p in zip(q, point, strict=True))) for _, q in equal]
            found = linprog(
                [1 / float(scale) for _, scale in draws] * 2,
                A_ub=[np.concatenate([-h, h]) for h, _ in upper] or None,
                b_ub=moved or None,
                A_eq=[np.concatenate([h, -h]) for h, _ in equal] or None,
                b_eq=fixed or None,
                method="highs",
            )
            shift = [Fraction(float(found.x[j] - found.x[width + j])).limit_denominator(10**4) for j in range(width)]
            bound = max(bound, naive.cost(shift, draws))
            shifts.append({"difference": [str(p) for p in point], "shift": [str(s) for s in shift]})
        nodes[at]["shifts"] = shifts
    return made.tree(length, str(bound), nodes)
