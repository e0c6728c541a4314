"""The table in the end: one row for each verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kengine.model import Status, Verdict
from kengine.report.plain import clean, cut, place, shared_folder
from kengine.report.summary import error_text, speed_text, worst

STYLES = {Status.passed: "bold green", Status.unsupported: "bold yellow", Status.too_slow: "bold magenta"}
"""Colour of a status; every other one is red."""

_MESSAGE = 400


def cell(text: str, style: str = "", lines: bool = True) -> Text:
    """Text made safe; every text that reaches a terminal goes through here."""
    return Text(clean(text, lines), style=style)


def status_text(status: Status) -> Text:
    """A status in its colour."""
    return Text(str(status), style=STYLES.get(status, "bold red"))


def verdict_table(verdicts: Sequence[Verdict], errors: Sequence[tuple[str, str, str]] = ()) -> RenderableType:
    """Rows of verdicts in the given order, then rows of (file, kind, message) for files that got none.

    Columns that would be the same in every row, or empty in all, and a folder that all files share are left out of
    the rows and said in the last lines.
    """
    places = [place(v) for v in verdicts]
    files = [clean(file, lines=False) for file, _, _ in errors]
    folder = shared_folder([*places, *files])
    timed = any(v.stages.time is not None or v.speedup is not None for v in verdicts)
    targets = {str(v.target) for v in verdicts}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, expand=False)
    table.add_column("candidate", overflow="fold", min_width=12, max_width=48)
    if len(targets) > 1:
        table.add_column("target", no_wrap=True, min_width=max(map(len, targets)))
    table.add_column("status", no_wrap=True, min_width=max(len(v.status) for v in verdicts) if verdicts else None)
    table.add_column("error/tol", justify="right", no_wrap=True, min_width=9)
    if timed:
        table.add_column("speed", overflow="fold", min_width=13)
    table.add_column("message", overflow="fold", min_width=20, ratio=1)
    for verdict, where in zip(verdicts, places):
        row: list[RenderableType] = [cell(where[len(folder) :])]
        if len(targets) > 1:
            row.append(cell(str(verdict.target)))
        row += [status_text(verdict.status), cell(error_text(worst(verdict)))]
        if timed:
            row.append(cell(speed_text(verdict), lines=False))
        row.append(cell(first_line(verdict.message)))
        table.add_row(*row)
    for file, (_, kind, message) in zip(files, errors):
        blanks = [Text("-")] * (len(table.columns) - 3)
        table.add_row(cell(file[len(folder) :]), cell(kind, "bold yellow"), *blanks, cell(first_line(message)))
    return Group(table, Text(""), _totals(verdicts, errors, folder))


def first_line(message: str) -> str:
    """The first line of a message, made safe and cut."""
    line = next((part for part in message.splitlines() if part.strip()), "")
    return clean(cut(line, _MESSAGE).replace("\n", " "))


def _totals(verdicts: Sequence[Verdict], errors: Sequence[tuple[str, str, str]], folder: str) -> Text:
    counts = Counter(v.status for v in verdicts)
    parts = [f"{number} {status}" for status in Status if (number := counts[status])]
    if errors:
        parts.append(f"{len(errors)} without a verdict")
    where = sorted({f"{v.target}{' (emulator)' if v.emulated else ''}" for v in verdicts})
    text = ", ".join(parts) or "no candidate"
    if where:
        text += f" on {', '.join(where)}"
    if folder:
        text += f", in {folder}"
    if any(v.self_referenced for v in verdicts):
        text += "; self-referenced: the candidate's own file holds the reference"
    return cell(text)
