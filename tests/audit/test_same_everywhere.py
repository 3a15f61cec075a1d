"""Does one seed give one id in every process, however Python orders its sets there? Run as a program it prints the ids.

Protects: the same seed, the same evidence. Texts have another hash in every process, and sets of them another order.
"""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp

PEOPLE = pd.DataFrame({"pay": np.arange(40.0) % 9, "city": ["abcd"[number % 4] for number in range(40)]})
DOMAIN = {"pay": (0.0, 9.0), "city": list("abcd")}


def means_of_cities(people):
    return {city: pay.mean() + np.random.laplace() for city, pay in people.groupby("city")["pay"]}  # noqa: NPY002


def cities_that_there_are(people):
    noisy = {city: (people["city"] == city).sum() + np.random.laplace() for city in set(people["city"])}  # noqa: NPY002
    return {city: count for city, count in noisy.items() if count > 2}


def counts_of_cities(people):
    return [(people["city"] == city).sum() + np.random.laplace() for city in "abcd"]  # noqa: NPY002


def ids() -> list[str]:
    """Return the ids of evidence of every kind that looks at texts."""
    asked = {"claim": "epsilon=1", "seed": 1, "relation": "add-remove"}
    lone = PEOPLE.assign(city=["e", *PEOPLE["city"][1:]])
    return [
        *(
            dp.trace(function, data=lone, candidates=30, runs=0, **asked).id
            for function in (means_of_cities, cities_that_there_are, counts_of_cities)
        ),
        dp.audit(means_of_cities, data=PEOPLE, runs=4_000, **asked).id,
        dp.audit(counts_of_cities, data=PEOPLE, domain=DOMAIN, runs=4_000, **asked).id,
        dp.prove(counts_of_cities, domain=DOMAIN, **asked).id,
    ]


@pytest.mark.slow
@pytest.mark.nightly
def test_ids_are_the_same_in_every_process():
    processes = [
        subprocess.Popen(
            [sys.executable, __file__], env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True
        )
        for seed in ("3", "4")
    ]
    first, second = (process.communicate()[0].split() for process in processes)
    assert len(first) == 6 and first == second


if __name__ == "__main__":
    print(*ids(), sep="\n")
