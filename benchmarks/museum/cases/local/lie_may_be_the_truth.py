"""Randomised response lies with 1 - p, and the lie is drawn so that it may be the truth.

At p = 0.75 it claims ln 3. True is said of True with 0.9375, and of False with 0.1875; False of False with 0.8125:
ln(0.8125/0.0625) = 2.565, by hand. Fixed: the lie is the other answer.
"""

import math
import random

SOURCES = ("opendp/opendp#480",)
REPORTED = "2022-06"
PAIR = [True, False]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1.0987"
LOSS = {"wrong": 2.565, "fixed": math.log(3)}
NAMED = ("output that is (True|False)|bool",)


def wrong(answer):
    if random.random() < 0.75:
        return answer
    return random.random() < 0.75


def fixed(answer):
    return answer if random.random() < 0.75 else not answer
