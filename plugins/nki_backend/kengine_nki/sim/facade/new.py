"""The standalone `nki` package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import enums, loops
from ..buffers import HBM, PSUM, SBUF, SHARED_HBM, MemoryRegion
from ..dtypes import DTYPES, DType
from ..errors import NkiError
from ..indexing import ds
from ..isa import (
    activate,
    dma,
    elementwise,
    language,
    matmul,
    microscaling,
    random,
    reduce,
    registers,
    search,
    select,
    shuffle,
    statistics,
)
from ..kernel import Kernel
from ..ops import AVERAGE, BYPASS, OPS, PRELU, register
from ..program import current
from ..tensor import NkiTensor
from .arguments import BINARY, UNARY, shared_language
from .modules import FacadeModule, make_module, refuse
from .signatures import expose, load_api
from .tile_size import TileSize

COLLECTIVES = [
    "all_reduce", "all_gather", "all_gather_v", "reduce_scatter", "all_to_all", "all_to_all_v", "collective_permute",
    "collective_permute_implicit", "collective_permute_implicit_reduce",
    "collective_permute_implicit_current_processing_rank_id", "rank_id", "ReplicaGroup",
]  # fmt: skip
UNSUPPORTED_ISA = {
    "rand_get_state": "the layout of the hardware's random state is not public",
    "topk": "the public description of its 16-partition layout does not settle its result",
}


class NkiInstruction:
    """What instructions return: a handle for ordering, not a tensor."""

    def depends_on(self, *instructions: Any) -> NkiInstruction:
        return self


class NKIObject:
    """Base class for configuration objects inside kernels; keywords become attributes."""

    def __init__(self, **kwargs: Any) -> None:
        for name, value in kwargs.items():
            setattr(self, name, value)


class NkiValidationError(NkiError):
    """Name of the official validation error, for kernels that refer to it."""


INSTRUCTION = NkiInstruction()
INSTRUCTIONS: list[Callable[..., Any]] = [
    dma.dma_copy, dma.dma_compute, dma.dma_transpose, elementwise.tensor_copy, elementwise.memset,
    elementwise.tensor_tensor, elementwise.tensor_scalar, elementwise.scalar_tensor_tensor, elementwise.reciprocal,
    activate.activation, activate.activation_reduce, activate.activate2, activate.exponential, matmul.nc_matmul,
    matmul.nc_transpose, microscaling.nc_matmul_mx, microscaling.quantize_mx, reduce.tensor_reduce,
    reduce.tensor_partition_reduce, reduce.tensor_scalar_reduce, reduce.tensor_tensor_scan,
    reduce.tensor_scalar_cumulative, select.iota, select.affine_select, select.range_select, select.select_reduce,
    select.tensor_copy_predicated, search.max8, search.nc_find_index8, search.nc_match_replace8, search.nc_n_gather,
    search.local_gather, search.nonzero_with_count, search.sequence_bounds, statistics.bn_stats, statistics.bn_aggr,
    shuffle.nc_stream_shuffle, shuffle.core_barrier, shuffle.sendrecv, random.rng, random.rand2, random.dropout,
    random.set_rng_seed, random.rand_set_state, registers.register_move, registers.register_load,
    registers.register_store,
]  # fmt: skip


def get_nc_version() -> enums.nc_version:
    """Generation of the core: gen2, gen3 or gen4."""
    return enums.nc_version(current().chip.generation)


def get_nc_sub_version() -> int:
    """Sub-version of the core; 0."""
    current()
    return 0


def affine_range(start: Any, stop: Any = None, step: Any = 1) -> range:
    """Iterations without dependences between them."""
    return loops.affine("affine_range", start) if stop is None else loops.affine("affine_range", start, stop, step)


def _ordered(name: str) -> Callable[..., range]:
    def implementation(start: Any, stop: Any = None, step: Any = 1) -> range:
        return loops.numbers(name, start) if stop is None else loops.numbers(name, start, stop, step)

    return implementation


def broadcast_to(x: Any, shape: Any, dtype: Any = None) -> Any:
    """A new tile with x broadcast to `shape`."""
    return language.broadcast_tile(x, shape, dtype)


def _is(*regions: MemoryRegion) -> Callable[[Any], bool]:
    def implementation(buffer: Any) -> bool:
        return getattr(buffer, "buffer", buffer) in regions

    return implementation


def isa_module() -> FacadeModule:
    """nki.isa."""
    table = load_api()["new"]["isa"]
    names: dict[str, Any] = {}
    for function in INSTRUCTIONS:
        names[function.__name__] = expose(function.__name__, table[function.__name__], function, "new", INSTRUCTION)
    for function in (registers.register_alloc, get_nc_version, get_nc_sub_version):
        names[function.__name__] = expose(function.__name__, table[function.__name__], function, "new")
    for name, why in UNSUPPORTED_ISA.items():
        names[name] = refuse(f"nki.isa.{name}", why)
    for kind in ("engine", "reduce_cmd", "dge_mode", "oob_mode", "matmul_perf_mode", "nc_version", "dma_engine"):
        names[kind] = getattr(enums, kind)
    for unit in ("tensor", "vector", "scalar", "gpsimd", "unknown"):
        names[f"{unit}_engine"] = enums.engine[unit]
    names.update(
        NkiInstruction=NkiInstruction, NkiValidationError=NkiValidationError, VirtualRegister=registers.VirtualRegister,
        NKIObject=NKIObject,
    )  # fmt: skip
    return make_module("nki.isa", "Instructions of the NeuronCore.", **names)


def language_module() -> FacadeModule:
    """nki.language."""
    table = load_api()["new"]["language"]
    implementations = shared_language()
    implementations.update(
        ds=ds, affine_range=affine_range, broadcast_to=broadcast_to, fori_loop=registers.fori_loop,
        while_loop=registers.while_loop, is_hbm=_is(HBM, SHARED_HBM), is_on_chip=_is(SBUF, PSUM), is_psum=_is(PSUM),
        is_sbuf=_is(SBUF), **{f"{n}_range": _ordered(f"{n}_range") for n in ("sequential", "static", "dynamic")},
    )  # fmt: skip
    names: dict[str, Any] = dict(DTYPES)
    for name, entry in table.items():
        if entry["kind"] == "function":
            names[name] = expose(name, entry, implementations[name], "new")
    for name in UNARY + BINARY:
        register(names[name], OPS[name], "new")
    for name, op in (("max", "maximum"), ("min", "minimum")):
        register(names[name], OPS[op], "new")
    names.update(
        sbuf=SBUF, psum=PSUM, hbm=HBM, private_hbm=HBM, shared_hbm=SHARED_HBM, tile_size=TileSize(),
        _TileSize=TileSize, MemoryRegion=MemoryRegion, NKIObject=NKIObject, NkiTensor=NkiTensor, DType=DType,
        bypass=BYPASS, prelu=PRELU, average=AVERAGE,
    )  # fmt: skip
    return make_module("nki.language", "Language functions, types and memories.", **names)


def jit(fn: Any = None, **options: Any) -> Any:
    """`@nki.jit`, bare or with options."""
    for name in options:
        if name in ("mode", "platform_target"):
            raise NkiError(f"jit() got an unexpected keyword argument '{name}': it was removed in NKI 0.3")
    if fn is None:
        return lambda function: Kernel(function, "new")
    return Kernel(fn, "new")


def simulate(kernel: Any) -> Any:
    """A callable that runs the kernel here, which is what calling it does."""
    return kernel if isinstance(kernel, Kernel) else Kernel(kernel, "new")


def build_new() -> dict[str, FacadeModule]:
    """All modules of the package by name."""
    isa, lang = isa_module(), language_module()
    collectives = make_module(
        "nki.collectives", "Collectives between devices, which one device cannot run.",
        **{n: refuse(f"nki.collectives.{n}", "collectives need several devices") for n in COLLECTIVES},
    )  # fmt: skip
    typing = make_module("nki.typing", "Annotations.", tensor=NkiTensor, NkiTensor=NkiTensor)
    compiler = make_module("nki.compiler", "Compiler options, without effect here.")
    dtype = make_module("nki.dtype", "Data types.", **DTYPES)
    top = make_module(
        "nki", "NKI, run by the interpreter.", isa=isa, language=lang, collectives=collectives, typing=typing,
        compiler=compiler, dtype=dtype, jit=jit, simulate=simulate, __version__="0.6.0",
        NKIObject=NKIObject, NkiTensor=NkiTensor,
    )  # fmt: skip
    return {m.__name__: m for m in (top, isa, lang, collectives, typing, compiler, dtype)}
