"""A kernel writes to one of its inputs.

What it does:
Finds instructions that write to a parameter that the kernel does not return: in the standalone package any, in the old
one those annotated with `tensor`.

Why is this bad:
Arguments are inputs. In the old generation `tensor` arguments are immutable, and what is written to an argument that
is not returned may be lost. A task whose output is the changed input wants exactly this.

Example:
    @nki.jit
    def kernel(x):
        nisa.dma_copy(dst=x[0:128, :], src=tile)

Use instead:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[0:128, :], src=tile)
    return out
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.kernels import find_kernels, generation_of, own_nodes, parameters
from kengine_nki.lint.writes import root, written


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at writes in kernels."""
    calls = {c.node: c for c in find_calls(source)}
    for kernel in find_kernels(source).functions:
        nodes = list(own_nodes(kernel))
        returned = {
            n.id
            for r in nodes
            if isinstance(r, ast.Return) and r.value
            for n in ast.walk(r.value)
            if isinstance(n, ast.Name)
        }
        guarded = set(parameters(kernel)) if generation_of(source, kernel) == "new" else _immutable(source, kernel)
        for node in nodes:
            call = calls.get(node) if isinstance(node, ast.Call) else None
            for value in written(call) if call is not None else ():
                name = root(value)
                if name is None or name.id not in guarded or name.id in returned:
                    continue
                if all(b.kind == "parameter" for b in source.scopes.lookup(name.id, name)):
                    yield hit(node, f"writes to the input {name.id!r}; write to a tensor of its own and return that")


def _immutable(source: SourceTree, kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    args = [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]
    found = set()
    for arg in args:
        annotation = arg.annotation.value if isinstance(arg.annotation, ast.Subscript) else arg.annotation
        if annotation is not None and "neuronxcc.nki.typing.tensor" in source.resolve(annotation):
            found.add(arg.arg)
    return found


RULE = Rule("KN142", "written-input", "warn", check, __doc__)
