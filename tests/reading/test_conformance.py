"""Does every domain do what Python does: for every construct, in random programs, and in CPython's own tests?"""

import gc
import importlib.util
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.conformance import PROGRAMS, Adapter, called_alone, difference, outcome, program_of, programs
from support.nightly import mostly_at_night
from support.planted import MISTAKES
from support.random_code import random_code

from dpaudit.reading.expressions.domain import Expressions
from dpaudit.reading.expressions.graph import Graph
from dpaudit.reading.python import Python
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.runs.passes import UnreadError, make
from dpaudit.reading.universe import calls
from dpaudit.reading.universe.domain import Universe
from dpaudit.reading.universe.drive import texts_in
from dpaudit.reading.universe.state import Left, Pass, RefusalError, begin
from dpaudit.reading.universe.values import PUBLIC, sort_of
from dpaudit.tracing.domain import Following

_FROM_C = "called from C, or by a library, past the domain"
PYTHON = Adapter(
    "Python",
    lambda function: Python().run(function),
    unread={f"refused.{each.name}": "" for each in programs() if each.file.stem == "refused"},
    alone=dict.fromkeys(
        (
            "attacks_on_classes.b02",  # hash, equality and place
            "attacks_on_classes.b05",  # dict.fromkeys
            "attacks_on_classes.b10",  # dataclasses.replace
            "attacks_on_classes.b12",  # a class with a metaclass, total_ordering, Generic[int](…)
            "attacks_on_classes.b13",  # mixins of collections.abc
            "attacks_on_classes.b14",  # operator.add
            "classes.data_classes",  # dataclasses.replace
            "classes.descriptors",  # __get__, __set__, __init_subclass__, __class_getitem__
            "classes.enums",  # format of an IntEnum
            "flow.closing",
            "flow.context_managers",  # ExitStack.callback
            "flow.decorated_in_the_module",  # lru_cache
            "matching.user_mappings",  # mixins of collections.abc
            "matching.user_sequences",
            "special_methods.iterators",  # dict.fromkeys
            "special_methods.keys",  # __hash__ and __eq__ of keys and members
            "special_methods.odd_definitions",  # partialmethod
            "special_methods.sorting",  # total_ordering
            "special_methods.texts",  # "%s", str.format, repr of a list
            "special_methods.unary_and_numbers",  # __index__ of a place, __int__ and __float__ of "%d" and "%f"
            "special_methods.unequal_is_not_equal",  # __eq__ of members
        ),
        _FROM_C,
    ),
)


class _Alone(Pass):
    """A pass without a reader, of a program that decides nothing by what is released."""

    def tell(self):
        pass

    def decide(self, ways):
        raise UnreadableError("a decision on a released value")


def in_the_universe(function):
    """Run a program that is given no data: whatever is read of it is public."""
    calls.build()
    state = _Alone(-1, person=None, persons=False, replaced=False)
    begin(state)
    domain = Universe(state, frozenset(texts_in(function)))
    found = raised = None
    try:
        found = domain.call(function)
    except Left:
        pass
    except Exception as error:
        raised = error
    if state.told.refused or type(raised) is RefusalError:
        raise UnreadableError("; ".join(map(str, state.told.refused)) or str(raised))
    if raised is not None:
        raise raised
    if sort_of(found) != PUBLIC:
        raise UnreadableError("what is drawn is no public value")
    return domain.seen(found)


def in_expressions(function):
    """Run a program that is given no numbers."""
    domain = Expressions(Graph(), {})
    found = domain.run(function)
    if domain.releases:
        raise UnreadableError("what is drawn is no public value")
    return found


PAIR = Adapter("pair", lambda function: Following().run(function), PYTHON.unread)
ADAPTERS = [PYTHON, PAIR]
UNIVERSE = Adapter("universe", in_the_universe)
EXPRESSIONS = Adapter("expressions", in_expressions)
REFUSING = [PYTHON]
"""Those that refuse what they do not read; the others run it as it is, and follow its draws."""
FILES = sorted(PROGRAMS.glob("*.py"))


@pytest.fixture(scope="module")
def references():
    """What Python does, once for all adapters."""
    return {each: outcome(each, lambda function: function()) for each in programs() if each.file.stem != "refused"}


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_a_domain_does_what_python_does(adapter, file, references):
    for each in references:
        if each.file == file and each.title not in adapter.unread:
            assert not difference(each, adapter, references[each])


SILENT = {"flow.printing", "libraries.messages"}
"""Programs that print or warn, of which the universe keeps no word."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("adapter", [UNIVERSE, EXPRESSIONS], ids=lambda adapter: adapter.name)
def test_a_domain_of_few_constructs_does_what_python_does_or_refuses_in_words(adapter, file, references, monkeypatch):
    """Of what is read without data, every word has to be Python's."""
    monkeypatch.setattr("dpaudit.reading.universe.state.MOST_STEPS", 50_000)  # what is refused may loop without end
    for each in references:
        if each.file == file and each.title not in SILENT:
            try:
                told = difference(each, adapter, references[each])
            except UnreadableError as why:
                told = "" if len(str(why).split()) > 2 else f"refused without a word: {why}"
            assert not told


