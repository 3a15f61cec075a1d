"""Which options do audits, proofs and traces share?"""

from dpaudit.request.option import described

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
