"""Lists that differ by run, JSON of what differs, and rolling windows: each function is one trap."""

import json

import numpy as np
import pandas as pd

CITIES = [f"c{k}" for k in range(6)]


def _noisy(scale=1.0):
    return np.random.laplace(0, scale)


def _large():
    return {c for c in CITIES if _noisy() > 0.3}


def e02(data):
    out = {}
    for c in sorted(_large(), reverse=True):
        out[c] = _noisy()
    return out


def e04(data):
    names = sorted(_large())
    for c in names:
        if c == "c1" and len(names) < 8:
            names.append("c9")
    return names


def e05(data):
    names = [c for c in CITIES if _noisy() > 0]
    found = 0
    for c in names:
        names.remove(c)
        found += 1
    return found, names


def e06(data):
    return sorted({k: _noisy() for k in CITIES if _noisy() > 0})


def e07(data):
    a, b = sorted(_large()), sorted(_large(), reverse=True)
    return [x + y for x in a for y in b]


def e08(data):
    total = 0
    for k in tuple(k for k in range(8) if _noisy() > 0):
        total += k * _noisy()
    return total


def e15(data):
    return any(_noisy() > 1 for c in sorted(_large())), sum(int(c[1:]) for c in sorted(_large()))


def e20(data):
    return json.dumps({"n": round(_noisy(), 2), "ok": _noisy() > 0, "k": int(_noisy(9)), "who": None, "x": [1, "é %s"]})


def e21(data):
    return json.dumps({"b": _noisy(), "a": "é" if _noisy() > 0 else "%d\n"}, sort_keys=True, ensure_ascii=False)


def e22(data):
    return json.dumps([_noisy() if _noisy() > 0 else float("nan"), (1, _noisy()), {}], indent=2)


def e23(data):
    value = _noisy()
    return json.dumps({1: value, "inf": value / 0.0 if value > 0 else -np.inf}, separators=(",", ":"))


def e24(data):
    return json.dumps({c: _noisy() for c in CITIES if _noisy() > 0})


def e25(data):
    return json.dumps({"np": np.float64(_noisy()), "mark": "<differs by run 0>"})


def e26(data):
    return json.dumps({"np": np.random.laplace(0, 1, 3).round().astype(int)[0]})


def e28(data):
    return json.dumps(_noisy()), json.dumps("a" if _noisy() > 0 else None), json.dumps(_noisy() > 0)


def _series(n=9):
    return pd.Series(np.random.laplace(0, 1, n), index=[f"k{i}" for i in range(n)], name="x")


def e41(data):
    return _series().rolling(4, center=True, min_periods=1).sum()


def e43(data):
    return _series().rolling(3, center=True).std(), _series().rolling(2).var(), _series().rolling(3).median()


def e44(data):
    return _series().round().astype(int).rolling(2).sum()


def e46(data):
    return (_series() / np.where(np.random.laplace(0, 1, 9) > 0, 1, 0)).rolling(3, min_periods=1).mean()


def e48(data):
    return _series().rolling(-1).mean()


def e49(data):
    return _series().rolling(3).quantile(0.5), _series().rolling(3).apply(np.ptp)


def e50(data):
    windows = _series().rolling(3)
    return windows.mean() + windows.sum(), [w.sum() for w in windows]


def e51(data):
    return (_series() if _noisy() > 0 else _series(5)).rolling(3, closed="both").mean().sum()


def e52(data):
    s = _series()
    w = s.rolling(2)
    s["k0"] = 100.0
    return w.sum()


def e53(data):
    return _series().rolling(3, win_type="triang").sum(), _series().rolling("3s").sum()
