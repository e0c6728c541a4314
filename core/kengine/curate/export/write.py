"""Writes the corpus aside, and puts it in its place when all of it is there."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from kengine.curate.export import batches, card, files
from kengine.curate.export.formats import FORMATS
from kengine.curate.export.section import Export
from kengine.curate.export.splits import Splits
from kengine.curate.funnel import Funnel
from kengine.curate.record import Loss
from kengine.curate.stage import Context, Corpus, Stage
from kengine.curate.store import Segment
from kengine.curate.usage import Bill
from kengine.errors import InfraError


def build(section: Export, context: Context) -> Stage:
    """The stage. Raises UsageError at once when a file of its kind cannot be written here."""
    if any(section.kind(f) == "parquet" for f in section.formats):
        from kengine.curate.table import parquet

        parquet(context.folder / section.folder)

    def run(corpus: Corpus, funnel: Funnel, losses: Iterable[Loss]) -> None:
        seed = context.settings.seed
        export(corpus, context.folder / section.folder, section, funnel, losses, seed, context.jobs)

    return Stage("export", "sink", run)


def export(
    corpus: Corpus, folder: Path, section: Export, funnel: Funnel, losses: Iterable[Loss] = (), seed: int = 0,
    jobs: int = 1,
) -> card.Tally:  # fmt: skip
    """Write samples to `folder`, replacing what an earlier export left there, and count them.

    jobs: processes that may make rows of a large corpus which lies in a run's store.

    Raises InfraError when the disk is full or fails; then `folder` is as it was before.
    """
    part, old = folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        tally = _write(corpus, part, section, funnel, losses, seed, jobs)
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        if old.exists() and not folder.exists():
            with contextlib.suppress(OSError):
                old.rename(folder)
        raise InfraError(
            f"{folder}: cannot be written: {error}; nothing is half-written, and what was there before is still there: "
            "make room and run the same command again"
        ) from error
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)
    return tally


def _write(
    corpus: Corpus, part: Path, section: Export, funnel: Funnel, losses: Iterable[Loss], seed: int, jobs: int
) -> card.Tally:
    splits = Splits(section.splits, seed, _is_single(corpus))
    tally = card.Tally()
    outputs = _Outputs(part, section)
    try:
        for batch in batches.make(corpus, splits, section, jobs):
            tally.merge(batch.tally)
            for key, lines in batch.lines.items():
                outputs.find(key).add_text(b"".join(lines), len(lines))
                tally.rows[key] += len(lines)
            for key, once, row in batch.rows:
                if once and not outputs.is_first(key[0], once):
                    continue
                output = outputs.find(key)
                if key[0] == "verl":
                    row["extra_info"].update(split=key[1], index=output.rows)
                output.add(row)
                tally.rows[key] += 1
    finally:
        outputs.close()
    _write_losses(part / "losses.jsonl", losses, tally.bill)
    (part / "README.md").write_text(
        card.write(tally, funnel, outputs.paths, section.title, section.description), encoding="utf-8"
    )
    body = {"schema": "kengine.funnel/1", "steps": funnel.to_json(), "sampling": tally.bill.to_json()}
    (part / "funnel.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return tally


class _Outputs:
    """The files of an export by format and split, made when they are first needed."""

    def __init__(self, part: Path, section: Export) -> None:
        self.paths: dict[tuple[str, str], str] = {}
        self._part = part
        self._section = section
        self._files: dict[tuple[str, str], files.File] = {}
        self._seen: dict[str, set[str]] = {}

    def find(self, key: tuple[str, str]) -> files.File:
        """The file of a format and a split."""
        found = self._files.get(key)
        if found is None:
            kind = self._section.kind(key[0])
            self.paths[key] = f"{key[0]}/{key[1]}.{kind}"
            (self._part / key[0]).mkdir(exist_ok=True)
            found = self._files[key] = files.create(self._part / self.paths[key], kind, _schema(key[0], self._section))
        return found

    def is_first(self, format: str, once: str) -> bool:
        """Whether a format sees this task for the first time."""
        seen = self._seen.setdefault(format, set())
        new = once not in seen
        seen.add(once)
        return new

    def close(self) -> None:
        """Write what is left."""
        for file in self._files.values():
            file.close()


def _is_single(corpus: Corpus) -> bool:
    """Whether all samples are of one group."""
    if isinstance(corpus, Segment):
        return corpus.is_single_group()
    groups = (s.group for s in corpus)
    first = next(groups, "")
    return all(group == first for group in groups)


def _schema(format: str, section: Export) -> dict[str, object]:
    schema = dict(FORMATS[format].schema)
    if format == "messages" and schema:
        turn = dict(schema["messages"][0])
        turn.pop("train")
        turn = turn if section.reasoning == "field" else {k: v for k, v in turn.items() if k != "reasoning_content"}
        schema["messages"] = [{**turn, section.loss_flag: "flag"}]
    if format == "prompt-completion" and section.reasoning != "field":
        schema["completion"] = schema["prompt"]
    return schema


def _write_losses(path: Path, losses: Iterable[Loss], bill: Bill) -> None:
    output = files.Lines(path)
    try:
        for loss in losses:
            bill.add(loss.usage)
            output.add(
                {"uid": loss.uid, "stage": loss.stage, "reason": loss.reason, "detail": loss.detail, **loss.facets}
            )
    finally:
        output.close()
