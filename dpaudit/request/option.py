"""What is known about one option? From it flags, settings, keys and the arguments of functions are derived."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from dpaudit.errors import refuse_unknown

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.privacy import Claim


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
    found = {name: each.recorded for name, each in options_of(kind).items()}
    return {name: read(evidence) for name, read in found.items() if read is not None}


def taking(kind: type[Any]) -> Callable[[Function], Function]:
    """Give a function that takes the options of a request their names, defaults and meanings, for help and editors."""

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
        function = known_keywords(own)
        if function.__doc__ and kind.__doc__:  # there is none with python -OO
            meanings = inspect.cleandoc(kind.__doc__).partition("Attributes:\n")[2]
            function.__doc__ = inspect.cleandoc(function.__doc__).replace("    {options}", meanings)
        return function

    return decorated


def known_keywords(function: Function) -> Function:
    """Let a public function refuse keywords that it does not have, by their names."""
    signature = inspect.signature(function)
    known = [name for name, each in signature.parameters.items() if each.kind is not each.POSITIONAL_ONLY]

    @functools.wraps(function)
    def checked(*given: Any, **options: Any) -> Any:
        refuse_unknown(function.__name__, options, known)
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
