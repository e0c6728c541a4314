"""Atomics on the types that Triton's interpreter has none for: bfloat16 and 8-bit floats, and float16 minima."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make, narrow, replace, store, values


def install() -> None:
    """Put narrow read-modify-writes in front of the interpreter's own."""
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    replace(Builder, "create_atomic_rmw", _read_modify_write)


def _read_modify_write(old: Any) -> Any:
    def create_atomic_rmw(self: Any, op: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        from triton._C.libtriton import ir

        if not narrow(val):
            return old(self, op, ptr, val, mask, sem, scope)
        kind = ir.ATOMIC_OP
        combine = {
            kind.FADD: np.add, kind.ADD: np.add, kind.MAX: np.fmax, kind.MIN: np.fmin, kind.UMAX: np.fmax,
            kind.UMIN: np.fmin, kind.XCHG: lambda a, b: b,
        }.get(op)  # fmt: skip
        if combine is None:
            raise ValueError(f"atomic {op} is not defined for {val.dtype}")
        return _one_by_one(self, combine, ptr, val, mask)

    return create_atomic_rmw


def _one_by_one(builder: Any, combine: Any, ptr: Any, val: Any, mask: Any) -> Any:
    import triton.language as tl

    from kengine_triton.interpret.memory import check

    check(ptr, mask, "atomic")
    shape = ptr.data.shape
    addresses = ptr.data.reshape(-1)
    active = np.broadcast_to(mask.data, shape).reshape(-1)
    operands = np.broadcast_to(val.data, shape).reshape(-1)
    before = np.zeros_like(operands)
    yes = make(np.ones(1, bool), tl.int1)
    for lane in np.nonzero(active)[0]:
        one = make(addresses[lane : lane + 1], ptr.dtype)
        one.attr.update(ptr.attr)
        held = builder.create_masked_load(one, yes, None, *_policy(builder))
        before[lane] = held.data[0]
        new = store(combine(values(held), values(make(operands[lane : lane + 1], val.dtype))), val.dtype)
        builder.create_masked_store(one, new, yes, *_policy(builder)[:-1])
    return make(before.reshape(shape), val.dtype.scalar)


def _policy(builder: Any) -> tuple[Any, ...]:
    """Cache modifier, eviction policy and volatility, as many as this Triton's load takes."""
    return (None, False) if hasattr(builder, "get_cache_policy") else (None, None, False)
