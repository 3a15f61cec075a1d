"""An accountant says ε = 0 for one step on a small sample, which looked like a mistake.

At a rate of 105 in 100,000 the whole δ of one step at ε = 0 is 0.00105·(2Φ(1/2) - 1) = 0.0004 < 0.001, by hand: ε = 0
is right at δ = 0.001.
"""

SOURCES = ("tensorflow/privacy#166",)
REPORTED = "2021-05"
COMMAND = "account {} --claim 'epsilon=0, delta=0.001'"
LOSS = {}

reported = "--gaussian 1 --rate 0.00105 --steps 1"
