"""Numpy tasks whose kernel works on another layout than the reference: what it is given, and what its answer means.

`transform_to_nki_inputs(inputs)` of the task's source turns the arguments of `forward` into those of the kernel.
`transform_nki_outputs(result, expected)` turns what the kernel returned into what `forward` returns. Both are the
task's own code: they run in the judge, on the judge's copies.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kengine.array import ITEMSIZE, Array
from kengine.errors import TaskError
from kengine.judge import arena
from kengine.judge.leaves import arrays as leaf_arrays
from kengine.judge.leaves import dtype_name, element_strides, is_array, known_dtype, map_leaves, shape_of
from kengine.judge.module import TaskModule
from kengine.judge.structure import ArrayOut
from kengine.model import TensorSpec

TO_KERNEL = "transform_to_nki_inputs"
FROM_KERNEL = "transform_nki_outputs"
ROOM = 2
"""A sink holds so many times the bytes of the expected output: a kernel's own layout may be padded."""


@dataclass(frozen=True)
class Transformed:
    """A candidate's answer in the reference's layout; `problem` says why there is none."""

    values: Sequence[Any] = ()
    arrays: Sequence[ArrayOut] = ()
    copies: Sequence[Any] = ()
    problem: str = ""


def find(module: TaskModule, name: str) -> Callable[..., Any] | None:
    """The task's function of this name; only numpy tasks have them."""
    return module.optional(name) if module.task.form == "numpy" else None


def kernel_arguments(module: TaskModule, args: list[Any]) -> list[Any] | None:
    """What the kernel is given in the place of `args`, None where the task has nothing to say about it.

    Raises TaskError when the task's function raises or returns no list of arguments.
    """
    function = find(module, TO_KERNEL)
    if function is None:
        return None
    own = [map_leaves(lambda a: np.array(a), a) for a in args]
    with module.blame(f"{TO_KERNEL} raised", "it is given the list that get_inputs returns"):
        given = function(own)
    if is_array(given):
        return [given]
    if not isinstance(given, (list, tuple)):
        raise TaskError(
            f"task {module.task.name!r}: {TO_KERNEL} must return the list of the kernel's arguments, "
            f"it returned {type(given).__name__}"
        )
    return list(given)


def reference_outputs(
    module: TaskModule, values: Sequence[Any], arrays: Sequence[ArrayOut], copies: Sequence[Any], expected: Any
) -> Transformed | None:
    """A candidate's outputs as the reference would have returned them; None where the task has no such function.

    expected: what the reference returned. What the task's function cannot make sense of is the candidate's fault.
    """
    function = find(module, FROM_KERNEL)
    if function is None:
        return None
    held = {id(array): copied for array, copied in zip(arrays, copies)}
    try:
        result = _read(values[0] if len(values) == 1 else tuple(values), held)
    except _Unreadable as error:
        return Transformed(problem=str(error))
    try:
        with np.errstate(all="ignore"):
            made = function(result, copy.deepcopy(expected))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        line = module.line_of(error)
        at = f" (line {line} of the task)" if line else ""
        text = " ".join(str(error).split())[:300]
        shown = ", ".join(f"{a.spec.dtype}{list(a.spec.shape)}" for a in arrays) or "no array"
        reason = f"{type(error).__name__}: {text}{at}"
        return Transformed(problem=f"{FROM_KERNEL} cannot use what came back ({shown}): {reason}")
    return _write(_like(made, expected))


class _Unreadable(Exception):
    """Outputs that are not made of arrays whose bytes are at hand."""


def _read(value: Any, held: dict[int, Any]) -> Any:
    if isinstance(value, ArrayOut):
        copied = held[id(value)]
        if copied is None:
            raise _Unreadable(
                f"an output {value.spec.dtype}{list(value.spec.shape)} did not fit into the memory for it, "
                f"{ROOM} times the size of the expected one"
            )
        spec = TensorSpec(value.spec.dtype, value.spec.shape)
        nbytes, memory = prod(spec.shape) * ITEMSIZE[spec.dtype], arena.to_host(copied)
        if nbytes > memory.size:
            raise _Unreadable(f"an output {spec.dtype}{list(spec.shape)} is larger than the memory that holds it")
        return Array(spec, memory[:nbytes]).as_numpy()
    if isinstance(value, (list, tuple)):
        items = [_read(v, held) for v in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {k: _read(v, held) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    raise _Unreadable(f"the output holds a {getattr(value, 'type', type(value).__name__)}, expected arrays")


def _like(made: Any, expected: Any) -> Any:
    """Lists and tuples count as the expected container, and one of one element as that element."""
    if isinstance(expected, (list, tuple)):
        items = list(made) if isinstance(made, (list, tuple)) else [made]
        return items if isinstance(expected, list) else tuple(items)
    if isinstance(made, (list, tuple)) and len(made) == 1 and is_array(expected):
        return made[0]
    return made


def _write(value: Any) -> Transformed:
    for array in leaf_arrays(value):
        if not known_dtype(array):
            return Transformed(problem=f"{FROM_KERNEL} made an array of dtype {array.dtype}, which cannot be compared")
    arrays: list[ArrayOut] = []
    copies: list[Any] = []

    def leaf(array: Any) -> ArrayOut:
        whole = np.array(array, order="C")
        spec = TensorSpec(dtype_name(whole), shape_of(whole), element_strides(whole))
        arrays.append(ArrayOut(spec, "numpy.ndarray", "cpu", "", len(arrays)))
        copies.append(np.frombuffer(whole.tobytes(), dtype=np.uint8))
        return arrays[-1]

    return Transformed([map_leaves(leaf, value)], arrays, copies)
