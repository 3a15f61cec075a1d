"""The textbook formula of Gaussian noise is used at ε = 10, where it does not hold.

σ = √(2 ln(1.25/δ))/10 = 0.484: μ = 2.064 is ε = 10.394 at δ = 1e-5 (Balle and Wang 2018, Theorem 8). Fixed: σ = 0.52,
μ = 1.923, ε = 9.53.
"""

import numpy as np

SOURCES = ("opendp/smartnoise-sdk#462", "uvm-plaid/programming-dp#45", "Qrlew/qrlew#190")
REPORTED = "2022-03"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation add-remove --claim 'epsilon=10, delta=1e-5' --domain 'age=[0, 120]'"
LOSS = {"wrong": 10.394, "fixed": 9.5268}
NAMED = (r"0\.484", r"np\.random\.normal")


def wrong(people, epsilon=10.0, delta=1e-5):
    return float(len(people) + np.random.normal(0, np.sqrt(2 * np.log(1.25 / delta)) / epsilon))


def fixed(people):
    return float(len(people) + np.random.normal(0, 0.52))
