"""C++ code computes on the processor.

What it does:
Finds host functions that fetch data from the device (`.cpu()`, `torch::kCPU`, a copy from device to host) and then
loop over it, or use Eigen, MKL or OpenMP.

Why is this bad:
The processor does what the kernel was asked for. It is a warning: reading one number back is honest.

Example:
    auto h = x.cpu();
    for (int i = 0; i < n; ++i) h.data_ptr<float>()[i] *= 2;
    return h.cuda();

Use instead:
    A kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_FETCHES = frozenset({"kCPU", "cudaMemcpyDeviceToHost", "hipMemcpyDeviceToHost", "cuMemcpyDtoH_v2", "cuMemcpyDtoH"})
_LIBRARIES = frozenset({"Eigen", "omp_get_num_threads", "parallel_for", "cblas_sgemm", "cblas_dgemm", "sgemm_"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at host functions that can be called."""
    native = find_native(source)
    for cpp in native.sources:
        for function in cpp.unit.functions:
            if function.is_kernel or function.is_device or function.name not in native.reached:
                continue
            words = cpp.unit.tokens[slice(*function.body)]
            fetched = next((i for i, t in enumerate(words) if t.kind == "id" and (t.text in _FETCHES or (
                t.text == "cpu" and i and words[i - 1].text == "."))), -1)  # fmt: skip
            loops = any(
                t.kind == "id" and t.text in ("for", "while", "transform", "accumulate") for t in words[fetched:]
            )
            library = next((i for i, t in enumerate(words) if t.kind == "id" and t.text in _LIBRARIES), -1)
            if fetched >= 0 and loops:
                yield cpp.hit(
                    function.body[0] + fetched, f"{function.name!r} fetches data and loops over it on the host"
                )
            elif library >= 0:
                yield cpp.hit(function.body[0] + library, f"{function.name!r} computes on the host")


RULE = Rule("KE405", "native-host-work", "warn", check, __doc__, ALL)
