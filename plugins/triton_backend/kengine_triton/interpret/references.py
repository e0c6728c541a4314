"""What a kernel may refer to and call: what the compiler would take, and no Python of the host.

Triton's interpreter runs a kernel's body as Python, so that a branch which only it takes may call numpy, read
memory by address, or compute with an object that has operators of its own. A compiler knows nothing of the kind.
"""

from __future__ import annotations

import builtins
import functools
import operator
import os
from collections.abc import Mapping
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from kengine.runner import watch

from kengine_triton import choices
from kengine_triton.interpret.classes import (
    computes,
    is_array,
    is_known,
    is_own,
    is_triton_class,
    plain,
    remember,
    simple,
)
from kengine_triton.names import content, find_globals

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range)
_CONTAINERS = (tuple, list, dict, set, frozenset)
_MODULES = frozenset(("math", "copy"))
_LANGUAGE = frozenset(("triton.runtime.jit", "triton.runtime.interpreter"))
"""Modules beside the language itself whose objects may be named: functions of `triton.jit`."""
_HIDDEN = frozenset(("handle", "rewriter", "rewritten_fn"))
_SHOWN = frozenset(("__version__", "__name__"))
_DEPTH = 6


class HostCode(Exception):
    """A kernel reached for Python of the host; the message names what."""


faults: list[HostCode] = []
"""What was met since the list was cleared, also when the candidate swallowed the exception."""

one_given = False
"""Whether an argument of the launch under way is the integer 1, which is a constant to the compiler."""
_taken: dict[int, Any] = {}
"""Functions that were found to be Triton's own, by identity; kept alive so that none gets another's."""
_constants: dict[Any, Any] = {}


def install() -> None:
    """Look at what a kernel and its helpers refer to, each time that one of them starts."""
    from triton.runtime.interpreter import GridExecutor, InterpretedFunction

    remember()
    inner = InterpretedFunction.rewrite

    def rewrite(self: Any) -> Any:
        if type(self) is not InterpretedFunction or "rewrite" in vars(self):
            raise refuse(f"'{name_of(self)}' is no function of triton.jit")
        fn = inner(self)
        choices.note_code(name_of(self.fn), self.fn)
        for name, value in find_globals(self.fn):
            look_at(value, name)
            choices.note_global(name, value)
        return fn

    InterpretedFunction.rewrite = rewrite
    start = GridExecutor.__call__

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        global one_given
        one_given = any(type(value) is int and value == 1 for value in (*args, *kwargs.values()))
        for name, value in [*zip(self.arg_names, args), *kwargs.items()]:
            if is_array(type(value)) and not hasattr(value, "data_ptr"):
                raise refuse(f"argument '{name}' is an object of class '{type(value).__name__}', with operators")
        return start(self, *args, **kwargs)

    GridExecutor.__call__ = run


def refuse(what: str) -> HostCode:
    """Note and return the exception for something that is no part of Triton's language."""
    fault = HostCode(f"{what}: a kernel is compiled for a chip, which cannot run Python of the host")
    faults.append(fault)
    return fault


def reject(what: str) -> Any:
    """Raise it; for constructs that are replaced by a call of this."""
    raise refuse(what)


def refuse_global(name: str) -> Any:
    """Raise HostCode for a global, or a name of a closure, that is no constant to the compiler."""
    fault = HostCode(
        f"global variable '{name}' is used inside a kernel and is no tl.constexpr: Triton's compiler takes only "
        f"globals that are made as such; write {name} = tl.constexpr(...) or hand it over as an argument"
    )
    faults.append(fault)
    raise fault


def may_be_named(value: Any) -> bool:
    """Whether the compiler takes a global with this value: a constant, a module, or part of Triton's language."""
    kind = type(value)
    if value is None or kind is ModuleType:
        return True
    if is_triton_class(kind):
        return kind.__module__ in _LANGUAGE or kind.__module__.startswith(("triton.language.", "kengine_triton."))
    if isinstance(value, type):
        named = issubclass(value, tuple) and hasattr(value, "_fields")
        return named or getattr(value, "__triton_aggregate__", False) is True or is_triton_class(value)
    if kind is FunctionType:
        return _is_triton_code(value)
    return _allows_all() or (kind is MethodType and is_triton_class(type(value.__self__)))


def may_be_called(value: Any) -> bool:
    """Whether the compiler takes something that a kernel calls in a module: all but functions of the host."""
    import triton.runtime.jit as jit

    if not hasattr(jit, "JITCallable"):
        return True  # Triton 3.3 calls them, for constants
    if not callable(value) or isinstance(value, type) or may_be_named(value):
        return True
    return type(value) is BuiltinFunctionType and _is_plain_builtin(value)


