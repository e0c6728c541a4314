"""Writes to modules and classes that the candidate does not own."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_FOREIGN = frozenset(sys.stdlib_module_names) | {
    "torch", "numpy", "cupy", "jax", "numba", "pytest", "kengine", "pluggy", "__main__",
}  # fmt: skip
_SETTINGS = frozenset({
    "torch.backends", "torch._dynamo.config", "torch._inductor.config", "os.environ", "torch.cuda.matmul",
    "warnings", "logging", "sys.setrecursionlimit", "sys.path", "sys.stdout", "sys.stderr", "sys.dont_write_bytecode",
})  # fmt: skip
_SETTERS = frozenset({
    "builtins.setattr", "builtins.delattr", "builtins.type.__setattr__", "builtins.object.__setattr__",
    "builtins.object.__delattr__", "builtins.type.__delattr__", "unittest.mock.patch.object",
})  # fmt: skip
_UPDATERS = frozenset({"update", "__setitem__", "__delitem__", "setdefault", "pop", "clear"})


def is_foreign(package: str) -> bool:
    """Whether a kernel never has a reason to replace members of a package: Python's own, the frameworks, what kernels
    of the installed backends are written with, and the plugins themselves."""
    return package in _FOREIGN or package in dialect.declared().libraries


def is_setting(member: str) -> bool:
    """Whether a dotted name is a switch, which is set, not replaced, by assigning to it. Other rules look at some."""
    return is_within(member, _SETTINGS) or is_within(member, dialect.declared().settings)


def find_patches(source: SourceTree) -> Iterator[tuple[ast.AST, str]]:
    """Each live statement that replaces a member of a foreign module or class, with the member's dotted name."""
    modules = _modules(source)
    for node in source.live:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield from _written(source, node, modules)
        elif isinstance(node, ast.Call):
            yield from _called(source, node, modules)


def _modules(source: SourceTree) -> frozenset[str]:
    """Names that are modules for certain: a subscript of one is a subscript of its table of names."""
    imported = [alias.name for node in source.find(ast.Import, "live") for alias in node.names]
    parts = [name.split(".") for name in imported]
    return frozenset(".".join(each[:n]) for each in parts for n in range(1, len(each) + 1))


def _written(
    source: SourceTree, node: ast.Attribute | ast.Subscript, modules: frozenset[str]
) -> Iterator[tuple[ast.AST, str]]:
    bases = source.resolve(node.value)
    if isinstance(node, ast.Attribute):
        for base in bases:
            yield from _judge(node, f"{base}.{node.attr}")
        if node.attr == "__code__" and not any(base.startswith("@") for base in bases):
            yield node, "__code__"
        return
    key = source.fold(node.slice) or "..."
    through_dict = isinstance(node.value, ast.Attribute) and node.value.attr in ("__dict__", "__globals__", "modules")
    through_call = isinstance(node.value, ast.Call)
    for base in bases:
        table = base in modules or is_foreign(base) or base.endswith(".__dict__")
        if base == "sys.modules" or through_dict or through_call or table:
            yield from _judge(node, f"{base.removesuffix('.__dict__')}.{key}")
    if (
        isinstance(node.value, ast.Attribute)
        and node.value.attr in ("__globals__", "f_globals", "f_locals")
        and not bases
    ):
        yield node, f"{node.value.attr}.{key}"


def _called(source: SourceTree, node: ast.Call, modules: frozenset[str]) -> Iterator[tuple[ast.AST, str]]:
    names = source.resolve(node.func)
    if names & _SETTERS and node.args:
        key = source.fold(node.args[1]) if len(node.args) > 1 else None
        for base in source.resolve(node.args[0]):
            yield from _judge(node, f"{base}.{key or '...'}")
    elif names & {"unittest.mock.patch"} and node.args:
        text = source.fold(node.args[0])
        if text:
            yield from _judge(node, text)
    elif isinstance(node.func, ast.Attribute) and node.func.attr in (*_UPDATERS, "__setattr__", "__delattr__"):
        holder = node.func.value
        key = source.fold(node.args[0]) if node.args else None
        is_table = isinstance(holder, ast.Call) or (isinstance(holder, ast.Attribute) and holder.attr == "__dict__")
        for base in source.resolve(holder):
            is_module = base in modules or is_foreign(base)
            if base == "sys.modules" or is_module or is_table or node.func.attr.endswith("attr__"):
                yield from _judge(node, f"{base}.{key or '...'}")


def _judge(node: ast.AST, member: str) -> Iterator[tuple[ast.AST, str]]:
    if is_foreign(member.partition(".")[0]) and not is_setting(member):
        yield node, member
