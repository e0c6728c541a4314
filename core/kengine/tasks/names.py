"""Which top-level statements of a Python text bind and use which global names."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kengine.syntax import parse_tree
from kengine.tasks.source import Source, SourceError

_REFLECTION = frozenset({"globals", "locals", "vars", "eval", "exec", "getattr", "__all__", "__import__", "attrgetter"})


@dataclass(frozen=True)
class Unit:
    """One statement that is kept or cut as a whole.

    binds: global names that it gives a value, also from inside its functions (`global`). uses: global names that it
    reads anywhere, also by a string that names them. changes: names whose object it alters in
    place (`X.append(1)`, `X[k] = v`). container: the outermost `if` or `try` around it that was split, and headers the
    global names that this container's tests read.
    """

    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]
    changes: frozenset[str]
    headers: frozenset[str] = frozenset()
    container: ast.stmt | None = None

    @property
    def is_import(self) -> bool:
        """Whether it is a plain import statement."""
        return isinstance(self.node, (ast.Import, ast.ImportFrom))

    @property
    def is_everywhere(self) -> bool:
        """Whether both sides need it: `from __future__ import ...` and `from x import *`."""
        node = self.node
        return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*")

    @property
    def is_script(self) -> bool:
        """Whether it is an `if __name__ == "__main__":` without an else, which an import never executes."""
        node = self.node
        return isinstance(node, ast.If) and not node.orelse and _asks_for_main(node.test)

    @property
    def is_definition(self) -> bool:
        """Whether it is a function or class."""
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def split_units(source: Source, split: Collection[str] = ()) -> list[Unit]:
    """Divide a module into units. An `if` or `try` is one unit unless it binds a name of `split`.

    Raises SourceError when the scopes of the text cannot be worked out.
    """
    scanner = _Scanner(source)
    return list(scanner.walk(source.tree.body, frozenset(split), None))


class _Scanner:
    def __init__(self, source: Source) -> None:
        self.lines = source.text.encode().split(b"\n")

    def walk(self, body: list[ast.stmt], split: frozenset[str], container: ast.stmt | None) -> Iterator[Unit]:
        headers = _headers(container) if container else frozenset()
        for node in body:
            binds, uses = self.scopes(node)
            if isinstance(node, (ast.If, ast.Try)) and binds & split:
                for inner in _bodies(node):
                    yield from self.walk(inner, split, container or node)
            else:
                yield Unit(node, binds, uses | _named_in_text(node, uses), _changed(node), headers, container)

    def scopes(self, node: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
        try:
            table = symtable.symtable(self.segment(node), "candidate", "exec")
        except (SyntaxError, ValueError) as error:
            message = getattr(error, "msg", None) or str(error)
            raise SourceError(f"syntax error: {message}", (getattr(error, "lineno", 0) or 1) + first_line(node) - 1) \
                from error  # fmt: skip
        except (RecursionError, MemoryError) as error:
            raise SourceError("the source is nested too deeply", node.lineno) from error
        binds: set[str] = set()
        uses: set[str] = set()
        pending = [table]
        while pending:
            scope = pending.pop()
            pending += scope.get_children()
            top = scope is table
            is_class = scope.get_type() == "class"
            for symbol in scope.get_symbols():
                name = symbol.get_name()
                if top:
                    if symbol.is_assigned() or symbol.is_imported():
                        binds.add(name)
                    if symbol.is_referenced():
                        uses.add(name)
                elif symbol.is_global():
                    if symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported()):
                        binds.add(name)
                    uses.add(name)
                elif is_class and symbol.is_referenced():
                    uses.add(name)
        return frozenset(binds), frozenset(uses)

    def segment(self, node: ast.stmt) -> str:
        """The statement's own text, as a module that parses by itself."""
        first, last, start = first_line(node), node.end_lineno or node.lineno, node.col_offset
        lines = self.lines[first - 1 : last]
        head = lines[0][:start]
        lines = [*lines[:-1], lines[-1][: node.end_col_offset]]
        if head.strip():
            return b"\n".join([lines[0][start:], *lines[1:]]).decode()
        text = b"\n".join(lines).decode()
        return "if 1:\n" + text if head else text


def first_line(node: ast.stmt) -> int:
    """1-based line on which a statement begins, decorators included."""
    decorators = getattr(node, "decorator_list", None)
    return min([node.lineno, *(d.lineno for d in decorators)]) if decorators else node.lineno


def _bodies(node: ast.If | ast.Try) -> list[list[ast.stmt]]:
    if isinstance(node, ast.If):
        return [node.body, node.orelse]
    return [node.body, *(h.body for h in node.handlers), node.orelse, node.finalbody]


def _headers(container: ast.stmt) -> frozenset[str]:
    """Names in the tests of an `if` or `try` and of those inside it."""
    found: set[str] = set()
    pending = [container]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.If, ast.Try)):
            tests = [node.test] if isinstance(node, ast.If) else [h.type for h in node.handlers if h.type]
            found |= {n.id for test in tests for n in ast.walk(test) if isinstance(n, ast.Name)}
            pending += [inner for body in _bodies(node) for inner in body]
    return frozenset(found)


def _asks_for_main(test: ast.expr) -> bool:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = [test.left, test.comparators[0]]
    names = any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides)
    return names and any(isinstance(s, ast.Constant) and s.value == "__main__" for s in sides)


def _named_in_text(node: ast.stmt, uses: frozenset[str]) -> frozenset[str]:
    """Identifiers inside strings: of annotations, and anywhere in a statement that looks names up by text."""
    found: set[str] = set()
    by_text = bool(uses & _REFLECTION) or (
        isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    )
    for inner in ast.walk(node):
        if by_text and isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.isidentifier():
            found.add(inner.value)
        annotation = getattr(inner, "annotation", None) or getattr(inner, "returns", None)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            found |= _names_of_annotation(annotation.value)
    return frozenset(found)


def _names_of_annotation(text: str) -> set[str]:
    try:
        tree = parse_tree(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _changed(node: ast.stmt) -> frozenset[str]:
    """Names whose object an executed (not a defining) statement alters in place."""
    found: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        target: ast.AST | None = None
        if isinstance(inner, (ast.Attribute, ast.Subscript)) and isinstance(inner.ctx, (ast.Store, ast.Del)):
            target = inner
        elif isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
            target = inner.value.func if isinstance(inner.value.func, ast.Attribute) else None
        while isinstance(target, (ast.Attribute, ast.Subscript, ast.Call)):
            target = target.func if isinstance(target, ast.Call) else target.value
        if isinstance(target, ast.Name):
            found.add(target.id)
        pending += ast.iter_child_nodes(inner)
    return frozenset(found)
