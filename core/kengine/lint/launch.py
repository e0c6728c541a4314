"""Kernels and their launches in a Python file; which forms there are, rule packs say."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_KNOWN = sys.stdlib_module_names | {"torch", "numpy", "jax", "scipy", "cupy"}
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class KernelForm:
    """How one language defines kernels: dotted names of decorators and constructors, and how a launch is written.

    makers: what they decorate or return is a kernel, as with `@triton.jit` and `cupy.RawKernel(...)`. wrappers: what
    they return is a kernel when what they were given is one, as with `triton.autotune(...)`. direct: whether
    `kernel(x)` launches; `kernel[grid](x)` always does. methods: `kernel.run(...)` and the like that launch as well.
    """

    makers: frozenset[str]
    wrappers: frozenset[str] = frozenset()
    direct: bool = False
    methods: frozenset[str] = field(default_factory=frozenset)


class Kernels:
    """The kernels that a file defines in one form, and where live code may launch them."""

    def __init__(self, source: SourceTree, form: KernelForm) -> None:
        self.source = source
        self.form = form
        self.functions = [node for node in source.nodes if isinstance(node, _Function) and self._is_kernel(node)]
        self.names = {node.name for node in self.functions} | set(self._constructed())
        inside: set[ast.AST] = set()
        for function in self.functions:
            inside.update(inner for statement in function.body for inner in ast.walk(statement))
        self.bodies = frozenset(inside)

    def mentions(self, within: str = "reached") -> Iterator[ast.expr]:
        """Places outside kernels where a kernel's name is used in a way that can lead to a launch.

        A kernel that is only evaluated (`kernel[grid]` as a statement, or bound to a name that nobody reads) is not.
        """
        for node in self.source.find(ast.expr, within):
            if node in self.bodies or not self._names_kernel(node):
                continue
            if not self._is_idle(node):
                yield node

    def launches(self, within: str = "reached") -> Iterator[ast.Call]:
        """Calls that launch: `x[grid](...)` on a kernel or on something unknown, and direct calls and methods."""
        for call in self.source.find(ast.Call, within):
            if call in self.bodies:
                continue
            function = call.func
            if isinstance(function, ast.Subscript):
                named = self.source.resolve(function.value)
                if not named or any(n.startswith("@") and n[1:] in self.names for n in named):
                    yield call
            elif isinstance(function, ast.Attribute) and function.attr in self.form.methods:
                if self._names_kernel(function.value):
                    yield call
            elif self.form.direct and self._names_kernel(function):
                yield call

    def _is_kernel(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.source.resolve(target) & self.form.makers:
                return True
            if isinstance(decorator, ast.Call) and any(
                self.source.resolve(a) & self.form.makers for a in decorator.args
            ):
                return True  # functools.partial(triton.jit, ...) as a decorator
        return False

    def _constructed(self) -> Iterator[str]:
        """Names bound to `jit(f)`, `autotune(...)(f)`, `RawKernel(...)`."""
        for node in self.source.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and self._makes(node.value):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        yield target.id
                    elif isinstance(target, ast.Attribute):
                        yield target.attr

    def _makes(self, call: ast.Call) -> bool:
        function = call.func
        while isinstance(function, ast.Call):
            function = function.func
        return bool(self.source.resolve(function) & (self.form.makers | self.form.wrappers))

    def _names_kernel(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.names and isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Attribute):
            return node.attr in self.names and isinstance(node.ctx, ast.Load)
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in self.names

    def _is_idle(self, node: ast.AST) -> bool:
        """Whether the value of a mention goes nowhere."""
        parents = self.source.parents
        parent = parents.get(node)
        while isinstance(parent, (ast.Subscript, ast.Attribute)) and parent.value is node:
            node, parent = parent, parents.get(parent)
        if isinstance(parent, ast.Expr):
            return True
        if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            target = parent.targets[0]
            if isinstance(target, ast.Name):
                return not any(
                    isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load)
                    for n in self.source.nodes
                )
        return False


def subscript_launches(source: SourceTree, within: str = "reached") -> Iterator[ast.Call]:
    """Calls of the form `name[grid](...)`, the one form that the core knows by itself."""
    for call in source.find(ast.Call, within):
        if isinstance(call.func, ast.Subscript):
            yield call


def builds_code(source: SourceTree) -> bool:
    """Whether live code makes code at run time, so that the text cannot show what is launched."""
    makers = {"builtins.exec", "builtins.eval", "builtins.compile", "runpy.run_path"}
    for call, names in source.calls("live"):
        if names & makers:
            return True
        if "importlib.import_module" in names:
            text = source.fold(call.args[0]) if call.args else None
            if text is None or not _is_library(text.partition(".")[0]):
                return True
    return False


def _is_library(package: str) -> bool:
    return package in _KNOWN or package in dialect.declared().libraries
