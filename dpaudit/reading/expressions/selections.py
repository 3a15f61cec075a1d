"""What is drawn by chance, and which of several options is released by it? Noise, coins, orders and choices.

A choice by chances e^u/Σe^u is the exponential mechanism (McSherry & Talwar 2007); of several numbers with noise the
place of the largest is released. A loop through a random order that ends at the first coin, whose chance is e^u with
the largest u = 0, is permute-and-flip (McKenna & Sheldon 2020), and has the law of the largest u with exponential noise
(Ding, Kifer, Saghaian, Steinke, Wang, Xiao & Zhang 2021).
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.reading.draws import Kind, NoiseSource
from dpaudit.reading.expressions.graph import (
    CHOSEN,
    COMPARED,
    SCORES,
    SELECTED,
    TWO_SIDED,
    Noisy,
    PlaceRelease,
    Seen,
    UnaddedNoise,
    Value,
    is_private,
    line,
    noise_of,
    refuse,
)
from dpaudit.reading.rewrite import Statements, ask, at, own_nodes, read, written

_SELECTING = ("laplace", "gumbel", "exponential")
_PERMUTED = (
    "permute-and-flip is for i in rng.permutation(n):, with assignments, and in it if rng.random() < p: return i"
)


class Coin(UnaddedNoise):
    """True with a chance: 1 with the chance that a uniform number is below."""

    __slots__ = ("chance",)

    def __init__(self, chance: Value, step: int) -> None:
        super().__init__("bernoulli", Fraction(1))
        self.chance, self.step = chance, step


class Placed(UnaddedNoise):
    """What stands at one place of a random order."""

    __slots__ = ("order", "place")

    def __init__(self, order: Order, place: int) -> None:
        super().__init__("permutation", Fraction(1))
        self.order, self.place = order, place


class Order:
    """A random order of some items, each order as likely as another; it is gone through once."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items, self.is_used = list(items), False
        if any(isinstance(each, Value | UnaddedNoise | Noisy | Seen) for each in self.items):
            refuse(f"a random order of numbers of the data; {_PERMUTED}")

    @property
    def places(self) -> list[Placed]:
        """What is seen of it before anybody goes through it."""
        return [Placed(self, place) for place in range(len(self.items))]

    @staticmethod
    def of(values: Any) -> Order | None:
        """Return the order that a list or an array is of, as a whole and from its start."""
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        if not isinstance(listed, list | tuple) or not listed or not isinstance(listed[0], Placed):
            return None
        order = listed[0].order
        whole = [isinstance(each, Placed) and each.order is order and each.place == k for k, each in enumerate(listed)]
        return order if all(whole) and len(listed) == len(order.items) else None


class Flips(Statements):
    """``for x in order: …; if coin: return y`` is asked of the domain as a whole, where the order is a random one."""

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802 – a name of the syntax tree
        """What is assigned before the coin is of one item alone: nothing is kept for the next one, or afterwards."""
        *before, last = node.body
        if not isinstance(node.target, ast.Name) or not _ends_at_a_coin(before, last):
            return super().visit_For(node)
        assert isinstance(last, ast.If)
        through, flip, item = self.temporary(), self.temporary(), node.target.id
        kept = {each.id for one in (*before, last.test) for each in ast.walk(one) if _is_stored(each)} - {item}  # type: ignore[attr-defined]
        test = ast.Return(self.visit(copy.deepcopy(last.test)))
        body = [*self.block(copy.deepcopy(before)), test]
        each_item = ast.FunctionDef(flip, ast.arguments([], [ast.arg(item)], None, [], [], None, []), body, [], None)
        each_item.type_params = []  # type: ignore[attr-defined]
        then = [copy.deepcopy(each) for each in last.body if not isinstance(each, ast.Break)]
        statements: list[ast.stmt] = [each_item, ast.Assign([written(item)], ask("first", read(through), read(flip)))]
        statements += [ast.Assign([written(name)], ask("forgotten")) for name in sorted(kept)]
        start = ast.Assign([written(through)], self.visit(node.iter))
        node.iter = read(through)
        loop = super().visit_For(node)
        return at(node, [start, ast.If(ask("is_order", read(through)), [*statements, *self.block(then)], [loop])])


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _ends_at_a_coin(before: list[ast.stmt], last: ast.stmt) -> bool:
    """Whether a body assigns names, and leaves the loop at its end on a condition."""
    if not all(isinstance(each, ast.Assign | ast.AnnAssign | ast.Expr | ast.Pass) for each in before):
        return False
    if not isinstance(last, ast.If) or last.orelse or not isinstance(last.body[-1], ast.Return | ast.Break):
        return False
    leaving = (ast.Yield, ast.YieldFrom, ast.Break, ast.Continue)
    inner = [each for one in (*before, last.test, *last.body[:-1]) for each in (one, *own_nodes(one))]
    return not any(isinstance(each, leaving) for each in inner)


