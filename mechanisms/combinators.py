"""What do mechanisms make together? Several releases, disjoint parts, a coin between two, and groups of records.

Each combinator takes mechanisms and gives a mechanism whose claim follows from those of its parts, by
`dpaudit.privacy.composition`.

- *Parameters* of a part are settled when it is put in: its defaults, or what `with_parameters` says. A whole
  with parameters of its own is a function from them to a mechanism, marked as `recipe`.
- *Shape*: parts of one shape make a whole of that shape; programs make a program, which draws from the same
  ``noise``. Parts of different shapes are called run by run: the whole asks for ``rng`` or, if any part is
  opaque, for nothing, and the other parts then draw from fresh entropy of the operating system.
- *Relation*: the parts must agree on it; a part that names none agrees with any.
- *Claim*: none if any part makes none.
- *Pairs*: those of the parts, where they are pairs of the whole as well; ``dataclasses.replace`` puts others
  in their place.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit import Claim, Mechanism, UsageError, mechanism
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.digest import digest
from dpaudit.privacy import composition
from dpaudit.program.noise import Noise, ScalarNoise
from dpaudit.targets.signature import Shape

from .additive import geometric, laplace
from .contributions import suggestions
from .domain import one_of, positive, probability, whole
from .losses import of_laplace, of_laws
from .queries import EYES, RELATIONS, count

Part = Mechanism | Callable[..., Any]


# --- the combinators -------------------------------------------------------------------------------------


def with_parameters(part: Part, **parameters: Any) -> Mechanism:
    """Settle the parameters of a mechanism: the given ones, and the defaults of all others."""
    own = part if isinstance(part, Mechanism) else mechanism(part)
    assert isinstance(own, Mechanism)
    settled = own.parameters_with(parameters)
    return replace(
        own,
        function=functools.partial(own.function, **settled),
        claim=own.claim_for(settled),
        relation=own.relation_for(settled),
        pairs=lambda: own.pairs_for(settled),
        true_loss=lambda: own.true_loss_for(settled),
        law=lambda data: own.law_for(data, settled),
        defaults={},
        open_ended=False,
        reference=None,
    )


def compose(*parts: Part) -> Mechanism:
    """Release the outputs of several mechanisms for the same data, as a tuple."""
    settled = _settled(*parts)
    return _whole("compose", settled, composition.compose, *_joined(settled, lambda data: [data] * len(settled), tuple))


def post_process(part: Part, change: Callable[[Any], Any]) -> Mechanism:
    """Release ``change(output)`` in place of every output; it sees the output alone, never the data."""
    settled = _settled(part)
    change_one = _joined(settled, lambda data: [data], lambda outputs: change(outputs[0]))
    return _whole("post_process", settled, composition.post_process, *change_one)


def mixture(first: Part, second: Part, p: float = 0.5) -> Mechanism:
    """Release what ``first`` makes of the data with probability ``p``, and what ``second`` makes otherwise."""
    settled = _settled(first, second)
    probability("p", p)

    def one(data: Any, call: Call, noise: Noise) -> Any:
        return call(settled[0] if noise.bernoulli(p) else settled[1], data)

    def many(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        heads = rng.random(size) < p
        shares = int(heads.sum()), int((~heads).sum())
        left = [iter(_column(part, data, n, rng)) for part, n in zip(settled, shares, strict=True)]
        return [next(left[0 if head else 1]) for head in heads]

    return _whole("mixture", settled, composition.mixture, one, many)


def parallel(parts: Mapping[Any, Part], by: Callable[[Any], Any], relation: str = "add-remove") -> Mechanism:
    """Release, for each key, what its mechanism makes of the list of records with that key, as a dict.

    ``by`` gives the key of a record from that record alone, so that no two parts share one; a record of no
    key goes nowhere. The parts claim under add-remove: a record may leave its part, or enter it. Under
    replace it may leave one and enter another, or be replaced within one, which is a removal and an addition.
    """
    one_of("relation", relation, RELATIONS)
    keys, settled = list(parts), _settled(*parts.values())
    for part in settled:
        if _common_relation([part]) not in (None, "add-remove"):
            raise UsageError(
                f"each part of parallel must claim under 'add-remove', not {part.relation!r} as {part.name}: "
                "a record may leave its part or enter it, and another claim says nothing of that"
            )

    def split(data: Any) -> list[list[Any]]:
        records: dict[Any, list[Any]] = {key: [] for key in keys}
        for record in data:
            if (key := by(record)) in records:
                records[key].append(record)
        return list(records.values())

    def claim(*claims: Claim) -> Claim:
        if relation == "add-remove":
            return composition.parallel(*claims, relation=relation)
        within = [composition.group(claim, 2) for claim in claims]
        return composition.parallel(*claims, relation=relation, replaced=within)

    def pairs() -> list[tuple[Any, Any]]:
        """The pairs of a part whose records all belong to it."""
        if relation != "add-remove":
            return []
        own = [(key, pair) for key, part in zip(keys, settled, strict=True) for pair in part.pairs_for({})]
        return [pair for key, pair in own if all(_has_key(by, record, key) for side in pair for record in side)]

    release = _joined(settled, split, lambda outputs: dict(zip(keys, outputs, strict=True)))
    return replace(_whole("parallel", settled, claim, *release), relation=relation, pairs=pairs)


def _has_key(by: Callable[[Any], Any], record: Any, key: Any) -> bool:
    """Whether a record of a part's own pair, which may be of another kind than those of the whole, has a key."""
    try:
        return bool(by(record) == key)
    except Exception:
        return False


