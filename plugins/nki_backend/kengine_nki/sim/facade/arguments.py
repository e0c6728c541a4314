"""Implementations of language functions that both generations share, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..access import values
from ..allocation import allocate
from ..buffers import HBM
from ..dtypes import U8
from ..errors import NkiError, check
from ..isa import language
from ..isa.random import reseed
from ..ops import OPS, Op
from ..program import current
from ..tensor import NkiTensor

UNARY = [
    "abs", "arctan", "ceil", "copy", "cos", "erf", "erf_dx", "exp", "floor", "gelu", "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx", "gelu_apprx_tanh", "gelu_dx", "invert", "log", "logical_not", "mish", "negative",
    "reciprocal", "relu", "rsqrt", "sigmoid", "sign", "silu", "silu_dx", "sin", "softplus", "sqrt", "square", "tan",
    "tanh", "trunc",
]  # fmt: skip
BINARY = [
    "abs_max", "abs_min", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "equal", "fmod", "greater",
    "greater_equal", "left_shift", "less", "less_equal", "logical_and", "logical_or", "logical_xor", "maximum",
    "minimum", "mod", "multiply", "not_equal", "power", "right_shift", "subtract",
]  # fmt: skip
REDUCE = ["sum", "max", "min", "mean", "prod", "var", "all"]


def unary_of(op: Op) -> Callable[..., Any]:
    def implementation(x: Any, dtype: Any = None, mask: Any = None) -> Any:
        return language.unary(op, x, dtype, mask)

    return implementation


def binary_of(op: Op) -> Callable[..., Any]:
    newest = op.name in ("abs_max", "abs_min")

    def implementation(x: Any, y: Any, dtype: Any = None, mask: Any = None) -> Any:
        if newest and current().chip.generation < 4:
            raise NkiError(f"nl.{op.name} is only supported for NeuronCore-v4 or newer")
        return language.binary(op, x, y, dtype, mask)

    return implementation


def reduce_of(name: str) -> Callable[..., Any]:
    def implementation(x: Any, axis: Any, dtype: Any = None, mask: Any = None, keepdims: bool = False) -> Any:
        return language.reduce(name, x, axis, dtype, mask, keepdims)

    return implementation


def ones(shape: Any, dtype: Any, buffer: Any = None, name: str = "") -> Any:
    """A new tensor of ones."""
    return language.filled(shape, 1, dtype, buffer, name)


def zeros(shape: Any, dtype: Any, buffer: Any = None, name: str = "") -> Any:
    """A new tensor of zeros."""
    return language.filled(shape, 0, dtype, buffer, name)


def full(shape: Any, fill_value: Any, dtype: Any, buffer: Any = None, name: str = "") -> Any:
    """A new tensor of `fill_value`."""
    return language.filled(shape, fill_value, dtype, buffer, name)


def zeros_like(x: Any, dtype: Any = None, buffer: Any = None, name: str = "") -> Any:
    """A new tensor of zeros shaped like x."""
    return language.filled(x.shape, 0, x.dtype if dtype is None else dtype, _place(x, buffer), name)


def empty_like(x: Any, dtype: Any = None, buffer: Any = None, name: str = "") -> Any:
    """A new tensor shaped like x, nothing written."""
    return allocate(x.shape, x.dtype if dtype is None else dtype, _place(x, buffer), name)


def _place(x: Any, buffer: Any) -> Any:
    check(isinstance(x, NkiTensor), f"expected a tensor, got {type(x).__name__}")
    return x.buffer if buffer is None else buffer


def ndarray(shape: Any, dtype: Any, buffer: Any = None, name: str = "", address: Any = None) -> Any:
    """A new tensor, nothing written. `address` (partition, byte offset) is checked against the memory's size only."""
    tensor = allocate(shape, dtype, buffer, name)
    if address is not None:
        program = current()
        check(tensor.on_chip, "ndarray address is only supported for SBUF and PSUM tensors")
        check(
            isinstance(address, (tuple, list)) and len(address) == 2,
            f"ndarray address must be a (partition, byte offset) pair, got {address!r}",
        )
        limit = program.chip.psum_bytes if str(tensor.buffer) == "psum" else program.chip.sbuf_bytes
        end = int(address[1]) + tensor.storage.per_partition
        check(
            int(address[0]) >= 0 and int(address[0]) + tensor.shape[0] <= program.chip.partitions,
            f"ndarray address {address} with {tensor.shape[0]} partitions exceeds {program.chip.partitions} partitions",
        )
        check(int(address[1]) >= 0 and end <= limit, f"ndarray address {address}: byte {end} exceeds {limit}")
        program.warn("tensors with explicit addresses are kept apart: overlaps of addresses are not checked")
    return tensor


