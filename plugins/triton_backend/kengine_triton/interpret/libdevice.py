"""libdevice (and AMD's ocml) in the interpreter: each function is computed by numpy or torch, in float64 and rounded.

`triton.language.extra.libdevice` is a list of names there; the functions of `extra.cuda.libdevice` and
`extra.hip.libdevice` check the argument types and ask for a symbol, which is looked up in `mathematics`.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make
from kengine_triton.interpret.mathematics import FUNCTIONS
from kengine_triton.interpret.unsupported import refuse

_OCML = re.compile(r"__ocml_(\w+?)_(f16|f32|f64|i32|i64)\Z")


def install() -> None:
    """Give the builder external functions, and make the three libdevice modules callable from interpreted kernels."""
    import triton.language.extra.cuda.libdevice as nvidia
    import triton.language.extra.libdevice as generic
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    Builder.create_extern_elementwise = _extern
    modules = [nvidia]
    try:
        import triton.language.extra.hip.libdevice as amd

        modules.append(amd)
    except ImportError:
        pass
    for module in modules:
        bind_builtins(module)
    for name, stub in list(vars(generic).items()):
        if inspect.isfunction(stub):
            setattr(generic, name, getattr(nvidia, name, None) or _missing(name))


def bind_builtins(module: Any) -> None:
    """Wrap every function of a module so that it gets the interpreter where the compiler would pass its own."""
    from triton.language import core
    from triton.runtime import interpreter

    for name, function in list(vars(module).items()):
        if not callable(function) or not core.is_builtin(function):
            continue
        if hasattr(interpreter, "interpreter_semantic"):
            setattr(module, name, _bound(function, "_semantic", interpreter.interpreter_semantic))
        else:
            setattr(module, name, _bound(function, "_builder", interpreter.interpreter_builder))


def _bound(function: Any, keyword: str, value: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("_semantic", None)
        kwargs.pop("_builder", None)
        return function(*args, **kwargs, **{keyword: value})

    return call


def _missing(name: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise refuse(f"libdevice.{name}")

    return call


def base_name(symbol: str) -> str:
    """The function behind a symbol: `__nv_tanhf` and `__ocml_tanh_f32` are `tanh`."""
    match = _OCML.match(symbol)
    if match:
        return match.group(1)
    name = symbol.removeprefix("__nv_")
    if name in FUNCTIONS:
        return name
    return name[:-1] if name.endswith("f") and name[:-1] in FUNCTIONS else name


def _extern(self: Any, lib: str, path: str, symbol: str, args: list[Any], ret_type: Any, is_pure: bool) -> Any:
    from triton.runtime.interpreter import _get_np_dtype

    name = base_name(symbol)
    function = FUNCTIONS.get(name)
    if function is None:
        raise refuse(f"the external function {symbol}")
    dtype = _get_np_dtype(ret_type.scalar)
    data = [arg.data for arg in args]
    result = function(*(x.astype(np.float64) if x.dtype.kind == "f" else x for x in data))
    return make(np.asarray(result).astype(dtype), ret_type.scalar)
