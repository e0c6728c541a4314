"""No NKI kernel can be launched from the entry.

What it does:
Follows every name from the entry, through aliases, helpers, lists and decorators. Reports when no use of a kernel and
no `nki.simulate(...)`, `baremetal` or the like is met on the way. An entry that is a kernel itself is one.

Why is this bad:
The answer then comes from somewhere else, usually from numpy or a framework.

Example:
    @nki.jit
    def softmax_kernel(x): ...

    def candidate(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

Use instead:
    def candidate(x):
        return softmax_kernel(x)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.launch import builds_code
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import FORM, RUNNERS, find_kernels

_TAKERS = FORM.makers | FORM.wrappers | RUNNERS


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Report the entry when nothing that it reaches can be a launch."""
    owners = source.graph.owners.get(source.entry, [])
    kernels = find_kernels(source)
    if not owners or builds_code(source) or source.entry in kernels.names:
        return
    if any(True for _ in kernels.mentions()) or any(True for _ in kernels.launches()):
        return
    if any(_is_kernel(owner, kernels.names) for owner in owners):
        return
    if any(names & _TAKERS for _, names in source.calls("reached")) or _leaves_the_file(source, context):
        return
    defined = ", ".join(sorted(kernels.names))
    about = f"the kernels of the file ({defined}) are not used by it" if defined else "the file defines no kernel"
    yield hit(
        owners[0], f"no NKI kernel is launched from {source.entry!r}: {about}; decorate one with @nki.jit and call it"
    )


def _is_kernel(owner: ast.AST, kernels: set[str]) -> bool:
    """`candidate = kernel`, `candidate = kernel[2]`."""
    value = owner.value if isinstance(owner, (ast.Assign, ast.AnnAssign)) else None
    return value is not None and any(isinstance(n, ast.Name) and n.id in kernels for n in ast.walk(value))


def _leaves_the_file(source: SourceTree, context: Context) -> bool:
    """Whether the entry uses something of another file of the candidate, or imports without names."""
    for node, name in source.references():
        root = name.partition(".")[0]
        if node in source.reached and (root in context.modules or root == ""):
            return True
    return any(isinstance(node, ast.ImportFrom) and (node.level or node.names[0].name == "*") for node in source.nodes)


RULE = Rule("KN101", "never-launched", "reject", check, __doc__, main_only=True)
