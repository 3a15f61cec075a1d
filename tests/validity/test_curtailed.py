"""Is the answer of a curtailed test that of all its trials?"""

import numpy as np
import pytest
from scipy.stats import binomtest
from support import curtailed


@pytest.mark.parametrize(("trials", "rate", "p_value"), [(8, 0.2, 1e-3), (30, 0.2, 0.01), (40, 0.05, 1e-3)])
def test_the_answer_is_that_of_all_trials(trials, rate, p_value):
    rng = np.random.default_rng(0)
    for hits in range(trials + 1):
        outcomes = (rng.permutation(trials) < hits).tolist()
        often = binomtest(hits, trials, rate, alternative="greater").pvalue <= p_value
        assert curtailed.at_most(outcomes.__getitem__, trials, rate, p_value) is not often
        seldom = binomtest(hits, trials, rate, alternative="less").pvalue <= p_value
        assert curtailed.at_least(outcomes.__getitem__, trials, rate, p_value) is not seldom


def test_no_more_are_asked_than_the_answer_takes():
    asked = []
    assert curtailed.at_most(lambda number: asked.append(number) or False, 8, 0.2, 1e-3)
    assert asked == [0, 1]  # six of eight would be admitted
    asked.clear()
    assert not curtailed.at_most(lambda number: asked.append(number) or True, 8, 0.2, 1e-3)
    assert asked == list(range(7))
