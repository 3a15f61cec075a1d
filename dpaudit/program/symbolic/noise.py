"""How is one path of a program read? Draws are unknown numbers, and comparisons are decided.

A run replays the given decisions and then takes the first open side of every branch; the other sides are left for
other runs. All runs share the nodes of the tree, so a replay is compared with what was asked before. A side is left
out only with a Farkas vector that shows that no run takes it.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn

import numpy as np

from dpaudit.decimals import decimal_of, short_decimal
from dpaudit.errors import UsageError
from dpaudit.program.laws import LAWS, Support
from dpaudit.program.noise import Noise
from dpaudit.program.outcome import Raised, global_state, raised
from dpaudit.program.symbolic import linear
from dpaudit.program.symbolic.tree import (
    DEPTH,
    NOT_READ,
    ArgmaxNode,
    CompareNode,
    DeadNode,
    DrawNode,
    LeafNode,
    Node,
    NoiseDraw,
    Output,
    ProgramPath,
    ProgramTree,
    Way,
    argmax_conditions,
    continuous_names,
    draw_name,
    outcomes,
    supports,
    way_condition,
)
from dpaudit.program.symbolic.value import (
    CHOICE_IS_READ,
    RefusedError,
    SymbolicValue,
    end_of,
    further_draws,
    line_of,
    zero_sign,
)

_WITH_A_BOUND = f"a choice with noise that is read, and proved, is {CHOICE_IS_READ}, or with noise.laplace"
_NEAREST = {
    "gaussian": f"{_WITH_A_BOUND}; Gaussian noise on numbers is bounded by dpaudit account --gaussian SIGMA, and of "
    "a data frame by a proof with domain=…",
}
MOST_DRAWS = 1_000  # on a path
MOST_BRANCHES = 10_000  # on a path
_ON_THE_LINE = (Support.LINE, Support.INTEGERS)
_WAYS: dict[Way, tuple[Way, ...]] = {
    "<": ("<", ">="),
    ">=": ("<", ">="),
    "<=": ("<=", ">"),
    ">": ("<=", ">"),
    "=": ("<", "=", ">"),
}

RUNNING: ContextVar[SymbolicNoise | None] = ContextVar("running", default=None)


class SymbolicError(UsageError):
    """The symbolic reading does not support the program; the message names the line and the reason."""


@dataclass(frozen=True, slots=True)
class UnknownNumber:
    """A number of the data with any value: a real number or an integer.

    Its name must not begin with h, which is reserved for draws.
    """

    name: str
    is_whole: bool = False

    def __post_init__(self) -> None:
        if not self.name[:1].isalpha() or self.name.startswith("h"):
            raise UsageError(f"an unknown number is called q0, x, s1 or the like, not {self.name!r}")


class AbandonedError(BaseException):
    """The run has reached a point of probability zero; there is nothing more to read."""


class SymbolicNoise(Noise):
    """The noise of one path: draws are unknown numbers, and comparisons are decided.

    Attributes:
        decisions: the sides that this path takes at its branches.
        left_over: the decisions of paths that branch off this one and have not been read yet.
        ended_at: names the line at which the program ended, while its output is read; None before.
    """

    __slots__ = ("_conditions", "_decided", "_draws", "_here", "_is_null", "_nodes", "_over", "_refused", "_seen",
                 "_slot", "decisions", "ended_at", "left_over")  # fmt: skip

    def __init__(self, nodes: list[Node], decisions: list[Any]) -> None:
        self._nodes = nodes
        self.decisions = list(decisions)
        self.left_over: list[list[Any]] = []
        self._slot: tuple[int, Any] | None = None  # the node before the next one, and the side taken there
        self._here = 0 if nodes else NOT_READ
        self._decided = 0
        self._conditions: list[linear.Constraint] = []
        self._seen: set[str] = set()
        self._draws: list[NoiseDraw] = []
        self._is_null = False
        self._over = False
        self._refused: str | None = None
        self.ended_at: Callable[[], str | None] | None = None

    def given(self, value: Any) -> Any:
        """Return data or parameters with numbers and unknowns replaced by exact numbers of this path."""
        if isinstance(value, UnknownNumber):
            return SymbolicValue(self, linear.Affine.variable(value.name), is_whole=value.is_whole)
        if type(value) in (list, tuple):
            return type(value)(map(self.given, value))
        if type(value) is dict:
            return {key: self.given(member) for key, member in value.items()}
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | Fraction | np.integer):
            return value
        if isinstance(value, int | np.integer):
            return SymbolicValue(self, linear.Affine({}, int(value)), is_whole=True, known=True)
        if isinstance(value, Fraction):
            return SymbolicValue(
                self, linear.Affine({}, linear.whole_where_possible(value)), is_whole=False, known=True
            )
        if not math.isfinite(value):
            return float(value)
        exact = short_decimal(value)
        if exact is None:
            raise SymbolicError(f"the number {value!r} is no short decimal; give it as a Fraction")
        number, zero = linear.Affine({}, linear.whole_where_possible(exact)), zero_sign(float(value))
        return SymbolicValue(self, number, is_whole=False, zero=zero, known=True)

    # --- how a run ends ----------------------------------------------------------------------------------

    def refuse(self, reason: str) -> NoReturn:
        """Raise an error about what the reading does not support; it names the line of the program."""
        running = RUNNING.get() or self  # a program may use a value that it kept from an earlier run
        where = None if running.ended_at is None else running.ended_at()
        running._refused = running._refused or f"{where or line_of(sys._getframe(1))}: {reason}"
        raise RefusedError(running._refused)

    def ensure_own(self, other: SymbolicNoise) -> None:
        """Raise if a program uses a number of another run, or continues after it was refused or ended."""
        if other is not self or self._over:
            self.refuse("noise or a number of an earlier run; a program must keep no state between runs")
        if self._refused is not None:
            raise RefusedError(self._refused)
        if self._is_null:
            raise AbandonedError

    def close(self) -> None:
        """End the run; raise an error that the program may have swallowed."""
        if self._refused is not None:
            raise RefusedError(self._refused)
        if self._is_null:
            raise AbandonedError
        self._over = True

    def end(self, output: Output, *, is_null: bool = False) -> ProgramPath | None:
        """Record the leaf that the run reached, and return it."""
        self._over = True
        if self._here != NOT_READ:
            node = self._nodes[self._here]
            if not isinstance(node, LeafNode):
                if is_null:
                    return None  # all sides from here on are dead
                raise SymbolicError("the program ends earlier than on the same draws before; it must not keep a state")
            return ProgramPath(self._here, tuple(self._conditions), tuple(self._draws), output, is_null)
        leaf = ProgramPath(len(self._nodes), tuple(self._conditions), tuple(self._draws), output, is_null)
        self._append(LeafNode(leaf))
        return leaf

    # --- the tree ----------------------------------------------------------------------------------------

    def _append(self, node: Node) -> None:
        """Add a new node at the current place."""
        number = len(self._nodes)
        self._nodes.append(node)
        if self._slot is not None:
            self._link(*self._slot, number)
        self._here = number

    def _link(self, parent: int, way: Any, child: int) -> None:
        node = self._nodes[parent]
        if isinstance(node, DrawNode):
            node.then = child
        elif isinstance(node, CompareNode):
            node.ways[way] = child
        elif isinstance(node, ArgmaxNode):
            node.then[way] = child

    def _known(self) -> Node | None:
        return self._nodes[self._here] if self._here != NOT_READ else None

    def _go(self, way: Any, child: int) -> None:
        self._slot, self._here = (self._here, way), child

    def _differs(self) -> NoReturn:
        self.refuse("another draw or branch than on the same draws before; a program must keep no state between runs")

    def _record(self, draw: NoiseDraw) -> SymbolicValue:
        linear.spend()
        self.ensure_own(self)
        if len(self._draws) >= MOST_DRAWS:
            self.refuse(f"more than {MOST_DRAWS:,} draws on one path")
        node = self._known()
        if node is None:
            node = DrawNode(draw)
            self._append(node)
        elif not isinstance(node, DrawNode) or (node.draw, node.draw.asked) != (draw, draw.asked):
            self._differs()
        self._go(None, node.then)
        self._draws.append(draw)
        name = draw_name(len(self._draws) - 1)
        return SymbolicValue(self, linear.Affine.variable(name), is_whole=draw.is_discrete)

    def _decide(
        self, new: CompareNode | ArgmaxNode, ways: Sequence[Any], conditions: Mapping[Any, list[linear.Constraint]]
    ) -> Any:
        """Take one side of a branch: the replayed one, or the first that is open."""
        self.ensure_own(self)
        node = self._known()
        if node is None:
            if self._decided >= MOST_BRANCHES:
                self.refuse(f"more than {MOST_BRANCHES:,} branches on one path")
            linear.count_branch(line_of(sys._getframe(1)))
            self._append(new)
            node = new
            here, left = self._here, []
            for way in ways:
                reason = self._why_not(conditions[way])
                if reason is None:
                    left.append(way)
                else:
                    self._link(here, way, len(self._nodes))
                    self._nodes.append(DeadNode(reason))
            if not left:  # no run takes this path at all, which only shows now
                self._is_null = True
                raise AbandonedError
            self.left_over += [[*self.decisions, way] for way in reversed(left[1:])]
            self.decisions.append(left[0])
        elif type(node) is not type(new) or _asked(node) != _asked(new):
            self._differs()
        way = self.decisions[self._decided]
        self._decided += 1
        self._go(way, node.ways[way] if isinstance(node, CompareNode) else node.then[way])
        for condition in conditions[way]:
            self._conditions.append(condition)
            self._seen.update(condition.expression.terms)
            if condition.sign == "=" and not continuous_names(self._draws).isdisjoint(condition.expression.terms):
                self._is_null = True
                raise AbandonedError
        return way

    def _why_not(self, conditions: list[linear.Constraint]) -> Any:
        """Return why no run takes a side with these conditions, or None."""
        if self._some_variable_decides(conditions):
            return None
        return linear.contradiction(
            [*self._conditions, *conditions, *supports(self._draws)], continuous_names(self._draws)
        )

    def _some_variable_decides(self, conditions: list[linear.Constraint]) -> bool:
        """Whether a variable that is new here can make all conditions true, whatever the others are."""
        return any(
            len({each.expression.terms.get(name, 0) > 0 for each in conditions}) == 1
            and all(name in each.expression.terms for each in conditions)
            for name in conditions[0].expression.terms
            if name not in self._seen and self._is_on_the_line(name)
        )

    def _is_on_the_line(self, name: str) -> bool:
        return not name.startswith("h") or self._draws[int(name[1:])].law.support in _ON_THE_LINE

    # --- the interface of the program --------------------------------------------------------------------

    def compare(self, expression: linear.Affine, way: Way) -> bool:
        """Decide whether the expression is <, ≤, =, ≥ or > 0."""
        if expression.is_constant:
            return way_condition(expression, way).holds({})
        self.ensure_own(self)
        ways = _WAYS[way]
        conditions = {each: [way_condition(expression, each)] for each in ways}
        taken: Way = self._decide(CompareNode(expression, dict.fromkeys(ways, NOT_READ)), ways, conditions)
        return taken == way

    def argmax(self, values: Sequence[Any]) -> int:
        """Decide which value is the first largest, as one branch."""
        self.ensure_own(self)
        values = list(values)
        anyone = next((value for value in values if type(value) is SymbolicValue), None)
        if anyone is None:
            return super().argmax(values)
        listed = [anyone._other(value, or_inf=True) for value in values]
        if len(values) < 2 or not all(type(value) is SymbolicValue for value in listed):
            return super().argmax(values)
        expressions = tuple(value.expression for value in listed)  # type: ignore[union-attr]
        if any((a - b).is_constant for place, a in enumerate(expressions) for b in expressions[:place]):
            return super().argmax(values)
        ways = range(len(values))
        conditions = {way: argmax_conditions(expressions, way) for way in ways}
        winner: int = self._decide(ArgmaxNode(expressions, [NOT_READ] * len(values)), ways, conditions)
        return winner

    def ensure_zero(self, value: SymbolicValue) -> None:
        """Refuse a float that may be −0.0 with positive probability, since an observer can distinguish it from 0.0."""
        names = value.expression.terms
        drawn = any(not name.startswith("q") for name in names)
        if value.zero == 1 or not continuous_names(self._draws).isdisjoint(names) or (names and not drawn):
            return  # a continuous draw is 0 with probability 0; a function of the data alone is released as it is
        if names or not value.expression.constant:
            self.refuse("an output that may be −0.0, which is told from 0.0; add 0.0 to it")

    def _exactly(self, value: Any, what: str) -> Fraction:
        """Return a scale or a probability as a fraction."""
        if type(value) is SymbolicValue:
            number = value.expression
        elif isinstance(value, int | float | Fraction | np.number):
            number = SymbolicValue(self, linear.Affine(), is_whole=True)._other(value).expression  # type: ignore[union-attr]
        else:
            self.refuse(f"{what} that is {type(value).__name__}")
        if not number.is_constant:
            self.refuse(f"{what} that depends on data or noise")
        return Fraction(number.constant)

    def _argument(self, method: str, what: str, value: Any) -> Any:
        # checked before it is compared with 0, since that would be a branch
        return self._exactly(value, what) if LAWS[method].is_provable else value

    def _draw(self, method: str, *arguments: Any) -> Any:
        law = LAWS[method]
        if not law.is_provable:
            nearest = _NEAREST.get(method, _WITH_A_BOUND)
            self.refuse(f"noise.{method}, which no shift of the draws carries over at a bounded cost; {nearest}")
        exact = tuple(map(Fraction, arguments))
        asked = (method, *exact)
        if law.outcomes is not None:
            return self._one_of(asked)
        if law.location_and_scale is not None:
            location, scale = law.location_and_scale(*exact)
            return self._record(NoiseDraw(method, scale, asked)) + location
        return self._record(NoiseDraw(method, exact[0], asked))

    def _one_of(self, asked: tuple[Any, ...]) -> Any:
        """Draw one of finitely many values by comparing a uniform draw with their cumulative probabilities."""
        draw = self._record(
            NoiseDraw("uniform", Fraction(1), asked)
        )  # even for a single value, since runs are compared draw by draw
        options = outcomes(asked)
        assert options is not None
        for value, reached in options[:-1]:
            if draw < reached:
                return value
        return options[-1][0]

    def choice(self, options: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
        """One of the options, with known weights."""
        options = list(options)
        if not options:
            raise ValueError("noise.choice: there must be at least one option")
        given = [1] * len(options) if weights is None else list(weights)
        exact = [self._exactly(weight, "a weight") for weight in given]
        if len(exact) != len(options):
            raise ValueError(f"noise.choice: {len(options)} options, but {len(exact)} weights")
        if min(exact) < 0 or not sum(exact):
            raise ValueError("noise.choice: weights must be finite, not negative, and not all zero")
        return options[self._one_of(("choice", *exact))]

    def _pick(self, weights: Sequence[float]) -> int:
        raise NotImplementedError  # `choice` does it


def _asked(node: Node) -> Any:
    if isinstance(node, CompareNode):
        return node.expression, tuple(node.ways)
    return node.expressions if isinstance(node, ArgmaxNode) else None


# --- What does a program do, on every path? The symbolic reading ---
#
# The same function that is sampled is run on unknown numbers. Each comparison needs a decision: a run takes the first
# side that is open, and the function is run again for the others, replaying the decisions, until every side has been
# read. A side is left out only with a Farkas vector that shows that no run takes it.
#
# The reading is about the numbers that the program stands for: draws and data are real numbers (or integers),
# parameters and literals are the decimals that are written.

MOST_LEAVES = 20_000  # about as many as the time budget allows


def queries(length: int, *, integer: bool = False) -> list[UnknownNumber]:
    """Return the data of a program that reads ``length`` answers: q0, q1, …"""
    return [UnknownNumber(f"q{number}", integer) for number in range(length)]


def read(
    function: Callable[..., Any],
    data: Any,
    parameters: Mapping[str, Any],
    *,
    most: int = MOST_LEAVES,
) -> ProgramTree:
    """Read all paths of a program."""
    state = global_state()
    nodes: list[Node] = []
    pending: list[list[Any]] = [[]]
    leaves: list[ProgramPath] = []
    repeated = False
    while pending:
        linear.count_path()
        decisions = pending.pop()
        noise = SymbolicNoise(nodes, decisions)
        leaf = _run(function, data, parameters, noise)
        if leaf is not None:
            leaves.append(leaf)
        pending += noise.left_over
        if len(leaves) > most:
            raise SymbolicError(f"the program has more than {most:,} paths; give a smaller length")
        if not repeated and leaf is not None:
            again = SymbolicNoise(nodes, noise.decisions)
            if _run(function, data, parameters, again) != leaf:
                raise SymbolicError("the program returns another output on the same draws; it must not keep a state")
            repeated = True
    if global_state() != state:
        raise SymbolicError("the program draws from Python's or NumPy's global generator; draw from noise instead")
    return ProgramTree(tuple(nodes), tuple(leaves))


def _run(
    function: Callable[..., Any], data: Any, parameters: Mapping[str, Any], noise: SymbolicNoise
) -> ProgramPath | None:
    """Read one path; None if no run takes it."""
    given, exact = noise.given(data), {name: noise.given(value) for name, value in parameters.items()}
    before = _identities([given, exact])[1:]
    try:
        output = _read_output(function, given, exact, noise)
    except AbandonedError:
        return noise.end(("none",), is_null=True)
    except RefusedError as refused:
        told = str(refused)
        raise SymbolicError("; ".join([told, *further_draws(function, told)])) from None
    if _identities([given, exact])[1:] != before:
        raise SymbolicError("the program changes its data or its parameters; it must work on a copy")
    return noise.end(output)


def _read_output(function: Callable[..., Any], data: Any, parameters: dict[str, Any], noise: SymbolicNoise) -> Output:
    outer = sys.exception()
    token = RUNNING.set(noise)
    try:
        failed = None
        try:
            result = function(data, noise, **parameters)
        except (TypeError, AttributeError, NotImplementedError, RecursionError) as error:
            # most likely the program needs a real float and got an unknown number
            where = _raised_at(error)
            told = str(error) if str(error).startswith("noise has no") else f"raises {type(error).__name__}: {error}"
            raise RefusedError(f"{where and where + ': '}{told}") from None
        except (Exception, SystemExit) as error:
            failed, where = raised(error, outer), _raised_at(error)
        noise.ended_at = partial(end_of, function) if failed is None else lambda: where
        return _output(result, noise) if failed is None else ("exception", _exception_text(failed, noise))
    finally:
        RUNNING.reset(token)
        noise.close()


def _raised_at(error: BaseException) -> str:
    """Return the innermost line of the program that raised an exception, empty if there is none."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return "" if frames is None else line_of(frames.tb_frame)


