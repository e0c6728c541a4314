"""A launch block put on one set of inputs: names get values, expressions become numbers, launches follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kengine.array import contiguous_strides
from kengine.errors import CandidateFault
from kengine.native.block import Launch, Recipe
from kengine.native.driver import Configuration
from kengine.native.expression import ExpressionError, Extent, evaluate
from kengine.native.signature import Declared, find_parameters

_TYPES = {
    "float32": "float", "float64": "double", "float16": "__half", "int8": "signed char", "int16": "short",
    "int32": "int", "int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short",
    "uint32": "unsigned int", "uint64": "unsigned long long", "bool": "bool",
}  # fmt: skip
_VENDOR_TYPES = {
    "cuda": {"bfloat16": "__nv_bfloat16", "float8_e4m3fn": "__nv_fp8_e4m3", "float8_e5m2": "__nv_fp8_e5m2"},
    "hip": {"bfloat16": "__hip_bfloat16", "float8_e4m3fn": "__hip_fp8_e4m3", "float8_e5m2": "__hip_fp8_e5m2"},
}


@dataclass(frozen=True)
class Arrays:
    """What a call brings: inputs and outputs in order (arrays and plain values), and how scratch memory is made."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    state: Mapping[str, Any]
    allocate: Callable[[str, tuple[int, ...]], Any]


@dataclass(frozen=True)
class Step:
    """One launch with everything decided. arguments: arrays and numbers in the order of the signature."""

    kernel: str
    configuration: Configuration
    arguments: tuple[Any, ...]


def kernel_names(recipe: Recipe, source: str, dialect: str, arrays: Arrays) -> tuple[str, ...]:
    """Names of the kernels that the block launches on these arrays, with template arguments filled in."""
    names = _Names(recipe, source, arrays)
    return tuple(_fill(launch.kernel, names, dialect) for launch in recipe.launches)


def plan(recipe: Recipe, source: str, dialect: str, arrays: Arrays) -> list[Step]:
    """Decide every launch. Raises CandidateFault (launch_failed, compile_failed) with the key at fault."""
    names = _Names(recipe, source, arrays)
    for name, scratch in (recipe.scratch or {}).items():
        shape = tuple(_whole(e, f"scratch.{name}.shape", names.values) for e in scratch.shape)
        names.add(name, arrays.allocate(scratch.dtype, shape))
    return [_step(launch, names, source, dialect) for launch in recipe.launches]


def bind_host(source: str, entry: str, recipe: Recipe, arrays: Arrays) -> tuple[Any, ...]:
    """Arguments of a host function that launches for itself, by its parameters. Raises CandidateFault."""
    names = _Names(recipe, source, arrays, entry)
    return _by_signature(entry, find_parameters(source, entry), names)


class _Names:
    """Names of a block and their values; arrays have an extent for expressions beside them."""

    def __init__(self, recipe: Recipe, source: str, arrays: Arrays, host: str = "") -> None:
        self.arrays: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.spare_inputs: list[Any] = []
        self.spare_outputs: list[Any] = []
        self._name(recipe.inputs, arrays.inputs, "inputs", self.spare_inputs)
        self._name(recipe.outputs, arrays.outputs, "outputs", self.spare_outputs)
        for name, value in arrays.state.items():
            self.add(name.replace(".", "_"), value)
        if not recipe.inputs or not recipe.outputs:
            # Names that the kernels give to what they take: usable in expressions too.
            functions = [launch.kernel for launch in recipe.launches if launch.args is None] or [host]
            if functions[0]:
                self._adopt(find_parameters(source, functions[0]) or ())
        for name, text in (recipe.sizes or {}).items():
            self.values[name] = _number(text, f"sizes.{name}", self.values)

    def add(self, name: str, value: Any) -> None:
        """Give a name to an array or a number."""
        extent = extent_of(value)
        if extent is not None:
            self.arrays[name] = value
            self.values[name] = extent
        elif isinstance(value, (bool, int, float)):
            self.values[name] = value

    def _name(self, names: Sequence[str], given: Sequence[Any], key: str, spare: list[Any]) -> None:
        if names and len(names) != len(given):
            raise CandidateFault("launch_failed", f"the launch block names {len(names)} {key} ({', '.join(names)}), "
                                 f"the task has {len(given)}")  # fmt: skip
        for name, value in zip(names, given):
            self.add(name, value)
        if not names:
            spare.extend(given)
            for i, value in enumerate(given):
                self.add(f"{key[:-1]}{i}", value)

    def _adopt(self, declared: Sequence[Declared]) -> None:
        arrays = [v for v in self.spare_inputs if extent_of(v) is not None]
        numbers = [v for v in self.spare_inputs if extent_of(v) is None]
        outputs = list(self.spare_outputs)
        for parameter in declared:
            if parameter.name in self.values:
                continue
            written = parameter.is_pointer and not parameter.is_const and outputs
            source = outputs if written else arrays if parameter.is_pointer else numbers
            if source:
                self.add(parameter.name, source.pop(0))


