"""Inputs packed into one image of bytes: where each array lies, how a runner is told, how to get the values back."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kengine.array import Array, contiguous_strides, span
from kengine.errors import TaskError
from kengine.judge import arena
from kengine.judge.leaves import dtype_name, element_strides, is_array, is_torch, known_dtype, shape_of
from kengine.model import TensorSpec

ALIGN = 256
"""Every array starts at a multiple of so many bytes, as an allocator of a device would place it."""
GUARD = 256
"""Poisoned bytes between arrays: a write there is a write out of bounds."""
PAD = 5
"""Extra elements a row in the layout "strided", and elements before the first one in the layout "offset"."""


@dataclass(frozen=True)
class Leaf:
    """One array inside an image: its spec, where its bytes start, and whether the task sees it as torch or numpy."""

    spec: TensorSpec
    at: int
    nbytes: int
    torch: bool

    def tree(self, base: int = 0) -> dict[str, Any]:
        """As a runner is told, when the image starts at byte `base` of the arena."""
        return array_tree(self.spec, base + self.at, self.nbytes, self.torch)

    def value(self, memory: Any) -> Any:
        """The array over `memory`, in the task's framework."""
        piece = memory[self.at : self.at + self.nbytes]
        if self.torch:
            return arena.tensor_over(self.spec, piece)
        if isinstance(memory, np.ndarray):
            return Array(self.spec, piece).as_numpy()
        return Array(self.spec, piece.cpu().numpy()).as_numpy()


@dataclass
class Packed:
    """All inputs of one case: nested values with a `Leaf` for each array, and the image of their bytes."""

    args: list[Any]
    init_args: list[Any]
    state: dict[str, Leaf]
    image: Any = None
    nbytes: int = 0
    names: list[tuple[str, Leaf]] = field(default_factory=list)

    def bundle(self, base: int) -> dict[str, Any]:
        """The part of a bundle that describes the inputs, for an image that starts at byte `base` of the arena."""
        return {
            "args": [tree(a, base) for a in self.args],
            "init_args": [tree(a, base) for a in self.init_args],
            "state": {name: leaf.tree(base) for name, leaf in self.state.items()},
        }

    def values(self, memory: Any) -> list[Any]:
        """The arguments over `memory`."""
        return [unpack(a, memory) for a in self.args]


def array_tree(spec: TensorSpec, at: int, nbytes: int, torch: bool) -> dict[str, Any]:
    """An array in lent memory as a runner is told; `torch` says that the task made it with torch."""
    tree: dict[str, Any] = {"k": "array", "spec": spec_json(spec), "at": at, "nbytes": nbytes}
    return {**tree, "torch": True} if torch else tree


def spec_json(spec: TensorSpec) -> dict[str, Any]:
    """A tensor spec as JSON."""
    return {"dtype": spec.dtype, "shape": list(spec.shape), "strides": list(spec.strides), "offset": spec.offset}


def pack(
    args: list[Any],
    init_args: list[Any],
    state: Mapping[str, Any],
    names: tuple[str, ...],
    layout: str,
    device: str,
    task: str,
) -> Packed:
    """Copy all arrays into one poisoned image on `device`. Raises TaskError for a value that cannot be passed on."""
    packer = _Packer(task)
    packed = Packed([], [], {})
    for name, value in zip(names, args):
        packed.args.append(packer.place(value, name, layout))
    packed.init_args = [packer.place(v, f"get_init_inputs()[{i}]", "contiguous") for i, v in enumerate(init_args)]
    for name, value in state.items():
        packed.state[name] = packer.place(value, f"parameter {name}", "contiguous")
    packed.nbytes = packer.cursor
    packed.image = arena.allocate(device, packer.cursor)
    for leaf, array, name in packer.placed:
        _write(packed.image, leaf, array)
        packed.names.append((name, leaf))
    return packed


