"""Which certificates can be followed on paper? Small ones, made by hand."""

from __future__ import annotations

import json
from typing import Any

from dpaudit.checker import CertificateError, check_certificate

Json = Any
TRUE, FALSE, NONE = ["bool", True], ["bool", False], ["none"]


def whole(kind: str, length: int | str, bound: str, **rest: Json) -> Json:
    """Return a certificate; it is copied through its text, so that no two places share an object."""
    scope = {"data": "queries", "length": length, "values": "real", "movement": "all", "group": 1, "parameters": {}}
    scope |= {name: rest.pop(name) for name in ("values", "movement", "group", "parameters") if name in rest}
    certificate = {
        "format": "dpaudit-certificate",
        "version": 1,
        "kind": kind,
        "mechanism": {"name": "made by hand", "source": "sha256:00"},
        "scope": scope,
        "bound": bound,
        **rest,
    }
    return json.loads(json.dumps(certificate))


def accepted(certificate: Json) -> bool:
    try:
        check_certificate(certificate)
    except CertificateError:
        return False
    return True


def tree(length: int, bound: str, nodes: Json, classes: Json = (), **scope: Json) -> Json:
    return whole("tree", length, bound, nodes=nodes, classes=list(classes), **scope)


def draw(method: str, scale: str, then: int) -> Json:
    return {"draw": method, "scale": scale, "then": then}


def e(text: str) -> Json:
    """Return the expression of a text like ``q0 + h0 - 1/2``, with single variables and a constant."""
    found, sign = {}, ""
    for word in text.split():
        if word in "+-":
            sign = word.strip("+")
        elif word[0] in "qhsx":
            found[word] = sign + "1"
        else:
            found["1"] = sign + word
    return found


def leaf(output: Json, *shifts: tuple[str, str]) -> Json:
    return {"leaf": output, "shifts": [{"difference": d.split(), "shift": s.split()} for d, s in shifts]}


def laplace() -> Json:
    """q0 + Laplace(1) under all: 1."""
    return tree(1, "1", [draw("laplace", "1", 1), leaf(["float", e("q0 + h0")], ("-1", "1"), ("1", "-1"))])


def noisy_max() -> Json:
    """The first largest of two queries with Laplace(2), by a comparison: 1."""
    return tree(
        2,
        "1",
        [
            draw("laplace", "2", 1),
            draw("laplace", "2", 2),
            {"compare": e("q1 + h1 - q0 - h0"), ">": 3, "<=": 4},
            leaf(["int", {"1": "1"}], ("1 -1", "0 2")),
            leaf(["int", {}], ("-1 1", "2 0")),
        ],
    )


def merged_max() -> Json:
    """The first largest of three by two comparisons: four leaves, of which two are one class: 1."""
    second, third, third_first = e("q1 + h1 - q0 - h0"), e("q2 + h2 - q1 - h1"), e("q2 + h2 - q0 - h0")
    return tree(
        3,
        "1",
        [
            draw("laplace", "2", 1),
            draw("laplace", "2", 2),
            {"compare": second, ">": 3, "<=": 4},
            draw("laplace", "2", 5),
            draw("laplace", "2", 6),
            {"compare": third, ">": 7, "<=": 8},
            {"compare": third_first, ">": 9, "<=": 10},
            {"leaf": ["int", {"1": "2"}], "class": 0},
            leaf(["int", {"1": "1"}], ("1 -1 1", "0 2 0")),
            {"leaf": ["int", {"1": "2"}], "class": 0},
            leaf(["int", {}], ("-1 1 1", "2 0 0")),
        ],
        [
            {
                "hull": [[third_first, ">"], [third, ">"]],
                "inside": [
                    {"leaf": 7, "reasons": [[[0, "1"], [1, "1"], [2, "1"]], [[1, "1"], [2, "1"]]]},
                    {"leaf": 9, "reasons": [[[1, "1"], [2, "1"]], [[0, "1"], [1, "1"], [2, "1"]]]},
                ],
                "apart": [{"leaf": 8, "reason": [[1, "1"], [3, "1"]]}, {"leaf": 10, "reason": [[0, "1"], [3, "1"]]}],
                "shifts": [{"difference": ["1", "1", "-1"], "shift": ["0", "0", "2"]}],
            }
        ],
    )