def group(part: Part, size: int) -> Mechanism:
    """Read a mechanism's claim for groups of ``size`` neighbouring steps; what it releases stays the same.

    Its pairs are taken ``size`` times as far apart where that can be done: answers that move, records that
    come last. Elsewhere none are named.
    """
    (settled,) = _settled(part)
    whole("size", size, least=1)
    relation = _common_relation([settled])
    own = None if relation is None else parse_relation(relation)
    return replace(
        settled,
        name=f"group({settled.name})",
        claim=_claim([settled], lambda claim: composition.group(claim, size)),
        relation=None if own is None else str(replace(own, group=own.group * size)),
        pairs=lambda: [far for pair in settled.pairs_for({}) if (far := _farther(*pair, size, relation or ""))],
        true_loss=None,
    )


def _farther(data0: Any, data1: Any, size: int, relation: str) -> tuple[Any, Any] | None:
    """Return a pair ``size`` times as far apart as the given one, or None."""
    if relation.startswith("queries"):
        if hasattr(data0, "__len__"):
            return data0, [before + size * (after - before) for before, after in zip(data0, data1, strict=True)]
        return data0, data0 + size * (data1 - data0)
    if relation.startswith("add-remove") and isinstance(data0, list) and isinstance(data1, list):
        if data1[: len(data0)] == data0:
            return data0, data0 + data1[len(data0) :] * size
        if data0[: len(data1)] == data1:
            return data1 + data0[len(data1) :] * size, data1
    return None


# --- how a whole is run ----------------------------------------------------------------------------------

Call = Callable[[Mechanism, Any], Any]  # one output of a part for some data
One = Callable[[Any, Call, Noise], Any]  # one output of the whole
Many = Callable[[Any, int, np.random.Generator], list[Any]]  # outputs of a whole made of samplers


def _settled(*parts: Part) -> list[Mechanism]:
    if not parts:
        raise UsageError("a whole needs at least one part; give mechanisms, or functions that are some")
    return [with_parameters(part) for part in parts]


def _common_relation(parts: Sequence[Mechanism]) -> str | None:
    named = {str(parse_relation(part.relation)): part.name for part in parts if part.relation is not None}
    if len(named) > 1:
        claimed = " and ".join(f"{relation!r} ({name})" for relation, name in named.items())
        raise UsageError(
            f"the parts claim under different relations, {claimed}, and nothing follows for the whole; use parts "
            "whose claims are for the same neighbours"
        )
    return next(iter(named), None)


def _claim(parts: Sequence[Mechanism], rule: Callable[..., Claim]) -> Claim | None:
    claims = [part.claim_for({}) for part in parts]
    return None if None in claims else rule(*claims)


def _whole(word: str, parts: list[Mechanism], rule: Callable[..., Claim], one: One, many: Many) -> Mechanism:
    """Return a mechanism of what releases one output and, for samplers, many."""
    shapes = {part.shape for part in parts}
    mixed = Shape.OPAQUE if Shape.OPAQUE in shapes else Shape.SEEDED
    function = _function(next(iter(shapes)) if len(shapes) == 1 else mixed, one, many)
    name = f"{word}({', '.join(part.name for part in parts)})"
    function.__name__, function.__doc__ = word, f"{name}: made of mechanisms by a combinator."
    units = {part.unit for part in parts}

    def pairs() -> list[tuple[Any, Any]]:
        found = [pair for part in parts for pair in part.pairs_for({})]
        return list({digest(list(pair)): pair for pair in found}.values())

    made = mechanism(
        function,
        name=name,
        claim=_claim(parts, rule),
        relation=_common_relation(parts) if word != "parallel" else None,
        pairs=pairs,
        unit=units.pop() if len(units) == 1 else "",
        family="combinators",
        correct=all(part.correct for part in parts),
    )
    assert isinstance(made, Mechanism)
    return made


