"""What CUDA text says that HIP does not have, in words that say what to write instead."""

from __future__ import annotations

import re

from kengine.errors import CandidateFault
from kengine.simt.lexer import blank, line_of

_DIFFERENCES: tuple[tuple[str, str], ...] = (
    (r"\b__(?:shfl\w*|ballot|any|all|match_\w+|reduce_\w+|syncwarp)_sync\s*\(\s*(?:0[xX][fF]{1,8}[uU]?|FULL_MASK|mask)\b"
     r"|\b__syncwarp\s*\(\s*0[xX][fF]{1,8}[uU]?\s*\)",
     "lane masks have 64 bits on AMD: 0xffffffffffffffffULL"),
    (r"\b(?:asm|__asm__)\s*(?:volatile)?\s*\(", "inline PTX has no meaning for AMD"),
    (r"\bnvcuda::wmma\b|\bwmma::", "HIP has no nvcuda::wmma; rocWMMA or MFMA built-ins take its place"),
    (r"\bcuda::(?:std|barrier|pipeline|atomic)\w*", "libcu++ (cuda::) is not part of HIP"),
    (r"\bcg::reduce\b|\bcooperative_groups/(?:reduce|scan|memcpy_async)\.h", "HIP's cooperative groups have no reduce"),
    (r"\bcub::", "CUB is hipCUB under HIP"),
    (r"\bcublas\w+", "cuBLAS is hipBLAS under HIP"),
    (r"\bcurand\w*", "cuRAND is hipRAND under HIP"),
    (r"\b__nv_fp8\w+", "8-bit floats are __hip_fp8_e4m3 and its kin under HIP"),
    (r"\b__cluster_dims__|\bthis_cluster\b", "AMD chips have no clusters of blocks"),
    (r"\b__pipeline_\w+|\bmemcpy_async\b", "AMD chips have no asynchronous copies to shared memory"),
    (r"\b(?:tex[123]D|cudaTextureObject_t)\b", "textures are not offered"),
    (r"\b__nvvm_\w+|\b__nanosleep\b|\b__vadd4\b|\b__dp4a\b", "this intrinsic is NVIDIA's"),
)  # fmt: skip


def find_differences(text: str) -> list[tuple[int, str]]:
    """Lines of a CUDA text and what differs there, in order of lines, each sentence once."""
    code = blank(text)
    found: dict[str, int] = {}
    for pattern, sentence in _DIFFERENCES:
        match = re.search(pattern, code)
        if match:
            found.setdefault(sentence, line_of(text, match.start()))
    return sorted((line, sentence) for sentence, line in found.items())


def explain(fault: CandidateFault, text: str) -> str:
    """What to add to the emulator's faults: what HIP has in the place of what the line at fault says."""
    about = fault.status in ("compile_failed", "unsupported") or fault.message.startswith("bad shuffle mask")
    lines = text.split("\n")
    if not about or not 0 < fault.line <= len(lines):
        return ""
    return "".join(f" -- {sentence}" for _, sentence in find_differences(lines[fault.line - 1]))
