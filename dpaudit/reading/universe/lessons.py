"""What may be written in place of what is not read? For each name why it is none, and a line that is read.

In the lines, ``df`` is the frame, ``x`` and ``y`` are its columns of numbers, ``n`` and ``m`` private numbers,
``laplace(…)`` is noise of the scale that hides a record, and names in capitals are constants of the function;
``tests/reading/test_lessons.py`` reads every one.
"""

from __future__ import annotations

from typing import NoReturn

from dpaudit.reading.universe.state import refuse

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
