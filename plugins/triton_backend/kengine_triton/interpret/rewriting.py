"""How a kernel's Python is rewritten before it is interpreted, so that it means what it means to the compiler.

Triton's own rewriting turns constants into tensors, leaves `and`, `or`, `not` and `assert` on blocks to Python (which
silently drops masks), gives loops plain ints, and copies its own imports into the candidate's module.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kengine_triton.interpret import references
from kengine_triton.interpret.handles import replace
from kengine_triton.interpret.scalar import Whole, constant

_PREFIX = "_kengine_"


def install() -> None:
    """Replace the rewriter, and patch `triton.language` once for the whole process instead of at every call."""
    import types

    import triton.language as tl
    from triton.runtime import interpreter

    rewriter = interpreter.FunctionRewriter
    transformer = _transformer(interpreter.ASTTransformer)()
    transform = rewriter._transform_ast

    def transform_ast(self: Any, src: str) -> Any:
        transformer.source = src
        return transform(self, src)

    rewriter.ast_transformer = transformer
    rewriter._transform_ast = transform_ast
    rewriter._compile_and_exec = _compile
    replace(interpreter.GridExecutor, "__init__", _find_constants)
    patch = interpreter._patch_lang
    holder = types.SimpleNamespace(__globals__={"core": tl.core, "tl": tl})
    patch(holder)
    scope = types.SimpleNamespace(restore=lambda: None)
    interpreter._patch_lang = lambda fn: scope
    from kengine_triton.interpret import assertion, hints

    assertion.install_language()
    hints.install_language()


def _find_constants(old: Any) -> Any:
    def init(self: Any, fn: Any, *args: Any, **kwargs: Any) -> None:
        old(self, fn, *args, **kwargs)
        # Triton 3.3 does not know `tl.constexpr` when annotations are text (from __future__ import annotations).
        notes = inspect.get_annotations(fn)
        self.constexprs = [name for name in self.arg_names if "constexpr" in _annotation(notes.get(name))]

    return init


def _annotation(note: Any) -> str:
    return note if isinstance(note, str) else str(getattr(note, "__name__", note))


def _transformer(parent: Any) -> Any:
    chains = "visit_Compare" in vars(parent)

    class Transformer(parent):  # type: ignore[misc]
        """Triton's transformer, with the constructs above on top."""

        source = ""

        def refuse(self, node: ast.AST, message: str) -> Any:
            from triton.compiler.errors import UnsupportedLanguageConstruct

            return UnsupportedLanguageConstruct(self.source, node, message)

        def visit_Compare(self, node: ast.Compare) -> Any:
            if chains:
                return super().visit_Compare(node)
            if len(node.ops) > 1:
                raise self.refuse(node, "simultaneous multiple comparison is not supported")
            return self.generic_visit(node)

        def visit_If(self, node: ast.If) -> Any:
            self.generic_visit(node)
            node.test = _call("condition", node.test)
            return node

        visit_While = visit_If
        visit_IfExp = visit_If

        def visit_Assign(self, node: ast.Assign) -> Any:
            if len(node.targets) > 1:
                raise self.refuse(node, "simultaneous multiple assignment is not supported")
            self.generic_visit(node)
            node.value = _call("constant", node.value)
            return node

        def visit_BoolOp(self, node: ast.BoolOp) -> Any:
            self.generic_visit(node)
            name = "and" if isinstance(node.op, ast.And) else "or"
            return ast.copy_location(_call(name, *(_thunk(value) for value in node.values)), node)

        def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
            self.generic_visit(node)
            return ast.copy_location(_call("not", node.operand), node) if isinstance(node.op, ast.Not) else node

        def visit_Assert(self, node: ast.Assert) -> Any:
            self.generic_visit(node)
            message = node.msg if node.msg is not None else ast.Constant(value="")
            return ast.copy_location(ast.Expr(value=_call("assert", node.test, message)), node)

        def visit_For(self, node: ast.For) -> Any:
            self.generic_visit(node)
            node.iter = _call("loop", node.iter)
            return node

        def visit_Call(self, node: ast.Call) -> Any:
            self.generic_visit(node)
            node.args = [node.func, *node.args]
            node.func = ast.Name(id=_PREFIX + "call", ctx=ast.Load())
            return node

        def visit_Attribute(self, node: ast.Attribute) -> Any:
            self.generic_visit(node)
            try:
                references.attribute(node.attr)
            except references.HostCode as fault:
                references.faults.remove(fault)
                return _call("reject", ast.Constant(value=f"attribute '{node.attr}' inside a kernel"))
            return node

        def visit_Import(self, node: ast.stmt) -> Any:
            what = f"{type(node).__name__} inside a kernel"
            return ast.copy_location(ast.Expr(value=_call("reject", ast.Constant(value=what))), node)

        visit_ImportFrom = visit_Import
        visit_ClassDef = visit_Import
        visit_Try = visit_Import
        visit_Global = visit_Import
        visit_Nonlocal = visit_Import

        def visit_Lambda(self, node: ast.Lambda) -> Any:
            return ast.copy_location(_call("reject", ast.Constant(value="Lambda inside a kernel")), node)

    return Transformer


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=_PREFIX + name, ctx=ast.Load()), args=list(args), keywords=[])


