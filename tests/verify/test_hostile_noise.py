"""Is nothing proved below what a program with noise truly loses? Seventy programs try to make its reading say so.

Each has its true loss beside it, of the data of `support.hostile_frames`; without one it has none that is finite.
"""

import collections
import math

import numpy as np
import pytest
from support.hostile_frames import COLUMNS
from support.nightly import mostly_at_night

from dpaudit.neighbours import parse_relation
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.releases.derive import read_function
from dpaudit.verify.releases.read import NoBoundError, as_releases
from dpaudit.verify.releases.written import price

pytest.importorskip("pandas")
INF = math.inf
PERSON = "add-remove(person=person)"
PROGRAMS = []


def loses(true=INF, relation="add-remove", notion="epsilon"):
    def kept(program):
        PROGRAMS.append(pytest.param(program, true, relation, notion, id=program.__name__))
        return program

    return kept


# --- repeat: steps that differ from round to round
@loses()
def rep_list(people, noise):
    scale = [100.0]

    def step(s):
        scale[0] = scale[0] / 10
        return s + len(people) + noise.laplace(scale[0])

    return noise.repeat(5, step, 0.0)


@loses()
def rep_nonlocal(people, noise):
    b = 100.0

    def step(s):
        nonlocal b
        b = b / 10
        return s + len(people) + noise.laplace(b)

    return noise.repeat(5, step, 0.0)


@loses()
def rep_obj(people, noise):
    class Box:
        pass

    box = Box()
    box.b = 100.0

    def step(s):
        box.b /= 10
        return s + len(people) + noise.laplace(box.b)

    return noise.repeat(5, step, 0.0)


@loses()
def rep_dict(people, noise):
    d = {"b": 100.0}

    def step(s):
        d["b"] = d["b"] / 10
        return s + len(people) + noise.laplace(d["b"])

    return noise.repeat(5, step, 0.0)


@loses()
def rep_default(people, noise):
    def step(s, seen=[]):  # noqa: B006
        seen.append(1)
        return s + len(people) + noise.laplace(10 ** (3 - len(seen)))

    return noise.repeat(5, step, 0.0)


@loses()
def rep_deque(people, noise):
    deque = collections.deque([10.0, 1.0, 0.1, 0.01, 0.001])
    return noise.repeat(5, lambda s: s + len(people) + noise.laplace(deque.popleft()), 0.0)


@loses()
def rep_state_flag(people, noise):
    def step(s):
        if s[0]:
            return (False, s[1] + noise.laplace(1))
        return (False, s[1] + len(people) + noise.laplace(0.001))

    return noise.repeat(5, step, (True, 0.0))[1]


@loses()
def rep_state_str(people, noise):
    def step(s):
        return (s[0] + "a", s[1] + len(people) + noise.laplace(10 ** (2 - len(s[0]))))

    return noise.repeat(5, step, ("", 0.0))[1]


@loses()
def rep_state_list_grows(people, noise):
    def step(s):
        return [*s, len(people) + noise.laplace(10 ** (2 - len(s)))]

    return noise.repeat(5, step, [])


@loses()
def rep_private_state(people, noise):
    return noise.repeat(3, lambda s: len(people), 0)


@loses()
def rep_private_init(people, noise):
    return noise.repeat(3, lambda s: s + noise.laplace(1), len(people))


@loses(5.0)
def rep_five(people, noise):
    return noise.repeat(5, lambda s: s + len(people) + noise.laplace(1), 0.0)


@loses()
def rep_sample_outside(people, noise):
    return noise.repeat(5, lambda s: float(len(noise.poisson(people, 0.5))), 0.0)


@loses(math.log(1 + 0.5 * (math.exp(3) - 1)) * 0.999)
def rep_one_sample(people, noise):
    some = noise.poisson(people, 0.5)
    return noise.repeat(3, lambda s: s + len(some) + noise.laplace(1), 0.0)


# --- samples
@loses(1.0 * 0.999)
def sample_then_all(people, noise):
    noise.poisson(people, 0.1)
    return len(people) + noise.laplace(1)


@loses(math.log(1 + 0.1 * (math.e - 1)) * 0.999)
def sample_plain(people, noise):
    return len(noise.poisson(people, 0.1)) + noise.laplace(1)


@loses(2 * math.log(1 + 0.1 * (math.e - 1)) * 0.999)
def two_samples(people, noise):
    one, two = noise.poisson(people, 0.1), noise.poisson(people, 0.1)
    return len(one) + noise.laplace(1), len(two) + noise.laplace(1)


@loses(1.0 * 0.999)
def complement_of_sample(people, noise):
    one = noise.poisson(people, 0.1)
    return len(people) - len(one) + noise.laplace(1)


