"""What does evidence consist of? Verdict, counts, bounds, and the other results of an audit or a proof.

`dpaudit.evidence.evidence` puts these records together and gives the whole an id. The name under which a record is
stored does not depend on the module in which it stands.
"""

from dpaudit.evidence.records.accounting import Accounting, AccountingCurve, OtherAccountant, Release, Statement
from dpaudit.evidence.records.bounds import Bound, Counts, Power, Verdict, round_outward
from dpaudit.evidence.records.measured import (
    Accuracy,
    Attempt,
    Candidate,
    Cell,
    Curve,
    Epoch,
    Errors,
    Histogram,
    Led,
    Moved,
    Rate,
    RocPoint,
    Scores,
    SecondLook,
    Sequential,
    Stake,
)
from dpaudit.evidence.records.proof import NOT_ACCEPTED, Comparison, Counterexample, Proof
from dpaudit.evidence.records.subject import PairRecord, RunInfo, Search, Target, Tried
from dpaudit.evidence.records.trace import Trace, TracedCall, TraceFinding, TraceLoss, TraceStep

__all__ = [
    "NOT_ACCEPTED",
    "Accounting",
    "AccountingCurve",
    "Accuracy",
    "Attempt",
    "Bound",
    "Candidate",
    "Cell",
    "Comparison",
    "Counterexample",
    "Counts",
    "Curve",
    "Epoch",
    "Errors",
    "Histogram",
    "Led",
    "Moved",
    "OtherAccountant",
    "PairRecord",
    "Power",
    "Proof",
    "Rate",
    "Release",
    "RocPoint",
    "RunInfo",
    "Scores",
    "Search",
    "SecondLook",
    "Sequential",
    "Stake",
    "Statement",
    "Target",
    "Trace",
    "TraceFinding",
    "TraceLoss",
    "TraceStep",
    "TracedCall",
    "Tried",
    "Verdict",
    "round_outward",
]
