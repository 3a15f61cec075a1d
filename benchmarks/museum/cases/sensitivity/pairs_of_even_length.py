"""Records are paired after the table is cut to an even length, so that one more record takes another one out.

On 20 points of one line, a new point that is paired (20/21) turns a slope from 1 to -1: the sum moves by 2 at scale
1, ε ≥ ln(1/21 + 20/21·e²) = 1.96, and never more than 2. Fixed: scale 2, ε ≤ 1.
"""

import numpy as np

SOURCES = ("opendp/opendp#2950",)
REPORTED = "2026-09"
DATA = "x,y\n" + "\n".join(f"{i},{i}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=1 --domain 'x=[0, 20]' --domain 'y=[0, 20]'"
MISSED = (
    "Runs choose among many neighbours of which no price tells the worst, and measure the one left for about ten "
    "seconds of the processor. How many runs that makes hangs on the machine, and this mistake lies near what they "
    "can show: minutes later the same command showed ε ≥ 1.26."
)
LOSS = {"wrong": 2, "fixed": 1}
NAMED = ("one more record|without one record", "permutation|np.random.laplace")


def slopes(people, scale):
    rows = people[["x", "y"]].to_numpy(dtype=float)
    rows = rows[np.random.permutation(len(rows))]
    rows = rows[: len(rows) // 2 * 2]
    a, b = rows[0::2], rows[1::2]
    run, rise = b[:, 0] - a[:, 0], b[:, 1] - a[:, 1]
    slope = np.clip(np.divide(rise, run, out=np.zeros_like(rise), where=run != 0), -1, 1)
    return float(slope.sum() + np.random.laplace(0, scale))


def wrong(people):
    return slopes(people, 1.0)


def fixed(people):
    return slopes(people, 2.0)
