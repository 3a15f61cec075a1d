"""Are choices among scores of n numbers read as people write them, and nothing that only looks like one?"""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from dpaudit.checker import check_certificate
from dpaudit.loading import load
from dpaudit.verify.moves.derive import NumberData, derive

WITHIN = NumberData(3, Fraction(0), Fraction(1))
OPTIONS = ["a", "b", "c"]


def derived(function):
    found = derive(load(function), {}, WITHIN, notion="epsilon", delta=Fraction(0))
    if found.certificate is not None:
        assert check_certificate(found.certificate).bound == found.bound
    return found


def scores_of(x):
    """Three, each of which one number moves by at most 1, and two against each other by 2."""
    x = np.asarray(x)
    return np.array([x.sum(), (1 - x).sum(), (x > 0.5).sum()])


# --- honest: each keeps ε = 1 -------------------------------------------------------------------------------------


def pf_np_random(x):
    scores = scores_of(x)
    best = scores.max()
    for i in np.random.permutation(len(scores)):
        if np.random.random() < np.exp((scores[i] - best) / 2):
            return i


def pf_rng(x):
    rng = np.random.default_rng()
    q = scores_of(x)
    p = np.exp(0.5 * (q - np.max(q)))
    for r in rng.permutation(np.arange(q.size)):
        if rng.random() <= p[r]:
            return OPTIONS[r]


def pf_shuffle(x):
    scores = [sum(x), sum(1 - v for v in x), sum(1 for v in x if v > 0.5)]
    best = max(scores)
    order = list(range(len(scores)))
    random.shuffle(order)
    for i in order:
        p = math.exp(0.5 * (scores[i] - best))
        if random.random() < p:
            return i
    return order[-1]


def pf_binomial(x):
    scores = scores_of(x)
    probs = np.exp(0.5 * (scores - scores.max()))
    for idx in np.random.permutation(scores.size):
        if np.random.rand() <= probs[idx]:
            return idx


def pf_dict(x):
    utilities = {"low": sum(1 - v for v in x), "high": sum(x)}
    names = list(utilities)
    np.random.shuffle(names)
    top = max(utilities.values())
    for name in names:
        if random.random() < math.exp((utilities[name] - top) / 2.0):
            return name


def pf_sample(x):
    scores = [float(sum(x)), float(len(x) - sum(x))]
    m = max(scores)
    for i in random.sample(range(2), 2):
        if np.random.uniform() < math.exp((scores[i] - m) / 2):
            return i


def nm_laplace_list(x):
    noisy = [s + np.random.laplace(0, 2) for s in (sum(x), sum(1 - v for v in x))]
    return noisy.index(max(noisy))


def nm_laplace_array(x):
    q = scores_of(x)
    return OPTIONS[int(np.argmax(q + np.random.laplace(scale=2, size=q.shape)))]


def nm_exponential(x):
    rng = np.random.default_rng()
    q = scores_of(x)
    return (q + rng.exponential(2, len(q))).argmax()


def nm_gumbel(x):
    q = scores_of(x)
    return np.argmax(q / 2 + np.random.gumbel(size=3))


def nm_max_key(x):
    noisy = {"low": sum(1 - v for v in x) + np.random.gumbel(0, 2), "high": sum(x) + np.random.gumbel(0, 2)}
    return max(noisy, key=noisy.get)


def nm_max_range(x):
    q = [sum(x), sum(1 - v for v in x)]
    noisy = [v + np.random.exponential(2) for v in q]
    return max(range(len(noisy)), key=lambda i: noisy[i])


def em_softmax_max(x):
    q = scores_of(x)
    logits = q / 2
    logits = logits - logits.max()
    p = np.exp(logits) / np.exp(logits).sum()
    return np.random.choice(len(q), p=p)


def em_scipy(x):
    return np.random.default_rng().choice(OPTIONS, p=softmax(scores_of(x) / 2))


def em_loop(x):
    scores = [sum(x), sum(1 - v for v in x)]
    weights = []
    for s in scores:
        weights.append(math.exp(s / 2))  # noqa: PERF401 – as people write it
    total = sum(weights)
    probabilities = [w / total for w in weights]
    return np.random.choice(["high", "low"], p=probabilities)


