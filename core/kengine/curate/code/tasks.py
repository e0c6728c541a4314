"""Whether two tasks are the same: their source without names, comments and layout."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING

from kengine.curate.code.sketch import digest
from kengine.curate.code.tokens import tokenise
from kengine.model import Task

if TYPE_CHECKING:
    from tree_sitter import Node

_KEPT = 65_536
_known: OrderedDict[tuple[str, bool], tuple[int, int]] = OrderedDict()
_INPUTS = re.compile(rb"(?:async\s+)?def\s+(?:make_inputs|get_inputs|get_init_inputs)\b")
_PLAIN = re.compile(rb"[\w.,:=\s+*/()\[\]'\"-]*")


def digest_task(task: Task) -> tuple[int, int]:
    """128 bits, the same for tasks whose source differs in names, comments and layout; numbers count."""
    return _digest(task.source, False)


def digest_reference(task: Task) -> tuple[int, int] | None:
    """128 bits of what the reference computes: how inputs are made, sizes and other numbers do not count.

    None for a reference of less than a few tokens, which says nothing.
    """
    return digest_text(task.source)


def digest_text(source: str) -> tuple[int, int] | None:
    """The same of a reference's text."""
    found = _digest(source, True)
    return found if found != (0, 0) else None


def _digest(source: str, reference: bool) -> tuple[int, int]:
    key = (source, reference)
    found = _known.get(key)
    if found is None:
        tokens = tokenise([("task.py", source)], _is_aside if reference else None, not reference)
        found = digest(tokens) if not reference or len(tokens.kept) >= 8 else (0, 0)
        _known[key] = found
        if len(_known) > _KEPT:
            _known.popitem(last=False)
    else:
        _known.move_to_end(key)
    return found


def _is_aside(node: Node) -> bool:
    """Whether a node at the top of a task makes inputs, names a constant, or only runs when called by hand."""
    text = node.text or b""
    if node.type in ("function_definition", "decorated_definition"):
        return _INPUTS.search(text[:200]) is not None
    if node.type == "if_statement":
        return b"__name__" in text[:40]
    return node.type == "expression_statement" and len(text) < 500 and _PLAIN.fullmatch(text) is not None
