"""PyTorch's operators, seen under its dispatcher: also those called from C++ and inside custom operators in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from kengine.provenance import contents
from kengine.provenance.ledger import INPUT, Ledger, Piece, allocates
from kengine.provenance.modes import DispatchMode
from kengine.provenance.operators import INDEX, find_kind

_numel, _element_size, _data_ptr = torch.Tensor.numel, torch.Tensor.element_size, torch.Tensor.data_ptr
_storage = torch.Tensor.untyped_storage

_nothing: AbstractContextManager[None] = nullcontext()
_python_operators: set[str] = set()
"""Custom operators whose bodies are Python: they are followed inside, and are no work of their own."""


_COPIES = frozenset({"aten::clone", "aten::contiguous", "aten::_to_copy"})
_PLANS = ("sort", "scan")
_LOOKUPS = frozenset({"aten::gather", "aten::index", "aten::index_select", "aten::take", "aten::embedding"})


def form_of(tensor: Any) -> tuple[Any, ...]:
    """Where a tensor's elements lie and in what form: two of the same are the same array."""
    with torch._C.DisableTorchFunction():
        return (_data_ptr(tensor), tuple(tensor.size()), tuple(tensor.stride()))


def _drops(name: str, args: Any, result: Any) -> bool:
    """Whether a cast drops the fractions of its input: that is arithmetic, and not only another dtype."""
    if name != "aten::_to_copy" or not isinstance(result, torch.Tensor) or not isinstance(args[0], torch.Tensor):
        return False
    return bool(args[0].dtype.is_floating_point and not (result.dtype.is_floating_point or result.dtype.is_complex))


