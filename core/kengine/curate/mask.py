"""Which tokens of a conversation count in the loss: those of the messages that are flagged, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kengine.errors import UsageError


def mask_tokens(
    messages: Sequence[Mapping[str, Any]],
    render: Callable[[Sequence[Mapping[str, Any]]], str],
    encode: Callable[[str], Sequence[int]],
    flag: str = "train",
) -> tuple[list[int], list[bool]]:
    """Token ids of a conversation, and for each whether it counts in the loss.

    render: the chat template, from messages to text; it must be built up message by message. encode: text to ids. What
    a template writes around a flagged message before its content (`<|assistant|>`) does not count, what it writes
    after it (the end of the turn) does: a model must learn to stop. Raises UsageError for a template that changes
    earlier text when a message is added, or that does not hold a flagged message's content as it is.
    """
    ids: list[int] = []
    mask: list[bool] = []
    done = ""
    for n, message in enumerate(messages, 1):
        text = render(messages[:n])
        if not text.startswith(done):
            raise UsageError(f"the chat template rewrites what stands before message {n}: no mask can be given for it")
        added, done = text[len(done) :], text
        if not message.get(flag):
            pieces = [(added, False)]
        else:
            head, found, tail = added.partition(message["content"])
            if not found:
                raise UsageError(f"the chat template does not write the content of message {n} as it is")
            pieces = [(head, False), (found + tail, True)]
        for piece, counts in pieces:
            tokens = list(encode(piece)) if piece else []
            ids += tokens
            mask += [counts] * len(tokens)
    return ids, mask