def em_choices(x):
    scores = [sum(x), sum(1 - v for v in x)]
    weights = [math.exp(s / 2) for s in scores]
    return random.choices(["high", "low"], weights=weights)[0]


def em_inverse_cdf(x):
    q = scores_of(x)
    p = np.exp((q - q.max()) / 2)
    p /= np.linalg.norm(p, ord=1)
    return np.random.choice(range(len(q)), 1, p=p)[0]


def em_logsumexp(x):
    logits = scores_of(x) / 2
    return np.random.choice(3, p=np.exp(logits - logsumexp(logits)))


def pf_quotient(x):
    weights = np.exp(scores_of(x) / 2)
    for i in np.random.choice(3, size=3, replace=False):
        if np.random.random() < weights[i] / weights.max():
            break
    return i


def nm_tuples(x):
    return max((score + np.random.laplace(0, 2), name) for score, name in zip(scores_of(x), OPTIONS, strict=True))[1]


def pf_of_items(x):
    value = dict(zip(OPTIONS, scores_of(x), strict=True))
    for name in np.random.permutation(OPTIONS):
        chance = np.exp((value[name] - max(value.values())) / 2)
        if chance >= np.random.random():
            return name


HONEST = [
    pf_np_random,
    pf_rng,
    pf_shuffle,
    pf_binomial,
    pf_dict,
    pf_sample,
    nm_laplace_list,
    nm_laplace_array,
    nm_exponential,
    nm_gumbel,
    nm_max_key,
    nm_max_range,
    em_softmax_max,
    em_scipy,
    em_loop,
    em_choices,
    em_inverse_cdf,
    em_logsumexp,
    pf_quotient,
    nm_tuples,
    pf_of_items,
]


@pytest.mark.parametrize("function", HONEST, ids=lambda function: function.__name__)
def test_choices_as_people_write_them_have_the_bound_of_theory(function):
    found = derived(function)
    assert found.open_ends == ()
    assert float(found.bound) == pytest.approx(1, rel=2e-9)


# --- with half the noise, and with no bound at all ------------------------------------------------------------------


