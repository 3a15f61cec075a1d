"""Right functions of 40 to 60 lines, as analysts of several teams write them, with helpers of another module; not tuned on."""
import json
import logging
import math
from collections import namedtuple
from dataclasses import asdict, dataclass
from enum import Enum, IntEnum

import numpy as np
import pandas as pd

from support.asis.teams_helpers import Budget, histogram, noisy_count, noisy_sum, nonnegative, stage

logger = logging.getLogger("reports")
CITIES = ["a", "b", "c"]
PERSON = ("09",)


class Quality(IntEnum):
    LOW = 0
    FAIR = 1
    GOOD = 2


@dataclass(frozen=True)
class Summary:
    population: float
    mean_age: float
    mean_income: float
    quality: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def p01_demographics(people: pd.DataFrame, epsilon: float = 1.0) -> str:
    """A summary with a quality flag that depends on the noisy population."""
    rng = np.random.default_rng()
    budget = Budget(epsilon)
    with stage("population"):
        population = noisy_count(people, budget.take(0.2, "population"), rng)
    logger.info("population done, %.2f spent", budget.spent)
    with stage("ages"):
        ages = noisy_sum(people["age"], 0, 100, budget.take(0.4, "ages"), rng)
    with stage("incomes"):
        incomes = noisy_sum(people["income"], 0, 50_000, budget.take(0.4, "incomes"), rng)
    size = max(population, 1.0)
    mean_age = min(max(ages / size, 0.0), 100.0)
    mean_income = min(max(incomes / size, 0.0), 50_000.0)
    if population > 1_000:
        quality = Quality.GOOD
    elif population > 100:
        quality = Quality.FAIR
    else:
        quality = Quality.LOW
    logger.debug("quality %s", quality.name)
    if budget.spent > epsilon + 1e-9:
        raise RuntimeError("spent too much")
    summary = Summary(
        population=nonnegative(population, 0),
        mean_age=round(mean_age, 1),
        mean_income=round(mean_income, -2),
        quality=quality.name.lower(),
    )
    return summary.to_json()


def p02_by_city(people: pd.DataFrame, epsilon: float = 1.0) -> dict:
    """Counts and mean incomes by city; disjoint, so that they share the budget."""
    rng = np.random.default_rng()
    share = {"count": 0.5, "sum": 0.5}
    if not math.isclose(sum(share.values()), 1.0):
        raise ValueError("shares do not add up")
    eps_count, eps_sum = (epsilon * share[name] for name in ("count", "sum"))
    adults = people[(people["age"] >= 18) & people["income"].notna()]
    counts = histogram(adults["city"], CITIES, eps_count, rng)
    clipped = adults.assign(income=adults["income"].clip(0, 100_000))
    sums = clipped.groupby("city")["income"].sum().reindex(CITIES, fill_value=0)
    sums = sums + rng.laplace(0, 100_000 / eps_sum, size=len(CITIES))
    result = {}
    for city in CITIES:
        count, total = counts[city], sums[city]
        entry = {"count": nonnegative(count, 0)}
        if count < 10:
            logger.warning("few people in %s", city)
            entry["mean"] = None
            entry["note"] = "suppressed"
        else:
            mean = total / count
            entry["mean"] = round(min(max(mean, 0), 100_000), -1)
            entry["note"] = ""
        result[city] = entry
    order = sorted(result, key=lambda c: result[c]["count"], reverse=True)
    return {
        "cities": result,
        "largest": order[0],
        "epsilon": {"count": eps_count, "sum": eps_sum},
    }


Band = namedtuple("Band", "name low high")
BANDS = (Band("child", 0, 18), Band("adult", 18, 65), Band("senior", 65, 121))


def p03_bands(people: pd.DataFrame, epsilon: float = 1.0) -> list[dict]:
    """One row for each band of ages: people, and the share that lives in city a."""
    generator = np.random.default_rng()

    def released(rows: pd.DataFrame, eps: float) -> float:
        return generator.laplace(loc=len(rows), scale=1 / eps)

    rows = []
    half = epsilon / 2
    for band in BANDS:
        inside = people[(people["age"] >= band.low) & (people["age"] < band.high)]
        size = released(inside, half)
        of_a = released(inside[inside["city"] == "a"], half)
        match (size > 5, of_a > 0):
            case (True, True):
                share = min(1.0, of_a / size)
            case (True, False):
                share = 0.0
            case _:
                share = float("nan")
        rows.append(
            {
                "band": band.name,
                "from": band.low,
                "to": band.high - 1,
                "people": int(max(0, round(size))),
                "share_a": None if math.isnan(share) else round(share, 3),
            }
        )
        logger.info("band %s done", band.name)
    total = sum(row["people"] for row in rows)
    for row in rows:
        row["of_all"] = round(row["people"] / total, 3) if total else None
    return rows


