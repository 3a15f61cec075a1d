"""Is the bound of a certificate true? The naive twin of the checker, which takes no short cuts.

It uses no dominance, no Farkas vectors and no allowances, but all vertices of the whole polytope (or all integer
points), every shift listed anywhere in the class, and runs of the tree on points of a grid. It only reads certificates
that the checker has accepted, and may fail on anything else.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

F = Fraction


def value(expression: Any, point: dict[str, F], constant: bool = True) -> F:
    return sum((F(c) * (F(constant) if name == "1" else point[name]) for name, c in expression.items()), F(0))


def releases(output: Any) -> list[Any]:
    """Return all expressions with variables in an output."""
    if isinstance(output, dict):
        return [output] if set(output) - {"1"} else []
    return [found for part in output for found in releases(part)] if isinstance(output, list) else []


def ways(node: Any) -> list[tuple[int, list[tuple[Any, str]]]]:
    """Return the children of a branch, each with its conditions (expression, kind)."""

    def minus(a: Any, b: Any) -> Any:
        return {name: str(F(a.get(name, "0")) - F(b.get(name, "0"))) for name in {*a, *b}}

    if "compare" in node:
        e = node["compare"]
        made = {"<": (minus({}, e), ">"), "<=": (minus({}, e), ">="), ">": (e, ">"), ">=": (e, ">="), "=": (e, "=")}
        return [(child, [made[way]]) for way, child in node.items() if way != "compare"]
    values = node["argmax"]
    return [
        (child, [(minus(values[k], v), ">" if j < k else ">=") for j, v in enumerate(values) if j != k])
        for k, child in enumerate(node["then"])
    ]


def paths(nodes: Any, at: int = 0, conditions: tuple = (), draws: tuple = ()) -> Iterator[tuple[int, tuple, tuple]]:
    """Yield every leaf with the conditions and draws above it."""
    node = nodes[at]
    if "leaf" in node:
        yield at, conditions, draws
    elif "draw" in node:
        yield from paths(nodes, node["then"], conditions, (*draws, (node["draw"], F(node["scale"]))))
    elif "dead" not in node:
        for child, new in ways(node):
            yield from paths(nodes, child, (*conditions, *new), draws)


def holds(condition: tuple[Any, str], point: dict[str, F]) -> bool:
    found = value(condition[0], point)
    return found > 0 if condition[1] == ">" else found >= 0 if condition[1] == ">=" else found == 0


def run(nodes: Any, queries: list[F], draw: Any) -> int | None:
    """Return the leaf in which a run ends; None at a dead end."""
    at, point, drawn = 0, {f"q{j}": q for j, q in enumerate(queries)}, 0
    while "leaf" not in nodes[at]:
        node = nodes[at]
        if "dead" in node:
            return None
        if "draw" in node:
            point[f"h{drawn}"] = draw(drawn, node["draw"], F(node["scale"]))
            drawn, at = drawn + 1, node["then"]
        else:
            (at,) = [child for child, new in ways(node) if all(holds(condition, point) for condition in new)]
    return at


def is_null(conditions: tuple, draws: tuple) -> bool:
    return any(
        kind == "="
        and any(name[0] == "h" and F(c) and draws[int(name[1:])][0] != "discrete_laplace" for name, c in e.items())
        for e, kind in conditions
    )


def boxes(scope: Any) -> list[tuple[int, int]]:
    k = scope["group"]
    return [(up - k, up) for up in range(k + 1)] if scope["movement"] == "monotone" else [(-k, k)]


def points(scope: Any, length: int, discrete: bool) -> Iterator[tuple[int, ...]]:
    """Yield all vertices of the differences, or all integer points."""
    k = scope["group"]
    if scope["movement"] in ("one", "norm=1"):
        for point in product(range(-k, k + 1), repeat=length):
            size = sum(map(abs, point))
            if size <= k and (discrete or (size == k and k in map(abs, point))):
                yield point
    else:
        for low, high in boxes(scope):
            yield from product(range(low, high + 1) if discrete else (low, high), repeat=length)


def allowed(shift: list[F], draws: tuple) -> bool:
    for s, (method, _) in zip(shift, draws, strict=True):
        if (method in ("exponential", "gumbel") and s < 0) or (method == "uniform" and s):
            return False
        if method == "discrete_laplace" and s.denominator != 1:
            return False
    return True


def cost(shift: list[F], draws: tuple) -> F:
    return sum((abs(s) / scale for s, (method, scale) in zip(shift, draws, strict=True) if method != "uniform"), F(0))


def keeps(conditions: Any, released: Any, moved: dict[str, F]) -> bool:
    for e, kind in conditions:
        change = value(e, moved, constant=False)
        if change < 0 or (change and kind == "="):
            return False
    return not any(value(e, moved, constant=False) for e in released)


def dims(shift: list[F]) -> dict[str, F]:
    return {f"h{j}": s for j, s in enumerate(shift)}


def whole_shifts(entries: Any, count: int) -> Iterator[list[F]]:
    """Yield every shift of all draws; of parts every combination of theirs, where one part moves or all of them do."""
    if not any("draws" in entry for entry in entries):
        yield from ([F(s) for s in entry["shift"]] for entry in entries)
        return
    own = []
    for entry in entries:
        own.append([])
        for listed in entry["shifts"]:
            shift = [F(0)] * count
            for draw, s in zip(entry["draws"], listed["shift"], strict=True):
                shift[draw] = F(s)
            own[-1].append(shift)
        yield from own[-1]
    for some in product(*own):
        yield [sum(each, F(0)) for each in zip(*some, strict=True)]


def tree_is_true(certificate: Any, seed: int = 0, runs: int = 300) -> bool:
    scope, nodes, bound = certificate["scope"], certificate["nodes"], F(certificate["bound"])
    found = {at: (conditions, draws) for at, conditions, draws in paths(nodes)}
    regions, home = [], {}
    for at, (conditions, draws) in found.items():
        if is_null(conditions, draws):
            home[at] = None
        elif "shifts" in nodes[at]:
            home[at] = len(regions)
            regions.append((conditions, draws, nodes[at]["leaf"], nodes[at]["shifts"]))
        elif "parts" in nodes[at]:
            home[at] = len(regions)
            regions.append((conditions, draws, nodes[at]["leaf"], nodes[at]["parts"]))
    for number, entry in enumerate(certificate["classes"]):
        members = [at for at in found if nodes[at].get("class") == number]
        home.update(dict.fromkeys(members, len(regions)))
        draws, output = found[members[0]][1], nodes[members[0]]["leaf"]
        if any(found[at][1] != draws or nodes[at]["leaf"] != output for at in members):
            return False
        hull = tuple((e, kind) for e, kind in entry["hull"])
        regions.append((hull, draws, output, entry.get("parts", entry.get("shifts"))))
    if set(home) != set(found):
        return False
    for conditions, draws, output, entries in regions:
        shifts = [s for s in whole_shifts(entries, len(draws)) if allowed(s, draws) and cost(s, draws) <= bound]
        discrete = any(method == "discrete_laplace" for method, _ in draws)
        if discrete and scope["values"] != "integer":
            return False
        for point in points(scope, scope["length"], discrete):
            moved = {f"q{j}": F(d) for j, d in enumerate(point)}
            if not any(keeps(conditions, releases(output), moved | dims(s)) for s in shifts):
                return False
    return runs_agree(certificate, found, home, regions, random.Random(seed), runs)


def drawn(source: random.Random, method: str, scale: F) -> F:
    """Draw a value of the support that is not on the grid of the queries, so that there are no ties."""
    if method == "uniform":
        return scale * F(source.randrange(10**6), 10**6 + 3)
    near = F(source.randrange(10**6), 10**6 + 3) + source.randrange(-8, 8)
    return abs(near) if method == "exponential" else F(int(near)) if method == "discrete_laplace" else near


def runs_agree(certificate: Any, found: Any, home: Any, regions: Any, source: random.Random, runs: int) -> bool:
    """Whether runs end in the region of their leaf's class, and points of a region run to its class."""
    nodes = certificate["nodes"]
    for _ in range(runs):
        queries = [F(source.randrange(-6, 7), 2) for _ in range(certificate["scope"]["length"])]
        tape: list[tuple[str, F, F]] = []

        def draw(number: int, method: str, scale: F, tape: Any = tape) -> F:
            if number == len(tape):
                tape.append((method, scale, drawn(source, method, scale)))
            return tape[number][2]

        at = run(nodes, queries, draw)
        if at is None:
            return False
        point = {f"q{j}": q for j, q in enumerate(queries)} | {f"h{j}": d[2] for j, d in enumerate(tape)}
        if home[at] is not None and not all(holds(condition, point) for condition in regions[home[at]][0]):
            return False
        for number, (conditions, draws, _, _) in enumerate(regions):
            values = [
                drawn(source, *d) if j >= len(tape) or tape[j][:2] != d else tape[j][2] for j, d in enumerate(draws)
            ]
            point = {f"q{j}": q for j, q in enumerate(queries)} | dims(values)
            if all(holds(condition, point) for condition in conditions):

                def replay(j: int, method: str, scale: F, values: Any = values) -> F:
                    return values[j] if j < len(values) else drawn(source, method, scale)

                if home.get(run(nodes, queries, replay), -1) != number:
                    return False
    return True


