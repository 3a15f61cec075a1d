"""Is a tree of boxes a proof that one record moves an expression by at most so much?

For an expression f of n numbers x, of which number k is replaced by x′, D = f(x) − f(x′) on a box whose sides are the n
numbers and x′. A tree cuts the box until D is at most the bound on every part. Every value of the expression is known
as three intervals: on x, on x′, and their difference; derivatives along one side are carried forward. The rules, with
their proofs, are in ``verified/on_paper.md``. Shares nothing with what finds the trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.checker.intervals import (
    ALL,
    FUNCTIONS,
    ONE,
    SLOPES,
    UNIT,
    ZERO,
    Interval,
    add,
    exact,
    hull,
    inverse,
    meet,
    mul,
    neg,
    power,
    size,
    sub,
)
from dpaudit.checker.reading import CertificateError, ForgedError, Steps, items, rational, shown, whole

MOST_NODES = 20_000
MOST_NUMBERS = 64
"""That an expression may have."""
MOST_PARTS = 200_000  # of a tree
_MOST_POWER = 64
_MOST_MODULUS = 10**6
_MOST_DEFINED = 4_096  # parts of a box in which an expression is shown to be defined
_WIDE_FIRST = 200  # of which so many are large ones, for a fault that a whole part has
_LARGEST = ONE << 1_000  # beyond, floats may overflow
_LARGEST_EXPONENT = 694 * ONE  # beyond, e to its power is above 2¹⁰⁰⁰
_WAYS: Interval = (-ONE, ONE)
_JUMP: Interval = (0, ONE)
_TWO_SIDES = {"add", "sub", "mul", "div", "max", "min"}
_ONE_SIDE = {*FUNCTIONS, "abs", "step"}
Box = tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of an expression."""

    kind: str
    of: tuple[int, ...] = ()  # earlier nodes
    number: int = 0  # of a variable; an exponent; a modulus
    value: Interval = ZERO  # of a constant
    is_whole: bool = False  # whether it is a whole number
    depends: int = 0  # on which variables: a bit for each


def read_nodes(given: object, variables: int) -> list[Node]:
    """Return the operations of a certificate, each of earlier ones."""
    nodes: list[Node] = []
    for place, each in enumerate(items(given, "nodes", MOST_NODES, 1)):
        where = f"node {place}"
        kind, *rest = items(each, where, 3, 2)
        if type(kind) is not str:
            raise CertificateError(f"{where}: it begins with a word, not with {shown(kind)}")
        if kind == "const" and len(rest) == 1:
            value = rational(rest[0], where)
            nodes.append(Node(kind, value=exact(value), is_whole=value.denominator == 1))
        elif kind == "var" and len(rest) == 1:
            number = whole(rest[0], where, 0, variables - 1)
            nodes.append(Node(kind, number=number, depends=1 << number))
        elif kind in _TWO_SIDES and len(rest) == 2:
            nodes.append(_made(kind, tuple(whole(i, where, 0, place - 1) for i in rest), 0, nodes))
        elif kind in _ONE_SIDE and len(rest) == 1:
            nodes.append(_made(kind, (whole(rest[0], where, 0, place - 1),), 0, nodes))
        elif kind == "pow" and len(rest) == 2:
            exponent = whole(rest[1], f"{where}: exponent", 2, _MOST_POWER)
            nodes.append(_made(kind, (whole(rest[0], where, 0, place - 1),), exponent, nodes))
        elif kind == "mod" and len(rest) == 2:
            modulus = whole(rest[1], f"{where}: modulus", 1, _MOST_MODULUS)
            nodes.append(_made(kind, (whole(rest[0], where, 0, place - 1),), modulus, nodes))
            if not nodes[nodes[-1].of[0]].is_whole:
                raise ForgedError(f"{where}: a remainder of what may be no whole number")
        else:
            raise CertificateError(f"{where}: no operation {shown(kind)} of {len(rest)}")
    return nodes


def _made(kind: str, of: tuple[int, ...], number: int, nodes: list[Node]) -> Node:
    inner = [nodes[i] for i in of]
    depends = 0
    for each in inner:
        depends |= each.depends
    kept = kind in ("add", "sub", "mul", "max", "min", "pow", "abs", "mod") and all(each.is_whole for each in inner)
    return Node(kind, of, number, is_whole=kept or kind == "step", depends=depends)


