"""How far can one number of n move an expression? Branch and bound, with the tree that shows it.

D = f(x) − f(x′), where x′ is x with number k replaced, on a box of the n numbers and of what replaces number k. Every
value is a triple: its interval on x, on x′, and of their difference; what does not hang on number k differs by exactly
0. Two trees, for x ≥ x′ and x ≤ x′: the sign of the difference is then known. Where D is monotone along a side, the
side collapses to its end. Derivatives are expressions too, and derivatives of D the movements of them.

An end of an interval of floats is rounded only where its operation is not exact (TwoSum: Møller 1965, Knuth 1969):
expressions that are equal at corners are then equal there, and flat ridges need no cutting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import numpy as np

from dpaudit.checker.moves import MovedExpressions
from dpaudit.reading.expressions.graph import OPERANDS, REDUCTIONS, Graph, Value

# --- Which floats enclose a value? -----------------------------------------------------------------------

Interval = tuple[float, float]
ZERO: Interval = (0.0, 0.0)
UNIT: Interval = (1.0, 1.0)
_POWERS = frozenset(sign * 2.0**e for e in range(-30, 31) for sign in (1, -1))  # exact factors


def constant(value: Fraction) -> Interval:
    """Return the floats on both sides of a number."""
    near = float(value)
    exact = Fraction(near) if math.isfinite(near) else None
    if exact == value:
        return near, near
    return nextafter(near, -inf), nextafter(near, inf)


def add(a: Interval, b: Interval) -> Interval:
    """Return the sum."""
    ends = []
    for x, y, outward in ((a[0], b[0], -inf), (a[1], b[1], inf)):
        total = x + y
        back = total - x
        is_exact = (x - (total - back)) + (y - back) == 0 or total - total != 0
        ends.append(total if is_exact else nextafter(total, outward))
    return ends[0], ends[1]


def neg(a: Interval) -> Interval:
    """Return minus an interval."""
    return -a[1], -a[0]


def sub(a: Interval, b: Interval) -> Interval:
    """Return the difference."""
    return add(a, (-b[1], -b[0]))


def mul(a: Interval, b: Interval) -> Interval:
    """Return the product: which ends make the least and the greatest one hangs on the signs alone."""
    if a == ZERO or b == ZERO:
        return ZERO
    if a == UNIT:
        return b
    if b == UNIT:
        return a
    (low, high), (first, last) = a, b
    if low >= 0:
        least, most = (low if first >= 0 else high, first), (high if last >= 0 else low, last)
    elif high <= 0:
        least, most = (low if last >= 0 else high, last), (high if first >= 0 else low, first)
    elif first >= 0:
        least, most = (low, last), (high, last)
    elif last <= 0:
        least, most = (high, first), (low, first)
    else:
        return (
            min(_product(low, last, -inf), _product(high, first, -inf)),
            max(_product(low, first, inf), _product(high, last, inf)),
        )
    return _product(*least, -inf), _product(*most, inf)


def _product(x: float, y: float, outward: float) -> float:
    if x == 0 or y == 0:
        return 0.0
    return x * y if x in _POWERS or y in _POWERS else nextafter(x * y, outward)


def inverse(a: Interval) -> Interval:
    """Return 1/a; of what is not 0, where an end is."""
    if a[0] < 0 < a[1] or a == ZERO:
        return -inf, inf
    low, high = (
        out if end == 0 else 1 / end if end in _POWERS else nextafter(1 / end, out)
        for end, out in ((a[1], -inf), (a[0], inf))
    )
    return low, high


def meet(a: Interval, b: Interval) -> Interval:
    """Return what two enclosures of one value have in common."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b


def hull(a: Interval, b: Interval) -> Interval:
    """Return the least interval that holds two."""
    return min(a[0], b[0]), max(a[1], b[1])


def _wider(low: float, high: float, least: float = -inf, most: float = inf) -> Interval:
    for _ in range(3):  # the library may err in the last place
        low, high = nextafter(low, -inf), nextafter(high, inf)
    return max(low, least), min(high, most)