@loses(math.log(1 + 0.1 * (math.exp(2) - 1)) * 0.999)
def same_sample_twice(people, noise):
    one = noise.poisson(people, 0.1)
    return len(one) + noise.laplace(1), one["size"].sum() + noise.laplace(1)


@loses(1.0, PERSON)
def sample_of_records_for_persons(people, noise):
    some = noise.poisson(people, 0.1)
    return len(some.groupby("person").head(1)) + noise.laplace(1)


@loses(math.log(1 + 0.1 * (math.e - 1)) * 1.2, "replace")
def sample_replaced(people, noise):
    return len(noise.poisson(people[people["age"] > 5], 0.1)) + noise.laplace(1)


@loses()
def sample_rate_private(people, noise):
    return len(noise.poisson(people, min(1, len(people) / 100))) + noise.laplace(1)


@loses(1.0)
def sample_list(people, noise):
    return len(noise.poisson(people["age"].tolist(), 0.1)) + noise.laplace(1)


# --- thresholds (pure epsilon: must be None at delta 0, so any bound is false)


@loses()
def thr_unsorted(people, noise):
    c = people["city"].value_counts()
    n = c + noise.laplace(1, len(c))
    return list(n[n >= 20].index)


@loses()
def thr_sum(people, noise):
    c = people["age"].value_counts()
    return (c + noise.laplace(1, len(c))).sum()


@loses()
def thr_no_cut(people, noise):
    c = people["city"].value_counts()
    return (c + noise.laplace(1, len(c))).sort_index()


# --- vectors


