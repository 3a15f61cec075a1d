"""The δ of a Gaussian mechanism came out 19 times too large: its σ and ε had been swapped in the call.

σ = 4.2247 for (1, 1e-6) is right (Balle and Wang 2018). The wrong side is what the swapped call is about: σ = 1 at ε
= 4.22.
"""

SOURCES = ("yuxiangw/autodp#39",)
REPORTED = "2023-02"
COMMAND = "account {}"
LOSS = {}
NAMED = ("1e-6|1.9|4.2",)

wrong = "--gaussian 1 --claim 'epsilon=4.2247, delta=1e-6'"
fixed = "--gaussian 4.2248 --claim 'epsilon=1, delta=1e-6'"
