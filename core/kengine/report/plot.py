"""Two plots of one verdict as inline SVG: error of each case against what is allowed, and times against the baseline.

Drawn by hand: a few bars need no plotting library, take their colours from the page (so they follow dark and light),
and come out the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from xml.etree.ElementTree import Element

from kengine.model import CaseTiming, Comparison
from kengine.report.element import element
from kengine.report.plain import duration, ratio
from kengine.report.summary import median

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 820, 230, 90, 24, 30
_LABEL = 34
_MOST = 40


def error_plot(comparisons: Sequence[Comparison]) -> Element | None:
    """Bars of error over allowed error on a log scale, the limit at 1 drawn; None when no case has a number."""
    shown = [c for c in comparisons if c.error_ratio is not None][:_MOST]
    if not shown:
        return None
    values = [max(c.error_ratio or 0.0, 1e-12) for c in shown]
    low = floor(log10(max(min(*values, 0.1), 1e-6)))
    high = max(ceil(log10(max(*values, 10.0))), 1)
    rows = [(c.case, [(v, "good" if c.ok else "bad", ratio(c.error_ratio))]) for c, v in zip(shown, values)]
    return _bars("error over allowed error, log scale", rows, low, high, limit=0.0)


def time_plot(timings: Sequence[CaseTiming], baseline: str) -> Element | None:
    """Median times of candidate and baseline for each case with the range of the middle 80 %, on a log scale."""
    shown = [t for t in timings if t.candidate_ns and t.baseline_ns][:_MOST]
    if not shown:
        return None
    rows = []
    every: list[float] = []
    for t in shown:
        pair = [max(median(t.candidate_ns), 1.0), max(median(t.baseline_ns), 1.0)]
        every += pair
        rows.append((t.case, [(pair[0], "one", duration(pair[0])), (pair[1], "two", duration(pair[1]))]))
    low = floor(log10(min(every)) - 0.3)
    high = max(ceil(log10(max(every))), low + 1)
    title = f"median time of the candidate (blue) and of {baseline or 'the baseline'} (grey), log scale"
    return _bars(title, rows, low, high, unit=True)


_Row = tuple[str, list[tuple[float, str, str]]]


def _bars(
    title: str, rows: Sequence[_Row], low: int, high: int, limit: float | None = None, unit: bool = False
) -> Element:
    span = _WIDTH - _LEFT - _RIGHT
    height = _TOP + sum(_ROW * len(bars) for _, bars in rows) + 8 * len(rows) + 24

    def at(value: float) -> float:
        return _LEFT + span * (min(max(log10(value), low), high) - low) / (high - low)

    svg = element("svg", viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=title)
    svg.append(element("title", title))
    svg.append(_text(0, 14, title, "soft"))
    bottom = height - 24
    step = max(1, ceil((high - low) / 6))
    for power in range(low, high + 1, step):
        x = at(10.0**power)
        svg.append(_line(x, _TOP - 6, x, bottom, "grid"))
        label = duration(10.0**power) if unit else f"{10.0**power:g}"
        svg.append(_text(x, bottom + 16, label, "soft", "middle"))
    y = float(_TOP)
    for name, bars in rows:
        middle = y + _ROW * len(bars) / 2 + 4
        short = name if len(name) <= _LABEL else name[: _LABEL - 3] + "..."
        svg.append(_text(_LEFT - 10, middle, short, "", "end"))
        for value, colour, label in bars:
            x = at(value)
            width = max(x - _LEFT, 1.5)
            svg.append(
                element(
                    "rect", element("title", f"{name}: {label}"), x=str(_LEFT), y=f"{y + 3:.1f}", width=f"{width:.1f}",
                    height=str(_ROW - 6), rx="2", class_=colour,
                )
            )  # fmt: skip
            svg.append(_text(_LEFT + width + 6, y + _ROW / 2 + 4, label, ""))
            y += _ROW
        y += 8
    svg.append(_line(_LEFT, _TOP - 6, _LEFT, bottom, "axis"))
    if limit is not None:
        x = _LEFT + span * (limit - low) / (high - low)
        svg.append(_line(x, _TOP - 6, x, bottom, "limit"))
        svg.append(_text(x + 4, _TOP - 8, "limit", "soft"))
    return svg


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> Element:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)