@loses(INF, "add-remove", "rho")
def vec_axis0(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=0, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_all(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(0.5, "add-remove", "rho")
def vec_ok(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(50 * 0.999, "add-remove", "rho")
def vec_scaled_after(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    x = x * 10
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_other_lengths(people, noise):
    x = people[["x", "y"]].to_numpy()
    z = x * 0.001
    x = x / np.maximum(1, np.linalg.norm(z, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_inplace_item(people, noise):
    x = people[["x", "y"]].to_numpy()
    far = np.linalg.norm(x, axis=1, keepdims=True)
    x[:, 0] = 100
    return (x / np.maximum(1, far / 1.0)).sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_out(people, noise):
    x = people[["x", "y"]].to_numpy()
    far = np.linalg.norm(x, axis=1, keepdims=True)
    np.multiply(x, 100, out=x)
    return (x / np.maximum(1, far / 1.0)).sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_norm1(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True, ord=np.inf) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_unknown_token(people, noise):
    n = len(people) + noise.laplace(1)
    k = noise.post(lambda v: np.ones((3, 1, 1)) * v, n)
    x = people[["x", "y"]].to_numpy() * k
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_one_draw(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1)


@loses(INF, "add-remove", "rho")
def vec_two_uses(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    z = noise.gaussian(1, 2)
    return x.sum(axis=0) + z, x.sum(axis=0) - z


@loses(2 * 0.999, "replace", "rho")
def vec_replaced(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_nan(people, noise):
    x = people[["weight", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_mean(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.mean(axis=0) + noise.gaussian(1, 2)


@loses(INF, "add-remove", "rho")
def vec_shape(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) / x.shape[0] + noise.gaussian(1, 2)


@loses()
def vec_laplace(people, noise):
    x = people[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return x.sum(axis=0) + noise.laplace(1, 2)


@loses(INF, "add-remove", "rho")
def vec_gram_one_side(people, noise):
    x = people[["x", "y"]].to_numpy()
    c = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / 1.0)
    return np.exp(x * 9).T @ c + noise.gaussian(1, (2, 2))


# --- PTR, select, reports


@loses(2 * 0.999)
def sel_twice(people, noise):
    s = [len(people), 0]
    return noise.select([1, 2], s, 1.0), noise.select([1, 2], s, 1.0)


@loses(10 * 0.999)
def sel_rate(people, noise):
    return noise.select([1, 2], [10 * len(people), 0], 1.0)


@loses()
def sel_private_options(people, noise):
    return noise.select([len(people), 0], [1, 2], 1.0)


@loses()
def flips_addremove(people, noise):
    return (people["smoker"] ^ noise.bernoulli(0.25, size=len(people))).sum()


@loses(math.log(3) * 0.999, "replace")
def flips_ok(people, noise):
    return (people["smoker"] ^ noise.bernoulli(0.25, size=len(people))).sum()


@loses(INF, "replace")
def flips_shared(people, noise):
    f = noise.bernoulli(0.25, size=len(people))
    return (people["smoker"] ^ f).sum(), ((people["age"] > 5) ^ f).sum()


@loses(INF, "replace")
def flips_undone(people, noise):
    f = noise.bernoulli(0.25, size=len(people))
    r = people["smoker"] ^ f
    return (r ^ f).sum()


@loses(INF, "replace")
def flips_one_coin(people, noise):
    f = noise.bernoulli(0.25)
    return (people["smoker"] ^ f).sum()


@loses(INF, "replace")
def flips_filtered(people, noise):
    some = people[people["age"] > 50]
    return (some["smoker"] ^ noise.bernoulli(0.25, size=len(some))).sum()


@loses(2 * math.log(3) * 0.999, "replace")
def flips_two(people, noise):
    return (people["smoker"] ^ noise.bernoulli(0.25, size=len(people))).sum(), (
        (people["age"] > 3) ^ noise.bernoulli(0.25, size=len(people))
    ).sum()


@loses(INF, "replace")
def flips_or(people, noise):
    f = noise.bernoulli(0.25, size=len(people))
    return (people["smoker"] | f).sum()


@loses(math.log(3) * 0.999, "replace(person=person)")
def flips_person(people, noise):
    return (people["smoker"] ^ noise.bernoulli(0.25, size=len(people))).sum()


# --- draws


@loses()
def trunc_pure(people, noise):
    return len(people) + noise.truncated_laplace(1, 30)


@loses()
def discrete_on_real(people, noise):
    return people["size"].sum() + noise.discrete_laplace(1)


@loses()
def draw_across_step(people, noise):
    z = noise.laplace(1)
    return noise.repeat(3, lambda s: s + len(people) + z, 0.0)


@loses(1.0 * 0.999)
def uniform_size(people, noise):
    return len(people) + noise.laplace(1) + noise.uniform(0, 1)


@loses()
def bern_private(people, noise):
    return noise.bernoulli(min(1, len(people) / 10))


@loses()
def choice_private(people, noise):
    return noise.choice([1, 2], [len(people) + 1, 1])


@loses()
def choice_of_private(people, noise):
    return noise.choice([len(people), 1])


@loses()
def argmax_private(people, noise):
    return noise.argmax([len(people), 3])


@loses()
def post_private_default(people, noise):
    n = len(people)
    return noise.post(lambda v, k=n: v + k, noise.laplace(1))


@loses()
def beyond_float(people, noise):
    return people["children"].to_numpy().max(initial=6.5) + noise.laplace(0.5 / 1) - 6.5


@loses(1 / 0.5 * 0.999)
def beyond_ok(people, noise):
    return people["size"].to_numpy().max(initial=0) + noise.laplace(0.5)


@loses()
def beyond_nan(people, noise):
    return people["weight"].to_numpy().max(initial=0) + noise.laplace(100)


@loses()
def median_rows(people, noise):
    return np.median(people["size"]) + noise.laplace(1)


@loses()
def median_axis(people, noise):
    return np.median(people[["x", "y"]].to_numpy(), axis=0) + noise.laplace(1, 2)


@loses(40 * 0.999)
def cumsum_counts(people, noise):
    c = np.histogram(people["age"], bins=np.arange(0, 122, 3))[0]
    return np.cumsum(c) + noise.laplace(1, len(c))


# --- classes whose methods Python calls by other names


@loses()
def text_by_percent(people, noise):
    size = len(people)

    class Shown:
        def __rmod__(self, other):
            return "nothing"

        def __str__(self):
            return str(size)

    return "%s" % Shown()  # noqa: UP031


@loses()
def object_by_new(people, noise):
    size = len(people)

    class Made:
        def __new__(cls):
            made = super().__new__(cls)
            made.text = str(size)
            return made

    return getattr(Made(), "text", "nothing")


@loses()
def asked_by_each_value(people, noise):
    class Adding:
        def __radd__(self, other):
            return other if isinstance(other, float) else 0.0

    return (people["age"] + Adding()).sum() + noise.laplace(0.001)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "true", "relation", "notion"), mostly_at_night(PROGRAMS, every=2))
def test_no_bound_is_below_what_is_lost(program, true, relation, notion):
    which, made = parse_relation(relation), mechanism(program)
    with np.errstate(all="ignore"):
        reading = read_function(made, made.parameters_with({}), which, COLUMNS)
    assert all(each.line.startswith("test_hostile_noise.py:") for each in reading.refused)
    if reading.refused:
        return
    try:
        bound = price(as_releases(reading), replace=which.kind == "replace", group=1, notion=notion)
    except NoBoundError:
        return
    assert bound is None or float(bound) >= true * (1 - 1e-9)