def drawn(source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any], releases: list[PlaceRelease]) -> Any:
    """Return what a call of a source of randomness gives."""
    of_numpy = source.kind in (Kind.GENERATOR, Kind.LEGACY)
    if not source.takes(args, keywords):
        return refuse(f"{source.title} with arguments that it does not take, so that it raises")
    if source.name in _OTHERS and (source.kind is Kind.PYTHON or of_numpy):
        result = _OTHERS[source.name](of_numpy, args, keywords, releases)
        if result is not None:
            return result
    if source.kind is Kind.SCIPY and source.name == "bernoulli" and len(args) == 1 and not keywords:
        return _coin(*args)
    bound = source.bound(args, keywords)
    known = (*TWO_SIDED, *_SELECTING, "uniform")
    if bound is None or source.law is None or source.law.name not in known:
        return refuse(f"{source.title}; known is the noise of laplace, normal, gumbel and exponential, and choice(p=…)")
    given, size = bound
    law = source.law
    location = given.get(law.location, 0) if law.location else 0
    if any(is_private(each) for name, each in given.items() if name != law.location):
        refuse("noise whose scale hangs on the data: two scales of one noise have no bound; use a public one")
    assert law.scale is not None
    if law.name == "uniform" and (location != 0 or law.scale(**given) != 1 or size is not None):
        refuse(f"uniform noise, which hides nothing; {_PERMUTED}")
    return noise_of(law.name, law.scale(**given), location, size)


# --- coins and orders ---------------------------------------------------------------------------------------------


def _coin(chance: Any) -> Any:
    if isinstance(chance, Value):
        return Coin(chance, 0)
    return refuse(f"a coin of a chance that does not hang on the data, or of several; {_PERMUTED}")


def _rand(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], _: Any) -> Any:
    return noise_of("uniform", 1) if not args and not keywords else None


def _binomial(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], _: Any) -> Any:
    given = {**dict(zip(("n", "p"), args, strict=False)), **keywords}
    return _coin(given["p"]) if given.keys() == {"n", "p"} and given["n"] == 1 and len(args) <= 2 else None


def _permutation(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], _: Any) -> Any:
    if len(args) != 1 or keywords:
        return None
    items = range(int(args[0])) if isinstance(args[0], int | np.integer) else args[0]
    if not isinstance(items, range | list | tuple | np.ndarray) or np.ndim(items) != 1:
        return None
    return _array(Order(list(items)).places)


def _array(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _shuffle(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], _: Any) -> Any:
    if len(args) != 1 or keywords or not isinstance(args[0], list):
        return refuse("shuffle() of what is no list; write order = rng.permutation(n)")
    args[0][:] = Order(args[0]).places
    return Seen("shuffled")


def _sample(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], _: Any) -> Any:
    given = {**dict(zip(("population", "k"), args, strict=False)), **keywords}
    if of_numpy or given.keys() != {"population", "k"} or len(args) > 2:
        return None
    items = given["population"]
    whole = isinstance(items, range | list | tuple) and given["k"] == len(items)
    return Order(items).places if whole else None


def flipped(order: Order, chances: Sequence[Value], releases: list[PlaceRelease]) -> Seen:
    """Release the item of a random order at which a coin is the first that shows its head."""
    if order.is_used:
        refuse("a random order that is gone through twice; draw another one")
    order.is_used = True
    exponents = _logarithms(chances)
    scores = None if exponents is None else _less_the_largest(exponents)
    if scores is None:
        refuse("a coin for each option, not of the chance e^(c·(score − the largest score)), p = np.exp(q - q.max())")
    releases.append(PlaceRelease(SELECTED, "exponential", Fraction(1), scores, line()))
    return _item(order.items, len(releases) - 1)


def _item(items: Sequence[Any], number: int) -> Seen:
    """One of some public items, the place of which is released."""
    release = Seen("release", number)
    return release if list(items) == list(range(len(items))) else Seen("item", tuple(map(repr, items)), release.form)


