"""Writes the corpus aside, and puts it in its place when all of it is there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from kengine.curate.export import card, files
from kengine.curate.export.formats import FORMATS, provenance
from kengine.curate.export.section import Export
from kengine.curate.export.splits import Splits
from kengine.curate.funnel import Funnel
from kengine.curate.record import Loss, Sample
from kengine.curate.stage import Context, Corpus, Stage
from kengine.curate.store import Segment
from kengine.errors import InfraError

_MAX_REPEATS = 100


def build(section: Export, context: Context) -> Stage:
    """The stage. Raises UsageError at once when a file of its kind cannot be written here."""
    if any(section.kind(f) == "parquet" for f in section.formats):
        from kengine.curate.table import parquet

        parquet(context.folder / section.folder)

    def run(corpus: Corpus, funnel: Funnel, losses: Iterable[Loss]) -> None:
        export(corpus, context.folder / section.folder, section, funnel, losses, context.settings.seed)

    return Stage("export", "sink", run)


def export(
    corpus: Corpus, folder: Path, section: Export, funnel: Funnel, losses: Iterable[Loss] = (), seed: int = 0
) -> card.Tally:
    """Write samples to `folder`, replacing what an earlier export left there, and count them.

    Raises InfraError when the disk is full or fails; then `folder` is as it was before.
    """
    part, old = folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        tally = _write(corpus, part, section, funnel, losses, seed)
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
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
    corpus: Corpus, part: Path, section: Export, funnel: Funnel, losses: Iterable[Loss], seed: int
) -> card.Tally:
    splits = Splits(section.splits, seed, _is_single(corpus))
    tally = card.Tally()
    outputs: dict[tuple[str, str], files.File] = {}
    paths: dict[tuple[str, str], str] = {}
    digests: dict[int, tuple[object, str]] = {}
    seen: dict[str, set[str]] = {f: set() for f in section.formats if FORMATS[f].by_task}
    try:
        for sample, split in _placed(corpus, splits, section):
            digest = _digest(sample, digests)
            told = provenance(sample, digest)
            tally.add(told, split, sample.group)
            for format in section.formats:
                kind = FORMATS[format]
                if kind.by_task and not _first(seen[format], f"{digest} {sample.backend}"):
                    continue
                key = (format, split)
                if key not in outputs:
                    paths[key] = f"{format}/{split}.{section.kind(format)}"
                    (part / format).mkdir(exist_ok=True)
                    outputs[key] = files.create(part / paths[key], section.kind(format), _schema(format, section))
                row = kind.make(sample, told, section)
                if format == "verl":
                    row["extra_info"].update(split=split, index=outputs[key].rows)
                outputs[key].add(row)
                tally.rows[key] += 1
    finally:
        for output in outputs.values():
            output.close()
    (part / "README.md").write_text(
        card.write(tally, funnel, paths, section.title, section.description), encoding="utf-8"
    )
    (part / "funnel.json").write_text(
        json.dumps({"schema": "kengine.funnel/1", "steps": funnel.to_json()}, indent=1) + "\n", encoding="utf-8"
    )
    _write_losses(part / "losses.jsonl", losses)
    return tally


def _is_single(corpus: Corpus) -> bool:
    """Whether all samples are of one group."""
    if isinstance(corpus, Segment):
        return corpus.is_single_group()
    groups = (s.group for s in corpus)
    first = next(groups, "")
    return all(group == first for group in groups)


def _placed(corpus: Iterable[Sample], splits: Splits, section: Export) -> Iterator[tuple[Sample, str]]:
    for sample in corpus:
        split = splits.find(sample.group)
        times = min(max(round(sample.weight), 1), _MAX_REPEATS) if section.weights == "repeat" else 1
        for _ in range(times):
            yield sample, split


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


def _digest(sample: Sample, known: dict[int, tuple[object, str]]) -> str:
    task = sample.task
    if task is None:
        return ""
    found = known.get(id(task))
    if found is None or found[0] is not task:
        if len(known) > 4096:
            known.clear()
        found = known[id(task)] = (task, task.digest)
    return found[1]


def _first(seen: set[str], key: str) -> bool:
    if key in seen:
        return False
    seen.add(key)
    return True


def _write_losses(path: Path, losses: Iterable[Loss]) -> None:
    output = files.Lines(path)
    try:
        for loss in losses:
            output.add(
                {"uid": loss.uid, "stage": loss.stage, "reason": loss.reason, "detail": loss.detail, **loss.facets}
            )
    finally:
        output.close()
