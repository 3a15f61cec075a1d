"""Are quick ways to predict and to join what their naive twins are, to the last bit?"""

import math

import numpy as np
import pytest

from dpaudit.events import predict, quantise
from dpaudit.events.predict import predicted_bound
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP


@pytest.mark.parametrize("claim", [PureDP(1), ApproxDP(1, 0.05), GaussianDP(1), ZeroConcentratedDP(0.5)], ids=str)
@pytest.mark.parametrize(("two_sided", "rivals"), [(True, False), (False, False), (False, True)])
def test_many_events_are_predicted_as_each_alone(claim, two_sided, rivals):
    rng = np.random.default_rng(0)
    n, m = 120, np.array([[90], [200]])
    p, q = rng.integers(0, 40, (2, 8)) / n, rng.integers(0, 40, (2, 8)) / m
    ahead = (np.array([[300.0], [700.0]]), np.array([[700.0], [300.0]]))
    asked = {"claim": claim, "error": 0.05, "penalty": 2.5, "two_sided": two_sided, "rivals": rivals}
    found = predicted_bound(p, q, n, m, ahead=ahead, **asked)
    assert np.any(np.isfinite(found)) and np.any(np.isneginf(found))
    for at in np.ndindex(p.shape):
        side = at[0], 0
        alone = predicted_bound(p[at][None], q[at][None], n, m[side], ahead=(ahead[0][side], ahead[1][side]), **asked)
        assert alone[0] == found[at]


@pytest.mark.parametrize("claim", [PureDP(1), ZeroConcentratedDP(0.5)], ids=str)
def test_each_event_may_have_a_penalty_of_its_own(claim):
    rng = np.random.default_rng(1)
    p, q = rng.integers(0, 40, (2, 12)) / 120
    penalty, rivals = rng.choice([0.5, 2.5, 3.5], 12), rng.random(12) < 0.5
    asked = {"ahead": 500.0, "claim": claim, "error": 0.05, "two_sided": True}
    found = predicted_bound(p, q, 120, 120, penalty=penalty, rivals=rivals, **asked)
    alone = [
        predicted_bound(p[[at]], q[[at]], 120, 120, penalty=float(penalty[at]), rivals=bool(rivals[at]), **asked)[0]
        for at in range(12)
    ]
    assert found.tolist() == alone and len({*found[np.isfinite(found)]}) > 3


@pytest.mark.parametrize(("band", "start", "best"), [(0, [50, 50, 99], [30, 70, 99]), (1, [40, 40, 80], [30, 45, 60])])
def test_thresholds_move_to_the_best_ones(band, start, best):
    def value(search, thresholds):
        assert len({*zip(search.tolist(), *thresholds.T.tolist(), strict=True)}) == len(search)
        return -np.abs(thresholds - best - search[:, None] * [1, 1, 0]).sum(axis=-1, dtype=float)

    # two starts come to the same thresholds, which are tried once; another search is on its way to others meanwhile
    starts = [np.array([start, start]), np.array([start])]
    found = predict.refined(starts, [np.arange(100)] * 2, np.array([100, 100]), value, banded=band != 0)
    assert [value for value, _ in found] == [0, 0]
    assert [top.tolist() for _, top in found] == [best, [best[0] + 1, best[1] + 1, best[2]]]


def naive_bins(counts, cells):
    """Neighbours are joined where that loses least, all losses computed anew after every step."""
    a, b = (side[cells].astype(float) for side in counts)
    n, m = (max(float(side.sum()), 1.0) for side in counts)
    order = np.argsort(np.log((a + 0.5) / (b + 0.5)), kind="stable")
    bins = [[cell] for cell in order]

    def said(joined):
        p, q = (sum(a[joined]) + 0.5) / n, (sum(b[joined]) + 0.5) / m
        return (p - q) * math.log(p / q)

    stages = []
    while True:
        few = [sum(a[each]) + sum(b[each]) < quantise._LEAST for each in bins]
        if len(bins) <= quantise._BINS[0] and not any(few):
            place = np.empty(len(cells), dtype=np.int64)
            for number, each in enumerate(bins):
                place[each] = number
            stages.append(place.tolist())
        if len(bins) <= 2:
            return stages or [[0] * len(cells)]
        lost = [
            said(bins[i]) + said(bins[i + 1]) - said(bins[i] + bins[i + 1]) - 1e3 * (few[i] or few[i + 1])
            for i in range(len(bins) - 1)
        ]
        at = int(np.argmin(lost))
        bins[at : at + 2] = [bins[at] + bins[at + 1]]


@pytest.mark.parametrize("mean", [0.5, 4, 60])
def test_bins_are_joined_as_by_their_naive_twin(mean):
    rng = np.random.default_rng(1)
    counts = tuple(np.append(rng.poisson(mean * rng.uniform(0.2, 3, 40)), 5) for _ in range(2))
    cells = np.arange(40)
    assert [place.tolist() for place in quantise._bins(counts, cells)] == naive_bins(counts, cells)