@dataclass(frozen=True, slots=True)
class ValuePair:
    """What a value is on x and on x′, and how far apart these are."""

    left: Interval
    right: Interval
    apart: Interval

    @property
    def both(self) -> Interval:
        """What it is on either."""
        return hull(self.left, self.right)


_NOTHING = ValuePair(ZERO, ZERO, ZERO)
_ONE = ValuePair(UNIT, UNIT, ZERO)
_HALF = ValuePair(exact(Fraction(1, 2)), exact(Fraction(1, 2)), ZERO)


def _of(left: Interval, right: Interval, apart: Interval) -> ValuePair:
    return ValuePair(left, right, meet(apart, sub(left, right)))


def _plus(a: ValuePair, b: ValuePair) -> ValuePair:
    if a is _NOTHING or b is _NOTHING:
        return b if a is _NOTHING else a
    return _of(add(a.left, b.left), add(a.right, b.right), add(a.apart, b.apart))


def _minus(a: ValuePair, b: ValuePair) -> ValuePair:
    return _of(sub(a.left, b.left), sub(a.right, b.right), sub(a.apart, b.apart))


def _times(a: ValuePair, b: ValuePair) -> ValuePair:
    if a is _NOTHING or b is _NOTHING:
        return _NOTHING
    if a.apart == b.apart == ZERO and a.left == a.right and b.left == b.right:
        both = mul(a.left, b.left)
        return ValuePair(both, both, ZERO)
    one = add(mul(a.apart, b.left), mul(a.right, b.apart))
    other = add(mul(a.apart, b.right), mul(a.left, b.apart))
    return _of(mul(a.left, b.left), mul(a.right, b.right), meet(one, other))


def _over(a: ValuePair, b: ValuePair) -> ValuePair:
    left, right = mul(a.left, inverse(b.left)), mul(a.right, inverse(b.right))
    if a.apart == b.apart == ZERO:
        return ValuePair(left, right, ZERO)
    one = mul(sub(a.apart, mul(right, b.apart)), inverse(b.left))
    return _of(left, right, meet(one, mul(sub(a.apart, mul(left, b.apart)), inverse(b.right))))


def _power(a: ValuePair, exponent: int) -> ValuePair:
    left, right = power(a.left, exponent), power(a.right, exponent)
    if a.apart == ZERO:
        return ValuePair(left, right, ZERO)
    slope = ZERO  # u^k − v^k = (u − v)·Σ u^j v^(k−1−j)
    for j in range(exponent):
        slope = add(slope, mul(power(a.left, j), power(a.right, exponent - 1 - j)))
    return _of(left, right, mul(a.apart, slope))


def _called(kind: str, a: ValuePair) -> ValuePair:
    function = FUNCTIONS[kind]
    left, right = function(a.left), function(a.right)
    if a.apart == ZERO:
        return ValuePair(left, right, ZERO)
    slope = inverse(add(left, right)) if kind == "sqrt" else SLOPES[kind](a.both)
    return _of(left, right, mul(a.apart, slope))


def _size(a: ValuePair) -> ValuePair:
    left, right, both = size(a.left), size(a.right), a.both
    if a.apart == ZERO:
        return ValuePair(left, right, ZERO)
    most = size(a.apart)[1]
    return _of(left, right, a.apart if both[0] >= 0 else neg(a.apart) if both[1] <= 0 else (-most, most))


def _extreme(a: ValuePair, b: ValuePair, choose: Callable[..., int]) -> ValuePair:
    left = choose(a.left[0], b.left[0]), choose(a.left[1], b.left[1])
    right = choose(a.right[0], b.right[0]), choose(a.right[1], b.right[1])
    apart = hull(a.apart, b.apart)
    return ValuePair(left, right, ZERO) if apart == ZERO else _of(left, right, apart)


def _step(a: ValuePair) -> ValuePair:
    left, right = ((ONE * (each[0] > 0), ONE * (each[1] > 0)) for each in (a.left, a.right))
    apart = a.apart
    if apart == ZERO:
        return ValuePair(left, right, ZERO)
    return _of(left, right, _JUMP if apart[0] >= 0 else neg(_JUMP) if apart[1] <= 0 else _WAYS)


def _remainder(a: ValuePair, modulus: int) -> ValuePair:
    left, right = (
        each if each[0] >= 0 and each[1] < modulus * ONE else (0, (modulus - 1) * ONE) for each in (a.left, a.right)
    )
    return ValuePair(left, right, ZERO) if a.apart == ZERO else ValuePair(left, right, sub(left, right))


