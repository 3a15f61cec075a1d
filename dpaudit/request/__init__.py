"""What may be asked of an audit, a proof or an accounting? Every option, defined once.

A request is a frozen record. Everything about an option besides its type and its default is kept with it, as an
`Option`: what it means, how it is written, and how evidence records it. The options of the command line, the settings
of a gate, the key of a file of finished blocks, the comparison of an answer with the request, the arguments of a replay
and the printed command are derived from it.
"""

from dpaudit.request.audit import (
    AuditOptions,
    AuditRequest,
    Option,
    default_of,
    known_keywords,
    options_of,
    recorded,
    taking,
)
from dpaudit.request.proof import (
    AccountOptions,
    AccountRequest,
    ProofOptions,
    ProofRequest,
    ReleaseRequest,
    TraceOptions,
    TraceRequest,
    TrainingOptions,
    TrainingRequest,
    proof_for,
    trace_for,
)

Request = AuditRequest | ProofRequest | AccountRequest | ReleaseRequest | TraceRequest | TrainingRequest

__all__ = [
    "AccountOptions",
    "AccountRequest",
    "AuditOptions",
    "AuditRequest",
    "Option",
    "ProofOptions",
    "ProofRequest",
    "ReleaseRequest",
    "Request",
    "TraceOptions",
    "TraceRequest",
    "TrainingOptions",
    "TrainingRequest",
    "default_of",
    "known_keywords",
    "options_of",
    "proof_for",
    "recorded",
    "taking",
    "trace_for",
]