def extent_of(value: Any) -> Extent | None:
    """Sizes of a torch tensor or numpy array, None for anything else."""
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "dtype"):
        return None
    if callable(getattr(value, "stride", None)):
        strides, itemsize = tuple(int(s) for s in value.stride()), int(value.element_size())
    else:
        itemsize = int(value.itemsize)
        strides = tuple(int(s) // itemsize for s in value.strides) or contiguous_strides(tuple(shape))
    return Extent(tuple(int(n) for n in shape), strides, itemsize)


def _step(launch: Launch, names: _Names, source: str, dialect: str) -> Step:
    kernel = _fill(launch.kernel, names, dialect)
    grid, block = (_dimensions(getattr(launch, key), key, names.values) for key in ("grid", "block"))
    known = {**names.values, **dict(zip(("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"), grid + block))}
    shared = _whole(launch.shared, "shared", known)
    if launch.args is None:
        arguments = _by_signature(launch.kernel, find_parameters(source, launch.kernel), names)
    else:
        arguments = tuple(_argument(text, i, names, known) for i, text in enumerate(launch.args))
    return Step(kernel, Configuration(grid, block, shared, launch.cooperative, shared or None), arguments)


def _argument(text: str, position: int, names: _Names, known: Mapping[str, Any]) -> Any:
    name = text.strip()
    if name in names.arrays:
        return names.arrays[name]
    return _number(text, f"args[{position}]", known)


def _by_signature(kernel: str, declared: Sequence[Declared] | None, names: _Names) -> tuple[Any, ...]:
    if declared is None:
        raise CandidateFault("compile_failed", f"the launch block: the file defines no {kernel!r}")
    inputs = [v for v in names.spare_inputs if extent_of(v) is not None]
    scalars = [v for v in names.spare_inputs if extent_of(v) is None]
    outputs = list(names.spare_outputs)
    arguments = []
    for i, parameter in enumerate(declared):
        if parameter.is_pointer and not parameter.is_const and outputs:
            arguments.append(outputs.pop(0))
        elif parameter.is_pointer and inputs:
            arguments.append(inputs.pop(0))  # also those that are written in place
        elif parameter.name in names.arrays:
            arguments.append(names.arrays[parameter.name])
        elif parameter.name in names.values:
            arguments.append(names.values[parameter.name])
        elif not parameter.is_pointer and scalars:
            arguments.append(scalars.pop(0))
        else:
            what = parameter.name or f"number {i}"
            raise CandidateFault(
                "launch_failed",
                f"the launch block: no value for parameter {what!r} of {kernel}; give `args`, or name it in `sizes`, "
                f"`inputs` or `outputs` (known: {', '.join(sorted(names.values)) or 'nothing'})",
            )
    return tuple(arguments)


def _fill(kernel: str, names: _Names, dialect: str) -> str:
    """A kernel's name with `{array}` replaced by the C++ type of its elements, `{size}` by its value."""

    def type_of(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name in names.arrays:
            dtype = str(names.arrays[name].dtype).removeprefix("torch.")
            kind = _TYPES.get(dtype) or _VENDOR_TYPES[dialect].get(dtype)
            if kind is None:
                raise CandidateFault("unsupported", f"the launch block: no C++ type is known for {dtype}")
            return kind
        return str(_whole(name, "kernel", names.values))

    return re.sub(r"\{([^{}]*)\}", type_of, kernel)


def _dimensions(texts: Sequence[str], key: str, names: Mapping[str, Any]) -> tuple[int, int, int]:
    sizes = [_whole(text, key, names) for text in texts] + [1, 1]
    return sizes[0], sizes[1], sizes[2]


def _whole(text: str, key: str, names: Mapping[str, Any]) -> int:
    value = _number(text, key, names)
    if isinstance(value, bool) or value != int(value):
        raise CandidateFault("launch_failed", f"the launch block: {key}: {text!r} is {value}, not a whole number")
    if value < 0:
        raise CandidateFault("launch_failed", f"the launch block: {key}: {text!r} is {value}, below 0")
    return int(value)


def _number(text: str, key: str, names: Mapping[str, Any]) -> Any:
    try:
        return evaluate(text, names)
    except ExpressionError as error:
        raise CandidateFault("launch_failed", f"the launch block: {key}: {error}") from None
