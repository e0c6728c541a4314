"""Plots of the report as inline SVG: a histogram, bars, and the shares of a row; colours are those of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.etree.ElementTree import Element

from kengine.report.element import element

_WIDTH, _HEIGHT, _TOP, _FOOT = 320, 118, 8, 20
_WIDEST, _NAMED = 52, 6


def histogram(bins: Sequence[Sequence[float]], median: float, show: Callable[[float], str], title: str) -> Element:
    """One bar for each bin [from, to, count], all of one width, and a line at the median. show: a value as text."""
    svg = element("svg", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title, class_="histogram")
    svg.append(element("title", title))
    base, most = _HEIGHT - _FOOT, max(b[2] for b in bins)
    slot = min(_WIDTH / len(bins), _WIDEST)
    each = all(low == high for low, high, _ in bins)
    for n, (low, high, count) in enumerate(bins):
        if count:
            height = max((base - _TOP) * count / most, 1.5)
            said = element("title", f"{show(low)}{'' if each else f' to {show(high)}'}: {count:,.0f}")
            svg.append(_rect(n * slot + 0.5, base - height, slot - 1, height, "one", said))
        if each and len(bins) <= _NAMED:
            svg.append(_text((n + 0.5) * slot, _HEIGHT - 5, show(low), "middle"))
    at = next((n for n, (low, high, _) in enumerate(bins) if median < high or median == low), len(bins) - 1)
    low, high, _ = bins[at]
    x = (at + ((median - low) / (high - low) if high > low else 0.5)) * slot
    svg.append(_line(x, 0, x, base, "limit"))
    svg.append(_line(0, base, slot * len(bins), base, "axis"))
    if not (each and len(bins) <= _NAMED):
        svg.append(_text(0, _HEIGHT - 5, show(bins[0][0]), "start"))
        svg.append(_text(slot * len(bins), _HEIGHT - 5, show(bins[-1][1]), "end"))
    return svg


def shares(kept: int, lost: int, most: int, width: int = 180) -> Element:
    """A bar as long as a row is large: what is kept, then what is lost."""
    svg = element("svg", viewBox=f"0 0 {width} 14", role="img", aria_label=f"{kept} kept, {lost} lost", class_="shares")
    if most:
        first = width * kept / most
        svg.append(_rect(0, 2, first, 10, "good", element("title", f"{kept:,} kept")))
        svg.append(_rect(first, 2, width * lost / most, 10, "bad", element("title", f"{lost:,} lost")))
    return svg


def bar(value: float, kind: str = "one", width: int = 140) -> Element:
    """A share from 0 to 1 as a bar."""
    svg = element("svg", viewBox=f"0 0 {width} 14", role="img", aria_label=f"{value:.1%}", class_="shares")
    svg.append(_rect(0, 2, width, 10, "track", None))
    svg.append(_rect(0, 2, width * value, 10, kind, None))
    return svg


def _rect(x: float, y: float, width: float, height: float, kind: str, title: Element | None) -> Element:
    return element(
        "rect", title, x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.2f}", height=f"{height:.1f}", class_=kind
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)


def _text(x: float, y: float, text: str, anchor: str) -> Element:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_="soft")
