"""What a task computes, read from the parsed tree of its reference: operators, category, level. Nothing is executed.

Levels follow those of KernelBench (Ouyang et al., arXiv 2502.10517, section 3): 1 a single operator, 2 operators that
may be fused into one kernel, 3 work for several kernels.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Union

from kengine.curate.operators import CATEGORIES, CATEGORY, CONTRACTIONS
from kengine.curate.record import Sample
from kengine.model import JsonValue, Task
from kengine.syntax import parse_tree

FUSED_MOST = 10
"""Operators beyond a first one that still count as one fused kernel."""

_DEEPEST = 8
_GLUE = frozenset({"elementwise", "movement"})
_KEPT = 4096
_SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
}  # fmt: skip
_LAYOUT = frozenset({"transpose", "permute", "contiguous", "t", "reshape", "view", "expand", "swapaxes", "moveaxis"})
_ROOTS = {"function": "reference", "module": "Model", "numpy": "forward"}
_Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]


@dataclass(frozen=True)
class Structure:
    """Operators in the order of their calls with their categories, and what follows from them.

    level: 1 to 3. operator: name of the only operator, "" when there are several or it is written out by hand.
    """

    operators: tuple[tuple[str, str], ...]
    category: str
    level: int
    operator: str = ""


@dataclass
class _Found:
    calls: list[tuple[str, str]] = field(default_factory=list)
    signs: int = 0
    repeated: bool = False
    keepdim: bool = False
    layout: bool = False


def read(task: Task) -> Structure | None:
    """The structure of a task's reference; None for a text that does not parse or calls nothing that is known."""
    known = _read.get(id(task))
    if known is None or known[0] is not task:
        if len(_read) > _KEPT:
            _read.clear()
        known = _read[id(task)] = (task, _parse(task.source, _ROOTS[task.form]))
    return known[1]


_read: dict[int, tuple[Task, Structure | None]] = {}


def describe(sample: Sample, prefer: str = "source") -> dict[str, JsonValue]:
    """Labels operator, category and level of a sample, as far as they are known.

    prefer: "source" keeps what the sample's source says, "rule" what the tree says. A candidate of several files is of
    level 3 by rule.
    """
    found: dict[str, JsonValue] = {}
    structure = read(sample.task) if sample.task is not None else None
    if structure is not None:
        found = {"category": structure.category, "level": structure.level}
        if structure.operator:
            found["operator"] = structure.operator
    if len(sample.files) > 1:
        found["level"] = 3
    spec = sample.task.spec if sample.task is not None else None
    said: dict[str, JsonValue] = {k: sample.labels[k] for k in ("operator", "category", "level") if k in sample.labels}
    if spec is not None and spec.category:
        said.setdefault("category", spec.category)
    if spec is not None and spec.level is not None:
        said.setdefault("level", spec.level)
    return {**said, **found} if prefer == "rule" else {**found, **said}


