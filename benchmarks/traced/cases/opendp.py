"""Uses of OpenDP."""

from __future__ import annotations

import opendp.prelude as odp
from case import Case

DISTRIBUTION = "opendp"
odp.enable_features("contrib")
VECTOR = odp.vector_domain(odp.atom_domain(bounds=(0.0, 10.0))), odp.symmetric_distance()
MORE = ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 9.0])
NUMBER = odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float)
COUNTED = (odp.vector_domain(odp.atom_domain(T=int)), odp.symmetric_distance()) >> odp.t.then_count()


def chained(data):
    return ((odp.vector_domain(odp.atom_domain(bounds=(0, 10))), odp.symmetric_distance()) >> odp.t.then_sum()
            >> odp.m.then_laplace(scale=10.0))([int(each) for each in data])  # fmt: skip


def loose(scale):
    return lambda data: odp.m.make_laplace(*NUMBER, scale=scale)(float(sum(data)))


def gaussian(data):
    return odp.m.make_gaussian(*NUMBER, scale=20.0)(float(sum(min(each, 10.0) for each in data)))


def composed(data):
    whole = odp.c.make_adaptive_composition(
        input_domain=COUNTED.input_domain, input_metric=COUNTED.input_metric, output_measure=odp.max_divergence(),
        d_in=1, d_mids=[0.5, 0.5])  # fmt: skip
    ask = whole([int(each) for each in data])
    query = COUNTED >> odp.m.then_laplace(scale=2.0)
    return ask(query), ask(query)


def groups(data):
    counts = [sum(each == group for each in data) for group in (1.0, 2.0, 9.0)]
    space = odp.vector_domain(odp.atom_domain(T=int)), odp.l1_distance(T=int)
    return odp.m.make_laplace(*space, scale=1.0)(counts)


CASES = [
    Case("Laplace of a sum that is not bounded", loose(1.0), MORE, mistake="a scale for a sensitivity of 1",
         relation="add-remove"),
    Case("the scale of the data", lambda data: odp.m.make_laplace(*NUMBER, scale=max(data))(float(len(data))), MORE,
         mistake="noise whose scale depends on the data", relation="add-remove"),
    Case("bounded sum", chained, MORE, relation="add-remove"),
    Case("Gaussian of a bounded sum", gaussian, MORE, "rho=0.125", relation="add-remove"),
    Case("adaptive composition", composed, MORE, relation="add-remove"),
    Case("Laplace of counts", groups, MORE, relation="add-remove"),
]  # fmt: skip
