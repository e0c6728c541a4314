"""Triton's kernels in a parsed file: which functions they are, and which parameters are compile-time constants."""

from __future__ import annotations

import ast
from functools import lru_cache

from kengine.lint.launch import KernelForm, Kernels
from kengine.lint.source import SourceTree

FORM = KernelForm(
    makers=frozenset({
        "triton.jit", "triton.runtime.jit.jit", "triton.runtime.jit", "triton.experimental.gluon.jit",
        "triton.JITFunction", "triton.runtime.jit.JITFunction", "triton.runtime.JITFunction",
    }),
    wrappers=frozenset({"triton.autotune", "triton.heuristics", "triton.runtime.autotuner.autotune",
                        "triton.runtime.Autotuner", "triton.runtime.autotuner.Autotuner",
                        "triton.runtime.autotuner.heuristics", "triton.runtime.Heuristics"}),
    methods=frozenset({"run", "warmup"}),
)  # fmt: skip
"""How Triton writes kernels and launches."""

LANGUAGE = "triton.language"


@lru_cache(maxsize=16)
def find_kernels(source: SourceTree) -> Kernels:
    """The kernels of a file."""
    return Kernels(source, FORM)


def constexprs(source: SourceTree, kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Parameters that are compile-time constants: by annotation, or because the wrapper names them so."""
    args = [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]
    return {a.arg for a in args if a.annotation is not None and _is_constexpr(source, a.annotation)}


def parameters(kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names of all parameters in order."""
    return [a.arg for a in (*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs)]


def language_calls(source: SourceTree, kernel: ast.AST, name: str) -> list[ast.Call]:
    """Calls of `tl.<name>` inside a kernel."""
    return [call for call, names in _calls(source, kernel) if f"{LANGUAGE}.{name}" in names]


@lru_cache(maxsize=64)
def _calls(source: SourceTree, kernel: ast.AST) -> list[tuple[ast.Call, frozenset[str]]]:
    return [(node, source.resolve(node.func)) for node in ast.walk(kernel) if isinstance(node, ast.Call)]


def _is_constexpr(source: SourceTree, annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant):
        return isinstance(annotation.value, str) and annotation.value.rpartition(".")[2] == "constexpr"
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    names = source.resolve(annotation)
    if names:
        return any(name.rpartition(".")[2] == "constexpr" for name in names)
    return getattr(annotation, "attr", getattr(annotation, "id", "")) == "constexpr"
