"""Which facts of a training loop does privacy rest on, and were they so? Arrays in, findings out; no library."""

__all__ = ["batches", "clipping", "updates"]
