"""Right functions as analysts write them, each with what it stands on: written last, and not tuned on."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import enum
import functools
import itertools
import json
import logging
import math
import random
import statistics
import time
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd
from scipy import stats

DOMAIN = {
    "age": list(range(121)),
    "city": list("abcd"),
    "income": (0.0, 200_000.0),
    "visits": list(range(31)),
    "vip": [False, True],
    "segment": ["new", "loyal", "lost"],
}
CITIES = ("a", "b", "c", "d")
SEGMENTS = ["new", "loyal", "lost"]
log = logging.getLogger("reports")
CLAIM: dict[str, float] = {}


# --- 1: a budget that is split by name, and a report as a dataclass -----------------------------------------------


@dataclass
class Budget:
    """Splits an epsilon among named parts, and refuses what is not left."""

    total: float
    parts: dict[str, float]
    spent: dict[str, float] = field(default_factory=dict)

    def take(self, name: str) -> float:
        if name in self.spent:
            raise RuntimeError(f"{name} was taken already")
        share = self.total * self.parts[name] / sum(self.parts.values())
        self.spent[name] = share
        return share

    @property
    def left(self) -> float:
        return self.total - sum(self.spent.values())


@dataclass(frozen=True)
class MonthlyReport:
    customers: int
    revenue: float
    revenue_per_customer: float
    epsilon_left: float


def p01_monthly(df: pd.DataFrame) -> dict[str, Any]:
    budget = Budget(1.0, {"customers": 1, "revenue": 3})
    cap = 50_000.0
    log.info("budget %s", budget.parts)
    scale = 1 / budget.take("customers")
    customers = len(df) + np.random.laplace(0, scale)
    clipped = df["income"].clip(upper=cap)
    revenue = float(clipped.sum()) + np.random.laplace(0, cap / budget.take("revenue"))
    customers = max(int(round(customers)), 1)
    report = MonthlyReport(
        customers=customers,
        revenue=round(max(revenue, 0.0), 2),
        revenue_per_customer=round(max(revenue, 0.0) / customers, 2),
        epsilon_left=round(budget.left, 6),
    )
    return dataclasses.asdict(report)


# --- 2: histogram by bands with an enum of the kinds of noise ------------------------------------------------------


class Law(enum.Enum):
    LAPLACE = "laplace"
    GEOMETRIC = "geometric"

    def draw(self, epsilon: float, size: int) -> np.ndarray:
        match self:
            case Law.LAPLACE:
                return np.random.laplace(0, 1 / epsilon, size)
            case Law.GEOMETRIC:
                p = 1 - math.exp(-epsilon)
                return np.random.geometric(p, size) - np.random.geometric(p, size)
        raise ValueError(self)


BANDS = [(0, 17), (18, 29), (30, 44), (45, 64), (65, 120)]


def p02_bands(df: pd.DataFrame, law: Law = Law.LAPLACE, epsilon: float = 1.0) -> pd.DataFrame:
    counts = []
    for low, high in BANDS:
        inside = df["age"].between(low, high)
        counts.append(inside.sum())
    noisy = np.array(counts) + law.draw(epsilon, len(counts))
    noisy = np.clip(noisy, 0, None)
    table = pd.DataFrame(
        {
            "band": [f"{low}-{high}" for low, high in BANDS],
            "people": np.round(noisy, 1),
        }
    )
    table["share"] = table["people"] / max(table["people"].sum(), 1.0)
    log.debug("%d bands by %s", len(table), law.value)
    return table


# --- 3: queries as classes with an abstract base --------------------------------------------------------------------


class Query(abc.ABC):
    name: ClassVar[str] = "query"

    @abc.abstractmethod
    def exact(self, df: pd.DataFrame) -> Any: ...

    @property
    @abc.abstractmethod
    def sensitivity(self) -> float: ...

    def release(self, df: pd.DataFrame, epsilon: float) -> float:
        return float(self.exact(df) + np.random.laplace(0, self.sensitivity / epsilon))


class CountWhere(Query):
    name = "count"
    sensitivity = 1.0

    def __init__(self, column: str, value: Any) -> None:
        self.column, self.value = column, value

    def exact(self, df: pd.DataFrame) -> Any:
        return (df[self.column] == self.value).sum()


class SumClipped(Query):
    name = "sum"

    def __init__(self, column: str, top: float) -> None:
        self.column, self.top = column, top

    @property
    def sensitivity(self) -> float:
        return self.top

    def exact(self, df: pd.DataFrame) -> Any:
        return df[self.column].clip(0, self.top).sum()


def p03_queries(df: pd.DataFrame) -> dict[str, float]:
    queries: list[Query] = [CountWhere("city", city) for city in CITIES]
    queries += [SumClipped("visits", 10), SumClipped("income", 1e5)]
    epsilon = 1.0 / len(queries)
    out = {}
    for number, query in enumerate(queries):
        out[f"{query.name}_{number}"] = round(query.release(df, epsilon), 1)
    return out


# --- 4: context manager that keeps the time and a stack of names ----------------------------------------------------


@contextlib.contextmanager
def step(name: str, names: list[str]) -> Iterator[None]:
    start = time.perf_counter()
    names.append(name)
    try:
        yield
    finally:
        log.info("%s took %.3f s", name, time.perf_counter() - start)


def p04_steps(df: pd.DataFrame) -> dict[str, Any]:
    names: list[str] = []
    out: dict[str, Any] = {}
    with step("adults", names):
        adults = df[df["age"] >= 18]
        out["adults"] = len(adults) + np.random.laplace(0, 2)
    with step("young", names):
        young = df.loc[df["age"] < 18]
        out["young"] = len(young) + np.random.laplace(0, 2)
    with step("share", names):
        total = max(out["adults"] + out["young"], 1.0)
        out["share"] = min(max(out["young"] / total, 0.0), 1.0)
    out["steps"] = names
    return out


# --- 5: a table by city from groupby, reindexed, with text columns --------------------------------------------------


def as_currency(value: float) -> str:
    return f"{value:,.0f} EUR"


def p05_by_city(df: pd.DataFrame) -> pd.DataFrame:
    epsilon, cap = 1.0, 80_000.0
    pay = df.assign(income=df["income"].clip(0, cap))
    sums = pay.groupby("city")["income"].sum().reindex(CITIES, fill_value=0)
    counts = pay.groupby("city").size().reindex(CITIES, fill_value=0)
    sums = sums + np.random.laplace(0, 2 * cap / epsilon, len(CITIES))
    counts = counts + np.random.laplace(0, 2 / epsilon, len(CITIES))
    means = []
    for city in CITIES:
        mean = sums[city] / max(counts[city], 1.0)
        means.append(min(max(mean, 0.0), cap))
    table = pd.DataFrame({"city": list(CITIES), "mean": means})
    table["text"] = [as_currency(mean) for mean in means]
    return table


# --- 6: retry with a decorator, NamedTuple ----------------------------------------------------------------------------


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **keywords: Any) -> Any:
        log.info("start %s", function.__name__)
        value = function(*args, **keywords)
        log.info("end %s", function.__name__)
        return value

    return inner


class Interval(NamedTuple):
    low: float
    middle: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


@logged
def interval(value: float, scale: float, confidence: float) -> Interval:
    half = -scale * math.log(1 - confidence)
    return Interval(value - half, value, value + half)


def p06_interval(df: pd.DataFrame) -> dict[str, float]:
    scale = 1.0
    members = int((df["segment"] == "loyal").sum()) + np.random.laplace(0, scale)
    found = interval(members, scale, 0.95)
    warnings.simplefilter("ignore")
    result = {"low": max(found.low, 0.0), "middle": found.middle, "high": found.high}
    result["width"] = found.width
    if result["middle"] < 0:
        result["middle"] = 0.0
    return {name: round(value, 1) for name, value in result.items()}


# --- 7: exponential mechanism for the commonest segment --------------------------------------------------------------


def exponential_choice(options: Sequence[str], scores: np.ndarray, epsilon: float) -> str:
    weights = np.exp(epsilon * (scores - scores.max()) / 2)
    weights = weights / weights.sum()
    place = np.random.choice(len(options), p=weights)
    return options[place]


def p07_favourite(df: pd.DataFrame) -> dict[str, Any]:
    epsilon = 1.0
    scores = np.array([(df["segment"] == name).sum() for name in SEGMENTS])
    favourite = exponential_choice(SEGMENTS, scores, epsilon)
    message = {"new": "welcome them", "loyal": "thank them", "lost": "win them back"}
    return {"favourite": favourite, "message": message.get(favourite, "")}


# --- 8: mean and variance with moments -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Moments:
    n: float
    mean: float
    variance: float

    def __post_init__(self) -> None:
        if self.variance < 0:
            raise ValueError("a variance is not negative")

    @classmethod
    def of(cls, n: float, total: float, squares: float) -> Moments:
        n = max(n, 1.0)
        mean = total / n
        return cls(n=n, mean=mean, variance=max(squares / n - mean * mean, 0.0))


def p08_moments(df: pd.DataFrame) -> dict[str, float]:
    top, share = 100.0, 1.0 / 3
    ages = df["age"].clip(0, top).astype(float)
    n = len(ages) + np.random.laplace(0, 1 / share)
    total = ages.sum() + np.random.laplace(0, top / share)
    squares = (ages**2).sum() + np.random.laplace(0, top**2 / share)
    found = Moments.of(float(n), float(total), float(squares))
    return {
        "n": found.n,
        "mean": found.mean,
        "deviation": math.sqrt(found.variance),
        "error": math.sqrt(found.variance / found.n),
    }


# --- 9: sparse vector over thresholds ---------------------------------------------------------------------------------


def p09_first_above(df: pd.DataFrame) -> dict[str, Any]:
    epsilon, threshold = 1.0, 100.0
    limit = threshold + np.random.laplace(0, 2 / epsilon)
    found = None
    for city in CITIES:
        noisy = (df["city"] == city).sum() + np.random.laplace(0, 4 / epsilon)
        if noisy >= limit:
            found = city
            break
    if found is None:
        log.warning("no city is above %.0f", threshold)
    return {"first": found, "searched": len(CITIES)}


# --- 10: regression of two clipped columns by noisy products ------------------------------------------------------------


class Line(NamedTuple):
    slope: float
    start: float


def line_of(n: float, x: float, y: float, xx: float, xy: float) -> Line:
    spread = n * xx - x * x
    if abs(spread) < 1e-9:
        return Line(0.0, y / max(n, 1.0))
    slope = (n * xy - x * y) / spread
    return Line(slope, (y - slope * x) / max(n, 1.0))


def p10_line(df: pd.DataFrame) -> dict[str, float]:
    x = df["age"].clip(0, 100) / 100
    y = df["income"].clip(0, 100_000) / 100_000
    parts = {"n": len(df), "x": x.sum(), "y": y.sum(), "xx": (x * x).sum(), "xy": (x * y).sum()}
    noisy = {name: float(value) + np.random.laplace(0, 5) for name, value in parts.items()}
    found = line_of(**noisy)
    return {"slope": found.slope * 1000, "start": found.start * 100_000}


# --- 11: cross table of two public lists ----------------------------------------------------------------------------------


def p11_cross(df: pd.DataFrame) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for city, segment in itertools.product(CITIES, SEGMENTS):
        cell = df[(df["city"] == city) & (df["segment"] == segment)]
        noisy = len(cell) + np.random.laplace(0, 1.0)
        table.setdefault(city, {})[segment] = max(round(noisy), 0)
    for city, row in table.items():
        row["all"] = sum(row.values())
        log.info("%s: %s", city, row["all"])
    return table


# --- 12: JSON report with a schema version and a signature of the settings -------------------------------------------------


@dataclass
class Settings:
    epsilon: float = 1.0
    top_income: float = 120_000.0
    digits: int = 1
    tags: list[str] = field(default_factory=lambda: ["quarterly", "public"])

    def scale(self, sensitivity: float, parts: int) -> float:
        return sensitivity * parts / self.epsilon


def p12_json(df: pd.DataFrame) -> str:
    settings = Settings()
    people = len(df) + np.random.laplace(0, settings.scale(1, 2))
    income = df["income"].clip(0, settings.top_income).sum()
    income = income + np.random.laplace(0, settings.scale(settings.top_income, 2))
    record = {
        "version": 2,
        "people": round(float(people), settings.digits),
        "income": round(float(income), settings.digits),
        "settings": dataclasses.asdict(settings),
    }
    return json.dumps(record, sort_keys=True, indent=2)


# --- 13: rows one by one, with a helper that decides ------------------------------------------------------------------------


def points(visits: int, is_vip: bool) -> int:
    if is_vip:
        return min(2 * visits, 20)
    if visits > 10:
        return 10
    return visits


def p13_points(df: pd.DataFrame) -> float:
    total = 0
    people = 0
    for visits, is_vip in zip(df["visits"], df["vip"]):
        total += points(visits, is_vip)
        people += 1
    noisy_total = total + np.random.laplace(0, 40)
    noisy_people = people + np.random.laplace(0, 2)
    average = noisy_total / max(noisy_people, 1)
    log.info("average is %.2f", average)
    return round(min(max(average, 0.0), 20.0), 2)


# --- 14: quantile by binary search ------------------------------------------------------------------------------------------


def p14_median_age(df: pd.DataFrame) -> int:
    low, high, rounds = 0, 120, 5
    epsilon = 1.0 / rounds
    for _ in range(rounds):
        middle = (low + high) // 2
        below = (df["age"] <= middle).sum()
        above = (df["age"] > middle).sum()
        balance = below - above + np.random.laplace(0, 1 / epsilon)
        if balance > 0:
            high = middle
        else:
            low = middle
    return (low + high) // 2


# --- 15: a class that holds the data and releases once -----------------------------------------------------------------------


class Releaser:
    def __init__(self, data: pd.DataFrame, epsilon: float) -> None:
        self._data = data
        self._left = epsilon
        self.released: dict[str, float] = {}

    def _spend(self, epsilon: float) -> None:
        if epsilon > self._left + 1e-12:
            raise ValueError("nothing is left")
        self._left -= epsilon

    def count(self, name: str, mask: pd.Series, epsilon: float) -> Releaser:
        self._spend(epsilon)
        self.released[name] = float(self._data[mask].shape[0] + np.random.laplace(0, 1 / epsilon))
        return self

    def __len__(self) -> int:
        return len(self.released)

    def __getitem__(self, name: str) -> float:
        return self.released[name]


def p15_releaser(df: pd.DataFrame) -> dict[str, float]:
    releaser = Releaser(df, 1.0)
    releaser.count("vip", df["vip"], 0.5).count("rich", df["income"] > 90_000, 0.25)
    releaser.count("old", df["age"].ge(70), 0.25)
    if len(releaser) != 3:
        raise AssertionError
    return {"vip": releaser["vip"], "rich": releaser["rich"], "old": releaser["old"]}


# --- 16: cumulative distribution from a histogram ---------------------------------------------------------------------------


def p16_distribution(df: pd.DataFrame) -> dict[int, float]:
    edges = [0, 20, 40, 60, 80, 121]
    counts, _ = np.histogram(df["age"], bins=edges)
    noisy = counts + np.random.laplace(0, 1.0, size=len(edges) - 1)
    noisy = np.maximum(noisy, 0.0)
    total = max(noisy.sum(), 1.0)
    shares = np.cumsum(noisy / total)
    out: dict[int, float] = OrderedDict()
    for edge, share in zip(edges[1:], shares):
        out[edge] = round(float(share), 3)
    return dict(out)


# --- 17: top two segments by noisy counts, peeled ----------------------------------------------------------------------------


def p17_top_two(df: pd.DataFrame) -> list[str]:
    epsilon_each = 0.5
    left = list(CITIES)
    chosen: list[str] = []
    while len(chosen) < 2:
        scores = np.array([(df["city"] == city).sum() for city in left])
        noisy = scores + np.random.gumbel(0, 2 / epsilon_each, len(left))
        best = int(np.argmax(noisy))
        for place, city in enumerate(list(left)):
            if place == best:
                chosen.append(city)
                left.remove(city)
    return chosen


# --- 18: randomised scale with a mapping of sensitivities, MappingProxyType -----------------------------------------------------


TOPS: Mapping[str, float] = MappingProxyType({"age": 100.0, "visits": 30.0, "income": 150_000.0})


def p18_tops(df: pd.DataFrame) -> pd.Series:
    epsilon = 1.0 / len(TOPS)
    released = {}
    for name, top in TOPS.items():
        exact = df[name].clip(lower=0, upper=top).sum()
        released[name] = float(exact) + float(np.random.laplace(0, top / epsilon))
    series = pd.Series(released, name="totals")
    series = series.clip(lower=0)
    series["all"] = series.sum()
    return series.round(1)


# --- 19: bits with match on a literal mode --------------------------------------------------------------------------------------


Mode = Literal["people", "money", "visits"]


def total_of(df: pd.DataFrame, mode: Mode) -> tuple[Any, float]:
    match mode:
        case "people":
            return len(df), 1.0
        case "money":
            return df["income"].clip(0, 1e5).sum(), 1e5
        case "visits":
            return df["visits"].sum(), 30.0
        case _:
            raise ValueError(mode)


def p19_modes(df: pd.DataFrame) -> dict[str, float]:
    modes: tuple[Mode, ...] = ("people", "money", "visits")
    shares = {"people": 0.5, "money": 0.25, "visits": 0.25}
    out: dict[str, float] = {}
    for mode in modes:
        exact, sensitivity = total_of(df, mode)
        noise = np.random.laplace(0, sensitivity / shares[mode])
        out[mode] = float(exact + noise)
    out["visits_each"] = out["visits"] / max(out["people"], 1.0)
    return out


# --- 20: two tables merged with a public one ---------------------------------------------------------------------------------------


REGIONS = pd.DataFrame({"city": ["a", "b", "c", "d"], "region": ["north", "north", "south", "south"]})


def p20_regions(df: pd.DataFrame) -> dict[str, float]:
    merged = df.merge(REGIONS, on="city", how="left")
    counts = merged.groupby("region").size().reindex(["north", "south"], fill_value=0)
    noisy = counts + np.random.laplace(0, 1.0, 2)
    out = {}
    for region in ("north", "south"):
        out[region] = round(max(float(noisy[region]), 0.0), 1)
    out["difference"] = out["north"] - out["south"]
    return out


# --- 21: lambda columns, pipe, assign ---------------------------------------------------------------------------------------------


def adults_only(df: pd.DataFrame) -> pd.DataFrame:
    return df[df["age"] >= 18]


def with_score(df: pd.DataFrame, top: float) -> pd.DataFrame:
    return df.assign(score=lambda d: (d["visits"] * 2 + d["vip"] * 5).clip(0, top))


def p21_pipeline(df: pd.DataFrame) -> float:
    top = 40.0
    score = df.pipe(adults_only).pipe(with_score, top=top)["score"].sum()
    people = df.pipe(adults_only).shape[0]
    noisy_score = score + np.random.laplace(scale=2 * top)
    noisy_people = people + np.random.laplace(scale=2.0)
    try:
        return float(noisy_score / noisy_people)
    except ZeroDivisionError:
        return 0.0


# --- 22: a generator of releases ----------------------------------------------------------------------------------------------------


def releases(df: pd.DataFrame, epsilon: float) -> Iterator[tuple[str, float]]:
    for segment in SEGMENTS:
        exact = df["segment"].eq(segment).sum()
        yield segment, float(exact + np.random.laplace(0, 1 / epsilon))


def p22_generator(df: pd.DataFrame) -> dict[str, Any]:
    found = dict(releases(df, 1.0))
    total = sum(found.values())
    ranked = sorted(found, key=lambda name: -found[name])
    lines = []
    for place, name in enumerate(ranked, start=1):
        share = found[name] / total if total else 0.0
        lines.append(f"{place}. {name}: {share:.1%}")
    return {"lines": lines, "total": round(total, 1)}


# --- 23: Gaussian noise with a calculated sigma is left out; Laplace from scipy --------------------------------------------------------


@functools.lru_cache(maxsize=None)
def law_of(scale: float) -> Any:
    return stats.laplace(loc=0, scale=scale)


def p23_scipy(df: pd.DataFrame) -> list[float]:
    masks = [df["income"] < 20_000, (df["income"] >= 20_000) & (df["income"] < 60_000), df["income"] >= 60_000]
    counts = np.array([mask.sum() for mask in masks])
    noise = stats.laplace.rvs(scale=1.0, size=len(masks))
    noisy = counts + noise
    noisy[noisy < 0] = 0
    total = noisy.sum()
    if total <= 0:
        return [0.0 for _ in masks]
    return [round(float(each / total), 4) for each in noisy]


# --- 24: counts of missing and present by isna ------------------------------------------------------------------------------------------


def p24_completeness(df: pd.DataFrame) -> dict[str, float]:
    columns = ["age", "income", "visits"]
    out: dict[str, float] = {}
    for name in columns:
        present = df[name].notna().sum()
        out[name] = float(present) + np.random.laplace(0, len(columns))
    worst = min(out, key=out.get)
    log.info("worst column is %s", worst)
    out["mean"] = statistics.fmean(out[name] for name in columns)
    return {name: round(value, 2) for name, value in out.items()}


# --- 25: where and select for groups of pay -------------------------------------------------------------------------------------------------


def p25_pay_groups(df: pd.DataFrame) -> dict[str, float]:
    conditions = [df["income"] < 15_000, df["income"] < 45_000, df["income"] < 90_000]
    labels = ["low", "middle", "high", "top"]
    group = np.select(conditions, [0, 1, 2], default=3)
    counts = np.bincount(group, minlength=4)
    noisy = counts + np.random.laplace(0, 1.0, 4)
    rounded = [int(max(round(each), 0)) for each in noisy]
    out = dict(zip(labels, rounded))
    out["sum"] = sum(rounded)
    return out


# --- 26: two-stage: clip at a released bound -----------------------------------------------------------------------------------------------


def p26_two_stage(df: pd.DataFrame) -> dict[str, float]:
    grid = [20_000.0, 50_000.0, 100_000.0, 200_000.0]
    scores = np.array([-abs((df["income"] <= top).sum() - 9 * (df["income"] > top).sum()) for top in grid])
    chosen = int(np.argmax(scores + np.random.gumbel(0, 2 * 9 / 0.5, len(grid))))
    for place, top in enumerate(grid):
        if place == chosen:
            total = df["income"].clip(0, top).sum() + np.random.laplace(0, top / 0.5)
            return {"top": top, "total": float(total)}
    return {"top": 0.0, "total": 0.0}


# --- 27: a table of noisy sums as a frame with percentages and totals ------------------------------------------------------------------------


def p27_frame(df: pd.DataFrame) -> pd.DataFrame:
    out = pd.DataFrame(index=list(CITIES), columns=["people", "visits"], dtype=float)
    for city in CITIES:
        here = df[df["city"] == city]
        out.loc[city, "people"] = len(here) + np.random.laplace(0, 2)
        out.loc[city, "visits"] = here["visits"].clip(0, 10).sum() + np.random.laplace(0, 20)
    out = out.clip(lower=0)
    out["each"] = out["visits"] / out["people"].clip(lower=1)
    out.loc["all"] = out.sum()
    return out.round(1)


# --- 28: protocols and a registry of mechanisms by name ---------------------------------------------------------------------------------------


class Mechanism(Protocol):
    def __call__(self, value: Any, sensitivity: float, epsilon: float) -> float: ...


REGISTRY: dict[str, Callable[..., float]] = {}


def register(name: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    def inner(function: Callable[..., float]) -> Callable[..., float]:
        REGISTRY[name] = function
        return function

    return inner


@register("laplace")
def laplace_mechanism(value: Any, sensitivity: float, epsilon: float) -> float:
    return float(value) + np.random.laplace(0, sensitivity / epsilon)


@register("exponential-difference")
def difference_mechanism(value: Any, sensitivity: float, epsilon: float) -> float:
    scale = sensitivity / epsilon
    return float(value) + (random.expovariate(1 / scale) - random.expovariate(1 / scale))


def p28_registry(df: pd.DataFrame) -> dict[str, float]:
    plan = [("people", len(df), 1.0, "laplace"), ("visits", df["visits"].sum(), 30.0, "laplace")]
    out = {}
    for name, exact, sensitivity, mechanism in plan:
        out[name] = REGISTRY[mechanism](exact, sensitivity, 1.0 / len(plan))
    return out


# --- 29: a moving window over noisy counts ---------------------------------------------------------------------------------------------------------


def p29_window(df: pd.DataFrame) -> list[float]:
    edges = list(range(0, 121, 10))
    counts = [((df["age"] >= low) & (df["age"] < low + 10)).sum() for low in edges]
    noisy = [float(count) + np.random.laplace(0, 1.0) for count in counts]
    window: deque[float] = deque(maxlen=3)
    smooth: list[float] = []
    for value in noisy:
        window.append(value)
        smooth.append(sum(window) / len(window))
    return [round(each, 2) for each in smooth]


# --- 30: early return by a released count ----------------------------------------------------------------------------------------------------------


class TooFewError(Exception):
    pass


def require(value: float, least: float) -> float:
    if value < least:
        raise TooFewError(f"{value:.0f} is below {least:.0f}")
    return value


def p30_require(df: pd.DataFrame) -> dict[str, Any]:
    people = len(df) + np.random.laplace(0, 2.0)
    try:
        people = require(people, 50)
    except TooFewError as error:
        log.warning("%s", error)
        return {"status": "too few", "people": None, "mean_age": None}
    ages = df["age"].clip(0, 100).sum() + np.random.laplace(0, 200.0)
    return {"status": "ok", "people": round(people), "mean_age": round(ages / people, 1)}


# --- 31: histogram with pd.cut and value_counts -----------------------------------------------------------------------------------------------------


def p31_cut(df: pd.DataFrame) -> dict[str, float]:
    labels = ["child", "young", "adult", "old"]
    bands = pd.cut(df["age"], bins=[-1, 12, 25, 64, 120], labels=labels)
    counts = bands.value_counts().reindex(labels, fill_value=0)
    noisy = counts + np.random.laplace(0, 1.0, len(labels))
    out = {}
    for label in labels:
        out[label] = round(float(noisy[label]), 1)
    return out


# --- 32: a person-free average by ratio of two sums, SimpleNamespace ----------------------------------------------------------------------------------


def p32_namespace(df: pd.DataFrame) -> dict[str, float]:
    cfg = SimpleNamespace(epsilon=1.0, top=25, floor=5.0)
    vip, other = df[df["vip"]], df[~df["vip"]]
    rows = SimpleNamespace()
    rows.vip_sum = vip["visits"].clip(0, cfg.top).sum() + np.random.laplace(0, 2 * cfg.top / cfg.epsilon)
    rows.vip_n = len(vip) + np.random.laplace(0, 2 / cfg.epsilon)
    rows.other_sum = other["visits"].clip(0, cfg.top).sum() + np.random.laplace(0, 2 * cfg.top / cfg.epsilon)
    rows.other_n = len(other) + np.random.laplace(0, 2 / cfg.epsilon)
    first = float(rows.vip_sum) / max(float(rows.vip_n), cfg.floor)
    second = float(rows.other_sum) / max(float(rows.other_n), cfg.floor)
    return {"vip": first, "other": second, "ratio": first / second if second > 0 else math.inf}


# --- 33: chi-square of noisy counts ---------------------------------------------------------------------------------------------------------------------


def p33_chi_square(df: pd.DataFrame) -> dict[str, Any]:
    observed = np.array([[((df["vip"] == vip) & (df["city"] == city)).sum() for city in CITIES] for vip in (True, False)])
    noisy = np.maximum(observed + np.random.laplace(0, 1.0, size=(2, len(CITIES))), 1.0)
    rows, columns = noisy.sum(axis=1), noisy.sum(axis=0)
    expected = np.outer(rows, columns) / noisy.sum()
    statistic = float(((noisy - expected) ** 2 / expected).sum())
    freedom = (len(rows) - 1) * (len(columns) - 1)
    p_value = float(stats.chi2.sf(statistic, freedom))
    return {"statistic": round(statistic, 3), "p": round(p_value, 4), "differs": p_value < 0.05}


# --- 34: defaultdict of noisy numbers, Counter of public labels ----------------------------------------------------------------------------------------------


def p34_collect(df: pd.DataFrame) -> dict[str, list[float]]:
    collected: dict[str, list[float]] = defaultdict(list)
    public = Counter(CITIES)
    for city, _ in public.most_common():
        for vip in (True, False):
            mask = (df["city"] == city) & (df["vip"] == vip)
            collected[city].append(float(mask.sum()) + np.random.laplace(0, 1.0))
    return {city: [round(each, 1) for each in listed] for city, listed in sorted(collected.items())}


# --- 35: exponential mechanism by hand over prices ------------------------------------------------------------------------------------------------------------


def p35_price(df: pd.DataFrame) -> float:
    prices = np.array([10.0, 25.0, 50.0, 100.0])
    epsilon, top = 1.0, 100.0
    budgets = (df["income"] / 1_000).clip(0, top)
    revenue = np.array([price * (budgets >= price).sum() for price in prices])
    weights = np.exp(epsilon * revenue / (2 * top))
    chances = weights / weights.sum()
    return float(np.random.choice(prices, p=chances))


# --- 36: nested functions with nonlocal counters -----------------------------------------------------------------------------------------------------------------


def p36_nested(df: pd.DataFrame) -> dict[str, Any]:
    asked = 0

    def noisy(mask: pd.Series, parts: int) -> float:
        nonlocal asked
        asked += 1
        return float(mask.sum() + np.random.laplace(0, parts))

    def share(part: float, whole: float) -> float:
        return 0.0 if whole <= 0 else min(max(part / whole, 0.0), 1.0)

    vip = noisy(df["vip"], 2)
    plain = noisy(~df["vip"], 2)
    return {"vip": share(vip, vip + plain), "asked": asked}


# --- 37: dates of releases and formatted text ----------------------------------------------------------------------------------------------------------------------


TEMPLATE = """Report {version}
people: {people:>10,.0f}
visits: {visits:>10,.0f}
"""


def p37_template(df: pd.DataFrame, version: str = "1.2") -> str:
    scale = {"people": 1 / 0.4, "visits": 10 / 0.6}
    people = df.shape[0] + np.random.laplace(0, scale["people"])
    visits = df["visits"].clip(upper=10).sum() + np.random.laplace(0, scale["visits"])
    text = TEMPLATE.format(version=version, people=float(people), visits=float(visits))
    lines = [line.rstrip() for line in text.splitlines() if line]
    return "\n".join(lines)


# --- 38: a subsample with coins, rescaled ------------------------------------------------------------------------------------------------------------------------------


def p38_sample(df: pd.DataFrame) -> dict[str, float]:
    rate = 0.1
    rng = np.random.default_rng()
    kept = df[rng.random(len(df)) < rate]
    epsilon = math.log(1 + (math.e - 1) / rate)
    young = (kept["age"] < 30).sum() + rng.laplace(0, 1 / epsilon)
    estimate = float(young) / rate
    error = math.sqrt(2) / (epsilon * rate)
    return {"young": round(estimate, 1), "error": round(error, 2)}


# --- 39: dictionary dispatch with operator and partial -------------------------------------------------------------------------------------------------------------------


def in_band(ages: pd.Series, low: int, high: int) -> pd.Series:
    return (ages >= low) & (ages <= high)


def p39_dispatch(df: pd.DataFrame) -> dict[str, float]:
    tests: dict[str, Callable[[pd.Series], pd.Series]] = {
        "school": functools.partial(in_band, low=6, high=18),
        "work": functools.partial(in_band, low=19, high=66),
        "pension": functools.partial(in_band, low=67, high=120),
    }
    out = {name: float(test(df["age"]).sum() + np.random.laplace(0, 1.0)) for name, test in tests.items()}
    out["burden"] = (out["school"] + out["pension"]) / out["work"] if out["work"] > 1 else float("nan")
    return out


# --- 40: the whole report, with warnings and a summary ------------------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Row:
    name: str
    value: float
    note: str = ""


def rows_of(df: pd.DataFrame, epsilon: float) -> Iterable[Row]:
    yield Row("people", float(len(df) + np.random.laplace(0, 4 / epsilon)))
    income = df["income"].where(df["income"] < 100_000, 100_000)
    yield Row("income", float(income.sum() + np.random.laplace(0, 4 * 100_000 / epsilon)))
    yield Row("loyal", float(df["segment"].isin(["loyal"]).sum() + np.random.laplace(0, 4 / epsilon)))
    yield Row("old", float((df["age"] > 64).sum() + np.random.laplace(0, 4 / epsilon)))


def p40_report(df: pd.DataFrame) -> list[dict[str, Any]]:
    rows = list(rows_of(df, 1.0))
    people = max(rows[0].value, 1.0)
    for row in rows[1:]:
        if row.value < 0:
            row.note = "negative by chance"
            row.value = 0.0
    rows.append(Row("income each", rows[1].value / people))
    return [{"name": row.name, "value": round(row.value, 2), "note": row.note} for row in rows]
