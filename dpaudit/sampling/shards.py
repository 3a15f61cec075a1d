"""How do many processes share the blocks of one audit? A folder to which each adds those that it has run.

Every process asks the same question and comes to the same lists of blocks, one list for each step of the audit. It runs
blocks that nobody has finished or begun, waits for the others, and goes on with all of them in their order. So each
process ends with the same evidence, and none is in charge.

What keeps the statistics honest: the folder belongs to one question (`plan.json`), with all versions and digests of
code; the list of a step is written down before its first block is run (`lists/`), and whoever comes to another list is
refused; a block stands under its key, once, and is complete or absent, since it gets its name after it was written; and
every draw hangs on the number of its block, so that a block of a lost worker is run again as it was. If a block was run
twice, both results must be equal.

Who works on which block is noted in `claims/`, which saves work and decides nothing: a claim of a worker that shows no
sign of life lapses. Nothing in the folder is code, and nothing is signed: who can write there can write false runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import platform
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.errors import UsageError
from dpaudit.sampling.kept import CHECKSUM, Keys, checksum, decoded, encoded, refuse_other

if TYPE_CHECKING:
    from dpaudit.sampling.blocks import Block, Experiment
    from dpaudit.sampling.play import BlockResult

Part = tuple["Experiment", "Block"]
Runner = Callable[[Iterable[Part]], "Iterator[BlockResult[Any]]"]

PLAN, COMMAND = "plan.json", "command.json"

_MAGIC = b"dpaudit block 1\n"
_PLAN_DIGEST = 16  # bytes
_BEAT, _LAPSE = 5.0, 30.0  # seconds between signs of life, and after which a claim lapses
_SOONEST, _LATEST = 0.05, 2.0  # seconds between two looks at what others have finished
_WINDOW = 64  # parts of a step that are made as they are needed


class UnfinishedError(UsageError):
    """Blocks are missing that this process was told not to run."""


class Shards:
    """One process's view of a folder of shared blocks."""

    def __init__(
        self,
        folder: str | Path,
        question: Mapping[str, Any],
        *,
        shard: tuple[int, int] | None = None,
        merging: bool = False,
    ) -> None:
        """Open a folder, or begin one.

        Args:
            folder: where the blocks are.
            question: everything that the answer depends on, as JSON values by name.
            shard: (i, n) for the i-th of n workers, from 1: its share of the blocks comes first.
            merging: run no block, and raise `UnfinishedError` where one is missing.

        Raises:
            UsageError: if the folder belongs to another question, or cannot be written.
        """
        self.folder, self._shard, self._merging = Path(folder).absolute(), shard, merging
        self._keys, self._step = Keys(), 0
        self._me = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._ended = threading.Event()
        with _said(self.folder):
            for name in ("blocks", "claims", "lists", "workers"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            asked = json.loads(json.dumps(question))
            plan = _once(self.folder / PLAN, json.dumps(asked, indent=1, sort_keys=True).encode())
            try:
                refuse_other(str(folder), json.loads(plan), asked)
            except ValueError as error:
                if isinstance(error, UsageError):
                    raise
                raise UsageError(f"{str(folder)!r} holds no plan of an audit; name another folder") from None
            self._plan = hashlib.sha256(plan).digest()[:_PLAN_DIGEST]
            if not merging:
                (self.folder / "workers" / self._me).touch()
                threading.Thread(target=self._live, name="dpaudit shards", daemon=True).start()

    def close(self) -> None:
        """Leave the folder."""
        self._ended.set()
        with contextlib.suppress(OSError):
            (self.folder / "workers" / self._me).unlink(missing_ok=True)

    def play(
        self, parts: Iterable[Part], reduce: Callable[..., Any], run: Runner, tell: Callable[[Block, int], None]
    ) -> Iterator[BlockResult[Any]]:
        """Yield the finished blocks of a step in their order; run those that nobody else runs.

        Args:
            parts: experiments and blocks.
            reduce: the reduction of their outputs.
            run: carries out some of them, and yields their results in order.
            tell: called with a block and how many runs of the step are finished, by anyone.

        Yields:
            The result of each block.
        """
        if isinstance(parts, Sequence):
            windows: Iterable[Sequence[Part]] = [parts] if parts else []
        else:
            coming = iter(parts)
            windows = iter(lambda: list(itertools.islice(coming, _WINDOW)), [])
        for window in windows:
            yield from self._played(window, reduce, run, tell)

    def _played(
        self, parts: Sequence[Part], reduce: Callable[..., Any], run: Runner, tell: Callable[[Block, int], None]
    ) -> Iterator[BlockResult[Any]]:
        keys = [self._key(*part, reduce) for part in parts]
        self._seal(keys)
        wanted = dict(zip(keys, parts, strict=True))
        pause = _SOONEST
        while missing := {key: place for place, key in enumerate(keys) if not self._has(key)}:
            if self._merging:
                raise self._unfinished(parts[0][1], len(missing), len(keys))
            done = sum(part[1].size for key, part in wanted.items() if key not in missing)
            claimed: list[str] = []
            ran = 0
            for played in run(wanted[key] for key in self._claims(missing, claimed)):
                self._add(claimed[ran], played)
                ran += 1
                done += played.block.size
                tell(played.block, done)
            if ran:
                pause = _SOONEST
            else:
                time.sleep(pause)
                pause = min(2 * pause, _LATEST)
        for key, (_, block) in zip(keys, parts, strict=True):
            found = self._found(key, block)
            if found is None:  # it was damaged
                if self._merging:
                    raise self._unfinished(block, 1, len(keys))
                found = next(iter(run([wanted[key]])))
                self._add(key, found)
            yield found

    def _unfinished(self, block: Block, missing: int, of: int) -> UnfinishedError:
        phase = block.phase.name.lower().replace("_", " ")
        return UnfinishedError(
            f"there is no verdict yet: blocks are missing in {str(self.folder)!r} ({phase} runs: {missing:,} of "
            f"{of:,}, and what follows them); run `dpaudit work {self.folder}` on any number of machines, and then "
            "this again"
        )

    # --- blocks -----------------------------------------------------------------------------------------------

    def _key(self, experiment: Experiment, block: Block, reduce: Callable[..., Any]) -> str:
        key = self._keys.of(experiment, block, reduce)
        if key is None:
            raise TypeError(f"{reduce!r} has no name that other processes know")
        return key.hex()

    def _path(self, key: str) -> Path:
        return self.folder / "blocks" / key

    def _has(self, key: str) -> bool:
        """Whether a block is finished; a damaged file is removed, and its block run again."""
        path = self._path(key)
        try:
            size = path.stat().st_size
        except OSError:
            return False
        if size > len(_MAGIC) + _PLAN_DIGEST + CHECKSUM:
            return True
        path.unlink(missing_ok=True)
        return False

    def _content(self, key: str) -> bytes | None:
        """What stands in the file of a block: None if it is damaged, which removes it."""
        whole = self._path(key).read_bytes()
        head, rest = whole[: len(_MAGIC)], whole[len(_MAGIC) :]
        plan, total, content = rest[:_PLAN_DIGEST], rest[_PLAN_DIGEST:][:CHECKSUM], rest[_PLAN_DIGEST + CHECKSUM :]
        if head == _MAGIC and plan != self._plan:
            raise UsageError(
                f"the block {key} in {str(self.folder)!r} was made for another plan (another question, version or "
                "code); take it away, and ask again"
            )
        if head != _MAGIC or checksum(content) != total:
            self._path(key).unlink(missing_ok=True)
            return None
        return content

    def _found(self, key: str, block: Block) -> BlockResult[Any] | None:
        content = self._content(key)
        found = None if content is None else decoded(content, block)
        if found is None or sum(found.sizes) != block.size:
            self._path(key).unlink(missing_ok=True)
            return None
        return found

    def _add(self, key: str, played: BlockResult[Any]) -> None:
        """Add a finished block. If another process was faster, both must have found the same."""
        content = encoded(bytes.fromhex(key), played)
        whole = _MAGIC + self._plan + checksum(content) + content
        with _said(self.folder):
            if _once(self._path(key), whole) != whole:
                if self._content(key) is not None:
                    raise UsageError(
                        f"two workers ran the block {key} in {str(self.folder)!r} and found different runs: the "
                        "mechanism draws from more than its generator, or their machines compute differently; there is "
                        "no verdict"
                    )
                _once(self._path(key), whole)  # what stood there was damaged
            (self.folder / "claims" / key).unlink(missing_ok=True)

    def _seal(self, keys: Sequence[str]) -> None:
        """Write down the list of a step before its first block is run; refuse to go on with another list."""
        if len(set(keys)) != len(keys):
            raise AssertionError("a block stands twice in a list")
        own = json.dumps({"step": self._step, "blocks": list(keys)}).encode()
        with _said(self.folder):
            if _once(self.folder / "lists" / f"{self._step:04d}.json", own) != own:
                raise UsageError(
                    f"this machine comes to another list of blocks in step {self._step} than {str(self.folder)!r} "
                    "holds: from the same learning runs, its processor or linear algebra computes another event; work "
                    "on machines of one kind"
                )
        self._step += 1

    # --- who works on what ------------------------------------------------------------------------------------

    def _claims(self, missing: Mapping[str, int], claimed: list[str]) -> Iterator[str]:
        """Yield blocks that nobody else runs, one's own share first, and note that this process runs them."""
        number, count = self._shard or (1, 1)
        for key in sorted(missing, key=lambda key: (missing[key] % count != number - 1, missing[key])):
            if not self._has(key) and self._claim(key):
                claimed.append(key)
                yield key

    def _claim(self, key: str) -> bool:
        path = self.folder / "claims" / key
        with _said(self.folder):
            if _once(path, self._me.encode()) == self._me.encode():
                return True
            if self._lives(path):
                return False
            _replaced(path, self._me.encode())
            return True

    def _lives(self, claim: Path) -> bool:
        """Whether the worker that made a claim shows signs of life, by the clock of the file system."""
        with contextlib.suppress(OSError):
            other = claim.read_text("utf-8", errors="replace")
            host, pid = other.rsplit("-", 2)[:2]
            if host == platform.node() and pid.isdecimal() and not _runs(int(pid)):
                return False
            ours = self.folder / "workers" / self._me
            ours.touch()
            return ours.stat().st_mtime - (self.folder / "workers" / other).stat().st_mtime < _LAPSE
        return False

    def _live(self) -> None:
        """Show signs of life until this process leaves."""
        while not self._ended.wait(_BEAT):
            with contextlib.suppress(OSError):
                (self.folder / "workers" / self._me).touch()


def seed_of(folder: str | Path, fresh: int) -> int:
    """Return the seed of a folder's audit: of all processes that name none, the first one's.

    Args:
        folder: where the blocks are; created if missing.
        fresh: a seed for a new folder.

    Raises:
        UsageError: if the folder cannot be used.
    """
    path = Path(folder).absolute()
    with _said(path):
        path.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            return int(json.loads((path / PLAN).read_bytes())["seed"])
        try:
            return int(_once(path / "seed", str(fresh).encode()))
        except ValueError:
            raise UsageError(f"{str(folder)!r} holds no audit; name another folder") from None


def note_command(folder: str | Path, command: Mapping[str, Any]) -> None:
    """Write down how an audit was asked for, so that workers can ask the same; raises `UsageError` if that fails."""
    path = Path(folder).absolute()
    with _said(path):
        path.mkdir(parents=True, exist_ok=True)
        if not (path / PLAN).exists():  # a command that was refused left none
            (path / COMMAND).unlink(missing_ok=True)
        _once(path / COMMAND, json.dumps(command, indent=1).encode())


def command_in(folder: str | Path) -> dict[str, Any]:
    """Return how the audit of a folder was asked for; raise `UsageError` if the folder does not say it."""
    path = Path(folder).absolute()
    try:
        found = json.loads((path / COMMAND).read_bytes())
        if not isinstance(found, dict):
            raise ValueError
        return found
    except FileNotFoundError:
        if (path / PLAN).exists():
            raise UsageError(
                f"the audit of {str(folder)!r} was asked for in Python: run the same script there, and it takes part"
            ) from None
        raise UsageError(
            f"{str(folder)!r} holds no audit; `dpaudit audit TARGET --shards {folder}` begins one"
        ) from None
    except (OSError, ValueError):
        raise UsageError(f"{str(path / COMMAND)!r} cannot be read; ask for the audit again") from None


# --- files ----------------------------------------------------------------------------------------------------


def _once(path: Path, content: bytes) -> bytes:
    """Write a file if there is none, complete or not at all; return what stands there."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    draft = _draft(path, content)
    try:
        os.link(draft, path)  # unlike a renaming, it never replaces what another process wrote
    except FileExistsError:
        return path.read_bytes()
    except OSError:  # a file system without links
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return content


def _replaced(path: Path, content: bytes) -> None:
    os.replace(_draft(path, content), path)


def _draft(path: Path, content: bytes) -> Path:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with open(draft, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return draft


def _runs(pid: int) -> bool:
    if sys.platform == "win32":  # where asking would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def _said(folder: Path) -> Iterator[None]:
    """Say what is wrong with a folder."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot share blocks in {str(folder)!r}: {error.strerror or error}") from None
