"""The noise for a sampled answer, by way of an inverse amplification, looked too small beside another rule's.

ε₀ = ln(1 + (e - 1)/0.01), δ₀ = δ/0.01, and σ = 0.9366 for them: one sampled answer keeps (1, 1e-6), as the account
certifies. The number is right; the other rule is looser.
"""

SOURCES = ("yuxiangw/autodp#2",)
REPORTED = "2019-09"
COMMAND = "account {} --rate 0.01 --steps 1 --claim 'epsilon=1, delta=1e-6'"
LOSS = {}

reported = "--gaussian 0.93663"