def _less_the_largest(values: list[Value]) -> tuple[Value, ...] | None:
    """Return scores, where each value is one of them less their largest; None where that is not seen."""
    graph = values[0].graph
    parts = [graph.linear(each) for each in values]
    for top, less in parts[0].items():
        if top < 0 or less > 0 or graph.nodes[top][0] != "max" or any(each.get(top) != less for each in parts):
            continue
        scores = [{place: by / -less for place, by in each.items() if place != top} for each in parts]
        largest = _largest_of(Value(graph, top), scores)
        if all(each in largest for each in scores) and all(each in scores for each in largest):
            return tuple(graph.difference(each, Value(graph, top) * less) for each in values)
    return None


def _largest_of(value: Value, scores: list[dict[int, Fraction]]) -> list[dict[int, Fraction]]:
    """Of what it is the largest, down to these scores."""
    linear = value.graph.linear(value)
    kind, *of = value.graph.nodes[value.place]
    if kind != "max" or linear in scores:
        return [linear]
    return [one for each in of for one in _largest_of(Value(value.graph, each), scores)]


# --- the largest of several, and choices --------------------------------------------------------------------------


def selected(scores: list[Any], releases: list[PlaceRelease]) -> Seen:
    """Release which of some numbers with noise is largest."""
    graph = next(each.value.graph for each in scores if isinstance(each, Noisy))
    scores = [Noisy(graph.constant(0), each) if isinstance(each, UnaddedNoise) else each for each in scores]
    if not all(isinstance(each, Noisy) and each.place == -1 for each in scores):
        return refuse("the largest of numbers of which some have no noise, or were seen before")
    laws = {(each.draw.law, each.draw.scale, each.draw.unit and each.draw.unit.place) for each in scores}
    if len(laws) != 1 or next(iter(laws))[0] not in _SELECTING:
        refuse(f"the largest of numbers, unless all have one noise of these: {', '.join(_SELECTING)}")
    ((law, scale, _),) = laws
    for each in scores:
        each.place = COMPARED
    releases.append(
        PlaceRelease(SELECTED, law, scale, tuple(each.value for each in scores), line(), scores[0].draw.unit)
    )
    return Seen("release", len(releases) - 1)


class Largest(Noisy):
    """The largest of some numbers with noise."""

    __slots__ = ("members",)

    def __init__(self, members: list[Noisy]) -> None:
        super().__init__(members[0].value, UnaddedNoise("largest", Fraction(1)))
        self.members = members

    def is_of(self, numbers: list[Any]) -> bool:
        """Whether it is that of these numbers, in their order."""
        return len(numbers) == len(self.members) and all(map(operator.is_, numbers, self.members))

    def seen(self, releases: list[PlaceRelease]) -> Seen:
        """All of them are released."""
        return Seen("max", *(each.seen(releases).form for each in self.members))


def picked(items: list[Any], by: list[Any], releases: list[PlaceRelease]) -> Any:
    """Return the item of which a number with noise is largest: of items that are tuples, each part by itself."""
    release = selected(by, releases).form[1]

    def part(items: list[Any]) -> Any:
        if all(isinstance(each, Noisy) and each.place == COMPARED for each in items):
            return items[0]  # which may not be seen any more
        if all(isinstance(each, tuple) for each in items) and len({len(each) for each in items}) == 1:
            return tuple(part(list(each)) for each in zip(*items, strict=True))
        if any(isinstance(each, Value | UnaddedNoise | Noisy | Seen) for each in items):
            refuse("the one of several numbers of the data by which another number is largest")
        return _item(items, release)

    return part(items)


def chosen(chances: list[Any], releases: list[PlaceRelease]) -> Seen:
    """Release what was chosen by chances that hang on the data."""
    first = next(each for each in chances if isinstance(each, Value))
    graph, values = first.graph, tuple(_as_quotient(first.of(each)) for each in chances)
    if not _are_chances(values):
        refuse("chances of which it is not seen that they add up to 1; write p = e / e.sum()")
    nodes = [graph.nodes[each.place] for each in values]
    parts = [Value(graph, node[1]) for node in nodes if node[0] == "div" and node[2] == nodes[0][2]]
    exponents = _logarithms(parts if len(parts) == len(values) else values)
    law, shown = ("", values) if exponents is None else (SCORES, tuple(exponents))
    releases.append(PlaceRelease(CHOSEN, law, Fraction(1), shown, line()))
    return Seen("release", len(releases) - 1)


