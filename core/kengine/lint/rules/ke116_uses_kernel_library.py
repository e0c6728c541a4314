"""The candidate calls kernels of a library that somebody else wrote.

What it does:
Finds uses of packages of ready-made kernels (flash-attn, xformers, vLLM, FlashInfer, Liger, aiter, cuBLAS bindings,
...) in live code. A task may permit one: `allow = ["flash_attn"]`.

Why is this bad:
The work is the library's. What was asked for is the kernel.

Example:
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

Use instead:
    Write the kernel into the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = (
    "flash_attn", "flash_attn_interface", "xformers", "vllm", "sglang", "sgl_kernel", "flashinfer", "liger_kernel",
    "aiter", "fla", "apex", "bitsandbytes", "transformer_engine", "unsloth", "flag_gems", "quack", "deep_gemm",
    "causal_conv1d", "mamba_ssm", "torchao", "fbgemm_gpu", "triton.ops", "triton_kernels", "lightllm", "lmdeploy",
    "kernels", "cublas", "cudnn", "nvmath", "cupyx.scipy", "cupy.cublas", "cupy.cudnn", "cupy.cutensor", "cuml",
    "hipblas", "composable_kernel", "tensorrt_llm", "onnxruntime", "scattermoe", "megablocks", "grouped_gemm", "spconv",
    "torch_scatter", "torch_sparse", "torch_geometric", "neuronxcc.nki.kernels", "nki.kernels",
    "neuronxcc.nki._private_kernels",
)  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names."""
    for node, name in source.references():
        parent = source.parents.get(node)
        if isinstance(parent, ast.Compare) or ("." not in name and not isinstance(parent, ast.Call)):
            continue  # whether it is installed, not what it does
        own = name.partition(".")[0] in context.modules
        if is_within(name, _NAMES) and not own and not context.allows(name):
            yield hit(node, f"{name} belongs to a library of kernels; write the kernel yourself")


RULE = Rule("KE116", "uses-kernel-library", "reject", check, __doc__)
