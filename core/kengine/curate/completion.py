"""What a model wrote, taken apart: thoughts, the last complete code block, and what was cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from kengine.plugins import dialect

OTHER = frozenset({"bash", "sh", "shell", "zsh", "console", "json", "yaml", "toml", "xml", "html", "diff"})
"""Tags of blocks that are no candidate, whatever else there is."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\r\n]*?)[ \t]*\r?\Z")
_THOUGHT = re.compile(r"<(think|thinking|reasoning|thought)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"</?[tTrR][hHeE]")
"""How every tag of a thought begins; a search for it passes over code far quicker than one for the tags."""
_CLOSING = re.compile(r"</(think|thinking|reasoning|thought)>", re.IGNORECASE)
_DEFINES = re.compile(r"^(?:def|class|async def)\s|^@|__global__", re.MULTILINE)
_CODE_LINE = re.compile(r"^(?:import \w|from [\w.]+ import |#include\s*[<\"]|__global__\b|extern \"C\")", re.MULTILINE)


class Block(NamedTuple):
    """One complete fenced block: the first word after the fence in lower case, and the lines within."""

    tag: str
    code: str


class Parsed(NamedTuple):
    """A completion taken apart.

    code: the last complete block that fits, or the whole text where it is code without a fence; "" when there is none.
    tag: language after its fence. reasoning: thoughts in order. blocks: how many complete ones there are.
    truncated: a thought or a block never ends. bare: the code stood without a fence.
    """

    code: str
    tag: str = ""
    reasoning: str = ""
    blocks: int = 0
    truncated: bool = False
    bare: bool = False


def parse(text: str, native: bool | None = None) -> Parsed:
    """Take a completion apart. native: prefer blocks of CUDA or HIP (True) or of Python (False); None takes either.

    The last complete block of the wanted language counts, and among these the last one that defines something, so that
    an example of use after the kernel is not taken for it; without one, the last untagged, then any but commands and
    data.
    """
    found = _from_json(text)
    if found is not None:
        return found
    answer, reasoning, cut = split_thoughts(text)
    blocks, open_block = read_blocks(answer)
    fitting = [block for block in blocks if block.tag not in OTHER]
    if fitting:
        chosen = _choose(fitting, native)
        return Parsed(chosen.code, chosen.tag, reasoning, len(blocks), cut or open_block)
    if blocks or cut or open_block:
        return Parsed("", "", reasoning, len(blocks), cut or open_block)
    code = answer.strip("\n")
    if _CODE_LINE.search(code) and _DEFINES.search(code):
        return Parsed(f"{code.rstrip()}\n", "", reasoning, 0, False, True)
    return Parsed("", "", reasoning)


def split_thoughts(text: str) -> tuple[str, str, bool]:
    """The answer without thoughts, the thoughts, and whether the last one never ends."""
    if _MARK.search(text) is None:
        return text, "", False
    if text.startswith("<think>"):
        end = text.find("</think>")
        if end >= 0 and _MARK.search(text, 7, end) is None and _MARK.search(text, end + 8) is None:
            return text[end + 8 :], text[7:end].strip(), False
    begin = ""
    closing = _CLOSING.search(text)
    if closing is not None and f"<{closing[1].lower()}>" not in text[: closing.start()].lower():
        # the chat template opened the thought before the completion began
        begin, text = text[: closing.start()].strip(), text[closing.end() :]
    thoughts = [begin] if begin else []
    cut = False

    def take(match: re.Match[str]) -> str:
        nonlocal cut
        thoughts.append(match[2].strip())
        cut = cut or not _CLOSING.match(match[0], match.end(2) - match.start())
        return ""

    answer = _THOUGHT.sub(take, text)
    return answer, "\n\n".join(t for t in thoughts if t), cut


def read_blocks(text: str) -> tuple[list[Block], bool]:
    """Complete fenced blocks in order, and whether the last one never ends."""
    blocks: list[Block] = []
    opening: tuple[str, str, int] | None = None
    for start, mark, info, end in _fences(text):
        if opening is None:
            if not (mark[0] == "`" and "`" in info):
                opening = mark, info, end
        elif mark.startswith(opening[0]) and not info:
            tag = re.split(r"[\s{,:]", opening[1], maxsplit=1)[0].lower()
            code = text[opening[2] + 1 : start]
            code = code.replace("\r\n", "\n") if "\r" in code else code
            blocks.append(Block(tag, f"{code.rstrip()}\n" if code.strip() else ""))
            opening = None
    return blocks, opening is not None


def _fences(text: str) -> Iterator[tuple[int, str, str, int]]:
    """Lines that may open or close a block: where one begins, its mark, what follows the mark, and where it ends."""
    ticks, tildes = _find(text, "`", 0), _find(text, "~", 0)
    while ticks >= 0 or tildes >= 0:
        found = ticks if tildes < 0 or 0 <= ticks < tildes else tildes
        start = text.rfind("\n", 0, found) + 1
        end = text.find("\n", found)
        end = len(text) if end < 0 else end
        line = _FENCE.match(text, start, end)
        if line is not None:
            yield start, line[1], line[2], end
        ticks = _find(text, "`", end) if 0 <= ticks < end else ticks
        tildes = _find(text, "~", end) if 0 <= tildes < end else tildes


def _find(text: str, mark: str, start: int) -> int:
    """Where a mark stands three times; the search for a single one is many times as fast, and there is seldom one."""
    first = text.find(mark, start)
    return first if first < 0 else text.find(mark * 3, first)


def _choose(blocks: list[Block], native: bool | None) -> Block:
    known = dialect.declared()
    wanted = known.suffixes.keys() if native is None else known.native if native else known.python
    for kind in ([b for b in blocks if b.tag in wanted], [b for b in blocks if not b.tag], blocks):
        if len(kind) == 1:
            return kind[0]
        if kind:
            return next((b for b in reversed(kind) if _DEFINES.search(b.code)), kind[-1])
    raise AssertionError("there is a block")


def _from_json(text: str) -> Parsed | None:
    """An answer that is an object with `code` and perhaps `thought`, as some datasets ask for."""
    if text[:1] != "{" and not text[:1].isspace():
        return None
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}") and '"code"' in stripped):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    code = value.get("code") if isinstance(value, dict) else None
    if not isinstance(code, str):
        return None
    thoughts = next(
        (value[k] for k in ("thought", "thoughts", "reasoning", "strategy") if isinstance(value.get(k), str)), ""
    )
    blocks, _ = read_blocks(code)
    return Parsed(_choose(blocks, None).code if blocks else f"{code.rstrip()}\n", "", thoughts, 1)


def guess_backend(code: str) -> str:
    """The backend that a candidate is written for, as far as installed ones recognise it; "" when none does."""
    return dialect.guess(code)


def prefer(backend: str) -> bool | None:
    """What `parse` wants as `native` for a backend: False where its candidates are Python always, else None."""
    spoken = dialect.declared().get(backend)
    return False if spoken is not None and not spoken.native else None
