"""The candidate hooks into the framework's or the launcher's dispatch.

What it does:
Finds dispatch and function modes, operations on the stack of modes, and registrations of hooks on launches or modules
of the framework.

Why is this bad:
These decide which operator runs, and show which one ran. A kernel that changes them changes the evidence about
itself.

Example:
    with torch.utils._python_dispatch._disable_current_modes():
        return torch.matmul(a, b)

Use instead:
    Launch the kernel; leave dispatch as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_NAMES = (
    "torch.utils._python_dispatch",
    "torch.overrides.TorchFunctionMode",
    "torch.overrides._pop_mode",
    "torch.overrides._push_mode",
    "torch._C._DisableTorchDispatch",
    "torch._C.DisableTorchFunction",
    "torch._C.DisableTorchFunctionSubclass",
    "torch._C._EnableTorchFunction",
    "torch._C._set_dispatch_mode",
    "torch._C._dispatch_tls_set_dispatch_key_excluded",
    "torch._C._ExcludeDispatchKeyGuard",
    "torch._C._get_dispatch_mode",
    "torch.autograd._profiler_enabled",
    "torch._C._autograd._profiler_enabled",
    "torch._C._get_dispatch_stack_at",
    "torch._C._pop_torch_dispatch_stack",
    "torch._C._push_on_torch_dispatch_stack",
    "torch._C._len_torch_dispatch_stack",
    "torch.autograd.profiler._disable",
    "torch._C._autograd._disable_profiler",
    "torch.profiler",
    "torch.autograd.profiler",
    "torch.nn.modules.module.register_module_forward_hook",
)
_HARMLESS = ("torch.profiler.record_function", "torch.autograd.profiler.record_function")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names."""
    hooks = dialect.declared().hooks
    for node, name in source.references():
        if (is_within(name, _NAMES) and not is_within(name, _HARMLESS)) or is_within(name, hooks):
            observed = is_within(name, ("torch.profiler", "torch.autograd.profiler"))
            yield hit(node, f"{name} takes over dispatch or what is seen of it", "warn" if observed else None)


RULE = Rule("KE114", "takes-over-dispatch", "reject", check, __doc__)