def fold_is_true(certificate: Any, most: int = 3) -> bool:
    """Whether listed shifts exist for every vertex and every sequence of leaves, for up to ``most`` queries."""
    scope = certificate["scope"]
    if scope["movement"] == "monotone":
        return all(_fold_case(certificate, j, ends, most) for j, ends in enumerate(boxes(scope)))
    return _fold_case(certificate, 0, boxes(scope)[0], most)


def _fold_case(certificate: Any, case: int, ends: tuple[int, int], most: int) -> bool:
    """Return whether one range of differences holds, following the true differences of the state step by step."""
    scope, states, k = certificate["scope"], certificate["states"], certificate["scope"]["group"]

    def dearest(nodes: Any, differences: list[F], x: int | None, left: int, budget: int) -> F | None:
        """Return the cost of the worst run from here, or None if some leaf has no shift."""
        worst = F(0)
        for at, conditions, draws in paths(nodes):
            if is_null(conditions, draws):
                continue
            leaf = nodes[at]
            best = None
            for entry in leaf["shifts"][case]:
                shift = [F(s) for s in entry["shift"]]
                moved = {f"s{j}": d for j, d in enumerate(differences)} | dims(shift)
                moved |= {} if x is None else {"x": F(x)}
                if not allowed(shift, draws) or not keeps(conditions, releases(leaf["leaf"]), moved):
                    continue
                new = [value(e, moved, constant=False) for e in leaf["state"]]
                after = F(0) if leaf["next"] is None else onwards(leaf["next"], new, left, budget)
                if after is not None:
                    total = cost(shift, draws) + after
                    best = total if best is None else min(best, total)
            if best is None:
                return None
            worst = max(worst, best)
        return worst

    def onwards(state: int, differences: list[F], left: int, budget: int) -> F | None:
        found: list[F | None] = []
        if states[state]["end"] is not None:
            found.append(dearest(states[state]["end"], differences, None, 0, 0))
        if left:
            if scope["movement"] in ("one", "norm=1"):
                moves = {(0, budget)} | ({(k, 0), (-k, 0)} if budget else set())
            else:
                moves = {(end, 0) for end in ends}
            found += [dearest(states[state]["step"], differences, x, left - 1, rest) for x, rest in moves]
        return None if None in found else max([F(0), *(f for f in found if f is not None)])

    total = dearest(certificate["init"], [], None, most, 1)
    return total is not None and total <= F(certificate["bound"])
