"""Constructs that the emulator cannot run, found by their tokens."""

from __future__ import annotations

import re

from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank, line_of
from kengine.simt.vectors import find_others

# What the emulator's own CUB has, and headers of it. A test compares the two with the headers.
_CUB = (
    r"Block(?:Reduce|Scan|Load|Store|Exchange|RadixSort)(?:Algorithm)?|Warp(?:Reduce|Scan)|"
    r"Thread(?:Reduce|Load|Store|ScanInclusive|ScanExclusive)|BLOCK_(?:REDUCE|SCAN|LOAD|STORE)_\w+|LOAD_\w+|STORE_\w+|"
    r"(?:Load|Store)Direct(?:Blocked|BlockedVectorized|Striped)|Shuffle(?:Up|Down|Index)|"
    r"Sum|Max|Min|ArgMax|ArgMin|Equality|Inequality|Difference|Division|CastOp|"
    r"KeyValuePair|NullType|Int2Type|Uninitialized|LaneId|WarpId|RowMajorTid|CTA_SYNC|WARP_SYNC|"
    r"CacheLoadModifier|CacheStoreModifier"
)
_CUB_HEADERS = (
    r"(?:cub\.cuh|hipcub\.hpp|util_ptx\.cuh|util_type\.cuh|warp/warp_(?:reduce|scan)\.|"
    r"block/block_(?:reduce|scan|load|store|exchange|radix_sort)\.|thread/thread_(?:reduce|scan|load|store|operators)\.)"
)
# Patterns over text without comments and with emptied strings.
_TOKENS: tuple[tuple[str, str], ...] = (
    ("inline assembly", r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__|goto)?\s*\("),
    (
        "tensor map (TMA)",
        r"\bCUtensorMap\w*|\bcuTensorMap\w+|\bcp_async_bulk\w*|\b__grid_constant__\s+const\s+CUtensorMap",
    ),
    ("matrix-core built-in (MFMA)", r"\b__builtin_amdgcn_(?:s?mfma|wmma|swmmac)\w*"),
    (
        "AMDGCN built-in",
        r"\b__builtin_amdgcn_(?:ds_\w+|mov_dpp\w*|update_dpp\w*|perm\w*|readlane|writelane|raw_buffer\w+|make_buffer\w+|sched_\w+|s_waitcnt\w*|global_load_lds\w*|cvt_\w+|sdot\w+|udot\w+|fdot\w+)\b",
    ),
    ("NVVM built-in", r"\b__nvvm_\w+"),
    (
        "textures and surfaces",
        r"\btex(?:1D|2D|3D|Cubemap)(?:Layered|Lod|Grad|fetch)?\s*[<(]|\b(?:cuda|hip)(?:TextureObject|SurfaceObject)_t\b|\btexture\s*<|\bsurf[123]D(?:read|write)\b",
    ),
    (
        "libcu++",
        r"\b(?:cuda|hip)::(?:std::)?(?:barrier|pipeline|memcpy_async|atomic\w*|counting_semaphore|binary_semaphore|semaphore|latch|ptx|device|access_property|annotated_ptr|mdspan|stream_ref|mr)\b",
    ),
    ("pipeline primitives", r"\b__pipeline_(?:memcpy_async|commit|wait_prior)\b"),
    ("CUB's device-wide algorithms", r"\b(?:cub|hipcub)::Device\w+"),
    ("CUB", rf"\b(?:cub|hipcub)::(?!(?:{_CUB}|Device\w+)\b)\w+"),
    ("rocPRIM", r"\brocprim::"),
    ("Thrust", r"\b(?:thrust|rocthrust)::"),
    ("CUTLASS/CuTe", r"\b(?:cutlass|cute)::"),
    ("Composable Kernel", r"\b(?:ck|ck_tile)::"),
    ("rocWMMA", r"\brocwmma::"),
    (
        "cuBLAS/hipBLAS",
        r"\b(?:cublas|hipblas|rocblas)\w*_t\b|\b(?:cublas|cublasLt|hipblas|hipblasLt|rocblas_)[A-Z_a-z]\w*\s*\(",
    ),
    ("cuDNN/MIOpen", r"\b(?:cudnn|miopen)[A-Z]\w*"),
    ("cuFFT/hipFFT", r"\b(?:cufft|hipfft)[A-Z]\w*"),
    ("cuSPARSE/hipSPARSE", r"\b(?:cusparse|hipsparse)[A-Z]\w*"),
    ("cuSOLVER", r"\bcusolver\w+"),
    ("cuRAND host API", r"\bcurand(?:Create|Generate|Set|Destroy)\w+\s*\("),
    ("NCCL", r"\bnccl[A-Z]\w*"),
    ("thread-block clusters", r"\bthis_cluster\s*\(|\bcluster_group\b|\b__cluster_dims__\b"),
    ("multi-device groups", r"\bthis_multi_grid\s*\(|\bmulti_grid_group\b"),
    ("CUDA graphs", r"\b(?:cuda|hip)(?:Graph|StreamBeginCapture|StreamEndCapture)\w*"),
    ("memory pools", r"\b(?:cuda|hip)(?:MemPool\w*|MallocFromPoolAsync|Device[GS]et(?:Default)?MemPool)\b"),
    (
        "copies of three dimensions",
        r"\b(?:cuda|hip)(?:Memcpy3D|Memset3D|Malloc3D)\w*|\bmake_(?:cuda|hip)(?:Extent|PitchedPtr|Pos)\b",
    ),
    (
        "arrays of textures",
        r"\b(?:cuda|hip)(?:Array_t|MallocArray|FreeArray|Memcpy(?:2D)?(?:To|From)Array\w*|CreateChannelDesc|Mipmapped\w+)\b",
    ),
    (
        "attributes of streams",
        r"\b(?:cuda|hip)(?:Stream[SG]etAttribute|StreamCopyAttributes|StreamAttr\w+|AccessPolicyWindow|AccessProperty\w+)\b",
    ),
    ("memory of another process", r"\b(?:cuda|hip)(?:Ipc[A-Z]\w+|ImportExternal\w+|ExternalMemory\w+)\b"),
    ("driver API", r"\bcu(?:Launch|Module|Ctx|Mem|Device|Stream|Func)[A-Z]\w*\s*\("),
    ("extended launch", r"\b(?:cuda|hip)LaunchKernelEx\w*|\bcudaLaunchConfig_t\b"),
    ("warpgroup instructions", r"\b(?:wgmma|tcgen05)\w*"),
)
_HEADERS: tuple[tuple[str, str], ...] = (
    ("CUTLASS/CuTe", r"(?:cutlass|cute)/"),
    ("CUB's device-wide algorithms", r"(?:cub|hipcub)/device/"),
    ("CUB", rf"(?:cub|hipcub)/(?!(?:{_CUB_HEADERS}|device/)\b)"),
    ("rocPRIM", r"rocprim/"),
    ("Thrust", r"(?:thrust)/"),
    (
        "libcu++",
        r"cuda/(?:std/(?:atomic|barrier|latch|semaphore|mdspan|ranges|chrono)|barrier|pipeline|atomic|ptx|annotated_ptr|latch|semaphore)",
    ),
    ("cuBLAS/hipBLAS", r"cublas\w*\.h|cublas_v2\.h|hipblas|rocblas"),
    ("cuDNN/MIOpen", r"cudnn|miopen/"),
    ("rocWMMA", r"rocwmma/"),
    ("Composable Kernel", r"ck(?:_tile)?/"),
)


def find_unsupported(source: str) -> list[tuple[str, int]]:
    """Constructs of a source that the emulator cannot run, with their lines, in order of lines.

    Decided on tokens after comments and strings are removed. An #include of a library counts only together with a
    use, except for libraries that are nothing but headers of templates.
    """
    text = blank(source)
    found: list[tuple[int, str]] = []
    for construct, pattern in _TOKENS:
        found += [(match.start(), construct) for match in re.finditer(pattern, text)]
    for match in re.finditer(r"^[ \t]*#[ \t]*include[ \t]*([<\"])", text, re.M):
        end = source.find("\n", match.start())
        included = source[match.end() : end if end >= 0 else len(source)]
        found += [
            (match.start(), name)
            for name, pattern in _HEADERS
            if re.match(pattern, included) and name not in ("cuBLAS/hipBLAS",)
        ]
    for kernel in find_kernels(text):
        for match in re.finditer(r"<<<", text[kernel.body_start : kernel.body_end]):
            found.append((kernel.body_start + match.start(), "launch from a kernel (dynamic parallelism)"))
    vector = find_others(text)
    if vector is not None:
        found.append((vector, "a vector of clang's that no typedef names"))
    seen: set[tuple[str, int]] = set()
    out = []
    for offset, construct in sorted(found):
        entry = (construct, line_of(source, offset))
        if entry not in seen:
            seen.add(entry)
            out.append(entry)
    return out
