"""The launch block of a bare CUDA or HIP file: kernel, grid, block, dynamic shared memory, arguments.

    // /// kengine
    // entry = "softmax"                      # the kernel (with one in the file it may be left out)
    // grid = "x.shape[0]"                    # one to three expressions
    // block = 256
    // shared = "block_x * 4"                 # bytes of dynamic shared memory, 0 when left out
    // args = ["x", "y", "n"]                 # left out: by the kernel's own parameters
    // inputs = ["x"]                         # names of the task's inputs, in order
    // outputs = ["y"]                        # names of the outputs, in order
    // sizes = { n = "x.shape[1]" }           # further names, each from those before
    // ///

Without `args`, a parameter whose name is known gets that value; of the others, pointers to const are the inputs in
order and other pointers the outputs. A kernel that is a template names its arguments: `kernel = "softmax<{x}>"`, where
`{x}` is the C++ type of an array's elements. Several launches are `[[launch]]` tables with these keys, and scratch
memory is a table `[scratch]`: `partial = { dtype = "float32", shape = ["ceil_div(x.numel(), 256)"] }`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from kengine.array import ITEMSIZE
from kengine.errors import CandidateFault
from kengine.model import JsonValue
from kengine.tasks.block import suggest

_LAUNCH_KEYS = ("kernel", "grid", "block", "shared", "args", "cooperative")
_KEYS = ("entry", *_LAUNCH_KEYS, "launch", "inputs", "outputs", "sizes", "scratch", "flags")
MAX_LAUNCHES = 64


@dataclass(frozen=True)
class Launch:
    """One launch as the block says it: expressions as text. kernel: with placeholders such as `{x}`. args: None when
    the kernel's own parameters decide."""

    kernel: str
    grid: tuple[str, ...]
    block: tuple[str, ...]
    shared: str = "0"
    args: tuple[str, ...] | None = None
    cooperative: bool = False


@dataclass(frozen=True)
class Scratch:
    """Memory of the launches' own: dtype name, and an expression for each axis. It is not initialised."""

    dtype: str
    shape: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """A launch block, read. inputs, outputs: names, () when the block gives none. flags: compiler options."""

    launches: tuple[Launch, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    sizes: Mapping[str, str] | None = None
    scratch: Mapping[str, Scratch] | None = None
    flags: tuple[str, ...] = ()


def read_recipe(options: Mapping[str, JsonValue], entry: str, launches_itself: bool = False) -> Recipe:
    """Read the block of a candidate. launches_itself: the entry is a host function, so that the block has no launches.

    Raises CandidateFault (compile_failed) with the key and what is allowed.
    """
    for key in options:
        if key not in _KEYS:
            _refuse(f"{key}: unknown key{suggest(key, _KEYS)}; a launch block has {', '.join(_KEYS)}")
    launches: tuple[Launch, ...] = ()
    if launches_itself:
        if clash := [key for key in (*_LAUNCH_KEYS, "launch") if key in options]:
            _refuse(f"{clash[0]}: the entry {entry!r} is a host function, which launches for itself")
    elif "launch" in options:
        tables = options["launch"]
        if not isinstance(tables, tuple) or not 0 < len(tables) <= MAX_LAUNCHES:
            _refuse(f"launch: want 1 to {MAX_LAUNCHES} [[launch]] tables")
        if clash := [key for key in ("grid", "block", "args", "shared", "kernel") if key in options]:
            _refuse(f"{clash[0]}: stands beside [[launch]] tables; put it into them")
        launches = tuple(_launch(table, entry, f"launch[{i}].") for i, table in enumerate(tables))
    else:
        launches = (_launch({k: v for k, v in options.items() if k in _LAUNCH_KEYS}, entry, ""),)
    return Recipe(
        launches,
        _names(options, "inputs"),
        _names(options, "outputs"),
        {name: _expression(value, f"sizes.{name}") for name, value in _table(options, "sizes").items()},
        {name: _scratch(value, f"scratch.{name}") for name, value in _table(options, "scratch").items()},
        _texts(options.get("flags", ()), "flags"),
    )


def find_line(text: str, *keys: str) -> int:
    """The 1-based line in the block of a file of the first of these keys that it has (`grid`, `launch[1].args[2]`,
    `sizes.n`); the block's first line when it has none of them, 0 without a block."""
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if re.match(r"// /// kengine\b", line)), -1)
    if first < 0:
        return 0
    last = next((i for i in range(first + 1, len(lines)) if re.match(r"// ///\s*$", lines[i])), len(lines))
    tables = [i for i in range(first, last) if re.match(r"//\s*\[\[\s*launch\s*\]\]", lines[i])]
    start = first
    for key in keys:
        table = re.match(r"launch\[(\d+)\]\.?", key)
        if table and int(table[1]) < len(tables):
            start = tables[int(table[1])]
        name = re.split(r"[.\[]", key[table.end() :] if table else key)[0]
        wanted = re.compile(rf"//\s*(?:\[\s*)?{re.escape(name)}\b\s*[\].=]")
        if name and (found := next((i for i in range(start, last) if wanted.match(lines[i])), -1)) >= 0:
            return found + 1
    return start + 1


