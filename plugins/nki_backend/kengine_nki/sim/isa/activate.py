"""Activation instructions of the scalar engine, and the vector engine's exponential."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, out_array, values
from ..activations import ACTIVATIONS, outside_range
from ..dtypes import Array
from ..enums import member, reduce_cmd
from ..errors import NkiError, check
from ..ops import BYPASS, IDENTITY, OPS, PRELU, Op, apply, resolve, resolve_activation, resolve_reduction
from ..program import Program, current
from ..tensor import NkiTensor
from .common import count, free_size, same_layout, tile, vector

Cmd = reduce_cmd
_ADD = OPS["add"]


def reduce_free(v: Array, op: Op) -> Array:
    """Reduce all free axes of `v` to one value a partition, shape (P, 1)."""
    flat = v.reshape(v.shape[0], -1)
    if op.name in ("abs_max", "abs_min"):
        pick = np.abs(flat).argmax(1) if op.name == "abs_max" else np.abs(flat).argmin(1)
        return np.take_along_axis(flat, pick[:, None], 1)
    return op.fn.reduce(flat, axis=1, keepdims=True).astype(np.float32)  # type: ignore[attr-defined]


def update_register(
    program: Program, register: str, command: reduce_cmd, op: Op, v: Array | None, start: Any = None
) -> Array | None:
    """Apply a reduce command to an engine's accumulation registers; returns their state, None if never set."""
    state = program.registers.get(register)
    if command in (Cmd.reset, Cmd.reset_reduce):
        state = None
        initial: Any = np.float32(IDENTITY[op.name])
    elif command is Cmd.load_reduce:
        state, initial = None, start
    else:
        initial = None
    if command is Cmd.reset:
        state = initial
    elif command in (Cmd.reduce, Cmd.reset_reduce, Cmd.load_reduce):
        assert v is not None
        partial = reduce_free(v, op)
        if initial is not None and command is Cmd.load_reduce:
            state = op.fn(np.asarray(initial, np.float32), partial)
        elif initial is not None:
            state = -partial if op.name == "subtract" and v[0].size == 1 else partial
        else:
            state = np.full(partial.shape, np.nan, np.float32) if state is None else op.fn(state, partial)
    program.registers[register] = state
    return state


def write_register(reduce_res: Any, state: Any, data: NkiTensor, name: str) -> None:
    """Store accumulation registers to `reduce_res`, one value a partition."""
    if reduce_res is None:
        return
    tile(name, "reduce_res", reduce_res)
    if not (reduce_res.size == reduce_res.shape[0] == data.shape[0]):
        raise NkiError(f"{name} reduce_res must have shape ({data.shape[0]}, 1), got {reduce_res.shape}")
    filled = np.full(reduce_res.shape, np.nan, np.float32) if state is None else state
    assign(reduce_res, np.broadcast_to(filled, reduce_res.shape) if np.ndim(filled) < 2 else filled)


def invalid_inputs(name: str, x: Array, where: str, poison: bool) -> Array | None:
    """Warn of inputs outside of an activation's valid range; those whose result must become NaN, if any."""
    bad = outside_range(name, x)
    if bad is None:
        return None
    current().warn(f"{where} nl.{name} input outside of its valid range: incorrect results on hardware")
    return bad if poison and name in ("sin", "arctan") else None


def activation(
    dst: Any, op: Any, data: Any, bias: Any = None, scale: Any = 1.0, reduce_op: Any = None, reduce_res: Any = None,
    reduce_cmd: Any = Cmd.idle, mask: Any = None,
) -> None:  # fmt: skip
    """dst = op(data * scale + bias) in float32; may sum the result along the free axes."""
    name = "activation"
    tile(name, "dst", dst)
    tile(name, "data", data)
    same_layout(name, "data", data, "dst", dst)
    program = current()
    found = resolve_activation(op, "activation op")
    command = member(reduce_cmd, Cmd, "activation reduce_cmd")
    count(program, (name, "scalar"), free_size(data), 1, 64 if reduce_res is not None else 0)
    v = values(data, mask)
    if isinstance(scale, NkiTensor) or scale != 1.0:
        v = v * vector(name, "scale", scale, data, v.ndim)
    if bias is not None:
        if not isinstance(bias, NkiTensor) and program.chip.generation < 3:
            raise NkiError("activation bias must be a tile of shape (P, 1) on gen2, got a scalar")
        v = v + (_bias(bias, data, v.ndim))
    bad = invalid_inputs(found.name, v, name, True)
    if found.ufunc and bad is None and command is Cmd.idle:
        out = out_array(dst, mask)
        if out is not None and out.shape == v.shape:
            found.fn(v, out=out)
            write_register(reduce_res, program.registers.get("scalar"), data, name)
            return
    v = apply(found, v)
    if bad is not None:
        v = np.where(bad, np.float32(np.nan), v)
    assign(dst, v, mask=mask)
    if command is not Cmd.idle or reduce_res is not None:
        reducer = _ADD if reduce_op is None else resolve_reduction(reduce_op, "activation reduce_op")
        if reducer.name != "add":
            raise NkiError(f"activation reduce_op must be nl.add, got nl.{reducer.name}")
        state = update_register(program, "scalar", command, reducer, _hide(v, mask, reducer))
        write_register(reduce_res, state, data, name)