def power(a: Interval, exponent: int) -> Interval:
    """Return a whole power."""
    if exponent == 0:
        return UNIT
    if exponent % 2 == 0 and a[0] < 0:
        a = (0.0, max(-a[0], a[1])) if a[1] > 0 else neg(a)
    low, high = (_to(end, exponent) for end in a)
    return low[0], high[1]


def _to(value: float, exponent: int) -> Interval:
    try:
        raised = value**exponent
    except OverflowError:
        return (1e308, inf) if value > 0 or exponent % 2 == 0 else (-inf, -1e308)
    return (raised, raised) if value == 0 or value in _POWERS else _wider(raised, raised)


def size(a: Interval) -> Interval:
    """Return the absolute value."""
    return (0.0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def _root(a: Interval) -> Interval:
    low, high = (max(end, 0.0) for end in a)
    return (
        low if low in (0.0, 1.0) else _wider(math.sqrt(low), math.sqrt(low), 0.0)[0],
        high if high in (0.0, 1.0) else _wider(math.sqrt(high), math.sqrt(high))[1],
    )


def _increasing(
    function: Callable[[float], float], at: float, value: float, least: float = -inf
) -> Callable[..., Interval]:
    """An increasing function of the library, with one point at which it is exact."""

    def called(a: Interval) -> Interval:
        low, high = (value if end == at else function(end) for end in a)
        return (
            low if a[0] == at else _wider(low, low, least)[0],
            high if a[1] == at else _wider(high, high)[1],
        )

    return called


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -inf


def _wave(function: Callable[[float], float], peak: float) -> Callable[[Interval], Interval]:
    def called(a: Interval) -> Interval:
        if max(map(abs, a)) > 1e4 or a[1] - a[0] > 6:
            return -1.0, 1.0
        ends = [function(end) for end in a]
        low, high = min(ends) - 1e-12, max(ends) + 1e-12
        first, last = ((end - peak) / math.tau for end in (a[0] - 1e-9, a[1] + 1e-9))
        if math.floor(last) >= math.ceil(first):
            high = 1.0
        if math.floor(last - 0.5) >= math.ceil(first - 0.5):
            low = -1.0
        return max(low, -1.0), min(high, 1.0)

    return called


_exponential, _cosine = _increasing(_exp, 0.0, 1.0, 0.0), _wave(math.cos, 0.0)
_sine = _wave(math.sin, math.pi / 2)
FUNCTIONS: dict[str, Callable[[Interval], Interval]] = {
    "sqrt": _root,
    "exp": _exponential,
    "log": _increasing(_log, 1.0, 0.0),
    "atan": _increasing(math.atan, 0.0, 0.0),
    "sin": _sine,
    "cos": _cosine,
}
"""What encloses each function of one number."""
SLOPES: dict[str, Callable[[Interval], Interval]] = {
    "exp": _exponential,
    "log": inverse,
    "atan": lambda a: inverse(add(UNIT, power(a, 2))),
    "sin": _cosine,
    "cos": lambda a: neg(_sine(a)),
}
"""What encloses the slope of each smooth function."""

__all__ = ["LENGTHS", "evaluated_any", "written"]

_DEEPEST = 200
_SLOPE_MOST = 1e6
_JUMP, _WAYS, _ANY = (0.0, 1.0), (-1.0, 1.0), (-math.inf, math.inf)
Triple = tuple[Interval, Interval, Interval]
Box = list[Interval]
_Step = tuple[int, bool, Callable[..., Triple] | None, tuple[int, ...], Any]
Tree = list[Any]
"""Parts, each before what it is made of, as in a certificate."""


class MovementSearch:
    """The movement of one expression where one number is replaced.

    Args:
        value: the expression.
        box: the range of each number.
        replaced: the number that is replaced.
    """

    def __init__(self, value: Value, box: Sequence[Interval], replaced: int) -> None:
        self._graph = value.graph.copy()  # with derivatives, which no certificate holds
        self._root, self._replaced = value.place, replaced
        self._box: Box = [*box, box[replaced]]
        self._slopes = [self._derivative(self._root, side).place for side in range(len(box))]
        self._order = needed(self._graph, (self._root, *self._slopes))
        self._plain = needed(self._graph, (self._root,))
        self._moved: set[int] = set()
        nodes = self._graph.nodes
        for place in self._order:
            node = nodes[place]
            if node[1] == replaced if node[0] == "var" else any(i in self._moved for i in operands(node)):
                self._moved.add(place)
        plain = set(self._plain)
        self._short = [self._compiled(place) for place in self._plain]
        self._further = [self._compiled(place) for place in self._order if place not in plain]
        self.hangs = self._root in self._moved
        self.boxes = 0

    # --- derivatives ----------------------------------------------------------------------------------------

    def _derivative(self, place: int, side: int) -> Value:
        """The derivative of a node along one number, as an expression; of a jump, the unknown node "any"."""
        known: dict[int, Value] = {}
        for each in needed(self._graph, (place,)):
            known[each] = self._of_node(each, side, known)
        return known[place]

    def _of_node(self, place: int, side: int, known: dict[int, Value]) -> Value:
        graph, node = self._graph, self._graph.nodes[place]
        kind, own = node[0], Value(graph, place)
        if kind == "var" or kind == "const":
            return graph.constant(int(kind == "var" and node[1] == side))
        x, dx = Value(graph, node[1]), known[node[1]]
        if kind in ("add", "sub", "mul", "div", "max", "min"):
            y, dy = Value(graph, node[2]), known[node[2]]
            if kind in ("add", "sub"):
                return dx + dy if kind == "add" else dx - dy
            if kind == "mul":
                return dx * y + x * dy
            if kind == "div":
                return dx / y if dy.constant == 0 else dx / y - (x * dy) / y**2
            if dx.place == dy.place:
                return dx
            ways = graph.node("sgn", (x - y).place) * (dx - dy)
            both = dx + dy + ways if kind == "max" else dx + dy - ways
            return both * Fraction(1, 2)
        if dx.constant == 0:
            return dx
        if kind == "pow":
            inner: Value = x ** (node[2] - 1) * node[2]
            return dx * inner
        if kind == "sqrt":
            return dx / (own * 2)
        if kind == "exp":
            return dx * own
        if kind == "log":
            return dx / x
        if kind == "atan":
            return dx / (x**2 + 1)
        if kind in ("sin", "cos"):
            return dx * x.called("cos") if kind == "sin" else -(dx * x.called("sin"))
        return dx * graph.node("sgn", x.place) if kind == "abs" else graph.node("any", place)

    # --- values on a box ------------------------------------------------------------------------------------

    def _compiled(self, place: int) -> _Step:
        node = self._graph.nodes[place]
        kind = node[0]
        if kind == "const":
            value = constant(node[1])
            return place, False, None, (), (value, value, ZERO)
        if kind == "var":
            return place, False, None, (), node[1]
        apply = _square if kind == "mul" and node[1] == node[2] else _OPERATIONS[kind]
        return place, place in self._moved, apply, operands(node), node[2] if kind in ("pow", "mod") else None

    def _values(self, box: Box, sign: int) -> dict[int, Triple]:
        """The expression, and all that it is made of."""
        here, there = box[self._replaced], box[-1]
        gap = sub(here, there)
        gap = (max(gap[0], 0.0), max(gap[1], 0.0)) if sign > 0 else (min(gap[0], 0.0), min(gap[1], 0.0))
        sides = [(side, side, ZERO) for side in box]
        sides[self._replaced] = here, there, gap
        return self._on(self._short, sides, {})

    def _on(self, program: Sequence[_Step], sides: list[Triple], triples: dict[int, Triple]) -> dict[int, Triple]:
        for place, moved, apply, inner, more in program:
            if apply is None:
                triples[place] = more if isinstance(more, tuple) else sides[more]
                continue
            operands = [triples[i] for i in inner]
            left, right, apart = apply(*operands) if more is None else apply(*operands, more)
            triples[place] = (left, right, meet(apart, sub(left, right))) if moved else (left, left, ZERO)
        return triples

    def most(self) -> float:
        """Return a bound by the whole box alone."""
        return max(self._values(self._box, sign)[self._root][2][1] for sign in (1, -1))

    def trees(self, claim: Fraction, limit: int) -> list[Tree] | None:
        """Return two trees that show a bound, for x ≥ x′ and x ≤ x′; None where so many boxes do not suffice."""
        self._claim, self.boxes, self._limit = constant(claim)[0], 0, limit
        self._deepest = min(_DEEPEST, limit // 10)  # what is cut so often stays above the bound
        trees_made: list[Tree] = []
        for sign in (1, -1):
            tree: Tree = []
            if not self._walk(self._box, sign, 0, tree):
                return None
            trees_made.append(tree)
        return trees_made

    def _walk(self, box: Box, sign: int, depth: int, tree: Tree) -> bool:
        self.boxes += 1
        here, there = box[self._replaced], box[-1]
        if here[1] < there[0] if sign > 0 else here[0] > there[1]:
            tree.append(".")
            return True
        values = self._values(box, sign)
        if values[self._root][2][1] <= self._claim:
            tree.append(".")
            return True
        if self.boxes > self._limit or depth > self._deepest:
            return False
        self._on(self._further, [], values)
        slopes = [values[s][0 if j == self._replaced else 2] for j, s in enumerate(self._slopes)]
        slopes.append(neg(values[self._slopes[self._replaced]][1]))
        ends = {j: int(s[0] >= 0) for j, s in enumerate(slopes) if box[j][0] < box[j][1] and (s[0] >= 0 or s[1] <= 0)}
        if ends:
            tree.append(["m", [[j, end] for j, end in ends.items()]])
            collapsed = [(b[ends[j]],) * 2 if j in ends else b for j, b in enumerate(box)]
            return self._walk(collapsed, sign, depth + 1, tree)
        if self._by_mean_values(box, sign, slopes, values[self._root][2][0]):
            tree.append("c")
            return True
        side = max(range(len(box)), key=lambda j: _weight(slopes[j]) * (box[j][1] - box[j][0]))
        low, high = box[side]
        cut = (low + high) / 2
        if not low < cut < high:
            return False
        tree.append(["s", side, str(Fraction(cut))])
        return all(
            self._walk([*box[:side], half, *box[side + 1 :]], sign, depth + 1, tree)
            for half in ((low, cut), (cut, high))
        )

    def _by_mean_values(self, box: Box, sign: int, slopes: list[Interval], least: float) -> bool:
        """Whether the movement in the middle, at least so large, and the slopes around it show the bound."""
        middle: Box = [((low + high) / 2,) * 2 for low, high in box]
        here, there = middle[self._replaced][0], middle[-1][0]
        if here != there and (here > there) != (sign > 0):
            return False
        around = ZERO
        for slope, side, at in zip(slopes, box, middle, strict=True):
            if side[0] < side[1]:
                around = add(around, mul(slope, sub(side, at)))
        if not least + around[1] <= self._claim:  # without a look at the middle
            return False
        return add(self._values(middle, sign)[self._root][2], around)[1] <= self._claim


def operands(node: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the earlier nodes that a node is made of."""
    return node[1 : 1 + OPERANDS.get(node[0], 1)]


def needed(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Return the nodes that some are made of, and these, in order."""
    nodes, todo = set[int](), list(roots)
    while todo:
        place = todo.pop()
        if place not in nodes:
            nodes.add(place)
            todo.extend(operands(graph.nodes[place]))
    return sorted(nodes)


def _weight(slope: Interval) -> float:
    return min(max(abs(slope[0]), abs(slope[1])), _SLOPE_MOST) or 1e-9


# --- operations of triples: the interval on x, on x′, and a bound of their difference ---------------------------


def _add(a: Triple, b: Triple) -> Triple:
    return add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])


def _sub(a: Triple, b: Triple) -> Triple:
    return sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])


