"""The compiler's grammar: what of Python a kernel may be written in, as this Triton's own compiler has it.

The interpreter runs a kernel as Python, which has `break`, `in`, dictionaries, every builtin and every global. Where
one of those is met the kernel says so instead, and not before: a branch that is not taken at compile time is not
looked at by the compiler either.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType
from typing import Any

from kengine.runner import watch

from kengine_triton.interpret import operations, references
from kengine_triton.interpret.classes import is_own, plain
from kengine_triton.interpret.operations import BINARY
from kengine_triton.names import content

PREFIX = "_kengine_"
_PARTS = (ast.Starred, ast.FormattedValue, ast.Slice)
"""Expressions that are looked at with what they are part of."""


def call(name: str, *args: ast.expr) -> ast.Call:
    """A call of a helper of the interpreter's; it is no call of the kernel's."""
    made = ast.Call(func=ast.Name(id=PREFIX + name, ctx=ast.Load()), args=list(args), keywords=[])
    made.kengine_own = True  # type: ignore[attr-defined]
    return made


def is_helper(node: ast.AST) -> bool:
    """Whether a call or an assignment was put in here."""
    return hasattr(node, "kengine_own")


def check(definition: ast.FunctionDef, fn: Callable[..., Any]) -> None:
    """Replace in a kernel's body what the compiler of this Triton refuses by a call that says so.

    fn: the function as Python has it, for its globals and its closure.
    """
    checker = _Checker(definition, fn)
    definition.body = [checker.visit(statement) for statement in definition.body]


class _Checker(ast.NodeTransformer):
    def __init__(self, definition: ast.FunctionDef, fn: Callable[..., Any]) -> None:
        found = list(ast.walk(definition))
        self._local = {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self._local |= {node.arg for node in found if isinstance(node, ast.arg)}
        self._space = dict(fn.__globals__)
        self._space.update({n: content(c) for n, c in zip(fn.__code__.co_freevars, fn.__closure__ or ())})
        self._refused: list[str] = []
        self._constants: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        kind = type(node).__name__
        if isinstance(node, (ast.stmt, ast.expr)) and not isinstance(node, _PARTS) and not _is_known(kind):
            return self._refuse(node, f"{kind} inside a kernel")
        return super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._refuse(node, "FunctionDef inside a kernel")

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id in self._local or node.id.startswith(PREFIX):
            return node
        if node.id in _names():
            return node
        if node.id not in self._space:
            return self._refuse(node, f"name '{node.id}', which Triton's language does not have,")
        value = self._space[node.id]
        if references.may_be_named(value):
            return node
        if callable(value) and not isinstance(value, type):
            return self._refuse(node, f"call of '{references.name_of(value)}' inside a kernel")
        return self._refuse(node, node.id, "refuse_global")

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return self._refuse(node, "assignment to an attribute inside a kernel")
        if references.is_hidden(node.attr):
            return self._refuse(node, f"attribute '{node.attr}' inside a kernel")
        module = self._is_of_module(node)
        if module and not references.may_be_called(self._find(node)):
            return self._refuse(node, f"call of '{references.name_of(self._find(node))}' inside a kernel")
        direct = isinstance(node.value, ast.Name) and node.value.id in self._local
        node.value = self.visit(node.value)
        if module:
            return node
        return _at(node, call("attribute", node.value, ast.Constant(node.attr), ast.Constant(direct)))

    def _is_of_module(self, node: ast.Attribute) -> bool:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        found = isinstance(root, ast.Name) and root.id not in self._local
        return found and type(self._space.get(root.id)) is ModuleType  # type: ignore[attr-defined]

    def _find(self, node: ast.expr) -> Any:
        """What a dotted name means, through modules; None where that cannot be told."""
        if isinstance(node, ast.Name):
            return self._space.get(node.id)
        owner = self._find(node.value) if isinstance(node, ast.Attribute) else None
        return vars(owner).get(node.attr) if type(owner) is ModuleType else None  # type: ignore[attr-defined]

    def visit_Assign(self, node: ast.Assign) -> Any:
        for target in node.targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    return self._refuse(node, "assignment to an attribute inside a kernel")
                if isinstance(part, ast.Starred):
                    return self._refuse(node, "starred assignment inside a kernel")
        self.generic_visit(node)
        if not isinstance(node.targets[0], ast.Name):
            node.value = _at(node.value, call("unpacked", node.value))
        elif node.targets[0].id not in self._constants:
            node.value = _at(node.value, call("assigned", node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Attribute):
            return self._refuse(node, "assignment to an attribute inside a kernel")
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        before = ast.Name(id=node.target.id, ctx=ast.Load())
        made = ast.Assign(targets=[node.target], value=self._binary(before, node.value, node.op))
        made.kengine_own = True  # type: ignore[attr-defined]
        return _at(node, made)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        return _at(node, self._binary(node.left, node.right, node.op))

    def _binary(self, left: ast.expr, right: ast.expr, op: ast.AST) -> ast.expr:
        return call("binary", left, right, ast.Constant(type(op).__name__))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        return _at(node, call("unary", node.operand, ast.Constant(type(node.op).__name__)))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _at(node.value, call("subscript", node.value))
            if isinstance(node.slice, (ast.Name, ast.Attribute, ast.Call)):
                node.slice = _at(node.slice, call("index", node.slice))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if isinstance(node.target, ast.Attribute):
            return self._refuse(node, "assignment to an attribute inside a kernel")
        if node.value is not None:
            node.value = self.visit(node.value)
        elif isinstance(node.target, ast.Name):
            self._constants.add(node.target.id)
        return node

    def visit_For(self, node: ast.For) -> Any:
        if not isinstance(node.iter, ast.Call) or not isinstance(node.target, ast.Name):
            return self._refuse(node, "loop over something that is no range")
        if node.orelse:
            return self._refuse(node, "`else` of a loop inside a kernel")
        return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._refuse(node, "`else` of a loop inside a kernel") if node.orelse else self.generic_visit(node)

    def visit_If(self, node: Any) -> Any:
        node.test = self.visit(node.test)
        outer, self._refused = self._refused, []
        for name in ("body", "orelse"):
            part = getattr(node, name)
            setattr(node, name, [self.visit(s) for s in part] if isinstance(part, list) else self.visit(part))
        if self._refused:  # the compiler looks at both branches of a condition that it does not know
            node.test = _at(node.test, call("known", node.test, ast.Constant(self._refused[0])))
        self._refused = outer
        return node

    visit_IfExp = visit_If

    def visit_Compare(self, node: ast.Compare) -> Any:
        for op in node.ops:
            if isinstance(op, (ast.In, ast.NotIn)):
                return self._refuse(node, f"comparison '{type(op).__name__}' inside a kernel")
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            equal = ast.Constant(isinstance(node.ops[0], ast.Eq))
            return _at(node, call("compare", node.left, node.comparators[0], equal))
        if len(node.ops) == 1 and type(node.ops[0]).__name__ in BINARY:
            return _at(node, self._binary(node.left, node.comparators[0], node.ops[0]))
        if len(node.ops) > 1:
            node.left = _at(node.left, call("alone", node.left))
            node.comparators = [_at(each, call("alone", each)) for each in node.comparators]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        if len(node.generators) > 1:
            return self._refuse(node, "comprehension with two loops inside a kernel")
        self.generic_visit(node)
        first = node.generators[0]
        first.iter = _at(first.iter, call("items", first.iter))
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "static_assert":
            node.args[:1] = [self.visit(arg) for arg in node.args[:1]]  # a message is of interest only if it fails
            return node
        if any(keyword.arg is None for keyword in node.keywords):
            return self._refuse(node, "call with ** inside a kernel")
        self.generic_visit(node)
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                arg.value = _at(arg.value, call("unpacked", arg.value))
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        node.value = _at(node.value, call("text", self.visit(node.value)))
        return node

    def _refuse(self, node: ast.AST, what: str, helper: str = "reject") -> Any:
        self._refused.append(f"global variable '{what}'" if helper == "refuse_global" else what)
        made = _at(node, call(helper, ast.Constant(what)))
        return _at(node, ast.Expr(value=made)) if isinstance(node, ast.stmt) else made


def _at(node: ast.AST, made: Any) -> Any:
    return ast.fix_missing_locations(ast.copy_location(made, node))


@cache
def _is_known(kind: str) -> bool:
    from triton.compiler.code_generator import CodeGenerator

    return hasattr(CodeGenerator, f"visit_{kind}")


@cache
def _names() -> frozenset[str]:
    """Names that the compiler knows by themselves."""
    from triton.compiler.code_generator import CodeGenerator

    known = [name for name in CodeGenerator.builtin_namespace if hasattr(builtins, name)]
    return frozenset(known)


def known(test: Any, what: str) -> Any:
    """A condition over something that the compiler refuses; raises HostCode unless it is known at compile time."""
    import triton.language as tl

    if isinstance(test, tl.tensor) and not references.one_given:
        raise references.refuse(f"{what} under a condition that is only known at run time")
    return test


def items(value: Iterable[Any]) -> Iterable[Any]:
    """What a comprehension may go over."""
    value = operations.unpacked(plain(value))
    if isinstance(value, (tuple, list)) or type(value).__name__ == "tuple":
        return value
    raise references.refuse(f"comprehension over '{type(value).__name__}' inside a kernel")


def text(value: Any) -> Any:
    """What may stand in braces of a text."""
    import triton.language as tl

    if isinstance(value, tl.tensor):
        raise references.refuse("value that is only known at run time, in an f-string,")
    if not is_own(value):
        return value
    with watch.resume():
        return str(value)


def assigned(value: Any) -> Any:
    """What a name without `tl.constexpr` may be given: what a block, a number or a tuple can be made of."""
    inner = plain(value)
    kind = type(inner)
    if kind in (str, bytes, dict, set, frozenset, ModuleType) or kind.__name__ == "InterpretedFunction":
        raise references.refuse(f"assignment of a value of type '{kind.__name__}' without tl.constexpr")
    return value
