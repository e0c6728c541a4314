"""What cannot be interpreted: inline assembly, Gluon, CUDA graphs. Such a candidate is not judged, not failed."""

from __future__ import annotations

from typing import Any


class Unsupported(Exception):
    """The candidate uses a construct that the interpreter has no meaning for; the message names it."""


faults: list[Unsupported] = []
"""What was met since the list was cleared, also when the candidate swallowed the exception."""


def refuse(construct: str) -> Unsupported:
    """Note and return the exception for a construct that cannot be interpreted."""
    fault = Unsupported(f"{construct} cannot be interpreted on a CPU; judge this candidate on a device")
    faults.append(fault)
    return fault


def install() -> None:
    """Make each construct say so where it is used."""
    from triton.runtime.interpreter import InterpreterBuilder as Builder
    from triton.runtime.jit import JITFunction

    def inline_asm(self: Any, *_: Any, **__: Any) -> Any:
        raise refuse("inline assembly (tl.inline_asm_elementwise)")

    def run(self: Any, *_: Any, **__: Any) -> Any:
        name = getattr(self, "__name__", "a kernel")
        raise refuse(f"Gluon kernel '{name}'" if _is_gluon(self) else f"compiled kernel '{name}'")

    Builder.create_inline_asm = inline_asm
    JITFunction.run = run
    if hasattr(Builder, "__getattr__"):
        return

    def missing(self: Any, name: str) -> Any:
        if name.startswith("create_"):
            raise refuse(f"the operation {name.removeprefix('create_')!r}")
        raise AttributeError(name)

    Builder.__getattr__ = missing


def _is_gluon(function: Any) -> bool:
    check = getattr(function, "is_gluon", None)
    return bool(check()) if check is not None else False
