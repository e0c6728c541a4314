"""Functions with the official signatures in front of the interpreter's implementations.

Python itself then reports unknown and missing arguments, in the official words and at no cost for each call.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import NkiError
from ..program import state
from .modules import guard

# Parameters that the official signature calls differently than the implementation does.
ALIASES = {"src": "x", "a": "x", "data": "x", "input_data": "x", "prefix": "print_prefix", "x": "tensor"}


@lru_cache(maxsize=1)
def load_api() -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """The signature table: generation -> module -> name -> entry."""
    text = (Path(__file__).parent.parent / "api.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, dict[str, dict[str, Any]]]] = json.loads(text)
    return table


# Keywords for the old compiler that its functions take besides their documented ones; they change no result.
HINTS = {"lazy_initialization", "name"}


def refuse_hints(name: str, hints: dict[str, Any]) -> None:
    """NkiError for a keyword that is not a compiler hint."""
    for hint in hints:
        if hint not in HINTS:
            raise NkiError(f"{name}() got an unexpected keyword argument '{hint}'")


def expose(
    name: str, entry: dict[str, Any], implementation: Callable[..., Any], generation: str, result: Any = None
) -> Any:
    """A function `name` with the signature of `entry` that checks the generation and calls `implementation`.

    It returns `result` if given, else what the implementation returns.
    """
    known = inspect.signature(implementation).parameters
    namespace: dict[str, Any] = {
        "_implementation": implementation,
        "_state": state,
        "_guard": guard,
        "_result": result,
    }
    header, call = [], []
    for position, param in enumerate([*entry["params"], "*", *entry["keyword_only"]]):
        if param == "*":
            if entry["keyword_only"]:
                header.append("*")
            continue
        target = param if param in known else ALIASES.get(param, param)
        if param in entry["required"]:
            header.append(param)
        else:
            default = known[target].default if target in known else None
            namespace[f"_default{position}"] = default
            header.append(f"{param}=_default{position}")
        if target in known:
            call.append(f"{target}={param}")
    hints = ""
    if generation == "old" and entry.get("any_keyword"):
        header.append("**_hints")
        hints = f"    if _hints:\n        _refuse_hints({name!r}, _hints)\n"
        namespace["_refuse_hints"] = refuse_hints
    source = (
        f"def {name}({', '.join(header)}):\n"
        f"{hints}"
        f"    program = _state.program\n"
        f"    if program is None or program.generation != {generation!r}:\n"
        f"        _guard({generation!r})\n"
        + (
            f"    return _implementation({', '.join(call)})\n"
            if result is None
            else f"    _implementation({', '.join(call)})\n    return _result\n"
        )
    )
    exec(compile(source, f"{__file__}:{generation}.{name}", "exec", dont_inherit=True), namespace)
    function = namespace[name]
    function.__doc__ = inspect.getdoc(implementation)
    function.__qualname__ = name
    return function
