"""What exactly is to be audited? A validated request, ready to run."""

from __future__ import annotations

import ast
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec
import numpy as np

from dpaudit.auditing.verdict import assumed, measured_bound
from dpaudit.decimals import refuse_confidence, refuse_false_alarm
from dpaudit.errors import UsageError
from dpaudit.events import Lead, SelectedEvent, learner, needed_by
from dpaudit.evidence import build, canonical_json
from dpaudit.evidence.records import Attempt, Counts, PairRecord, Target
from dpaudit.loading import load, public_name
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.digest import digest, kept_text
from dpaudit.neighbours.domain import by_columns, may_miss, pattern_of
from dpaudit.neighbours.relation import as_pairs, change_in_words, inferred
from dpaudit.privacy import Claim, PureDP, claims
from dpaudit.request import AuditRequest
from dpaudit.sampling.checkpoint import LEAST_BLOCK, Experiment, Session
from dpaudit.sampling.engines import Engine, engine_for
from dpaudit.sampling.forms import refuse_types
from dpaudit.sampling.play import RepeatDetector, why_alone
from dpaudit.sampling.runs import exception_of_call, observed
from dpaudit.stats.two_looks import FALSE_ALARM, LooksRule
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

# --- Which seed does an audit start from if none is given? ---
#
# A fresh one, from the operating system. With a default shared by everyone, everyone would get the same unlucky runs,
# and an error of one in twenty would be the same one for all. The seed is recorded in the evidence and in the command
# that reproduces it.

Given = TypeVar("Given")

_BITS = 48  # short enough to type, and exact in every JSON reader


def fresh_seed() -> int:
    """Return a new seed from the operating system."""
    return secrets.randbits(_BITS)


def given_or_fresh(seed: Given | None) -> Given | int:
    """Return the given seed, unchecked, or a fresh one."""
    return fresh_seed() if seed is None else seed


