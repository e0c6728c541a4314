"""What is known of tensors and tiles in kernels: memory, shape, type. Silent wherever the text is not sure."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import lru_cache

from kengine.lint.source import SourceTree

from kengine_nki.lint.api import split
from kengine_nki.lint.calls import ApiCall, bind
from kengine_nki.lint.integers import Integers
from kengine_nki.lint.kernels import Function, find_kernels, generation_of
from kengine_nki.lint.limits import ITEM_BYTES
from kengine_nki.lint.shapes import Shape, index_shape

CREATORS = frozenset({"ndarray", "zeros", "ones", "full", "zeros_like", "empty_like", "rand"})
MEMORIES = frozenset({"sbuf", "psum", "hbm", "private_hbm", "shared_hbm"})
ON_CHIP = frozenset({"sbuf", "psum"})
_BINDINGS = 32
_VIEWS = frozenset({
    "reshape", "view", "reinterpret_cast", "ap", "permute", "broadcast", "expand_dim", "squeeze_dim", "reshape_dim",
    "flatten_dims", "rearrange", "slice", "select", "vector_select", "indirect", "broadcast_to", "expand_dims",
    "assert_shape",
})  # fmt: skip
_NOT_TILES = frozenset({
    "arange", "ds", "affine_range", "sequential_range", "static_range", "dynamic_range", "fori_loop", "while_loop",
    "program_id", "num_programs", "program_ndim", "par_dim", "store", "device_print", "random_seed", "no_reorder",
    "is_hbm", "is_on_chip", "is_psum", "is_sbuf", "finfo", "gemm_grid", "gemm_stationary_grid", "nc", "spmd_dim",
    "atomic_rmw", "get_nc_version", "get_nc_sub_version", "dma_copy", "builtin_custom_op", "register_alloc",
    "tensor_copy_dynamic_dst", "tensor_copy_predicated", "select_reduce", "loop_reduce", "nc_stream_shuffle",
    "shared_constant",
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tile:
    """A tensor. memory: one of `MEMORIES` or "". shape: sizes, None where unknown. partition: axis of the partitions,
    None when unknown. parameter: it stands for a kernel's argument, which may be a number as well. made: the call
    that allocates it, None for a view and for the result of an instruction. view: it is a part of another one.
    """

    generation: str
    memory: str
    shape: Shape | None = None
    dtype: str = ""
    partition: int | None = 0
    parameter: str = ""
    made: ast.Call | None = None
    view: bool = False

    @property
    def on_chip(self) -> bool:
        """Whether it lies in SBUF or PSUM."""
        return self.memory in ON_CHIP

    @property
    def in_hbm(self) -> bool:
        """Whether it certainly lies in device memory."""
        return self.memory.endswith("hbm")

    @property
    def count(self) -> int | None:
        """Number of elements."""
        return _product(self.shape)

    @property
    def partitions(self) -> int | None:
        """Size of the partition axis."""
        if self.shape is None or self.partition is None or self.partition >= len(self.shape):
            return None
        return self.shape[self.partition]

    @property
    def free(self) -> int | None:
        """Elements of one partition, for a tile without block axes."""
        return _product(self.shape[1:]) if self.shape is not None and self.partition == 0 else None

    @property
    def bytes_per_partition(self) -> int | None:
        """Bytes of one partition, without what block axes add."""
        if self.shape is None or self.partition is None:
            return None
        free, item = _product(self.shape[self.partition + 1 :]), ITEM_BYTES.get(self.dtype)
        return free * item if free is not None and item is not None else None


class Tiles:
    """The tensors of one file."""

    def __init__(self, source: SourceTree) -> None:
        self.source = source
        self.integers = Integers(source, self._size)
        self._known: dict[ast.AST, Tile | None] = {}
        self._depth = 0
        self._kernels = {f: generation_of(source, f) for f in find_kernels(source).functions}

    def of(self, node: ast.AST | None) -> Tile | None:
        """The tensor that an expression stands for, None when it is none or unknown."""
        if node is None or self._depth > 40:
            return None
        if node not in self._known:
            self._known[node] = None
            self._depth += 1
            try:
                self._known[node] = self._of(node)
            finally:
                self._depth -= 1
        return self._known[node]

    def operand(self, call: ApiCall, *names: str) -> Tile | None:
        """The tensor given for a parameter."""
        return self.of(call.get(*names))

    def _of(self, node: ast.AST) -> Tile | None:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            base = self.of(node.value)
            return self._part(base, node) if base is not None else None
        return None

    def _name(self, node: ast.Name) -> Tile | None:
        every = self.source.scopes.lookup(node.id, node)
        if len(every) > _BINDINGS:
            return None
        found = [b for b in every if not self._is_update(b.node)]
        if len(found) == 1 and found[0].kind == "parameter" and found[0].node is not None:
            owner = self.source.function_of(found[0].node)
            if isinstance(owner, Function) and owner in self._kernels:
                return Tile(self._kernels[owner], "hbm", None, "", None, node.id)
            return None
        made: list[Tile] = []
        for binding in found:
            tile = self.of(binding.node) if binding.kind == "value" else None
            if tile is None:
                return None
            made.append(tile)
        return _merge(made)

    def _is_update(self, node: ast.AST | None) -> bool:
        """`tile += ...` leaves the tile what it is."""
        return isinstance(self.source.parents.get(node) if node is not None else None, ast.AugAssign)

    def _call(self, node: ast.Call) -> Tile | None:
        names = self.source.resolve(node.func)
        if len(names) == 1:
            call = bind(node, next(iter(names)))
            if call is not None:
                return self._result(call)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            base = self.of(node.func.value)
            if base is None or base.parameter:
                return replace(base, shape=None, view=True, parameter="", made=None) if base is not None else None
            shape: Shape | None = None
            if node.func.attr == "reshape" and node.args:
                shape = self.shape(node.args[0] if len(node.args) == 1 else ast.Tuple(node.args, ast.Load()))[0]
                shape = shape if shape is not None and not any(s is not None and s < 0 for s in shape) else None
            dtype = "" if node.func.attr in ("view", "reinterpret_cast", "ap") else base.dtype
            return replace(base, shape=shape, dtype=dtype, view=True, made=None)
        return None

    def _result(self, call: ApiCall) -> Tile | None:
        member, generation = call.member, call.name.generation
        if call.name.module == "language" and member in CREATORS:
            return self._created(call)
        if call.signature is None or member in _NOT_TILES or (call.is_new and call.is_isa):
            return None
        memory = "" if member in ("matmul", "transpose", "loop_reduce") else "sbuf"
        if member in ("nc_matmul", "nc_transpose"):
            memory = "psum" if member == "nc_matmul" else ""
        shape: Shape | None = None
        if member == "load":
            source = self.of(call.get("src"))
            shape = source.shape if source is not None else None
        return Tile(generation, memory, shape, self._dtype(call.get("dtype")), 0 if shape else None)

    def _created(self, call: ApiCall) -> Tile:
        like = call.get("x", "a") if call.member.endswith("_like") else None
        if like is not None:
            model = self.of(like)
            shape, partition = (model.shape, model.partition) if model is not None else (None, None)
            dtype = self._dtype(call.get("dtype")) or (model.dtype if model is not None else "")
        else:
            shape, partition = self.shape(call.get("shape"))
            dtype = self._dtype(call.get("dtype"))
        buffer = call.get("buffer")
        memory = "sbuf" if buffer is None and like is None else self._memory(buffer)
        if shape is not None and partition is None and (len(shape) <= 2 or call.is_new):
            partition = 0
        return Tile(call.name.generation, memory, shape, dtype, partition, made=call.node)

    def _memory(self, node: ast.expr | None) -> str:
        if isinstance(node, ast.Call):
            node = node.func.value if isinstance(node.func, ast.Attribute) else None  # ncc.psum.alloc(...)
        names = self.source.resolve(node) if node is not None else frozenset()
        last = {n.rpartition(".")[2] for n in names}
        found = last.pop() if len(last) == 1 else ""
        return found if found in MEMORIES else ""

    def _dtype(self, node: ast.expr | None) -> str:
        if node is None:
            return ""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) and node.value in ITEM_BYTES else ""
        last = {n.rpartition(".")[2] for n in self.source.resolve(node) if not n.startswith("@")}
        found = last.pop() if len(last) == 1 else ""
        return found if found in ITEM_BYTES else ""

    def shape(self, node: ast.expr | None) -> tuple[Shape | None, int | None]:
        """The sizes that a shape argument names and, with `par_dim`, the axis of the partitions."""
        if isinstance(node, ast.Name):
            found = self.source.scopes.lookup(node.id, node)
            bound = found[0].node if len(found) == 1 and found[0].kind == "value" else None
            return self.shape(bound) if isinstance(bound, (ast.Tuple, ast.List, ast.Attribute)) else (None, None)
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            tile = self.of(node.value)
            return (tile.shape, tile.partition) if tile is not None else (None, None)
        if not isinstance(node, (ast.Tuple, ast.List)) or any(isinstance(e, ast.Starred) for e in node.elts):
            return None, None
        partition: int | None = None
        sizes: list[int | None] = []
        for axis, element in enumerate(node.elts):
            if isinstance(element, ast.Call) and any(
                n.endswith("language.par_dim") for n in self.source.resolve(element.func)
            ):
                partition = axis
                sizes.append(self.integers.integer(element.args[0]) if element.args else None)
            else:
                sizes.append(self.integers.integer(element))
        return tuple(sizes), partition

    def _size(self, node: ast.expr) -> int | None:
        """`tile.shape[1]` of a tile whose shape is known."""
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)):
            return None
        axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
        tile = self.of(node.value.value) if node.value.attr == "shape" else None
        if tile is None or tile.shape is None or not isinstance(axis, int) or not -len(tile.shape) <= axis < len(
            tile.shape
        ):  # fmt: skip
            return None
        return tile.shape[axis]

    def _part(self, base: Tile, node: ast.Subscript) -> Tile:
        if isinstance(node.slice, ast.Constant) and node.slice.value is Ellipsis:
            return replace(base, view=True, made=None)
        plain = base.partition == 0 or base.in_hbm
        shape = index_shape(self.source, self.integers, base.shape, node.slice, base.on_chip) if plain else None
        return replace(base, shape=shape, view=True, made=None, parameter="", partition=0 if shape else None)


def _merge(tiles: list[Tile]) -> Tile | None:
    if not tiles:
        return None
    first = tiles[0]
    if len(tiles) == 1:
        return first
    if any(t.memory != first.memory or t.generation != first.generation for t in tiles):
        return replace(first, memory="", shape=None, dtype="", partition=None, parameter="", made=None)
    same_shape = all((t.shape, t.partition) == (first.shape, first.partition) for t in tiles)
    dtype = first.dtype if all(t.dtype == first.dtype for t in tiles) else ""
    shape, partition = (first.shape, first.partition) if same_shape else (None, None)
    return replace(first, shape=shape, partition=partition, dtype=dtype, parameter="", made=None)


def _product(sizes: Shape | None) -> int | None:
    if sizes is None:
        return None
    total = 1
    for size in sizes:
        if size is None:
            return None
        total *= size
    return total


def is_nki(source: SourceTree, node: ast.expr, *shorts: str) -> bool:
    """Whether an expression names one of these, spelt shortly (`nl.sbuf`, `nisa.engine.gpsimd`), of any generation."""
    for dotted in source.resolve(node):
        name = split(dotted)
        if name is not None and name.short in shorts:
            return True
    return False


@lru_cache(maxsize=16)
def find_tiles(source: SourceTree) -> Tiles:
    """The tensors of a file."""
    return Tiles(source)