def _allows_all() -> bool:
    try:
        from triton import knobs

        return bool(knobs.compilation.allow_non_constexpr_globals)
    except (ImportError, AttributeError):
        return os.environ.get("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS") == "1"


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call inside a kernel. Raises HostCode where the compiler would not take it."""
    function = plain(function)
    if _is_host(function):
        return at_compile_time(function, args, kwargs)
    for value in (*args, *kwargs.values()):
        inner = plain(value)
        if callable(inner) and not isinstance(inner, type) and not is_own(inner):
            _take(inner)
    function = _take(function)
    if function is getattr and len(args) > 1 and is_hidden(str(plain(args[1]))):
        raise refuse(f"attribute '{plain(args[1])}' inside a kernel")
    if type(function) in (type, BuiltinFunctionType) and function in _builtins():
        args = tuple(plain(value) for value in args)
        if any(is_own(value) for value in args):
            return _with_objects(function, args, kwargs)
    if is_triton_class(type(function)) and getattr(getattr(function, "rewriter", None), "kwargs", {}).get("noinline"):
        _refuse_blocks(function, (*args, *kwargs.values()))
    if type(function).__name__ == "ConstexprFunction":
        return at_compile_time(function, args, kwargs)
    if type(function).__name__ != "InterpretedFunction" and any(
        computes(type(plain(value))) for value in (*args, *kwargs.values())
    ):
        return _with_objects(function, args, kwargs)
    return function(*args, **kwargs)


def _with_objects(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A function of the language that is given objects of the candidate's own, which it may use as numbers."""
    values = [*args, *kwargs.values(), getattr(function, "__self__", None)]
    if not any(is_value(value) for value in values):
        with watch.resume():
            return function(*args, **kwargs)
    args, kwargs = tuple(simple(plain(v)) for v in args), {name: simple(plain(v)) for name, v in kwargs.items()}
    for value in (*args, *kwargs.values()):
        if computes(type(value)) and function not in (getattr, hasattr):
            raise refuse(
                f"'{name_of(function)}' of an object of class '{type(value).__name__}' and values of the kernel"
            )
    return function(*args, **kwargs)


def is_value(value: Any) -> bool:
    """Whether a value is one of the kernel's: a block, a number that is known at run time, or a group of them."""
    import triton.language as tl

    value = plain(value)
    if isinstance(value, tl.tensor) or type(value).__name__ in ("tensor_descriptor", "tensor_descriptor_base"):
        return True
    if type(value).__name__ == "tuple" and is_triton_class(type(value)):
        value = value.values
    if isinstance(value, tuple):
        return any(is_value(each) for each in tuple.__iter__(value))
    return type(value) is list and any(is_value(each) for each in value)


def is_hidden(name: str) -> bool:
    """Whether by an attribute of this name a kernel would get behind Triton's values."""
    return name in _HIDDEN or (name.startswith("__") and name not in _SHOWN)


def attribute(value: Any, name: str, direct: bool = False) -> Any:
    """An attribute inside a kernel, of a constant too. direct: of a local name, behind which a constant is wrapped."""
    if is_hidden(name):
        raise refuse(f"attribute '{name}' inside a kernel")
    kind = type(value)
    if kind.__name__ == "constexpr" and is_triton_class(kind):
        if name in ("value", "type"):
            return getattr(value, name)
        value = value.value
        kind = type(value)
    elif direct and name == "value" and not is_triton_class(kind):
        return value
    if kind in _PLAIN or kind is ModuleType or is_triton_class(kind) or not _is_computed(value, name):
        return getattr(value, name)
    with watch.resume():  # as the compiler does: a constant, computed by host code
        found = getattr(value, name)
    look_at(found, name)
    return found


def _is_computed(value: Any, name: str) -> bool:
    """Whether an attribute comes of code: a property, a descriptor, or what its class has for names that it lacks."""
    if isinstance(value, type):
        return is_own(value) or any(_is_descriptor(vars(each).get(name)) for each in value.__mro__)
    kind = type(value)
    found = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)
    others = [vars(each) for each in kind.__mro__ if each is not object]
    if any("__getattribute__" in each and not is_triton_class(kind) for each in others) and is_own(value):
        return True
    return _is_descriptor(found) or (found is None and is_own(value) and any("__getattr__" in each for each in others))


def _is_descriptor(found: Any) -> bool:
    return found is not None and hasattr(type(found), "__get__") and not isinstance(found, FunctionType)


def look_at(value: Any, name: str, depth: int = 0) -> None:
    """Raise HostCode for data of the host, which a kernel would compute with: arrays, also among others."""
    kind = type(value)
    if kind in _PLAIN or kind is ModuleType or depth > _DEPTH:
        return
    if kind in _CONTAINERS:
        items = list(value.items()) if kind is dict else list(value)
        if len(items) <= 1000:
            for item in items:
                look_at(item, name, depth + 1)
        return
    if kind.__name__ == "constexpr" and is_triton_class(kind):
        look_at(value.value, name, depth + 1)
        return
    if not is_triton_class(kind) and is_array(kind):
        raise refuse(f"'{name}' is an object of class '{kind.__name__}', with operators of the host")