def _sign(a: ValuePair) -> ValuePair:
    left, right = (UNIT if each[0] >= 0 else neg(UNIT) if each[1] <= 0 else _WAYS for each in (a.left, a.right))
    return ValuePair(left, right, ZERO if a.apart == ZERO else sub(left, right))


def _jumps(a: ValuePair, along: ValuePair) -> ValuePair:
    """The derivative of what jumps: anything, and the same on both where nothing of it differs."""
    return ValuePair(ALL, ALL, ZERO if a.apart == along.apart == ZERO else ALL)


class MovedExpression:
    """One expression of a certificate, with what it needs.

    Terms of a sum, or of a multiple of one, that do not hang on the number that is replaced add 0 to its movement, and
    are left out.
    """

    def __init__(self, nodes: list[Node], root: int, replaced: int, steps: Steps) -> None:
        sums, whole, todo = set[int](), set[int](), [root]
        while todo:
            place = todo.pop()
            node = nodes[place]
            factor = {"mul": 0, "div": 1}.get(node.kind)
            if node.kind in ("add", "sub") or (factor is not None and nodes[node.of[factor]].kind == "const"):
                sums.add(place)
                whole |= set() if factor is None else {node.of[factor]}
                todo += [i for i in node.of if nodes[i].depends >> replaced & 1]
            else:
                whole.add(place)
        todo = list(whole)
        while todo:
            inner = set(nodes[todo.pop()].of) - whole
            whole |= inner
            todo.extend(inner)
        self._nodes, self._root, self._replaced, self._steps = nodes, root, replaced, steps
        self._order = sorted(sums | whole)
        self._known: tuple[Box, int, dict[int, ValuePair]] | None = None  # on the box that was looked at last

    def moved(self, box: Box, sign: int) -> Interval:
        """Return how far it is apart on a box, of which only x ≥ x′ counts (sign 1), or x ≤ x′."""
        return self._values(box, sign)[self._root].apart

    def slope(self, box: Box, sign: int, side: int) -> Interval:
        """Return the derivative of its movement along one side of a box."""
        values, last = self._values(box, sign), len(box) - 1
        variable = self._replaced if side == last else side
        along: dict[int, ValuePair] = {}
        for place in self._order:
            node = self._nodes[place]
            if not node.depends >> variable & 1:
                continue
            self._steps.spend(4)
            if node.kind == "var":
                along[place] = (
                    _ONE
                    if side != self._replaced and side != last
                    else ValuePair(ZERO, UNIT, neg(UNIT))
                    if side == last
                    else ValuePair(UNIT, ZERO, UNIT)
                )
            else:
                inner = [values.get(i, _NOTHING) for i in node.of]
                along[place] = self._along(node, values[place], inner, along)
        return along.get(self._root, _NOTHING).apart

    def _along(self, node: Node, value: ValuePair, inner: list[ValuePair], along: dict[int, ValuePair]) -> ValuePair:
        kind, first = node.kind, inner[0]
        moving = [along.get(i, _NOTHING) for i in node.of]
        if kind in ("add", "sub"):
            return (_plus if kind == "add" else _minus)(*moving)
        if kind == "mul":
            if node.of[0] == node.of[1]:
                return _times(_plus(moving[0], moving[0]), first)
            return _plus(_times(moving[0], inner[1]), _times(first, moving[1]))
        if kind == "div":
            slope = _over(moving[0], inner[1])
            below = moving[1]
            return slope if below is _NOTHING else _minus(slope, _over(_times(first, below), _power(inner[1], 2)))
        if kind in ("max", "min"):
            chosen = _times(_sign(_minus(*inner)), _minus(*moving))
            return _times(_HALF, (_plus if kind == "max" else _minus)(_plus(*moving), chosen))
        (before,) = moving
        if kind == "pow":
            many = exact(Fraction(node.number))
            return _times(before, _times(_power(first, node.number - 1), ValuePair(many, many, ZERO)))
        if kind == "sqrt":
            return _over(before, _plus(value, value))
        if kind == "exp":
            return _times(before, value)
        if kind == "log":
            return _over(before, first)
        if kind == "atan":
            return _over(before, _plus(_ONE, _power(first, 2)))
        if kind == "sin":
            return _times(before, _called("cos", first))
        if kind == "cos":
            return _minus(_NOTHING, _times(before, _called("sin", first)))
        return _times(before, _sign(first)) if kind == "abs" else _jumps(first, before)

    def _values(self, box: Box, sign: int) -> dict[int, ValuePair]:
        if self._known is not None and self._known[:2] == (box, sign):
            return self._known[2]
        here, there = box[self._replaced], box[-1]
        gap = sub(here, there)
        gap = (max(gap[0], 0), max(gap[1], 0)) if sign > 0 else (min(gap[0], 0), min(gap[1], 0))
        values: dict[int, ValuePair] = {}
        self._steps.spend(4 * len(self._order))
        for place in self._order:
            node = self._nodes[place]
            if node.kind == "var":
                own = node.number == self._replaced
                side = box[node.number]
                values[place] = ValuePair(here, there, gap) if own else ValuePair(side, side, ZERO)
            else:
                values[place] = _value_of_node(node, [values.get(i, _NOTHING) for i in node.of])
        self._known = box, sign, values
        return values


