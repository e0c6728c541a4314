"""Whether this process interprets kernels is what its target says, whatever a candidate asks for.

Scripts that also run without a device begin with `os.environ["TRITON_INTERPRET"] = "1"`, and Triton reads that at
every `@triton.jit`. In a runner it would make kernels of the wrong sort: interpreted ones where they are compiled, or
compiled ones in the interpreter. So Triton is given the target's answer; the variable stays as the candidate left it.
"""

from __future__ import annotations

import os
from typing import Any

VARIABLE = "TRITON_INTERPRET"

_held: bool | None = None


def hold(interprets: bool) -> None:
    """Make Triton interpret kernels, or compile them, from now on in this process and its forks.

    Triton 3.4 and later ask `triton.knobs.runtime.interpret`, which then can be set without effect; Triton 3.3 asks for
    the variable from `triton.runtime.jit`.
    """
    global _held
    if interprets is _held:
        return
    _held = interprets
    try:
        from triton import knobs
    except ImportError:
        from triton.runtime import jit

        jit.os = _System(interprets)
        return
    type(knobs.runtime).interpret = _make_knob(knobs.env_bool, interprets)


def _make_knob(kind: Any, interprets: bool) -> Any:
    """A knob of Triton's own kind, so that its `scope`, `reset` and `copy` go on working, with one value for good."""

    class Held(kind):  # type: ignore[misc]
        def __get__(self, obj: object, objclass: type | None = None) -> bool:
            return interprets

        def get(self) -> bool:
            return interprets

        def __set__(self, obj: object, value: object) -> None:
            return

        def __delete__(self, obj: object) -> None:
            return

    knob = Held(VARIABLE)
    knob.__set_name__(type(None), "interpret")
    return knob


class _System:
    """The module `os` as Triton 3.3 sees it where it makes a kernel."""

    def __init__(self, interprets: bool) -> None:
        self._value = "1" if interprets else "0"

    def getenv(self, key: str, default: str | None = None) -> str | None:
        return self._value if key == VARIABLE else os.getenv(key, default)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)
