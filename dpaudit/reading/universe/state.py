"""What happens along one pass of a reading? Refusals, which stay; decisions on released values; releases.

A pass is a process of its own. Where a released value decides, the process forks: one of both goes on with each answer,
so that what lies before a decision is read once, and nothing that one path does can reach another.

What is not read is refused with why it is none, and a line that may be written in its place. In the lines, ``df`` is
the frame, ``x`` and ``y`` are its columns of numbers, ``n`` and ``m`` private numbers, ``laplace(…)`` is noise of the
scale that hides a record, and names in capitals are constants of the function; ``tests/reading/test_lessons.py`` reads
every one.
"""

from __future__ import annotations

import collections
import itertools
import os
import pickle
import sys
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dpaudit.reading.source import is_of_user
from dpaudit.reading.universe.steps import MadeStep
from dpaudit.settings import fork

MOST_FORKS = 60  # decisions on one path
MOST_REFUSALS = 20
MOST_STEPS = 2_000_000
AGAIN = 3  # the exit code of a process that asks for another pass


class RefusalError(Exception):
    """A table does not know what happens; caught by the hook, which notes it and goes on with an unknown value."""


class Left(BaseException):
    """The pass is over: it was refused where it cannot go on, or has to start again with other cells."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that is not read."""

    line: str  # where, such as "release.py:7"; "?" where that is not known, or said by `what`
    what: str  # what was written, and why it is not read
    instead: str = ""  # what to write in its place; "" where nothing is known

    def __str__(self) -> str:
        where = "" if self.line == "?" else f"{self.line}: "
        return f"{where}{self.what}" + (f"; write instead: {self.instead}" if self.instead else "")


@dataclass(frozen=True)
class Released:
    """Noise on private numbers, or a choice by private scores, as it is told to the reader of all passes."""

    law: str  # of the noise; "select" for the exponential mechanism
    axes: tuple[str, ...]  # the columns by whose cells records are told apart, sorted
    # low, high: what each kind adds to each number: (kinds, numbers)
    low: Any
    high: Any
    scales: Any  # of each number
    selection: Any  # by whose rows the numbers are made: see `columns.Selection`
    # number, rate and times of the Poisson sample that they are made of; None for all
    sample: tuple[int, float, int] | None
    line: str  # where
    details: tuple[tuple[str, float], ...] = ()  # further numbers of the law
    times: int = 1  # how often it is done, within steps that are repeated
    # whether ``high`` is how far each kind moves all numbers together, as a vector in Euclidean length
    is_ball: bool = False
    number: int = 0  # which of its path it is, counted from 1; 0 where nothing asks
    made: MadeStep | None = None  # how the numbers were made, for others to do again; None where no word fits


@dataclass
class Told:
    """What one process of a pass tells: what it released since it forked from its parent, and how it ended."""

    node: str
    parent: str
    releases: list[Released] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    cuts: dict[str, set[float]] = field(default_factory=dict)
    ended: str = "open"  # "forked", "returned", "raised", "left"
    ran: set[tuple[str, int]] = field(default_factory=set)
    blocks: set[tuple[str, int]] = field(default_factory=set)
    unknown_column: str = ""
    notes: set[str] = field(default_factory=set)
    sparse: list[tuple[Released, frozenset[int]]] = field(default_factory=list)  # in place of the releases numbered so
    granted: dict[str, bool] = field(default_factory=dict)  # statements on lines that were run: whether they are needed
    seconds: float = 0.0  # of the CPU
    at: str = "?"  # the line of the decision by which it forked


_COUNT = itertools.count()


def _node() -> str:
    return f"{os.getpid()}.{next(_COUNT)}"


