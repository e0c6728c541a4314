"""The extension defines kernels, and none of its functions launches one.

What it does:
Looks at C++ sources of which Python calls host functions. Reports when they define kernels and no function that can be
called holds a launch, by chevrons or by a function of the runtime, macros expanded. It is silent where Python launches
(`RawKernel`, a launch block), and where a source could not be read to the end.

Why is this bad:
The kernel is there to be seen; something else computes the answer.

Example:
    __global__ void rmsnorm(const float* x, float* y, int n) { ... }
    torch::Tensor forward(torch::Tensor x) { return x * torch::rsqrt(x.pow(2).mean(-1, true)); }

Use instead:
    torch::Tensor forward(torch::Tensor x) {
      auto y = torch::empty_like(x);
      rmsnorm<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
      return y;
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_OTHER_WAYS = frozenset(
    {
        "cudaGraphAddKernelNode",
        "hipGraphAddKernelNode",
        "cub",
        "thrust",
        "hipcub",
        "rocprim",
        "cutlass",
        "jitify",
        "launch_kernel",
        "gpu_kernel",
        "cudaLaunchKernelExC",
    }
)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at all sources of the file together."""
    if not source.tree.body:
        return  # a bare file is launched by its block
    native = find_native(source)
    if not native.kernels or native.has_launch or any(s.unit.incomplete for s in native.sources):
        return
    hosts = [f for s in native.sources for f in s.unit.functions if not f.is_kernel and not f.is_device and f.name]
    called = [f for f in hosts if f.name in native.mentioned and f.name in native.reached]
    words = {t.text for s in native.sources for t in s.unit.tokens if t.kind == "id"}
    if not called or words & _OTHER_WAYS or any(f.name in native.mentioned for _, f in native.kernels):
        return
    cpp, kernel = native.kernels[0]
    dead = any(s.unit.launches for s in native.sources)
    about = "the only launches stand in functions that nobody calls" if dead else "no function launches a kernel"
    yield cpp.hit(kernel.head, f"kernel {kernel.name!r} never runs: {about}", "reject")


RULE = Rule("KE403", "native-unlaunched", "reject", check, __doc__, ALL)
