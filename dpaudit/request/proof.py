"""What may be asked of a proof, a trace, an accounting, and of the watch of a training loop?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict

from dpaudit.request.audit import (
    BACKEND,
    BEYOND_DOMAIN,
    CLAIM,
    CONFIDENCE,
    DOMAIN,
    FALSE_ALARM,
    KEEP_DATA,
    PAIRS,
    PARAMETERS,
    RELATION,
    SCHEDULER,
    SEED,
    WORKERS,
    AuditRequest,
    SharedOptions,
    option,
)

if TYPE_CHECKING:
    from dpaudit.privacy import Claim

# --- What may be asked of a proof, and of a trace? -------------------------------------------------------

# --- What may be asked of a trace? ---


@dataclass(frozen=True)
class TraceRequest:
    """A request for a trace.

    Attributes:
        target: as for `dpaudit.audit`.
        parameters: parameters of the mechanism; the others keep their defaults.
        claim: a Claim or its text; by default the mechanism's own. Without any, shifts are priced and nothing is
            judged.
        runs: executions that measure the pair that was found, as `dpaudit.audit` does; 0 for none. What is certain
            needs none.
        confidence: of what is sampled.
        seed: the root of every random draw, by default a fresh one.
        relation: which datasets are neighbours, as for `dpaudit.audit`.
        false_alarm: as for `dpaudit.audit`, of what is sampled.
        pairs: neighbouring datasets [(data0, data1), …], each of which is traced; by default the mechanism's own.
        data: one dataset, in place of pairs. Each of its candidates for the worst neighbours is traced by a few runs,
            and the pair that shows most is traced by more, and measured.
        domain: what records may hold, as for `dpaudit.audit`.
        beyond_domain: whether records of ``data`` outside of the domain are tried too.
        candidates: how many pairs of neighbours of ``data`` are tried at most.
        paths: how many ways through the code are tried from either dataset at most, where it branches on its noise.
        keep_data: the evidence holds the pairs, so that anyone can replay it.
        workers: processes, or jobs of a batch system, that make the measuring runs.
        backend: as for `dpaudit.audit`.
        scheduler: as for `dpaudit.audit`.
        time_budget: seconds, about, for measuring runs of a function that is called once a run: where they would take
            longer, fewer are made. None for as long as it takes. Candidates and paths are counted: no clock is asked.
        listen: called with (stage, runs done, runs in all).
    """

    target: Any
    parameters: Mapping[str, Any] | None = option(None, PARAMETERS)
    claim: Claim | str | None = option(None, CLAIM)
    runs: int | float = option(
        100_000,
        "To measure the pair that was found; 0: none.",
        kind="count",
        recorded=lambda evidence: evidence.budget,
        always=True,
    )
    confidence: float = option(0.95, CONFIDENCE)
    seed: int | None = option(None, SEED)
    relation: Any = option(None, RELATION)
    false_alarm: float = option(1e-3, FALSE_ALARM)
    pairs: Sequence[tuple[Any, Any]] | None = option(None, PAIRS)
    data: Any = option(
        None,
        "One dataset, whose neighbours are tried: .csv, .parquet, .npy or .json.",
        kind="file",
        asked="the data",
        gate="target",
    )
    domain: Any = option(None, DOMAIN)
    beyond_domain: bool = option(False, BEYOND_DOMAIN)
    candidates: int | float = option(
        700,
        "How many pairs of neighbours are tried at most.",
        kind="count",
        recorded=lambda evidence: None if evidence.trace is None else evidence.trace.tried,
    )
    paths: int = option(
        24,
        "How many ways through the code are tried from either dataset at most.",
        kind="count",
        recorded=lambda evidence: None if evidence.trace is None else evidence.trace.limit,
    )
    keep_data: bool = option(False, KEEP_DATA)
    workers: int = option(1, WORKERS)
    backend: str | None = option(None, BACKEND)
    scheduler: str | None = option(None, SCHEDULER)
    time_budget: float | None = option(10.0, "For measuring, about.", kind="number", shown="SECONDS")
    listen: Callable[[str, int, int], None] | None = option(None, "In Python only.", kind="")


class TraceOptions(SharedOptions, total=False):
    """The options of a `TraceRequest`, as keyword arguments of `dpaudit.trace`; a test keeps both alike."""

    runs: int | float
    pairs: Sequence[tuple[Any, Any]] | None
    data: Any
    domain: Any
    beyond_domain: bool
    candidates: int | float
    paths: int
    time_budget: float | None


_RUNS_ALONE = (
    "sequential", "curve", "learn", "observe", "resume", "time_budget", "block_size", "reading",
    "search", "query", "sensitivity",
)  # fmt: skip
"""What is asked of runs alone."""


def trace_for(request: AuditRequest) -> TraceRequest | None:
    """Return the trace that answers an audit on data or a domain, where the function's source is read.

    The pair is that on which its noise has to hide most, and one pass over the source makes many runs.

    Returns:
        None where pairs are given, or where something is asked of runs alone.
    """
    usual = AuditRequest(request.target)
    asked = ((getattr(request, name), getattr(usual, name)) for name in (*_RUNS_ALONE, "floating_point", "types"))
    if request.pairs or (request.data is None and request.domain is None):
        return None
    if any((own or None) != (other or None) for own, other in asked):
        return None
    shared = {each.name for each in fields(TraceRequest)} & {each.name for each in fields(AuditRequest)}
    return TraceRequest(**{name: getattr(request, name) for name in shared - {"time_budget"}})


# --- What may be asked of a proof? ---

SECONDS = 10.0
"""About, for measuring beside a proof; and for the proof that is tried in an audit."""


@dataclass(frozen=True)
class ProofRequest:
    """A request for a proof.

    Attributes:
        target: as for `dpaudit.audit`; it must be a program, ``f(data, noise, **parameters)``.
        parameters: parameters of the mechanism; numbers are exact, a float counts as its decimal notation.
        claim: a pure or (ε, δ) claim or its text, from records also one on ρ or μ; by default the mechanism's own.
        length: how many answers the data hold, or numbers of a range. None: any number of answers, for a mechanism that
            is a `Fold`.
        domain: "real" or "integer" answers; or what each column of a frame may hold, as for `dpaudit.audit`: then the
            bound is derived from records to what is released; or the range of each of ``length`` numbers, as (0, 1); or
            all datasets that exist, for a program with discrete
            noise: then every output is enumerated, and the loss is exact.
        data: records, beside a domain by columns: they have to hold what it says, and the proof is compared with runs
            on neighbours of them, too. Evidence does not hold them.
        given: for a function of records, how far the values move that some lines assign, where those are not read:
            "release.py:7 moves by 1", or several. The proof holds under it, and says so; runs that refute it end it.
        runs: executions that confirm the counterexample and look for more on its pair; 0 for none.
        confidence: of what is sampled.
        seed: the root of every random draw, by default a fresh one.
        relation: which datasets are neighbours; by default the mechanism's own.
        false_alarm: as for `dpaudit.audit`, of what is sampled; a bound that contradicts a proof has its own second
            look.
        keep_data: whether the evidence holds the enumerated domain, so that anyone can replay it.
        workers: processes, or jobs of a batch system.
        backend: as for `dpaudit.audit`.
        scheduler: as for `dpaudit.audit`.
        steps: of work for reading and proving, without runs, the same on every machine: a program that takes more is
            too large. A counterexample is looked for with as many again, and left where they do not suffice. None for
            no limit.
        time_budget: seconds for the same; by default there is no limit, so that no answer depends on the machine.
        seconds: about, for measuring runs of a function that is called once a run: where they would take longer, fewer
            are made. None for as long as it takes.
        listen: called with (stage, runs done, runs in all).
    """

    target: Any
    parameters: Mapping[str, Any] | None = option(None, PARAMETERS)
    claim: Claim | str | None = option(None, CLAIM)
    length: int | None = option(
        None,
        "How many answers or numbers the data hold; without it any number of answers, for a Fold.",
        kind="count",
        asked="the length",
        recorded=lambda evidence: None if evidence.proof is None else evidence.proof.length,
        gate="target",
    )
    domain: str | Sequence[Any] | Mapping[str, Any] | None = option(
        None,
        "What a column may hold, NAME=JSON; the range of numbers, [0, 1]; 'real' or 'integer' answers; or a JSON "
        "list of all datasets.",
        shown="[NAME=]JSON",
        several=True,
        asked="the domain",
        gate="target",
    )
    data: Any = option(
        None, "Records that must keep to the domain by columns: .csv, .parquet or .json.", kind="file", gate="target"
    )
    given: str | Sequence[str] | None = option(
        None,
        "Of a line that is not read, by how much the value moves that it assigns: 'release.py:7 moves by 1'.",
        several=True,
        asked="what is given",
        recorded=lambda evidence: None if evidence.proof is None else list(evidence.proof.given) or None,
        gate="target",
    )
    runs: int | float = option(
        100_000,
        "To confirm what is found; 0: none.",
        kind="count",
        recorded=lambda evidence: evidence.budget,
        always=True,
    )
    confidence: float = option(0.95, CONFIDENCE)
    seed: int | None = option(None, SEED)
    relation: Any = option(None, RELATION)
    false_alarm: float = option(1e-3, FALSE_ALARM)
    keep_data: bool = option(
        False,
        "Keep the domain in the evidence, for replay.",
        kind="flag",
        recorded=lambda evidence: (
            evidence.proof is not None and evidence.proof.method == "enumeration" and evidence.proof.domain is not None
        ),
    )
    workers: int = option(1, WORKERS)
    backend: str | None = option(None, BACKEND)
    scheduler: str | None = option(None, SCHEDULER)
    steps: int | None = option(
        6_000_000,  # a minute or two of one core, by programs without end (tests/verify/test_budget.py)
        "Of work for reading and proving, the same on every machine.",
        kind="count",
    )
    time_budget: float | None = option(None, "Seconds for reading and proving, too.", kind="number", shown="SECONDS")
    seconds: float | None = option(SECONDS, "For measuring beside the proof, about.", kind="number", shown="SECONDS")
    listen: Callable[[str, int, int], None] | None = option(None, "In Python only.", kind="")


class ProofOptions(SharedOptions, total=False):
    """The options of a `ProofRequest`, as keyword arguments of `dpaudit.prove`; a test keeps both alike."""

    length: int | None
    domain: str | Sequence[Any] | Mapping[str, Any] | None
    data: Any
    given: str | Sequence[str] | None
    runs: int | float
    steps: int | None
    time_budget: float | None
    seconds: float | None


def proof_for(request: AuditRequest | TraceRequest) -> ProofRequest | None:
    """Return the proof that may answer an audit of a function on declared columns, or on so many numbers.

    None where neither is declared. What is read, and what is measured beside it, have `SECONDS` each: the answer is one
    of an audit.
    """
    length = request.length if isinstance(request, AuditRequest) else None
    if not isinstance(request.domain, Mapping) and length is None:
        return None
    shared = {each.name for each in fields(ProofRequest)} & {each.name for each in fields(TraceRequest)}
    given = {name: getattr(request, name) for name in shared - {"time_budget", "keep_data"}}
    return ProofRequest(**given, length=length, time_budget=SECONDS)


# --- What may be asked of an accounting, and of the watch of a training loop? ----------------------------

# --- What may be asked of an accounting? ---


@dataclass(frozen=True)
class AccountRequest:
    """A request for an accounting.

    Attributes:
        events: what was run: ``dp.accounting.Gaussian("1.1").poisson("0.004").times(14000)``, the same as text, the
            name of a plan file (.toml), the accountant of Opacus or its history, or an event of dp-accounting.
        delta: the δ at which ε is asked for. A claim without a δ is meant at it.
        epsilon: the ε at which δ is asked for, in nats.
        claim: a claim or its text, or several: pure or (ε, δ). By default those of the plan file; without any the
            verdict is NO CLAIM.
        tolerance: the width of the interval that is wished for, in ε.
        relation: which datasets are neighbours, where the events allow several: "add-remove", "replace" or
            "zero-out".
        alone: whether no other accountant that is installed is asked too.
    """

    events: Any
    delta: Any = option(
        None, "The δ at which ε is asked for; a claim without a δ is meant at it.", shown="DELTA", asked="δ"
    )
    epsilon: Any = option(None, "The ε at which δ is asked for.", shown="EPSILON", asked="ε")
    claim: Claim | str | Sequence[Claim | str] | None = option(
        None,
        "The claim to hold it against, such as 'epsilon=3, delta=1e-5'; may be given several times.",
        several=True,
        asked="the claim",
        gate="target",
    )
    tolerance: float = option(
        5e-4,
        "Width of the interval that is wished for, in ε.",
        kind="number",
        asked="the tolerance",
        recorded=lambda evidence: None if evidence.accounting is None else evidence.accounting.tolerance,
    )
    relation: str | None = option(
        None,
        "Which datasets are neighbours, where the events allow several; replace and replace-one are the same.",
        kind="choice",
        allowed=("add-remove", "replace", "replace-one", "zero-out"),
        asked="the relation",
        recorded=lambda evidence: evidence.relation,
    )
    alone: bool = option(False, "Ask no other accountant, though one is installed.", kind="flag")


class AccountOptions(TypedDict, total=False):
    """The options of an `AccountRequest`, as keyword arguments of `dpaudit.account`; a test keeps both alike."""

    delta: Any
    epsilon: Any
    claim: Claim | str | Sequence[Claim | str] | None
    tolerance: float
    relation: str | None
    alone: bool


@dataclass(frozen=True)
class ReleaseRequest:
    """One release in plain options: as the command line types it. A plan file lists several.

    Attributes:
        gaussian, noise_multiplier, laplace, discrete_laplace, discrete_gaussian, randomised_response, exponential,
            block: the mechanism, by the parameter of its noise or its claim; one of them.
        sensitivity: how far one record moves the answer.
        rate: of Poisson sampling. batch, records: of sampling without replacement. batches: of shuffled data.
        steps: how often it is run. epochs: how often shuffled data are gone through.
    """

    gaussian: str | None = option(None, "Gaussian noise of this σ, in units of --sensitivity.", shown="SIGMA")
    noise_multiplier: str | None = option(
        None,
        "Gaussian noise over the norm that each record's part of a sum is clipped to, as DP-SGD states it.",
        shown="NUMBER",
    )
    laplace: str | None = option(None, "Laplace noise of this scale, in units of --sensitivity.", shown="SCALE")
    discrete_laplace: str | None = option(None, "Whole-number noise, P(k) ∝ e^(−|k|/SCALE).", shown="SCALE")
    discrete_gaussian: str | None = option(None, "Whole-number noise, P(k) ∝ e^(−k²/2σ²).", shown="SIGMA")
    randomised_response: str | None = option(None, "Randomised response of this ε.", shown="EPSILON")
    exponential: str | None = option(None, "Exponential mechanism of this ε.", shown="EPSILON")
    block: str | None = option(None, "Anything that keeps a claim, such as 'epsilon=1, delta=1e-6'.", shown="CLAIM")
    sensitivity: str | None = option(None, "How far one record moves the answer; 1 by default.", shown="NUMBER")
    rate: str | None = option(None, "Of Poisson sampling.", shown="RATE")
    batch: int | None = option(None, "Records of a batch, without replacement.", kind="count")
    records: int | None = option(None, "All records, with --batch.", kind="count")
    batches: int | None = option(None, "Batches that shuffled data are cut into, for each epoch.", kind="count")
    steps: int | None = option(None, "How often it is run.", kind="count")
    epochs: int | None = option(None, "How often shuffled data are gone through, with --batches.", kind="count")


# --- What may be asked of the watch of a training loop? ---


@dataclass(frozen=True)
class TrainingRequest:
    """A request to watch a training loop.

    Attributes:
        model: that is trained: of Opacus, what ``make_private`` returned; of JAX, the parameters to begin with.
        optimizer: whose steps are watched: one of Opacus, or of PyTorch; of JAX, the transformation that adds noise, or
            a chain with it.
        loader: whose batches are watched; None where there is none to watch. Of JAX, a strategy of
            ``jax_privacy.batch_selection``, or whatever yields record indices.
        claim: of ε at a δ, such as "epsilon=8, delta=1e-5". Without one nothing is judged.
        sigma: the noise multiplier, or a list of those of all updates, which is a public plan; and clip: the norm that
            records are clipped to; by default those that an optimizer of Opacus states. A plain loop does not say them.
        rate: at which records are sampled; by default as the loader states it.
        records: how many there are in the training set, where batches of JAX do not say it.
        sampling: how records come in, as the claim's accounting assumes: "poisson", "fixed-size" or "shuffled".
        gradient: of a plain loop, a function that returns the clipped sum of a batch, a tensor for each parameter in
            their order; of JAX, the function of parameters and batch whose sum gets noise. Without it clipping is not
            seen.
        canaries: of PyTorch, for a bound of ε that rests on fair coins alone. A number: so many records of the training
            set, by the seed, give their place to gradients that are easiest to tell, half of them by coins; for loops
            of Opacus with hooks. A list: the numbers of the records that are canaries, each left out of every batch
            by a coin of its own.
        canary_scores: for listed canaries, a function without arguments that returns a score for each, called after
            the training: higher for one that was learned, such as minus its loss.
        accountant: that counts the steps; by default the one that an optimizer of Opacus reports to.
        confidence: of the interval of the noise's scale, and of the audit of a step.
        false_alarm: the probability with which anything in a right loop is called wrong.
        seed: of what is replayed, by default a fresh one. No draw of the loop hangs on it.
        name: what to call the loop.
        unit: what one record stands for.
        keep_data: refused here: evidence of a training loop holds nothing about its records.
    """

    model: Any
    optimizer: Any
    loader: Any = None
    claim: Claim | str | None = option(None, CLAIM)
    sigma: float | Sequence[float] | None = option(
        None, "The noise multiplier; else as the optimizer states it.", kind="number", gate="table"
    )
    clip: float | None = option(None, "The clip norm; else as the optimizer states it.", kind="number", gate="table")
    rate: float | None = option(None, "The sampling rate; else as the loader states it.", kind="number", gate="table")
    records: int | None = option(
        None, "Records in the training set; else as the loader states it.", kind="count", gate="table"
    )
    sampling: str = option(
        "poisson",
        "How records come in, as the claim's accounting assumes.",
        kind="choice",
        allowed=("poisson", "fixed-size", "shuffled"),
        recorded=lambda evidence: None if evidence.training is None else evidence.training.assumed,
        gate="table",
    )
    gradient: Callable[[Any], Any] | None = option(None, "In Python only.", kind="")
    canaries: int | Sequence[int] | None = option(
        None, "Canaries in the loop, for a bound of ε by one run; in Python also a list.", kind="count", gate="table"
    )
    canary_scores: Callable[[], Any] | None = option(None, "In Python only.", kind="")
    accountant: Any = option(None, "In Python only.", kind="")
    confidence: float = option(
        0.95,
        "Of the noise's scale and of the audit of a step.",
        kind="number",
        recorded=lambda evidence: evidence.confidence,
    )
    false_alarm: float = option(
        1e-3,
        "Chance that anything in a right loop is called wrong.",
        kind="number",
        recorded=lambda evidence: evidence.false_alarm,
    )
    seed: int | None = option(None, SEED)
    name: str | None = option(None, "What to call the loop.", kind="")
    unit: str = option("one training record", "What one record stands for.", kind="")
    keep_data: bool = option(False, KEEP_DATA)


class TrainingOptions(TypedDict, total=False):
    """The options of a `TrainingRequest`, as keyword arguments of `dpaudit.watch_training`; a test keeps both alike."""

    claim: Claim | str | None
    sigma: float | Sequence[float] | None
    clip: float | None
    rate: float | None
    records: int | None
    sampling: str
    gradient: Callable[[Any], Any] | None
    canaries: int | Sequence[int] | None
    canary_scores: Callable[[], Any] | None
    accountant: Any
    confidence: float
    false_alarm: float
    seed: int | None
    name: str | None
    unit: str
    keep_data: bool
