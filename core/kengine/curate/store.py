"""The memory of a run: one SQLite file. What is committed survives a kill; what is not never happened.

Samples between two barriers lie in one table, `segment_N`; tasks apart, by digest; losses and counts beside them. Rows,
losses, counts and the position up to which the input has been dealt with are committed together, so that no row is
lost or doubled wherever the process dies.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from kengine import codec
from kengine.curate import rows
from kengine.curate.funnel import Funnel
from kengine.curate.record import Loss, Sample
from kengine.errors import InfraError, UsageError
from kengine.model import Task

NAME = "curate.sqlite"
_PAGE = 512
_TASKS_IN_MEMORY = 4096
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (digest TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS segments (n INTEGER PRIMARY KEY, position INTEGER NOT NULL, rows INTEGER NOT NULL,
  done INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS losses (n INTEGER PRIMARY KEY, segment INTEGER NOT NULL, stage TEXT NOT NULL,
  uid TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL, grp TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS funnel (segment INTEGER PRIMARY KEY, steps TEXT NOT NULL);
"""


class Store:
    """The SQLite file of one run; one process at a time. Raises UsageError when another one holds the folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(folder)
            self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            # rows of a few kilobytes fit into a page, and need no chain of them
            self._db.execute("PRAGMA page_size=16384")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA cache_size=-65536")
            self._db.execute("PRAGMA wal_autocheckpoint=2000")
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{folder}: cannot keep a run there: {error}") from error
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._digests: OrderedDict[int, tuple[Task, str]] = OrderedDict()

    @classmethod
    def over(cls, database: sqlite3.Connection, path: Path) -> Store:
        """A store that only reads, over a connection that is open; it holds no folder."""
        made = cls.__new__(cls)
        made.path, made._db, made._lock = path, database, -1
        made._tasks, made._digests = OrderedDict(), OrderedDict()
        return made

    def close(self) -> None:
        """Close the file and let go of the folder."""
        self._db.close()
        os.close(self._lock)

    def meta(self, key: str) -> str | None:
        """A value that was kept under a name."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value under a name."""
        with _disk(self.path):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def is_blank(self) -> bool:
        """Whether no part of any input is committed."""
        return self._db.execute("SELECT 1 FROM segments WHERE position > 0 OR done LIMIT 1").fetchone() is None

    def clear_meta(self) -> None:
        """Forget every value that was kept under a name."""
        with _disk(self.path):
            self._db.execute("DELETE FROM meta")

    def segment(self, n: int) -> Segment:
        """The n-th segment, created when it is not there."""
        with _disk(self.path):
            self._db.execute(
                f"CREATE TABLE IF NOT EXISTS segment_{n} "
                "(n INTEGER PRIMARY KEY, grp TEXT NOT NULL, sample BLOB NOT NULL)"
            )
            self._db.execute("INSERT OR IGNORE INTO segments VALUES (?, 0, 0, 0)", (n,))
        return Segment(self, n)

    def forget(self, n: int) -> None:
        """Drop the samples of a segment that nothing reads any more; its counts and losses stay."""
        with _disk(self.path):
            self._db.execute(f"DROP TABLE IF EXISTS segment_{n}")

    def last(self) -> Segment | None:
        """The segment that a finished run ended with; None for one that is not done."""
        n, undone = self._db.execute("SELECT max(n), sum(1 - done) FROM segments").fetchone()
        return Segment(self, n) if n is not None and not undone else None

    def losses(self) -> Iterator[Loss]:
        """Every loss so far, in order."""
        last = 0
        while True:
            page = self._db.execute(
                "SELECT n, uid, stage, reason, detail, grp, body FROM losses WHERE n > ? ORDER BY n LIMIT ?",
                (last, _PAGE),
            ).fetchall()
            if not page:
                return
            for n, *columns in page:
                last = n
                yield rows.decode_loss(*columns)

    def examples(self, most: int = 5) -> list[str]:
        """The first loss of each reason, the most frequent reasons first, each as one sentence."""
        found = self._db.execute(
            "SELECT stage, reason, uid, detail, min(n) FROM losses GROUP BY stage, reason "
            "ORDER BY count(*) DESC LIMIT ?",
            (most,),
        ).fetchall()
        return [f"{stage} {reason}: {uid}: {detail}" for stage, reason, uid, detail, _ in found]

    def funnel(self) -> Funnel:
        """The counts of every segment so far, in order of the stages."""
        steps = [
            step
            for (text,) in self._db.execute("SELECT steps FROM funnel ORDER BY segment")
            for step in json.loads(text)
        ]
        return Funnel.from_json(steps)

    def find_task(self, digest: str) -> Task:
        """The task of a digest; recently used ones stay in memory."""
        task = self._tasks.get(digest)
        if task is None:
            row = self._db.execute("SELECT record FROM tasks WHERE digest = ?", (digest,)).fetchone()
            task = codec.loads(row[0], Task)
            self._remember(digest, task)
        else:
            self._tasks.move_to_end(digest)
        return task

    def put_task(self, task: Task) -> str:
        """Keep a task and give its digest; a digest costs much, so it is remembered for each object."""
        known = self._digests.get(id(task))
        if known is not None and known[0] is task:
            return known[1]
        digest = task.digest
        self._digests[id(task)] = (task, digest)
        if len(self._digests) > _TASKS_IN_MEMORY:
            self._digests.popitem(last=False)
        if digest not in self._tasks:
            self._db.execute("INSERT OR IGNORE INTO tasks VALUES (?, ?)", (digest, codec.dumps(task)))
            self._remember(digest, task)
        return digest

    def _remember(self, digest: str, task: Task) -> None:
        self._tasks[digest] = task
        if len(self._tasks) > _TASKS_IN_MEMORY:
            self._tasks.popitem(last=False)


