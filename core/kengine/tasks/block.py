"""The `# /// kengine` block: TOML in comments, closed by `# ///` (`// /// kengine` and `// ///` in CUDA and HIP)."""

from __future__ import annotations

import difflib
import io
import math
import re
import sys
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.errors import UsageError
from kengine.model import JsonValue

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TASK_KEYS = (
    "name", "cases", "dtypes", "layouts", "values", "draws", "extra_values", "tolerance", "allow", "writes", "device",
    "timeout_s", "category", "level", "license", "origin",
)  # fmt: skip
"""Keys that describe a task. In the block of a candidate that comes with a task of its own they change nothing."""

CANDIDATE_KEYS = ("entry",)
"""Keys that the core reads from the block of a candidate; all others belong to the backend."""

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True)
class Block:
    """A parsed block: the file it stands in, the 1-based line that opens it, and its keys."""

    file: str
    line: int
    values: Mapping[str, JsonValue] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def where(self, key: str = "") -> str:
        """`file:line: key`, for the start of a message."""
        top = key.split(".")[0].split("[")[0]
        place = f"{self.file}:{self.lines.get(top, self.line)}"
        return f"{place}: {key}" if key else place


def find_block(text: str, file: str, language: str = "python") -> Block | None:
    """Find and parse the block of a normalised source text; None when it has none.

    Raises UsageError for a second block, one that is not closed, and TOML that does not parse.
    """
    mark = "#" if language == "python" else "//"
    opening = re.compile(rf"^{mark} ///\s*kengine\s*$")
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if opening.match(line)]
    if starts:
        comments = _python_comments(text) if language == "python" else _native_comments(text)
        starts = [i for i in starts if i + 1 in comments]
    if not starts:
        return None
    if len(starts) > 1:
        raise UsageError(f"{file}:{starts[1] + 1}: a second `{mark} /// kengine` block; the first is at line "
                         f"{starts[0] + 1}, a file has one")  # fmt: skip
    start = starts[0]
    body: list[str] = []
    for i in range(start + 1, len(lines)):
        line = lines[i].rstrip()
        if line == f"{mark} ///":
            break
        if not (line == mark or line.startswith(mark + " ")):
            raise UsageError(
                f"{file}:{i + 1}: the `{mark} /// kengine` block of line {start + 1} is not closed: "
                f"every line starts with `{mark} ` and the last one is `{mark} ///`"
            )
        body.append(line[len(mark) + 1 :])
    else:
        raise UsageError(f"{file}:{start + 1}: the `{mark} /// kengine` block is not closed by a line `{mark} ///`")
    return parse_block("\n".join(body), file, start + 1, len(mark) + 1)


def parse_block(toml: str, file: str, line: int = 0, indent: int = 0) -> Block:
    """Parse the TOML of a block that opens at `line` of `file`, each line of it after `indent` characters.

    Raises UsageError with line and column in that file.
    """
    try:
        table = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        at = line + (int(found[1]) if found and found[1] else toml.count("\n") + 1)
        column = f" in column {int(found[2]) + indent}" if found and found[2] else ""
        problem = _PLACE.sub("", str(error))
        raise UsageError(f"{file}:{at}: the kengine block is not TOML: {problem}{column}") from error
    except RecursionError as error:
        raise UsageError(f"{file}:{line}: the kengine block is nested too deeply") from error
    lines: dict[str, int] = {}
    for number, text in enumerate(toml.split("\n"), line + 1):
        head = re.match(r"\s*\[{0,2}\s*([A-Za-z0-9_-]+)", text)
        if head:
            lines.setdefault(head[1], number)
    block = Block(file, line, {}, lines)
    values = {key: _plain(value, key, block) for key, value in table.items()}
    return Block(file, line, values, lines)


def suggest(word: str, among: Iterable[str], cutoff: float = 0.6) -> str:
    """`; did you mean X?` for the nearest of `among`, or nothing."""
    near = difflib.get_close_matches(word, list(among), 1, cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


def check_keys(block: Block, backend_keys: bool) -> None:
    """Refuse unknown keys; with `backend_keys`, only those that look like a misspelt key of kengine's own.

    Raises UsageError with file, line, key and what is allowed.
    """
    known = TASK_KEYS + CANDIDATE_KEYS if backend_keys else TASK_KEYS
    for key in block.values:
        if key in known:
            continue
        hint = suggest(key, known, 0.8 if backend_keys else 0.6)
        if hint or not backend_keys:
            raise UsageError(f"{block.where(key)}: unknown key{hint}; allowed: {', '.join(sorted(known))}")


def read_entry(block: Block | None) -> str:
    """The key `entry`, "" when there is none. Raises UsageError when it is not a name."""
    value = block.values.get("entry") if block else None
    if value is None:
        return ""
    assert block is not None
    if not isinstance(value, str) or not value.isidentifier():
        raise UsageError(f"{block.where('entry')}: {value!r} is not a name; expected the name of a function or class")
    return value


def read_candidate_block(text: str, file: str, language: str) -> Block | None:
    """Find the block of a candidate, with keys and entry checked. Raises UsageError."""
    block = find_block(text, file, language)
    if block is not None:
        check_keys(block, backend_keys=True)
        read_entry(block)
    return block


def candidate_options(block: Block | None) -> dict[str, JsonValue]:
    """Keys of a candidate's block that its backend reads: all but those of a task."""
    if block is None:
        return {}
    return {key: value for key, value in block.values.items() if key not in TASK_KEYS}


def _plain(value: Any, key: str, block: Block) -> JsonValue:
    if isinstance(value, dict):
        return {k: _plain(v, f"{key}.{k}", block) for k, v in value.items()}
    if isinstance(value, list):
        return tuple(_plain(v, f"{key}[{i}]", block) for i, v in enumerate(value))
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{block.where(key)}: {value} is not a finite number")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise UsageError(f"{block.where(key)}: a {type(value).__name__} has no meaning here; "
                     "expected text, a number, true or false, a list or a table")  # fmt: skip


def _python_comments(text: str) -> set[int]:
    """Lines that begin with a comment; every line when the text does not tokenise, so that the block is still seen."""
    found: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and token.start[1] == 0:
                found.add(token.start[0])
    except (tokenize.TokenError, SyntaxError, RecursionError, MemoryError):
        return set(range(1, text.count("\n") + 2))
    return found


def _native_comments(text: str) -> set[int]:
    from kengine.tasks.cfamily import comment_lines

    return comment_lines(text)