def _value_of_node(node: Node, inner: list[ValuePair]) -> ValuePair:
    kind = node.kind
    if kind == "const":
        return ValuePair(node.value, node.value, ZERO)
    first = inner[0]
    if kind == "mul":
        return _power(first, 2) if node.of[0] == node.of[1] else _times(*inner)
    if kind in ("max", "min"):
        return _extreme(inner[0], inner[1], max if kind == "max" else min)
    if kind in _BINARY:
        return _BINARY[kind](*inner)
    if kind == "pow":
        return _power(first, node.number)
    if kind == "mod":
        return _remainder(first, node.number)
    return _size(first) if kind == "abs" else _step(first) if kind == "step" else _called(kind, first)


_BINARY: dict[str, Callable[..., ValuePair]] = {"add": _plus, "sub": _minus, "div": _over}


def plain_range(nodes: list[Node], box: Sequence[Interval]) -> list[Interval]:
    """Return a range of every node on a box."""
    ranges: list[Interval] = []
    for node in nodes:
        inner = [ValuePair(ranges[i], ranges[i], ZERO) for i in node.of]
        ranges.append(box[node.number] if node.kind == "var" else _value_of_node(node, inner).left)
    return ranges


def check_defined(nodes: list[Node], within: Box, steps: Steps) -> None:
    """Raise unless everything is defined, and nothing overflows, wherever each number is within its range.

    The box is cut where the plain ranges do not show it, up to a budget.
    """
    todo: list[Box] = [within]
    fault = ""
    for looked in range(_MOST_DEFINED):
        if not todo:
            return
        box = todo.pop(0 if looked < _WIDE_FIRST else -1)
        steps.spend(2 * len(nodes))
        ranges = plain_range(nodes, box)
        node = next((each for each, own in zip(nodes, ranges, strict=True) if not _is_defined(each, own, ranges)), None)
        if node is None:
            continue
        held = [f"number {j} is {_side_text(side)}" for j, side in enumerate(box) if node.depends >> j & 1]
        fault = f"{_FAULTS.get(node.kind, 'too large a number')} where {' and '.join(held)}"
        side = max(range(len(box)), key=lambda j: box[j][1] - box[j][0])
        first, last = box[side]
        middle = (first + last) // 2
        if not first < middle < last or _is_outside(node, ranges):
            break
        todo += [(*box[:side], half, *box[side + 1 :]) for half in ((first, middle), (middle, last))]
    raise ForgedError(f"it is not shown that the expressions are defined on the whole domain: {fault}")


_FAULTS = {
    "sqrt": "a root of what may be below 0",
    "log": "a logarithm of what may be 0 or less",
    "div": "a quotient by what may be 0",
}


def _side_text(side: Interval) -> str:
    low, high = (float(f"{float(Fraction(end, ONE)):.6g}") for end in side)
    return f"{low:g}" if low == high else f"from {low:g} to {high:g}"


def _is_defined(node: Node, own: Interval, ranges: list[Interval]) -> bool:
    if node.kind in _FAULTS:
        low, high = ranges[node.of[-1]]
        if not (low > 0 or (high < 0 and node.kind == "div") or (low == 0 and node.kind == "sqrt")):
            return False
    return max(abs(own[0]), abs(own[1])) < _LARGEST


