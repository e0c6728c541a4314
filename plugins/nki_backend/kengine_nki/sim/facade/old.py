"""The `neuronxcc.nki` package."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import loops
from ..access import copy
from ..allocation import ParDim, new_tile
from ..buffers import HBM, PSUM, SBUF, SHARED_HBM, MemoryRegion
from ..dtypes import BOOL, DTYPES, as_dtype, find_dtype
from ..errors import Unsupported, check
from ..grids import MeshGrid, arange
from ..indexing import ds
from ..isa import language
from ..kernel import Kernel
from ..ops import OPS, register, resolve
from ..tensor import NkiTensor
from ..tensor_old import OldTensor, PendingReduction, broadcast_view
from .arguments import BINARY, UNARY, shared_language
from .modules import FacadeModule, make_module, refuse
from .old_isa import isa_module
from .signatures import expose, load_api
from .tile_size import TileSize

OLD_DTYPES = [
    "bfloat16", "float16", "float32", "float8_e4m3", "float8_e5m2", "int16", "int32", "int8", "tfloat32", "uint16",
    "uint32", "uint8",
]  # fmt: skip


class fp32:
    """Limits of float32."""

    min = float(np.finfo(np.float32).min)


class bfp16:
    """Limits of bfloat16."""

    min = -3.3895313892515355e38


def _affine_range(*args: Any) -> Any:
    return loops.old_loop(loops.affine("affine_range", *args))


def _range(name: str) -> Callable[..., Any]:
    def implementation(*args: Any) -> Any:
        return loops.old_loop(loops.numbers(name, *args))

    return implementation


def _loop(name: str, implementation: Callable[..., Any]) -> Callable[..., Any]:
    """A range function; its compiler hints (keywords) have no effect here."""

    def loop(*args: Any, **hints: Any) -> Any:
        return implementation(*args)

    loop.__name__ = loop.__qualname__ = name
    return loop


def loop_reduce(x: Any, op: Any, loop_indices: Any, dtype: Any = None, mask: Any = None) -> Any:
    """A tile that accumulates over the loops of `loop_indices` where it is assigned."""
    found = resolve(op, "loop_reduce op")
    indices = loop_indices if isinstance(loop_indices, (list, tuple)) else [loop_indices]
    check(
        all(isinstance(i, loops.LoopIndex) for i in indices),
        "loop_reduce loop_indices must be loop variables of nl.affine_range",
    )
    tile = new_tile(x.shape, x.dtype if dtype is None else as_dtype(dtype))
    copy(tile, x, mask=mask)
    pending = PendingReduction(tile.storage, tile.dtype, tile.offset, tile.shape, tile.strides)
    pending.op, pending.first = found, all(i.first for i in indices)
    return pending


def static_cast(input_data: Any, dtype: Any) -> Any:
    """A new tile with the elements cast."""
    check(isinstance(input_data, OldTensor), f"static_cast takes a tile, got {type(input_data).__name__}")
    return input_data.astype(dtype)


def broadcast_to(src: Any, shape: Any) -> Any:
    """View of a tile broadcast to `shape`."""
    return broadcast_view(src, tuple(shape))


def all_of(x: Any, axis: Any, dtype: Any = BOOL, mask: Any = None) -> Any:
    """Whether all elements along the axes are not 0."""
    return language.reduce("all", x, axis, dtype, mask)


def finfo(dtype: Any) -> Any:
    """Limits of a float type."""
    import ml_dtypes

    found = find_dtype(dtype)
    check(found is not None and found.kind == "f", f"finfo takes a float type, got {dtype!r}")
    assert found is not None
    return ml_dtypes.finfo(found.np)


def gemm_grid() -> Any:
    """Index grids (partition, moving free) of a matmul tile."""
    return MeshGrid()[0:128, 0:512]


def gemm_stationary_grid() -> Any:
    """Index grids (partition, stationary free) of a matmul tile."""
    return MeshGrid()[0:128, 0:128]


def nc(number: int) -> int:
    """A grid size spread over `number` cores."""
    return int(number)


def spmd_dim(first: Any, second: Any) -> int:
    """A grid size made of two factors."""
    return int(first) * int(second)


def language_module() -> FacadeModule:
    """neuronxcc.nki.language."""
    table = load_api()["old"]["language"]
    implementations = shared_language()
    implementations.update(
        ds=ds, loop_reduce=loop_reduce, static_cast=static_cast, broadcast_to=broadcast_to, all=all_of,
        finfo=finfo, gemm_grid=gemm_grid, gemm_stationary_grid=gemm_stationary_grid, atomic_rmw=language.atomic_rmw,
    )  # fmt: skip
    names: dict[str, Any] = {name: DTYPES[name] for name in OLD_DTYPES}
    names["bool_"] = BOOL
    for name, entry in table.items():
        if entry["kind"] == "function" and name in implementations:
            names[name] = expose(name, entry, implementations[name], "old")
    for name in UNARY + BINARY:
        if name in names:
            register(names[name], OPS[name], "old")
    for name, op in (("max", "maximum"), ("min", "minimum"), ("sum", "add"), ("prod", "multiply")):
        register(names[name], OPS[op], "old")
    names.update(
        affine_range=_loop("affine_range", _affine_range), arange=arange, mgrid=MeshGrid(), par_dim=ParDim,
        sequential_range=_loop("sequential_range", _range("sequential_range")),
        static_range=_loop("static_range", _range("static_range")), nc=nc, spmd_dim=spmd_dim, fp32=fp32, bfp16=bfp16,
        sbuf=SBUF, psum=PSUM, hbm=HBM, private_hbm=HBM, shared_hbm=SHARED_HBM, tile_size=TileSize(), tensor=NkiTensor,
        all_reduce=refuse("neuronxcc.nki.language.all_reduce", "it reduces over programs that run at the same time"),
    )  # fmt: skip
    return make_module("neuronxcc.nki.language", "Language functions, types and memories.", **names)


class _Annotation:
    """`tensor` and `mutable_tensor` of neuronxcc.nki.typing: annotations that may carry a shape."""

    def __init__(self, immutable: bool) -> None:
        self.immutable = immutable

    def __getitem__(self, shape: Any) -> _Annotation:
        return self


class BufferPlan:
    """Result of `ncc.sbuf.alloc(...)` and its siblings: a memory with an allocation plan, which has no effect here."""

    def __init__(self, region: MemoryRegion) -> None:
        self.region = region


class Allocator:
    """`ncc.sbuf` and `ncc.psum`: alloc, mod_alloc, auto_alloc."""

    def __init__(self, region: MemoryRegion) -> None:
        self.region = region

    def alloc(self, *args: Any, **kwargs: Any) -> BufferPlan:
        return BufferPlan(self.region)

    mod_alloc = alloc
    auto_alloc = alloc


def _decorator(name: str) -> Callable[..., Any]:
    """A compiler directive that changes nothing here, used bare or with options."""

    def directive(function: Any = None, **options: Any) -> Any:
        return function if callable(function) else lambda f: f

    directive.__name__ = name
    return directive


def _block(name: str) -> Callable[..., Any]:
    @contextlib.contextmanager
    def directive(*args: Any, **options: Any) -> Iterator[None]:
        yield

    directive.__name__ = name
    return directive


class Benchmarked(Kernel):
    """A kernel under `nki.benchmark` or `nki.profile`: runs, but has no timing."""

    @property
    def benchmark_result(self) -> Any:
        raise Unsupported("benchmark_result", "the interpreter does not time kernels")


def jit(func: Any = None, mode: str = "auto", **options: Any) -> Any:
    """`@nki.jit`, bare or with options."""
    return Kernel(func, "old") if func is not None else lambda f: Kernel(f, "old")


def simulate_kernel(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a kernel on numpy arrays."""
    return (kernel if isinstance(kernel, Kernel) else Kernel(kernel, "old"))(*args, **kwargs)


