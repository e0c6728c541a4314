"""The entry is the reference over again.

What it does:
Compares the entry with the task's reference (for modules `ModelNew` with `Model`) after dropping docstrings and
giving all local names the same numbers. Reports when nothing differs.

Why is this bad:
A resubmitted reference is right by definition and does no work. It is only a warning because a task may be so small
that an honest answer looks the same in a language whose kernels are plain functions.

Example:
    def candidate(a, b):        # the task has: def reference(x, y): return (x + y).relu()
        return (a + b).relu()

Use instead:
    def candidate(a, b):
        out = torch.empty_like(a)
        add_relu_kernel[grid](a, b, out, a.numel(), BLOCK=1024)
        return out
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.tasks.form import top_level
from kengine.tasks.source import SourceError, parse

_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ROOT = {"function": "reference", "module": "Model", "numpy": "forward"}


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Compare entry and reference."""
    try:
        task = parse(context.task.source, "task")
    except SourceError:
        return
    reference = top_level(task).get(_ROOT[context.task.form])
    for entry in source.graph.owners.get(source.entry, ()):
        if (
            isinstance(entry, _Definition)
            and isinstance(reference, _Definition)
            and entry is source.graph.owners[source.entry][0]
            and _shape(entry) == _shape(reference)
        ):
            yield hit(entry, f"{source.entry!r} is a copy of the task's {_ROOT[context.task.form]!r}")


def _shape(node: ast.AST) -> list[str]:
    """The tree as a list of words, names numbered in order of appearance, without docstrings and places."""
    numbers: dict[str, int] = {}
    words: list[str] = []
    pending: list[ast.AST] = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
            continue
        words.append(type(inner).__name__)
        for field, value in ast.iter_fields(inner):
            if field in ("id", "arg", "name") and isinstance(value, str):
                words.append(str(numbers.setdefault(value, len(numbers))))
            elif isinstance(value, (str, int, float, complex, bytes, bool)) and field not in ("kind", "type_comment"):
                words.append(repr(value))
        skipped = {
            id(a) for a in (getattr(inner, "annotation", None), getattr(inner, "returns", None)) if a is not None
        }
        pending += [child for child in reversed(list(ast.iter_child_nodes(inner))) if id(child) not in skipped]
    return words


RULE = Rule("KE104", "copies-reference", "warn", check, __doc__, main_only=True)