def _identities(value: Any) -> Any:
    """Return a key that stays equal exactly if the value, and everything in it, was not changed."""
    if type(value) in (list, tuple):
        return id(value), *map(_identities, value)
    if type(value) is dict:
        return id(value), *((key, _identities(member)) for key, member in value.items())
    return id(value)


def _exception_text(exception: Raised, noise: SymbolicNoise) -> str:
    """Return everything an exception says; a number in it must be a constant of the path, or the program is refused."""
    text = str(_constant(exception, noise)).removeprefix("raises ")
    if "at 0x" in text:
        noise.refuse("an exception that says where in memory an object lies")
    return text


def _constant(value: Any, noise: SymbolicNoise, depth: int = 0) -> Any:
    """Return what an exception contains besides its text, in plain values."""
    kind = type(value)
    if depth <= DEPTH:
        if kind is Raised:
            details = ((name, _constant(member, noise, depth + 1)) for name, member in value.details)
            return Raised(value.kind, value.message, tuple(details))
        if kind is SymbolicValue:
            return value._leave("an exception that holds")
        if kind in (list, tuple):
            return kind(_constant(member, noise, depth + 1) for member in value)
        if kind is dict:
            return {_constant(k, noise, depth + 1): _constant(v, noise, depth + 1) for k, v in value.items()}
        if value is None or kind in (bool, int, float, str, bytes):
            return value
    return noise.refuse(f"an exception that holds a {kind.__name__}; numbers, text, lists, tuples and dicts are known")


