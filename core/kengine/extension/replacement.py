"""Putting `load_inline` and `load` in the place of torch's."""

from __future__ import annotations

from collections.abc import Callable

from kengine.extension import builder
from kengine.extension.settings import Settings


def install(settings: Settings) -> Callable[[], None]:
    """Make every later `torch.utils.cpp_extension.load_inline` and `load` of this process ours; returns the undoing.

    A candidate that has imported them before keeps torch's, so install before it is loaded.
    """
    from torch.utils import cpp_extension

    builder.configure(settings)
    before = cpp_extension.load_inline, cpp_extension.load
    cpp_extension.load_inline, cpp_extension.load = builder.load_inline, builder.load

    def undo() -> None:
        cpp_extension.load_inline, cpp_extension.load = before

    return undo
