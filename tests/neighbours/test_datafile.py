"""Does a file become the dataset that it holds?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpaudit import UsageError
from dpaudit.neighbours.data_files import read_dataset

FRAME = pd.DataFrame({"age": [31, 47], "mass": [3750.5, None], "kind": ["a", None]})


def test_tables_become_frames(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_parquet(tmp_path / "a.PARQUET")
    for name in ("a.csv", "a.PARQUET"):
        pd.testing.assert_frame_equal(read_dataset(tmp_path / name), FRAME)


def test_arrays_and_json_are_what_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    (tmp_path / "a.json").write_text('\ufeff[{"age": 31}, {"age": null}]', encoding="utf-8")
    assert read_dataset(tmp_path / "a.npy").tolist() == [0, 1, 2]
    assert read_dataset(tmp_path / "a.json") == [{"age": 31}, {"age": None}]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.xlsx", b"", "give a .csv, .parquet, .npy or .json file"),
        ("a", b"", "cannot tell how to read"),
        ("a.csv", b"", "cannot read the dataset"),
        ("a.parquet", b"no parquet", "cannot read the dataset"),
        ("a.npy", b"no array", "cannot read the dataset"),
        ("a.json", b"[1,", "cannot read the dataset"),
        ("a.json", b"[" * 100_000, "cannot read the dataset"),
        ("gone.csv", None, "No such file"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, content: Any, why: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=why):
        read_dataset(tmp_path / name)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(UsageError):
        read_dataset(tmp_path / "a.npy")


def test_parquet_without_pyarrow_is_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'dpaudit\[data\]'"):
        read_dataset(tmp_path / "a.parquet")
