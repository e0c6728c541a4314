"""The C++ sources of a candidate: bare files, and strings of a Python file, with lines of the candidate's own file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kengine.lint.cpp.unit import Function, Name, Unit
from kengine.lint.rule import Hit, Severity
from kengine.lint.source import SourceTree

EXTENSIONS = (".cu", ".cuh", ".hip", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".c")
_SIGNS = re.compile(
    r"\b__(?:global|device)__\b|\b(?:torch|at)::|#\s*include\s*[<\"]|\bPYBIND11_MODULE\b|\bTORCH_LIBRARY|"
    r"\bextern\s*\"C\"|\bhipLaunchKernelGGL\b|%:\s*include|#\s*define\s"
)
_FLAG = re.compile(r"-D\s*([A-Za-z_]\w*)(?:=(.*))?\Z", re.S)
MAX_SOURCES = 40


@dataclass(frozen=True)
class CppSource:
    """One source. line: the line of the candidate's file where it begins; spread: its lines are lines of the file."""

    unit: Unit
    begins: int
    spread: bool

    def line(self, at: int) -> int:
        """The line of the candidate's file for a token."""
        if not self.spread:
            return self.begins
        tokens = self.unit.tokens
        return tokens[min(at, len(tokens) - 1)].line if tokens else self.begins

    def hit(self, at: int, message: str, severity: Severity | None = None) -> Hit:
        """A hit at a token; a mere warning in a branch of which it is not known whether it is compiled."""
        sure = self.unit.tokens[at].sure if at < len(self.unit.tokens) else True
        return Hit(self.line(at), message, 1, severity if sure else "warn")


class Native:
    """All C++ sources of one file under lint, and which of their functions can be called."""

    def __init__(self, source: SourceTree, sources: tuple[CppSource, ...]) -> None:
        self.source = source
        self.sources = sources

    @cached_property
    def kernels(self) -> list[tuple[CppSource, Function]]:
        """Every kernel with a body."""
        return [(s, f) for s in self.sources for f in s.unit.functions if f.is_kernel]

    @cached_property
    def declared(self) -> frozenset[str]:
        """Names that any source defines or declares."""
        return frozenset(name for source in self.sources for name in source.unit.declared)

    @cached_property
    def has_launch(self) -> bool:
        """Whether any reached host code launches."""
        live = self.reached
        return any((inside := s.unit.inside(launch.at)) is None or inside.name in live
                   for s in self.sources for launch in s.unit.launches)  # fmt: skip

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Names that the Python file uses: attributes and strings."""
        found: set[str] = set()
        for node in self.source.nodes:
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
                found.update(re.findall(r"\w+", node.value))
        return frozenset(found)

    @cached_property
    def reached(self) -> frozenset[str]:
        """Names of functions that calls from outside lead to; all of them where no function is seen to be exported."""
        graph: dict[str, set[str]] = {}
        roots: set[str] = set()
        for source in self.sources:
            unit = source.unit
            spans = [f.body for f in unit.functions]
            for function in unit.functions:
                graph.setdefault(function.name, set()).update(
                    t.text for t in unit.tokens[slice(*function.body)] if t.kind == "id"
                )
                registers = (
                    function.name.startswith(("PYBIND11_MODULE", "TORCH_LIBRARY", "operator")) or not function.name
                )
                if registers or function.exported or function.name in self.mentioned or function.name == "main":
                    roots.add(function.name)
            outside = _outside(len(unit.tokens), spans)
            for start, end in outside:
                heads = {t.text for t in unit.tokens[start:end] if t.kind == "id"}
                roots |= heads & {"PYBIND11_MODULE", "TORCH_LIBRARY"}
        if not roots:
            return frozenset(graph)
        seen: set[str] = set()
        pending = list(roots)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += graph.get(name, ())
        return frozenset(seen)

    def host_names(self) -> Iterator[tuple[CppSource, Function, Name]]:
        """Names in the bodies of host functions that can be called."""
        for source, name in self.names():
            function = source.unit.inside(name.at)
            if function is None or function.is_kernel or function.is_device or function.name not in self.reached:
                continue
            yield source, function, name

    def names(self) -> Iterator[tuple[CppSource, Name]]:
        """Every name outside of dropped branches, wherever it stands."""
        for source in self.sources:
            for name in source.unit.every_name:
                yield source, name


def _outside(size: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found, at = [], 0
    for start, end in sorted(spans):
        if start > at:
            found.append((at, start))
        at = max(at, end)
    return [*found, (at, size)]


@lru_cache(maxsize=16)
def find_native(source: SourceTree) -> Native:
    """The C++ sources of a file under lint."""
    if source.path.endswith(EXTENSIONS) or not source.tree.body:
        return Native(source, (CppSource(Unit(source.text), 1, True),) if source.text.strip() else ())
    defines = _flags(source)
    files = {f"{n}": v for n, v in _named(source).items()}
    found = []
    for node, text in _texts(source):
        begins = getattr(node, "lineno", 1)
        spread = text.count("\n") == (getattr(node, "end_lineno", begins) or begins) - begins
        found.append(CppSource(Unit(text, begins, defines, files), begins, spread))
        if len(found) == MAX_SOURCES:
            break
    return Native(source, tuple(found))


def _flags(source: SourceTree) -> dict[str, str]:
    found = {}
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = _FLAG.match(node.value)
            if match:
                found[match[1]] = match[2] or "1"
    return found


def _named(source: SourceTree) -> dict[str, str]:
    """Headers that the Python file holds as strings by name: `headers = {"a.h": "..."}`."""
    found = {}
    for node in source.nodes:
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                name, text = source.fold(key) if key is not None else None, source.fold(value)
                if name and text and name.endswith(EXTENSIONS):
                    found[name] = text
    return found


def _texts(source: SourceTree) -> Iterator[tuple[ast.AST, str]]:
    """Outermost expressions of constants that make C++ text; docstrings are not looked at."""
    covered: set[ast.AST] = set()
    for node in source.nodes:
        if node in covered or not isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)):
            continue
        if isinstance(source.parents.get(node), ast.Expr):
            continue
        text = _template(source, node) if isinstance(node, ast.JoinedStr) else source.fold(node)
        if text is not None and _SIGNS.search(text):
            if not isinstance(node, ast.Constant):
                covered.update(ast.walk(node))
                covered.update(_bound(source, node))
            yield node, text


def _bound(source: SourceTree, node: ast.AST) -> Iterator[ast.AST]:
    """Constants that a folded expression takes in by name: they are part of it, not sources of their own."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            for binding in source.scopes.lookup(inner.id, inner):
                if binding.kind == "value" and isinstance(binding.node, ast.Constant):
                    yield binding.node


def _template(source: SourceTree, node: ast.JoinedStr) -> str:
    """A format string with 0 where a value stands that is not constant."""
    parts = []
    for value in node.values:
        inner = value.value if isinstance(value, ast.FormattedValue) else value
        text = source.names.fold(inner)
        parts.append(str(text) if isinstance(text, (str, int)) else "0")
    return "".join(parts)
