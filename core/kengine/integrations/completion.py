"""From what a model wrote to the text of a candidate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Union

from kengine.errors import UsageError

Completion = Union[str, Sequence[Mapping[str, Any]], Mapping[str, Any]]
"""What trainers hand over: a text, the messages of a conversation, or one message."""

_NATIVE = frozenset({".cu", ".cuh", ".hip", ".cpp", ".cc", ".c", ".h", ".hpp"})
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n]*)$")


def read_code(completion: Completion, name: str = "candidate.py") -> str:
    """The code in a completion: its last complete fenced block of the language of `name`.

    Without a block of that language the last complete one of any, without any block the whole text, which is then
    judged as it is. What stands in <think> does not count; a thought that never ends leaves nothing. An answer that was
    cut within its only block keeps the fence and does not compile.
    """
    text = strip_thoughts(read_text(completion))
    from kengine.plugins import dialect

    known = dialect.declared()
    family = known.native if PurePath(name).suffix.lower() in _NATIVE else known.python
    blocks = list(read_blocks(text))
    suitable = [code for tag, code in blocks if tag in family]
    untagged = [code for tag, code in blocks if not tag]
    for choice in (suitable, untagged, [code for _, code in blocks]):
        if choice:
            return choice[-1]
    return text


def read_text(completion: Completion) -> str:
    """The text of a completion: itself, or what the last assistant message says. Raises UsageError for other types."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        return _content(completion.get("content"))
    if isinstance(completion, Sequence) and not isinstance(completion, (bytes, bytearray)):
        for message in reversed(completion):
            if _role(message) == "assistant":
                return _content(_field(message, "content"))
        if not completion or all(_role(m) is not None for m in completion):
            return ""
    raise UsageError(f"a completion is text or a list of messages, got {type(completion).__name__}")


def read_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Complete fenced blocks of Markdown in order: the first word after the fence, lower case, and the lines within.

    A block ends with a line of at least as many of the same mark and nothing else; one that never ends is left out.
    """
    mark, tag = "", ""
    lines: list[str] = []
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not mark:
            if found and not (found["mark"][0] == "`" and "`" in found["info"]):
                mark, tag, lines = found["mark"], found["info"].strip().lower(), []
        elif found and found["mark"].startswith(mark) and not found["info"].strip():
            yield re.split(r"[\s{,:]", tag, maxsplit=1)[0], "".join(f"{line}\n" for line in lines)
            mark = ""
        else:
            lines.append(line)


def strip_thoughts(text: str) -> str:
    """What follows the last thought; "" when the last one was not finished."""
    head, closed, tail = text.rpartition("</think>")
    if "<think>" in tail or (not closed and "<think>" in head):
        return ""
    return tail


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [_field(part, "text") for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _role(message: Any) -> Any:
    return _field(message, "role")


def _field(record: Any, name: str) -> Any:
    """A field of a message, which trainers hold as a mapping or as an object."""
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)
