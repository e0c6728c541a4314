"""From what a model wrote to the text of a candidate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Union

from kengine.errors import UsageError
from kengine.tasks.cfamily import blank_comments
from kengine.tasks.language import guess_language
from kengine.tasks.markdown import CLOSING, OPENING, has_fence, read_blocks
from kengine.tasks.source import SourceError, parse

Completion = Union[str, Sequence[Mapping[str, Any]], Mapping[str, Any]]
"""What trainers hand over: a text, the messages of a conversation, or one message."""

LANGUAGES = ("python", "cuda", "hip")
"""Languages that can be asked for; CUDA and HIP are one as far as fences tell."""

_DEFINES = re.compile(r"^(?:def|class|async def)\s|^@\w|\b__global__\b", re.MULTILINE)
_PYTHON = re.compile(r"^(?:import \w|from [\w.]+ import\b|def \w+\s*\()", re.MULTILINE)


def extract(completion: Completion, language: str = "") -> str:
    """The code in a completion: its last complete fenced block that defines something, in the language asked for.

    completion: text, the messages of a conversation (the last one of the assistant counts), or one message. language:
    "python", "cuda" or "hip"; "" takes a block of Python before one of CUDA or HIP, because host code in Python holds
    its kernels itself. Without a block of that language the last untagged one counts, then the last of any; without any
    block the whole text, which is then judged as it is. What stands in <think>, <thinking>, <reasoning> or <thought>
    does not count; a thought that never ends leaves nothing. An answer that was cut within its only block keeps the
    fence and does not compile. Raises UsageError for what is no completion, and for an unknown language.
    """
    if language and language not in LANGUAGES:
        raise UsageError(f"extract: no language {language!r}; allowed: {', '.join(LANGUAGES)}, or nothing for any")
    text = strip_thoughts(read_text(completion))
    blocks = [(_kind(tag, code), code) for tag, code in read_blocks(text)[0]]
    wanted = {"": ("python", "native"), "python": ("python",)}.get(language, ("native",))
    for kind in wanted:
        if found := [code for each, code in blocks if each == kind and _DEFINES.search(code)]:
            return found[-1]
    for kind in (*wanted, "untagged"):
        if found := [code for each, code in blocks if each == kind]:
            return found[-1]
    return blocks[-1][1] if blocks else text


def explain_markdown(text: str, language: str) -> str:
    """What is wrong with the text of a candidate that is an answer and not code; "" for code in that language."""
    if "```" not in text and "~~~" not in text:
        return ""
    if language == "python":
        try:
            parse(text, "")
            return ""
        except SourceError:
            outside = text
    else:
        outside = blank_comments(text, strings=False)
    if not has_fence(outside):
        return ""
    if read_blocks(outside)[0]:
        return "this is Markdown around a code block: kengine.tasks.extract(text) takes the code out"
    return "this is Markdown with a code block that never ends: the answer was cut off"


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


def strip_thoughts(text: str) -> str:
    """What follows the last thought, <think> or another of its names; "" when the last one was not finished."""
    end = 0
    for closing in CLOSING.finditer(text):
        end = closing.end()
    return "" if OPENING.search(text, end) else text[end:]


def _kind(tag: str, code: str) -> str:
    """python, native, untagged or other; a block without a tag that is CUDA or HIP by its content counts as tagged."""
    from kengine.plugins import dialect

    known = dialect.declared()
    if tag in known.python:
        return "python"
    if tag in known.native:
        # models write ```cuda over Python with CUDA in its strings too
        return "python" if guess_language(code) == "python" and _PYTHON.search(code) else "native"
    if tag:
        return "other"
    return "native" if guess_language(code) != "python" else "untagged"


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
