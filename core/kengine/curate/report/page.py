"""The report as one self-contained page, made from what report.json holds; readable without scripts, dark and light."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any
from xml.etree.ElementTree import Element

from kengine.curate.funnel import count_rows
from kengine.curate.report.plot import bar, histogram, shares
from kengine.curate.usage import describe
from kengine.report.element import Content, element, render, table
from kengine.report.plain import clean, duration

_STYLE = """
svg.shares { display: inline-block; width: 11rem; vertical-align: middle; }
svg .track { fill: var(--line); }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.5rem 2rem; }
.figure h4 { margin: 0; font-size: .9rem; overflow-wrap: anywhere; }
.figure p { margin: .1rem 0 .3rem; font-size: .85rem; }
h2 { margin-top: 2.5rem; padding-top: 1rem; border-top: 2px solid var(--line); }
"""
_ROWS = 40
_REASONS = 4
_TITLES = {
    "latency_ns": "Latency", "speedup": "Speed-up", "registers": "Registers a thread", "shared_bytes": "Shared memory",
    "spills": "Spills", "occupancy": "Occupancy", "memory_bytes": "Device memory",
}  # fmt: skip
_BY = {"operator": "operator", "category": "category", "level": "level", "difficulty": "difficulty",
       "backend": "backend", "source": "source"}  # fmt: skip


def page(body: Mapping[str, Any]) -> str:
    """The page of one report."""
    title = body["title"] or "Curation"
    parts = [element("style", _STYLE), element("h1", title), element("p", _summary(body), class_="soft"),
             *_funnel(body), *_sampling(body), *_at_k(body), *_by(body), *_distributions(body), *_clusters(body),
             *_judged(body)]  # fmt: skip
    template = Template(files("kengine.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(clean(title)), body="\n".join(render(part) for part in parts))


def _summary(body: Mapping[str, Any]) -> str:
    steps = body["steps"]
    came = steps[0]["entered"] + sum(s["added"] for s in steps) if steps else body["rows"]
    lost = sum(n for s in steps for n in s["lost"].values())
    text = f"{count_rows(body['rows'], 'are')} left of {came:,} that came or were made; "
    text += f"{lost:,} {'is' if lost == 1 else 'are'} lost, each for a reason"
    return text if body["weight"] == body["rows"] else f"{text}; their weights add up to {body['weight']:,.6g}"


def _funnel(body: Mapping[str, Any]) -> Iterator[Element]:
    if not body["steps"]:
        return
    yield element("h2", "Funnel")
    most = max(s["left"] + sum(s["lost"].values()) for s in body["steps"])
    rows: list[list[Content]] = []
    for step in body["steps"]:
        lost = sum(step["lost"].values())
        rows.append([
            step["stage"], f"{step['entered']:,}", _number(step["added"]), _number(lost), f"{step['left']:,}",
            shares(step["left"], lost, most), _reasons(step["lost"], 100),
        ])  # fmt: skip
    yield table(["stage", "in", "added", "lost", "out", "", "reasons"], rows, right=(1, 2, 3, 4), wide=(6,))


def _sampling(body: Mapping[str, Any]) -> Iterator[Element]:
    taken = body["sampling"]
    if not taken:
        return
    yield element("h2", "What sampling took")
    yield element("p", f"{describe(taken, body['rows'])}. What was lost later is counted as well.", class_="soft")
    rows: list[list[Content]] = [
        [model or "unknown", f"{count['answers']:,}", _number(count["prompt_tokens"]),
         _number(count["completion_tokens"]), f"{count['cost']:,.4f}" if count["priced"] else "-"]
        for model, count in list(taken["models"].items())[:_ROWS]
    ]  # fmt: skip
    yield table(["model", "answers", "prompt tokens", "completion tokens", "cost"], rows, right=(1, 2, 3, 4),
                names=(0,))  # fmt: skip


def _at_k(body: Mapping[str, Any]) -> Iterator[Element]:
    if not body["at_k"]:
        return
    yield element("h2", "How often tasks pass")
    yield element(
        "p", "Probability that one of k attempts compiles, is right, and passes: unbiased, over the tasks with at "
        "least k attempts. Lost samples count as well, and what says nothing of a candidate does not.", class_="soft",
    )  # fmt: skip
    several = len({row["backend"] for row in body["at_k"]}) > 1
    rows: list[list[Content]] = [
        [row["backend"] or "all" if several else row["backend"], f"{row['k']}", f"{row['tasks']:,}",
         f"{row['compiled']:.1%}", f"{row['right']:.1%}", f"{row['passed']:.1%}", bar(row["passed"], "good")]
        for row in body["at_k"]
    ]  # fmt: skip
    yield table(["backend", "k", "tasks", "compiles", "right", "passes", ""], rows, right=(1, 2, 3, 4, 5))
    total = sum(row["tasks"] for row in body["pass_rates"])
    yield element("h3", "Tasks by pass rate")
    counted: list[list[Content]] = [
        [row["pass_rate"], f"{row['tasks']:,}", bar(row["tasks"] / total if total else 0)] for row in body["pass_rates"]
    ]
    yield table(["attempts that passed", "tasks", ""], counted, right=(1,))


def _by(body: Mapping[str, Any]) -> Iterator[Element]:
    yield element("h2", "What was kept and lost")
    for name, title in _BY.items():
        found = body["by"][name]
        if not found or (len(found) == 1 and not found[0]["value"]):
            continue
        yield element("h3", f"By {title}")
        most = max(row["kept"] + sum(row["lost"].values()) for row in found)
        rows: list[list[Content]] = []
        for row in found[:_ROWS]:
            lost = sum(row["lost"].values())
            rows.append([
                row["value"] or "unknown", f"{row['taken']:,}", _number(row["added"]), _number(lost),
                f"{row['kept']:,}", shares(row["kept"], lost, most), _reasons(row["lost"], _REASONS),
            ])  # fmt: skip
        headers = [title, "in", "added", "lost", "kept", "", "reasons"]
        yield table(headers, rows, right=(1, 2, 3, 4), wide=(6,), names=(0,))
        if len(found) > _ROWS:
            yield element("p", f"and {len(found) - _ROWS:,} more, in report.json", class_="soft")


def _distributions(body: Mapping[str, Any]) -> Iterator[Element]:
    if not body["distributions"]:
        return
    yield element("h2", "Kernels that are left")
    yield element("p", "The dashed line is the median; hover over a bar for its range and count.", class_="soft")
    grid = element("div", class_="grid")
    for each in body["distributions"]:
        show = _shower(each["figure"])
        title = f"{_TITLES[each['figure']]}, {each['target']}"
        low, middle, high = (show(each[name]) for name in ("p5", "p50", "p95"))
        told = f"median {middle}, middle 90 % from {low} to {high}; {each['count']:,} values"
        plot = histogram(each["bins"], each["p50"], show, f"{title}: {told}")
        grid.append(element("div", element("h4", title), element("p", told, class_="soft"), plot, class_="figure"))
    yield grid


def _clusters(body: Mapping[str, Any]) -> Iterator[Element]:
    clusters = body["clusters"]
    if not clusters["count"]:
        return
    yield element("h2", "Clusters of duplicates")
    told = (
        f"{count_rows(clusters['count'], 'stand')} for {clusters['duplicates'] + clusters['count']:,}; "
        f"the largest cluster has {clusters['high']:,.0f} members, the median {clusters['p50']:,.0f}"
    )
    plot = histogram(clusters["bins"], clusters["p50"], lambda v: f"{v:,.0f}", f"Members of a cluster: {told}")
    yield element("p", told, class_="soft")
    yield element("div", element("div", plot, class_="figure"), class_="grid")


def _judged(body: Mapping[str, Any]) -> Iterator[Element]:
    if not body["targets"]:
        return
    yield element("h2", "How it was judged")
    yield table(["target", "verdicts"], [[t, f"{n:,}"] for t, n in body["targets"].items()], right=(1,))
    yield element("h3", "Toolchains")
    yield table(["versions", "verdicts"], [[t, f"{n:,}"] for t, n in body["toolchains"].items()], right=(1,), wide=(0,))


def _reasons(lost: Mapping[str, int], most: int) -> str:
    items = list(lost.items())
    text = ", ".join(f"{reason} {count:,}" for reason, count in items[:most])
    rest = sum(count for _, count in items[most:])
    return f"{text}, others {rest:,}" if rest else text


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"


def _shower(figure: str) -> Callable[[float], str]:
    if figure == "latency_ns":
        return duration
    if figure == "occupancy":
        return lambda value: f"{value:.0%}"
    if figure == "speedup":
        return lambda value: f"{value:.3g}x"
    return _bytes if figure in ("shared_bytes", "spills", "memory_bytes") else lambda value: f"{value:,.0f}"


def _bytes(value: float) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


__all__: Sequence[str] = ["page"]
