"""What counts as an answer: exactly the object that was asked for. Anything else is no opinion, with the reason."""

from __future__ import annotations

import json
from typing import Any

from kengine.model import Opinion
from kengine.opinion.question import ANSWERS

_LONGEST = 400
"""Characters of a reason that are kept."""


def read(body: bytes, model: str) -> Opinion:
    """The opinion in the body of a chat completion."""
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return Opinion(None, "the endpoint's reply is no chat completion", model)
    if message.get("refusal"):
        return Opinion(None, "the model refused", model)
    ended = choice.get("finish_reason")
    if ended not in ("stop", None):
        return Opinion(None, f"the model's answer did not end by itself ({clean(str(ended))[:40]})", model)
    return parse(content, model)


def parse(content: Any, model: str) -> Opinion:
    """The opinion in a model's text."""
    no_answer = Opinion(None, "the model's answer is not the JSON object that was asked for", model)
    if not isinstance(content, str):
        return no_answer
    try:
        answer = json.loads(content, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return no_answer
    if type(answer) is not dict or set(answer) != {"genuine", "reason"}:
        return no_answer
    genuine, reason = answer["genuine"], answer["reason"]
    if genuine not in ANSWERS or not isinstance(genuine, str) or not isinstance(reason, str):
        return no_answer
    return Opinion({"yes": True, "no": False}.get(genuine), clean(reason) or "no reason given", model)


def clean(text: str) -> str:
    """One line of printable text, cut."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _LONGEST]).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
