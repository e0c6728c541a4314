"""The card of a corpus: what is in it, how it came about, and what was lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.curate import usage
from kengine.curate.export.formats import Row
from kengine.curate.funnel import Funnel, count_rows
from kengine.curate.usage import Bill

_COUNTED = ("backend", "operator", "level", "difficulty", "license", "source", "model", "verdict", "toolchain")
_LISTED = ("targets", "compiled_for")


@dataclass
class Tally:
    """What is counted while rows are written."""

    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    groups: dict[str, set[str]] = field(default_factory=dict)
    seeds: set[str] = field(default_factory=set)
    bill: Bill = field(default_factory=Bill)
    samples: int = 0
    _kinds: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    def add(self, row: Row, split: str, group: str) -> None:
        """One sample that is written; `row` is its provenance."""
        self.groups.setdefault(split, set()).add(group)
        kind = (*[row[n] for n in _COUNTED], *[tuple(row[n]) for n in _LISTED])
        self._kinds[kind] += 1
        if row["seeds"] and len(self.seeds) < 100:
            self.seeds.update(row["seeds"])

    def merge(self, other: Tally) -> None:
        """Add what was counted for other rows."""
        self.rows += other.rows
        for split, groups in other.groups.items():
            self.groups.setdefault(split, set()).update(groups)
        if len(self.seeds) < 100:
            self.seeds |= other.seeds
        self.bill.merge(other.bill)
        self.samples += other.samples
        self._kinds += other._kinds

    def facets(self) -> dict[str, Counter[str]]:
        """How often each value of each facet occurs."""
        found: dict[str, Counter[str]] = {name: Counter() for name in (*_COUNTED, *_LISTED)}
        for kind, count in self._kinds.items():
            for name, value in zip(_COUNTED, kind):
                if value or name == "toolchain":
                    found[name][value] += count
            for name, values in zip(_LISTED, kind[len(_COUNTED) :]):
                for value in values:
                    found[name][value] += count
        return found


def write(tally: Tally, funnel: Funnel, files: Mapping[tuple[str, str], str], title: str, description: str) -> str:
    """The text of README.md; `files` gives the path of each (format, split). Its head makes data sets loadable."""
    facets = tally.facets()
    licenses = sorted(facets["license"])
    lines = ["---", *_front_matter(licenses, files), "---", "", f"# {title or 'Kernel corpus'}", ""]
    lines += [description, ""] if description else []
    lines += ["Every row was read, judged and kept by `kengine curate`; nothing was kept without the reason below.", ""]
    lines += ["## Rows", "", "| format | split | rows |", "|---|---|---:|"]
    lines += [f"| {f} | {s} | {n:,} |" for (f, s), n in sorted(tally.rows.items())]
    lines += ["", "Splits are by task: no task, and no variant of one, is in two of them.", ""]
    lines += ["| split | tasks |", "|---|---:|"]
    lines += [f"| {split} | {len(groups):,} |" for split, groups in tally.groups.items()]
    lines += ["", "## Funnel", "", *funnel_table(funnel), ""]
    lines += sampling_table(tally.bill, tally.samples)
    for name, head in (("backend", "Backends"), ("operator", "Operators"), ("level", "Levels"),
                       ("difficulty", "Difficulty"), ("license", "Licences"), ("source", "Sources"),
                       ("model", "Models")):  # fmt: skip
        counts = facets[name]
        if counts:
            lines += [f"## {head}", "", f"| {name} | rows |", "|---|---:|"]
            lines += [f"| {_cell(k)} | {n:,} |" for k, n in counts.most_common(40)]
            if len(counts) > 40:
                rest = sum(counts.values()) - sum(n for _, n in counts.most_common(40))
                lines += [f"| {len(counts) - 40} more | {rest:,} |"]
            lines += [""]
    lines += ["## How it was judged", ""]
    lines += [f"- launched on {t}: {count_rows(n)}" for t, n in facets["targets"].most_common()]
    lines += [f"- compiled for {t}: {count_rows(n)}" for t, n in facets["compiled_for"].most_common()]
    if not facets["targets"]:
        lines += ["- these rows were not judged"]
    lines += [f"- seeds follow from the salt {s}" for s in sorted(tally.seeds)[:20]]
    lines += [
        "",
        "## Toolchains",
        "",
        *(f"- `{t}`: {count_rows(n)}" for t, n in facets["toolchain"].most_common(10)),
    ]
    return "\n".join(lines) + "\n"


def funnel_table(funnel: Funnel) -> list[str]:
    """The funnel as a Markdown table."""
    lines = ["| stage | in | added | lost | out | reasons |", "|---|---:|---:|---:|---:|---|"]
    for step in funnel.to_json():
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in step["lost"].items())
        lost = sum(step["lost"].values())
        lines.append(
            f"| {step['stage']} | {step['entered']:,} | {step['added']:,} | {lost:,} | {step['left']:,} | {reasons} |"
        )
    return lines


def sampling_table(bill: Bill, rows: int) -> list[str]:
    """Tokens and cost of all answers, kept and lost, by model; nothing when none was sampled."""
    body = bill.to_json()
    if not body:
        return []
    lines = ["## Sampling", "", f"{usage.describe(body, rows)}. What was lost later is counted as well.", ""]
    lines += ["| model | answers | prompt tokens | completion tokens | cost |", "|---|---:|---:|---:|---:|"]
    shown = [*body["models"].items(), *([("in all", body)] if len(body["models"]) > 1 else [])]
    for model, count in shown:
        tokens = [f"{count[key]:,}" if count["metered"] else "-" for key in ("prompt_tokens", "completion_tokens")]
        cost = f"{count['cost']:,.4f}" if count["priced"] else "-"
        lines.append(f"| {_cell(model) or 'unknown'} | {count['answers']:,} | {' | '.join(tokens)} | {cost} |")
    return [*lines, ""]


def _front_matter(licenses: list[str], files: Mapping[tuple[str, str], str]) -> list[str]:
    lines = ["license: " + ("other" if len(licenses) != 1 else licenses[0].lower().replace(" ", "-"))]
    lines += ["task_categories:", "- text-generation", "tags:", "- code", "- gpu-kernels", "configs:"]
    by_format: dict[str, list[tuple[str, str]]] = {}
    for (format, split), path in files.items():
        by_format.setdefault(format, []).append((split, path))
    kind = _kind(files)
    for format, paths in by_format.items():
        if not paths[0][1].endswith(kind):
            continue
        lines += [f"- config_name: {format}", "  data_files:"]
        for split, path in paths:
            lines += [f"  - split: {split}", f"    path: {path}"]
    return lines


def _kind(files: Mapping[tuple[str, str], str]) -> str:
    """The suffix that most formats have, `.jsonl` before others: `datasets` reads a folder with one reader for all."""
    counts = Counter(suffix for _, suffix in {(format, path[path.rfind(".") :]) for (format, _), path in files.items()})
    return max(counts, key=lambda suffix: (counts[suffix], suffix == ".jsonl"), default="")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
