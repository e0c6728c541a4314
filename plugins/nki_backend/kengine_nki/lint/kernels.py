"""NKI's kernels in a parsed file, and the functions that run on the device with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from kengine.lint.launch import KernelForm, Kernels
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import split

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
RUNNERS = frozenset({
    "nki.simulate", "neuronxcc.nki.simulate_kernel", "neuronxcc.nki.baremetal", "neuronxcc.nki.benchmark",
    "neuronxcc.nki.profile", "jax_neuronx.nki_call", "torch_neuronx.nki_call",
})  # fmt: skip
"""Functions that take a kernel, decorated or not, and run it."""

FORM = KernelForm(
    makers=frozenset({
        "nki.jit", "neuronxcc.nki.jit", "neuronxcc.nki.trace", "neuronxcc.nki.baremetal", "neuronxcc.nki.benchmark",
        "neuronxcc.nki.profile", "nki.baremetal", "nki.benchmark", "nki.profile", "torch_neuronx.nki_jit",
        "torch_neuronx.xla_impl.ops.nki_jit", "nki.compiler.jit",
    }),
    wrappers=frozenset({"nki.simulate"}),
    direct=True,
)  # fmt: skip
"""How NKI writes kernels and launches: `kernel(x)` and `kernel[grid](x)`."""


@lru_cache(maxsize=16)
def find_kernels(source: SourceTree) -> Kernels:
    """The kernels of a file."""
    return Kernels(source, FORM)


@lru_cache(maxsize=16)
def device_functions(source: SourceTree) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    """Kernels and the helpers that hold instructions: functions that call anything of `isa` or `language`.

    A function around them (a host function that defines a kernel inside) is not one.
    """
    found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    kernels = set(find_kernels(source).functions)
    for node in source.nodes:
        if isinstance(node, Function) and (node in kernels or any(_calls_device(source, node))):
            found.append(node)
    return tuple(found)


def _calls_device(source: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[bool]:
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            for dotted in source.resolve(node.func):
                name = split(dotted)
                if name is not None and name.module:
                    yield True


@lru_cache(maxsize=64)
def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.AST, ...]:
    """Nodes of a function's body, without those of functions and classes defined in it."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, (*Function, ast.ClassDef)):
            pending += reversed(list(ast.iter_child_nodes(node)))
    return tuple(found)


@lru_cache(maxsize=16)
def device_nodes(source: SourceTree) -> frozenset[ast.AST]:
    """Every live node that runs on the device."""
    live = set(source.live)
    return frozenset(node for function in device_functions(source) for node in own_nodes(function) if node in live)


@lru_cache(maxsize=16)
def generations(source: SourceTree) -> dict[str, ast.AST]:
    """The first import of each generation in the file, inside functions too."""
    found: dict[str, ast.AST] = {}
    for node in source.nodes:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name == "nki" or name.startswith("nki."):
                found.setdefault("new", node)
            elif name == "neuronxcc.nki" or name.startswith("neuronxcc.nki."):
                found.setdefault("old", node)
    return found


def generation_of(source: SourceTree, kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """`new`, `old`, or "" when the decorators do not say."""
    for decorator in kernel.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        nodes = [target, *(decorator.args if isinstance(decorator, ast.Call) else [])]
        for node in nodes:
            for dotted in source.resolve(node):
                name = split(dotted)
                if name is not None:
                    return name.generation
    found = generations(source)
    return next(iter(found)) if len(found) == 1 else ""


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names of all parameters in order."""
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