def merged_below() -> Json:
    """Whether q0 + Laplace(1) is below 1, found by a look at 0 first; above, one more number is drawn: 1."""
    value, outside = e("q0 + h0"), {"leaf": 8, "reason": [[0, "1"], [2, "1"]]}
    return tree(
        1,
        "1",
        [
            draw("laplace", "1", 1),
            {"compare": value, "<": 2, "=": 3, ">": 4},
            {"leaf": ["str", "low"], "class": 0},
            {"leaf": NONE},
            {"compare": e("q0 + h0 - 1"), "<": 5, ">=": 6},
            {"leaf": ["str", "low"], "class": 0},
            draw("exponential", "1", 7),
            {"compare": e("h1 - 1"), "<=": 8, ">": 9},
            leaf(["str", "high"], ("-1", "1 0")),
            leaf(["str", "higher"], ("-1", "1 0")),
        ],
        [
            {
                "hull": [[{"q0": "-1", "h0": "-1", "1": "1"}, ">"]],
                "inside": [
                    {"leaf": 2, "reasons": [[[0, "1"], [1, "1"]]]},
                    {"leaf": 5, "reasons": [[[1, "1"], [2, "1"]]]},
                ],
                "apart": [outside, outside | {"leaf": 9}],
                "shifts": [{"difference": ["1"], "shift": ["-1"]}],
            }
        ],
    )


def argmax(method: str = "gumbel") -> Json:
    """The largest of three in one branch with three sides, noise of scale 2: 1."""
    names = ["q0 + h0", "q1 + h1", "q2 + h2"]
    return tree(
        3,
        "1",
        [
            *(draw(method, "2", number + 1) for number in range(3)),
            {"argmax": [e(name) for name in names], "then": [4, 5, 6]},
            leaf(["int", {}], ("-1 1 1", "2 0 0")),
            leaf(["int", {"1": "1"}], ("1 -1 1", "0 2 0")),
            leaf(["int", {"1": "2"}], ("1 1 -1", "0 0 2")),
        ],
    )


def sparse_vector() -> Json:
    """Above threshold for two queries, Laplace(2) and Laplace(4), one positive: 1/2."""
    return tree(
        2,
        "1/2",
        [
            draw("laplace", "2", 1),
            draw("laplace", "4", 2),
            {"compare": e("q0 + h1 - h0"), ">=": 3, "<": 4},
            leaf(["list", TRUE], ("-1 -1", "0 1")),
            draw("laplace", "4", 5),
            {"compare": e("q1 + h2 - h0"), ">=": 6, "<": 7},
            leaf(["list", FALSE, TRUE], ("1 -1", "0 -1 1")),
            leaf(["list", FALSE, FALSE], ("1 1", "1 0 0")),
        ],
    )


def gap() -> Json:
    """Above threshold that releases the gap, or else the answer with fresh noise: 1 and 1/4."""
    return tree(
        1,
        "5/4",
        [
            draw("laplace", "2", 1),
            draw("laplace", "4", 2),
            {"compare": e("q0 + h1 - h0"), ">=": 3, "<": 4},
            leaf(["list", ["float", e("q0 + h1 - h0")]], ("-1", "0 1"), ("1", "0 -1")),
            draw("laplace", "1", 5),
            leaf(["tuple", NONE, ["float", e("q0 + h2")]], ("-1", "0 0 1"), ("1", "0 -1 -1")),
        ],
    )


