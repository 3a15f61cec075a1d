"""Steps are given as updates, and divided by the number of batches that make one update.

42 updates of 1,024 in 14,732 records are taken for 42 // 256 → 1; noise of 0.62 that keeps ε = 4 for one step does
not for 42. Fixed: the noise for 42 updates.
"""

SOURCES = ("google-deepmind/jax_privacy#234",)
REPORTED = "2026-05"
COMMAND = "account {} --rate 0.0695085 --steps 42 --claim 'epsilon=4, delta=2e-5'"
LOSS = {}
NAMED = ("0.0695085|42",)

wrong = "--gaussian 0.62"
fixed = "--gaussian 1.1"
