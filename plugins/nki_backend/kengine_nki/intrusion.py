"""Who reaches for the memory behind a tensor while a call is followed: the interpreter itself, or the candidate."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from kengine.errors import CandidateFault

from kengine_nki.sim.tensor import NkiTensor

_SLOTS = ("storage", "_array")
_METHODS = ("array", "tag_array")
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
"""The standard library copies and shows objects of every kind."""
_INSTALLED = os.path.join(_LIBRARY, "site-packages") + os.sep
_seen: list[str] = []


def forget() -> None:
    """Start a call with nothing seen."""
    _seen.clear()


def raise_seen() -> None:
    """Raise CandidateFault (tampered) when a candidate got at the memory, whatever it did with it."""
    if _seen:
        raise CandidateFault(
            "tampered",
            f"its code read '{_seen[0]}' of a tensor, which only the interpreter has: bytes behind it are no part "
            "of NKI; use instructions of nki.isa or functions of nki.language",
        )


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Look at every use of the memory behind tensors inside the block."""
    before = {name: vars(NkiTensor)[name] for name in (*_SLOTS, *_METHODS)}
    try:
        for name in _SLOTS:
            setattr(NkiTensor, name, _slot(name, before[name]))
        for name in _METHODS:
            setattr(NkiTensor, name, _method(name, before[name]))
        yield
    finally:
        for name, own in before.items():
            setattr(NkiTensor, name, own)


def _slot(name: str, own: Any) -> Any:
    def get(self: Any) -> Any:
        _look(name)
        return own.__get__(self)

    return property(get, own.__set__)


def _method(name: str, own: Callable[..., Any]) -> Any:
    @functools.wraps(own)
    def method(self: Any) -> Any:
        _look(name)
        return own(self)

    return method


def _look(name: str) -> None:
    file = sys._getframe(2).f_code.co_filename
    if file.startswith(_OURS) or (file.startswith(_LIBRARY) and not file.startswith(_INSTALLED)):
        return
    if len(_seen) < 10:
        _seen.append(name)
