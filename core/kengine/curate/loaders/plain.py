"""kengine's own files of samples, rows with a completion, and folders of completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple

from kengine.curate import rows, taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, RowFormat, attempt, license_of, plain, text
from kengine.curate.record import Message, Outcome, Sample, evolve
from kengine.model import JsonValue, SourceFile, Task
from kengine.tasks.source import read_text

_CODE = ("code", "kernel", "candidate")
_WRITTEN = ("completion", "response", "output", "generation")
_SUFFIXES = (".py", ".cu", ".hip", ".md", ".txt")
_SAMPLING = (
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "finish_reason",
    "cost",
    "prompt_tokens",
    "completion_tokens",
)
_CLAIMS = ("id", "speedup", "correct", "runtime")
_REASONING = ("reasoning", "reasoning_content", "thinking")
_LABELS = ("operator", "category", "level", "difficulty")
_BLANK = Sample("", "", "")


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Rows with the schema of samples, rows with code or a completion, folders with nothing but code and text."""
    if glimpse.rows and all(row.get("schema") == rows.SCHEMA for row in glimpse.rows):
        (offer,) = RowFormat("samples", ("schema",), (), _sample, True).recognise(glimpse)
        return [replace(offer, certainty=100)] if isinstance(offer, Loader) else []
    if glimpse.rows:
        return _ROWS.recognise(glimpse)
    files = [f for f in glimpse.files if f.lower().endswith(_SUFFIXES)]
    if files:
        return [Loader("completion-files", 0, lambda: _folder(glimpse, files))]
    return []


def _sample(row: Mapping[str, Any], origin: str) -> Sample:
    return rows.from_line({k: v for k, v in row.items() if k != "schema"}, origin)


class _Columns(NamedTuple):
    """Which of a row's columns are there: a corpus has few sets of them, and looking each up costs for every row."""

    code: tuple[str, ...]
    written: tuple[str, ...]
    reasoning: tuple[str, ...]
    labels: tuple[str, ...]
    sampling: tuple[str, ...]
    claims: tuple[str, ...]


@lru_cache(maxsize=256)
def _columns(keys: tuple[str, ...]) -> _Columns:
    known = (_CODE, _WRITTEN, _REASONING, _LABELS, _SAMPLING, _CLAIMS)
    return _Columns(*[tuple([key for key in names if key in keys]) for names in known])


def _row(row: Mapping[str, Any], origin: str) -> Sample:
    has = _columns(tuple(row))
    labels: dict[str, JsonValue] = plain(row, *has.labels) if has.labels else {}
    task = _task(row, labels)
    prompt, said = _messages(row)
    code = text(row, *has.code, required=False) if has.code else ""
    completion = "" if code else said or text(row, *has.written, required=False)
    if not code and not completion:
        named = next((k for k in (*_CODE, *_WRITTEN, "messages") if k in row), None)
        every = ", ".join((*_CODE, *_WRITTEN))
        raise RowError("no_code", f"the field {named!r} is empty" if named else f"no text in any of {every}")
    files: tuple[SourceFile, ...] = ()
    if code:
        suffix = {"cuda": ".cu", "hip": ".hip"}.get(text(row, "language", required=False), ".py")
        file = text(row, "file", "path", required=False) or f"candidate{suffix}"
        files = (SourceFile(PurePath(file).name, code),)
    return evolve(
        _BLANK, origin=origin, task=task, files=files, entry=text(row, "entry", required=False), labels=labels,
        backend=text(row, "backend", required=False), prompt=prompt, completion=completion,
        reasoning=text(row, *has.reasoning, required=False) if has.reasoning else "", license=license_of(row),
        model=text(row, "model", required=False), sampling=plain(row, *has.sampling) if has.sampling else {},
        claims=plain(row, *has.claims) if has.claims else {},
    )  # fmt: skip


def _task(row: Mapping[str, Any], labels: dict[str, JsonValue]) -> Task | None:
    """The task whose text a row holds; one that it names goes into the labels, to be found later."""
    given = row.get("task")
    if isinstance(given, Mapping):
        given = given.get("source") or given.get("text")
    if given is None:
        given = row.get("reference")
    if isinstance(given, str) and "\n" in given:
        name = text(row, "task_name", "name", required=False) or "task"
        level = labels.get("level")
        return taskbook.make(given, name, level=level if type(level) is int else None,
                             category=text(row, "category", required=False))  # fmt: skip
    if isinstance(given, str) and given:
        labels["task"] = given
    elif given is not None:
        raise RowError("malformed_row", f"field 'task': want text, got {type(given).__name__}")
    return None


def _messages(row: Mapping[str, Any]) -> tuple[tuple[Message, ...], str]:
    """The conversation before the last answer, and that answer, from `messages`; else the field `prompt`."""
    messages = row.get("messages")
    if messages is None:
        asked = row.get("prompt")
        if isinstance(asked, str) and asked.strip():
            return ({"role": "user", "content": asked},), ""
        messages, answered = asked, False
    else:
        answered = True
    if messages is None:
        return (), ""
    field = "messages" if answered else "prompt"
    if not isinstance(messages, (list, tuple)) or not all(
        isinstance(m, Mapping) and isinstance(m.get("role"), str) and isinstance(m.get("content"), str)
        for m in messages
    ):
        raise RowError("malformed_row", f"field {field!r}: want a list of messages with role and content as texts")
    turns: list[Message] = [{"role": m["role"], "content": m["content"]} for m in messages]
    if answered and turns and turns[-1]["role"] == "assistant":
        return tuple(turns[:-1]), turns[-1]["content"]
    return tuple(turns), ""


_ROWS = RowFormat(
    "completions", ("|".join((*_CODE, *_WRITTEN, "messages")),), ("reasoning", "model", "task", "prompt"), _row, True
)


def _folder(glimpse: Glimpse, files: list[str]) -> Iterator[Outcome]:
    def make(file: str, origin: str) -> Sample:
        path = PurePath(file)
        body = read_text(glimpse.path / file)
        if not body.strip():
            raise RowError("no_code", "the file is empty")
        labels: dict[str, JsonValue] = {"task": path.parent.name} if path.parent.name else {}
        if path.suffix in (".md", ".txt"):
            return Sample("", "", origin, completion=body, labels=labels)
        return _code_file(path, body, origin, labels)

    for file in files:
        yield from attempt(make, file, file)


def _code_file(path: PurePath, body: str, origin: str, labels: dict[str, JsonValue]) -> Sample:
    """A file of code; one that brings its own reference is taken apart, one with nothing but a task is a task."""
    from kengine import tasks
    from kengine.errors import UsageError

    if path.suffix == ".py" and ("def make_inputs" in body or "def get_inputs" in body):
        try:
            item = tasks.parse(body, path.name)
            return Sample("", "", origin, item.task, files=item.candidate.files, entry=item.candidate.entry)
        except UsageError:
            return Sample("", "", origin, taskbook.make(body, path.stem, path.name))
    return Sample("", "", origin, files=(SourceFile(path.name, body),), labels=labels)