def _mul(a: Triple, b: Triple) -> Triple:
    one = add(mul(a[2], b[0]), mul(a[1], b[2]))
    return mul(a[0], b[0]), mul(a[1], b[1]), meet(one, add(mul(a[2], b[1]), mul(a[0], b[2])))


def _square(a: Triple, _: Triple) -> Triple:
    return _pow(a, 2)


def _div(a: Triple, b: Triple) -> Triple:
    left, right = mul(a[0], inverse(b[0])), mul(a[1], inverse(b[1]))
    one = mul(sub(a[2], mul(right, b[2])), inverse(b[0]))
    return left, right, meet(one, mul(sub(a[2], mul(left, b[2])), inverse(b[1])))


def _max(a: Triple, b: Triple) -> Triple:
    left, right = ((max(a[i][0], b[i][0]), max(a[i][1], b[i][1])) for i in (0, 1))
    return left, right, hull(a[2], b[2])


def _min(a: Triple, b: Triple) -> Triple:
    left, right = ((min(a[i][0], b[i][0]), min(a[i][1], b[i][1])) for i in (0, 1))
    return left, right, hull(a[2], b[2])


def _pow(a: Triple, exponent: int) -> Triple:
    slope = ZERO
    for j in range(exponent):
        slope = add(slope, mul(power(a[0], j), power(a[1], exponent - 1 - j)))
    return power(a[0], exponent), power(a[1], exponent), mul(a[2], slope)


