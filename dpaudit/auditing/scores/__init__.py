"""What do numbers that were recorded elsewhere show? Scores of an attack on a model, or outputs of a mechanism."""

__all__ = ["audit", "canaries", "checking", "reading", "split"]
