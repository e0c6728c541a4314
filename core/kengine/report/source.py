"""A source file with its findings marked, for the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from kengine.model import Finding, SourceFile, Verdict
from kengine.report.element import element, extend
from kengine.report.plain import count

_LINES = 1500
_COLUMNS = 2000


def source_view(file: SourceFile, findings: Sequence[Finding], verdict: Verdict, own: bool) -> Element:
    """Numbered lines; findings and the verdict's own line are marked with a note below each.

    A long file is cut around its marked lines, a long line at its end, and the page says so.
    """
    notes: dict[int, list[str]] = {}
    for f in findings:
        if f.line:
            notes.setdefault(f.line, []).append(f"{f.code} {f.message}")
    if own and verdict.line:
        first = verdict.message.splitlines()[0] if verdict.message else ""
        notes.setdefault(verdict.line, []).append(f"{verdict.status}: {first}")
    lines = file.text.splitlines()
    node = element("pre", class_="source")
    last = 0
    for number in _shown(len(lines), sorted(notes)):
        if number != last + 1:
            node.append(_row("", f"... {count(number - last - 1, 'line')} left out ..."))
        text = lines[number - 1]
        if len(text) > _COLUMNS:
            text = f"{text[:_COLUMNS]} ... {len(text) - _COLUMNS} characters left out"
        node.append(_row(str(number), text, number in notes))
        for note in notes.get(number, ()):
            node.append(element("span", note, class_="note"))
        last = number
    if last < len(lines):
        node.append(_row("", f"... {count(len(lines) - last, 'line')} left out ..."))
    return node


def _shown(total: int, marked: Sequence[int]) -> list[int]:
    if total <= _LINES:
        return list(range(1, total + 1))
    keep = set(range(1, _LINES // 2))
    for line in marked[: _LINES // 40]:
        keep.update(range(max(1, line - 8), min(total, line + 8) + 1))
    return sorted(keep)


def _row(number: str, text: str, marked: bool = False) -> Element:
    row = element("span", class_="row marked" if marked else "row")
    extend(row, element("span", number, class_="number"), text)
    return row
