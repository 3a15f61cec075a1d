"""Which evidence can a file contain? Hypothesis strategies for all values that the types allow."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from dpaudit.evidence import event as parts
from dpaudit.evidence import further_records
from dpaudit.evidence import records as members
from dpaudit.evidence.evidence import Evidence

text = st.text(max_size=8)
number = st.floats()
count = st.integers(0, 2**70)
many = st.integers(0, 3)


def tuples(of: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=most).map(tuple)


counts = st.builds(members.Counts, *[st.tuples(count, count)] * 3)
scores = st.one_of(
    st.none(),
    st.builds(parts.Coordinate, count),
    st.builds(parts.Linear, tuples(number), tuples(number), tuples(number), tuples(tuples(number))),
    st.builds(parts.Rows, tuples(tuples(number))),
    st.builds(parts.Deviation, tuples(number), tuples(number)),
    st.builds(parts.Values, tuples(number)),
    st.builds(parts.Step, count, number),
    st.builds(parts.Reach, count, number),
)
events = st.builds(
    parts.Event, text, tuples(st.builds(parts.Rule, text, scores, tuples(number), tuples(st.integers(-1, 1))))
)
bounds = st.builds(
    members.Bound,
    value=number,
    side=st.sampled_from(["lower", "upper"]),
    kind=st.sampled_from(["sampled", "exact", "proof"]),
    parameter=text,
    notion=text,
    confidence=number,
    delta=number,
    method=text,
    weight=st.none() | number,
    counts=st.none() | counts,
    event=st.none() | events,
    pair=st.none() | many,
    arithmetic=text,
    assumes=tuples(text),
    exact=st.none() | text,
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
records = st.dictionaries(text, anything, max_size=3)
proofs = st.builds(members.Proof, text, text, st.none() | count, count, st.none() | records)
counterexamples = st.builds(
    members.Counterexample, text, text, events, st.tuples(text, text), st.tuples(text, text), records
)
attempts = st.builds(members.Attempt, many, text, bounds, tuples(st.builds(members.Candidate, text, text, number)))
histograms = st.builds(
    members.Histogram,
    many,
    text,
    st.tuples(count, count),
    tuples(st.builds(members.Cell, text, st.none() | number, st.none() | number, count, count)),
)
parameters = st.dictionaries(
    text, st.recursive(st.none() | st.booleans() | st.integers() | number | text, st.lists, max_leaves=4)
)
targets = st.builds(members.Target, text, st.none() | text, parameters, text, text, text, text, st.none() | number)
stakes = st.builds(members.Stake, text, text, st.tuples(st.booleans(), st.booleans()), counts, counts)
epochs = st.builds(members.Epoch, many, tuples(stakes))
sequentials = st.builds(members.Sequential, number, st.booleans(), tuples(epochs, 2))
statements = st.builds(
    further_records.Statement, st.none() | text, text, text, number, number, st.sampled_from(members.Verdict), many
)
accountings = st.builds(
    further_records.Accounting,
    tuples(st.builds(further_records.Release, text, count, text)),
    tuples(statements),
    tuples(records),
    number,
    st.none() | st.builds(further_records.AccountingCurve, *[tuples(number)] * 3),
    tuples(st.builds(further_records.OtherAccountant, text, text, number, text)),
    text,
    text,
)
evidence = st.builds(
    Evidence,
    target=targets,
    claim=st.none() | text,
    relation=text,
    unit=text,
    pairs=tuples(st.builds(members.PairRecord, text, text, text, st.none() | text, st.none() | text)),
    seed=count,
    confidence=number,
    learning=count,
    measuring=count,
    verdict=st.sampled_from(members.Verdict),
    reason=text,
    lower=bounds,
    attempts=tuples(attempts, 2),
    histogram=st.none() | histograms,
    versions=st.dictionaries(text, text),
    upper=st.none() | bounds,
    proof=st.none() | proofs,
    exact=st.none() | bounds,
    counterexample=st.none() | counterexamples,
    floating_point=st.none() | bounds,
    low_bits=st.sampled_from(["report", "verdict", "ignore"]),
    detectable=st.none() | number,
    reproducible=st.booleans(),
    assumptions=tuples(text),
    asked=st.none() | count,
    sequential=st.none() | sequentials,
    accounting=st.none() | accountings,
    run=st.none() | st.builds(members.RunInfo, text, st.floats(0, 1e9), text, count),
)


def simple(**changes: Any) -> Evidence:
    """Return an ordinary record."""
    lower = members.Bound(0.5, "lower", "sampled", "epsilon", "epsilon=1", 0.95, 0.0, "joint", counts=_counts())
    made = Evidence(
        target=members.Target("laplace", "ab" * 32, {"epsilon": 1}, "program", "batch"),
        claim="epsilon=1",
        relation="queries",
        unit="one record",
        pairs=(members.PairRecord("0" * 64, "1" * 64, "given"),),
        seed=0,
        confidence=0.95,
        learning=100,
        measuring=300,
        verdict=members.Verdict.NOT_VIOLATED,
        reason="Nothing was found.",
        lower=lower,
        attempts=(members.Attempt(0, "joint", lower, ()),),
        histogram=None,
        versions={"dpaudit": "0.1.0"},
        run=members.RunInfo("2024-01-01T00:00:00+00:00", 1.5, "here", 1),
    )
    return msgspec.structs.replace(made, **changes)


def _counts() -> members.Counts:
    return members.Counts((150, 150), (90, 40), (0, 0))
