"""The noise multiplier is σ over C, where a replaced record moves the sum by 2C.

Ten steps on all records at a multiplier of 1 are μ = √10 for a record that comes or goes, ε = 17.86 at δ = 1e-5, and
μ = 2√10 for one that is replaced. Fixed: a multiplier of 2.
"""

SOURCES = ("BorealisAI/private-data-generation#5",)
REPORTED = "2021-10"
COMMAND = "account {} --steps 10 --relation replace --claim 'epsilon=17.86, delta=1e-5'"
LOSS = {}
NAMED = ("replace|6.32",)

wrong = "--noise-multiplier 1"
fixed = "--noise-multiplier 2"
