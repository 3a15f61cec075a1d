"""Programs that release statistics of a data frame, each with the bound of theory, and with a wrong twin.

They run on pandas frames and real noise as they stand. A claim equals its bound, so that a looser bound proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.fold import Emit, Fold, Stop

CITIES = ("bern", "oslo", "rome")
PLACES = (*CITIES, "lund", "york", "zug")
BMI = [10.0, 18.5, 25.0, 33.3, 60.0, None]
DOMAIN = {
    "age": (0, 120),
    "income": (0, 1_000_000),
    "bmi": BMI,
    "city": list(CITIES),
    "place": list(PLACES),
    "x": (-5, 5),
    "y": (-3, 3),
    "person": list(range(50)),
}


# --- pure ε -----------------------------------------------------------------------------------------------


def count(people, noise, *, epsilon=1.0):
    return len(people) + noise.laplace(1 / epsilon)


def count_at_half_the_scale(people, noise, *, epsilon=1.0):
    return len(people) + noise.laplace(0.5 / epsilon)


def clipped_sum(people, noise, *, epsilon=1.0):
    return people["income"].clip(0, 50_000).sum() + noise.laplace(50_000 / epsilon)


def sum_of_a_clipped_copy(people, noise, *, epsilon=1.0):
    people["income"].clip(0, 50_000)
    return people["income"].sum() + noise.laplace(50_000 / epsilon)


def mean(people, noise, *, epsilon=1.0):
    total = people["age"].sum() + noise.laplace(120 / (epsilon / 2))
    size = len(people) + noise.laplace(1 / (epsilon / 2))
    return total / max(size, 1)


def mean_over_the_true_size(people, noise, *, epsilon=1.0):
    return (people["age"].sum() + noise.laplace(120 / epsilon)) / len(people)


def filtered_sum(people, noise, *, epsilon=1.0):
    old = people[people["age"] >= 65]
    return old["bmi"].clip(10, 60).sum() + noise.laplace(60 / epsilon)


def filtered_sum_as_if_all_counted(people, noise, *, epsilon=1.0):
    old = people[people["age"] >= 65]
    return old["bmi"].clip(10, 60).sum() + noise.laplace(50 / epsilon)


def histogram(people, noise, *, epsilon=1.0):
    counts, _ = np.histogram(people["age"], bins=[0, 20, 40, 60, 80, 121])
    return np.maximum(counts + noise.laplace(1 / epsilon, 5), 0)


def histogram_with_one_draw(people, noise, *, epsilon=1.0):
    counts, _ = np.histogram(people["age"], bins=[0, 20, 40, 60, 80, 121])
    return counts + noise.laplace(1 / epsilon)


def by_city(people, noise, *, epsilon=1.0):
    counts = people["city"].value_counts().reindex(CITIES, fill_value=0)
    return {city: counts[city] + noise.laplace(1 / epsilon) for city in CITIES}


def by_keys_of_the_data(people, noise, *, epsilon=1.0):
    return {city: number + noise.laplace(1 / epsilon) for city, number in people["city"].value_counts().items()}


def by_city_with_nan(people, noise, *, epsilon=1.0):
    return people["city"].value_counts().reindex(CITIES).to_numpy() + noise.laplace(1 / epsilon, 3)


def cross_table(people, noise, *, epsilon=1.0):
    cells = [(city, place) for city in CITIES for place in PLACES[:4]]
    counts = people.groupby(["city", "place"]).size().reindex(cells, fill_value=0)
    return counts.to_numpy().reshape(3, 4) + noise.laplace(1 / epsilon, (3, 4))


def cross_table_with_margins(people, noise, *, epsilon=1.0):
    cells = [(city, place) for city in CITIES for place in PLACES[:4]]
    counts = people.groupby(["city", "place"]).size().reindex(cells, fill_value=0).to_numpy().reshape(3, 4)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    inner = counts + noise.laplace(1 / epsilon, (3, 4))
    return inner, rows + noise.laplace(1 / epsilon, 3), columns + noise.laplace(1 / epsilon, 4)


def group_sums(people, noise, *, epsilon=1.0):
    sums = people.assign(pay=people["income"].clip(0, 50_000)).groupby("city")["pay"].sum()
    return sums.reindex(CITIES, fill_value=0) + noise.laplace(100_000 / epsilon, 3)


def group_sums_as_if_one_moved(people, noise, *, epsilon=1.0):
    sums = people.assign(pay=people["income"].clip(0, 50_000)).groupby("city")["pay"].sum()
    return sums.reindex(CITIES, fill_value=0) + noise.laplace(50_000 / epsilon, 3)


def median(people, noise, *, epsilon=1.0):
    grid = range(0, 121, 5)
    scores = [-abs(0.5 * len(people) - len(people[people["age"] < t])) for t in grid]
    return noise.select(grid, scores, epsilon)


def median_at_twice_the_rate(people, noise, *, epsilon=1.0):
    grid = range(0, 121, 5)
    scores = [-abs(0.5 * len(people) - len(people[people["age"] < t])) for t in grid]
    return noise.select(grid, scores, 2 * epsilon)


def _places(people):
    return people["place"].value_counts().reindex(PLACES, fill_value=0).to_dict()


def top_three(people, noise, *, epsilon=1.0):
    left, found = _places(people), []
    for _ in range(3):
        found.append(noise.select(list(left), list(left.values()), epsilon / 3))
        del left[found[-1]]
    return found


def top_three_for_one(people, noise, *, epsilon=1.0):
    left, found = _places(people), []
    for _ in range(3):
        found.append(noise.select(list(left), list(left.values()), epsilon))
        del left[found[-1]]
    return found


def adaptive_clip(people, noise, *, epsilon=1.0):
    incomes = people["income"]
    grid = [10_000, 20_000, 50_000, 100_000, 200_000]
    scores = [-abs(0.9 * len(people) - len(people[incomes <= t])) for t in grid]
    bound = noise.select(grid, scores, epsilon / 3.6)
    return incomes.clip(0, bound).sum() + noise.laplace(2 * bound / epsilon)


def clip_at_the_maximum(people, noise, *, epsilon=1.0):
    bound = people["income"].max()
    return people["income"].clip(0, bound).sum() + noise.laplace(bound / epsilon)


def two_stage(people, noise, *, epsilon=1.0):
    size = len(people) + noise.laplace(4 / epsilon)
    if size < 100:
        return {"size": round(size)}
    return {"size": round(size), "sum": people["age"].sum() + noise.laplace(160 / epsilon)}


def two_stage_on_the_true_size(people, noise, *, epsilon=1.0):
    if len(people) < 100:
        return None
    return people["age"].sum() + noise.laplace(120 / epsilon)


def per_person(people, noise, *, epsilon=1.0):
    some = people.groupby("person").head(5)
    return some.groupby("city").size().reindex(CITIES, fill_value=0).to_numpy() + noise.laplace(5 / epsilon, 3)


def per_person_for_any_number(people, noise, *, epsilon=1.0):
    return people.groupby("city").size().reindex(CITIES, fill_value=0).to_numpy() + noise.laplace(1 / epsilon, 3)


def per_person_as_if_one(people, noise, *, epsilon=1.0):
    some = people.groupby("person").head(5)
    return some.groupby("city").size().reindex(CITIES, fill_value=0).to_numpy() + noise.laplace(1 / epsilon, 3)


def sampled(people, noise, *, rate=0.1):
    some = noise.poisson(people, rate)
    return len(some) + noise.laplace(1), some["age"].sum() + noise.laplace(120)


def sampled_beside_all(people, noise, *, rate=0.1):
    some = noise.poisson(people, rate)
    return len(some) + noise.laplace(1), people["age"].sum() + noise.laplace(120)


def tree_counter(people, noise, *, epsilon=1.0, leaves=16):
    counts, _ = np.histogram(people["age"], bins=range(leaves + 1))
    nodes, depth = [], leaves.bit_length()
    for level in range(depth):
        width = 2**level
        sums = [counts[at : at + width].sum() for at in range(0, leaves, width)]
        nodes.append([each + noise.laplace(depth / epsilon) for each in sums])
    return nodes


def tree_counter_as_one_level(people, noise, *, epsilon=1.0, leaves=16):
    counts, _ = np.histogram(people["age"], bins=range(leaves + 1))
    nodes = []
    for level in range(leaves.bit_length()):
        width = 2**level
        nodes.append([counts[at : at + width].sum() + noise.laplace(1 / epsilon) for at in range(0, leaves, width)])
    return nodes


def matrix(people, noise, *, epsilon=1.0):
    counts, _ = np.histogram(people["age"], bins=[0, 20, 40, 60, 80, 121])
    return np.tril(np.ones((5, 5))) @ counts + noise.laplace(5 / epsilon, 5)


def matrix_as_one_cell(people, noise, *, epsilon=1.0):
    counts, _ = np.histogram(people["age"], bins=[0, 20, 40, 60, 80, 121])
    return np.tril(np.ones((5, 5))) @ counts + noise.laplace(1 / epsilon, 5)


def _weights(people, noise, epsilon, rounds, scale):
    edges = [0, 30, 60, 90, 121]
    counts, _ = np.histogram(people["age"], bins=edges)

    def step(estimate):
        errors = [abs(counts[place] - estimate[place]) for place in range(4)]
        place = noise.select(range(4), errors, epsilon / 40)
        answer = counts[place] + noise.laplace(scale)
        moved = np.where(np.arange(4) == place, (estimate + answer) / 2, estimate)
        return np.maximum(moved, 0)

    return noise.repeat(rounds, step, np.zeros(4))


def mult_weights(people, noise, *, epsilon=1.0, rounds=10):
    return _weights(people, noise, epsilon, rounds, 20 / epsilon)


def mult_weights_measured_cheaply(people, noise, *, epsilon=1.0, rounds=10):
    return _weights(people, noise, epsilon, rounds, 2 / epsilon)


def rappor(people, noise, *, flips=0.25):
    reports = [(people["city"] == city) ^ noise.bernoulli(flips, size=len(people)) for city in CITIES]
    return [(report.mean() - flips) / (1 - 2 * flips) for report in reports]


def gumbel_max(people, noise, *, epsilon=1.0):
    counts = people["place"].value_counts().reindex(PLACES, fill_value=0).to_numpy()
    return np.argmax(counts + noise.gumbel(1 / epsilon, 6))


def gumbel_max_with_its_value(people, noise, *, epsilon=1.0):
    counts = people["place"].value_counts().reindex(PLACES, fill_value=0).to_numpy()
    noisy = counts + noise.gumbel(1 / epsilon, 6)
    return np.argmax(noisy), np.max(noisy)


def _begin(noise, *, epsilon=1.0):
    return noise.laplace(4 / epsilon)


def _answer_afresh(level, answer, noise, *, epsilon=1.0):
    if answer + noise.laplace(8 / epsilon) >= level:
        return Emit(answer + noise.laplace(2 / epsilon), Stop())
    return Emit(None, level)


def _answer_tested(level, answer, noise, *, epsilon=1.0):
    noisy = answer + noise.laplace(8 / epsilon)
    return Emit(noisy, Stop()) if noisy >= level else Emit(None, level)


vector_then_sum = Fold(_answer_afresh, init=_begin, finish=None)
vector_and_its_noise = Fold(_answer_tested, init=_begin, finish=None)


def parallel(people, noise, *, epsilon=1.0):
    young, old = people[people["age"] < 18], people[people["age"] >= 65]
    return len(young) + noise.laplace(1 / epsilon), old["age"].sum() + noise.laplace(120 / epsilon)


def parallel_that_overlaps(people, noise, *, epsilon=1.0):
    young, old = people[people["age"] < 66], people[people["age"] >= 65]
    return len(young) + noise.laplace(1 / epsilon), old["age"].sum() + noise.laplace(120 / epsilon)


def retry(people, noise, *, epsilon=1.0):
    for _ in range(3):
        size = len(people) + noise.laplace(3 / epsilon)
        if size > 0:
            return size
    return None


def retry_without_end(people, noise, *, epsilon=1.0):
    while True:
        size = len(people) + noise.laplace(3 / epsilon)
        if size > 0:
            return size


def text(people, noise, *, epsilon=1.0):
    size = len(people) + noise.laplace(1 / epsilon)
    return noise.post(lambda number: f"about {number:.0f} people", size)


def text_of_the_data(people, noise, *, epsilon=1.0):
    size = len(people) + noise.laplace(1 / epsilon)
    return noise.post(lambda number: f"about {number:.0f} people, the oldest {people['age'].max()}", size)


# --- ρ and μ ----------------------------------------------------------------------------------------------


def gaussian_pair(people, noise, *, sigma=2.0):
    return people["age"].sum() + noise.gaussian(120 * sigma), len(people) + noise.gaussian(sigma)


def gaussian_pair_with_laplace(people, noise, *, sigma=2.0):
    return people["age"].sum() + noise.gaussian(120 * sigma), people["age"].sum() + noise.laplace(sigma)


def gaussian_histogram(people, noise, *, sigma=2.0):
    counts, _ = np.histogram(people["age"], bins=[0, 20, 40, 60, 80, 121])
    return counts + noise.gaussian(sigma, 5)


def _clipped_rows(rows, radius):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1) / radius)[:, None]


def regression(people, noise, *, sigma=4.0):
    x = _clipped_rows(people[["x", "y"]].to_numpy(), 2)
    y = _clipped_rows(people[["age"]].to_numpy(), 50)
    moments = x.T @ x + noise.gaussian(4 * sigma, (2, 2))
    cross = x.T @ y + noise.gaussian(100 * sigma, (2, 1))
    return noise.post(np.linalg.lstsq, moments + 0.1 * np.eye(2), cross)


def regression_without_clipping(people, noise, *, sigma=4.0):
    x = people[["x", "y"]].to_numpy()
    return x.T @ x + noise.gaussian(4 * sigma, (2, 2))


def k_means(people, noise, *, sigma=4.0, radius=4.0, steps=5):
    x = _clipped_rows(people[["x", "y"]].to_numpy(), radius)

    def step(centres):
        far = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = far.argmin(axis=1)
        counts = np.bincount(nearest, minlength=3) + noise.gaussian(sigma, 3)
        sums = [x[nearest == place].sum(axis=0) + noise.gaussian(sigma * radius, 2) for place in range(3)]
        return np.stack(sums) / np.maximum(counts, 1)[:, None]

    return noise.repeat(steps, step, np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))


def k_means_over_true_counts(people, noise, *, sigma=4.0, radius=4.0):
    x = _clipped_rows(people[["x", "y"]].to_numpy(), radius)
    nearest = (x**2).argmin(axis=1)
    counts = np.bincount(nearest, minlength=2)
    return [(x[nearest == place].sum(axis=0) + noise.gaussian(sigma * radius, 2)) / counts[place] for place in (0, 1)]


def _descent(people, noise, steps, sigma, clean):
    x, y = people[["x", "y"]].to_numpy(), people["age"].to_numpy()

    def step(theta):
        gradients = clean(x * np.exp(x @ theta - y)[:, None])
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
        return theta - 0.01 * (clipped.sum(axis=0) + noise.gaussian(sigma, 2))

    return noise.repeat(steps, step, np.zeros(2))


def sgd(people, noise, *, steps=100, sigma=10.0):
    return _descent(people, noise, steps, sigma, np.nan_to_num)


def sgd_with_nan(people, noise, *, steps=100, sigma=10.0):
    return _descent(people, noise, steps, sigma, np.positive)


def gaussian_tree(people, noise, *, sigma=5.0, leaves=16):
    counts, _ = np.histogram(people["age"], bins=range(leaves + 1))
    levels = []
    for level in range(leaves.bit_length()):
        sums = counts.reshape(-1, 2**level).sum(axis=1)
        levels.append(sums + noise.gaussian(sigma, leaves // 2**level))
    return levels


def gaussian_matrix(people, noise, *, sigma=5.0):
    counts, _ = np.histogram(people["age"], bins=[0, 20, 40, 60, 80, 121])
    return np.tril(np.ones((5, 5))) @ counts + noise.gaussian(sigma, 5)


def select_measure(people, noise, *, rounds=3, sigma=2.0):
    edges = {"age": [0, 40, 80, 121], "income": [0, 1e3, 1e5, 2e6], "x": [-5, -1, 1, 6]}
    estimate = {name: np.zeros(3) for name in edges}
    for _ in range(rounds):
        counts = {name: np.histogram(people[name], bins=bins)[0] for name, bins in edges.items()}
        scores = [abs(counts[name][0] - estimate[name][0]) for name in edges]
        name = noise.select(list(edges), scores, 0.5)
        estimate[name] = counts[name] + noise.gaussian(sigma, 3)
    return estimate


def select_by_exact_counts(people, noise, *, sigma=2.0):
    counts = {name: np.histogram(people[name], bins=[0, 1, 3, 200])[0] for name in ("age", "x")}
    name = max(counts, key=lambda each: counts[each][0])
    return name, counts[name] + noise.gaussian(sigma, 3)


def pate(people, noise, *, sigma=4.0, queries=10):
    votes = people["place"].value_counts().reindex(PLACES, fill_value=0).to_numpy()
    return [np.argmax(votes + noise.gaussian(sigma, 6)) for _ in range(queries)]


def census(people, noise, *, sigma=2.0):
    counts = people["city"].value_counts().reindex(CITIES, fill_value=0)
    top = len(people) + noise.discrete_gaussian(sigma)
    states = counts.to_numpy() + noise.discrete_gaussian(sigma, 3)
    return top, states + (top - np.sum(states)) / 3


def census_of_a_real_sum(people, noise, *, sigma=2.0):
    return people["x"].sum() + noise.discrete_gaussian(5 * sigma)


def gaussian_max(people, noise, *, sigma=2.0):
    counts = people["place"].value_counts().reindex(PLACES, fill_value=0).to_numpy()
    return np.argmax(counts + noise.gaussian(sigma, 6))


def gaussian_max_and_fresh_value(people, noise, *, sigma=2.0):
    counts = people["place"].value_counts().reindex(PLACES, fill_value=0).to_numpy()
    place = noise.argmax((counts + noise.gaussian(sigma, 6)).tolist())
    return place, counts[place] + noise.gaussian(sigma)


def gaussian_persons(people, noise, *, sigma=10.0):
    some = people.groupby("person").head(5)
    return some.groupby("city").size().reindex(CITIES, fill_value=0).to_numpy() + noise.gaussian(sigma, 3)


# --- (ε, δ) -----------------------------------------------------------------------------------------------


def partitions(people, noise, *, epsilon=1.0, threshold=20.0):
    counts = people["city"].value_counts()
    noisy = counts + noise.laplace(1 / epsilon, len(counts))
    return noisy[noisy >= threshold].sort_index()


def partitions_from_five(people, noise, *, epsilon=1.0, threshold=5.0):
    return partitions(people, noise, epsilon=epsilon, threshold=threshold)


def partitions_in_order_of_counts(people, noise, *, epsilon=1.0, threshold=20.0):
    counts = people["city"].value_counts()
    noisy = counts + noise.laplace(1 / epsilon, len(counts))
    return noisy[noisy >= threshold]


def person_partitions(people, noise, *, epsilon=1.0, threshold=61.0):
    some = people[["person", "place"]].drop_duplicates().groupby("person").head(3)
    counts = some["place"].value_counts()
    noisy = counts + noise.laplace(3 / epsilon, len(counts))
    return noisy[noisy >= threshold].sort_index()


def person_partitions_as_if_one(people, noise):
    some = people[["person", "place"]].drop_duplicates().groupby("person").head(3)
    counts = some["place"].value_counts()
    noisy = counts + noise.laplace(1, len(counts))
    return noisy[noisy >= 61].sort_index()


def person_partitions_with_duplicates(people, noise):
    counts = people.groupby("person").head(3)["place"].value_counts()
    noisy = counts + noise.laplace(3, len(counts))
    return noisy[noisy >= 61].sort_index()


def most_common(people, noise, *, epsilon=1.0, threshold=14.1224):
    counts = people["city"].value_counts().reindex(CITIES, fill_value=0)
    return noise.propose_test_release(CITIES, counts, 1 / epsilon, threshold)


def most_common_too_soon(people, noise, *, epsilon=1.0):
    return most_common(people, noise, epsilon=epsilon, threshold=13.1224)


def most_common_by_its_true_lead(people, noise, *, epsilon=1.0, threshold=14.1224):
    counts = people["city"].value_counts().reindex(CITIES, fill_value=0)
    first, second = sorted(counts.to_numpy())[-2:][::-1]
    if first - second + noise.laplace(1 / epsilon) > threshold:
        return CITIES[np.argmax(counts.to_numpy())]
    return None


def truncated_count(people, noise, *, epsilon=1.0, bound=15):
    return len(people) + noise.truncated_laplace(1 / epsilon, bound)


def count_with_clamped_noise(people, noise, *, epsilon=1.0, bound=15):
    return len(people) + max(-bound, min(bound, noise.laplace(1 / epsilon)))


def gaussian_count(people, noise, *, sigma=4.0):
    return len(people) + noise.gaussian(sigma)


def sampled_gaussian(people, noise, *, rate=0.1):
    return len(noise.poisson(people, rate)) + noise.gaussian(1)


def _sampled_descent(people, noise, steps, samples, divisor):
    whole = noise.poisson(people, 0.01)

    def step(theta):
        rows = (noise.poisson(people, 0.01) if samples else whole)[["x", "y"]].to_numpy()
        gradients = np.nan_to_num(rows * np.exp(rows @ theta)[:, None])
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
        return theta - 0.1 * (clipped.sum(axis=0) + noise.gaussian(1, 2)) / divisor(rows)

    return noise.repeat(steps, step, np.zeros(2))


def sampled_sgd(people, noise, *, steps=1000):
    return _sampled_descent(people, noise, steps, True, lambda rows: 100)


def sampled_sgd_of_one_sample(people, noise, *, steps=50):
    return _sampled_descent(people, noise, steps, False, lambda rows: 100)


def sampled_sgd_over_the_true_size(people, noise, *, steps=50):
    return _sampled_descent(people, noise, steps, True, len)


def sampled_at_a_private_rate(people, noise):
    return len(noise.poisson(people, 10 / len(people))) + noise.gaussian(1)


def keys_and_total(people, noise, *, sigma=4.0):
    counts = people["city"].value_counts()
    noisy = counts + noise.laplace(1, len(counts))
    return noisy[noisy >= 20].sort_index(), len(people) + noise.gaussian(sigma)


@dataclass(frozen=True)
class Row:
    """A program on records, or a fold on answers of queries, with what theory says of it.

    ``bound`` None: it must not be bounded within the claim.

    Attributes:
        number: in one table of forty tasks; 0 beside it.
        claim: as text.
        bound: of the claim's parameter: a fraction, or two decimals between which it lies; None where none is derived.
    """

    number: int
    program: Callable[..., Any]
    relation: str
    claim: str
    bound: Fraction | tuple[str, str] | None

    @property
    def name(self) -> str:
        """What the program is called."""
        return next(name for name, each in globals().items() if each is self.program)

    def is_bound(self, bound: Fraction | None) -> bool:
        """Whether a bound is the one that theory gives."""
        if isinstance(self.bound, tuple):
            return bound is not None and Fraction(self.bound[0]) <= bound <= Fraction(self.bound[1])
        return bound == self.bound


_AR, _R, _P, _RP = "add-remove", "replace", "add-remove(person=person)", "replace(person=person)"
_ONE = Fraction(1)

RIGHT = [
    Row(1, count, _AR, "epsilon=1", _ONE),
    Row(2, clipped_sum, _AR, "epsilon=1", _ONE),
    Row(3, mean, _AR, "epsilon=1", _ONE),
    Row(4, filtered_sum, _R, "epsilon=1", _ONE),
    Row(5, histogram, _AR, "epsilon=1", _ONE),
    Row(5, histogram, _R, "epsilon=2", Fraction(2)),
    Row(6, by_city, _AR, "epsilon=1", _ONE),
    Row(6, by_city, _R, "epsilon=2", Fraction(2)),
    Row(7, cross_table, _AR, "epsilon=1", _ONE),
    Row(8, group_sums, _R, "epsilon=1", _ONE),
    Row(9, median, _AR, "epsilon=1", _ONE),
    Row(10, top_three, _AR, "epsilon=1", _ONE),
    Row(11, adaptive_clip, _AR, "epsilon=1", _ONE),
    Row(12, two_stage, _AR, "epsilon=1", _ONE),
    Row(13, per_person, _P, "epsilon=1", _ONE),
    Row(0, per_person, _RP, "epsilon=2", Fraction(2)),
    Row(14, sampled, _AR, "epsilon=0.49403", ("0.494028", "0.49403")),
    Row(15, tree_counter, _AR, "epsilon=1", _ONE),
    Row(16, matrix, _AR, "epsilon=1", _ONE),
    Row(17, mult_weights, _AR, "epsilon=1", _ONE),
    Row(18, rappor, _R, "epsilon=2.19723", ("2.197224", "2.19723")),
    Row(19, gumbel_max, _AR, "epsilon=1", _ONE),
    Row(19, gumbel_max, _R, "epsilon=2", Fraction(2)),
    Row(20, vector_then_sum, "queries", "epsilon=1", _ONE),
    Row(21, gaussian_pair, _AR, "rho=0.25", Fraction(1, 4)),
    Row(21, gaussian_pair, _AR, "mu=0.70711", ("0.7071067", "0.7071068")),
    Row(22, gaussian_histogram, _R, "rho=0.25", Fraction(1, 4)),
    Row(22, gaussian_histogram, _AR, "rho=0.125", Fraction(1, 8)),
    Row(23, regression, _AR, "rho=0.0625", Fraction(1, 16)),
    Row(24, k_means, _AR, "rho=0.3125", Fraction(5, 16)),
    Row(25, sgd, _AR, "rho=0.5", Fraction(1, 2)),
    Row(25, sgd, _AR, "mu=1", _ONE),
    Row(26, gaussian_tree, _AR, "rho=0.1", Fraction(1, 10)),
    Row(27, gaussian_matrix, _AR, "rho=0.1", Fraction(1, 10)),
    Row(28, select_measure, _AR, "rho=0.75", Fraction(3, 4)),
    Row(29, pate, _R, "rho=0.625", Fraction(5, 8)),
    Row(30, census, _AR, "rho=0.25", Fraction(1, 4)),
    Row(30, census, _R, "rho=0.25", Fraction(1, 4)),
    Row(31, gaussian_max, _AR, "rho=0.125", Fraction(1, 8)),
    Row(32, gaussian_persons, _P, "rho=0.125", Fraction(1, 8)),
    Row(0, gaussian_persons, _RP, "rho=0.25", Fraction(1, 4)),
    Row(33, partitions, _AR, "epsilon=1, delta=2.81e-9", _ONE),
    Row(34, person_partitions, _P, "epsilon=1, delta=3.1e-9", _ONE),
    Row(35, most_common, _AR, "epsilon=1, delta=1e-6", _ONE),
    Row(36, truncated_count, _AR, "epsilon=1, delta=2.629e-7", _ONE),
    Row(37, gaussian_count, _AR, "epsilon=1, delta=2.93e-6", ("0.999", "1")),
    Row(38, sampled_sgd, _AR, "epsilon=1.8284, delta=1e-5", ("1.82806", "1.8284")),
    Row(39, sampled_gaussian, _AR, "epsilon=1, delta=2.072e-4", ("0.999", "1")),
    Row(40, keys_and_total, _AR, "epsilon=2, delta=2.933e-6", ("1.999", "2")),
    Row(0, parallel, _AR, "epsilon=1", _ONE),
    Row(0, retry, _AR, "epsilon=1", _ONE),
    Row(0, text, _AR, "epsilon=1", _ONE),
]

TWINS = [
    Row(1, count_at_half_the_scale, _AR, "epsilon=1", Fraction(2)),
    Row(2, sum_of_a_clipped_copy, _AR, "epsilon=1", Fraction(20)),
    Row(3, mean_over_the_true_size, _AR, "epsilon=1", None),
    Row(4, filtered_sum_as_if_all_counted, _R, "epsilon=1", Fraction(6, 5)),
    Row(5, histogram_with_one_draw, _AR, "epsilon=1", None),
    Row(6, by_keys_of_the_data, _AR, "epsilon=1", None),
    Row(6, by_city_with_nan, _AR, "epsilon=1", None),
    Row(7, cross_table_with_margins, _AR, "epsilon=1", Fraction(3)),
    Row(8, group_sums_as_if_one_moved, _R, "epsilon=1", Fraction(2)),
    Row(9, median_at_twice_the_rate, _AR, "epsilon=1", Fraction(2)),
    Row(10, top_three_for_one, _AR, "epsilon=1", Fraction(3)),
    Row(11, clip_at_the_maximum, _AR, "epsilon=1", None),
    Row(12, two_stage_on_the_true_size, _AR, "epsilon=1", None),
    Row(13, per_person_for_any_number, _P, "epsilon=1", None),
    Row(13, per_person_as_if_one, _P, "epsilon=1", Fraction(5)),
    Row(0, per_person, _RP, "epsilon=1", Fraction(2)),
    Row(14, sampled_beside_all, _AR, "epsilon=0.49403", ("1.158564", "1.158566")),
    Row(15, tree_counter_as_one_level, _AR, "epsilon=1", Fraction(5)),
    Row(16, matrix_as_one_cell, _AR, "epsilon=1", Fraction(5)),
    Row(17, mult_weights_measured_cheaply, _AR, "epsilon=1", Fraction(11, 2)),
    Row(18, rappor, _R, "epsilon=1.09862", ("2.197224", "2.19723")),
    Row(19, gumbel_max_with_its_value, _AR, "epsilon=1", None),
    Row(20, vector_and_its_noise, "queries", "epsilon=1", None),
    Row(21, gaussian_pair_with_laplace, _AR, "rho=0.25", Fraction(14401, 8)),
    Row(22, gaussian_histogram, _R, "rho=0.125", Fraction(1, 4)),
    Row(23, regression_without_clipping, _AR, "rho=0.0625", Fraction(289, 128)),
    Row(24, k_means_over_true_counts, _AR, "rho=0.3125", None),
    Row(25, sgd_with_nan, _AR, "rho=0.5", None),
    Row(26, gaussian_tree, _AR, "rho=0.02", Fraction(1, 10)),
    Row(27, gaussian_matrix, _AR, "rho=0.02", Fraction(1, 10)),
    Row(28, select_by_exact_counts, _AR, "rho=0.75", None),
    Row(29, pate, _R, "rho=0.3125", Fraction(5, 8)),
    Row(30, census, _AR, "mu=0.70711", None),
    Row(30, census_of_a_real_sum, _AR, "rho=0.25", None),
    Row(31, gaussian_max_and_fresh_value, _AR, "rho=0.125", Fraction(1, 4)),
    Row(32, gaussian_persons, _P, "rho=0.025", Fraction(1, 8)),
    Row(33, partitions_from_five, _AR, "epsilon=1, delta=2.81e-9", None),
    Row(33, partitions_in_order_of_counts, _AR, "epsilon=1, delta=2.81e-9", None),
    Row(34, person_partitions_as_if_one, _P, "epsilon=1, delta=3.1e-9", Fraction(3)),
    Row(34, person_partitions_with_duplicates, _P, "epsilon=1, delta=3.1e-9", None),
    Row(35, most_common_too_soon, _AR, "epsilon=1, delta=1e-6", None),
    Row(35, most_common_by_its_true_lead, _AR, "epsilon=1, delta=1e-6", None),
    Row(36, truncated_count, _AR, "epsilon=1, delta=2.627e-7", None),
    Row(36, count_with_clamped_noise, _AR, "epsilon=1, delta=2.629e-7", None),
    Row(37, gaussian_count, _AR, "epsilon=1, delta=2.91e-6", ("1", "1.001")),
    Row(38, sampled_sgd_of_one_sample, _AR, "epsilon=1.8283, delta=1e-5", ("40", "45")),
    Row(38, sampled_sgd_over_the_true_size, _AR, "epsilon=1.8283, delta=1e-5", None),
    Row(39, sampled_at_a_private_rate, _AR, "epsilon=1, delta=2.072e-4", None),
    Row(40, keys_and_total, _AR, "epsilon=2, delta=2.92e-6", ("2", "2.001")),
    Row(0, parallel_that_overlaps, _AR, "epsilon=1", Fraction(31, 20)),
    Row(0, retry_without_end, _AR, "epsilon=1", None),
    Row(0, text_of_the_data, _AR, "epsilon=1", None),
]
