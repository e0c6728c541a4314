"""`load_inline` and `load` where there is no device: device sources are handed over, functions are not run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.extension.sources import SourceSet
    from kengine.extension.sources import Unit as ExtensionUnit
    from kengine.native.driver import Dialect

Compile = Callable[["ExtensionUnit", "SourceSet"], None]


class NotRun(RuntimeError):
    """A function of an extension was called for a chip that is not here."""


class Stub:
    """Stands for the module of an extension; calling anything of it raises NotRun."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*_: Any, **__: Any) -> Any:
            raise NotRun(f"{self.__name__}.{name} is not run for a chip that is not here")

        return call


@contextmanager
def collecting(compile_unit: Compile, dialect: Dialect) -> Iterator[None]:
    """Inside the block, and for what was imported in it, every device source of an extension goes to `compile_unit`.

    What it raises, the candidate's call of `load_inline` raises.
    """
    from torch.utils import cpp_extension

    before = cpp_extension.load_inline, cpp_extension.load
    cpp_extension.load_inline = functools.partial(_collect, compile_unit, dialect, "inline")
    cpp_extension.load = functools.partial(_collect, compile_unit, dialect, "files")
    try:
        yield
    finally:
        cpp_extension.load_inline, cpp_extension.load = before


def _collect(compile_unit: Compile, dialect: Dialect, how: str, name: str, *args: Any, **kwargs: Any) -> Stub:
    given = _sources(dialect, how, name, args, kwargs)
    for unit in given.units:
        if unit.is_device:
            compile_unit(unit, given)
    return Stub(name)


def _sources(dialect: Dialect, how: str, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> SourceSet:
    from kengine.extension import sources

    flags: dict[str, Any] = {key: kwargs.get(key) for key in ("extra_cflags", "extra_cuda_cflags", "extra_ldflags")}
    if how == "files":
        return sources.from_files(name, args[0] if args else kwargs.get("sources"), dialect=dialect, **flags)
    texts = [*args, None, None][:2]
    return sources.from_inline(
        name, kwargs.get("cpp_sources", texts[0]), kwargs.get("cuda_sources", texts[1]), kwargs.get("functions"),
        dialect=dialect, **flags,
    )  # fmt: skip
