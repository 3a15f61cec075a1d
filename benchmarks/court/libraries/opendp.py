"""OpenDP: every ``make_…`` of its measurements, over its numbers and metrics, at usual and odd scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import opendp.measurements
import opendp.prelude as odp
from seat import Audited, Left, Seat, shown, without_recipe

from dpaudit.adapters.opendp import mechanism_of

odp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
MEASURES = {"pure": odp.max_divergence, "zCDP": odp.zero_concentrated_divergence}
SCALES = (0.25, 1.0, 2.0)


def atom(kind: Any) -> Any:
    """The domain of a number."""
    return odp.atom_domain(T=kind, nan=False) if kind in (float, "f32") else odp.atom_domain(T=kind)


def number(kind: Any) -> Any:
    """The space of one number."""
    return atom(kind), odp.absolute_distance(T=kind)


def vector(kind: Any, metric: Callable[..., Any]) -> Any:
    """The space of two numbers."""
    return odp.vector_domain(atom(kind), size=2), metric(T=kind)


def additive(name: str, kind: Any, scale: float, more: dict[str, Any]) -> Any:
    """Noise on a number."""
    return mechanism_of(getattr(odp.m, name)(*number(kind), **more, scale=scale))


def on_vectors(name: str, kind: Any, scale: float) -> Any:
    """Noise on two numbers."""
    metric = odp.l2_distance if name == "make_gaussian" else odp.l1_distance
    return mechanism_of(getattr(odp.m, name)(*vector(kind, metric), scale=scale), relation="declared")


def canonical(d_in: float, epsilon: float, delta: float) -> Any:
    """Canonical noise."""
    return mechanism_of(odp.m.make_canonical_noise(*number(float), d_in=d_in, d_out=(epsilon, delta)), d_in=d_in)


def choosing(name: str, measure: str, scale: float, more: dict[str, Any], monotonic: bool) -> Any:
    """The place of the largest score, or of the largest two."""
    scores, metric = odp.vector_domain(odp.atom_domain(T=int)), odp.linf_distance(T=int, monotonic=monotonic)
    measures = () if name == "make_report_noisy_max_gumbel" else (MEASURES[measure](),)
    return mechanism_of(getattr(odp.m, name)(scores, metric, *measures, scale=scale, **more))


def thresholded(name: str, kind: Any, scale: float, threshold: int) -> Any:
    """Counts of unknown keys; neighbours differ in one key, by 1."""
    counts, moved = odp.map_domain(odp.atom_domain(T=str), atom(kind)), odp.absolute_distance(T=kind)
    gaussian = name == "make_gaussian_threshold"
    metric = (odp.l02inf_distance if gaussian else odp.l01inf_distance)(moved)
    made = getattr(odp.m, name)(counts, metric, scale=scale, threshold=kind(threshold))
    if gaussian:
        made = odp.c.make_fix_delta(odp.c.make_zCDP_to_approxDP(made), 0.04)
    return mechanism_of(made, d_in=(1, kind(1), kind(1)), relation="declared")


def quantile(measure: str, alpha: float, scale: float) -> Any:
    """A quantile among candidates."""
    space = odp.vector_domain(odp.atom_domain(T=int)), odp.symmetric_distance()
    return mechanism_of(
        odp.m.make_private_quantile(*space, MEASURES[measure](), candidates=[0, 1, 2, 3], alpha=alpha, scale=scale)
    )


def response(categories: list[str], prob: float) -> Any:
    """Randomised response over categories."""
    return mechanism_of(odp.m.make_randomized_response(categories=categories, prob=prob))


RECIPES = (
    *("make_laplace", "make_gaussian", "make_geometric", "make_noise", "make_canonical_noise", "make_noisy_max"),
    *("make_noisy_top_k", "make_report_noisy_max_gumbel", "make_laplace_threshold", "make_gaussian_threshold"),
    *("make_private_quantile", "make_randomized_response", "make_randomized_response_bool"),
)


def found() -> Iterator[Seat]:
    """Every constructor of measurements."""
    held = [name for name in opendp.measurements.__all__ if name.startswith("make_")]
    yield from without_recipe(held, RECIPES)
    for name, kinds in (("make_laplace", (float, int, "f32", "u32")), ("make_gaussian", (float, int, "f32", "i32")),
                        ("make_geometric", (int, "u32"))):  # fmt: skip
        for kind in kinds:
            for scale in SCALES:
                one = 1.0 if kind in (float, "f32") else 1
                title = shown(name, {"T": kind if isinstance(kind, str) else kind.__name__, "scale": scale})
                yield Audited(title, partial(additive, name, kind, scale, {}), [(one - one, one)], {})
    for bounds in ((0, 1), (0, 5), (-100, 100)):
        yield Audited(shown("make_geometric", {"bounds": bounds}),
                      partial(additive, "make_geometric", int, 1.0, {"bounds": bounds}), [(0, 1)], {})  # fmt: skip
    for k in (-3, 0):
        for name in ("make_laplace", "make_gaussian"):
            yield Audited(shown(name, {"k": k}), partial(additive, name, float, 1.0, {"k": k}), [(0.5, 1.5)], {})
    for measure, make in MEASURES.items():
        for kind in (float, int):
            yield Audited(shown("make_noise", {"T": kind.__name__, "measure": measure}),
                          partial(additive, "make_noise", kind, 1.0, {"output_measure": make()}),
                          [(kind(0), kind(1))], {})  # fmt: skip
    for name in ("make_laplace", "make_gaussian"):
        for kind in (float, int):
            yield Audited(shown(name, {"T": f"two of {kind.__name__}"}), partial(on_vectors, name, kind, 1.0),
                          [([kind(0), kind(0)], [kind(1), kind(0)])], {})  # fmt: skip
    for d_in, epsilon, delta in ((1.0, 1.0, 1e-2), (2.0, 0.1, 0.1), (1.0, 4.0, 0.0)):
        yield Audited(shown("make_canonical_noise", {"d_in": d_in, "epsilon": epsilon, "delta": delta}),
                      partial(canonical, d_in, epsilon, delta), [(0.0, d_in)], {})  # fmt: skip
    for measure in MEASURES:
        for scale in (0.5, 2.0):
            for monotonic in (False, True):
                pair = [([0, 0, 0], [0, 1, 1])] if monotonic else [([1, 0, 0], [0, 1, 1])]
                options = {"measure": measure, "scale": scale, "monotonic": monotonic}
                for name, more in (("make_noisy_max", {}), ("make_noisy_max", {"negate": True}),
                                   ("make_noisy_top_k", {"k": 2}), ("make_noisy_top_k", {"k": 3})):  # fmt: skip
                    yield Audited(shown(name, {**more, **options}),
                                  partial(choosing, name, measure, scale, more, monotonic), pair, {})  # fmt: skip
    for optimize in ("max", "min"):
        yield Audited(shown("make_report_noisy_max_gumbel", {"optimize": optimize}),
                      partial(choosing, "make_report_noisy_max_gumbel", "pure", 2.0, {"optimize": optimize}, False),
                      [([1, 0, 0], [0, 1, 1])], {})  # fmt: skip
    for name in ("make_laplace_threshold", "make_gaussian_threshold"):
        for kind in (int, float):
            for scale, threshold in ((1.0, 3), (0.5, 2)):
                title = shown(name, {"T": kind.__name__, "scale": scale, "threshold": threshold})
                yield Audited(title, partial(thresholded, name, kind, scale, threshold), [({"b": kind(1)}, {})], {})
    for measure in MEASURES:
        for alpha in (0.0, 0.5, 1.0):
            yield Audited(shown("make_private_quantile", {"measure": measure, "alpha": alpha}),
                          partial(quantile, measure, alpha, 1.0), [([0, 0, 3], [0, 0])], {})  # fmt: skip
    for categories, prob in ((["a", "b", "c"], 0.75), (["a", "b"], 0.5), (["a", "b"], 0.99), (list("abcdefghij"), 0.3)):
        yield Audited(shown("make_randomized_response", {"categories": len(categories), "prob": prob}),
                      partial(response, categories, prob), [("a", "b"), ("a", "z")], {})  # fmt: skip
    for prob in (0.5, 0.75, 0.999):
        yield Audited(shown("make_randomized_response_bool", {"prob": prob}),
                      lambda prob=prob: mechanism_of(odp.m.make_randomized_response_bool(prob=prob)),
                      [(False, True)], {})  # fmt: skip
    yield from (
        Left(name, "a constructor of combinators: not looked at") for name in dir(odp.c) if name.startswith("make_")
    )