def _output(result: Any, noise: SymbolicNoise, depth: int = 0) -> Output:
    if depth > DEPTH:
        noise.refuse(f"an output with more than {DEPTH} levels")
    kind = type(result)
    if kind is SymbolicValue:
        if not result.expression.is_constant:
            noise.ensure_own(result._noise)
        if not result.is_whole:
            noise.ensure_zero(result)
        return ("int" if result.is_whole else "float"), result.expression
    if kind is bool or kind is np.bool_:
        return "bool", bool(result)
    if kind is int or kind is np.int64:
        return "int", linear.Affine({}, int(result))
    if kind is float or kind is np.float64:
        number = float(result)
        if math.copysign(1, number) < 0 and (number == 0 or math.isnan(number)):
            noise.refuse(f"the output -{abs(number)}, which is told from {abs(number)}; add 0.0 to a zero")
        if math.isnan(number) and struct.pack(">d", number) != struct.pack(">d", math.nan):
            noise.refuse("an output that is NaN with a payload")
        # a constant is compared with other constants only, so its decimal may be long
        return "float", linear.Affine({}, linear.whole_where_possible(decimal_of(number))) if math.isfinite(
            number
        ) else str(number)
    if kind is str:
        if any("\ud800" <= letter <= "\udfff" for letter in result):
            noise.refuse("a text with a lone surrogate, which is no Unicode")
        return "str", result
    if result is None:
        return ("none",)
    if kind in (list, tuple):
        return kind.__name__, *(_output(member, noise, depth + 1) for member in result)
    if kind is dict:
        members = [(_output(k, noise, depth + 1), _output(v, noise, depth + 1)) for k, v in result.items()]
        return "dict", *members
    return noise.refuse(f"an output of type {kind.__name__}; numbers, text, None, lists, tuples and dicts are known")