def _abs(a: Triple) -> Triple:
    both, most = hull(a[0], a[1]), max(abs(a[2][0]), abs(a[2][1]))
    return size(a[0]), size(a[1]), a[2] if both[0] >= 0 else neg(a[2]) if both[1] <= 0 else (-most, most)


def _step(a: Triple) -> Triple:
    left, right = ((float(each[0] > 0), float(each[1] > 0)) for each in a[:2])
    return left, right, _JUMP if a[2][0] >= 0 else neg(_JUMP) if a[2][1] <= 0 else _WAYS


def _mod(a: Triple, modulus: int) -> Triple:
    left, right = (each if each[0] >= 0 and each[1] < modulus else (0.0, modulus - 1.0) for each in a[:2])
    return left, right, _ANY


def _sgn(a: Triple) -> Triple:
    left, right = ((1.0, 1.0) if each[0] >= 0 else (-1.0, -1.0) if each[1] <= 0 else _WAYS for each in a[:2])
    return left, right, _ANY


def _any(_: Triple) -> Triple:
    return _ANY, _ANY, _ANY


def _called(kind: str) -> Callable[[Triple], Triple]:
    function = FUNCTIONS[kind]

    def called(a: Triple) -> Triple:
        left, right = function(a[0]), function(a[1])
        slope = inverse(add(left, right)) if kind == "sqrt" else SLOPES[kind](hull(a[0], a[1]))
        return left, right, mul(a[2], slope)

    return called


