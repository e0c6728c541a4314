"""C++ code replaces or bends what time is measured with.

What it does:
Finds definitions of functions of the runtime (`cudaEventElapsedTime`, `hipEventRecord`, `clock_gettime`, `cudaMalloc`,
...), which take the place of the real ones. Persisting L2 windows, events without timing, resets of the device and
clocks read in a kernel are a warning.

Why is this bad:
It changes the measured time without changing the work.

Example:
    extern "C" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
      *ms = 0.001f;
      return cudaSuccess;
    }

Use instead:
    Make the kernel faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_RUNTIME = re.compile(
    r"(?:cuda|hip)(?:Event(?:Create|CreateWithFlags|Record|RecordWithFlags|Synchronize|Query|ElapsedTime(?:_v2)?|Destroy)|"
    r"Stream(?:Create\w{0,12}|Synchronize|WaitEvent|Query)|DeviceSynchronize|LaunchKernel(?:ExC)?|Malloc(?:Async|Managed)?|"
    r"Memcpy(?:Async)?|Memset(?:Async)?|Free(?:Async)?|GraphLaunch|GetLastError|PeekAtLastError)\Z|"
    r"cu(?:EventElapsedTime(?:_v2)?|EventRecord|LaunchKernel|StreamSynchronize|CtxSynchronize|MemAlloc_v2|MemcpyDtoH_v2)\Z|"
    r"(?:clock_gettime|gettimeofday|malloc|free|memcmp|__libc_start_main)\Z"
)
_WARNED = frozenset({
    "cudaLimitPersistingL2CacheSize", "cudaAccessPolicyWindow", "cudaCtxResetPersistingL2Cache", "cudaDeviceReset",
    "hipDeviceReset", "cudaEventDisableTiming", "cudaDeviceSetLimit", "hipDeviceSetLimit", "clock64", "wall_clock64",
    "globaltimer", "cudaProfilerStop", "cudaSetDeviceFlags", "cudaDeviceSetCacheConfig", "accessPolicyWindow",
    "cudaEventElapsedTime", "hipEventElapsedTime", "nvmlDeviceSetGpuLockedClocks",
})  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at definitions and at names."""
    native = find_native(source)
    for cpp in native.sources:
        for function in cpp.unit.functions:
            words = [cpp.unit.word(i) for i in range(function.head, function.parameters[0])]
            member = "::" in words or "." in words
            if _RUNTIME.match(function.name) and not member and not function.is_device and not function.is_kernel:
                yield cpp.hit(
                    function.parameters[0] - 1, f"defines {function.name}, which belongs to the runtime", "reject"
                )
    for cpp, name in native.names():
        if name.parts[-1] in _WARNED:
            yield cpp.hit(name.at, f"{name.parts[-1]} bends what is measured, or reads a clock", "warn")


RULE = Rule("KE408", "native-clock", "reject", check, __doc__, ALL)