def _parse(source: str, root: str) -> Structure | None:
    try:
        tree = parse_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    defined: dict[str, _Definition] = {
        n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    if root not in defined:
        return None
    found = _Found()
    try:
        _Walk(defined, found).definition(defined[root], 0)
    except RecursionError:
        return None
    if not found.calls:
        return Structure((), "movement", 1) if found.layout else None
    return _classify(found)


def _classify(found: _Found) -> Structure:
    calls = tuple(found.calls)
    named = [call for call in calls if call[1] not in _GLUE]
    counts = Counter(category for _, category in named)
    contractions = sum(counts[c] for c in CONTRACTIONS)
    hand = _written_out(found, counts)
    if contractions == counts["matmul"] == 2 and (counts["softmax"] == 1 or hand == "softmax"):
        # softmax(Q K^T) V is one operator, however it is written
        return Structure(calls, "attention", 1 if len(named) == 3 or hand else 2)
    if hand and not set(counts) - {"reduction"}:
        return Structure(calls, hand, 1)
    if not named:
        sole = {name for name, _ in calls}
        category = "elementwise" if any(c == "elementwise" for _, c in calls) else "movement"
        return Structure(calls, category, 1, sole.pop() if len(sole) == 1 else "")
    category = min(counts, key=CATEGORIES.index)
    if found.repeated or contractions > 1 or len(named) > 1 + FUSED_MOST:
        return Structure(calls, category, 3)
    # signs around an operator scale what goes in or comes out; a further function makes it a fusion, except that what
    # is done to each element before it is summed up, or beside another thing done to it, is still one operator
    functions = sum(c == "elementwise" for _, c in calls) - found.signs
    if len(named) == 1 and (not functions or category in ("reduction", "activation")):
        return Structure(calls, category, 1, named[0][0] if len(calls) - found.signs == 1 else "")
    return Structure(calls, category, 2)


def _written_out(found: _Found, counts: Mapping[str, int]) -> str:
    """The category of an operator that is written with reductions and arithmetic, "" when it is none of these."""
    names = Counter(name for name, _ in found.calls)
    if not counts["reduction"] or counts["reduction"] > 3:
        return ""
    if (names["exp"] or names["exp2"]) and (names["sum"] or names["logsumexp"]) and found.keepdim:
        return "softmax"
    roots = names["rsqrt"] + names["sqrt"] + names["std"] + names["norm"] + names["vector_norm"]
    if found.keepdim and roots and (names["mean"] or names["var"] or names["sum"] or names["std"] or names["norm"]):
        return "normalization"
    return ""


class _Walk:
    """Collects the operators that a function or a module calls, going into what the task defines itself."""

    def __init__(self, defined: Mapping[str, _Definition], found: _Found) -> None:
        self._defined = defined
        self._found = found

    def definition(self, node: _Definition, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if not isinstance(node, ast.ClassDef):
            self._body(node, {}, {}, depth)
            return
        methods = {n.name: n for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
        parts = dict(_parts(methods["__init__"])) if "__init__" in methods else {}
        forward = methods.get("forward") or methods.get("__call__")
        if forward is not None:
            self._body(forward, parts, methods, depth)

    def _body(
        self, node: ast.AST, parts: Mapping[str, ast.expr], methods: Mapping[str, _Definition], depth: int
    ) -> None:
        for inner in _in_order(node):
            if isinstance(inner, ast.Call):
                self._call(inner, parts, methods, depth)
            elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.MatMult):
                self._found.calls.append(("matmul", "matmul"))
            elif isinstance(inner, ast.BinOp) and type(inner.op) in _SIGNS and not _is_number(inner):
                self._found.calls.append((_SIGNS[type(inner.op)], "elementwise"))
                self._found.signs += 1
            elif isinstance(inner, ast.For) and _self_attribute(inner.iter) in parts:
                self._found.repeated = True
                self._modules(parts[_self_attribute(inner.iter)], depth)

    def _call(
        self, call: ast.Call, parts: Mapping[str, ast.expr], methods: Mapping[str, _Definition], depth: int
    ) -> None:
        self._found.keepdim = self._found.keepdim or any(
            k.arg in ("keepdim", "keepdims") and isinstance(k.value, ast.Constant) and k.value.value is True
            for k in call.keywords
        )
        own = _self_attribute(call.func)
        if own in parts:
            self._modules(parts[own], depth)
        elif own in methods:
            if depth <= _DEEPEST:
                self._body(methods[own], parts, methods, depth + 1)
        elif isinstance(call.func, ast.Name) and call.func.id in self._defined:
            self.definition(self._defined[call.func.id], depth + 1)
        elif isinstance(call.func, ast.Call):  # nn.Softmax(dim=1)(x): the inner call is seen by itself
            return
        else:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in ("max", "min", "sum", "all", "any", "round", "abs", "pow") and isinstance(call.func, ast.Name):
                return  # Python's own, on numbers
            self._found.layout = self._found.layout or name in _LAYOUT
            if name in CATEGORY:
                self._found.calls.append((name, CATEGORY[name]))

    def _modules(self, made: ast.expr, depth: int) -> None:
        """Operators of the modules that an attribute holds; one that is made in a loop stands for many."""
        for inner in ast.walk(made):
            if isinstance(inner, (ast.ListComp, ast.GeneratorExp)):
                self._found.repeated = True
            if not isinstance(inner, ast.Call):
                continue
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            if isinstance(inner.func, ast.Name) and name in self._defined:
                self.definition(self._defined[name], depth + 1)
            elif name in CATEGORY:
                self._found.calls.append((name, CATEGORY[name]))


def _parts(init: _Definition) -> Iterator[tuple[str, ast.expr]]:
    """Attributes that a constructor sets to what it calls, but for parameters."""
    for node in ast.walk(init):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            name = _self_attribute(target)
            if name and _makes_module(node.value):
                yield name, node.value


def _makes_module(value: ast.expr) -> bool:
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
    names = [c.func.attr if isinstance(c.func, ast.Attribute) else getattr(c.func, "id", "") for c in calls]
    return any(name[:1].isupper() and name not in ("Parameter", "Tensor") for name in names)


def _self_attribute(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return ""


def _is_number(node: ast.BinOp) -> bool:
    """Whether a sign stands between constants, sizes and the like, where no array is meant."""

    def plain(side: ast.expr) -> bool:
        if isinstance(side, ast.BinOp):
            return plain(side.left) and plain(side.right)
        if isinstance(side, ast.Subscript):
            return isinstance(side.value, ast.Attribute) and side.value.attr == "shape"
        if isinstance(side, ast.Call):
            return isinstance(side.func, ast.Attribute) and side.func.attr in ("size", "numel", "dim")
        return isinstance(side, ast.Constant)

    return plain(node.left) and plain(node.right)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below, inner ones before those that hold them, as they are computed."""
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
        yield child


__all__ = ["FUSED_MOST", "Structure", "describe", "read"]
