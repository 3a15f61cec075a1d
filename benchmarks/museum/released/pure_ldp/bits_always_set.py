"""Unary encoding draws all bits with q, and sets the true one besides with p.

At ε = 1 and three values: ln(0.765·0.6225/(0.3775·0.235)) = 1.68, by hand. The release after it is right.
"""

from pure_ldp.frequency_oracles.unary_encoding import UEClient

SOURCES = ("Samuel-Maddock/pure-LDP#11",)
REPORTED = "2023-09"
PAIR = [1, 3]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1 --runs 60000"
LOSS = {"wrong": 1.6803}
NAMED = ("number 0|number 2",)


def wrong(value):
    return UEClient(1.0, 3, use_oue=False).privatise(value)
