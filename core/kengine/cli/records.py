"""Verdicts that were written before: a file with one, or with one a line."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from kengine import codec
from kengine.cli.judging import ERROR_SCHEMA
from kengine.errors import UsageError
from kengine.model import Verdict


@dataclass
class Recorded:
    """What some files hold: verdicts, and (file, kind, message) of candidates that got none."""

    verdicts: list[Verdict] = field(default_factory=list)
    errors: list[tuple[str, str, str]] = field(default_factory=list)


def read(paths: tuple[Path, ...]) -> Recorded:
    """Read files of verdicts; `-` is stdin. Raises UsageError with file and line for what is none."""
    recorded = Recorded()
    for path in paths:
        text = _text(path)
        if not text.strip():
            raise UsageError(f"{path}: is empty, expected verdicts (`kengine verify --json` writes them)")
        if _is_one(text):
            _take(text, str(path), recorded)
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                _take(line, f"{path}:{number}", recorded)
    return recorded


def _text(path: Path) -> str:
    from kengine.cli.files import check_file

    try:
        if str(path) == "-":
            return sys.stdin.read()
        check_file(path, "a file of verdicts", stream=True)
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not text (byte {error.start} is not UTF-8), expected verdicts as JSON") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def _is_one(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _take(text: str, where: str, recorded: Recorded) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {error}") from None
    if isinstance(value, dict) and value.get("schema") == ERROR_SCHEMA:
        recorded.errors.append(tuple(str(value.get(k, "")) for k in ("candidate", "error", "message")))  # type: ignore[arg-type]
        return
    try:
        recorded.verdicts.append(codec.loads(text, Verdict))
    except codec.CodecError as error:
        raise UsageError(f"{where}: not a verdict: {error}") from None
