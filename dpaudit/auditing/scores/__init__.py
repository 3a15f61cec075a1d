"""What do numbers that were recorded elsewhere show? Scores of an attack on a model, or outputs of a mechanism."""

from dpaudit.auditing.scores.audit import audit_outputs, audit_scores
from dpaudit.auditing.scores.reading import read_scores

__all__ = ["audit", "audit_outputs", "audit_scores", "canaries", "checking", "read_scores"]
