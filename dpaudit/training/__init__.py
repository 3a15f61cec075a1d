"""Does a training loop do what its claim of privacy takes for granted? Watched while it runs, then judged.

Watchers record what a loop does as plain arrays (`seen`); `batches`, `clipping` and `updates` are exact tests of these
facts, which no library knows of; the claim is held against the certified loss of what was seen (`losses`), not of what
was configured.
"""

__all__ = ["canaries", "judge", "losses", "updates", "watch"]
