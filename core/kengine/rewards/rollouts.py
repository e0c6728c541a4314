"""Rollouts as they lie in a file: one conversation a line, with the verdict on each of its turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kengine import codec
from kengine.errors import InfraError, UsageError
from kengine.model import Verdict
from kengine.rewards.outcome import Judged

VERDICT_SCHEMA = codec.schema_id(Verdict)
ERROR_SCHEMA = "kengine.error/1"
"""Schema of a line in a verdict's place: it names the error for which there is none."""


@dataclass(frozen=True)
class Rollout:
    """One conversation: the verdict on each turn, None or an InfraError where there is none.

    line: where it stands in its file, from 1. group: rollouts of one group are compared with each other; "" in a file
    takes the task and the target. key: the rollout's own name.
    """

    line: int
    turns: tuple[Judged, ...]
    group: str = ""
    key: str = ""


def read(lines: Iterable[str], name: str = "rollouts") -> Iterator[Rollout]:
    """Read rollouts one at a time, so that a file may be larger than the memory.

    A line is an object with `turns`, a list of verdicts, and if wanted `group` and `key`, both text; other keys are
    the trainer's own and skipped. Or it is one verdict, a conversation of one turn. In a verdict's place stands null
    or a `kengine.error/1` where the machine or the task failed. Empty lines are skipped.

    Raises UsageError with `name` and line for what is none of these.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _rollout(_parse(line, f"{name}:{number}"), number, f"{name}:{number}")


def _parse(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {error}") from None


def _rollout(value: Any, number: int, where: str) -> Rollout:
    if not isinstance(value, dict):
        raise UsageError(f"{where}: want an object with turns, or a verdict, got {_kind(value)}")
    if "schema" in value and "turns" not in value:
        turns: tuple[Judged, ...] = (_judged(value, where),)
        group = key = ""
    elif "turns" not in value:
        raise UsageError(f"{where}: neither turns nor a schema: want {{'turns': [verdict, ...]}} or a verdict")
    else:
        given = value["turns"]
        if not isinstance(given, list) or not given:
            raise UsageError(f"{where}: turns: want a list of at least one verdict, got {_kind(given)}")
        turns = tuple(_judged(turn, f"{where}: turns[{n}]") for n, turn in enumerate(given))
        group, key = (_text(value, field, where) for field in ("group", "key"))
    return Rollout(number, turns, group or _group(turns), key or _key(turns))


def _judged(value: Any, where: str) -> Judged:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise UsageError(f"{where}: want a verdict or null, got {_kind(value)}")
    if value.get("schema") == ERROR_SCHEMA:
        return InfraError(f"{value.get('error', 'error')}: {value.get('message', '')}")
    if "schema" not in value:
        raise UsageError(f"{where}: not a verdict: missing key 'schema', want {VERDICT_SCHEMA!r}")
    try:
        return codec.from_json(value, Verdict)
    except codec.CodecError as error:
        raise UsageError(f"{where}: not a verdict: {error}") from None


def _group(turns: tuple[Judged, ...]) -> str:
    verdict = next((t for t in turns if isinstance(t, Verdict)), None)
    return "" if verdict is None else f"{verdict.digests.get('task') or verdict.task.digest} {verdict.target}"


def _key(turns: tuple[Judged, ...]) -> str:
    verdict = next((t for t in turns if isinstance(t, Verdict)), None)
    return verdict.candidate.files[0].path if verdict is not None and verdict.candidate.files else ""


def _text(value: dict[str, Any], field: str, where: str) -> str:
    found = value.get(field, "")
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str):
        raise UsageError(f"{where}: {field}: want text or a whole number, got {_kind(found)}")
    return found


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "text", bool: "a bool", type(None): "null"}
    return "an empty array" if value == [] else names.get(type(value), "a number")
