"""The entry reaches framework operators and no kernel.

What it does:
Follows every name from the entry and reports when all that it meets is a framework (torch, jax, tensorflow), numpy
and the standard library, without one `kernel[grid](...)`. It says nothing when anything else is met that may hold
kernels: another package, a further file, an extension, a registered operator, code made at run time.

Why is this bad:
The framework's own kernels do the work, so a comparison with the framework is one of the framework with itself. As a
training target it teaches that calling the operator is writing it.

Example:
    def candidate(x, w):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w

Use instead:
    def candidate(x, w):
        y = torch.empty_like(x)
        rmsnorm_kernel[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=1024)
        return y
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from kengine.lint.launch import builds_code, subscript_launches
from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

FRAMEWORKS = frozenset({"torch", "jax", "tensorflow", "functorch", "torchvision"})
_NEUTRAL = FRAMEWORKS | {"numpy", "scipy", "einops", "__future__", "typing_extensions", "builtins"}
_OTHER_FORMS = (
    "torch.utils.cpp_extension", "torch.ops", "torch.library", "torch.classes", "torch._custom_ops",
    "torch.cuda._compile_kernel", "torch.cuda.jiterator", "torch.mps", "torch.xpu", "ctypes",
    "jax.experimental.pallas", "jax.ffi", "jax.extend",
)  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Report the entry when nothing but frameworks is reached from it."""
    owners = source.graph.owners.get(source.entry, [])
    if not owners or builds_code(source) or any(True for _ in subscript_launches(source)):
        return
    framework = ""
    helpers = dialect.declared().helpers
    reached = source.reached
    for node in source.nodes:
        if (
            isinstance(node, (ast.Import, ast.ImportFrom))
            and node in reached
            and any(name.name.partition(".")[0] not in _NEUTRAL for name in node.names if isinstance(node, ast.Import))
        ):
            return
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return
    for node, name in source.references():
        if node not in reached:
            continue
        root = name.partition(".")[0]
        neutral = root in _NEUTRAL or root in sys.stdlib_module_names or is_within(name, helpers)
        if not neutral or is_within(name, _OTHER_FORMS):
            return
        if root in FRAMEWORKS and not framework:
            framework = name
    if framework:
        yield hit(
            owners[0],
            f"no kernel is launched from {source.entry!r}: it only calls a framework ({framework}); "
            "write a kernel that does the work and launch it",
        )


RULE = Rule("KE102", "plain-framework-code", "reject", check, __doc__, main_only=True)
