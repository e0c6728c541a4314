"""What a kernel may refer to and call: what the compiler would take, and no Python of the host.

Triton's interpreter runs a kernel's body as Python, so that a branch which only it takes may call numpy, read
memory by address, or compute with an object that has operators of its own. A compiler knows nothing of the kind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from kengine.runner import watch

from kengine_triton import choices
from kengine_triton.names import content, find_globals

_HARMFUL = frozenset(
    ("exec", "eval", "compile", "__import__", "open", "input", "setattr", "delattr", "globals", "locals", "vars",
     "breakpoint")
)  # fmt: skip
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range)
_CONTAINERS = (tuple, list, dict, set, frozenset)
_MODULES = frozenset(("builtins", "math", "operator", "_operator", "copy"))
_HIDDEN = frozenset(("handle", "rewriter", "rewritten_fn"))
_DEPTH = 6


class HostCode(Exception):
    """A kernel reached for Python of the host; the message names what."""


faults: list[HostCode] = []
"""What was met since the list was cleared, also when the candidate swallowed the exception."""

_taken: dict[int, Any] = {}
"""Functions that were found to be Triton's own, by identity; kept alive so that none gets another's."""
_constants: dict[Any, Any] = {}


def install() -> None:
    """Look at what a kernel and its helpers refer to, each time that one of them starts."""
    from triton.runtime.interpreter import InterpretedFunction

    inner = InterpretedFunction.rewrite

    def rewrite(self: Any) -> Any:
        if type(self) is not InterpretedFunction or "rewrite" in vars(self):
            raise refuse(f"'{_name(self)}' is no function of triton.jit")
        fn = inner(self)
        for name, value in find_globals(self.fn):
            look_at(value, name)
            if type(value).__name__ == "constexpr":
                choices.note(f"global {name}", value)
        return fn

    InterpretedFunction.rewrite = rewrite


def refuse(what: str) -> HostCode:
    """Note and return the exception for something that is no part of Triton's language."""
    fault = HostCode(f"{what}: a kernel is compiled for a chip, which cannot run Python of the host")
    faults.append(fault)
    return fault


def reject(what: str) -> Any:
    """Raise it; for constructs that are replaced by a call of this."""
    raise refuse(what)


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call inside a kernel. Raises HostCode where the compiler would not take it."""
    for value in (*args, *kwargs.values()):
        inner = value.value if type(value).__name__ == "constexpr" and _is_triton_class(type(value)) else value
        if callable(inner) and not isinstance(inner, type):
            _take(inner)
    function = _take(function)
    if function is getattr and len(args) > 1:
        attribute(str(args[1]))
    if type(function).__name__ == "ConstexprFunction":
        return _at_compile_time(function, args, kwargs)
    return function(*args, **kwargs)


def attribute(name: str) -> None:
    """Raise HostCode for an attribute by which a kernel would get behind Triton's values."""
    if name in _HIDDEN or name.startswith("__"):
        raise refuse(f"attribute '{name}' inside a kernel")


def look_at(value: Any, name: str, depth: int = 0) -> None:
    """Raise HostCode for a value with whose operators a kernel would run Python: an object of a class of its own."""
    kind = type(value)
    if kind in _PLAIN or kind is ModuleType or depth > _DEPTH:
        return
    if kind in _CONTAINERS:
        items = list(value.items()) if kind is dict else list(value)
        if len(items) <= 1000:
            for item in items:
                look_at(item, name, depth + 1)
        return
    if kind.__name__ == "constexpr" and _is_triton_class(kind):
        look_at(value.value, name, depth + 1)
        return
    if callable(value):
        return  # looked at where it is called
    if not _is_triton_class(kind) and _has_operators(kind):
        raise refuse(f"'{name}' is an object of class '{kind.__name__}', with operators of the host")


def _take(function: Any) -> Any:
    """The function, if a kernel may call it."""
    if id(function) in _taken:
        return function
    if type(function).__name__ == "constexpr" and _is_triton_class(type(function)):
        return _take(function.value)
    kind = type(function)
    if _is_triton_class(kind):
        if "rewrite" in getattr(function, "__dict__", {}):
            raise refuse(f"'{_name(function)}' is no function of triton.jit")
        return function
    if kind is MethodType:
        _take(function.__func__)
        return function
    if kind is FunctionType and _is_triton_code(function):
        _taken[id(function)] = function
        return function
    if isinstance(function, type):
        return _take_class(function)
    if kind is BuiltinFunctionType and _is_plain_builtin(function):
        return function
    raise refuse(f"call of '{_name(function)}' inside a kernel")


