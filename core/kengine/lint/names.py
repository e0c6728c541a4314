"""What an expression is called: names folded through aliases, getattr, strings in pieces, dictionaries and imports."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from kengine.lint.folding import Folder
from kengine.lint.scopes import Binding, Scopes

NOTHING: frozenset[str] = frozenset()
_DEPTH = 40
_LIMIT = 32
_BINDINGS = 128
_STEPS = 50_000
_SAME = {"_operator": "operator", "__builtins__": "builtins", "builtins.__import__": "importlib.import_module",
         "importlib.__import__": "importlib.import_module"}  # fmt: skip
_WRAPPERS = frozenset({"functools.partial", "functools.wraps", "functools.lru_cache", "functools.cache",
                       "copy.copy", "copy.deepcopy", "staticmethod"})  # fmt: skip
_GETTERS = frozenset({"builtins.getattr", "inspect.getattr_static", "builtins.object.__getattribute__",
                      "builtins.type.__getattribute__"})  # fmt: skip


class Resolver:
    """Resolves expressions of one file; answers are cached, and give up (empty) on what the text does not say."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.folder = Folder(self._constants, self._call_name)
        self._known: dict[ast.AST, frozenset[str]] = {}
        self._depth = 0
        self._cut_off = 0
        self._steps = 0

    def resolve(self, node: ast.AST) -> frozenset[str]:
        """Dotted names that an expression may stand for, `@name` for functions and classes of the file itself."""
        known = self._known.get(node)
        if known is not None:
            return known
        self._steps += 1
        if self._depth >= _DEPTH:
            self._cut_off += 1
            return NOTHING
        self._known[node] = NOTHING  # a name that is defined by itself ends here
        self._depth += 1
        before = self._cut_off
        try:
            found = frozenset(islice(self._resolve(node), _LIMIT))
        finally:
            self._depth -= 1
        if self._cut_off == before or self._depth == 0 or self._steps > _STEPS:
            self._known[node] = found
        else:
            del self._known[node]  # the depth ran out on the way: from another place it may reach further
        return found

    @property
    def exhausted(self) -> bool:
        """Whether names were too entangled to be followed to the end."""
        return self._steps > _STEPS

    def fold(self, node: ast.AST) -> str | bytes | int | None:
        """The constant that an expression makes."""
        return self.folder.fold(node)

    def _resolve(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Name):
            yield from self._name(node.id, node)
        elif isinstance(node, ast.Attribute):
            for base in self.resolve(node.value):
                yield base if node.attr == "__dict__" else _canonical(f"{base}.{node.attr}")
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.Subscript):
            yield from self._subscript(node)
        elif isinstance(node, ast.IfExp):
            yield from self.resolve(node.body) | self.resolve(node.orelse)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self.resolve(value)
        elif isinstance(node, (ast.NamedExpr, ast.Await, ast.Starred)):
            yield from self.resolve(node.value)

    def _name(self, name: str, at: ast.AST) -> Iterator[str]:
        found = self.scopes.lookup(name, at)
        if not found:
            if name in _SAME:
                yield _SAME[name]
            elif hasattr(builtins, name):
                yield _canonical(f"builtins.{name}")
        telling = (b for b in found if not isinstance(b.node, ast.Constant))
        for count, binding in enumerate(telling):
            if count == _BINDINGS:
                self._steps = max(self._steps, _STEPS + 1)
                return
            yield from self._binding(binding, name)

    def _binding(self, binding: Binding, name: str) -> Iterator[str]:
        if binding.kind == "import":
            yield _canonical(binding.dotted)
        elif binding.kind == "definition":
            yield f"@{name}"
        elif binding.kind == "value" and binding.node is not None:
            yield from self.resolve(binding.node)
        elif binding.kind == "item" and binding.node is not None:
            yield from self._items(binding.node)

    def _items(self, node: ast.AST) -> Iterator[str]:
        """What the items of a collection may be: written out, or bound to a name that is."""
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            for item in node.elts:
                yield from self.resolve(item)
        elif isinstance(node, ast.Dict):
            for value in node.values:
                yield from self.resolve(value)
        elif isinstance(node, ast.Name):
            for binding in self.scopes.lookup(node.id, node)[:_BINDINGS]:
                if binding.kind == "value" and isinstance(binding.node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
                    yield from self._items(binding.node)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "get")
        ):
            yield from self._items(node.func.value)

    def _call(self, node: ast.Call) -> Iterator[str]:
        functions = self.resolve(node.func)
        first = node.args[0] if node.args else None
        second = node.args[1] if len(node.args) > 1 else None
        if functions & _GETTERS and first is not None and second is not None:
            yield from self._member(first, second)
        elif functions & {"importlib.import_module"} and first is not None:
            text = self.fold(first)
            if isinstance(text, str):
                yield text
        elif (functions & {"builtins.vars"} and first is not None) or (functions & _WRAPPERS and first is not None):
            yield from self.resolve(first)
        elif isinstance(node.func, ast.Call) and first is not None:
            # operator.attrgetter("a.b")(x) and itemgetter("a")(vars(x)); decorators such as autotune(...)(kernel)
            inner = self.resolve(node.func.func)
            if inner & {"operator.attrgetter", "operator.itemgetter"} and node.func.args:
                yield from self._member(first, node.func.args[0])
            elif inner & _WRAPPERS:
                yield from self.resolve(first)
        elif isinstance(node.func, ast.Attribute):
            if node.func.attr in ("__getattribute__", "__getattr__") and first is not None:
                yield from self._member(node.func.value, first)
            elif node.func.attr in ("get", "pop", "__getitem__", "setdefault") and first is not None:
                yield from self._keyed(node.func.value, first)

    def _member(self, base: ast.AST, key: ast.AST) -> Iterator[str]:
        text = self.fold(key)
        if isinstance(text, str):
            for name in self.resolve(base):
                yield _canonical(f"{name}.{text}")

    def _subscript(self, node: ast.Subscript) -> Iterator[str]:
        yield from self._keyed(node.value, node.slice)

    def _keyed(self, base: ast.AST, key: ast.AST) -> Iterator[str]:
        """`table[key]`: a module of sys.modules, a member of `vars(x)`, a global by name, an item of a collection."""
        text = self.fold(key)
        names = self.resolve(base)
        if isinstance(text, str):
            if "sys.modules" in names:
                yield _canonical(text)
            if isinstance(base, ast.Call) and self.resolve(base.func) & {"builtins.globals", "builtins.locals",
                                                                       "builtins.vars"} and not base.args:  # fmt: skip
                yield from self._name(text, self.scopes.tree)
            for name in names - {"sys.modules"}:
                yield _canonical(f"{name}.{text}")
        yield from self._items(base)

    def _constants(self, name: str, at: ast.AST) -> ast.AST | None:
        found = self.scopes.lookup(name, at)
        return found[0].node if len(found) == 1 and found[0].kind == "value" else None

    def _call_name(self, node: ast.AST) -> str:
        found = self.resolve(node)
        return next(iter(found)) if len(found) == 1 else ""


def is_within(name: str, prefixes: Iterable[str]) -> bool:
    """Whether a dotted name is one of `prefixes` or lies inside one."""
    exact, inside = _both(prefixes if isinstance(prefixes, frozenset) else tuple(prefixes))
    return name in exact or name.startswith(inside)


@lru_cache(maxsize=256)
def _both(prefixes: frozenset[str] | tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    return frozenset(prefixes), tuple(prefix + "." for prefix in prefixes)


def _canonical(dotted: str) -> str:
    for old, new in _SAME.items():
        if dotted == old or dotted.startswith(old + "."):
            return new + dotted[len(old) :]
    return dotted