LEAST_RUNS = 100  # of each pair
_SHOWN_CHARACTERS = 400  # of a dataset's text in the evidence; about what a page can show


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Where to search for a pair."""

    # neighbours of one dataset ("data"), small datasets over a "domain" alone, or pairs that were "given" or are
    # the "mechanism"'s own
    source: str
    # the dataset, or the pairs; of a domain alone a frame without records where the function takes frames, else
    # None: datasets are lists
    data: Any
    digest: str | None  # of ``data``; None for the mechanism's own pairs, and if there are no data
    domain: Any = None  # what records may hold, or None
    beyond: bool = False  # whether records outside the domain are tried too

    @property
    def made(self) -> bool:
        """Whether pairs are constructed rather than given."""
        return self.source in ("data", "domain")


@dataclass(frozen=True, slots=True)
class Question:
    """What is audited, validated and ready to run."""

    mechanism: Mechanism
    parameters: dict[str, Any]
    claim: Claim | None
    relation: Relation
    pairs: tuple[tuple[Any, Any], ...]
    records: tuple[PairRecord, ...]
    seed: int
    confidence: float
    engine: Engine  # what carries out blocks
    given_pairs: bool
    learn: str | None = None  # a learner whose score is a candidate too
    floating_point: str = "report"  # how the low-order bits are used: "report", "verdict" or "ignore"
    space: SearchSpace | None = None  # where to search for the pair; there are no pairs until one is found
    keep_data: bool = False
    observe: tuple[str, ...] = ()  # what is observed with every output, such as "time"
    types: str = "count"  # whether outputs of different types are different outputs: "count" or "ignore"
    block_size: int | None = None  # the largest number of runs in a block, if it is not the usual one
    by_calls: bool = False  # whether each run is to be a call, also where the function could be read
    alone: str | None = None  # why only this process can make runs, if several were requested
    session: Session | None = None  # progress, and the file of finished blocks
    false_alarm: float = FALSE_ALARM  # how often a mechanism that keeps its claim may be called violated
    made_as: Shape | None = None  # the call style of runs, if it was found not to be the function's own
    unread: str | None = None  # why runs are calls, though the function might have been read
    called: str | None = None  # the libraries that draw by themselves, and are called in each run that is read
    leads: tuple[tuple[Lead, ...], ...] = ()  # of each pair, what a trace points to
    later: LooksRule | None = None  # the rule by which is decided afterwards, and foreseen what is found
    watch: RepeatDetector = field(default_factory=RepeatDetector, compare=False, repr=False)  # over all runs

    def about(self, pair: tuple[Any, Any]) -> Question:
        """Return the same question about a pair that was found; raises `UsageError` if it is not neighbouring."""
        self.relation.check(*pair)
        public = self.space is not None and self.space.source in ("mechanism", "domain")
        return replace(self, pairs=(pair,), records=(_pair_record(pair, "found", show=public, keep=self.keep_data),))

    def leads_of(self, pair: int) -> tuple[Lead, ...]:
        """Return what a trace of a pair points to."""
        return self.leads[pair] if pair < len(self.leads) else ()

    @property
    def notion(self) -> Claim:
        """The privacy notion in which bounds are stated: the claim's, or pure DP without a claim."""
        return self.claim if self.claim is not None else PureDP(0.0)

    @property
    def rule(self) -> LooksRule:
        """The rule that decides when a bound above the claim is a violation."""
        return LooksRule(1 - self.confidence, self.false_alarm)

    @property
    def experiment(self) -> Experiment:
        """What is run. Its mechanism is given by name if workers can load it themselves."""
        digests = tuple((record.digest0, record.digest1) for record in self.records)
        copied = self.mechanism.reference is None  # a copy has no source to be read
        shared = self.engine.apart and self.alone is None and not (copied and self.made_as is Shape.READ)
        mechanism = self.mechanism.reference if shared else None
        copied = shared and mechanism is None
        return Experiment(
            mechanism or self.mechanism,
            self.parameters,
            self.pairs,
            digests,
            self.seed,
            self.observe,
            copied,
            self.made_as,
            self.session,
            self.types,
        )

    @property
    def runs_as(self) -> Shape:
        """How runs are made: as for an opaque function if run times are observed or the function has its own
        randomness.
        """
        if self.made_as is Shape.READ:
            return Shape.READ
        return Shape.OPAQUE if self.observe or self.own_randomness else self.made_as or self.mechanism.shape

    @property
    def may_be_read(self) -> bool:
        """Whether runs may be made by reading the function's source."""
        calls = self.by_calls or self.observe or self.made_as is not None
        return not calls and self.mechanism.shape in (Shape.OPAQUE, Shape.SEEDED)

    @property
    def own_randomness(self) -> bool:
        """Whether outputs depend on more than the noise or the generator that the function receives."""
        if self.made_as is Shape.READ:
            return self.called is not None  # every other draw is made here, by the law that the function asks for
        return self.mechanism.own_randomness or self.made_as is Shape.OPAQUE

    @property
    def reproducible(self) -> bool:
        """Whether the seed alone determines every output."""
        return self.runs_as is not Shape.OPAQUE and self.called is None

    @property
    def reads_low_bits(self) -> bool:
        """Whether the low-order bits are examined; a program is treated as mathematics and has none."""
        return self.floating_point != "ignore" and self.mechanism.shape is not Shape.PROGRAM and not self.observe

    def public_numbers(self, pair: int) -> tuple[float, ...]:
        """Numbers that noise may be added to, for a public pair: its answers, or the sums and lengths of its lists."""
        if self.given_pairs:
            return ()  # an event may be published, and would reveal them
        numbers = []
        for data in self.pairs[pair]:
            if _is_number(data):
                numbers.append(float(data))
            elif isinstance(data, list | tuple) and all(_is_number(item) for item in data):
                numbers += [float(sum(data)), float(len(data))]
        return tuple(dict.fromkeys(numbers))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions that the bounds rest on."""
        declared, observed = self.relation.kind == "declared", bool(self.observe)
        repeated = self.session is not None and bool(self.session.repeated)
        return assumed(self.own_randomness, declared=declared, observed=observed, repeated=repeated)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 2**53


def refuse_unavailable(*, sequential: bool, curve: bool, floating_point: str, observe: Any = ()) -> None:
    """Raise `UsageError` for combinations of options that this version does not offer."""
    if floating_point not in {"report", "ignore", "verdict"}:
        raise UsageError(f"floating_point is 'report', 'ignore' or 'verdict', not {floating_point!r}")
    if observe and floating_point == "verdict":
        raise UsageError(
            "where the run time joins the output, the low-order bits are not examined, so that they cannot decide; "
            "leave out floating_point='verdict', or observe"
        )
    if sequential and curve:
        raise UsageError(
            "a sequential audit stops too early for a whole curve; leave out sequential=True, or curve=True"
        )
    if sequential and floating_point == "verdict":
        raise UsageError(
            "a sequential audit does not examine the low-order bits, so that they cannot decide; leave out "
            "floating_point='verdict', or sequential=True"
        )


def whole(name: str, value: Any, *, least: int) -> int:
    """Return a whole number as an int."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer) or value != value // 1:
        raise UsageError(f"{name} is a whole number, not {value!r}")
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value:g}")
    return int(value)


