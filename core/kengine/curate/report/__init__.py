"""Stage `report`: where samples were lost, how often tasks pass, and what the kernels that are left are like."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kengine.curate.funnel import Funnel
from kengine.curate.record import Loss
from kengine.curate.stage import Context, Corpus, Stage
from kengine.errors import InfraError, UsageError


@dataclass(frozen=True)
class Report:
    """[report]: folder: below the run's folder; report.html and report.json are written there. title: of the page."""

    folder: str = "report"
    title: str = ""

    def __post_init__(self) -> None:
        if not self.folder or self.folder.startswith(("/", "..")) or "/" in self.folder:
            raise UsageError(f"folder: want the name of a folder, got {self.folder!r}")


def build(section: Report, context: Context) -> Stage:
    """The stage; what is easy and hard follows from [difficulty]."""
    store = context.store

    def run(corpus: Corpus, funnel: Funnel, losses: Iterable[Loss]) -> None:
        every = _Again(store.losses) if store is not None else list(losses)
        report(corpus, context.folder / section.folder, section, funnel, every, context.settings.section("difficulty"))

    return Stage("report", "sink", run)


def report(
    corpus: Corpus, folder: Path, section: Report | None = None, funnel: Funnel | None = None,
    losses: Iterable[Loss] = (), difficulty: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Write report.html and report.json to `folder` and give what the latter holds; `losses` are iterated twice.

    difficulty: the table [difficulty], for what counts as easy and hard. Raises InfraError when the disk is full or
    fails; then `folder` is as it was before.
    """
    from kengine.curate.report.figures import gather
    from kengine.curate.report.page import page

    section = section or Report()
    body = gather(corpus, losses, difficulty).to_json(funnel or Funnel(), section.title)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        (part / "report.json").write_text(json.dumps(body, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        (part / "report.html").write_text(page(body), encoding="utf-8")
        folder.mkdir(exist_ok=True)
        for file in ("report.json", "report.html"):
            (part / file).replace(folder / file)
    except OSError as error:
        raise InfraError(
            f"{folder}: cannot be written: {error}; nothing is half-written: make room and run the same command again"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return body


class _Again:
    """The losses of a store, each time from the start."""

    def __init__(self, read: Any) -> None:
        self._read = read

    def __iter__(self) -> Any:
        return iter(self._read())


__all__ = ["Report", "build", "report"]
