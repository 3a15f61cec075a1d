"""A ledger charges less for an answer with less noise.

An answer at σ = 0.01 is charged like one at σ = 1, ε = 4.38 at δ = 1e-5; it is μ = 100. Fixed: σ = 1 at that price.
"""

SOURCES = ("OpenMined/PySyft#6914",)
REPORTED = "2022-10"
COMMAND = "account {} --claim 'epsilon=4.38, delta=1e-5'"
LOSS = {}
NAMED = ("0.01",)

wrong = "--gaussian 0.01"
fixed = "--gaussian 1"