class Pass:
    """The state of the pass that is being read, of which there is one in a process."""

    def __init__(self, pipe: int, *, person: str | None, persons: bool, replaced: bool) -> None:
        self.pipe, self.person, self.persons, self.replaced = pipe, person, persons, replaced
        self.told = Told(_node(), "")
        self.depth = self.steps = self.samples = self.attempts = self.record = self.records = 0
        self.handlers: collections.Counter[tuple[str, ...] | None] = collections.Counter()  # that could see exceptions
        self.is_over = self.has_choices = False
        self.times = 1
        self.levels = self.places = 0  # repeated steps, and computed columns, so far
        self.level: tuple[int, ...] = ()  # within which repeated steps this is
        self.sampled: dict[int, tuple[int, ...]] = {}  # within which each sample is drawn
        self.alive: weakref.WeakSet[Any] = weakref.WeakSet()
        self.released = 0  # numbers, so far on the path
        self.followed: dict[int, tuple[Any, Any]] = {}  # released numbers that are in nothing but comparisons
        self.chosen: list[list[Any]] = []  # noisy numbers of which the largest was asked, each time (`decisions`)
        self.tainted: dict[int, tuple[Any, Any]] = {}  # arrays and tables that were written into, and what they are now
        self.filled: dict[int, Any] = {}  # of arrays that private numbers were put into, what is in them
        self.of_key: Any = None  # the count of a key of the data, within a loop over them
        self.domain: Any = None  # which is asked of every operation
        self.assuming: Any = None  # the line that is evaluated of which it is given how far its value moves

    @property
    def scope(self) -> tuple[int, ...]:
        """Within which record and which repeated steps this is: what was made elsewhere may not be changed here."""
        return (self.record, *self.level)

    def tell(self) -> None:
        """Send what this process found."""
        self.told.seconds = time.process_time()
        data = pickle.dumps(self.told)
        written, whole = 0, len(data).to_bytes(8, "big") + data
        while written < len(whole):
            written += os.write(self.pipe, whole[written:])

    def decide(self, ways: Sequence[Any]) -> Any:
        """Return one way in this process, and each of the others in a process that forks from it."""
        if self.record:
            refuse("a decision on a released value within what is done with each record")
        self.depth += 1
        if self.depth > MOST_FORKS:
            refuse_and_leave(
                f"more than {MOST_FORKS} decisions on released values on one path",
                "bound the loop: for _ in range(10): …",
            )
        before = self.told
        before.ended, before.at = "forked", line()
        self.tell()
        for way in ways[1:]:
            child = fork()
            if child == 0:
                self.told = Told(_node(), before.node)
                return way
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status) == AGAIN:
                self.told = Told(_node(), before.node)
                self.leave()
        self.told = Told(_node(), before.node)
        return ways[0]

    def step(self) -> None:
        """Count an operation: a pass has an end; and one that is over stays over."""
        if self.is_over:
            raise Left
        self.steps += 1
        if self.steps > MOST_STEPS:
            refuse_and_leave(f"more than {MOST_STEPS:,} operations in one call", "")

    def note(self, refusal: Refused) -> None:
        """Keep a refusal; it stays, whatever the function catches.

        In a line of which it is given how far its value moves, the line keeps it (`assumed.evaluated`).
        """
        if self.assuming is not None and self.assuming.is_here():
            self.assuming.refused.append(refusal)
            return
        if refusal not in self.told.refused:
            self.told.refused.append(refusal)
        if len(self.told.refused) >= MOST_REFUSALS:
            self.leave()

    def leave(self) -> NoReturn:
        """End the pass."""
        self.is_over = True
        raise Left

    def cut(self, column: str, values: Sequence[float]) -> None:
        """Ask for cells that end at these values: the pass starts again with them."""
        self.told.cuts.setdefault(column, set()).update(values)
        self.leave()


_NOW: list[Pass] = []


def current() -> Pass:
    """Return the pass that is being read."""
    return _NOW[-1]


def current_domain() -> Any:
    """Return the domain of the pass."""
    return current().domain


def forget(token: Any) -> None:
    """Follow a released value no longer: something looks at it (`decisions`)."""
    if _NOW:
        _NOW[-1].followed.pop(id(token), None)


def written_into(value: Any) -> Any:
    """Return what an array or table stands for that something released was written into; None for any other."""
    known = _NOW[-1].tainted.get(id(value)) if _NOW else None
    return known[1] if known is not None and known[0] is value else None


def begin(state: Pass) -> None:
    """Make a pass the one that is being read."""
    _NOW[:] = [state]


