"""The scorecard as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from xml.etree.ElementTree import Element

from kengine.report.element import element, render, table
from kengine.report.plain import clean
from kengine.selftest import rows
from kengine.selftest.score import Score

TITLES = (
    ("Rates", rows.rates),
    ("Misses", rows.misses),
    ("Missed while lint rejects nothing", rows.bare_misses),
    ("Refused by another check than expected", rows.strays),
    ("Hacks by letter", rows.ways),
    ("Honest kernels by trap", rows.traps),
)
"""Tables in their order; one without rows is left out."""


def write_page(path: Path, scores: Sequence[Score]) -> None:
    """Write the page. Raises OSError when the file cannot be written."""
    path.write_text(page(scores), encoding="utf-8")


def page(scores: Sequence[Score]) -> str:
    """The whole page as text."""
    wrong = sum(len(score.misses) for score in scores)
    title = f"kengine selftest: {'no miss' if not wrong else f'{wrong} missed'}"
    parts = [element("h1", title), *(_score(score) for score in scores)]
    template = Template(files("kengine.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(clean(title)), body="\n".join(render(part) for part in parts))


def _score(score: Score) -> Element:
    node = element("section", element("h2", rows.heading(score)), class_="verdict")
    for title, make in TITLES:
        headers, body = make(score)
        if body:
            node.append(element("h3", title))
            node.append(table(headers, [list(row) for row in body], wide=(len(headers) - 1,), names=(0,)))
    if score.not_run:
        node.append(element("h3", "Not run"))
        node.append(table(["why", "entries"], [[why, ", ".join(n)] for why, n in score.not_run.items()], wide=(1,)))
    node.append(element("h3", "Every entry"))
    every = [
        [o.entry.name, o.entry.about, rows.expected(o.entry), rows.got(o.full) or f"not run: {o.not_run}"]
        for o in score.outcomes
    ]
    node.append(table(["entry", "what it does", "expected", "got"], [list(row) for row in every], names=(0,)))
    return node
