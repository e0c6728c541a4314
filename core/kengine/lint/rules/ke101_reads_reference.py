"""The candidate uses the task's own reference, inputs or model.

What it does:
Finds names that belong to the task (`reference`, `make_inputs`, `Model`, `get_inputs`, ...) and that the candidate
does not define itself: used directly, inherited from, imported, or looked up by text in `globals()` or in another
module.

Why is this bad:
The reference is the answer. A candidate that calls it does no work of its own, and one that rebuilds the inputs can
compute answers before it is asked. The runner holds neither, so such a candidate could only fail later and less
clearly.

Example:
    def candidate(x, w):
        return reference(x, w)

Use instead:
    def candidate(x, w):
        y = torch.empty_like(x)
        rmsnorm_kernel[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=1024)
        return y
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.patches import is_foreign
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.tasks.form import FORMS


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names, imports and look-ups by text."""
    form = next(form for form in FORMS if form.name == context.task.form)
    names = form.reserved
    for node in source.live:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            if not source.scopes.lookup(node.id, node):
                yield hit(node, f"uses {node.id!r} of the task, which the candidate must do without")
        elif isinstance(node, ast.ImportFrom):
            foreign = _is_elsewhere(node.module or "")
            for alias in node.names:
                if alias.name in names and not foreign:
                    yield hit(node, f"imports {alias.name!r}, which belongs to the task")
        elif isinstance(node, ast.Call) or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)):
            yield from _by_text(source, node, names)
    for reference, dotted in source.references():
        root, _, last = dotted.rpartition(".")
        if root and last in names - {"forward"} and not _is_elsewhere(root):
            yield hit(reference, f"reaches for {dotted!r}, which belongs to the task")


def _is_elsewhere(module: str) -> bool:
    """Whether a module cannot be the task's."""
    package = module.partition(".")[0]
    return package != "__main__" and is_foreign(package)


def _by_text(source: SourceTree, node: ast.Call | ast.Subscript, names: frozenset[str]) -> Iterator[Hit]:
    """`globals()["reference"]`, also spelt with get, vars and locals."""
    if isinstance(node, ast.Subscript):
        table, key = node.value, source.fold(node.slice)
    else:
        by_key = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "__getitem__") and node.args
        if not by_key or not isinstance(node.func, ast.Attribute):
            return
        table, key = node.func.value, source.fold(node.args[0])
    if (
        key in names
        and isinstance(table, ast.Call)
        and source.resolve(table.func) & {"builtins.globals", "builtins.locals", "builtins.vars"}
        and not source.scopes.lookup(str(key), source.tree)
    ):
        yield hit(node, f"looks {key!r} of the task up by its name")


RULE = Rule("KE101", "reads-reference", "reject", check, __doc__)
