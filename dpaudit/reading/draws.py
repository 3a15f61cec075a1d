"""Which calls draw randomness, and by which law? One row a distribution, one table for all sources.

A *source* is a callable that draws: a function of `numpy.random`, `random` or `secrets`, a method of a generator, the
``rvs`` of a distribution of `scipy.stats`. What is not in the table draws nothing that is known here.
"""

from __future__ import annotations

import functools
import inspect
import random
import secrets
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

REQUIRED = object()
"""The default of an argument that has none."""
_SEED = np.random.seed
_OF_NUMPY_STATE = np.random.mtrand._rand
_OF_PYTHON_STATE: Any = random._inst


class Kind(Enum):
    """Which library draws, and so which type a single draw has."""

    GENERATOR = "numpy.random.Generator"
    LEGACY = "numpy.random"
    PYTHON = "random"
    SCIPY = "scipy.stats"
    SECRETS = "secrets"


@dataclass(frozen=True, slots=True)
class Law:
    """A distribution that a function draws from."""

    # of the kind of noise, as in `dpaudit.program.laws`, where it is location + noise of a scale; "uniform",
    # "choice", "bernoulli" where chances are known; "" for any other
    name: str
    # names of the arguments in their order, with their defaults; `size` is not among them
    parameters: Mapping[str, Any]
    location: str = ""  # which of them is added to the noise; "" if none
    scale: Callable[..., Any] | None = None  # the arguments → the scale of the noise


def _located(name: str, location: str = "loc", scale: str = "scale") -> Law:
    return Law(name, {location: 0.0, scale: 1.0}, location, lambda **given: given[scale])


def _unit(name: str) -> Law:
    return Law(name, {}, "", lambda **_: 1.0)


_UNIFORM = Law("uniform", {"low": 0.0, "high": 1.0}, "low", lambda low, high: high - low)
OF_NUMPY: dict[str, Law] = {
    "laplace": _located("laplace"),
    "normal": _located("gaussian"),
    "gumbel": _located("gumbel"),
    "logistic": _located("logistic"),
    "exponential": Law("exponential", {"scale": 1.0}, "", lambda scale: scale),
    "uniform": _UNIFORM,
    "standard_normal": _unit("gaussian"),
    "standard_exponential": _unit("exponential"),
    "random": _unit("uniform"),
    "random_sample": _unit("uniform"),
    "ranf": _unit("uniform"),
    "sample": _unit("uniform"),
    "geometric": Law("geometric", {"p": REQUIRED}),
    "binomial": Law("", {"n": REQUIRED, "p": REQUIRED}),
    "poisson": Law("", {"lam": 1.0}),
    "gamma": Law("", {"shape": REQUIRED, "scale": 1.0}),
    "standard_gamma": Law("", {"shape": REQUIRED}),
    "beta": Law("", {"a": REQUIRED, "b": REQUIRED}),
    "chisquare": Law("", {"df": REQUIRED}),
    "f": Law("", {"dfnum": REQUIRED, "dfden": REQUIRED}),
    "noncentral_chisquare": Law("", {"df": REQUIRED, "nonc": REQUIRED}),
    "noncentral_f": Law("", {"dfnum": REQUIRED, "dfden": REQUIRED, "nonc": REQUIRED}),
    "standard_t": Law("", {"df": REQUIRED}),
    "standard_cauchy": Law("", {}),
    "lognormal": Law("", {"mean": 0.0, "sigma": 1.0}),
    "triangular": Law("", {"left": REQUIRED, "mode": REQUIRED, "right": REQUIRED}),
    "weibull": Law("", {"a": REQUIRED}),
    "pareto": Law("", {"a": REQUIRED}),
    "power": Law("", {"a": REQUIRED}),
    "rayleigh": Law("", {"scale": 1.0}),
    "vonmises": Law("", {"mu": REQUIRED, "kappa": REQUIRED}),
    "wald": Law("", {"mean": REQUIRED, "scale": REQUIRED}),
    "zipf": Law("", {"a": REQUIRED}),
    "logseries": Law("", {"p": REQUIRED}),
    "negative_binomial": Law("", {"n": REQUIRED, "p": REQUIRED}),
    "hypergeometric": Law("", {"ngood": REQUIRED, "nbad": REQUIRED, "nsample": REQUIRED}),
}
"""Distributions of NumPy whose arguments are numbers or arrays, and which take ``size`` after them."""
OF_NUMPY_ALONE = (
    "rand", "randn", "integers", "randint", "random_integers", "tomaxint", "choice", "permutation", "permuted",
    "shuffle",    "multinomial", "dirichlet", "multivariate_normal", "multivariate_hypergeometric", "bytes",
)  # fmt: skip
"""Other draws of NumPy, each of which a call makes as it is."""
OF_RANDOM: dict[str, Law] = {
    "random": _unit("uniform"),
    "uniform": Law("uniform", {"a": REQUIRED, "b": REQUIRED}, "a", lambda a, b: b - a),
    "gauss": _located("gaussian", "mu", "sigma"),
    "normalvariate": _located("gaussian", "mu", "sigma"),
    "expovariate": Law(
        "exponential", {"lambd": 1.0 if sys.version_info >= (3, 12) else REQUIRED}, "", lambda lambd: 1.0 / lambd
    ),
}
OF_RANDOM_ALONE = (
    "choice", "choices", "sample", "shuffle", "randint", "randrange", "getrandbits", "randbytes", "betavariate",
    "gammavariate", "lognormvariate", "paretovariate", "triangular", "vonmisesvariate", "weibullvariate",
    "binomialvariate",
)  # fmt: skip
OF_SCIPY: dict[str, str] = {
    "laplace": "laplace", "norm": "gaussian", "gumbel_r": "gumbel", "expon": "exponential", "logistic": "logistic",
    "uniform": "uniform", "dlaplace": "", "geom": "", "bernoulli": "", "binom": "", "poisson": "", "randint": "",
}  # fmt: skip
"""Distributions of SciPy that are location + noise of a scale, by their names; "" where another law draws."""
OF_SECRETS = ("choice", "randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe")