def _is_outside(node: Node, ranges: list[Interval]) -> bool:
    """Whether what is not defined somewhere is so nowhere, as far as its operands show."""
    low, high = ranges[node.of[-1]] if node.of else ZERO
    outside = {"sqrt": high < 0, "log": high <= 0, "div": low == high == 0, "exp": low > _LARGEST_EXPONENT}
    return outside.get(node.kind, False)


def check_tree(expression: MovedExpression, box: Box, sign: int, most: Interval, given: object, where: str) -> None:
    """Raise unless a tree shows that an expression moves by at most so much on half of a box.

    Args:
        expression: what moves; number k of the box is replaced.
        box: the ranges of all numbers, and of what replaces number k.
        sign: 1 for the half where number k is at least what replaces it; -1 for the other one.
        most: the bound, at least 0.
        given: the tree, from its root on, each part before what it is made of: "." for a part on which the bound
            holds, "c" for one on which it holds by mean values, ``["m", [[side, end], …]]`` where it is monotone along
            sides, which collapse to these ends, ``["s", side, place]`` for a cut.
        where: for errors.

    Raises:
        ForgedError: if some part does not show it.
        CertificateError: if it is no tree.
    """
    bound = most[0]
    replaced, last = expression._replaced, len(box) - 1
    todo = [box]
    for place, part in enumerate(items(given, where, MOST_PARTS, 1)):
        if not todo:
            raise CertificateError(f"{where}: it goes on after its end")
        box = todo.pop()
        here, there = box[replaced], box[last]
        is_empty = here[1] < there[0] if sign > 0 else here[0] > there[1]
        if part == "." and type(part) is str:
            if not is_empty and expression.moved(box, sign)[1] > bound:
                raise ForgedError(f"{where}, part {place}: the movement is above the bound")
        elif part == "c" and type(part) is str:
            if not is_empty and _by_mean_values(expression, box, sign) > bound:
                raise ForgedError(f"{where}, part {place}: the movement is above the bound by mean values")
        else:
            kind, *rest = items(part, f"{where}, part {place}", 3, 2)
            if kind == "m" and type(kind) is str and len(rest) == 1:
                todo.append(_collapsed(expression, box, sign, rest[0], f"{where}, part {place}"))
            elif kind == "s" and type(kind) is str and len(rest) == 2:
                side = whole(rest[0], f"{where}: a side", 0, last)
                cut = exact(rational(rest[1], f"{where}: a cut"))[0]
                first, end = box[side]
                if not first <= cut <= end:
                    raise ForgedError(f"{where}, part {place}: it is cut outside of itself")
                todo += [(*box[:side], half, *box[side + 1 :]) for half in ((cut, end), (first, cut))]
            else:
                raise CertificateError(f"{where}: no part {shown(kind)}")
    if todo:
        raise CertificateError(f"{where}: it ends too early")


def _collapsed(expression: MovedExpression, box: Box, sign: int, given: object, where: str) -> Box:
    """Return the end of a box at which a movement is largest, which is monotone along these sides.

    Where the way to that end leaves the half that counts, it meets x = x′ first, where nothing moves.
    """
    corner = list(box)
    for each in items(given, where, len(box), 1):
        side, end = items(each, where, 2, 2)
        side, end = whole(side, f"{where}: a side", 0, len(box) - 1), whole(end, f"{where}: an end", 0, 1)
        low, high = expression.slope(box, sign, side)
        if not (low >= 0 if end else high <= 0):
            raise ForgedError(f"{where}: it is not monotone along side {side}")
        corner[side] = (box[side][end], box[side][end])
    return tuple(corner)


def _by_mean_values(expression: MovedExpression, box: Box, sign: int) -> int:
    """The largest movement by the one in the middle and the slopes on the whole box."""
    middle = tuple(((low + high) // 2,) * 2 for low, high in box)
    here, there = middle[expression._replaced], middle[-1]
    if here != there and (here[0] > there[0]) != (sign > 0):
        raise ForgedError("a middle is on the other half of its box")
    movement = expression.moved(middle, sign)
    for side, (low, high) in enumerate(box):
        if low < high:
            slope = expression.slope(box, sign, side)
            movement = add(movement, mul(slope, sub((low, high), middle[side])))
    return movement[1]


__all__ = ["MOST_NUMBERS", "MovedExpression", "Node", "check_defined", "check_tree", "plain_range", "read_nodes"]