def integers(group: int = 1) -> Json:
    """q0 + discrete Laplace(3), integer data."""
    steps = range(-group, group + 1)
    return tree(
        1,
        "1/3" if group == 1 else f"{group}/3" if group % 3 else str(group // 3),
        [draw("discrete_laplace", "3", 1), leaf(["int", e("q0 + h0")], *((str(k), str(-k)) for k in steps))],
        values="integer",
        group=group,
    )


def three_ways() -> Json:
    """The sign of q0 + Laplace(1), where zero has probability 0, and a coin; other values of the coin are dead ends."""
    return tree(
        1,
        "1",
        [
            draw("laplace", "1", 1),
            {"compare": e("q0 + h0"), "<": 2, "=": 3, ">": 4},
            leaf(["str", "-"], ("1", "-1")),
            {"leaf": ["str", "0"]},
            draw("uniform", "1", 5),
            {"compare": e("h1 - 1/2"), "<": 6, ">=": 7},
            leaf(["str", "+"], ("-1", "1 0")),
            {"compare": e("h1 - 1"), ">": 8, "<=": 9},
            {"dead": [[2, "1"], [4, "1"]]},
            leaf(["dict", [["str", "+"], ["float", "nan"]]], ("-1", "1 0")),
        ],
    )


def norm(movement: str = "norm=1", group: int = 1) -> Json:
    """The sum of two queries with Laplace(2): half of the group size."""
    shifts = [(f"{s * group * (1 - j)} {s * group * j}", str(-s * group)) for j in (0, 1) for s in (-1, 1)]
    bound = {1: "1/2", 2: "1", 3: "3/2"}[group]
    nodes = [draw("laplace", "2", 1), leaf(["float", e("q0 + q1 + h0")], *shifts)]
    return tree(2, bound, nodes, movement=movement, group=group)


def monotone() -> Json:
    """Noisy max of two with Laplace(1), where all queries move in the same direction: 1."""
    certificate = noisy_max()
    certificate["scope"]["movement"] = "monotone"
    for node in certificate["nodes"][:2]:
        node["scale"] = "1"
    certificate["nodes"][3] = leaf(["int", {"1": "1"}], ("0 -1", "0 1"), ("1 0", "0 1"))
    certificate["nodes"][4] = leaf(["int", {}], ("-1 0", "1 0"), ("0 1", "1 0"))
    return certificate


def fold_leaf(output: Json, follows: int | None, state: list[Json], *cases: list[tuple[str, str]]) -> Json:
    shifts = [[{"difference": d, "shift": s.split()} for d, s in case] for case in cases]
    return {"leaf": output, "next": follows, "state": state, "shifts": shifts}


def fold(bound: str, init: Json, states: Json, cases: Json, **scope: Json) -> Json:
    return whole("fold", "any", bound, init=init, states=states, cases=cases, **scope)


def fold_sparse_vector() -> Json:
    """Above threshold with two positives, Laplace(2) and Laplace(8), any number of queries: 1."""
    branch = [draw("laplace", "8", 1), {"compare": e("x + h0 - s0"), ">=": 2, "<": 3}]
    again = fold_leaf(FALSE, 0, [e("s0")], [("1", "0")])
    states = [
        {"name": "no positive", "step": [*branch, fold_leaf(TRUE, 1, [e("s0")], [("-1", "2")]), again], "end": None},
        {
            "name": "one positive",
            "step": [*branch, fold_leaf(TRUE, None, [], [("-1", "2")]), {**again, "next": 1}],
            "end": [fold_leaf(["str", "end"], None, [], [("0", "")])],
        },
    ]
    init = [draw("laplace", "2", 1), fold_leaf(NONE, 0, [e("h0")], [("0", "1")])]
    return fold("1", init, states, [{"distances": ["1"], "allowances": [["1/2"], ["1/4"]]}])


def fold_monotone() -> Json:
    """One positive, Laplace(2) and Laplace(2): upward the threshold moves by 1, downward the positive: 1/2 each."""
    step = [
        draw("laplace", "2", 1),
        {"compare": e("x + h0 - s0"), ">=": 2, "<": 3},
        fold_leaf(TRUE, None, [], [("-1", "1")], [("0", "1")]),
        fold_leaf(FALSE, 0, [e("s0")], [("0", "0")], [("1", "0")]),
    ]
    init = [draw("laplace", "2", 1), fold_leaf(NONE, 0, [e("h0")], [("0", "0")], [("0", "1")])]
    cases = [{"distances": ["0"], "allowances": [["1/2"]]}, {"distances": ["1"], "allowances": [["1/2"]]}]
    return fold("1", init, [{"name": "running", "step": step, "end": None}], cases, movement="monotone")


def fold_prefix_sum() -> Json:
    """Prefix sums with Laplace(1) for each query, where one query moves: 1."""
    total = e("s0 + x + h0")
    step = [
        draw("laplace", "1", 1),
        fold_leaf(["float", total], 0, [total], [("-1", "1"), ("0", "0"), ("1", "-1")]),
    ]
    return fold(
        "1",
        [fold_leaf(NONE, 0, [{}], [("0", "")])],
        [{"name": "running", "step": step, "end": None}],
        [{"distances": ["0"], "allowances": [["1", "0"]]}],
        movement="one",
    )


def fold_one() -> Json:
    """The sparse vector fold where one query moves: a positive costs 1/8, and 1/4 if it moves: 7/8."""
    certificate = fold_sparse_vector()
    certificate["scope"]["movement"], certificate["bound"] = "one", "7/8"
    certificate["cases"][0]["allowances"] = [["3/8", "1/4"], ["1/4", "1/8"]]
    for state in certificate["states"]:
        state["step"][2]["shifts"][0].append({"difference": "0", "shift": ["1"]})
        state["step"][3]["shifts"][0].append({"difference": "0", "shift": ["0"]})
    return certificate


def fold_second() -> Json:
    """Only the second query is released, with Laplace(1), and one query moves: 1."""
    first = [fold_leaf(NONE, 1, [], [("-1", ""), ("0", "")])]
    then = [
        draw("laplace", "1", 1),
        fold_leaf(["float", e("x + h0")], None, [], [("-1", "1"), ("0", "0"), ("1", "-1")]),
    ]
    states = [{"name": "first", "step": first, "end": None}, {"name": "second", "step": then, "end": None}]
    init = [fold_leaf(NONE, 0, [], [("0", "")])]
    return fold("1", init, states, [{"distances": [], "allowances": [["1", "0"], ["1", "0"]]}], movement="norm=1")


def link(start: int | None, difference: str, shift: str, to: int | None) -> Json:
    return {"from": start, "difference": difference, "shift": shift.split(), "to": to}


def coupling(state: int, distance: str, allowance: str, *, moved: bool) -> Json:
    return {"state": state, "moved": moved, "distances": [distance], "allowance": allowance}


def fold_changes(method: str = "laplace", **scope: Json) -> Json:
    """What each query adds to the one before, with noise of scale 2: one query that moves shows twice, 1/2 each: 1."""
    cases, init, step = [], [], []
    for by, back in (("-1", "1"), ("1", "-1")):
        still, just, after = (
            coupling(0, "0", "1", moved=False),
            coupling(0, by, "1/2", moved=True),
            coupling(0, "0", "0", moved=True),
        )
        cases.append({"couplings": [still, just, after]})
        init.append([link(None, "0", "", 0)])
        step.append([link(0, "0", "0", 0), link(0, by, back, 1), link(1, "0", by, 2), link(2, "0", "0", 2)])
    nodes = [draw(method, "2", 1), fold_leaf(["float", e("x - s0 + h0")], 0, [e("x")]) | {"shifts": step}]
    start = [fold_leaf(NONE, 0, [{}]) | {"shifts": init}]
    return fold("1", start, [{"name": "last", "step": nodes, "end": None}], cases, **{"movement": "one", **scope})


def part(queries: list[int], draws: list[int], *shifts: tuple[str, str]) -> Json:
    """A part: the numbers of its queries and draws, and (difference, shift) for each worst difference."""
    listed = [{"difference": moved.split(), "shift": shift.split()} for moved, shift in shifts]
    return {"queries": queries, "draws": draws, "shifts": listed}


def vector(movement: str = "all", method: str = "laplace") -> Json:
    """q0 + draw, q1 + draw, by parts: 2; under "one" and "monotone" with whole numbers 1 and 2."""
    output = ["list", *(["float" if method == "laplace" else "int", e(f"q{k} + h{k}")] for k in (0, 1))]
    moves = [("-1", "1"), ("1", "-1")] + [("0", "0")] * (method != "laplace")
    parts = {"leaf": output, "parts": [part([k], [k], *moves) for k in (0, 1)]}
    nodes = [draw(method, "1", 1), draw(method, "1", 2), parts]
    values = "real" if method == "laplace" else "integer"
    return tree(2, "1" if movement == "one" else "2", nodes, movement=movement, values=values)


def shared() -> Json:
    """q0 + q1 + Laplace(1) under all, by parts that share the draw: 2."""
    parts = [part([k], [0], ("-1", "1"), ("1", "-1")) for k in (0, 1)]
    return tree(2, "2", [draw("laplace", "1", 1), {"leaf": ["float", e("q0 + q1 + h0")], "parts": parts}])


TREES = {
    "laplace": laplace,
    "noisy max": noisy_max,
    "merged max": merged_max,
    "merged below": merged_below,
    "gumbel argmax": argmax,
    "exponential argmax": lambda: argmax("exponential"),
    "sparse vector": sparse_vector,
    "gap": gap,
    "integers": integers,
    "integers of a group": lambda: integers(2),
    "three ways": three_ways,
    "norm": norm,
    "one, group": lambda: norm("one", 2),
    "monotone": monotone,
    "parts": vector,
    "parts, one": lambda: vector("one"),
    "parts, whole": lambda: vector("monotone", "discrete_laplace"),
    "parts that share": shared,
}
FOLDS = {
    "sparse vector": fold_sparse_vector,
    "monotone": fold_monotone,
    "prefix sum": fold_prefix_sum,
    "one": fold_one,
    "second": fold_second,
}
