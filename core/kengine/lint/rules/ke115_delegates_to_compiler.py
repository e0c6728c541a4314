"""The candidate has a compiler of the framework write its kernels.

What it does:
Finds `torch.compile`, `torch.jit.script` and `trace`, Inductor, TensorRT and XLA in code that the entry reaches or
the import executes. A task may permit one: `allow = ["torch.compile"]`.

Why is this bad:
Kernels that Inductor generates are Inductor's. The timing baseline may be the same compiler, and the comparison is
then of the compiler with itself.

Example:
    candidate = torch.compile(lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)) * w)

Use instead:
    Write the kernel and launch it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = (
    "torch.compile", "torch._dynamo.optimize", "torch._inductor", "torch.jit.script", "torch.jit.trace",
    "torch.jit.script_method", "torch.jit.freeze", "torch.fx.experimental", "torch._export", "torch.export",
    "torch.compiler.compile", "torch_tensorrt", "tensorrt", "torch_xla", "torch._lazy", "tvm", "helion",
    "torch.cuda.make_graphed_callables", "functorch.compile", "torch._functorch", "onnxruntime", "openvino",
)  # fmt: skip
_HARMLESS = ("torch._inductor.config", "torch.cuda.make_graphed_callables", "torch._inductor.runtime")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names."""
    for node, name in source.references():
        if is_within(name, _NAMES) and not is_within(name, _HARMLESS) and not context.allows(name):
            yield hit(node, f"{name} lets a compiler write the kernels; write them yourself")


RULE = Rule("KE115", "delegates-to-compiler", "reject", check, __doc__)
