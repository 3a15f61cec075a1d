"""COUNT(*) of a join of orders and customers has sensitivity 1.

A customer with m orders moves the count by m: no ε for customers. Fixed: each customer counts once.
"""

import math

import numpy as np

SOURCES = ("uber-archive/sql-differential-privacy#1",)
REPORTED = "2017-09"
DATA = "customer,product\n" + "\n".join(f"{i // 2},{i % 3}" for i in range(20))
COMMAND = (
    "audit {} --data people.csv --relation 'add-remove(person=customer)' --claim epsilon=1 --domain 'product=[0, 1, 2]'"
)
LOSS = {"wrong": math.inf, "fixed": 1}
NAMED = ("a move of|moves by", r"np\.random\.laplace")


def wrong(orders):
    customers = orders[["customer"]].drop_duplicates()
    joined = orders[orders["product"] == 1].merge(customers, on="customer")
    return float(len(joined) + np.random.laplace(0, 1.0))


def fixed(orders):
    bought = orders[orders["product"] == 1]
    return float(bought["customer"].nunique() + np.random.laplace(0, 1.0))
