"""It was asked whether a count of distinct users may have sensitivity 1; it may.

One person is one user, whatever number of records: the count moves by 1, ε = 1.
"""

import numpy as np

SOURCES = ("opendp/opendp#2340",)
REPORTED = "2025-04"
DATA = "user,item\n" + "\n".join(f"{i // 2},{i % 3}" for i in range(16))
COMMAND = "audit {} --data people.csv --relation 'add-remove(person=user)' --claim epsilon=1 --domain 'item=[0, 1, 2]'"
LOSS = {"reported": 1}


def reported(people):
    return float(people["user"].nunique() + np.random.laplace(0, 1.0))