def timed(kernel: Any = None, **options: Any) -> Any:
    """`nki.benchmark`, `nki.profile` and `nki.baremetal`: the kernel, which runs here without a time."""
    if kernel is None:
        return lambda f: timed(f)
    grid = kernel.grid if isinstance(kernel, Kernel) else None
    return Benchmarked(kernel, "old", grid)


def build_old() -> dict[str, FacadeModule]:
    """All modules of the package by name."""
    isa, lang = isa_module(), language_module()
    typing = make_module(
        "neuronxcc.nki.typing", "Annotations.", tensor=_Annotation(True), mutable_tensor=_Annotation(False)
    )
    compiler = make_module(
        "neuronxcc.nki.compiler", "Compiler directives, without effect here.", sbuf=Allocator(SBUF),
        psum=Allocator(PSUM), allocation_scope=_block("allocation_scope"), multi_buffer=_block("multi_buffer"),
        no_reorder=_block("no_reorder"), enable_stack_allocator=_decorator("enable_stack_allocator"),
        force_auto_alloc=_decorator("force_auto_alloc"),
        skip_middle_end_transformations=_decorator("skip_middle_end_transformations"),
    )  # fmt: skip
    top = make_module(
        "neuronxcc.nki", "NKI of the Neuron compiler, run by the interpreter.", isa=isa, language=lang, typing=typing,
        compiler=compiler, jit=jit, trace=jit, simulate_kernel=simulate_kernel, baremetal=timed, benchmark=timed,
        profile=timed, tensor=NkiTensor,
    )  # fmt: skip
    parent = make_module("neuronxcc", "Neuron compiler package, of which only nki is here.", nki=top)
    return {m.__name__: m for m in (parent, top, isa, lang, typing, compiler)}