def _blank_frame(mechanism: Mechanism, parameters: Mapping[str, Any], domain: Any) -> Any:
    """Return a frame of the columns of a domain, for a function that takes a frame and no list; None for any other.

    The function is called on a record in a list, and where that raises, on the same in a frame.
    """
    if not by_columns(domain) or mechanism.shape is Shape.SAMPLER:
        return None
    record = pattern_of(domain)
    if not exception_of_call(mechanism, [dict(record)], parameters):
        return None
    import pandas

    frame = pandas.DataFrame([record])
    # whole numbers beside missing values are floats, as pandas reads them from a file
    gaps = {name: float for name, each in domain.items() if may_miss(each) and type(record[name]) is int}
    frame = frame.astype(gaps)
    return None if exception_of_call(mechanism, frame.copy(), parameters) else frame.iloc[:0]


def validated(request: AuditRequest) -> Question:
    """Return the question that a request asks, ready to run; raises `UsageError` if something is wrong with it."""
    pairs, data, domain = request.pairs, request.data, request.domain
    refuse_unavailable(
        sequential=request.sequential,
        curve=request.curve,
        floating_point=request.floating_point,
        observe=request.observe,
    )
    _refuse_unclear_data(data, pairs, domain, request.beyond_domain)
    if request.length is not None:
        raise UsageError("a length is for an audit that tries a proof (dpaudit.audit); runs alone need pairs or data")
    mechanism = load(request.target)
    mechanism.digest  # noqa: B018 – computed now, because running the code may change what it closes over
    merged = mechanism.parameters_with(request.parameters)
    refuse_confidence(request.confidence)
    refuse_false_alarm(request.false_alarm)
    own_relation = mechanism.relation_for(merged)
    made = data is not None or (pairs is None and domain is not None)
    space, used = None, () if made else _pairs(mechanism, merged, pairs)
    said = request.relation if request.relation is not None else own_relation
    chosen = parse_relation(said) if said is not None else Relation("add-remove") if made else inferred(used)
    stated = claims.as_claim(request.claim)
    if stated is None:
        stated = _own_claim(mechanism, merged, own_relation, chosen)
    if request.learn is not None:
        learner(request.learn)
    refuse_types(request.types)
    for data0, data1 in used:
        chosen.check(data0, data1)
    if data is not None:
        space = SearchSpace("data", data, digest(data), domain, request.beyond_domain)
    elif made:
        space = SearchSpace("domain", _blank_frame(mechanism, merged, domain), None, domain)
    elif request.search:
        space = SearchSpace("given", used, digest(used)) if pairs is not None else SearchSpace("mechanism", used, None)
        used = ()
    watched = observed(request.observe)
    workers = whole("workers", request.workers, least=1)
    engine = engine_for(workers, request.backend, request.scheduler)
    origin, keep = "given" if pairs is not None else "mechanism", request.keep_data
    return Question(
        mechanism=mechanism,
        parameters=merged,
        claim=stated,
        relation=chosen,
        pairs=used,
        records=tuple(_pair_record(pair, origin, show=pairs is None, keep=keep) for pair in used),
        seed=whole("seed", given_or_fresh(request.seed), least=0),
        confidence=float(request.confidence),
        engine=engine,
        given_pairs=pairs is not None or made,
        floating_point="ignore" if request.sequential else request.floating_point,
        learn=request.learn,
        space=space,
        keep_data=keep,
        observe=watched,
        false_alarm=float(request.false_alarm),
        types=request.types,
        block_size=None if request.block_size is None else whole("block_size", request.block_size, least=LEAST_BLOCK),
        by_calls=_is_by_calls(request.reading),
        alone=None if not engine.apart else why_alone(mechanism, (merged, used, data), timed=bool(watched)),
    )


def _is_by_calls(reading: str | None) -> bool:
    """Whether each run is to be a call; raise `UsageError` if something else is asked for."""
    if reading not in (None, "calls"):
        raise UsageError(f"reading is 'calls', or left out for the usual one, not {reading!r:.40}")
    return reading is not None


def _refuse_unclear_data(data: Any, pairs: Any, domain: Any, beyond_domain: bool) -> None:
    if data is not None and pairs is not None:
        raise UsageError("data is searched for pairs of neighbours, and pairs are neighbours already; give one of them")
    if pairs is not None and domain is not None:
        raise UsageError("a domain is for making datasets, and pairs are made already; give one of them")
    if beyond_domain and domain is None:
        raise UsageError("without a declared domain nothing lies beyond it; declare one, or leave out beyond_domain")
    if beyond_domain and data is None:
        raise UsageError("what lies beyond a domain is tried beside data; give data too, or leave out beyond_domain")


