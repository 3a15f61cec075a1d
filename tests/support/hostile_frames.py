"""Of which frames, and how, are hostile programs of data frames read?"""

from __future__ import annotations

from dpaudit.program.coverage.watching import WatchedProgram
from dpaudit.program.tracked.path import RefusedReading
from dpaudit.program.tracked.reading import read_releases
from dpaudit.verify.releases.frames import column_domains
from dpaudit.verify.releases.prices import price

COLUMNS = column_domains(
    {
        "age": (0, 120), "x": (-5, 5), "y": (-3, 3), "city": ["bern", "oslo"], "children": list(range(8)),
        "smoker": [True, False], "size": (0, 1), "weight": [10.0, 60.0, None], "person": list(range(9)), "2": (0, 3),
    }
)  # fmt: skip


def size(people, noise):
    return len(people) + noise.laplace(1)


def twice(pandas):
    return pandas.DataFrame({"city": ["bern", "bern"], "rank": [1, 2]})


def told(program, **parameters):
    """Return why nothing is proved of a program; empty where it is read as a whole."""
    watched = WatchedProgram(program, parameters, strict=True)
    try:
        read_releases(program, COLUMNS, parameters, watched=watched)
    except RefusedReading as why:
        return str(why)
    return "; ".join(watched.open())


def bound(program, **parameters):
    return price(read_releases(program, COLUMNS, parameters), replace=False, group=1, notion="epsilon").bound
