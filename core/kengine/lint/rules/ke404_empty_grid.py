"""A launch over an empty grid.

What it does:
Finds launches whose grid is the number zero: `kernel<<<0, 256>>>(...)`, `dim3(0)`, `kernel[(0,)](...)`.

Why is this bad:
Nothing runs. Such a launch is there to be counted, while the answer comes from elsewhere.

Example:
    kernel<<<0, 256>>>(x, y);

Use instead:
    kernel<<<(n + 255) / 256, 256>>>(x, y, n);
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.launch import subscript_launches
from kengine.lint.rule import ALL, Context, Hit, Rule, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at grids that are written out."""
    for call in subscript_launches(source):
        assert isinstance(call.func, ast.Subscript)
        grid = call.func.slice
        sizes = grid.elts if isinstance(grid, ast.Tuple) else [grid]
        if any(source.names.fold(size) == 0 for size in sizes) and _is_kernel(source, call.func.value):
            yield hit(call, "launches over an empty grid, so that nothing runs")
    for cpp in find_native(source).sources:
        for launch in cpp.unit.launches:
            words = [t for t in cpp.unit.tokens[slice(*launch.grid)] if t.text not in ("dim3", "(", ")")]
            if words and words[0].kind == "num" and words[0].text.rstrip("uUlL") == "0" and (
                len(words) == 1 or words[1].text == ","
            ):  # fmt: skip
                yield cpp.hit(launch.at, "launches over an empty grid, so that nothing runs")


def _is_kernel(source: SourceTree, node: ast.expr) -> bool:
    """Whether what is subscripted is a decorated function of the file, not a list of functions."""
    for name in source.resolve(node):
        owners = source.graph.owners.get(name[1:], ()) if name.startswith("@") else ()
        if any(isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef)) and o.decorator_list for o in owners):
            return True
    return False


RULE = Rule("KE404", "empty-grid", "reject", check, __doc__, ALL)
