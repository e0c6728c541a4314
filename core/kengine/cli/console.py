"""Where output goes: results to stdout, everything else to stderr; colours and progress only on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 120


class Progress(Protocol):
    """Counts finished work."""

    def advance(self, note: str) -> None:
        """One more is done."""


def stdout() -> Console:
    """The console of results."""
    return _console(sys.stdout)


def stderr() -> Console:
    """The console of progress."""
    return _console(sys.stderr)


def _console(stream: IO[str]) -> Console:
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    terminal = stream.isatty()
    columns = os.environ.get("COLUMNS", "")
    width = None if terminal else int(columns) if columns.isdigit() and int(columns) > 20 else _WIDTH
    return Plain(file=stream, force_terminal=terminal, width=width, highlight=False, markup=False, emoji=False)


@contextmanager
def progress(total: int, what: str, quiet: bool) -> Iterator[Progress]:
    """A bar on stderr while work goes on; silent when that is no terminal, when told so, or for a single piece."""
    if quiet or total < 2 or not sys.stderr.isatty():
        yield _Silent()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    last = TextColumn("{task.fields[note]}", markup=False)
    # Results go to stdout while the bar is drawn: rich must not take that stream over.
    with Bar(*columns, last, console=stderr(), transient=True, redirect_stdout=False) as bar:
        yield _Bar(bar, bar.add_task(what, total=total, note=""))


class _Silent:
    def advance(self, note: str) -> None:
        pass


class _Bar:
    def __init__(self, bar: object, task: object) -> None:
        self._bar = bar
        self._task = task

    def advance(self, note: str) -> None:
        from kengine.report.plain import clean

        self._bar.update(self._task, advance=1, note=clean(note, lines=False))  # type: ignore[attr-defined]
