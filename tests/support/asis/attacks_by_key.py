"""Wrong functions: dicts in which a loop over records adds up by key, and what shows which keys there are."""
import collections
from collections import Counter, defaultdict
import numpy as np
DOMAIN = {"age": list(range(121)), "city": list("abc")}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
SHARED = {}
def made(): return SHARED
def w01_by_key(df):
    keep = []
    def dict():
        d = {}; keep.append(d); return d
    kept = dict()
    for key, n in df["city"].value_counts().sort_index().items():
        noisy = n + lap(1)
        if noisy > 30: kept[key] = noisy
    return len(df) if keep[0] else 0.0
def w02_by_key(df):
    keep = []
    def Counter():
        d = {}; keep.append(d); return d
    d = Counter()
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return len(keep[0])
def w03_by_key(df):
    d = made()
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return len(SHARED)
def w04_by_key(df):
    d = e = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return len(e)
def w05_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return d
def w06_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return bool(d)
def w07_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return {**d}
def w08_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    if d: return 0.0
    return 1.0
def w09_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return d == {}
def w10_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return d["a"] + lap(1)
def w11_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return d.get("a", 5) + lap(1)
def w12_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 1) + 1
    return d.get("a", 0) + lap(1)
def w14_by_key(df):
    d = {}; n = 0
    for c in df["city"]:
        d[c] = d.get(c, 0) + 1
        n += len(d)
    return n + lap(1)
def w16_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return d.get("a", 0) + lap(1)
def w18_by_key(df):
    d = defaultdict(lambda: 0)
    for c in df["city"]: d[c] += 1
    return d["a"] + lap(.5)
def w19_by_key(df):
    d = defaultdict(int)
    for a in df["age"]: d[a % 2] += a
    return d[0] + lap(100)
def w20_by_key(df):
    d = defaultdict(int)
    for a in df["age"]: d[a % 2] += a
    return d[True] + lap(100)
def w21_by_key(df):
    d = defaultdict(int)
    for a in df["age"]: d[float(a)] += 1
    return d[1] + lap(.5)
def w22_by_key(df):
    d = defaultdict(int)
    for c in df["city"]: d[c] += 1
    x = d["a"]; return x + lap(1), d["a"] + lap(1)
def w23_by_key(df):
    d = defaultdict(int)
    for c in df["city"]:
        d[c] += 1; d[c] += 1
    return d["a"] + lap(1)
def w24_by_key(df):
    d = defaultdict(int)
    for c in df["city"]:
        d["all"] += 1; d[c] += 1
    return d["a"] + lap(2), d["all"] + lap(1)
def w25_by_key(df):
    d = defaultdict(int)
    for c in df["city"]: d[c] -= 1
    return d["a"] + lap(.9)
def w27_by_key(df):
    d = Counter()
    for c in df["city"]: d[c] += 1
    return d.most_common(1)
def w28_by_key(df):
    d = Counter()
    for c in df["city"]: d[c] += 1
    return d.total() + lap(.5)
def w30_by_key(df):
    d = defaultdict(int)
    for c in df["city"]: d[c] += 1
    del d["a"]
    return d["a"] + lap(.5)
def w31_by_key(df):
    d = defaultdict(int)
    for c in df["city"]: d[c] += 1
    return max(d, key=d.get)
def w32_by_key(df):
    d = defaultdict(int)
    for c in df["city"]: d[c] += 1
    return sum(d.values()) + lap(.5)
def w33_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return d.pop("a", 0) + lap(1)
def w34_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return isinstance(d.get("a", 0.0), int)
def w36_by_key(df):
    d = {}
    for c, a in zip(df["city"], df["age"]):
        d.setdefault(c, a)
        d[c] += 1
    return d.get("a", 0) + lap(1)
def w41_by_key(df):
    d = defaultdict(int)
    for c in df["city"]: d[c] += 1
    return [lap(1) for k in d]
def w42_by_key(df):
    d = {}
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return float(d.get("a")) + lap(1)
def w43_by_key(df):
    d = {}
    f = lambda: len(d)
    for c in df["city"]: d[c] = d.get(c, 0) + 1
    return f()
# --- right ones
def p46_default(df):
    counts = defaultdict(int)
    for city in df["city"]: counts[city] += 1
    return [counts[c] + lap(1) for c in "abc"], counts["elsewhere"] + lap(1)
def p47_get(df):
    counts = {}
    total = 0
    for row in df.itertuples():
        key = (row.city, row.age > 50)
        counts[key] = counts.get(key, 0) + 1
        total += 1
    return counts.get(("a", True), 0) + lap(2), total + lap(2)
def p48_sums(df):
    sums = collections.defaultdict(float)
    for city, age in zip(df["city"], df["age"]):
        if age > 10: sums[city] += min(age, 100)
    return {c: sums[c] + lap(100) for c in "abc"}
def p49_set(df):
    counts = Counter()
    for city in df["city"]: counts[city] += 1
    other = {}
    for city in df["city"]:
        other.setdefault(city, 0)
        other[city] += 2
    return [counts[c] + lap(2) for c in "abc"], [other.get(c, 0) + lap(4) for c in "abc"]