def line() -> str:
    """Return where the function is: file and line."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_of_user(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "?"
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def refuse(what: str, instead: str = "") -> NoReturn:
    """Say that something is not read."""
    raise RefusalError(what, instead)


def refuse_and_leave(what: str, instead: str) -> NoReturn:
    """Say that something is not read where the pass cannot go on."""
    state = current()
    state.note(Refused(line(), what, instead))
    state.leave()


class Private:
    """A value that depends on the data; all that it can do stands in the tables of its class."""

    __slots__ = ("__weakref__",)
    noun = "private value"
    to_release = "n + laplace(…)"  # what to write before it is returned

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """Make a value of the pass that is read."""
        made = super().__new__(cls)
        if _NOW:
            _NOW[-1].alive.add(made)
        return made

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        """Whatever decides by it, and did not ask the domain, is refused."""
        if _NOW:
            _NOW[-1].note(Refused("?", f"a branch on a {self.noun}", NOISE_FIRST))
        return True

    def __repr__(self) -> str:
        return f"<{self.noun}>"

    def __reduce__(self) -> Any:
        refuse(f"a copy of a {self.noun}")

    def method(self, name: str) -> Any:
        """Return the method of this name that the tables know; None if none."""
        return None

    def get(self, name: str) -> Any:
        """Return an attribute, or raise `RefusalError`."""
        refuse(f".{name} of a {self.noun} is not known", NOISE_FIRST)


def noun_of(value: Any) -> str:
    """Return what a value is called in a sentence."""
    return value.noun if isinstance(value, Private) else type(value).__name__


class Unknown(Private):
    """What a refused operation gives: nothing more is said of it."""

    noun = "value that was refused"


NOISE_FIRST = "noisy = n + laplace(…); max(noisy, 0)"
"""Of a private number n: noise first, and then anything with what is released."""


def both(state: Pass) -> bool:
    """Decide on a released truth: both ways are read."""
    return bool(state.decide((True, False)))


_COUNTS = "{v: (x == v).sum() + laplace(…) for v in VALUES}"
_MEAN = "total = x.clip(LOW, HIGH).sum() + laplace(…); n = len(x) + laplace(…); total / max(n, 1)"
_MOMENTS = (
    "x = x.clip(LOW, HIGH); s, q = [each.sum() + laplace(…) for each in (x, x * x)]; "
    "n = max(len(x) + laplace(…), 1); q / n - (s / n) ** 2"
)
_PRODUCTS = (
    "x, y = x.clip(LOW, HIGH), y.clip(LOW, HIGH); [each.sum() + laplace(…) for each in (x, y, x * x, x * y, y * y)]"
)
_BY_KEY = "noisy = df.groupby(KEY)[NAME].sum().reindex(VALUES, fill_value=0) + laplace(…, size=len(VALUES)); "
_COIN = "df[np.random.random(len(df)) < RATE]"
SAMPLE = f"{_COIN}, a coin for each record"
REFUSED = "is not known to treat each record by itself, nor how far it moves"


def _grid(part: str) -> str:
    """Return a choice among public values, by how many records are on either side (Smith 2011)."""
    return (
        f"scores = np.array([-abs((1 - {part}) * (x < v).sum() - {part} * (x > v).sum()) for v in VALUES]); "
        "VALUES[np.argmax(scores + np.random.gumbel(0, SCALE, len(VALUES)))]"
    )


_LARGEST = (
    "scores = np.array([(x == v).sum() for v in VALUES]); "
    "VALUES[np.argmax(scores + np.random.gumbel(0, SCALE, len(VALUES)))]"
)
_LESSONS: tuple[tuple[str, str, str], ...] = (
    ("mean nanmean average fmean", "divides by a private number", _MEAN),
    ("std var nanstd nanvar stdev pstdev variance pvariance sem", "divides by a private number", _MOMENTS),
    ("skew kurt kurtosis", "divides by private numbers", _MOMENTS),
    ("corr cov corrcoef corrwith correlation covariance pearsonr spearmanr linregress linear_regression polyfit lstsq",
     "divides by private numbers", _PRODUCTS),
    ("median nanmedian median_low median_high", "is a value of one record", _grid("0.5")),
    ("quantile percentile nanquantile nanpercentile quantiles", "is a value of one record", _grid("PART")),
    ("max nanmax amax nlargest", "is a value of one record", _grid("0.99")),
    ("min nanmin amin nsmallest", "is a value of one record", _grid("0.01")),
    ("mode multimode", "is a value of records", _LARGEST),
    ("idxmax idxmin argmax argmin argsort", "shows a record", _LARGEST),
    ("unique Counter factorize drop_duplicates", "shows which values there are", _COUNTS),
    ("Categorical", "keeps values apart from their rows",
     "x.astype(pd.CategoricalDtype(VALUES)).value_counts(sort=False) + laplace(…, size=len(VALUES))"),
    ("describe", "shows values of single records", _MOMENTS),
    ("head tail iloc iat nth first last take", "hangs on the order of the records", _COIN),
    ("sample", "takes a number of records that hangs on how many there are", SAMPLE),
    ("sort_values sort sorted sort_index", "hangs on other records", _grid("0.5")),
    ("cumsum cummax cummin cumprod expanding", "adds up records before", f"{_BY_KEY}np.cumsum(noisy)"),
    ("rolling ewm shift diff pct_change ffill bfill interpolate rank convolve", "looks at other records",
     f"{_BY_KEY}noisy.rolling(3).sum()"),
    ("prod product", "is moved without bound by one record", "np.log(x.clip(1, HIGH)).sum() + laplace(…)"),
    ("empty any all equals", "shows whether there are records", "n = (x > LIMIT).sum() + laplace(…); n > 1"),
    ("to_csv to_dict to_json to_parquet to_excel to_pickle to_string to_html to_markdown to_records to_feather to_sql "
     "to_latex info plot hist boxplot items iteritems", "shows the records themselves", _COUNTS),
    ("melt stack unstack explode transpose T pivot", "takes rows apart",
     "[df[each].clip(LOW, HIGH).sum() + laplace(…) for each in NAMES]"),
)  # fmt: skip
LESSONS = {name: (why, instead) for names, why, instead in _LESSONS for name in names.split()}
"""Of methods and functions: why each is not read, and a line in its place."""
_ARRAY = "np.array([(x == v).sum() for v in VALUES]) + laplace(…, size=len(VALUES))"
_CLIPPED = "x.clip(LOW, HIGH).sum() + laplace(…)"
_EACH = "[df[each].clip(LOW, HIGH).sum() + laplace(…) for each in NAMES]"
_HISTOGRAM = "np.histogram(x, bins=EDGES)[0] + laplace(…, size=len(EDGES) - 1)"
_FORMS: tuple[tuple[str, str], ...] = (
    (
        _COUNTS,
        "a dict of released keys and private values|items() of this private table|keys() of a private array|"
        "pd.get_dummies of this",
    ),
    ("x.isna().sum() + laplace(…)", "'is' of a private value"),
    ("x.isin(VALUES).sum() + laplace(…)", "'in' of the data"),
    ("len(df.copy()) + laplace(…)", "copy(deep=False)"),
    ("len(x) + laplace(…)", "len() of a number"),
    ('df.rename(columns={NAME: "other"})["other"].clip(LOW, HIGH).sum() + laplace(…)', "rename other than by a dict"),
    ("len(df.merge(TABLE, on=KEY)) + laplace(…)", "merge of tables that share a column that they are not merged on"),
    (
        _EACH,
        "two columns of one name|a product of rows with what has another shape|"
        "arithmetic of a transposed private array",
    ),
    (
        f"{_BY_KEY}noisy",
        "a missing value among the labels|groupby by a column twice|rename of keys|rename of labels|"
        "a label that occurs twice|groupby with sort or observed other than True and False",
    ),
    (f"{_BY_KEY}noisy.tolist()", "tolist() of a private table"),
    (f"{_BY_KEY}noisy.sort_index()", "sort_index() of this private table"),
    (f"{_BY_KEY}np.cumsum(noisy)", "np.cumsum of this"),
    (_CLIPPED, "clip with the ends the wrong way round|a sum over an axis that is not there"),
    ("np.clip(x, LOW, HIGH).sum() + laplace(…)", "np.clip of this"),
    ("np.sum(x.clip(LOW, HIGH)) + laplace(…)", "np.sum of this"),
    ("np.count_nonzero(x > LIMIT) + laplace(…)", "np.count_nonzero of this"),
    ("np.where(x > LIMIT, 1, 0).sum() + laplace(…)", "np.where with an array of a length of its own"),
    ("np.select([x < LOW, x > HIGH], [LOW, HIGH], 1).sum() + laplace(…)", "np.select in this form"),
    (
        _ARRAY,
        "an array of this|np.stack in this form|an array of private numbers of several shapes|"
        "a sum of arrays of other shapes",
    ),
    (_HISTOGRAM, "np.histogram of this|pd.cut of this"),
    (_grid("0.99"), "np.max of this"),
    (_grid("0.5"), "np.median of this"),
    ("[(x == v).sum() + z for v, z in zip(VALUES, laplace(…, size=len(VALUES)))]", "a loop over a single draw"),
    (
        _LARGEST,
        "a choice by something else than a list of scores|a choice by scores at a factor that is not positive|"
        "a choice among another number of options than there are chances|the largest of one score|a sum of chances|"
        "arithmetic of scores less their largest",
    ),
)
FORMS = {what: instead for instead, several in _FORMS for what in several.split("|")}
"""Of forms that are not read, in the words of the refusal: a line in their place."""
ANY = "x.map(FUNCTION).clip(LOW, HIGH).sum() + laplace(…)"
"""In place of what is not known: a function of one value, and a sum with noise."""


def refuse_form(what: str) -> NoReturn:
    """Refuse a form of something that is read in others, with its lesson."""
    refuse(what, FORMS[what])


def refuse_by_name(name: str, of: str) -> NoReturn:
    """Refuse a method or a function of private values, with its lesson."""
    why, instead = LESSONS.get(name.removeprefix("."), (REFUSED, ANY))
    refuse(f"{name} of {of} {why}", instead)


def refuse_raising(what: str, error: BaseException) -> NoReturn:
    """Refuse what raises for a record: whether it does is private."""
    refuse(
        f"{what} raises {type(error).__name__} for some records of the domain: whether it does is private",
        "x.map(lambda v: FUNCTION(v) if v != 0 else 0).clip(LOW, HIGH).sum() + laplace(…)",
    )