def _is_host(function: Any) -> bool:
    """Whether it is a function, a method or an object of the candidate's own: the compiler calls it for a constant.

    One that is a global, or in a module, does not come here.
    """
    kind = type(function)
    if kind is MethodType:
        owner = function.__self__
        kind = owner if isinstance(owner, type) else type(owner)
        return type(function.__func__) is FunctionType and not is_known(kind)
    if kind is functools.partial:
        return _is_host(function.func) or _is_function_of_operators(function.func)
    if kind is FunctionType:
        return not _is_triton_code(function)
    if isinstance(function, type):
        special = is_known(function) or is_array(function) or hasattr(function, "_fields")
        return not (special or getattr(function, "__triton_aggregate__", False))
    return (callable(function) and is_own(function)) or _is_function_of_operators(function)


def _is_function_of_operators(function: Any) -> bool:
    return (
        type(function) is BuiltinFunctionType
        and function.__module__ == "_operator"
        and (getattr(operator, function.__name__, None) is function)
    )


def _refuse_blocks(function: Any, values: tuple[Any, ...]) -> None:
    for value in values:
        if type(value).__name__ == "tensor" and value.type.is_block():
            raise refuse(f"'{name_of(function)}' is marked noinline and was called with a block")


def _take(function: Any) -> Any:
    """The function, if a kernel may call it."""
    if id(function) in _taken:
        return function
    if type(function).__name__ == "constexpr" and is_triton_class(type(function)):
        return _take(function.value)
    kind = type(function)
    if is_triton_class(kind):
        if "rewrite" in getattr(function, "__dict__", {}):
            raise refuse(f"'{name_of(function)}' is no function of triton.jit")
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
    raise refuse(f"call of '{name_of(function)}' inside a kernel")


def _take_class(kind: type) -> Any:
    import numpy as np

    if kind in _builtins() or is_triton_class(kind) or issubclass(kind, np.generic):
        return kind
    if kind.__name__ in ("finfo", "iinfo") and kind.__module__.split(".")[0] in ("torch", "numpy"):
        return kind
    if issubclass(kind, tuple) and hasattr(kind, "_fields") and not computes(kind):
        return kind
    if getattr(kind, "__triton_aggregate__", False):
        from kengine_triton.interpret import unsupported

        raise unsupported.refuse(f"class '{kind.__name__}' of the candidate's own inside a kernel")
    raise refuse(f"class '{kind.__name__}' inside a kernel")


def _is_plain_builtin(function: Any) -> bool:
    owner = function.__self__
    if isinstance(owner, ModuleType) or owner is None:
        return function.__module__ in _MODULES or function in _builtins()
    return type(owner) in (*_PLAIN, *_CONTAINERS) or isinstance(owner, (int, float))


@lru_cache(maxsize=1)
def _builtins() -> frozenset[Any]:
    """Python's own functions that the compiler of this Triton knows."""
    from triton.compiler.code_generator import CodeGenerator

    return frozenset(getattr(builtins, name) for name in CodeGenerator.builtin_namespace if hasattr(builtins, name))


def _is_triton_code(function: FunctionType, depth: int = 0) -> bool:
    """Whether a function, and every function that it holds on to, comes from Triton or from its mends here."""
    if not function.__code__.co_filename.startswith(_folders()):
        return False
    held: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    held += [content(cell) for cell in function.__closure__ or ()]
    return depth > _DEPTH or all(_is_triton_code(h, depth + 1) for h in held if type(h) is FunctionType)


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    """Where functions of the language come from; host functions of Triton's are none."""
    import triton
    from triton.runtime import interpreter

    import kengine_triton

    of_triton, mends = (os.path.dirname(os.path.abspath(str(m.__file__))) + os.sep for m in (triton, kengine_triton))
    return (os.path.join(of_triton, "language") + os.sep, os.path.abspath(str(interpreter.__file__)), mends)


def at_compile_time(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A function of constants, computed once for the same ones as a compiler does, and followed as host code."""
    given = [plain(v) for v in (*args, *kwargs.values())]
    if type(function) in (MethodType, FunctionType):  # told of plain values, as the compiler does
        args, kwargs = tuple(given[: len(args)]), dict(zip(kwargs, given[len(args) :]))
    if any(is_value(v) for v in given):
        if type(function) is FunctionType:
            raise refuse(f"call of '{name_of(function)}' inside a kernel")
        raise refuse(f"'{name_of(function)}' takes constants and was called with values of the kernel")
    with watch.resume():  # equality and hashes of the candidate's own objects as well
        key: Any = (
            function if type(function) is MethodType else id(function),
            tuple((type(v), v) for v in given),
            tuple(kwargs),
        )
        try:
            known = _constants.get(key)
        except TypeError:  # a list or the like, which is no key
            return function(*args, **kwargs)
        if known is None:
            known = _constants[key] = (function, function(*args, **kwargs))
        return known[1]


def name_of(value: Any) -> str:
    """What a function or an object is called in messages."""
    return str(getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__)[:80]
