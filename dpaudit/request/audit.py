"""What may be asked of an audit, and what is known about one option? Everything else is derived from it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from dpaudit.errors import refuse_unknown

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.privacy import Claim

# --- What is known about one option? ---------------------------------------------------------------------

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = Literal["text", "file", "count", "number", "flag", "choice", "assignment", ""]

OPTION = "option"
"""The key of an `Option` in the metadata of a field."""


@dataclass(frozen=True, slots=True)
class Option:
    """The description of one option."""

    help: str  # what it means, in a sentence
    kind: Kind = "text"  # how it is written as text; empty if it can only be given in Python
    allowed: tuple[str, ...] = ()  # the texts of a "choice"
    flag: str = ""  # of the command line; by default its name
    short: str = ""  # a short flag
    shown: str | None = None  # the placeholder for its value on the command line
    several: bool = False  # whether it may be given several times
    asked: str = ""  # its name when an answer is compared with the request; empty if it does not affect the answer
    # reads its value from evidence; None if that is not directly possible (pairs and data)
    recorded: Callable[[Evidence], Any] | None = None
    always: bool = False  # whether a printed command includes it even at its default
    if_invalid: bool = True  # whether evidence records it even if the runs could not be trusted
    # "target" if a gate sets it for each target, "shared" if targets without it use the gate's, "given" if the gate
    # determines it, "table" if it stands in the table of a training target; empty if a gate does not have it
    gate: Literal["", "target", "shared", "given", "table"] = ""


def described(meaning: str, **more: Any) -> Mapping[str, Option]:
    """Return the metadata of a field: its `Option`."""
    return {OPTION: Option(meaning, **more)}


def option(default: Any, meaning: str | Mapping[str, Option], **more: Any) -> Any:
    """Return a field of a request: its default, and what is known about it; or a description that is shared."""
    return field(default=default, metadata=described(meaning, **more) if isinstance(meaning, str) else meaning)


def options_of(kind: type[Any]) -> dict[str, Option]:
    """Return all options of a kind of request by name, in the order in which a printed command names them."""
    return {each.name: each.metadata[OPTION] for each in fields(kind) if OPTION in each.metadata}


def default_of(kind: type[Any], name: str) -> Any:
    """Return the default of an option."""
    return next(each.default for each in fields(kind) if each.name == name)


def recorded(kind: type[Any], evidence: Evidence) -> dict[str, Any]:
    """Return the options that evidence was requested with, as far as they can be read from it directly."""
    readers = {name: each.recorded for name, each in options_of(kind).items()}
    return {name: read(evidence) for name, read in readers.items() if read is not None}


def taking(kind: type[Any], *, own_settings: bool = True) -> Callable[[Function], Function]:
    """Give a public function that takes the options of a request their names, defaults and meanings.

    It refuses other keywords, and works under dpaudit's settings: see `known_keywords`.
    """

    def decorated(own: Function) -> Function:
        keywords = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY if OPTION in each.metadata else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if each.default is MISSING else each.default,
                annotation=each.type,
            )
            for each in fields(kind)
        ]
        returned = inspect.signature(own).return_annotation
        own.__signature__ = inspect.Signature(keywords, return_annotation=returned)  # type: ignore[attr-defined]
        function = known_keywords(own, own_settings=own_settings)
        if function.__doc__ and kind.__doc__:  # there is none with python -OO
            meanings = inspect.cleandoc(kind.__doc__).partition("Attributes:\n")[2]
            function.__doc__ = inspect.cleandoc(function.__doc__).replace("    {options}", meanings)
        return function

    return decorated


def known_keywords(function: Function, *, own_settings: bool = True) -> Function:
    """Let a public function refuse keywords that it does not have, by their names, and work under dpaudit's settings.

    Args:
        function: that is public.
        own_settings: whether it does the latter; not where it begins what the caller goes on with.
    """
    signature = inspect.signature(function)
    known = [name for name, each in signature.parameters.items() if each.kind is not each.POSITIONAL_ONLY]

    @functools.wraps(function)
    def checked(*given: Any, **options: Any) -> Any:
        refuse_unknown(function.__name__, options, known)
        from dpaudit import settings  # which needs NumPy, as help does not

        with settings.own_settings() if own_settings else nullcontext():
            return function(*given, **options)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return cast(Function, checked)


# --- Which options do audits, proofs and traces share? ---

PARAMETERS = described(
    "A parameter; VALUE is JSON, a table as @FILE.csv, or else text.",
    kind="assignment",
    flag="--parameter",
    short="-p",
    several=True,
    asked="the parameters",
    recorded=lambda evidence: evidence.target.parameters,
    gate="target",
)
CLAIM = described(
    "The claim to hold it against, such as 'epsilon=1, delta=1e-6'; else the mechanism's own.",
    asked="the claim",
    recorded=lambda evidence: evidence.claim,
    gate="target",
)
CONFIDENCE = described(
    "Of the whole audit.",
    kind="number",
    asked="the confidence",
    recorded=lambda evidence: evidence.confidence,
    always=True,
    gate="given",
)
SEED = described(
    "Root of every random draw; by default a fresh one, which is recorded.",
    kind="count",
    asked="the seed",
    recorded=lambda evidence: evidence.seed,
    always=True,
    gate="given",
)
RELATION = described(
    "add-remove, replace, queries, queries(norm=1), declared, …; else the mechanism's own.",
    asked="the relation",
    recorded=lambda evidence: evidence.relation,
    always=True,
    gate="target",
)
FALSE_ALARM = described(
    "Chance that a mechanism that keeps its claim is called VIOLATED.",
    kind="number",
    asked="the false alarm",
    recorded=lambda evidence: 1 - evidence.confidence if evidence.false_alarm is None else evidence.false_alarm,
    gate="given",
)
WORKERS = described("Processes, or jobs of a batch system; they do not change the evidence.", kind="count")
BACKEND = described(
    "What makes the runs: processes of this machine, or an engine of many.",
    kind="choice",
    allowed=("processes", "dask", "ray", "submitit"),
)
SCHEDULER = described("Where the engine is, such as tcp://HOST:8786.", shown="ADDRESS")
PAIRS = described(
    "Neighbouring datasets: JSON, or two .npy/.csv.",
    kind="file",
    flag="--pair",
    several=True,
    asked="the pairs",
    gate="target",
)
DOMAIN = described(
    "What a column may hold: [LOW, HIGH], or a list of values. Without --data: small datasets over it.",
    shown="[NAME=]JSON",
    several=True,
    asked="the domain",
    gate="target",
)
BEYOND_DOMAIN = described(
    "Try records outside of the declared domain too.",
    kind="flag",
    asked="whether records beyond the domain are tried",
    recorded=lambda evidence: any(each is not None and each.beyond for each in (evidence.search, evidence.trace)),
    if_invalid=False,
    gate="target",
)
KEEP_DATA = described(
    "Keep the datasets in the evidence, for replay; else digests alone.",
    kind="flag",
    asked="whether data are kept",
    recorded=lambda evidence: any(pair.data0 is not None for pair in evidence.pairs),
)


class SharedOptions(TypedDict, total=False):
    """The options that audits, traces and proofs have in common, as keyword arguments."""

    parameters: Mapping[str, Any] | None
    claim: Claim | str | None
    confidence: float
    seed: int | None
    relation: Any
    false_alarm: float
    keep_data: bool
    workers: int
    backend: str | None
    scheduler: str | None
    listen: Callable[[str, int, int], None] | None


# --- What may be asked of an audit? ----------------------------------------------------------------------


def _reading_of(evidence: Evidence) -> str | None:
    """Return how the runs of evidence have to be made so that they come again."""
    target = evidence.target
    called = target.asks in ("seeded", "opaque") and target.reading == "run by run"
    return "calls" if called and not evidence.observed else None


@dataclass(frozen=True)
class AuditRequest:
    """A request for an audit.

    Attributes:
        target: a catalogue name, "package.module:function", "path/to/file.py:function", a Mechanism, or a function that
            asks for ``noise``, ``size`` and ``rng``, ``rng``, or none of these.
        parameters: parameters of the mechanism; the others keep their defaults.
        claim: a Claim or its text; by default the mechanism's own. Without any the verdict is NO CLAIM.
        runs: executions in all: both sides, search, learning and measuring, every pair. At least 100 per pair.
        confidence: of the whole audit, whatever the number of pairs.
        seed: the root of every random draw of dpaudit; the same seed gives the same evidence. By default a fresh one,
            which the evidence records; with ``resume``, that of the file.
        relation: which datasets are neighbours; by default the mechanism's own, else "add-remove" with ``data`` or a
            domain, and otherwise the one of which the pairs are one step: "add-remove" or "replace" of one record, or
            "queries" for two numbers that are at most 1 apart. A pair that is not a step is refused; "declared" takes
            pairs on trust.
        false_alarm: the chance that a mechanism that keeps its claim is called VIOLATED. If a bound above the claim is
            not sure enough for that, there is a second look at fresh runs of its event, twice as many as measured it
            and in addition to ``runs`` (`dpaudit.stats.two_looks`); ``confidence`` remains that of the bounds. With 1 −
            confidence, or more, every bound above the claim is a violation.
        floating_point: how the low-order bits of outputs are used, which leak through the grid of doubles (Mironov
            2012). "report": they are a finding of their own, ``evidence.floating_point``, at the same confidence, and
            the verdict is about real arithmetic; "verdict": they decide too, and take a fifth of the error level;
            "ignore": they are not examined. A program has none: it is treated as mathematics.
        sequential: whether every run is bet on as it comes, so that the audit ends as soon as the claim is refuted;
            ``runs`` is then the limit, or the time itself (`dpaudit.auditing.sequential`). Low-order bits are not
            examined.
        observe: "time" adds the run time to every output, as (output, seconds): the verdict is then about both together
            (`dpaudit.sampling.runs`). Every run is a single call, and the evidence is not reproducible.
        types: "count": outputs of different types are different outputs (0 and 0.0, a list and a tuple), as for anyone
            who reads them in Python; "ignore": only their content counts.
        curve: whether to bound the whole privacy curve too, on the same runs: ``evidence.curve``, a finding beside the
            verdict, at the full confidence by itself (`privacy_curve`).
        learn: "trees" lets boosted trees compete with the built-in scores for vectors (extra ``learn``).
        search: whether to search among ``pairs`` (or the mechanism's own) for the one that reveals most; otherwise all
            of them are audited, and share the error level.
        pairs: neighbouring datasets [(data0, data1), …]; by default the mechanism's own.
        data: one dataset, instead of pairs: a list, an array, a pandas or polars frame. Its neighbours are searched for
            the pair that reveals most (`dpaudit.auditing.search`), with a share of the runs that no bound uses.
        domain: what records may hold: {"age": (0, 120), "species": ["Adelie", "Gentoo"]}, or (0, 120) for plain
            numbers; by default anything of the column's own type. Over a declared domain the search continues beyond
            neighbours of the data, to small datasets; without ``data`` there are only these, as lists.
        length: how many numbers the data hold, each within the range that is the domain, as (0, 1): all lists of so
            many are meant, of which one number is replaced. The claim is proved for them where it can be
            (`dpaudit.prove`), and the pair that moves farthest is measured.
        beyond_domain: whether records of ``data`` outside the domain are tried too.
        keep_data: whether the evidence holds the pairs themselves, so that anyone can replay it; otherwise it holds
            only digests of pairs that are given here, which may be personal data.
        block_size: the largest number of runs in a block, at least 32. A worker takes whole blocks, usually of up to
            2,048 single calls: where runs are slow and workers many, smaller ones keep all of them busy. Other blocks
            draw other runs, and dependence is looked for over fewer calls; the evidence records their size.
        reading: by default the source of a function that draws by itself, or from ``rng``, is read, so that one pass
            makes many runs (`dpaudit.reading`), where that can be done; "calls" makes each run a call, as of anything
            that is not read. A program is run in batches either way.
        workers: processes, or jobs of a batch system; they do not change the evidence.
        backend: what makes the runs: "processes" of this machine, or an engine of many machines, "dask", "ray" or
            "submitit" (`dpaudit.sampling.engines`); it does not change the evidence. None: the engine that joblib was
            told to use (``joblib.parallel_config``), else processes.
        scheduler: where the engine is: the address of a scheduler of Dask or of a Ray cluster, or a batch system with
            its settings, "slurm, timeout_min=60"; None for the one that this process is connected to.
        time_budget: seconds; replaces ``runs`` by a number that is measured first, by rehearsals that are thrown away
            (`dpaudit.auditing.audit`). If the machine turns out to be slower, the audit takes longer.
        resume: a file in which finished blocks of runs are kept, so that the same audit, repeated after an
            interruption, continues from there (`dpaudit.auditing.audit`). Not with a time budget.
        query: the deterministic function within the mechanism, of the data and of parameters, before any noise; by
            default the mechanism's own.
        sensitivity: its declared sensitivity, a number or (number, norm). If there is a query, neighbours are searched
            for one that moves it farther (`dpaudit.auditing.sensitivity`): ``evidence.sensitivity``, a finding beside
            the verdict.
        listen: called with (stage, runs done, runs in all) as the audit proceeds.
    """

    target: Any
    parameters: Mapping[str, Any] | None = option(None, PARAMETERS)
    claim: Claim | str | None = option(None, CLAIM)
    runs: int | float = option(
        400_000,
        "Executions in all: both sides, learning and measuring, every pair.",
        kind="count",
        asked="the number of runs",
        recorded=lambda evidence: evidence.budget,
        always=True,
        gate="shared",
    )
    confidence: float = option(0.95, CONFIDENCE)
    seed: int | None = option(None, SEED)
    relation: Any = option(None, RELATION)
    false_alarm: float = option(1e-3, FALSE_ALARM)
    floating_point: str = option(
        "report",
        "Low-order bits: a finding beside the verdict, part of it, or not examined.",
        kind="choice",
        allowed=("report", "verdict", "ignore"),
        asked="what low-order bits count for",
        recorded=lambda evidence: evidence.low_bits,
        gate="shared",
    )
    sequential: bool = option(
        False,
        "Stop as soon as the claim is refuted; --runs is the limit.",
        kind="flag",
        asked="whether it is sequential",
        recorded=lambda evidence: evidence.sequential is not None,
        if_invalid=False,
        gate="shared",
    )
    observe: str | Sequence[str] = option(
        (),
        "Let the run time join every output.",
        kind="choice",
        allowed=("time",),
        several=True,
        asked="what is observed",
        recorded=lambda evidence: evidence.observed,
    )
    types: str = option(
        "count",
        "Whether an int is told apart from a float, a list from a tuple, and so on.",
        kind="choice",
        allowed=("count", "ignore"),
        asked="whether types count",
        recorded=lambda evidence: evidence.types,
        gate="shared",
    )
    curve: bool = option(
        False,
        "Bound the whole privacy curve too: δ at every ε.",
        kind="flag",
        asked="whether a whole curve is measured",
        recorded=lambda evidence: evidence.curve is not None,
        if_invalid=False,
    )
    learn: str | None = option(
        None,
        "Let a learner compete with the built-in scores: trees.",
        shown="NAME",
        asked="what learns",
        recorded=lambda evidence: evidence.learn,
        if_invalid=False,
        gate="target",
    )
    search: bool = option(
        False,
        "Search among all pairs for the worst; else each is audited.",
        kind="flag",
        asked="whether the worst of the pairs is searched for",
        recorded=lambda evidence: evidence.search is not None and evidence.search.source in ("given", "mechanism"),
        if_invalid=False,
    )
    pairs: Sequence[tuple[Any, Any]] | None = option(None, PAIRS)
    data: Any = option(
        None,
        "One dataset, whose neighbours are searched: .csv, .parquet, .npy or .json.",
        kind="file",
        asked="the data",
        gate="target",
    )
    domain: Any = option(None, DOMAIN)
    length: int | None = option(  # what answers it is a proof, and compared as one
        None, "How many numbers the data hold, of which one is replaced (--domain '[0, 1]').", kind="count"
    )
    beyond_domain: bool = option(False, BEYOND_DOMAIN)
    keep_data: bool = option(False, KEEP_DATA)
    block_size: int | None = option(
        None,
        "Runs in a block, if fewer than usual: where runs are slow, and workers many.",
        kind="count",
        asked="the size of blocks",
        recorded=lambda evidence: evidence.block_size,
    )
    reading: str | None = option(
        None,
        "Make each run a call, also where the function could be read.",
        kind="choice",
        allowed=("calls",),
        asked="how a function is read",
        recorded=_reading_of,
    )
    workers: int = option(1, WORKERS)
    backend: str | None = option(None, BACKEND)
    scheduler: str | None = option(None, SCHEDULER)
    time_budget: float | None = option(None, "Instead of --runs.", kind="number", shown="SECONDS")
    resume: str | Path | None = option(None, "Keep finished blocks of runs there, and go on from them.", kind="file")
    query: Callable[..., Any] | None = option(None, "In Python only.", kind="")
    sensitivity: Any = option(None, "In Python only.", kind="")
    listen: Callable[[str, int, int], None] | None = option(None, "In Python only.", kind="")


class AuditOptions(SharedOptions, total=False):
    """The options of an `AuditRequest`, as keyword arguments of `dpaudit.audit`; a test keeps both alike."""

    runs: int | float
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
    length: int | None
    beyond_domain: bool
    block_size: int | None
    reading: str | None
    time_budget: float | None
    resume: str | Path | None
    query: Callable[..., Any] | None
    sensitivity: Any
