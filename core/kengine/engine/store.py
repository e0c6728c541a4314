"""Finished verdicts on disk: one SQLite file in the run directory, safe against a kill at any moment."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kengine import codec
from kengine.errors import InfraError, UsageError
from kengine.model import Verdict


class Store:
    """Verdicts by key; several threads and several commands may share one file.

    Raises InfraError when the file cannot be read or written any more, as on a full disk.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "verdicts.sqlite"
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"run directory {folder}: cannot keep verdicts there: {error}") from error

    def get(self, key: str) -> Verdict | None:
        """The verdict of a key, None when there is none yet."""
        with self._lock, self._blame():
            row = self._db.execute("SELECT verdict FROM verdicts WHERE key = ?", (key,)).fetchone()
        return codec.loads(row[0], Verdict) if row else None

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict; the first one of a key stays, so that no verdict is doubled."""
        with self._lock, self._blame():
            self._db.execute("INSERT OR IGNORE INTO verdicts VALUES (?, ?)", (key, codec.dumps(verdict)))

    def __iter__(self) -> Iterator[Verdict]:
        with self._lock, self._blame():
            rows = self._db.execute("SELECT verdict FROM verdicts ORDER BY rowid").fetchall()
        return (codec.loads(row[0], Verdict) for row in rows)

    def __len__(self) -> int:
        with self._lock, self._blame():
            return int(self._db.execute("SELECT count(*) FROM verdicts").fetchone()[0])

    @contextmanager
    def _blame(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InfraError(f"run directory {self.path.parent}: verdicts cannot be kept there: {error}") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