def half(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if np.random.random() < np.exp(q[i] - q.max()):
            return i


def one_uniform(x):
    q = scores_of(x)
    u = np.random.random()
    for i in np.random.permutation(3):
        if u < np.exp((q[i] - q.max()) / 2):
            return i


def order_twice(x):
    q = scores_of(x)
    order = np.random.permutation(3)
    a = None
    for i in order:
        if np.random.random() < np.exp((q[i] - q.max()) / 4):
            a = i
            break
    for i in order:
        if np.random.random() < np.exp((q[i] - q.max()) / 4):
            return a, i


def order_seen(x):
    q = scores_of(x)
    order = np.random.permutation(3)
    for i in order:
        if np.random.random() < np.exp((q[i] - q.max()) / 2):
            return i, order[0]


def no_order(x):
    q = scores_of(x)
    for i in range(3):
        if np.random.random() < np.exp((q[i] - q.max()) / 2):
            return i


def position(x):
    q = scores_of(x)
    k = 0
    for i in np.random.permutation(3):
        k = k + 1
        if np.random.random() < np.exp((q[i] - q.max()) * k / 2):
            return i


def position_list(x):
    q = scores_of(x)
    seen = []
    for i in np.random.permutation(3):
        seen.append(i)
        if np.random.random() < np.exp((q[i] - q.max()) * len(seen) / 2):
            return i


def p_seen(x):
    q = scores_of(x)
    p = 0
    for i in np.random.permutation(3):
        p = np.exp((q[i] - q.max()) / 2)
        if np.random.random() < p:
            return i, p


def p_after(x):
    q = scores_of(x)
    p = 0
    for i in np.random.permutation(3):
        p = np.exp((q[i] - q.max()) / 2)
        if np.random.random() < p:
            break
    return i, p


def subset_max(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if np.random.random() < np.exp((q[i] - q[:2].max()) / 2):
            return i


def subset_order(x):
    q = scores_of(x)
    for i in np.random.permutation(2):
        if np.random.random() < np.exp((q[i] - q.max()) / 2):
            return i


def part_order(x):
    q = scores_of(x)
    for i in np.random.permutation(3)[:2]:
        if np.random.random() < np.exp((q[i] - q.max()) / 2):
            return i


def turned(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if np.random.random() > np.exp((q[i] - q.max()) / 2):
            return i


def wide(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if 2 * np.random.random() < np.exp((q[i] - q.max()) / 2):
            return i


def score_out(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if np.random.random() < np.exp((q[i] - q.max()) / 2):
            return q[i]


def seeded(x):
    q = scores_of(x)
    rng = np.random.default_rng(3)
    for i in rng.permutation(3):
        if rng.random() < np.exp((q[i] - q.max()) / 2):
            return i


def no_flip(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if q[i] > 1:
            return i


def other_coin(x):
    q = scores_of(x)
    for i in np.random.permutation(3):
        if np.random.random() < np.exp((q[i] - q.max()) / 2) and q[0] > 1:
            return i
    return 0


def walrus(x):
    q = scores_of(x)
    k = 1
    for i in np.random.permutation(3):
        if np.random.random() < np.exp((q[i] - q.max()) * (k := k + 1) / 2):
            return i


def closure(x):
    q = scores_of(x)
    state = [0]

    def up():
        state[0] += 1
        return state[0]

    for i in np.random.permutation(3):
        if np.random.random() < np.exp((q[i] - q.max()) * up() / 2):
            return i


def try_in(x):
    q, k = scores_of(x), 0
    try:
        for i in np.random.permutation(3):
            k = k + 1
            if np.random.random() < np.exp((q[i] - q.max()) / 2):
                return i
    except Exception:
        return x[0]


def key_other(x):
    noisy = [v + np.random.gumbel(0, 2) for v in x]
    return max(range(3), key=lambda i: noisy[i] if i else x[0])


def max_value(x):
    return max([sum(x) + np.random.laplace(0, 2), 0.5 + np.random.laplace(0, 2)])


def index_other(x):
    noisy = [v + np.random.gumbel(0, 2) for v in x]
    noisy2 = noisy[::-1]
    return noisy2.index(max(noisy)), noisy.index(max(noisy))


def twice(x):
    noisy = [v + np.random.gumbel(0, 2) for v in x]
    return noisy.index(max(noisy)), noisy[0]


def tuple_values(x):
    return max((v + np.random.gumbel(0, 2), v) for v in x)[1]


def choices_half(x):
    w = [math.exp(s) for s in (sum(x), sum(1 - v for v in x))]
    return random.choices([0, 1], weights=w)[0]


def choices_two(x):
    w = [math.exp(s / 2) for s in (sum(x), sum(1 - v for v in x))]
    return random.choices([0, 1], weights=w, k=2)


REFUSED = {
    one_uniform: "does more than",
    order_twice: "gone through twice",
    order_seen: "permutation noise",
    no_order: "a branch on",
    position: "where it is not associated",
    position_list: "does more than",
    p_seen: "forgotten",
    p_after: "forgotten",
    subset_max: "the largest score",
    subset_order: "the largest score",
    part_order: "a choice of records",
    turned: "other than in",
    wide: "other than in",
    score_out: "by an output",
    seeded: "fixed seed",
    no_flip: "does more than",
    other_coin: "a branch on",
    walrus: "where it is not associated",
    closure: "does more than",
    try_in: "where it is not associated",
    key_other: "some have no noise",
    max_value: "seen before",
    index_other: "a place by the value",
    twice: "after it was compared",
    tuple_values: "several numbers of the data",
    choices_two: "of one option",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_is_no_choice_by_scores_is_told_why(function):
    found = derived(function)
    assert found.bound is None and REFUSED[function] in found.open_ends[0]


@pytest.mark.parametrize("function", [half, choices_half], ids=lambda function: function.__name__)
def test_half_the_noise_costs_twice_as_much(function):
    assert float(derived(function).bound) == pytest.approx(2, rel=2e-9)
