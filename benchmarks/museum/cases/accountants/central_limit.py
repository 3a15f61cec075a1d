"""ε by a central limit theorem lies below the truth.

The rule μ = q√(T(e^(1/σ²) - 1)) of Bu et al. (2020) at q = 0.01, T = 100 and σ = 0.6 says what the account refutes.
Fixed: the certified number.
"""

SOURCES = ("meta-pytorch/opacus#400",)
REPORTED = "2022-03"
COMMAND = "account --gaussian 0.6 --rate 0.01 --steps 100 --claim {}"
LOSS = {}
NAMED = ("0.6|100",)

wrong = "'epsilon=1.505, delta=1e-5'"
fixed = "'epsilon=3.816, delta=1e-5'"
