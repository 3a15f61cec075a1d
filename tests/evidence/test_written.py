"""Is a file on the disk, whole, before it takes the place of the one before?"""

import os
import types

import pytest

from dpaudit.evidence import canonical_json


@pytest.fixture
def done(monkeypatch):
    """What is asked of the system, in order."""
    done = []

    def noted(name):
        def call(*given, **named):
            done.append(name)
            return getattr(os, name)(*given, **named)

        return call

    names = ("fsync", "chmod", "replace")
    system = types.SimpleNamespace(**{**vars(os), **{name: noted(name) for name in names}})
    monkeypatch.setattr(canonical_json, "os", system)
    return done


def test_its_content_is_flushed_before_and_its_name_after(done, tmp_path):
    canonical_json.write_whole(tmp_path / "a.json", "{}")

    assert done == ["fsync", "chmod", "replace", "fsync"]
    assert (tmp_path / "a.json").read_text() == "{}"
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
