"""Bounds: every load, store and atomic must stay inside the storage of the argument that its pointer stems from.

Triton's interpreter reads and writes whatever the address says: small overruns pass unseen, far ones kill the process.
Each pointer carries its argument along through pointer arithmetic; one that lost it (loaded from memory, made from an
integer) may point into any storage whose address the wrapper knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.handles import replace
from kengine_triton.interpret.region import REGIONS, Region

_OWNER = "kengine.owner"


class OutOfBounds(Exception):
    """An access outside the memory of the argument: says argument, byte offset, lanes and program."""


faults: list[OutOfBounds] = []
"""What was found since the list was cleared, also when the candidate swallowed the exception."""


def install() -> None:
    """Tie pointers to their arguments and check every access."""
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    replace(interpreter.GridExecutor, "_init_args_hst", _begin)
    replace(interpreter, "_implicit_cvt", _tie)
    for name in (
        "create_addptr", "create_splat", "create_unsplat", "create_broadcast", "create_expand_dims", "create_reshape",
        "create_trans", "create_bitcast", "create_select", "create_gather", "create_join", "create_cat",
        "create_split",
    ):  # fmt: skip
        replace(builder, name, _carry)
    for kind in ("BlockPointerHandle", "TensorDescHandle"):
        handle = getattr(interpreter, kind, None)
        if handle is not None:
            replace(handle, "materialize_pointers", _materialize)
    replace(builder, "create_masked_load", _checked("load", mask=1))
    replace(builder, "create_masked_store", _checked("store", mask=2))
    replace(builder, "create_atomic_rmw", _checked("atomic", mask=3, pointer=1))
    replace(builder, "create_atomic_cas", _checked("atomic compare-and-swap", mask=None))


def _begin(old: Any) -> Any:
    def init(self: Any, args_dev: Any, kwargs: Any) -> Any:
        args, keywords = old(self, args_dev, kwargs)
        REGIONS.begin([*zip(self.arg_names, args), *keywords.items()])
        return args, keywords

    return init


def _tie(old: Any) -> Any:
    def implicit(arg: Any) -> Any:
        result = old(arg)
        if hasattr(arg, "data_ptr"):
            tensor = getattr(arg, "base", arg)
            if hasattr(tensor, "untyped_storage"):
                region = REGIONS.owner(tensor)
                if region is not None:
                    result.handle.attr[_OWNER] = region
        return result

    return implicit


def _owner(value: Any) -> Region | None:
    attributes = value.attr if type(value).__name__ == "TensorHandle" else None
    return attributes.get(_OWNER) if attributes else None


def _carry(old: Any) -> Any:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = old(self, *args, **kwargs)
        owners = {id(o): o for o in map(_owner, args) if o is not None}
        if len(owners) == 1:
            (owner,) = owners.values()
            for part in result if isinstance(result, tuple) else (result,):
                part.attr[_OWNER] = owner
        return result

    return run


def _materialize(old: Any) -> Any:
    def run(self: Any, *args: Any) -> Any:
        pointers, mask = old(self, *args)
        owner = _owner(self.base)
        if owner is not None:
            pointers.attr[_OWNER] = owner
        return pointers, _as_handle(mask)

    return run


def _as_handle(mask: Any) -> Any:
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    return mask if isinstance(mask, TensorHandle) else TensorHandle(mask, tl.int1)


def _checked(what: str, mask: int | None, pointer: int = 0) -> Any:
    def make(old: Any) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            active = args[mask] if mask is not None and len(args) > mask else kwargs.get("mask")
            check(args[pointer], active, what)
            return old(self, *args, **kwargs)

        return run

    return make


def check(pointers: Any, mask: Any, what: str) -> None:
    """Raise OutOfBounds if any active lane of the pointers leaves the memory that it may touch."""
    addresses = pointers.data.reshape(-1)
    if mask is not None:
        active = np.broadcast_to(mask.data, pointers.data.shape).reshape(-1)
        if not active.all():
            addresses = addresses[active]
    if addresses.size == 0:
        return
    size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    low, high = int(addresses.min()), int(addresses.max()) + size
    owner = _owner(pointers)
    candidates = [owner] if owner is not None else REGIONS.all()
    if any(region.start <= low and high <= region.end for region in candidates):
        return
    inside = np.zeros(addresses.shape, bool)
    for region in candidates:
        inside |= (addresses >= np.uint64(region.start)) & (addresses + np.uint64(size) <= np.uint64(region.end))
    if not inside.all():
        _report(addresses, inside, size, owner or _nearest(int(addresses[~inside][0])), what)


def _nearest(address: int) -> Region:
    regions = REGIONS.all()
    if not regions:
        return Region("no argument", 0, 0)
    return min(regions, key=lambda region: max(region.start - address, address - region.end, 0))


def _report(addresses: Any, inside: Any, size: int, region: Region, what: str) -> None:
    from triton.runtime.interpreter import interpreter_builder

    lanes = np.nonzero(~inside)[0]
    first = int(addresses[lanes[0]]) - region.start
    if first >= 1 << 63:
        first -= 1 << 64
    program = tuple(int(i) for i in interpreter_builder.grid_idx)
    fault = OutOfBounds(
        f"out of bounds: {what} of {size} bytes at byte offset {first} of argument '{region.name}' "
        f"({region.nbytes} bytes), {len(lanes)} of {len(addresses)} active lanes, program {program}"
    )
    faults.append(fault)
    raise fault