class _Packer:
    def __init__(self, task: str) -> None:
        self.task = task
        self.cursor = 0
        self.placed: list[tuple[Leaf, Any, str]] = []

    def place(self, value: Any, name: str, layout: str) -> Any:
        if is_array(value):
            return self._array(value if is_torch(value) else np.asarray(value), name, layout)
        if isinstance(value, (list, tuple)):
            items = [self.place(v, f"{name}[{i}]", layout) for i, v in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, dict):
            if not all(isinstance(k, str) for k in value):
                raise TaskError(f"task {self.task!r}: input {name} is a dict with keys that are not strings")
            return {k: self.place(v, f"{name}[{k!r}]", layout) for k, v in value.items()}
        if value is None or isinstance(value, (bool, int, float, complex, str)) or is_torch_dtype(value):
            return value
        raise TaskError(
            f"task {self.task!r}: input {name} is a {type(value).__name__}; inputs may be arrays, numbers, strings, "
            "None, dtypes, and lists, tuples or dicts of these"
        )

    def _array(self, array: Any, name: str, layout: str) -> Leaf:
        if not known_dtype(array):
            raise TaskError(f"task {self.task!r}: input {name} has dtype {array.dtype}, which cannot be passed on")
        spec = _placed_spec(array, layout)
        leaf = Leaf(spec, self.cursor, span(spec), is_torch(array))
        self.cursor += -(-(leaf.nbytes + GUARD) // ALIGN) * ALIGN
        self.placed.append((leaf, array.detach() if leaf.torch else array, name))
        return leaf


def is_torch_dtype(value: Any) -> bool:
    """Whether this is a dtype object of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.dtype)


def _placed_spec(array: Any, layout: str) -> TensorSpec:
    shape = shape_of(array)
    name = dtype_name(array)
    if layout == "strided" and shape:
        if len(shape) == 1:
            return TensorSpec(name, shape, (2,))
        rows = contiguous_strides((*shape[:-1], shape[-1] + PAD))
        return TensorSpec(name, shape, rows)
    if layout == "offset":
        return TensorSpec(name, shape, contiguous_strides(shape), PAD)
    strides = element_strides(array)
    if strides == contiguous_strides(shape) or 0 in shape or not _separable(shape, strides):
        return TensorSpec(name, shape)
    return TensorSpec(name, shape, strides)


def _separable(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether distinct elements lie at distinct places, dimensions of stride 0 aside (an expanded tensor)."""
    reach = 0
    for step, n in sorted((s, n) for n, s in zip(shape, strides) if n > 1 and s != 0):
        if step <= reach:
            return False
        reach += step * (n - 1)
    return all(s >= 0 for s in strides)


def _write(image: Any, leaf: Leaf, array: Any) -> None:
    expanded = tuple(0 if s == 0 and n > 1 else slice(None) for n, s in zip(leaf.spec.shape, leaf.spec.strides))
    target = image[leaf.at : leaf.at + leaf.nbytes]
    if leaf.torch or not isinstance(image, np.ndarray):
        import torch

        view = arena.tensor_over(leaf.spec, target)
        source = array if leaf.torch else torch.from_numpy(np.ascontiguousarray(array))
        view[expanded].copy_(source[expanded]) if expanded else view.copy_(source)
    else:
        view = Array(leaf.spec, target).as_numpy()
        if expanded:
            view[expanded] = array[expanded]
        else:
            view[...] = array


def tree(value: Any, base: int = 0) -> dict[str, Any]:
    """A packed value as a runner is told."""
    if isinstance(value, Leaf):
        return value.tree(base)
    if isinstance(value, (list, tuple)):
        return {"k": "list" if isinstance(value, list) else "tuple", "items": [tree(v, base) for v in value]}
    if isinstance(value, dict):
        return {"k": "dict", "items": {k: tree(v, base) for k, v in value.items()}}
    if isinstance(value, complex):
        return {"k": "complex", "v": [value.real, value.imag]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"k": "float", "v": str(value)}
    if is_torch_dtype(value):
        return {"k": "dtype", "v": str(value).removeprefix("torch.")}
    return {"k": "value", "v": value}


def leaves(value: Any) -> list[Leaf]:
    """Every array of a packed value, depth first."""
    if isinstance(value, Leaf):
        return [value]
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in leaves(v)]
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    return []


def unpack(value: Any, memory: Any) -> Any:
    """A packed value with its arrays over `memory`."""
    if isinstance(value, Leaf):
        return value.value(memory)
    if isinstance(value, dict):
        return {k: unpack(v, memory) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [unpack(v, memory) for v in value]
        return items if isinstance(value, list) else tuple(items)
    return value