class Segment:
    """The samples that one pass over its input leaves behind, and how far that pass has come."""

    def __init__(self, store: Store, n: int) -> None:
        self.store = store
        self.n = n
        self._db = store._db
        self.position, self.rows, done = self._db.execute(
            "SELECT position, rows, done FROM segments WHERE n = ?", (n,)
        ).fetchone()
        self.done = bool(done)

    def __len__(self) -> int:
        return int(self.rows)

    def __iter__(self) -> Iterator[Sample]:
        return (sample for _, sample in self.read(0))

    def read(self, start: int) -> Iterator[tuple[int, Sample]]:
        """Samples with their position, 1-based; `start` of them are left out."""
        last = start
        while True:
            page = self._db.execute(
                f"SELECT n, sample FROM segment_{self.n} WHERE n > ? ORDER BY n LIMIT ?", (last, _PAGE)
            ).fetchall()
            if not page:
                return
            for last, text in page:
                yield last, rows.decode(text, self.store.find_task)

    def pick(self, order: Sequence[int]) -> Iterator[Sample]:
        """Samples by their 0-based numbers, in the order given."""
        for begun in range(0, len(order), _PAGE):
            wanted = [number + 1 for number in order[begun : begun + _PAGE]]
            marks = ",".join("?" * len(wanted))
            found = dict(self._db.execute(f"SELECT n, sample FROM segment_{self.n} WHERE n IN ({marks})", wanted))
            for number in wanted:
                yield rows.decode(found[number], self.store.find_task)

    def settle(self) -> bool:
        """Move everything from the log into the file itself; False when that cannot be done now."""
        busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    @contextmanager
    def reopen(self) -> Iterator[Segment]:
        """The same samples, to read in a forked process while nobody writes, after `settle`.

        The file is opened without locks: SQLite shares those, and the log beside the file, between all connections of
        what it takes for one process, and a forked one has that of its parent in memory.
        """
        address = f"file:{quote(str(self.store.path.absolute()))}?mode=ro&immutable=1&nolock=1"
        database = sqlite3.connect(address, uri=True)
        try:
            yield Segment(Store.over(database, self.store.path), self.n)
        finally:
            database.close()

    def is_single_group(self) -> bool:
        """Whether all samples are of one group."""
        low, high = self._db.execute(f"SELECT min(grp), max(grp) FROM segment_{self.n}").fetchone()
        return bool(low == high)

    def steps(self) -> Funnel:
        """The counts of this segment's stages so far."""
        row = self._db.execute("SELECT steps FROM funnel WHERE segment = ?", (self.n,)).fetchone()
        return Funnel.from_json(json.loads(row[0])) if row else Funnel()

    def clear(self) -> None:
        """Forget what was done, for a stage that can only begin anew."""
        with _disk(self.store.path):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(f"DELETE FROM segment_{self.n}")
            self._db.execute("DELETE FROM losses WHERE segment = ?", (self.n,))
            self._db.execute("DELETE FROM funnel WHERE segment = ?", (self.n,))
            self._db.execute("UPDATE segments SET position = 0, rows = 0, done = 0 WHERE n = ?", (self.n,))
            self._db.execute("COMMIT")
        self.position = self.rows = 0
        self.done = False

    def commit(self, samples: list[Sample], losses: list[Loss], position: int, funnel: Funnel, done: bool) -> None:
        """Write what a part of the input gave, in one transaction. Raises InfraError when the disk is full."""
        put = self.store.put_task
        self._write(
            lambda: [(s.group, rows.encode(s, put(s.task) if s.task is not None else "")) for s in samples],
            [loss_columns(x) for x in losses], position, funnel, done,
        )  # fmt: skip

    def commit_texts(
        self, texts: list[tuple[str, bytes]], tasks: list[tuple[str, str]], losses: list[LossColumns], position: int,
        funnel: Funnel, done: bool,
    ) -> None:  # fmt: skip
        """As `commit`, for samples (group and text) that are encoded already, with their tasks (digest and text)."""

        def put() -> list[tuple[str, bytes]]:
            self._db.executemany("INSERT OR IGNORE INTO tasks VALUES (?, ?)", tasks)
            return texts

        self._write(put, losses, position, funnel, done)

    def _write(
        self, samples: Callable[[], list[tuple[str, bytes]]], losses: list[LossColumns], position: int, funnel: Funnel,
        done: bool,
    ) -> None:  # fmt: skip
        with _disk(self.store.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                texts = samples()
                self._db.executemany(
                    f"INSERT INTO segment_{self.n} VALUES (?, ?, ?)",
                    [(n, group, text) for n, (group, text) in enumerate(texts, self.rows + 1)],
                )
                self._db.executemany(
                    "INSERT INTO losses (segment, stage, uid, reason, detail, grp, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(self.n, *columns) for columns in losses],
                )
                self._db.execute("INSERT OR REPLACE INTO funnel VALUES (?, ?)", (self.n, json.dumps(funnel.to_json())))
                self._db.execute(
                    "UPDATE segments SET position = ?, rows = ?, done = ? WHERE n = ?",
                    (position, self.rows + len(texts), int(done), self.n),
                )
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                # what put_task remembers may be gone with the transaction
                self.store._tasks.clear()
                self.store._digests.clear()
                raise
        self.position, self.rows, self.done = position, self.rows + len(texts), done


LossColumns = tuple[str, str, str, str, str, bytes]
"""A loss as the store keeps it: stage, uid, reason, detail, group, body."""


def loss_columns(loss: Loss) -> LossColumns:
    """A loss as the store keeps it."""
    return loss.stage, loss.uid, loss.reason, loss.detail, loss.group, rows.encode_loss(loss)


class _disk:
    """Turns what SQLite says of a full or failing disk into an error that names the file and what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (sqlite3.OperationalError, sqlite3.DatabaseError, OSError)):
            raise InfraError(
                f"{self.path}: cannot be written: {error}; nothing is half-written: make room, then run the same "
                "command again, it goes on where it was"
            ) from error


def _take_lock(folder: Path) -> int:
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
            raise
        raise UsageError(
            f"{folder}: another run is at work in this folder (process {holder}); wait for it, or give another `out`"
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def describe(found: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Keys in which two descriptions of settings differ, for a person."""
    return ", ".join(sorted(k for k in {*found, *wanted} if found.get(k) != wanted.get(k)))