class Release:
    """Keeps what was released under names."""

    def __init__(self, data: pd.DataFrame, epsilon: float):
        self._data = data
        self._epsilon = epsilon
        self._rng = np.random.default_rng()
        self.values: dict[str, float] = {}

    def __enter__(self):
        logger.info("opened")
        return self

    def __exit__(self, kind, value, traceback):
        logger.info("closed")
        return False

    @property
    def remaining(self) -> float:
        return self._epsilon

    def count(self, name: str, mask: pd.Series, epsilon: float) -> "Release":
        if epsilon > self._epsilon + 1e-12:
            raise ValueError(f"only {self._epsilon} left")
        self._epsilon -= epsilon
        self.values[name] = float(self._data[mask].shape[0] + self._rng.laplace(scale=1 / epsilon))
        return self


def p04_chained(people: pd.DataFrame, epsilon: float = 1.0) -> dict[str, float]:
    """Counts by an object that keeps the budget."""
    with Release(people, epsilon) as release:
        release.count("young", people["age"] < 30, epsilon / 4)
        release.count("rich", people["income"] > 60_000, epsilon / 4).count(
            "young_and_rich", (people["age"] < 30) & (people["income"] > 60_000), epsilon / 4
        )
        young = release.values["young"]
        if young < 20:
            logger.warning("too few for more")
            return {name: round(value, 1) for name, value in release.values.items()}
        release.count("in_b", people["city"].eq("b"), release.remaining)
    out = dict(release.values)
    out["rate"] = out["young_and_rich"] / max(out["young"], 1.0)
    out["rate"] = float(np.clip(out["rate"], 0.0, 1.0))
    for name in list(out):
        if name != "rate":
            out[name] = round(max(out[name], 0.0), 1)
    return out


def p05_quantiles(people: pd.DataFrame, epsilon: float = 1.0) -> dict[str, int]:
    """Quartiles of age by three noisy binary searches over a cumulative histogram."""
    rng = np.random.default_rng()
    edges = list(range(0, 121, 10))
    labels = [f"{low}-{low + 9}" for low in edges[:-1]]
    counts, _ = np.histogram(people["age"], bins=edges)
    noisy = counts + rng.laplace(0, 1 / epsilon, size=len(labels))
    noisy = np.maximum(noisy, 0.0)
    cumulative = np.cumsum(noisy)
    total = cumulative[-1]
    if total <= 0:
        logger.warning("nothing to see")
        return {"q25": 0, "q50": 0, "q75": 0}
    found = {}
    for name, level in (("q25", 0.25), ("q50", 0.50), ("q75", 0.75)):
        place = int(np.searchsorted(cumulative, level * total))
        place = min(place, len(labels) - 1)
        found[name] = edges[place] + 5
    ordered = [found[name] for name in ("q25", "q50", "q75")]
    if ordered != sorted(ordered):
        raise AssertionError("quartiles out of order")
    spread = found["q75"] - found["q25"]
    found["iqr"] = spread
    found["modal"] = edges[int(np.argmax(noisy))]
    return found


def p06_survey(people: pd.DataFrame, epsilon: float = 1.0) -> pd.DataFrame:
    """A cross table of city and band with totals, as a frame with flags."""
    rng = np.random.default_rng()
    bands = pd.cut(people["age"], bins=[0, 30, 60, 121], right=False, labels=["young", "middle", "old"])
    work = people.assign(band=bands.astype(str))
    table = (
        work.groupby(["city", "band"])
        .size()
        .unstack(fill_value=0)
        .reindex(index=CITIES, columns=["young", "middle", "old"], fill_value=0)
    )
    noisy = table + rng.laplace(0, 1 / epsilon, size=(len(CITIES), 3))
    noisy = noisy.clip(lower=0).round(1)
    noisy["total"] = noisy.sum(axis=1)
    noisy["is_small"] = noisy["total"] < 30
    shares = noisy[["young", "middle", "old"]].div(noisy["total"].where(noisy["total"] > 0, 1.0), axis=0)
    out = noisy.join(shares.add_prefix("share_").round(3))
    logger.info("table of %d rows", len(out))
    out.index.name = "city"
    return out.reset_index()


