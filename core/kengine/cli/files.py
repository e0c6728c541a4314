"""From arguments of the command line to candidates: files, folders and glob patterns."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from kengine.errors import UsageError

SUFFIXES = (".py", ".cu", ".cuh", ".hip", ".cpp", ".cc", ".c")
"""What counts as a candidate when a folder is given; a file that is named itself may be called anything."""


def expand(arguments: Sequence[str], task: Path | None) -> list[Path]:
    """List the candidate files: a folder gives its own files, a pattern what it matches; the task is left out.

    Each file comes once, in the order given. Raises UsageError for what is not there or holds no candidate.
    """
    found: dict[Path, None] = {}
    for argument in arguments:
        for path in _expand(argument):
            found.setdefault(path)
    skip = task.resolve() if task is not None else None
    paths = [path for path in found if path.resolve() != skip]
    if not paths:
        raise UsageError(f"no candidate among {', '.join(arguments)}: only the task itself was named")
    return paths


def check_file(argument: Path, what: str, stream: bool = False) -> None:
    """Raise UsageError when a file is missing, with the nearest name that exists, or is no regular file.

    stream: a pipe will do as well, as for records that another command writes at the same time.
    """
    from kengine.tasks.paths import check_regular, show_path

    if argument.is_dir():
        raise UsageError(f"{show_path(argument)} is a folder, expected {what}")
    if not argument.exists():
        near = get_close_matches(argument.name, _siblings(argument), 1)
        hint = f"; did you mean {show_path(argument.with_name(near[0]))}?" if near else ""
        raise UsageError(f"{show_path(argument)}: no such file, expected {what}{hint}")
    if not stream:
        check_regular(argument, what)


def _siblings(path: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return []


def _expand(argument: str) -> Iterator[Path]:
    path = Path(argument)
    if path.is_dir():
        inside = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES and p.is_file() and p.name[0] not in "._")
        if not inside:
            raise UsageError(f"{argument}: no candidate in this folder (files ending in {', '.join(SUFFIXES)})")
        yield from inside
    elif not path.exists() and glob.has_magic(argument):
        matched = [Path(p) for p in sorted(glob.glob(argument, recursive=True)) if Path(p).is_file()]
        if not matched:
            raise UsageError(f"{argument}: the pattern matches no file")
        yield from matched
    else:
        check_file(path, "a candidate")
        yield path
