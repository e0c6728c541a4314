"""A tensor is given methods of its own.

What it does:
Finds functions that are assigned to attributes of tensors, also by `setattr`, `__dict__` and `types.MethodType`.

Why is this bad:
`y.double = lambda: answer` makes a tensor that answers the check with something else than its memory. The judge reads
memory, and refuses tensors with attributes.

Example:
    y.double = lambda: expected

Use instead:
    Return the tensor as the kernel wrote it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_ROOTS = ("torch.", "numpy.", "cupy.", "jax.")
_MAKERS = ("empty", "zeros", "ones", "full", "tensor", "rand", "clone", "as_tensor", "from_")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at attributes that are set on tensors."""
    for node in source.find(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
                target = target.value if target.value.attr == "__dict__" else target
            if (
                isinstance(target, ast.Attribute)
                and _is_tensor(source, target.value)
                and _is_function(source, node.value)
            ):
                yield hit(node, f"gives a tensor a method of its own ({target.attr})")
    for call, names in source.calls():
        sets = names & {"builtins.setattr", "builtins.object.__setattr__"} and len(call.args) == 3
        if sets and _is_tensor(source, call.args[0]) and _is_function(source, call.args[2]):
            yield hit(call, "gives a tensor a method of its own")


def _is_tensor(source: SourceTree, node: ast.expr) -> bool:
    """Whether a name is bound to what makes a tensor."""
    if not isinstance(node, ast.Name):
        return False
    for binding in source.scopes.lookup(node.id, node):
        if binding.kind == "value" and isinstance(binding.node, ast.Call):
            function = binding.node.func
            last = function.attr if isinstance(function, ast.Attribute) else ""
            if any(n.startswith(_ROOTS) and n.rpartition(".")[2].startswith(_MAKERS) for n in source.resolve(function)):
                return True
            if last.startswith(("new_", "clone")):
                return True
    return False


def _is_function(source: SourceTree, node: ast.expr) -> bool:
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, ast.Call):
        return bool(source.resolve(node.func) & {"types.MethodType", "functools.partial", "functools.partialmethod"})
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    return any(n.startswith("@") for n in source.resolve(node))


RULE = Rule("KE129", "dresses-result", "reject", check, __doc__)