def p07_outliers(people: pd.DataFrame, epsilon: float = 1.0) -> dict:
    """An adaptive clip: the bound is chosen by the exponential mechanism, then used."""
    rng = np.random.default_rng()
    candidates = np.array([10_000, 20_000, 50_000, 100_000, 200_000], dtype=float)
    eps_choice, eps_sum, eps_count = epsilon * 0.3, epsilon * 0.5, epsilon * 0.2
    above = np.array([(people["income"] > c).sum() for c in candidates])
    target = 10.0
    scores = -np.abs(above - target)
    weights = np.exp(eps_choice * (scores - scores.max()) / 2)
    chosen = rng.choice(len(candidates), p=weights / weights.sum())
    logger.info("clip chosen")
    results = {}
    for place, bound in enumerate(candidates):
        if place == chosen:
            total = people["income"].clip(0, bound).sum() + rng.laplace(0, bound / eps_sum)
            results = {"bound": float(bound), "total": float(total)}
    size = noisy_count(people, eps_count, rng)
    results["size"] = max(float(size), 1.0)
    results["mean"] = results["total"] / results["size"]
    results["mean"] = min(max(results["mean"], 0.0), results["bound"])
    results["is_clipped"] = results["bound"] < 200_000
    return results


class Plan(Enum):
    FEW = ("few", 1)
    SOME = ("some", 2)
    MANY = ("many", 3)

    def __init__(self, label, queries):
        self.label = label
        self.queries = queries


def p08_plan(people: pd.DataFrame, epsilon: float = 1.0) -> dict:
    """A first count decides how many further counts are made, each of an equal share."""
    rng = np.random.default_rng()
    first, rest = epsilon / 5, epsilon * 4 / 5
    size = noisy_count(people, first, rng)
    if size > 10_000:
        plan = Plan.MANY
    elif size > 500:
        plan = Plan.SOME
    else:
        plan = Plan.FEW
    queries = [
        ("old", people["age"] >= 65),
        ("poor", people["income"] < 15_000),
        ("in_c", people["city"] == "c"),
    ][: plan.queries]
    each = rest / plan.queries
    answers = {}
    for name, mask in queries:
        value = people[mask].shape[0] + rng.laplace(0, 1 / each)
        try:
            answers[name] = {"value": round(value, 1), "share": round(value / size, 3)}
        except ZeroDivisionError:
            answers[name] = {"value": round(value, 1), "share": None}
    worst = max(answers, key=lambda name: answers[name]["value"])
    return {"plan": plan.label, "size": round(size), "answers": answers, "largest": worst}


def p09_persons(people: pd.DataFrame, epsilon: float = 1.0) -> dict:
    """Visits of persons with at most three rows each; totals and means of visits."""
    rng = np.random.default_rng()
    most = 3
    bounded = people.groupby("person").head(most)
    per_row = epsilon / 2
    visits = noisy_count(bounded, per_row / most, rng)
    spent = bounded["income"].fillna(0).clip(0, 1_000)
    total = spent.sum() + rng.laplace(0, most * 1_000 / per_row)
    mean = total / max(visits, 1.0)
    categories = {"low": (0, 100), "middle": (100, 500), "high": (500, 1_001)}
    label = "unknown"
    for name, (low, high) in categories.items():
        if low <= mean < high:
            label = name
            break
    report = {
        "visits": nonnegative(visits, 0),
        "total": nonnegative(total, 0),
        "mean": nonnegative(mean, 2),
        "label": label,
    }
    logger.info("report of %d fields", len(report))
    text = ", ".join(f"{key}={value}" for key, value in report.items())
    return {"report": report, "text": text}


def p10_partitions(people: pd.DataFrame, epsilon: float = 1.0, delta: float = 1e-5) -> dict:
    """Cities that enough people live in, and only those, with their noisy counts."""
    rng = np.random.default_rng()
    scale = 1 / epsilon
    threshold = 1 + scale * math.log(1 / delta)
    counts = people.groupby("city").size()
    kept: dict[str, float] = {}
    for city, count in counts.items():
        noisy = count + rng.laplace(0, scale)
        if noisy < threshold:
            continue
        kept[city] = round(float(noisy), 1)
    logger.info("selected")
    if not kept:
        return {"cities": [], "note": "none is large enough"}
    total = sum(kept.values())
    names = sorted(kept)
    return {
        "cities": names,
        "counts": kept,
        "total": round(total, 1),
        "note": "",
    }
