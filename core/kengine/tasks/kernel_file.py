"""A task that is a CUDA or HIP file itself: its kernels are the reference, its block says what they work on.

    // /// kengine
    // name = "saxpy"
    // grid = "ceil_div(n, 256)"              # a launch block, as a candidate has one
    // block = 256
    // inputs = ["x", "y"]
    // outputs = ["z"]
    // sizes = { n = "x.numel()" }
    // params = { N = 1000 }                  # parameters of the cases, with their defaults
    // [arrays.x]
    // dtype = "float32"
    // shape = ["N"]
    // ...
    // [[cases]]
    // N = 4097
    // ///

Shapes of inputs are expressions over `params`; those of outputs over the inputs and `sizes`. The kernels run on the
SIMT emulator in the judge: a task is trusted, like the Python of any other task.
"""

from __future__ import annotations

from collections.abc import Mapping

from kengine.errors import TaskError, UsageError
from kengine.model import JsonValue
from kengine.tasks.block import TASK_KEYS, Block, find_block, suggest

_KEYS = ("params", "arrays", "entry", "kernel", "grid", "block", "shared", "args", "cooperative", "launch", "inputs",
         "outputs", "sizes", "scratch", "flags")  # fmt: skip
_ARRAY_KEYS = ("dtype", "shape", "low", "high")


def to_python(text: str, file: str, language: str) -> tuple[str, Block]:
    """The Python text of the same task, which calls the emulator, and the block with the keys of a task.

    Raises TaskError with the key and what is allowed.
    """
    try:
        block = find_block(text, file, language)
    except UsageError as error:
        raise TaskError(str(error)) from error
    if block is None:
        raise TaskError(f"{file}: a {language} task needs a block `// /// kengine` with arrays, inputs and a launch")
    for key in block.values:
        if key not in (*_KEYS, *TASK_KEYS):
            hint = suggest(key, (*_KEYS, *TASK_KEYS))
            raise TaskError(
                f"{block.where(key)}: unknown key{hint}; allowed: {', '.join(sorted((*_KEYS, *TASK_KEYS)))}"
            )
    inputs, outputs = _names(block, "inputs"), _names(block, "outputs")
    arrays = _table(block, "arrays")
    for name in (*inputs, *outputs):
        _check_array(block, name, arrays.get(name))
    params = _table(block, "params")
    for name, value in params.items():
        if not name.isidentifier() or isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TaskError(f"{block.where('params')}: {name} = {value!r} is not a name with a number")
    options = {key: value for key, value in block.values.items() if key not in TASK_KEYS}
    given = "".join(f", {name}={value!r}" for name, value in params.items())
    passed = "".join(f", {name}={name}" for name in params)
    lines = [
        "from kengine.native.reference import KernelTask",
        "",
        f"TASK = KernelTask({text!r}, {file!r}, {language!r}, {_plain(options)!r})",
        "",
        "",
        f"def make_inputs(seed, device{given}):",
        f"    return TASK.make_inputs(seed, device{passed})",
        "",
        "",
        f"def reference({', '.join(inputs)}):",
        f"    return TASK.reference({', '.join(inputs)})",
        "",
    ]
    kept = {key: value for key, value in block.values.items() if key in TASK_KEYS}
    return "\n".join(lines), Block(file, block.line, kept, block.lines)


def _names(block: Block, key: str) -> tuple[str, ...]:
    value = block.values.get(key, ())
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, tuple) or not names or not all(isinstance(n, str) and n.isidentifier() for n in names):
        raise TaskError(f"{block.where(key)}: want a list of names; each has a table [arrays.NAME]")
    return tuple(str(name) for name in names)


def _table(block: Block, key: str) -> Mapping[str, JsonValue]:
    value = block.values.get(key, {})
    if not isinstance(value, Mapping):
        raise TaskError(f"{block.where(key)}: {value!r} is not a table")
    return value


def _check_array(block: Block, name: str, value: JsonValue) -> None:
    from kengine.array import ITEMSIZE

    if not isinstance(value, Mapping):
        raise TaskError(f"{block.where('arrays')}: no table [arrays.{name}] with dtype and shape")
    for key in value:
        if key not in _ARRAY_KEYS:
            hint = suggest(key, _ARRAY_KEYS)
            raise TaskError(
                f"{block.where('arrays')}: {name}.{key}: unknown key{hint}; allowed: {', '.join(_ARRAY_KEYS)}"
            )
    if value.get("dtype", "float32") not in ITEMSIZE:
        raise TaskError(f"{block.where('arrays')}: {name}.dtype: {value['dtype']!r}; allowed: {', '.join(ITEMSIZE)}")
    if not isinstance(value.get("shape"), tuple):
        raise TaskError(f"{block.where('arrays')}: {name}.shape: want a list of numbers or expressions")


def _plain(value: JsonValue) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(_plain(item) for item in value)
    return value
