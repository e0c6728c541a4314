"""`load_inline` and `load` where there is no device: device sources are handed over, functions are not run."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kengine.simt.lexer import blank, closing

if TYPE_CHECKING:
    from kengine.extension.sources import SourceSet
    from kengine.extension.sources import Unit as ExtensionUnit
    from kengine.native.driver import Dialect

Compile = Callable[["ExtensionUnit", "SourceSet"], None]


class NotRun(RuntimeError):
    """A function of an extension was called for a chip that is not here."""


class Stub:
    """Stands for the module of an extension, or for its operators; calling anything of it raises NotRun."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        return _Function(f"{self.__name__}.{name}")


class _Function:
    """A function of an extension, or one overload of an operator."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotRun(f"{self.__name__} is not run for a chip that is not here")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Function(f"{self.__name__}.{name}")


@contextmanager
def collecting(compile_unit: Compile, dialect: Dialect) -> Iterator[None]:
    """Inside the block, and for what was imported in it, every device source of an extension goes to `compile_unit`.

    What it raises, the candidate's call of `load_inline` raises.
    """
    import torch
    from torch.utils import cpp_extension

    before = cpp_extension.load_inline, cpp_extension.load
    spaces: dict[str, Any] = {}
    cpp_extension.load_inline = functools.partial(_collect, compile_unit, dialect, spaces, "inline")
    cpp_extension.load = functools.partial(_collect, compile_unit, dialect, spaces, "files")
    try:
        yield
    finally:
        cpp_extension.load_inline, cpp_extension.load = before
        for name, space in spaces.items():
            if space is None:
                delattr(torch.ops, name)
            else:
                setattr(torch.ops, name, space)


def _collect(
    compile_unit: Compile, dialect: Dialect, spaces: dict[str, Any], how: str, name: str, *args: Any, **kwargs: Any
) -> Stub:
    given = _sources(dialect, how, name, args, kwargs)
    for unit in given.units:
        if unit.is_device:
            compile_unit(unit, given)
    _define_operators(given.text, spaces)
    return Stub(name)


def _define_operators(text: str, spaces: dict[str, Any]) -> None:
    """Have the operators of TORCH_LIBRARY blocks stand in `torch.ops`; `spaces` keeps what stood there before.

    Those with a schema are defined, so that the candidate may register more about them.
    """
    import torch

    code = blank(text)
    for block in re.finditer(r"\bTORCH_LIBRARY(?:_FRAGMENT)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*\{", code):
        library, variable = block[1], block[2]
        end = closing(code, block.end() - 1)
        body = text[block.end() : end if end >= 0 else len(text)]
        for match in re.finditer(rf'(?:\b{variable}|\))\s*\.\s*def\s*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', body):
            if "def" not in code[block.end() + match.start() : block.end() + match.end()]:
                continue  # in a comment
            schema = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
            bare, bracket, _ = schema.partition("(")
            if not bracket:
                continue
            with contextlib.suppress(RuntimeError):  # no schema, or one that is there already
                handle = torch.library.Library(library, "FRAGMENT")
                _libraries.append(handle)
                handle.define(schema)
                handle.impl(bare.strip(), _Function(f"torch.ops.{library}.{bare.strip()}"), "CompositeExplicitAutograd")
        if library not in spaces:
            spaces[library] = vars(torch.ops).get(library)
            setattr(torch.ops, library, _Operators(library, getattr(torch.ops, library)))


# Operators live as long as their handles.
_libraries: list[Any] = []


class _Operators(Stub):
    """A namespace of operators: those that are defined, and stubs for all others."""

    def __init__(self, name: str, defined: Any) -> None:
        super().__init__(f"torch.ops.{name}")
        self._defined = defined

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._defined, name)
        except AttributeError:
            return super().__getattr__(name)


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