def _launch(table: JsonValue, entry: str, prefix: str) -> Launch:
    if not isinstance(table, Mapping):
        _refuse(f"{prefix[:-1]}: want a table")
    for key in table:
        if key not in _LAUNCH_KEYS:
            _refuse(f"{prefix}{key}: unknown key{suggest(key, _LAUNCH_KEYS)}; a launch has {', '.join(_LAUNCH_KEYS)}")
    for key in ("grid", "block"):
        if key not in table:
            _refuse(f"{prefix}{key}: missing; it counts the {'blocks' if key == 'grid' else 'threads of a block'}")
    kernel, cooperative = table.get("kernel", entry), table.get("cooperative", False)
    if not isinstance(kernel, str) or not kernel.strip():
        _refuse(f"{prefix}kernel: {kernel!r} is not a name")
    if not isinstance(cooperative, bool):
        _refuse(f"{prefix}cooperative: {cooperative!r} is not true or false")
    args = table.get("args")
    return Launch(
        kernel.strip(),
        _dimensions(table["grid"], f"{prefix}grid"),
        _dimensions(table["block"], f"{prefix}block"),
        _expression(table.get("shared", 0), f"{prefix}shared"),
        None if args is None else _expressions(args, f"{prefix}args"),
        cooperative,
    )


def _dimensions(value: JsonValue, key: str) -> tuple[str, ...]:
    found = _expressions(value if isinstance(value, tuple) else (value,), key)
    if not 1 <= len(found) <= 3:
        _refuse(f"{key}: want one to three expressions, got {len(found)}")
    return found


def _expressions(value: JsonValue, key: str) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        _refuse(f"{key}: want a list")
    return tuple(_expression(item, f"{key}[{i}]") for i, item in enumerate(value))


def _expression(value: JsonValue, key: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        _refuse(f"{key}: {value!r} is not an expression; want a number or text such as \"ceil_div(n, 256)\"")
    return str(value)


def _scratch(value: JsonValue, key: str) -> Scratch:
    if not isinstance(value, Mapping) or set(value) != {"dtype", "shape"}:
        _refuse(f"{key}: want a table of dtype and shape")
    dtype, shape = value["dtype"], value["shape"]
    if not isinstance(dtype, str) or dtype not in ITEMSIZE:
        _refuse(f"{key}.dtype: {dtype!r} is not known; allowed: {', '.join(ITEMSIZE)}")
    return Scratch(dtype, _expressions(shape if isinstance(shape, tuple) else (shape,), f"{key}.shape"))


def _names(options: Mapping[str, JsonValue], key: str) -> tuple[str, ...]:
    names = _texts(options.get(key, ()), key)
    for name in names:
        if not name.isidentifier():
            _refuse(f"{key}: {name!r} is not a name")
    if len(set(names)) != len(names):
        _refuse(f"{key}: a name stands there twice")
    return names


def _texts(value: JsonValue, key: str) -> tuple[str, ...]:
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, tuple):
        _refuse(f"{key}: {value!r} is not a list of texts")
    found = tuple(item for item in items if isinstance(item, str))
    if len(found) != len(items):
        _refuse(f"{key}: {value!r} is not a list of texts")
    return found


def _table(options: Mapping[str, JsonValue], key: str) -> Mapping[str, JsonValue]:
    value = options.get(key, {})
    if not isinstance(value, Mapping):
        _refuse(f"{key}: want a table")
    for name in value:
        if not name.isidentifier():
            _refuse(f"{key}: {name!r} is not a name")
    return value


def _refuse(problem: str) -> NoReturn:
    raise CandidateFault("compile_failed", f"the launch block: {problem}")
