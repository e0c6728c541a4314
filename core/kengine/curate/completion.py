"""What a model wrote, taken apart: thoughts, the last complete code block, and what was cut off."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from kengine.plugins import dialect
from kengine.tasks.markdown import CLOSING, THOUGHT_TAGS, Block, read_blocks

OTHER = frozenset({"bash", "sh", "shell", "zsh", "console", "json", "yaml", "toml", "xml", "html", "diff"})
"""Tags of blocks that are no candidate, whatever else there is."""

_THOUGHT = re.compile(rf"<({THOUGHT_TAGS})>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"</?[tTrR][hHeE]")
"""How every tag of a thought begins; a search for it passes over code far quicker than one for the tags."""
_DEFINES = re.compile(r"^(?:def|class|async def)\s|^@|__global__", re.MULTILINE)
_CODE_LINE = re.compile(r"^(?:import \w|from [\w.]+ import |#include\s*[<\"]|__global__\b|extern \"C\")", re.MULTILINE)


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
        return Parsed(_trim(chosen.code), chosen.tag, reasoning, len(blocks), cut or open_block)
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
    closing = CLOSING.search(text)
    if closing is not None and f"<{closing[1].lower()}>" not in text[: closing.start()].lower():
        # the chat template opened the thought before the completion began
        begin, text = text[: closing.start()].strip(), text[closing.end() :]
    thoughts = [begin] if begin else []
    cut = False

    def take(match: re.Match[str]) -> str:
        nonlocal cut
        thoughts.append(match[2].strip())
        cut = cut or not CLOSING.match(match[0], match.end(2) - match.start())
        return ""

    answer = _THOUGHT.sub(take, text)
    return answer, "\n\n".join(t for t in thoughts if t), cut


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
    return Parsed(_trim(_choose(blocks, None).code) if blocks else f"{code.rstrip()}\n", "", thoughts, 1)


def _trim(code: str) -> str:
    """The lines of a block without empty ones at the end; "" for one that holds nothing."""
    return f"{code.rstrip()}\n" if code.strip() else ""


def guess_backend(code: str) -> str:
    """The backend that a candidate is written for, as far as installed ones recognise it; "" when none does."""
    return dialect.guess(code)


def prefer(backend: str) -> bool | None:
    """What `parse` wants as `native` for a backend: False where its candidates are Python always, else None."""
    spoken = dialect.declared().get(backend)
    return False if spoken is not None and not spoken.native else None
