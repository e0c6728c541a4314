"""The candidate makes a tensor type of its own.

What it does:
Finds subclasses of `torch.Tensor`, `nn.Parameter` or `numpy.ndarray`, classes with `__torch_function__` or
`__torch_dispatch__`, and `_make_subclass`, `_make_wrapper_subclass` and `as_subclass`.

Why is this bad:
A tensor of a type of its own can put work off until somebody looks at it, which is after the clock has stopped, or
answer comparisons as it likes. The judge takes plain tensors only.

Example:
    class Lazy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            ...

Use instead:
    Return the `torch.Tensor` that the kernel wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_BASES = (
    "torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter", "torch._tensor", "torch.FloatTensor", "numpy.ndarray",
    "torch._subclasses", "torch.utils._pytree", "torch.testing._internal", "torch._C.TensorBase",
    "torch._C._TensorBase",
)  # fmt: skip
_METHODS = frozenset({"__torch_function__", "__torch_dispatch__", "__array_ufunc__", "__array_function__"})
_MAKERS = frozenset({"_make_subclass", "_make_wrapper_subclass", "as_subclass"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at classes and at what makes subclasses."""
    for node in source.find(ast.ClassDef):
        for base in node.bases:
            names = source.resolve(base)
            if any(is_within(name, _BASES) for name in names):
                yield hit(node, f"class {node.name} is a tensor type of its own (from {min(names)})")
        for inner in node.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner.name in _METHODS:
                yield hit(inner, f"class {node.name} defines {inner.name}, which takes over what is done to tensors")
    for call, names in source.calls():
        last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if last in _MAKERS or any(name.rpartition(".")[2] in _MAKERS for name in names):
            yield hit(call, f"{last or min(names)} makes a tensor of another type")
        if "builtins.type" in names and len(call.args) == 3:
            bases = [n for n in ast.walk(call.args[1]) if isinstance(n, (ast.Name, ast.Attribute))]
            if any(is_within(name, _BASES) for base in bases for name in source.resolve(base)):
                yield hit(call, "type() makes a tensor type of its own")


RULE = Rule("KE113", "subclasses-tensor", "reject", check, __doc__)