_OPERATIONS: dict[str, Callable[..., Triple]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "max": _max, "min": _min, "pow": _pow, "mod": _mod,
    "abs": _abs, "step": _step, "sgn": _sgn, "any": _any, **{kind: _called(kind) for kind in FUNCTIONS},
}  # fmt: skip

# --- the largest movement that is found --------------------------------------------------------------------------

_PLAIN: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum,
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "atan": np.arctan, "sin": np.sin, "cos": np.cos, "abs": np.abs,
    "step": lambda v: (v > 0).astype(float),
}  # fmt: skip


def evaluated(value: Value, points: Any) -> Any:
    """Return an expression at many points, in floats: (points,) of (points, n)."""
    graph = value.graph
    values: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for place in needed(graph, (value.place,)):
            node = graph.nodes[place]
            if node[0] == "const":
                values[place] = np.full(len(points), float(node[1]))
            elif node[0] == "var":
                values[place] = points[:, node[1]]
            else:
                values[place] = applied(node, [values[i] for i in operands(node)])
    return values[value.place]


def applied(node: tuple[Any, ...], inner: list[Any]) -> Any:
    """Return what an operation makes of numbers, in floats."""
    if node[0] in ("pow", "mod"):
        return (np.power if node[0] == "pow" else np.mod)(inner[0], node[2])
    return _PLAIN[node[0]](*inner)


_ROUNDS = 14


