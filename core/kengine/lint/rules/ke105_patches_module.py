"""The candidate replaces something in a module or class that is not its own.

What it does:
Finds assignments, `setattr`, `vars(x)[...]`, `__dict__` and `sys.modules` writes whose target belongs to torch,
numpy, the library of a backend, the standard library or kengine; also writes to another function's `__code__` or
`__globals__`. Switches such as `torch.backends.*` are left to KE202, clocks to KE301.

Why is this bad:
A kernel needs no other library than the one it was given. Replacing `torch.allclose`, `Tensor.__eq__` or a launcher
is done to change what others see of the result.

Example:
    torch.allclose = lambda *args, **kwargs: True

Use instead:
    Leave modules as they are; keep helpers under names of your own.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.patches import find_patches
from kengine.lint.rule import Context, Hit, Rule, Severity, hit
from kengine.lint.rules.ke301_patches_clock import is_clock
from kengine.lint.source import SourceTree
from kengine.plugins import dialect


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Report every patch that is not of a clock."""
    shims = dialect.declared().shims
    for node, member in find_patches(source):
        if not is_clock(member):
            # shims for other versions of the language are seen in honest code
            severity: Severity | None = "warn" if is_within(member, shims) else None
            yield hit(node, f"replaces {member}, which is not the candidate's own", severity)


RULE = Rule("KE105", "patches-module", "reject", check, __doc__)