def shared_identity_matrix(n: Any, dtype: Any = U8, dst: Any = None) -> Any:
    """An n x n identity in HBM, or written to `dst`."""
    if dst is None:
        dst = allocate((n, n), dtype, HBM, "identity", share=False)
    from ..access import assign

    check(dst.shape == (n, n), f"shared_identity_matrix dst must have shape ({n}, {n}), got {dst.shape}")
    assign(dst, np.eye(int(n), dtype=np.float32))
    return dst


def expand_dims(x: Any, axis: Any) -> Any:
    """View with a new dimension of size 1."""
    at = axis % (x.ndim + 1)
    return x.make(x.offset, (*x.shape[:at], 1, *x.shape[at:]), (*x.strides[:at], 1, *x.strides[at:]))


def random_seed(seed: Any) -> None:
    """Seed the random functions."""
    reseed(current(), values(seed).astype(np.int64) if isinstance(seed, NkiTensor) else int(seed))


def device_print(print_prefix: Any, tensor: Any) -> None:
    """Print a tensor's values to standard output."""
    current()
    shown = np.array2string(values(tensor), threshold=64) if isinstance(tensor, NkiTensor) else str(tensor)
    print(print_prefix, shown, file=sys.stdout)


def program_id(axis: Any = 0) -> int:
    """This program's place along a grid axis."""
    program = current()
    check(0 <= axis < len(program.pid), f"program_id axis {axis} out of range for a grid of {program.grid}")
    return int(program.pid[axis])


def num_programs(axes: Any = 0) -> Any:
    """Grid size along an axis, or a tuple of several."""
    grid = current().grid
    if axes is None:
        axes = tuple(range(len(grid)))
    if isinstance(axes, (tuple, list)):
        return tuple(num_programs(a) for a in axes)
    check(0 <= axes < len(grid), f"num_programs axis {axes} out of range for a grid of {grid}")
    return int(grid[axes])


def program_ndim() -> int:
    """Number of grid axes; 0 for a kernel launched without a grid."""
    return current().ndim


def no_reorder() -> Any:
    """A block whose instructions the scheduler keeps in order; no effect here."""
    import contextlib

    return contextlib.nullcontext()


def softmax(x: Any, axis: Any = -1, dtype: Any = None, compute_dtype: Any = None, mask: Any = None) -> Any:
    """exp(x - max) / sum over `axis`."""
    return language.softmax(x, axis, dtype, mask)


def rms_norm(
    x: Any, w: Any, axis: Any, n: Any, epsilon: float = 1e-6, dtype: Any = None, compute_dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """x / sqrt(sum(x^2) / n + epsilon) * w over `axis`."""
    return language.rms_norm(x, w, axis, n, epsilon, dtype, mask)


def shared_language() -> dict[str, Callable[..., Any]]:
    """Implementations by name, before the official signatures are put in front."""
    table: dict[str, Callable[..., Any]] = {}
    table.update({name: unary_of(OPS[name]) for name in UNARY})
    table.update({name: binary_of(OPS[name]) for name in BINARY})
    table.update({name: reduce_of(name) for name in REDUCE})
    for function in (
        ones, zeros, full, zeros_like, empty_like, ndarray, shared_identity_matrix, expand_dims, random_seed,
        device_print, program_id, num_programs, program_ndim, no_reorder, softmax, rms_norm, language.where,
        language.dropout, language.load, language.store, language.load_transpose2d, language.transpose,
        language.matmul, language.gather_flattened, language.rand, language.shared_constant,
    ):  # fmt: skip
        table[function.__name__] = function
    return table