def farthest(
    value: Value, box: Sequence[tuple[Fraction, Fraction]], replaced: int, seed: int, rounds: int = _ROUNDS
) -> tuple[float, Any, Any]:
    """Return the largest movement that is found, with the pair: corners, then points of a grid, then closer ones."""
    rng = np.random.default_rng(seed)
    ends = [[float(end) for end in side] for side in (*box, box[replaced])]
    low, high = np.array([[max(first, -_WIDE), min(last, _WIDE)] for first, last in ends]).T
    sides, width = len(low), (high - low) / 4
    corners = (
        np.array(np.meshgrid(*[[0.0, 1.0]] * sides, indexing="ij")).reshape(sides, -1).T
        if sides <= _MOST_CORNERS
        else rng.choice([0.0, 1.0], size=(2**_MOST_CORNERS, sides))
    )
    grid = rng.choice([0, 1, 0.5, 0.25, 0.75], size=(512, sides))
    near = low + (high - low) * np.vstack([corners, grid, rng.uniform(0, 1, (512, sides))])
    far, best, still = -1.0, near[0], 0
    for _ in range(rounds):
        moved = np.nan_to_num(_differences(value, near, replaced), nan=-1.0, posinf=-1.0)
        order = np.argsort(-moved, kind="stable")[:8]
        still = 0 if moved[order[0]] > far else still + 1
        if not still:
            far, best = float(moved[order[0]]), near[order[0]]
        elif still == _STILL:
            break
        kept = near[order]
        around = kept[:, None, :] + rng.uniform(-1, 1, (len(kept), 48, sides)) * width
        around = np.where(rng.random(around.shape) < 0.5, kept[:, None, :], around)
        near = np.clip(around.reshape(-1, sides), low, high)
        width = width / 4
    second = best[:-1].copy()
    second[replaced] = best[-1]
    return max(far, 0.0), best[:-1], second


_MOST_CORNERS = 10
_STILL = 4  # rounds that find nothing better, after which none does
_WIDE = 1e6  # beyond, floats cancel


def _differences(value: Value, points: Any, replaced: int) -> Any:
    second = points[:, :-1].copy()
    second[:, replaced] = points[:, -1]
    with np.errstate(all="ignore"):
        return np.abs(evaluated(value, points[:, :-1]) - evaluated(value, second))


# --- How far does one of any number of numbers move what is computed of them? Reductions, written out. ---

LENGTHS = (1, 2, 3, 5, 8)
"""Of lists on which a function of any number of numbers is run."""


def written(expressions: MovedExpressions) -> tuple[Graph, list[int]]:
    """Return the plain operations of a certificate as a graph, and where each of them stands in it."""
    graph, places = Graph(), list[int]()
    for kind, *of in expressions.written:
        if kind == "const":
            rest: list[Any] = [Fraction(of[0])]
        elif kind == "var":
            rest = of
        else:
            rest = [places[each] for each in operands((kind, *of))]
            rest += of[len(rest) :]
        places.append(graph.node(kind, *rest).place)
    return graph, places


def evaluated_any(value: Value, points: Any) -> Any:
    """Return an expression of any number of numbers on lists of them, in floats: (lists,) of (lists, n)."""
    graph, count = value.graph, points.shape[1]
    known: dict[tuple[int, bool], Any] = {}

    def at(place: int, steps: bool) -> Any:
        if (place, steps) not in known:
            known[place, steps] = computed(place, steps)
        return known[place, steps]

    def computed(place: int, steps: bool) -> Any:
        kind, *of = graph.nodes[place]
        if kind == "const":
            return np.full((1, 1), float(of[0]))
        if kind == "count":
            return np.full((1, 1), float(count))
        if kind == "place":
            return np.arange(1.0, count + 1)[None, :]
        if kind == "var":
            return points if not steps else points[:, 1:] if of[0] else points[:, :-1]
        if kind not in REDUCTIONS:
            node = graph.nodes[place]
            return applied(node, [at(each, steps) for each in operands(node)])
        inner = at(of[0], kind == "steps")
        inner = np.broadcast_to(inner, (len(points), count - (kind == "steps")))
        if kind == "quantile":
            return np.quantile(inner, float(Fraction(of[1])), axis=1, keepdims=True)
        apply: Any = {"largest": np.max, "smallest": np.min, "product": np.prod}.get(kind, np.sum)
        return apply(inner, axis=1, keepdims=True)

    with np.errstate(all="ignore"):
        return np.broadcast_to(at(value.place, False), (len(points), 1))[:, 0]