def _adds(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether what is put somewhere is added to what is there."""
    position = next((n for n, a in enumerate(func._schema.arguments) if a.name == "accumulate"), None)
    return position is not None and bool(args[position] if position < len(args) else kwargs.get("accumulate"))


@functools.cache
def _own_spaces() -> frozenset[str]:
    """Namespaces of the operators that came with PyTorch: `aten`, and for instance `mkldnn` and `quantized`.

    Taken once, before there is a candidate that could add one.
    """
    return frozenset(str(schema.name).partition("::")[0] for schema in torch._C._jit_get_all_schemas())


class Follower(DispatchMode):
    """Writes every operator into a ledger while it is entered and not paused.

    around: what operators on parameters and constants alone run inside of, None for nothing.
    """

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.ledger = ledger
        self.paused = 0
        self.around: Callable[[], AbstractContextManager[None]] | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.paused:
            return func(*args, **kwargs)
        launches = self.ledger.launches
        with self._surroundings(func, args, kwargs):
            result = func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            self._note(func, args, kwargs, result, self.ledger.launches != launches)
        return result

    def _surroundings(self, func: Any, args: Any, kwargs: Any) -> AbstractContextManager[None]:
        name = str(func._schema.name)
        if self.around is None or name.partition("::")[0] not in _own_spaces() or find_kind(name) == "movement":
            return _nothing
        read = _pieces((args, kwargs))
        return self.around() if read and self.ledger.is_settled(read) else _nothing

    def _note(self, func: Any, args: Any, kwargs: Any, result: Any, launched: bool) -> None:
        name = str(func._schema.name)
        read = _pieces((args, kwargs))
        given = _pieces(list(_written(func._schema, args, kwargs)))
        written = _pieces(result) + given
        space = name.partition("::")[0]
        if space not in _own_spaces():
            if name not in _python_operators:
                self.ledger.opaque.add(name)
            # Kernels and operators inside have said what they wrote; what nobody claims descends from what was read.
            unknown = [p for p in written if self.ledger.find(p.start) is None]
            flags = self.ledger.flags(read)
            for each in unknown:
                self.ledger.enter(each, flags, name)
            return
        if name == "aten::_local_scalar_dense":
            for each in read:
                self.ledger.export(each, "data", part=True)
            return
        shares = {p.start for p in written} <= {p.start for p in read} and not _writes(func._schema)
        if shares:
            return  # a view: nothing was computed, and the memory is known already
        if allocates(name):
            self._scatter(result)
        if _drops(name, args, result):
            name += "(whole)"
        elif name in _LOOKUPS and self._is_computed(args):
            name += "(computed)"
        elif _adds(func, args, kwargs):
            name += "(accumulate)"
        elif find_kind(name) == "elementwise" and any(t.is_complex() for t in tensors(args)):
            name += "(complex)"
        elif any(t.layout != torch.strided for t in tensors(args)):
            name += "(sparse)"
        elif find_kind(name) in _PLANS and not any(t.is_floating_point() for t in tensors((args, kwargs, result))):
            name += INDEX
        counts = name not in _COPIES or form_of(args[0]) not in self.ledger.given
        inputs = _inputs_only(func, read, args, kwargs)
        self.ledger.operation(name, inputs, written, _flops(func, args, kwargs, result), counts, given)

    def _is_computed(self, args: Any) -> bool:
        """Whether the places of a lookup were computed of inputs: it is then a function of them, by a table."""
        for tensor in tensors(args[1:]):
            found = piece(tensor) if not tensor.dtype.is_floating_point else None
            block = self.ledger.find(found.start) if found is not None else None
            if block is not None and block.flags & INPUT and "::" in block.writer:
                return True
        return False

    def _scatter(self, made: Any) -> None:
        """Have new memory hold what nothing else does, as no work of the candidate's."""
        found = piece(made) if isinstance(made, torch.Tensor) and made.layout is torch.strided else None
        if found is None or found.end <= found.start or made.device.type not in ("cpu", "cuda"):
            return
        on_device = made.device.type == "cuda"
        if on_device and torch.cuda.is_current_stream_capturing():
            return
        self.paused += 1
        try:
            with self.around() if self.around is not None else _nothing:
                contents.scatter(found.start, found.end, on_device)
        finally:
            self.paused -= 1


class Listener(DispatchMode):
    """For a thread that may outlive many calls: passes operators on to the follower of the moment, if there is one."""

    def __init__(self, current: Callable[[], Follower | None]) -> None:
        super().__init__()
        self.current = current

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        follower = self.current()
        if follower is None:
            return func(*args, **(kwargs or {}))
        return follower.__torch_dispatch__(func, types, args, kwargs)


def _inputs_only(func: Any, read: list[Piece], args: Any, kwargs: Any) -> list[Piece]:
    """What is read: an `out=` argument, and the target of a fill or copy, is only written."""
    if func._schema.name in ("aten::copy_", "aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_"):
        return _pieces((args[1:], kwargs))
    outs = {id(t) for t in tensors([kwargs.get(a.name) for a in func._schema.arguments if a.is_out])}
    return _pieces([t for t in tensors((args, kwargs)) if id(t) not in outs]) if outs else read


def _writes(schema: Any) -> bool:
    return any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def _written(schema: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            yield from tensors(value)


def _flops(func: Any, args: Any, kwargs: Any, result: Any) -> int:
    count = flop_registry.get(func._overloadpacket)
    if count is None:
        return 0
    try:
        return int(count(*args, **kwargs, out_val=result))
    except Exception:  # a formula that does not know this call: its bytes count
        return 0


def _pieces(value: Any) -> list[Piece]:
    """Where all tensors of a nested value lie, sparse ones by their indices and values."""
    found = []
    for tensor in tensors(value):
        for part in _parts(tensor) if tensor.layout != torch.strided else (tensor,):
            where = piece(part)
            if where is not None:
                found.append(where)
    return found


def _parts(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    if tensor.layout is torch.sparse_coo:
        return torch.Tensor._indices(tensor), torch.Tensor._values(tensor)
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return ()


def piece(tensor: torch.Tensor) -> Piece | None:
    """Where a tensor's storage lies; None for tensors without memory (meta, sparse)."""
    try:
        storage = _storage(tensor)
        start, size = int(storage.data_ptr()), int(storage.nbytes())
        used = int(_numel(tensor)) * int(_element_size(tensor))
    except (RuntimeError, NotImplementedError, AttributeError):
        return None
    return Piece(start, start + size, min(used, size), storage) if start and size else None


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Every tensor in a nested value, depth first."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)


def wrap_custom_operators(surroundings: Callable[[], AbstractContextManager[Any]]) -> None:
    """Have the bodies of custom operators that are registered from now on run in the surroundings of their moment.

    PyTorch takes its modes off while an operator's own implementation runs.
    """
    _own_spaces()
    library = torch.library.Library
    inner = library.impl

    def impl(self: Any, op_name: Any, fn: Any, *args: Any, **kwargs: Any) -> Any:
        name = op_name if isinstance(op_name, str) else op_name._schema.name
        if callable(fn) and not isinstance(fn, torch._ops.OpOverload) and not kwargs.get("with_keyset"):
            full = name if "::" in name else f"{self.ns}::{name}"
            if not full.startswith(("aten::", "prims::")):
                _python_operators.add(full.partition(".")[0])
                fn = _wrapped(fn, surroundings)
        return inner(self, op_name, fn, *args, **kwargs)

    library.impl = impl


def _wrapped(fn: Callable[..., Any], surroundings: Callable[[], AbstractContextManager[Any]]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def body(*args: Any, **kwargs: Any) -> Any:
        with surroundings():
            return fn(*args, **kwargs)

    return body
