"""Noise from a generator that is not made for cryptography was reported as a flaw.

It is one against somebody who finds the state of the generator. Proofs and audits take sampling to be perfect, and ε
= 1 is kept in that model. Both sides are right.
"""

import random
import secrets

SOURCES = ("fedbiomed/fedbiomed#973",)
REPORTED = "2024-01"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'age=[0, 120]'"
LOSS = {"reported": 1, "fixed": 1}


def reported(people):
    return len(people) + random.expovariate(1.0) - random.expovariate(1.0)


def fixed(people):
    rng = secrets.SystemRandom()
    return len(people) + rng.expovariate(1.0) - rng.expovariate(1.0)