@dataclass(frozen=True, slots=True)
class Failed:
    """Stands on a tape for a draw that raised."""

    error: Exception


@dataclass(frozen=True, slots=True)
class NoiseSource:
    """What a callable draws."""

    kind: Kind  # the library
    name: str  # of the function or method
    law: Law | None  # None where its arguments are not those of a row of a table, and a call is made as it is
    owner: Any = None  # the generator or distribution that a method belongs to; None for a function of a module
    # whether the owner was made with a fixed seed, as far as is known
    seeded: bool = field(default=False, compare=False)

    @property
    def has_own_state(self) -> bool:
        """Whether a distribution of SciPy draws from a generator that was given to it."""
        if self.kind is not Kind.SCIPY:
            return False
        return getattr(self.owner, "random_state", None) is not _OF_NUMPY_STATE

    @property
    def title(self) -> str:
        """What people call it."""
        module = {Kind.GENERATOR: "Generator", Kind.LEGACY: "np.random", Kind.SCIPY: "scipy.stats"}
        return f"{module.get(self.kind, self.kind.value)}.{self.name}"

    def takes(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether a function that is written in Python takes such arguments; of any other it is not known here."""
        owners: dict[Kind, Any] = {Kind.PYTHON: random, Kind.SECRETS: secrets}
        function = getattr(owners.get(self.kind), self.name, None)
        if not isinstance(function, types.FunctionType | types.MethodType):
            return True
        try:
            inspect.signature(function).bind(*args, **keywords)
        except TypeError:
            return False
        return True

    def bound(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[dict[str, Any], Any] | None:
        """Return the arguments of a call by name, with defaults, and its ``size``."""
        if self.law is None:
            return None
        names = list(self.law.parameters)
        if len(args) > len(names) + (self.kind is not Kind.PYTHON):
            return None
        given = dict(zip(names, args, strict=False))
        size = args[len(names)] if len(args) > len(names) else None
        for name, value in keywords.items():
            if name == "size" and self.kind is not Kind.PYTHON and size is None:
                size = value
            elif name in self.law.parameters and name not in given:
                given[name] = value
            elif name != "random_state" or value is not None:
                return None
        for name, default in self.law.parameters.items():
            if name not in given:
                if default is REQUIRED:
                    return None
                given[name] = default
        return {name: given[name] for name in names}, size


@functools.cache
def _by_identity() -> dict[int, tuple[Any, NoiseSource]]:
    """Return the functions of modules that draw, by their identity."""
    modules: tuple[tuple[types.ModuleType, Kind, Mapping[str, Law], tuple[str, ...]], ...] = (
        (np.random, Kind.LEGACY, OF_NUMPY, OF_NUMPY_ALONE),
        (random, Kind.PYTHON, OF_RANDOM, OF_RANDOM_ALONE),
        (secrets, Kind.SECRETS, {}, OF_SECRETS),
    )
    rows = [
        (getattr(module, name), NoiseSource(kind, name, laws.get(name)))
        for module, kind, laws, alone in modules
        for name in (*laws, *alone)
        if _is_of_library(getattr(module, name, None))
    ]
    return {id(function): (function, source) for function, source in rows}


def _is_of_library(function: Any) -> bool:
    """Whether a function of a module draws from the state of that module: what a user put there does something else."""
    if type(function) is types.FunctionType:
        return function.__code__.co_filename == secrets.__file__
    if getattr(function, "__module__", "") == _SEED.__module__ and type(function) is type(_SEED):
        return True
    return getattr(function, "__self__", None) in (_OF_NUMPY_STATE, _OF_PYTHON_STATE, secrets._sysrand)  # type: ignore[attr-defined]


MAKERS = (np.random.default_rng, np.random.Generator, np.random.RandomState, random.Random, random.SystemRandom)
"""What makes a source: a generator."""
SEEDERS = (np.random.seed, random.seed)
"""What fixes the noise of the functions of a module: no noise is left."""


def is_maker(function: Any) -> bool:
    """Whether a call makes a generator."""
    return any(function is each for each in MAKERS)


def is_seeder(function: Any) -> bool:
    """Whether a call seeds a generator that is there."""
    if any(function == each for each in SEEDERS):
        return True
    owner = getattr(function, "__self__", None)
    return getattr(function, "__name__", "") in ("seed", "setstate", "set_state") and isinstance(
        owner, random.Random | np.random.RandomState
    )


def source_of(function: Any) -> NoiseSource | None:
    """Return what a callable draws; None if it is no source that is known here."""
    known = _by_identity().get(id(function))
    if known is not None and known[0] is function:
        return known[1]
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is None or isinstance(owner, types.ModuleType) or type(function) not in BOUND:
        return None
    if _draws_as(owner, np.random.Generator) and name in (*OF_NUMPY, *OF_NUMPY_ALONE):
        return NoiseSource(Kind.GENERATOR, name, OF_NUMPY.get(name), owner)
    if _draws_as(owner, np.random.RandomState) and name in (*OF_NUMPY, *OF_NUMPY_ALONE):
        return NoiseSource(Kind.LEGACY, name, OF_NUMPY.get(name), owner)
    if _draws_as(owner, random.Random) and name in (*OF_RANDOM, *OF_RANDOM_ALONE):
        return NoiseSource(Kind.PYTHON, name, OF_RANDOM.get(name), owner)
    if name == "rvs":
        return _of_scipy(owner)
    return None


def _draws_as(owner: Any, kind: type) -> bool:
    """Whether a generator draws as its library does: a derived class has no method of its own there."""
    known = {*OF_NUMPY, *OF_NUMPY_ALONE, *OF_RANDOM, *OF_RANDOM_ALONE}
    if not issubclass(type(owner), kind):  # isinstance would ask the object
        return False
    own = type(owner).__mro__[: type(owner).__mro__.index(kind)]
    return not any(known & vars(each).keys() for each in own if each is not random.SystemRandom)


BOUND = (types.MethodType, types.BuiltinMethodType, type(np.random.default_rng(0).laplace))


def _of_scipy(owner: Any) -> NoiseSource | None:
    module = sys.modules.get("scipy.stats._distn_infrastructure")
    if module is None:
        return None
    frozen: Any = owner if isinstance(owner, module.rv_frozen) else None
    distribution: Any = owner if frozen is None else owner.dist
    if not isinstance(distribution, module.rv_generic):
        return None
    named = str(getattr(distribution, "name", ""))
    known = getattr(sys.modules["scipy.stats"], named, None)
    if type(distribution) is not type(known):
        return None  # a class of the user's that has the name
    name = OF_SCIPY.get(named)
    if not name:
        return NoiseSource(Kind.SCIPY, named, None, owner)
    if frozen is None:
        law = Law(name, {"loc": 0.0, "scale": 1.0}, "loc", lambda loc, scale: scale)
    else:
        given = {**dict(zip(("loc", "scale"), frozen.args, strict=False)), **frozen.kwds}
        loc, scale = given.get("loc", 0.0), given.get("scale", 1.0)
        law = Law(name, {}, "", lambda: scale)
        if np.any(np.asarray(loc) != 0):
            return NoiseSource(Kind.SCIPY, named, None, owner)
    return NoiseSource(Kind.SCIPY, named, law, owner)