def _thunk(value: ast.expr) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=value)


def _compile(self: Any, transformed_ast: ast.AST) -> Any:
    code = compile(transformed_ast, filename=self.filename, mode="exec")  # type: ignore[call-overload]
    space = self.fn.__globals__
    space.update(_helpers())
    local: dict[str, Any] = dict(self.kwargs)
    if self.fn.__closure__:
        cells = zip(self.fn.__code__.co_freevars, self.fn.__closure__)
        space.update({name: cell.cell_contents for name, cell in cells if name not in space})
    exec(code, space, local)
    return local[self.fn.__name__]


def _helpers() -> dict[str, Callable[..., Any]]:
    from triton.runtime import interpreter

    own: dict[str, Callable[..., Any]] = {
        "constant": constant, "and": _both, "or": _either, "not": _negate, "assert": _check, "loop": _loop,
        "condition": _condition, "call": references.call, "reject": references.reject,
    }  # fmt: skip
    helpers = {_PREFIX + name: function for name, function in own.items()}
    comparison = getattr(interpreter, "_InterpreterComparison", None)
    if comparison is not None:
        helpers["_InterpreterComparison"] = comparison
    return helpers


def _loop(iterable: Iterable[Any]) -> Iterator[Any]:
    if isinstance(iterable, range):
        return (Whole(i) for i in iterable)
    return iter(iterable)


def _condition(value: Any) -> bool:
    if _is_tensor(value) and value.handle.data.size != 1:
        raise ValueError(
            f"a block of shape {list(value.handle.data.shape)} is used as a condition; a chip's compiler refuses "
            "`if` and `while` on blocks: use tl.where"
        )
    return bool(value.handle.data.reshape(-1)[0]) if _is_tensor(value) else bool(value)


def _is_tensor(value: Any) -> bool:
    import triton.language as tl

    return isinstance(value, tl.tensor)


def _both(*thunks: Callable[[], Any]) -> Any:
    return _logical("logical_and", thunks, stop=lambda value: not value)


def _either(*thunks: Callable[[], Any]) -> Any:
    return _logical("logical_or", thunks, stop=bool)


def _logical(method: str, thunks: tuple[Callable[[], Any], ...], stop: Callable[[Any], bool]) -> Any:
    from kengine_triton.interpret.scalar import to_tensor

    result = thunks[0]()
    for thunk in thunks[1:]:
        if not _is_tensor(result) and stop(result):
            return result
        other = thunk()
        if _is_tensor(result):
            result = getattr(result, method)(other)
        elif _is_tensor(other):
            result = getattr(to_tensor(result), method)(other)
        else:
            result = other
    return result


def _negate(value: Any) -> Any:
    return value.__not__() if _is_tensor(value) else not value


def _check(condition: Any, message: Any = "") -> None:
    from kengine_triton.interpret.assertion import check

    check(condition, message)
