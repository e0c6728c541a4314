"""The candidate changes settings that others share.

What it does:
Finds writes to `torch.backends.*`, default dtype and device, matmul precision, determinism, threads, gradient mode
for good, environment variables, and seeds of random generators.

Why is this bad:
The setting outlives the call and changes the precision, speed or inputs of whatever runs next. It is a warning:
judge and baseline run in other processes, and the integrity checks compare the settings before and after.

Example:
    torch.backends.cuda.matmul.allow_tf32 = True

Use instead:
    Ask for what the kernel needs in the kernel, for instance `tl.dot(a, b, input_precision="tf32")`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_CALLS = frozenset({
    "torch.set_float32_matmul_precision", "torch.set_default_dtype", "torch.set_default_device",
    "torch.set_default_tensor_type", "torch.use_deterministic_algorithms", "torch.set_num_threads",
    "torch.set_num_interop_threads", "torch.set_grad_enabled", "torch.manual_seed", "torch.seed",
    "torch.set_rng_state", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all",
    "torch.cuda.set_rng_state", "numpy.random.seed", "random.seed", "torch.cuda.set_device",
    "torch.cuda.set_per_process_memory_fraction", "torch.cuda.memory.change_current_allocator", "os.putenv",
    "os.unsetenv", "os.nice", "os.setpriority", "os.sched_setaffinity", "resource.setrlimit", "gc.disable",
    "torch.set_flush_denormal", "torch.set_warn_always", "torch.set_deterministic_debug_mode",
})  # fmt: skip
_SETTINGS = ("torch.backends", "torch._dynamo.config", "torch._inductor.config", "os.environ")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls and at what is assigned to."""
    for call, names in source.calls():
        for name in sorted(names & _CALLS):
            grad = name == "torch.set_grad_enabled" and isinstance(source.parents.get(call), ast.withitem)
            if not grad:
                yield hit(call, f"{name} changes a setting for everything that runs after it")
    switches = dialect.declared().settings
    for node in source.live:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names = source.resolve(node) | source.resolve(node.value)
            found = sorted(name for name in names if is_within(name, _SETTINGS) or is_within(name, switches))
            if found:
                yield hit(node, f"sets {found[-1]}, which everything that runs after it shares")


RULE = Rule("KE202", "sets-global-state", "warn", check, __doc__)