@pytest.mark.parametrize("adapter", REFUSING, ids=lambda adapter: adapter.name)
def test_what_is_not_read_is_refused_in_words(adapter, capsys):
    for each in programs():
        if each.title in adapter.unread:
            wanted = adapter.unread[each.title] or getattr(each.fresh(), each.name).__doc__
            with pytest.raises(UnreadableError) as refused:
                outcome(each, adapter.run)
            assert wanted in str(refused.value)
    with capsys.disabled():
        print(f"\n{adapter.name} does not read {len(adapter.unread)} programs:", *sorted(adapter.unread), sep="\n  ")


@pytest.mark.slow
@pytest.mark.parametrize("adapter", REFUSING, ids=lambda adapter: adapter.name)
def test_functions_that_run_past_the_domain_are_listed(adapter, capsys):
    read = [each for each in programs() if each.title not in adapter.unread]
    found = {each.title: names for each in read if (names := called_alone(each, adapter))}
    assert set(found) == set(adapter.alone)
    with capsys.disabled():
        print(f"\nFunctions that {adapter.name} does not see ({_FROM_C}):", *found.items(), sep="\n  ")


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
@pytest.mark.parametrize("part", mostly_at_night(range(3)))
@pytest.mark.slow
def test_random_programs(part, adapter, tmp_path):
    for seed in range(10 * part, 10 * part + 10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of random operands
            program = program_of(random_code(seed), tmp_path, f"random_{seed}")
            found = difference(program, adapter)
        assert not found, random_code(seed)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", mostly_at_night(MISTAKES, every=6))
def test_the_kit_notices_every_planted_mistake(mistake, references):
    wrong = Adapter(mistake, lambda function: MISTAKES[mistake]().run(function))

    def differs(program):
        try:
            return bool(difference(program, wrong, references[program]))
        except UnreadableError:
            return False

    assert any(map(differs, references))


OF_CPYTHON = (
    "grammar", "scope", "named_expressions", "patma", "unpack", "generators", "with", "augassign", "compare", "binop",
    "decorators", "class", "property", "super", "raise", "iter", "yield_from", "keywordonlyarg", "positional_only_arg",
    "bool", "contains", "richcmp", "contextlib",
)  # fmt: skip
KNOWN = {
    "test_annotations_constant_fold": "looks at the code that Python makes",
    "test_frame_resurrect": "looks at frames",
    "test_contextmanager_traceback": "counts the frames of a traceback, of which the domain has some",
    "test_exit_exception_traceback": "counts the frames of a traceback, of which the domain has some",
}
_SEEN = (
    "sees more than its arguments",
    "asynchronous",
    "metaclass",
    "except*",
    "kept from one call",
    "no first parameter",
)


@pytest.fixture
def few_objects():
    """They collect garbage often, which takes the longer the more objects the other tests left."""
    gc.freeze()


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="differences are known for 3.11")
@pytest.mark.parametrize("name", OF_CPYTHON)
@pytest.mark.filterwarnings("ignore")
def test_cpythons_own_tests(name, tmp_path):
    own = pytest.importorskip("test", reason="Python's own tests are not installed")
    original = Path(own.__file__).with_name(f"test_{name}.py")
    if not original.exists():
        pytest.skip(f"{original.name} is not installed")
    module = _copied(original, tmp_path)
    found, read = {}, 0
    for case in [
        each for each in vars(module).values() if isinstance(each, type) and issubclass(each, unittest.TestCase)
    ]:
        for test in unittest.TestLoader().getTestCaseNames(case) if case.__module__ == module.__name__ else ():
            python, domain = _ends(case(test), lambda function: function()), _ends(case(test), Python().run)
            refused = domain.startswith("UnreadableError") and any(word in domain for word in _SEEN)
            read += not refused
            if not refused and python != domain and test not in KNOWN:
                found[test] = python, domain
    assert not found
    assert read or name == "unpack"


def _copied(original, folder):
    """A file of the standard library, as one of the user's own."""
    file = folder / f"of_cpython_{original.name}"
    file.write_bytes(original.read_bytes())
    spec = importlib.util.spec_from_file_location(f"test.{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _ends(case, run):
    """How a test ends, by its exception."""
    try:
        case.setUp()
        try:
            run(getattr(case, case._testMethodName))
        finally:
            case.tearDown()
            case.doCleanups()
    except (Exception, unittest.SkipTest) as error:
        return f"{type(error).__name__}: {error}"
    return "passes"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_many_runs_are_what_the_function_returns_or_are_refused_in_words(file, references):
    """Every run is repeated by the function itself, so that what is read is right, or said not to be."""
    for each in references:
        if each.file == file:
            try:
                block = make(getattr(each.fresh(), each.name), (), {}, 6, np.random.SeedSequence(1), 6)
            except UnreadError as why:
                told = str(why)
            else:
                told = f"{sum(len(part.runs) for part in block.parts) + len(block.single)} runs are made"
            assert told == "6 runs are made" or "line" in told or len(told.split()) > 3
