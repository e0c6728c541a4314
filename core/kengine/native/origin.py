"""Where in a candidate's file a fault comes from, when what raised it could not tell: the call, or the launch block."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.native.block import find_line
from kengine.native.faults import place
from kengine.runner.faults import own_line
from kengine.syntax import parse_tree

_BLOCK = re.compile(r"(?:\S+: )?the launch block: (?P<key>[\w.\[\]]+): ")
_NAMED = re.compile(
    r"the source defines no kernel '(?P<missing>[^']+)'|kernel '(?P<mangled>[^']+)' is not extern \"C\""
)
_ABOUT = (
    (r"the launch block names the kernel", "kernel"),
    (r"the launch block names \d+ inputs", "inputs"),
    (r"the launch block names \d+ outputs", "outputs"),
    (r"the launch block: no value for parameter|\btakes \d+ arguments|: argument \d+ for ", "args"),
    (r"launch limit: .*grid size", "grid"),
    (r"launch limit: .*shared memory", "shared"),
    (r"launch limit: ", "block"),
)
"""What a fault of a bare file's launch is about, and the key of the block that decides it."""


@contextmanager
def placed(candidate: Candidate) -> Iterator[None]:
    """Inside the block, give every CandidateFault without a line the candidate's line that led to it, if it is known;
    what the launch block causes has the file in front of it too."""
    try:
        yield
    except CandidateFault as fault:
        better = _place(fault, candidate)
        if better is fault:
            raise
        raise better.with_traceback(fault.__traceback__) from fault.__cause__


def _place(fault: CandidateFault, candidate: Candidate) -> CandidateFault:
    if fault.line:
        return fault
    if candidate.language == "python":
        return place(fault, own_line(fault) or _line_of_name(fault.message, candidate.main.text))
    key = _BLOCK.match(fault.message)
    about = key["key"] if key else next((k for pattern, k in _ABOUT if re.search(pattern, fault.message)), "")
    return place(fault, _line_of(about, candidate), candidate.main.path) if about else fault


def _line_of(key: str, candidate: Candidate) -> int:
    """The line of a key in the block, of the block when it is left out, or of the entry where there is no block."""
    text = candidate.main.text
    line = find_line(text, key, *(("entry",) if key == "kernel" else ()))
    if line:
        return line
    defined = re.search(rf"\b{re.escape(candidate.entry)}\s*\(", text)
    return text.count("\n", 0, defined.start()) + 1 if defined else 0


def _line_of_name(message: str, text: str) -> int:
    """The line of the string that names a kernel which does not exist, 0 when it is not one string of the file's."""
    match = _NAMED.search(message)
    if match is None:
        return 0
    wanted = match["missing"] or match["mangled"]
    try:
        tree = parse_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == wanted}
    return lines.pop() if len(lines) == 1 else 0
