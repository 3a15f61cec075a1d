"""The formula for 100 answers of ε = 0.1 was questioned; it holds, and a claim of 4 does not.

Theorem 3.4 of Kairouz, Oh and Viswanath (2015) at δ = 1e-6: 0.4996 + 5.263 = 5.763. The wrong side claims 4.
"""

SOURCES = ("bytedance/Jeddak-DPSQL#3",)
REPORTED = "2023-10"
COMMAND = "account {}"
LOSS = {}
NAMED = ("1e-6",)

wrong = "\"Block('epsilon=0.1').times(100)\" --claim 'epsilon=4, delta=1e-6'"
fixed = "\"Block('epsilon=0.1').times(100)\" --claim 'epsilon=5.77, delta=1e-6'"