def _take_class(kind: type) -> Any:
    import numpy as np

    if kind.__module__ == "builtins" or _is_triton_class(kind) or issubclass(kind, np.generic):
        return kind
    if issubclass(kind, tuple) and hasattr(kind, "_fields") and not _has_operators(kind):
        return kind
    if getattr(kind, "__triton_aggregate__", False):
        from kengine_triton.interpret import unsupported

        raise unsupported.refuse(f"class '{kind.__name__}' of the candidate's own inside a kernel")
    raise refuse(f"class '{kind.__name__}' inside a kernel")


def _is_plain_builtin(function: Any) -> bool:
    owner = function.__self__
    if isinstance(owner, ModuleType) or owner is None:
        return function.__module__ in _MODULES and function.__name__ not in _HARMFUL
    return type(owner) in (*_PLAIN, *_CONTAINERS) or isinstance(owner, (int, float))


def _is_triton_code(function: FunctionType, depth: int = 0) -> bool:
    """Whether a function, and every function that it holds on to, comes from Triton or from its mends here."""
    if not function.__code__.co_filename.startswith(_folders()):
        return False
    held: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    held += [content(cell) for cell in function.__closure__ or ()]
    return depth > _DEPTH or all(_is_triton_code(h, depth + 1) for h in held if type(h) is FunctionType)


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    import triton

    import kengine_triton

    return tuple(os.path.dirname(os.path.abspath(str(m.__file__))) + os.sep for m in (triton, kengine_triton))


@lru_cache(maxsize=4096)
def _is_triton_class(kind: type) -> bool:
    """Whether a class is found where it says that it is, in a module of Triton or of its mends."""
    module = sys.modules.get(kind.__module__)
    if module is None or kind.__module__.split(".")[0] not in ("triton", "kengine_triton"):
        return False
    found: Any = module
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


@lru_cache(maxsize=4096)
def _has_operators(kind: type) -> bool:
    """Whether an expression with such an object runs code that neither Python nor Triton brings."""
    if kind.__module__.split(".")[0] in ("numpy", "torch", "ctypes", "_ctypes", "cupy"):
        return kind.__name__ not in ("dtype", "device") and not _is_number(kind)
    for each in kind.__mro__:
        if each.__module__ in ("builtins", "enum", "typing") or _is_triton_class(each):
            continue
        for name, value in vars(each).items():
            function = value.fget if isinstance(value, property) else value
            special = isinstance(value, property) or (name.startswith("__") and name != "__init_subclass__")
            if special and isinstance(function, FunctionType) and not _is_generated(function):
                return True
    return False


def _is_number(kind: type) -> bool:
    import numpy as np

    return issubclass(kind, (np.generic, np.dtype))


def _is_generated(function: FunctionType) -> bool:
    """Whether the standard library made a function: of a namedtuple or a dataclass."""
    if function.__code__.co_filename.startswith(os.path.dirname(os.__file__) + os.sep):
        return True
    return function.__code__.co_filename == "<string>" and function.__globals__.get("__name__") != "__main__"


def _at_compile_time(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A function of constants, computed once for the same ones as a compiler does, and followed as host code."""
    import triton.language as tl

    given = [v.value if type(v) is tl.constexpr else v for v in (*args, *kwargs.values())]
    if any(isinstance(v, tl.tensor) for v in given):
        raise refuse(f"'{_name(function)}' takes constants and was called with values of the kernel")
    try:
        key = (id(function), tuple((type(v), v) for v in given), tuple(kwargs))
        if key not in _constants:
            with watch.resume():
                _constants[key] = (function, function(*args, **kwargs))
        return _constants[key][1]
    except TypeError:  # a list or the like, which is no key
        with watch.resume():
            return function(*args, **kwargs)


def _name(value: Any) -> str:
    return str(getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__)[:80]
