"""What does a fold do in every state? The symbolic reading of its start, of one step in each state, and of its end.

Between two records a fold keeps a structure of numbers, texts and the like. The numbers that depend on data or draws
are *real*: they are the variables s0, s1, … of a step, whatever their values. Everything else is discrete and makes up
one *state*; states are read until no new ones appear. The record of a step is the variable x.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpaudit.program.fold import Fold, Reached
from dpaudit.program.noise import Noise
from dpaudit.program.symbolic.linear import Affine, Rational
from dpaudit.program.symbolic.noise import SymbolicError, UnknownNumber, read
from dpaudit.program.symbolic.tree import LeafNode, NoiseDraw, Output, ProgramPath, ProgramTree, draw_name

MOST_STATES = 1_000
_FEW_STATES = 100  # beyond, numbers are looked for that count records
_MANY_VALUES = 8  # of a whole number, in a fold of too many states: it counts records, and any value of it is read
RECORD = "x"
_NOTHING: Output = ("none",)
_Place = tuple[Any, ...]


def real_name(number: int) -> str:
    """Return the variable of a real number of the state."""
    return f"s{number}"


@dataclass(frozen=True, slots=True)
class Ending:
    """How one path through a start, a step or an end ends."""

    leaf: ProgramPath  # the path; its output is what is released on it
    emitted: tuple[Output, ...]  # the released outputs, one by one
    next: int | None  # the number of the next state; None if the run is over
    reals: tuple[Affine, ...]  # the real numbers of that state; empty if the run is over


@dataclass(frozen=True, slots=True)
class FoldPart:
    """A start, a step or an end: its tree, and how each of its leaves continues, in order.

    ``read`` is the tree of ``program`` on ``data``, whose outputs also contain the next state.
    """

    tree: ProgramTree
    endings: tuple[Ending, ...]
    read: ProgramTree = field(compare=False)
    program: Callable[..., Any] = field(compare=False)
    data: Any = field(compare=False)


@dataclass(frozen=True, slots=True)
class State:
    """One discrete state."""

    name: str  # its values, with s0, s1, … for the real numbers
    step: FoldPart  # what happens with a record, over the variables x, s0, s1, …
    end: FoldPart | None  # what happens at the end of the data; None if nothing


@dataclass(frozen=True, slots=True)
class FoldMachine:
    """A fold, read for certain parameters."""

    start: FoldPart  # before the first record
    states: tuple[State, ...]  # all states that can be reached from there
    reals: int  # how many real numbers a state has
    emits: bool  # whether the output is the list of everything emitted, not what the last leaf releases
    held: tuple[frozenset[int], ...] = ()  # for each state, which of the real numbers it has

    @property
    def parts(self) -> Iterator[FoldPart]:
        """All trees."""
        yield self.start
        for state in self.states:
            yield state.step
            if state.end is not None:
                yield state.end


def read_fold(
    fold: Fold, parameters: Mapping[str, Any], read_as: Fold | None = None, *, integer: bool = False
) -> FoldMachine:
    """Read a fold in all its states.

    Args:
        fold: the fold that is run.
        parameters: plain or exact.
        read_as: the same fold, for the reading: it may look at what is done. None for the fold itself.
        integer: whether the answers are whole numbers.
    """
    both = _Programs(fold), _Programs(fold if read_as is None else read_as)
    try:
        return _machine_of(_StateReader(*both, parameters, integer, most=_FEW_STATES))
    except _EndlessError as endless:
        endless_fold = endless
    # a number that counts records is read as any number, at once if no branch looks at it
    counted = _counted(both, parameters, integer, endless_fold.counters)
    if counted is not None and not _looks_at(counted, endless_fold.counters):
        return counted[0]
    try:
        return _machine_of(_StateReader(*both, parameters, integer, most=MOST_STATES))
    except _EndlessError as endless:
        if endless.counters != endless_fold.counters:
            counted = _counted(both, parameters, integer, endless.counters)
        if counted is None:
            raise
        return counted[0]


class _EndlessError(SymbolicError):
    """There are too many states; ``counters`` are the places of whole numbers that take many values."""

    def __init__(self, message: str, counters: frozenset[_Place]) -> None:
        super().__init__(message)
        self.counters = counters


def _counted(
    both: tuple[_Programs, _Programs],
    parameters: Mapping[str, Any],
    integer: bool,
    counters: frozenset[_Place],
) -> tuple[FoldMachine, Mapping[_Place, int]] | None:
    """Return the fold with whole numbers at these places read as any number, and its real numbers; None if refused."""
    if not counters:
        return None
    reader = _StateReader(*both, parameters, integer, counters)
    try:
        return _machine_of(reader), reader.places
    except SymbolicError:
        return None


def _looks_at(counted: tuple[FoldMachine, Mapping[_Place, int]], counters: frozenset[_Place]) -> bool:
    """Whether a branch depends on a number that counts."""
    machine, places = counted
    names = {real_name(places[each]) for each in counters if each in places}
    leaves = (ending.leaf for part in machine.parts for ending in part.endings)
    return any(not names.isdisjoint(each.expression.terms) for leaf in leaves for each in leaf.conditions)


def _machine_of(reader: _StateReader) -> FoldMachine:
    start = reader.part("begin", [])
    states: list[State] = []
    while len(states) < len(reader.templates):
        template = reader.templates[len(states)]
        step = reader.part("step", [UnknownNumber(RECORD, reader.integer), reader.filled(template)])
        end = None if reader.run.fold.finish is None else reader.part("end", [reader.filled(template)])
        states.append(State(reader.named(template), step, end))
    return reader.padded(FoldMachine(start, tuple(states), len(reader.places), reader.run.fold.finish is None))


@dataclass(frozen=True, slots=True)
class _Programs:
    """The three programs of a fold."""

    fold: Fold

    def begin(self, data: Any, noise: Noise, /, **parameters: Any) -> Any:
        return self._told(self.fold.start(noise, **parameters))

    def step(self, data: Any, noise: Noise, /, **parameters: Any) -> Any:
        return self._told(self.fold.after(Reached(data[1]), data[0], noise, **parameters))

    def end(self, data: Any, noise: Noise, /, **parameters: Any) -> Any:
        return self._told(Reached(data[0], is_over=True))

    def _told(self, reached: Reached) -> Any:
        """Return what is released, and the next state, if there is one, as an output that can be read."""
        if not reached.is_over:
            return list(reached.emitted), [reached.state]
        return (list(reached.emitted) if self.fold.finish is None else [self.fold.output(reached)]), []


@dataclass(slots=True)
class _StateReader:
    """The states of a fold, as they are found."""

    run: _Programs
    looked_at: _Programs
    parameters: Mapping[str, Any]
    integer: bool
    counters: frozenset[_Place] = frozenset()  # whole numbers that count as real, so that any value of them is read
    most: int = MOST_STATES
    templates: list[Output] = field(default_factory=list)  # of each state; a real number is ("int" or "float", place)
    places: dict[_Place, int] = field(default_factory=dict)  # of the real numbers
    _numbers: dict[Output, int] = field(default_factory=dict)

    # --- what was read -----------------------------------------------------------------------------------

    def part(self, name: str, data: list[Any]) -> FoldPart:
        """Read one of the programs."""
        program = getattr(self.run, name)
        tree = read(getattr(self.looked_at, name), data, self.parameters)
        endings = tuple(self._ending(leaf) for leaf in tree.leaves)
        nodes = list(tree.nodes)
        for ending in endings:
            nodes[ending.leaf.node] = LeafNode(ending.leaf)
        whole = ProgramTree(tuple(nodes), tuple(ending.leaf for ending in endings))
        return FoldPart(whole, endings, tree, program, data)

    def _ending(self, leaf: ProgramPath) -> Ending:
        if leaf.is_null:
            return Ending(leaf, (), None, ())
        if leaf.output[0] == "exception":
            return Ending(leaf, (leaf.output,), None, ())
        _, (_, *emitted), (_, *states) = leaf.output
        released = emitted[0] if len(emitted) == 1 else ("tuple", *emitted) if emitted else _NOTHING
        leaf = replace(leaf, output=released)
        if not states:
            return Ending(leaf, tuple(emitted), None, ())
        placeholders: dict[_Place, Affine] = {}
        template = _template(states[0], (), placeholders, self.counters)
        for place in placeholders:
            self.places.setdefault(place, len(self.places))
        number = self._numbers.setdefault(template, len(self.templates))
        if number == len(self.templates):
            self.templates.append(template)
        if number >= self.most:
            raise _EndlessError(
                f"the fold has more than {MOST_STATES:,} states, the last one {self.named(template):.80}; what is only "
                "released belongs into Emit, and a count without an end has no proof for every length",
                _counters(self.templates),
            )
        # real numbers of other states keep their place; `padded` defines their values here
        reals = tuple(placeholders.get(place, Affine()) for place in self.places)
        return Ending(leaf, tuple(emitted), number, reals)

    def filled(self, template: Output) -> Any:
        """Return a state as it is passed to a step."""
        return _data(template, self.places)

    def named(self, template: Output) -> str:
        """Return a state as text."""
        return _output_text(template, self.places)

    def padded(self, machine: FoldMachine) -> FoldMachine:
        """Return the machine with all real numbers in every state.

        A number that a state does not have keeps its value, and is 0 at the start.
        """
        held = tuple(frozenset(self.places[place] for place in _holes(each)) for each in self.templates)

        def part(whole_part: FoldPart, at_start: bool) -> FoldPart:
            return replace(whole_part, endings=tuple(ending(each, at_start) for each in whole_part.endings))

        def ending(one_ending: Ending, at_start: bool) -> Ending:
            if one_ending.next is None:
                return one_ending
            absent = [Affine() if at_start else Affine.variable(real_name(k)) for k in range(machine.reals)]
            own = held[one_ending.next]
            reals = tuple(one_ending.reals[k] if k in own else absent[k] for k in range(machine.reals))
            return replace(one_ending, reals=reals)

        states = tuple(replace(state, step=part(state.step, False)) for state in machine.states)
        return replace(machine, start=part(machine.start, True), states=states, held=held)


# --- states, as outputs with places for real numbers ------------------------------------------------------------


def _counters(templates: Sequence[Output]) -> frozenset[_Place]:
    """Return the places of whole numbers that take so many values that they seem to count records."""
    values: dict[_Place, set[Affine]] = defaultdict(set)

    def look(output: Any, place: _Place) -> None:
        if isinstance(output, tuple) and output:
            if output[0] == "int" and isinstance(output[1], Affine):
                values[*place, 1].add(output[1])
            else:
                for number, member in enumerate(output):
                    look(member, (*place, number))

    for template in templates:
        look(template, ())
    return frozenset(place for place, own in values.items() if len(own) >= _MANY_VALUES)


def _template(output: Any, place: _Place, placeholders: dict[_Place, Affine], counters: frozenset[_Place]) -> Any:
    """Return a state with placeholders for expressions with variables and counters; ``placeholders`` collects these."""
    if isinstance(output, Affine):
        if output.is_constant and place not in counters:
            return output
        placeholders[place] = output
        return place
    if not isinstance(output, tuple):
        return output
    return tuple(_template(member, (*place, number), placeholders, counters) for number, member in enumerate(output))


def _is_real(output: Output) -> bool:
    return output[0] in ("int", "float") and isinstance(output[1], tuple)


def _holes(output: Any) -> Iterator[_Place]:
    if isinstance(output, tuple) and output:
        if _is_real(output):
            yield output[1]
        else:
            for member in output:
                yield from _holes(member)


def _data(output: Output, places: Mapping[_Place, int]) -> Any:
    """Return the value that an output describes."""
    kind = output[0]
    if _is_real(output):
        return UnknownNumber(real_name(places[output[1]]), kind == "int")
    if kind in ("int", "float"):
        if not isinstance(output[1], Affine):
            return float(output[1])
        return int(output[1].constant) if kind == "int" else Fraction(output[1].constant)
    if kind in ("list", "tuple"):
        members = [_data(member, places) for member in output[1:]]
        return members if kind == "list" else tuple(members)
    if kind == "dict":
        return {_data(key, places): _data(value, places) for key, value in output[1:]}
    return None if kind == "none" else output[1]


def _output_text(output: Output, places: Mapping[_Place, int]) -> str:
    value = _data(output, places)

    def told(value: Any) -> str:
        if isinstance(value, UnknownNumber):
            return value.name
        if type(value) in (list, tuple):
            inside = ", ".join(map(told, value))
            return f"[{inside}]" if type(value) is list else f"({inside})"
        if type(value) is dict:
            return "{" + ", ".join(f"{told(key)}: {told(member)}" for key, member in value.items()) + "}"
        return str(value) if isinstance(value, Fraction) else repr(value)

    return told(value)


# --- a whole run ------------------------------------------------------------------------------------------------


class Unrolled(ProgramTree):
    """A machine as the tree of a program that reads q0, q1, …, to compare it with runs of the fold.

    Its nodes are not listed; a run is followed through one part after another.
    """

    def __init__(self, machine: FoldMachine, length: int) -> None:
        """Follow runs over ``length`` records."""
        super().__init__((), tuple(leaf for part in machine.parts for leaf in part.tree.leaves))
        object.__setattr__(self, "_machine", machine)
        object.__setattr__(self, "_length", length)
        object.__setattr__(self, "_paths", {})

    _machine: FoldMachine
    _length: int
    _paths: dict[tuple[int, ...], int]

    def surely(self, point: Mapping[str, float], draws: Sequence[float]) -> ProgramPath | None:
        """Return None, so that `follow` decides: the inputs of a part are computed numbers."""
        return None

    def follow(
        self, point: dict[str, Rational], draws: Sequence[Rational]
    ) -> tuple[ProgramPath | None, Fraction | None]:
        """Return the path of a run over q0, q1, … and all its draws, and how close it came to another path."""
        machine = self._machine
        done: list[NoiseDraw] = []
        path: list[int] = []
        emitted: list[Output] = []
        state: int | None = None
        known: dict[str, Affine] = {}  # the variables of a part, over queries and all draws
        margin: Fraction | None = None
        values = {**point, **{draw_name(number): value for number, value in enumerate(draws)}}
        for turn in range(-1, self._length + 1):
            part = machine.start if state is None else machine.states[state].step
            if turn == self._length:
                assert state is not None
                end = machine.states[state].end
                if end is None:
                    break
                part = end
            elif turn >= 0:
                known[RECORD] = Affine.variable(f"q{turn}")
            here = {name: expression.at(values) for name, expression in known.items()}
            leaf, close = part.tree.follow(here, draws[len(done) :])
            if close is not None:
                margin = close if margin is None else min(margin, close)
            if leaf is None:
                return None, margin
            for number in range(len(leaf.draws)):
                known[draw_name(number)] = Affine.variable(draw_name(len(done) + number))
            ending = next(each for each in part.endings if each.leaf.node == leaf.node)
            done += leaf.draws
            path.append(leaf.node)
            emitted += (_substituted(output, known) for output in ending.emitted)
            state = ending.next
            if state is None:
                break
            known = {real_name(k): _substituted(real, known) for k, real in enumerate(ending.reals)}
        failed = bool(emitted) and emitted[-1][0] == "exception"
        output = ("list", *emitted) if machine.emits and not failed else emitted[-1]
        number = self._paths.setdefault(tuple(path), len(self._paths))
        return ProgramPath(number, (), tuple(done), output), margin


def _substituted(output: Any, known: Mapping[str, Affine]) -> Any:
    if isinstance(output, Affine):
        total = Affine({}, output.constant)
        for name, number in output.terms.items():
            total = total + known[name].times(number)
        return total
    return tuple(_substituted(member, known) for member in output) if isinstance(output, tuple) else output