def _own_claim(
    mechanism: Mechanism, parameters: Mapping[str, Any], own: str | None, relation: Relation
) -> Claim | None:
    """The mechanism's claim; for a larger group than its relation names, the claim that it implies there."""
    claim = mechanism.claim_for(parameters)
    if claim is None or own is None:
        return claim
    made_for = parse_relation(own)
    if (made_for.kind, made_for.movement) == (relation.kind, relation.movement):
        return claim.group(max(1, -(-relation.group // made_for.group)))
    return claim


def _pairs(
    mechanism: Mechanism, parameters: Mapping[str, Any], given: Sequence[tuple[Any, Any]] | None
) -> tuple[tuple[Any, Any], ...]:
    if given is None:
        own = mechanism.pairs_for(parameters)
        if not own:
            raise UsageError(
                f"{mechanism.name} names no pair of neighbouring datasets; give one: "
                "pairs=[(data0, data1)], or --pair FILE on the command line; or one dataset, data=…, "
                "--data FILE, whose neighbours are searched"
            )
        return tuple(own)
    used = as_pairs(given)
    if not used:
        raise UsageError("pairs is empty; give at least one pair of neighbouring datasets: pairs=[(data0, data1)]")
    return tuple(used)


def _pair_record(pair: tuple[Any, Any], origin: str, *, show: bool, keep: bool) -> PairRecord:
    """The record of a pair. Data given by a user may be personal, so only their digest is recorded unless asked
    otherwise.
    """
    shown = [_data_text(data) if show or keep else None for data in pair]
    kept = [kept_text(data) if keep else None for data in pair]
    return PairRecord(digest(pair[0]), digest(pair[1]), origin, shown[0], shown[1], kept[0], kept[1])


def made_up(record: PairRecord, pair: tuple[Any, Any], relation: Relation) -> PairRecord:
    """Return the record of a pair that a proof made of what is declared: nobody's data, which may be shown."""
    if any(hasattr(data, "columns") for data in pair):
        return msgspec.structs.replace(record, origin="made", change=change_in_words(pair, relation, valued=True))
    shown0, shown1 = map(_data_text, pair)
    return msgspec.structs.replace(record, origin="made", shown0=shown0, shown1=shown1)


def _data_text(data: Any) -> str:
    text = repr(data)
    if len(text) <= _SHOWN_CHARACTERS:
        return text if _says_all(text, data) else f"{type(data).__name__}({text})"
    size = f" ({len(data)} records)" if hasattr(data, "__len__") else ""
    return text[:_SHOWN_CHARACTERS] + "…" + size


def _says_all(text: str, data: Any) -> bool:
    """Whether a text that reads as plain values describes the data fully; a subclass of list reads as a plain list."""
    try:
        return digest(ast.literal_eval(text)) == digest(data)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return True  # it is not a literal


# --- How does a question stand in its evidence, and what do the counts of an event become there? ---


def target_of(question: Question) -> Target:
    """Return the record that describes the audited mechanism."""
    mechanism = question.mechanism
    usual = "run by run" if question.unread is None else f"run by run: {question.unread}"
    rewritten = "rewritten" if question.called is None else f"rewritten; called in each run: {question.called}"
    kinds = {Shape.PROGRAM: "batch", Shape.SAMPLER: "sampler", Shape.READ: rewritten}
    reading = kinds.get(question.runs_as, usual)
    own_pairs = not question.given_pairs
    return Target(
        name=public_name(mechanism),
        digest=mechanism.digest,
        parameters={name: canonical_json.plain_value(value) for name, value in question.parameters.items()},
        asks=str(mechanism.shape),
        reading=reading,
        summary=mechanism.summary,
        source=mechanism.source,
        true_loss=mechanism.true_loss_for(question.parameters) if own_pairs else None,
    )


def versions_of(question: Question, learn: str | None = None) -> dict[str, str]:
    """Return the versions of everything that the evidence depends on; ``learn`` names the requested learner."""
    return {**build.installed_versions(*needed_by(learn)), **question.mechanism.versions}


def subject_of(question: Question, target: Target | None = None, learn: str | None = None) -> build.Subject:
    """Return what the evidence says about a question."""
    return build.Subject(
        target=target_of(question) if target is None else target,
        claim=question.claim,
        notion=question.notion,
        relation=str(question.relation),
        unit=question.mechanism.unit,
        pairs=question.records,
        seed=question.seed,
        confidence=question.confidence,
        versions=versions_of(question, learn),
        assumptions=question.assumptions,
        low_bits=question.floating_point if question.reads_low_bits else "ignore",
        learn=question.learn,
        reproducible=question.reproducible,
        observed=question.observe,
        types=question.types,
        block_size=question.block_size,
    )


def attempt_of(
    choice: SelectedEvent,
    counts: Counts,
    notion: Claim,
    *,
    error: float,
    pair: int,
    assumes: tuple[str, ...],
    arithmetic: str = "real",
) -> Attempt:
    """Return a measured event with its bound."""
    bound = measured_bound(
        choice.method,
        counts,
        notion,
        weight=choice.weight,
        event=choice.event,
        error=error * choice.share,
        pair=pair,
        assumes=assumes,
        arithmetic=arithmetic,
    )
    return Attempt(pair, choice.name, bound, choice.considered)
