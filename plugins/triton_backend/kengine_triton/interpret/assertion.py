"""Assertions: `device_assert` is honoured (Triton's interpreter ignores it), `static_assert` is a compile error."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Any


class DeviceAssertion(Exception):
    """A `tl.device_assert` or a plain `assert` of a kernel does not hold."""


def install() -> None:
    """Switch device assertions on, without the overflow checks that a debug build of a kernel adds."""
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    start = builder.__init__

    def begin(self: Any) -> None:
        start(self)
        self.options = changed(self.options, debug=True, sanitize_overflow=False)

    builder.__init__ = begin
    options = changed(interpreter.interpreter_builder.options, debug=True, sanitize_overflow=False)
    interpreter.interpreter_builder.options = options
    builder.create_assert = _create_assert
    builder.create_assume = _create_assume


def install_language() -> None:
    """Replace `tl.static_assert`; called after Triton has patched its language."""
    import triton.language as tl

    tl.static_assert = _static


def check(condition: Any, message: Any = "") -> None:
    """Raise DeviceAssertion unless the condition (a tensor or a Python value) holds everywhere."""
    handle = getattr(condition, "handle", None)
    holds = bool(handle.data.all()) if handle is not None else bool(condition)
    if not holds:
        raise DeviceAssertion(_describe("assertion", message, handle))


def _create_assert(self: Any, condition: Any, message: Any, *rest: Any) -> None:
    if not condition.data.all():
        raise DeviceAssertion(_describe("device_assert", message, condition))


def _create_assume(self: Any, condition: Any) -> None:
    if not condition.data.all():
        raise DeviceAssertion(_describe("tl.assume", "the kernel tells the compiler something untrue", condition))


def _describe(kind: str, message: Any, handle: Any) -> str:
    from triton.runtime.interpreter import interpreter_builder

    text = f"{kind} failed"
    if message:
        text += f": {message}"
    if handle is not None and handle.data.size > 1:
        text += f" ({int((~handle.data.astype(bool)).sum())} of {handle.data.size} lanes)"
    return f"{text}; program {tuple(getattr(interpreter_builder, 'grid_idx', None) or ())}"


def _static(cond: Any, msg: Any = "", **_: Any) -> None:
    from triton.compiler.errors import CompileTimeAssertionFailure

    value = getattr(cond, "value", cond)
    if not value:
        text = getattr(msg, "value", msg)
        raise CompileTimeAssertionFailure(
            None, None, f"static_assert failed: {text}" if text else "static_assert failed"
        )