def _bias(bias: Any, data: NkiTensor, ndim: int) -> Any:
    if isinstance(bias, NkiTensor):
        tile("activation", "bias", bias)
        if not (bias.size == bias.shape[0] == data.shape[0]):
            raise NkiError(f"activation bias must be a tile of shape ({data.shape[0]}, 1), got shape {bias.shape}")
        check(bias.dtype.name != "tfloat32", "activation bias cannot be tfloat32")
        return values(bias).reshape((bias.shape[0],) + (1,) * (ndim - 1))
    return vector("activation", "bias", bias, data, ndim)


def _hide(v: Array, mask: Any, op: Op) -> Array:
    """Elements outside of a mask take no part in a reduction."""
    return v if mask is None else np.where(mask, v, np.float32(IDENTITY[op.name]))


def activation_reduce(
    dst: Any, op: Any, data: Any, reduce_op: Any, reduce_res: Any, bias: Any = None, scale: Any = 1.0, mask: Any = None
) -> None:
    """activation with the reduction reset before and read out after."""
    check(reduce_op is not None and reduce_res is not None, "activation_reduce needs reduce_op and reduce_res")
    activation(dst, op, data, bias, scale, reduce_op, reduce_res, Cmd.reset_reduce, mask)


PAIRS = {
    ("multiply", "add"), ("multiply", "subtract"), ("multiply", "bypass"), ("add", "bypass"), ("subtract", "bypass"),
    ("bypass", "bypass"),
}  # fmt: skip


def activate2(
    dst: Any, op: Any, data: Any, imm0: Any, imm1: Any, op0: Any, op1: Any, relu_param: Any = 0.0,
    reverse0: bool = False, reverse1: bool = False, reduce_op: Any = None, reduce_res: Any = None,
    reduce_cmd: Any = Cmd.idle,
) -> None:  # fmt: skip
    """dst = op(op1(op0(data, imm0), imm1)), trn3 and newer."""
    name = "activate2"
    program = current()
    check(program.chip.generation >= 4, "activate2 is only supported for NeuronCore-v4 or newer")
    tile(name, "dst", dst)
    tile(name, "data", data)
    same_layout(name, "data", data, "dst", dst)
    first, second = resolve(op0, "activate2 op0"), resolve(op1, "activate2 op1")
    if (first.name, second.name) not in PAIRS:
        raise NkiError(f"activate2 does not support op0=nl.{first.name} with op1=nl.{second.name}")
    found = resolve(op, "activate2 op")
    if not (found is PRELU or found.name in ACTIVATIONS):
        raise NkiError(f"activate2 op: nl.{found.name} is not an activation function")
    count(program, (name, "scalar"), free_size(data))
    v = values(data)
    for step, operand, reverse, role in ((first, imm0, reverse0, "imm0"), (second, imm1, reverse1, "imm1")):
        if step is not BYPASS:
            v = apply(step, v, vector(name, role, operand, data, v.ndim), reverse)
    invalid_inputs(found.name, v, name, False)
    v = apply(found, v, vector(name, "relu_param", relu_param, data, v.ndim)) if found is PRELU else apply(found, v)
    v = v.astype(np.float32, copy=False)
    assign(dst, v)
    command = member(reduce_cmd, Cmd, "activate2 reduce_cmd")
    if command is not Cmd.idle or reduce_res is not None:
        reducer = resolve_reduction(reduce_op, "activate2 reduce_op")
        write_register(reduce_res, update_register(program, "scalar", command, reducer, v), data, name)


def exponential(
    dst: Any, src: Any, max_value: Any = 0.0, reduce_res: Any = None, reduce_cmd: Any = Cmd.idle, reduce_init: Any = 0.0
) -> None:
    """dst = exp(src - max_value) on the vector engine, with an optional running sum; trn3 and newer."""
    name = "exponential"
    program = current()
    check(program.chip.generation >= 4, "exponential is only supported for NeuronCore-v4 or newer")
    tile(name, "dst", dst)
    tile(name, "src", src)
    same_layout(name, "src", src, "dst", dst)
    count(program, (name, "vector"), free_size(src))
    v = values(src)
    v = np.exp(v - vector(name, "max_value", max_value, src, v.ndim))
    assign(dst, v)
    command = member(reduce_cmd, Cmd, "exponential reduce_cmd")
    if command is not Cmd.idle or reduce_res is not None:
        start = vector(name, "reduce_init", reduce_init, src, 2)
        write_register(reduce_res, update_register(program, "vector", command, _ADD, v, start), src, name)