def _logarithms(values: Sequence[Value]) -> list[Value] | None:
    """Return u of numbers that are written as e^u; None where one is not."""
    logarithms = [_logarithm(each) for each in values]
    known = [each for each in logarithms if each is not None]
    return known if len(known) == len(logarithms) else None


def _logarithm(value: Value) -> Value | None:
    graph = value.graph
    kind, *of = graph.nodes[value.place]
    if kind == "exp":
        return Value(graph, of[0])
    if kind == "const":
        return value.called("log") if of[0] > 0 else None
    if kind not in ("mul", "div", "max"):
        return None
    one, other = (_logarithm(Value(graph, each)) for each in of)
    if one is None or other is None:
        return None
    return one + other if kind == "mul" else graph.difference(one, other) if kind == "div" else one.maximum(other)


def _as_quotient(value: Value) -> Value:
    """Return e^(u − log v), as of a softmax in logarithms, as e^u/v."""
    graph = value.graph
    kind, *of = graph.nodes[value.place]
    inner, *parts = graph.nodes[of[0]] if kind == "exp" else ("",)
    if inner != "sub" or graph.nodes[parts[1]][0] != "log":
        return value
    return Value(graph, parts[0]).called("exp") / Value(graph, graph.nodes[parts[1]][1])


def _are_chances(values: tuple[Value, ...]) -> bool:
    """Whether values add up to 1, whatever the data are: as they stand, or as parts of their own sum."""
    graph = values[0].graph
    total = values[0]
    for each in values[1:]:
        total = total + each
    if graph.linear(total) == {-1: 1}:
        return True
    nodes = [graph.nodes[each.place] for each in values]
    if any(node[0] != "div" for node in nodes) or len({node[2] for node in nodes}) != 1:
        return False
    parts = Value(graph, nodes[0][1])
    for node in nodes[1:]:
        parts = parts + Value(graph, node[1])
    return graph.linear(parts) == graph.linear(Value(graph, nodes[0][2]))


def _choice(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], releases: list[PlaceRelease]) -> Any:
    names = ("a", "size", "replace", "p")
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if not of_numpy:
        return None
    if given.keys() - {*names, "shuffle"} or len(args) > len(names) or "a" not in given:
        refuse("a choice other than choice(options, p=chances), of one option")
    options, size = given["a"], given.get("size")
    many = int(options) if isinstance(options, int | np.integer) else len(options)
    chances = given.get("p")
    if isinstance(options, Value) or (not isinstance(options, int) and any(isinstance(e, Value) for e in options)):
        refuse("a choice among numbers of the data; choose a place, by chances of scores")
    if chances is None and given.get("replace") is False and size == many and given.get("shuffle", True) is True:
        return _array(Order(range(many) if isinstance(options, int | np.integer) else options).places)
    if size not in (None, 1):
        refuse("a choice of several options; make one after the other")
    if chances is None or not any(isinstance(each, Value) for each in chances):
        return Seen(object())
    if len(chances) != many:
        raise ValueError("'a' and 'p' must have same size")
    choice = chosen(list(chances), releases)
    return choice if size is None else [choice]


def _choices(of_numpy: bool, args: tuple[Any, ...], keywords: dict[str, Any], releases: list[PlaceRelease]) -> Any:
    """``random.choices``: by weights, which it divides by their sum."""
    given = {**dict(zip(("population", "weights"), args, strict=False)), **keywords}
    weights = given.get("weights")
    if given.keys() - {"population", "weights", "k"} or given.get("k", 1) != 1 or not isinstance(weights, list | tuple):
        return refuse("a choice other than random.choices(options, weights), of one option")
    if any(isinstance(each, Value) for each in given["population"]) or len(given["population"]) != len(weights):
        refuse("a choice among numbers of the data; choose a place, by chances of scores")
    if not any(isinstance(each, Value) for each in weights):
        return [Seen(object())]
    total = sum(weights[1:], weights[0])
    return [chosen([each / total for each in weights], releases)]


_OTHERS: dict[str, Callable[..., Any]] = {
    "rand": _rand, "binomial": _binomial, "permutation": _permutation, "shuffle": _shuffle, "sample": _sample,
    "choice": _choice, "choices": _choices,
}  # fmt: skip
"""Draws that are no noise of a scale, by the names of NumPy and `random`; each gives None for what it does not know."""

__all__ = ["Coin", "Flips", "Largest", "Order", "drawn", "flipped", "picked", "selected"]
