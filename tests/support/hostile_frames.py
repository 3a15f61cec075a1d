"""Of which frames, and how, are hostile programs of data frames read?"""

from fractions import Fraction

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours import parse_relation
from dpaudit.reading.universe.cells import declared
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.releases.derive import read_function
from dpaudit.verify.releases.read import NoBoundError, as_releases
from dpaudit.verify.releases.written import price

COLUMNS = {
    name: declared(name, given)
    for name, given in {
        "age": (0, 120), "x": (-5, 5), "y": (-3, 3), "city": ["bern", "oslo"], "children": list(range(8)),
        "smoker": [True, False], "size": (0, 1), "weight": [10.0, 60.0, None], "person": list(range(9)), "2": (0, 3),
    }.items()
}  # fmt: skip


def size(people, noise):
    return len(people) + noise.laplace(1)


def twice(pandas):
    return pandas.DataFrame({"city": ["bern", "bern"], "rank": [1, 2]})


def bound(program, relation="add-remove", **parameters):
    """Return the ε of a program by its reading alone; None without one, and why, where it is refused."""
    which = parse_relation(relation)
    made = mechanism(program)
    with np.errstate(all="ignore"):
        try:
            reading = read_function(made, made.parameters_with(parameters), which, COLUMNS)
        except UsageError as why:
            return str(why)
    if reading.refused:
        return "; ".join(map(str, reading.refused))
    try:
        return price(as_releases(reading), replace=which.kind == "replace", group=1, notion="epsilon")
    except NoBoundError as why:
        return str(why)


def told(program, relation="add-remove", **parameters):
    """Return why nothing is proved of a program; empty where it has a bound."""
    found = bound(program, relation, **parameters)
    return "" if isinstance(found, Fraction) else str(found)
