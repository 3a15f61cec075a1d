"""What may be asked of an audit, and of a proof? Every option, said once.

A request is a frozen record. What is said of an option beside its type and its default stands with it, as an `Option`:
what it means, how it is written, and how evidence records it. The options of the command line, the settings of a gate,
the key of a file of finished blocks, the comparison of an answer with what was asked, the arguments of a replay and the
printed command are read from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.privacy import Claim

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = Literal["text", "file", "count", "number", "flag", "choice", "assignment", "split", ""]

_READ = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """What is said of one option.

    Attributes:
        help: what it means, in a sentence.
        kind: how it is written as text; empty where it can only be said in Python.
        allowed: the texts of a "choice".
        flag: of the command line; by default its name. ``short``: a short one.
        shown: what the command line shows for its value.
        several: whether it may be given several times.
        asked: what it is called where an answer is compared with it; empty where it is no part of what is asked.
        recorded: what evidence says that it was; None where that takes more than a look (pairs and data).
        always: whether a printed command names it, though it is the default.
        if_invalid: whether evidence says it also where the runs could not be trusted.
        gate: "target" where a gate sets it for each target, "shared" where a target without it has that of the gate,
            "given" where the gate finds it out; empty where a gate has it not.
    """

    help: str
    kind: Kind = "text"
    allowed: tuple[str, ...] = ()
    flag: str = ""
    short: str = ""
    shown: str | None = None
    several: bool = False
    asked: str = ""
    recorded: Callable[[Evidence], Any] | None = None
    always: bool = False
    if_invalid: bool = True
    gate: Literal["", "target", "shared", "given"] = ""


def _said(meaning: str, **more: Any) -> Mapping[str, Option]:
    return {_READ: Option(meaning, **more)}


_PARAMETERS = _said(
    "A parameter; VALUE is JSON, or else text.",
    kind="assignment",
    flag="--parameter",
    short="-p",
    several=True,
    asked="the parameters",
    recorded=lambda evidence: evidence.target.parameters,
    gate="target",
)
_CLAIM = _said(
    "The claim to hold it against, such as 'epsilon=1, delta=1e-6'; else the mechanism's own.",
    asked="the claim",
    recorded=lambda evidence: evidence.claim,
    gate="target",
)
_CONFIDENCE = _said(
    "Of the whole audit.",
    kind="number",
    asked="the confidence",
    recorded=lambda evidence: evidence.confidence,
    always=True,
    gate="given",
)
_SEED = _said(
    "Root of every random draw; by default a fresh one, which is recorded.",
    kind="count",
    asked="the seed",
    recorded=lambda evidence: evidence.seed,
    always=True,
    gate="given",
)
_RELATION = _said(
    "add-remove, replace, queries, queries(norm=1), declared, …; else the mechanism's own.",
    asked="the relation",
    recorded=lambda evidence: evidence.relation,
    always=True,
    gate="target",
)
_FALSE_ALARM = _said(
    "Chance that a mechanism that keeps its claim is called VIOLATED.",
    kind="number",
    asked="the false alarm",
    recorded=lambda evidence: 1 - evidence.confidence if evidence.false_alarm is None else evidence.false_alarm,
    gate="given",
)
_WORKERS = _said("Processes; they do not change the evidence.", kind="count")


@dataclass(frozen=True)
class AuditRequest:
    """A request for an audit.

    Attributes:
        target: a catalogue name, "package.module:function", "path/to/file.py:function", a Mechanism, or a
            function that asks for ``noise``, ``size`` and ``rng``, ``rng``, or none of these.
        parameters: parameters of the mechanism; the others keep their defaults.
        claim: a Claim or its text; by default the mechanism's own. Without any the verdict is NO CLAIM.
        runs: executions in all: both sides, search, learning and measuring, every pair. At least 100 a pair.
        confidence: of the whole audit, whatever the number of pairs.
        seed: the root of every random draw of dpaudit; the same seed gives the same evidence. By default a fresh one,
            which the evidence records; with ``resume``, that of the file.
        relation: which datasets are neighbours; by default the mechanism's own, else "add-remove" with ``data`` or
            a domain, and without the one that the pairs are one step of: "add-remove" or "replace" of one record, or
            "queries" for two numbers that lie at most 1 apart. A pair that is no step is refused; "declared" takes
            pairs on trust, where it is asked for.
        false_alarm: the chance that a mechanism that keeps its claim is called VIOLATED. A bound above the claim is
            looked at a second time where that chance would be larger, on fresh runs of its event, twice as many as
            measured it and beyond ``runs`` (`dpaudit.stats.two_looks`); ``confidence`` stays that of the bounds. With
            1 − confidence, or more, every bound above the claim is a violation.
        fixed: learning and measuring runs of each pair, in place of ``runs``: as ``evidence.fixed`` of older evidence
            says that a time budget left them.
        floating_point: what the low-order bits of outputs count for, where they leak through the grid of
            doubles (Mironov 2012). "report": they are a finding of their own, ``evidence.floating_point``, at
            the same confidence, and the verdict is about real arithmetic; "verdict": they decide too, and take a
            fifth of the error level; "ignore": they are not examined. A program has none: it stands for mathematics.
        sequential: whether every run is bet on as it comes, so that the audit ends as soon as the claim is refuted;
            ``runs`` is then the limit, or the time itself (`dpaudit.auditing.sequential`). Low-order bits are not
            examined.
        observe: "time" lets the run time join every output, as (output, seconds): the verdict is then about both
            together (`dpaudit.sampling.timed`). Every run is a single call, and the evidence is not reproducible.
        types: "count": outputs of other types are other outputs (0 and 0.0, a list and a tuple), as for anyone who
            reads them by Python; "ignore": they are what they hold.
        curve: whether to bound the whole privacy curve too, on the same runs: ``evidence.curve``, a finding beside
            the verdict, at the same confidence to itself (`privacy_curve`).
        learn: "trees" lets boosted trees compete with the built-in scores for vectors (extra ``learn``).
        search: whether to search among ``pairs`` (or the mechanism's own) for the one that gives most away; otherwise
            all of them are audited, and share the error level.
        pairs: neighbouring datasets [(data0, data1), …]; by default the mechanism's own.
        data: one dataset, in place of pairs: a list, an array, a pandas or polars frame. Neighbours of it are searched
            for the pair that gives most away (`dpaudit.auditing.search`), with a share of the runs that no bound looks
            at.
        domain: what records may hold: {"age": (0, 120), "species": ["Adelie", "Gentoo"]}, or (0, 120) for plain
            numbers; by default whatever has the column's own type. Over a declared domain the search goes on beyond
            neighbours of the data, to small datasets; without ``data`` there are only these, as lists.
        beyond_domain: whether records of ``data`` outside of the domain are tried too.
        keep_data: the evidence holds the pairs themselves, so that anyone can replay it; without, pairs that are
            given here stand in it by digest alone: they may be personal data.
        workers: processes; they do not change the evidence.
        time_budget: seconds; replaces ``runs`` by a number that is found before anything else, by rehearsals that are
            thrown away (`dpaudit.auditing.calibration`). Where the machine turns out slower, the audit takes longer.
        resume: a file in which finished blocks of runs are kept, so that the same audit, asked again after an
            interruption, goes on from there (`dpaudit.auditing.checkpoint`). Without a time budget.
        query: the deterministic function within the mechanism, of the data and of parameters, before any noise; by
            default the mechanism's own.
        sensitivity: its declared sensitivity, a number or (number, norm). Where there is a query, neighbours are
            searched for one that moves it farther (`dpaudit.auditing.sensitivity`): ``evidence.sensitivity``, a
            finding beside the verdict.
        listen: called with (stage, runs done, runs in all) as the audit goes on.
    """

    target: Any
    parameters: Mapping[str, Any] | None = field(default=None, metadata=_PARAMETERS)
    claim: Claim | str | None = field(default=None, metadata=_CLAIM)
    runs: int | float = field(
        default=400_000,
        metadata=_said(
            "Executions in all: both sides, learning and measuring, every pair.",
            kind="count",
            asked="the number of runs",
            recorded=lambda evidence: evidence.budget,
            always=True,
            gate="shared",
        ),
    )
    confidence: float = field(default=0.95, metadata=_CONFIDENCE)
    seed: int | None = field(default=None, metadata=_SEED)
    relation: Any = field(default=None, metadata=_RELATION)
    false_alarm: float = field(default=1e-3, metadata=_FALSE_ALARM)
    fixed: Sequence[tuple[int, int]] = field(
        default=(),
        metadata=_said(
            "Learning and measuring runs of each pair, instead of --runs: as older evidence names them.",
            kind="split",
            several=True,
            asked="how runs are divided",
            recorded=lambda evidence: evidence.fixed,
        ),
    )
    floating_point: str = field(
        default="report",
        metadata=_said(
            "Low-order bits: a finding beside the verdict, part of it, or not examined.",
            kind="choice",
            allowed=("report", "verdict", "ignore"),
            asked="what low-order bits count for",
            recorded=lambda evidence: evidence.low_bits,
            gate="shared",
        ),
    )
    sequential: bool = field(
        default=False,
        metadata=_said(
            "Stop as soon as the claim is refuted; --runs is the limit.",
            kind="flag",
            asked="whether it is sequential",
            recorded=lambda evidence: evidence.sequential is not None,
            if_invalid=False,
            gate="shared",
        ),
    )
    observe: str | Sequence[str] = field(
        default=(),
        metadata=_said(
            "Let the run time join every output.",
            kind="choice",
            allowed=("time",),
            several=True,
            asked="what is observed",
            recorded=lambda evidence: evidence.observed,
        ),
    )
    types: str = field(
        default="count",
        metadata=_said(
            "Whether an int is told apart from a float, a list from a tuple, and so on.",
            kind="choice",
            allowed=("count", "ignore"),
            asked="whether types count",
            recorded=lambda evidence: evidence.types,
            gate="shared",
        ),
    )
    curve: bool = field(
        default=False,
        metadata=_said(
            "Bound the whole privacy curve too: δ at every ε.",
            kind="flag",
            asked="whether a whole curve is measured",
            recorded=lambda evidence: evidence.curve is not None,
            if_invalid=False,
        ),
    )
    learn: str | None = field(
        default=None,
        metadata=_said(
            "Let a learner compete with the built-in scores: trees.",
            shown="NAME",
            asked="what learns",
            recorded=lambda evidence: evidence.learn,
            if_invalid=False,
            gate="target",
        ),
    )
    search: bool = field(
        default=False,
        metadata=_said(
            "Search among all pairs for the worst; else each is audited.",
            kind="flag",
            asked="whether the worst of the pairs is searched for",
            recorded=lambda evidence: evidence.search is not None and evidence.search.source in ("given", "mechanism"),
            if_invalid=False,
        ),
    )
    pairs: Sequence[tuple[Any, Any]] | None = field(
        default=None,
        metadata=_said(
            "Neighbouring datasets: JSON, or two .npy/.csv.",
            kind="file",
            flag="--pair",
            several=True,
            asked="the pairs",
            gate="target",
        ),
    )
    data: Any = field(
        default=None,
        metadata=_said(
            "One dataset, whose neighbours are searched: .csv, .parquet, .npy or .json.", kind="file", asked="the data"
        ),
    )
    domain: Any = field(
        default=None,
        metadata=_said(
            "What a column may hold: [LOW, HIGH], or a list of values. Without --data: small datasets over it.",
            shown="[NAME=]JSON",
            several=True,
            asked="the domain",
        ),
    )
    beyond_domain: bool = field(
        default=False,
        metadata=_said(
            "Try records outside of the declared domain too.",
            kind="flag",
            asked="whether records beyond the domain are tried",
            recorded=lambda evidence: evidence.search is not None and evidence.search.beyond,
            if_invalid=False,
        ),
    )
    keep_data: bool = field(
        default=False,
        metadata=_said(
            "Keep the datasets in the evidence, for replay; else digests alone.",
            kind="flag",
            asked="whether data are kept",
            recorded=lambda evidence: any(pair.data0 is not None for pair in evidence.pairs),
        ),
    )
    workers: int = field(default=1, metadata=_WORKERS)
    time_budget: float | None = field(
        default=None, metadata=_said("Instead of --runs.", kind="number", shown="SECONDS")
    )
    resume: str | Path | None = field(
        default=None, metadata=_said("Keep finished blocks of runs there, and go on from them.", kind="file")
    )
    query: Callable[..., Any] | None = field(default=None, metadata=_said("A query, said in Python.", kind=""))
    sensitivity: Any = field(default=None, metadata=_said("Of the query, said in Python.", kind=""))
    listen: Callable[[str, int, int], None] | None = field(
        default=None, metadata=_said("Who is told of runs, said in Python.", kind="")
    )


class AuditOptions(TypedDict, total=False):
    """The options of an `AuditRequest`, as keyword arguments of `dpaudit.audit`; a test keeps both alike."""

    parameters: Mapping[str, Any] | None
    claim: Claim | str | None
    runs: int | float
    confidence: float
    seed: int | None
    relation: Any
    false_alarm: float
    fixed: Sequence[tuple[int, int]]
    floating_point: str
    sequential: bool
    observe: str | Sequence[str]
    types: str
    curve: bool
    learn: str | None
    search: bool
    pairs: Sequence[tuple[Any, Any]] | None
    data: Any
    domain: Any
    beyond_domain: bool
    keep_data: bool
    workers: int
    time_budget: float | None
    resume: str | Path | None
    query: Callable[..., Any] | None
    sensitivity: Any
    listen: Callable[[str, int, int], None] | None


@dataclass(frozen=True)
class ProofRequest:
    """A request for a proof.

    Attributes:
        target: as for `dpaudit.audit`; it must be a program, ``f(data, noise, **parameters)``.
        parameters: parameters of the mechanism; numbers are exact, a float counts as the decimal that is written.
        claim: a pure or (ε, δ) claim or its text; by default the mechanism's own.
        length: how many answers the data hold. None: any number of them, for a mechanism that is a `Fold`.
        domain: "real" or "integer" answers; or all datasets there are, for a program with discrete noise: then
            every output is enumerated, and the loss is exact.
        runs: executions that confirm the counterexample and look for more on its pair; 0 for none.
        confidence: of what is sampled.
        seed: the root of every random draw, by default a fresh one.
        relation: which datasets are neighbours; by default the mechanism's own.
        false_alarm: as for `dpaudit.audit`, of what is sampled; a bound that contradicts a proof has a second look of
            its own.
        keep_data: the evidence holds the domain that was enumerated, so that anyone can replay it.
        workers: processes.
        time_budget: seconds for reading and proving, runs apart; None for as long as it takes. Nothing is left of a
            proof that takes longer.
        listen: called with (stage, runs done, runs in all).
    """

    target: Any
    parameters: Mapping[str, Any] | None = field(default=None, metadata=_PARAMETERS)
    claim: Claim | str | None = field(default=None, metadata=_CLAIM)
    length: int | None = field(
        default=None,
        metadata=_said(
            "How many answers the data hold; without it any number, for a Fold.",
            kind="count",
            asked="the length",
            recorded=lambda evidence: None if evidence.proof is None else evidence.proof.length,
            gate="target",
        ),
    )
    domain: str | Sequence[Any] | None = field(
        default=None,
        metadata=_said(
            "'real' or 'integer' answers, or a JSON list of all datasets that there are.",
            asked="the domain",
            gate="target",
        ),
    )
    runs: int | float = field(
        default=100_000,
        metadata=_said(
            "To confirm what is found; 0: none.", kind="count", recorded=lambda evidence: evidence.budget, always=True
        ),
    )
    confidence: float = field(default=0.95, metadata=_CONFIDENCE)
    seed: int | None = field(default=None, metadata=_SEED)
    relation: Any = field(default=None, metadata=_RELATION)
    false_alarm: float = field(default=1e-3, metadata=_FALSE_ALARM)
    keep_data: bool = field(
        default=False,
        metadata=_said(
            "Keep the domain in the evidence, for replay.",
            kind="flag",
            recorded=lambda evidence: evidence.proof is not None and evidence.proof.domain is not None,
        ),
    )
    workers: int = field(default=1, metadata=_WORKERS)
    time_budget: float | None = field(
        default=60.0, metadata=_said("Seconds for reading and proving.", kind="number", shown="SECONDS")
    )
    listen: Callable[[str, int, int], None] | None = field(
        default=None, metadata=_said("Who is told of runs, said in Python.", kind="")
    )


class ProofOptions(TypedDict, total=False):
    """The options of a `ProofRequest`, as keyword arguments of `dpaudit.prove`; a test keeps both alike."""

    parameters: Mapping[str, Any] | None
    claim: Claim | str | None
    length: int | None
    domain: str | Sequence[Any] | None
    runs: int | float
    confidence: float
    seed: int | None
    relation: Any
    false_alarm: float
    keep_data: bool
    workers: int
    time_budget: float | None
    listen: Callable[[str, int, int], None] | None


Request = AuditRequest | ProofRequest


def options_of(kind: type[Request]) -> dict[str, Option]:
    """Return all options of a kind of request by name, in the order in which a printed command names them."""
    return {each.name: each.metadata[_READ] for each in fields(kind) if _READ in each.metadata}


def default_of(kind: type[Request], name: str) -> Any:
    """Return what an option is where nothing is said."""
    return next(each.default for each in fields(kind) if each.name == name)


def recorded(kind: type[Request], evidence: Evidence) -> dict[str, Any]:
    """Return the options that evidence was asked for with, those that take no more than a look."""
    found = {name: option.recorded for name, option in options_of(kind).items()}
    return {name: read(evidence) for name, read in found.items() if read is not None}


def taking(kind: type[Request]) -> Callable[[Function], Function]:
    """Give a function that takes the options of a request their names, defaults and meanings, for help and editors."""

    def decorated(function: Function) -> Function:
        keywords = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY if _READ in each.metadata else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if each.default is MISSING else each.default,
                annotation=each.type,
            )
            for each in fields(kind)
        ]
        returned = inspect.signature(function).return_annotation
        function.__signature__ = inspect.Signature(keywords, return_annotation=returned)  # type: ignore[attr-defined]
        if function.__doc__ and kind.__doc__:  # there is none with python -OO
            meanings = inspect.cleandoc(kind.__doc__).partition("Attributes:\n")[2]
            function.__doc__ = inspect.cleandoc(function.__doc__).replace("    {options}", meanings)
        return function

    return decorated