def _function(shape: Shape, one: One, many: Many) -> Callable[..., Any]:
    def program(data: Any, noise: Noise) -> Any:
        return one(data, lambda part, own: part.function(own, noise=noise), noise)

    def sampler(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        return many(data, size, rng)

    def seeded(data: Any, rng: np.random.Generator) -> Any:
        return one(data, functools.partial(_one_output, rng=rng), ScalarNoise(rng))

    def opaque(data: Any) -> Any:
        return seeded(data, np.random.default_rng())

    functions: dict[Shape, Callable[..., Any]] = {
        Shape.PROGRAM: program,
        Shape.SAMPLER: sampler,
        Shape.SEEDED: seeded,
        Shape.OPAQUE: opaque,
    }
    return functions[shape]


def _joined(
    parts: list[Mechanism], views: Callable[[Any], list[Any]], join: Callable[[list[Any]], Any]
) -> tuple[One, Many]:
    """Release what ``join`` makes of one output of each part, of which each sees its own view of the data."""

    def one(data: Any, call: Call, noise: Noise) -> Any:
        return join([call(part, view) for part, view in zip(parts, views(data), strict=True)])

    def many(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        columns = [_column(part, view, size, rng) for part, view in zip(parts, views(data), strict=True)]
        return [join(list(outputs)) for outputs in zip(*columns, strict=True)]

    return one, many


def _one_output(part: Mechanism, data: Any, rng: np.random.Generator) -> Any:
    if part.shape is Shape.SAMPLER:
        return _column(part, data, 1, rng)[0]
    return part.function(data, **_filled(part, 1, rng))


def _column(part: Mechanism, data: Any, size: int, rng: np.random.Generator) -> list[Any]:
    """Return ``size`` outputs of a sampler."""
    outputs = part.function(data, **_filled(part, size, rng)) if size else []
    return outputs.tolist() if isinstance(outputs, np.ndarray) and outputs.ndim == 1 else list(outputs)


def _filled(part: Mechanism, size: int, rng: np.random.Generator) -> dict[str, Any]:
    offered = {"noise": ScalarNoise(rng), "size": size, "rng": rng}
    return {name: offered[name] for name in part.asked}


# --- wholes with parameters of their own -----------------------------------------------------------------


def recipe(
    *, pairs: Any = None, true_loss: Any = None, unit: str = "", source: str = "", family: str = "combinators"
) -> Callable[[Callable[..., Mechanism]], Mechanism]:
    """Make a mechanism of a function that puts one together from parameters, all with defaults.

    Claim and relation are those of what it returns, and so are pairs where none are given here.
    """

    def decorate(build: Callable[..., Mechanism]) -> Mechanism:
        parameters = inspect.signature(build).parameters
        like = build()  # its shape is that of all others
        asked = sorted(like.asked)
        positions = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("data", *asked)]
        signature = inspect.Signature([*positions, *parameters.values()])

        @functools.wraps(build)
        def function(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            made = build(**{name: value for name, value in given.items() if name in parameters})
            return made.function(given["data"], **{name: given[name] for name in asked})

        def of_whole(read: Callable[[Mechanism], Any]) -> Callable[..., Any]:
            return functools.wraps(build)(lambda **settled: read(build(**settled)))

        function.__signature__ = signature  # type: ignore[attr-defined]
        made = mechanism(
            function,
            claim=of_whole(lambda built: built.claim),
            relation=of_whole(lambda built: built.relation),
            pairs=pairs if pairs is not None else of_whole(lambda built: built.pairs_for({})),
            true_loss=true_loss,
            unit=unit or like.unit,
            source=source,
            family=family,
            correct=like.correct,
        )
        assert isinstance(made, Mechanism)
        return made

    return decorate


# --- entries of the catalogue ----------------------------------------------------------------------------


@recipe(
    pairs=[([1, 0, 1], [1, 0, 1, 1])],
    true_loss=lambda epsilon: of_laplace([2, 3], [3, 4], 2 / epsilon),
    unit="one record",
    source="Dwork & Roth (2014), Theorem 3.14 (sequential composition)",
)
def two_counts(*, epsilon: float = 1) -> Mechanism:
    """Count the records that are true, and all records, each at epsilon/2.

    Both counts see every record, so that their claims add: epsilon/2 + epsilon/2.

    The true loss is epsilon: a record that is true moves both counts by 1, and noise of scale 2/epsilon
    gives up epsilon/2 for each.
    """
    half = positive("epsilon", epsilon) / 2
    return compose(with_parameters(count, epsilon=half), with_parameters(suggestions, epsilon=half, most=1))


def eye_pairs(relation: str) -> list[tuple[list[str], list[str]]]:
    """Return a person more; or one whose eyes change colour, so that one count falls and another rises."""
    added = [*EYES, EYES[0]]
    return [(list(EYES), added)] if relation == "add-remove" else [([*EYES, EYES[1]], added)]


def eye_loss(epsilon: float, relation: str) -> float:
    """Return the distance of the counts of both sides over the scale of their noise."""
    data0, data1 = ([side.count(eye) for eye in EYES] for side in eye_pairs(relation)[0])
    return of_laplace(data0, data1, 1 / epsilon)


@recipe(
    pairs=eye_pairs,
    true_loss=eye_loss,
    unit="one record",
    source="McSherry (2009), Theorem 4 (parallel composition)",
)
def partition_counts(*, epsilon: float = 1, relation: str = "add-remove") -> Mechanism:
    """Count the people with blue, brown and green eyes, each colour at the full epsilon.

    Nobody is in two parts: under add-remove only one count moves, and the whole claims epsilon. Under
    replace a person may leave one part for another, and two counts move: it claims 2·epsilon.

    The true loss is epsilon under add-remove and 2·epsilon under replace: the counts that move do so by 1.
    """
    each = with_parameters(count, epsilon=positive("epsilon", epsilon))
    return parallel(dict.fromkeys(EYES, each), by=lambda eyes: eyes, relation=relation)


def rounded_law(answer: int, epsilon: float) -> list[float]:
    """Return P(round(answer + Laplace(1/ε)) = k) for k = −40 … 41, the ends with all that lies beyond."""
    edges = [(k + 0.5 - answer) * epsilon for k in range(-40, 41)]
    below = [math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2 for x in edges]
    return [above - under for under, above in zip([0.0, *below], [*below, 1.0], strict=True)]


def rounded_loss(epsilon: float) -> float:
    """Return the loss of the two rounded laws, over the outputs up to 0; the others mirror them."""
    return of_laws(*(rounded_law(answer, epsilon)[:41] for answer in (0, 1)))


@recipe(
    true_loss=rounded_loss,
    source="Dwork & Roth (2014), Proposition 2.1 (post-processing)",
)
def rounded_laplace(*, epsilon: float = 1) -> Mechanism:
    """Add Laplace noise of scale 1/epsilon to an answer, and round to the nearest whole number.

    Rounding sees the noisy answer alone, and changes nothing of the claim.

    The true loss is epsilon: every output below both answers is e^ε times as likely from the nearer one.
    """
    return post_process(with_parameters(laplace, epsilon=epsilon), round)


@recipe(
    true_loss=lambda epsilon, p: epsilon,
    source="Kifer & Lin (2010), the axiom of convexity",
)
def mixture_of_noises(*, epsilon: float = 1, p: float = 0.5) -> Mechanism:
    """Toss a coin: heads, add Laplace noise to the answer; tails, two-sided geometric noise. Each at epsilon.

    The coin falls without a look at the data, so that the whole claims the worst of the two claims.

    The true loss is epsilon: whether the output is a whole number tells how the coin fell, and either noise
    gives up epsilon by itself.
    """
    return mixture(with_parameters(laplace, epsilon=epsilon), with_parameters(geometric, epsilon=epsilon), p)


@recipe(
    true_loss=lambda epsilon, size: of_laplace([0], [size], size / epsilon),
    unit="one group of `size` moves of the answer by 1",
    source="Dwork & Roth (2014), Theorem 2.2 (group privacy)",
)
def laplace_group(*, epsilon: float = 1, size: int = 3) -> Mechanism:
    """Add the Laplace noise that is epsilon/size-DP for one step; it is epsilon-DP for groups of ``size``.

    The true loss is epsilon: ``size`` steps in the same direction take the answer ``size`` as far, and the
    scale of the noise is size/epsilon.
    """
    share = positive("epsilon", epsilon) / whole("size", size, least=1)
    return group(with_parameters(laplace, epsilon=share), size)
