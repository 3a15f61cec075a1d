"""The centre of a cluster gets noise for a fixed sensitivity, whatever number of members it has.

Values lie in [-1, 1]. A cluster of one member that goes moves its centre by up to 1; the scale is 0.0625 / 0.5: ε =
8, by hand. Fixed: noisy sums and noisy counts of the clusters at a quarter each (a record is in one cluster): ε =
0.5.
"""

import numpy as np

SOURCES = ("SatyamPandey-07/WorkSphere#1225",)
REPORTED = "2026-07"
DATA = "x\n" + "\n".join(f"{((i * 7) % 19 - 9) / 9:.3f}" for i in range(12))
COMMAND = "audit {} --data people.csv --relation add-remove --claim epsilon=0.5 --domain 'x=[-1, 1]'"
LOSS = {"wrong": 8, "fixed": 0.5}
NAMED = ("a move of", r"np\.random\.laplace\(0, 0\.0625")


def clusters(people):
    x = np.clip(people["x"].to_numpy(dtype=float), -1, 1)
    return x[x < 0], x[x >= 0]


def wrong(people):
    centres = [members.mean() if len(members) else 0.0 for members in clusters(people)]
    return [float(centre + np.random.laplace(0, 0.0625 / 0.5)) for centre in centres]


def fixed(people):
    centres = []
    for members in clusters(people):
        total = members.sum() + np.random.laplace(0, 1 / 0.25)
        count = len(members) + np.random.laplace(0, 1 / 0.25)
        centres.append(float(total / max(count, 1)))
    return centres
