"""What was spent is added up by a rule of one's own: the noise multiplier over the number of rounds.

Ten rounds of all clients at a multiplier of 1 come to 1 + 1/2 + … + 1/10 = 2.93. They are μ = √10, which is ε = 17.86
at δ = 1e-5 (Dong, Roth and Su 2022, Corollary 3.3). Fixed: that.
"""

SOURCES = ("raptor7197/caamas#36",)
REPORTED = "2026-06"
COMMAND = "account --gaussian 1 --steps 10 --claim {}"
LOSS = {}
NAMED = ("17\\.8",)

wrong = "'epsilon=2.93, delta=1e-5'"
fixed = "'epsilon=17.86, delta=1e-5'"
