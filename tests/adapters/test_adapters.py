"""Is a library's object recognised, and is what is missing or unknown said in one sentence?"""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from support.made_up_libraries import of_module, pretend

import dpaudit as dp
from dpaudit.neighbours import parse_relation
from dpaudit.targets.mechanism import LIBRARIES, adapted, answers, approximate, library_of, required


@pytest.mark.parametrize("adapter", LIBRARIES)
def test_objects_are_known_by_the_module_of_their_type(adapter):
    package = LIBRARIES[adapter].package
    assert library_of(of_module(package)) is LIBRARIES[adapter]
    assert library_of(of_module(f"{package}.deep.inside")) is LIBRARIES[adapter]
    assert library_of(of_module(f"{package}_of_somebody_else")) is None


def test_what_comes_from_elsewhere_is_nobodys():
    for made in (3, "text", len, np.zeros(2), object(), lambda data: data):
        assert library_of(made) is None
        assert adapted(made) is None


@pytest.mark.slow
def test_adapters_import_no_library():
    code = (
        "import importlib, sys\n"
        "from dpaudit.targets.mechanism import LIBRARIES\n"
        "for name in LIBRARIES: importlib.import_module('dpaudit.adapters.' + name)\n"
        "assert not {each.package for each in LIBRARIES.values()} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("adapter", LIBRARIES)
def test_a_missing_library_is_named_with_what_to_install(adapter, monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("dpaudit.targets.mechanism.version", missing)
    with pytest.raises(dp.UsageError) as caught:
        required(adapter)
    said = str(caught.value)
    assert f"{LIBRARIES[adapter].distribution} is not installed" in said
    assert f"pip install '{LIBRARIES[adapter].requirement}'" in said


@pytest.mark.parametrize(
    ("release", "fits"),
    [
        ("0.13.9", False),
        ("0.14", True),
        ("0.14.0", True),
        ("0.15.2rc1", True),
        ("0.16.9", True),
        ("0.17.0", False),
        ("1.0", False),
    ],
)
def test_only_supported_releases_pass(release, fits, monkeypatch):
    pretend(monkeypatch, "opendp", release=release)
    if fits:
        assert required("opendp")[1] == release
    else:
        with pytest.raises(dp.UsageError, match=r"0\.14 to 0\.16.*opendp>=0\.14,<0\.17") as caught:
            required("opendp")
        assert release in str(caught.value)


def test_one_supported_release_reads_as_one():
    assert LIBRARIES["pydp"].supported == "1.1"
    assert LIBRARIES["pydp"].requirement == "python-dp>=1.1,<1.2"


def test_a_library_that_does_not_import_is_a_sentence(monkeypatch):
    pretend(monkeypatch, "opendp")

    def broken(name):
        raise ImportError("cannot import name 'DOUBLE'")

    monkeypatch.setattr("dpaudit.targets.mechanism.importlib.import_module", broken)
    with pytest.raises(dp.UsageError, match="is installed but cannot be imported: ImportError: cannot import name"):
        required("opendp")


@pytest.mark.parametrize("adapter", [name for name, library in LIBRARIES.items() if not library.recognised])
def test_an_object_that_says_too_little_names_its_constructor(adapter):
    with pytest.raises(dp.UsageError, match=rf"dpaudit\.adapters\.{adapter}\.mechanism_of"):
        dp.load(of_module(LIBRARIES[adapter].package))


@pytest.mark.parametrize(
    ("size", "relation"),
    [
        (1, "queries"),
        (1.0, "queries"),
        (3, "queries(group=3)"),
        (2.5, "declared"),
        (0.1, "declared"),
        (0, "declared"),
        (1e308, "declared"),
    ],
)
def test_relations_of_answers(size, relation):
    found, unit = answers(size)
    assert found == relation
    assert str(parse_relation(found)) == relation
    assert f"{float(size):g}" in unit


def test_delta_zero_is_pure():
    assert approximate(1, 0) == dp.PureDP(1.0)
    assert approximate(1.0, 1e-5) == dp.ApproxDP(1.0, 1e-5)
