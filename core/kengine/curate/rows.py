"""Samples and losses as JSON text, for the store and for files; tasks stand apart, by their digest.

Written by hand and not with `kengine.codec`: a corpus has a million of them, and this text is kengine's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kengine import codec
from kengine.curate import jsontext
from kengine.curate.record import Judgement, Loss, Sample, make
from kengine.errors import UsageError
from kengine.model import KernelResources, SourceFile, Task

SCHEMA = "kengine.sample/1"
"""Schema of a sample in a file of samples."""

_TEXTS = ("entry", "backend", "instruction", "completion", "reasoning", "license", "model", "group", "parent")
_MAPS = ("sampling", "labels", "claims")


def encode(sample: Sample, task: str) -> bytes:
    """A sample as one line of JSON; `task` is the digest of its task, "" for none. Defaults are left out."""
    return jsontext.encode(to_row(sample, task))


def to_row(sample: Sample, task: object) -> dict[str, Any]:
    """A sample as a JSON object, with `task` in the place of its task."""
    fields = sample.__dict__
    row: dict[str, Any] = {"uid": sample.uid, "source": sample.source, "origin": sample.origin}
    if task:
        row["task"] = task
    for name in _TEXTS:
        value = fields[name]
        if value:
            row[name] = value
    if sample.files:
        row["files"] = [(f.path, f.text) for f in sample.files]
    if sample.prompt:
        row["prompt"] = sample.prompt
    for name in _MAPS:
        value = fields[name]
        if value:
            row[name] = value
    if sample.judgements:
        row["judgements"] = [judgement_json(j) for j in sample.judgements]
    if sample.weight != 1.0:
        row["weight"] = sample.weight
    return row


def decode(text: bytes, find_task: Callable[[str], Task]) -> Sample:
    """Read what `encode` wrote; `find_task` gives the task of a digest."""
    return from_row(jsontext.decode(text), find_task)


def from_row(row: Mapping[str, Any], find_task: Callable[[str], Task]) -> Sample:
    """A sample from parsed JSON."""
    task = row.get("task")
    given = {**_EMPTY, **row}
    given["task"] = find_task(task) if task else None
    given["files"] = tuple([SourceFile(path, text) for path, text in given["files"]])
    given["prompt"] = tuple(given["prompt"])
    given["judgements"] = tuple([to_judgement(j) for j in given["judgements"]])
    return make(given)


_EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(_TEXTS, ""), **{name: {} for name in _MAPS}, "files": (), "prompt": (), "judgements": (),
    "weight": 1.0,
}  # fmt: skip


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """A judgement as JSON, without what is empty."""
    body = {k: v for k, v in vars(judgement).items() if v not in (None, "", 0, (), {}) or k == "emulated"}
    if judgement.kernels:
        body["kernels"] = [codec.to_json(k) for k in judgement.kernels]
    return body


def to_judgement(body: Mapping[str, Any]) -> Judgement:
    """Read what `judgement_json` wrote."""
    given = dict(body)
    given["kernels"] = tuple(codec.from_json(k, KernelResources) for k in body.get("kernels", ()))
    given["compiled_for"] = tuple(body.get("compiled_for", ()))
    return Judgement(**given)


def encode_loss(loss: Loss) -> bytes:
    """The parts of a loss that have no column of their own in the store."""
    body: dict[str, Any] = {"facets": loss.facets}
    if loss.judgements:
        body["judgements"] = [judgement_json(j) for j in loss.judgements]
    if loss.usage:
        body["usage"] = loss.usage
    return jsontext.encode(body)


def decode_loss(uid: str, stage: str, reason: str, detail: str, group: str, body: bytes) -> Loss:
    """A loss from its columns in the store."""
    rest = jsontext.decode(body)
    judgements = tuple(to_judgement(j) for j in rest.get("judgements", ()))
    return Loss(uid, reason, detail, stage, group, rest["facets"], judgements, rest.get("usage", {}))


def to_line(sample: Sample) -> bytes:
    """A sample with its whole task, for a file of samples that stands alone."""
    return jsontext.encode(to_full_row(sample))


def to_full_row(sample: Sample) -> dict[str, Any]:
    """What `to_line` writes."""
    task = codec.to_json(sample.task) if sample.task is not None else None
    return {"schema": SCHEMA, **to_row(sample, task)}


def from_line(row: Mapping[str, Any], where: str) -> Sample:
    """Read what `to_line` wrote. Raises UsageError naming the place and the field."""
    task = row.get("task")
    try:
        made = codec.from_json(task, Task) if task is not None else None
        return from_row({k: v for k, v in row.items() if k != "task"} | ({"task": "t"} if made else {}), lambda _: made)  # type: ignore[arg-type, return-value]
    except codec.CodecError as error:
        raise UsageError(f"{where}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{where}: not a sample as `kengine curate` writes them: {error!r}") from None
