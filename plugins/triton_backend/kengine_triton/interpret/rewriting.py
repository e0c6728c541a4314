"""How a kernel's Python is rewritten before it is interpreted, so that it means what it means to the compiler.

Triton's own rewriting turns constants into tensors, leaves `and`, `or`, `not` and `assert` on blocks to Python (which
silently drops masks), gives loops plain ints, and copies its own imports into the candidate's module.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kengine_triton.interpret import grammar, operations, references
from kengine_triton.interpret.classes import is_own, plain
from kengine_triton.interpret.handles import replace
from kengine_triton.interpret.scalar import Whole, constant

_PREFIX = grammar.PREFIX


def install() -> None:
    """Replace the rewriter, and patch `triton.language` once for the whole process instead of at every call."""
    import triton.language as tl
    from triton.runtime import interpreter

    rewriter = interpreter.FunctionRewriter
    transformer = _transformer(interpreter.ASTTransformer)()
    transform = rewriter._transform_ast

    def transform_ast(self: Any, src: str) -> Any:
        transformer.source, transformer.fn = src, self.fn
        return transform(self, src)

    rewriter.ast_transformer = transformer
    rewriter._transform_ast = transform_ast
    rewriter._compile_and_exec = _compile
    rewriter._find_def = _find_definition
    replace(interpreter.GridExecutor, "__init__", _find_constants)
    patch = interpreter._patch_lang
    holder = types.SimpleNamespace(__globals__={"core": tl.core, "tl": tl})
    patch(holder)
    scope = types.SimpleNamespace(restore=lambda: None)
    interpreter._patch_lang = lambda fn: scope
    from kengine_triton.interpret import assertion, extra, hints

    for part in (assertion, hints, extra):
        part.install_language()


def _find_definition(self: Any, lines: list[str]) -> int:
    """Number of the line with a function's `def`: the first, since its text may hold others."""
    return next((i for i, line in enumerate(lines, 1) if line.lstrip().startswith("def ")), 0)


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
        fn: Any = None

        def visit_Module(self, node: ast.Module) -> Any:
            for definition in node.body:
                if isinstance(definition, ast.FunctionDef):
                    grammar.check(definition, self.fn)
            return self.generic_visit(node)

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
            if grammar.is_helper(node):  # `x += 1`, which makes no constant of a number
                return node
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
            if grammar.is_helper(node):
                return node
            node.args = [node.func, *node.args]
            node.func = ast.Name(id=_PREFIX + "call", ctx=ast.Load())
            return node

    return Transformer


_call = grammar.call


def _thunk(value: ast.expr) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=value)


def _compile(self: Any, transformed_ast: ast.Module) -> Any:
    """The rewritten function, with globals, closure and defaults of the one that was written."""
    fn = self.fn
    (definition,) = transformed_ast.body
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    nothing = ast.Constant(value=None)
    arguments.defaults = [nothing for _ in arguments.defaults]
    arguments.kw_defaults = [nothing if default is not None else None for default in arguments.kw_defaults]
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each is not None:
            each.annotation = None
    definition.returns = None
    definition.name = f"{_PREFIX}made"  # so that its own name is the global that it was
    outer = ast.parse(f"def {_PREFIX}outer({', '.join(fn.__code__.co_freevars)}): return {definition.name}")
    maker = outer.body[0]
    assert isinstance(maker, ast.FunctionDef)
    maker.body.insert(0, definition)
    ast.fix_missing_locations(outer)
    space = fn.__globals__
    space.update(_helpers())
    local: dict[str, Any] = {}
    exec(compile(outer, filename=self.filename, mode="exec"), space, local)
    code = local[f"{_PREFIX}outer"](*(None for _ in fn.__code__.co_freevars)).__code__
    called = {"co_name": fn.__name__}
    if hasattr(code, "co_qualname"):
        called["co_qualname"] = fn.__qualname__
    code = code.replace(**called)
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    closure = tuple(cells[name] if name in cells else types.CellType(None) for name in code.co_freevars)
    made = types.FunctionType(code, space, fn.__name__, fn.__defaults__, closure)
    made.__qualname__ = fn.__qualname__
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__annotations__ = fn.__annotations__
    return made


def _helpers() -> dict[str, Callable[..., Any]]:
    from triton.runtime import interpreter

    own: dict[str, Callable[..., Any]] = {
        "constant": constant, "and": _both, "or": _either, "not": _negate, "assert": _check, "loop": _loop,
        "condition": _condition, "call": references.call, "reject": references.reject,
        "refuse_global": references.refuse_global, "attribute": references.attribute, "compare": operations.compare,
        "binary": operations.binary, "unary": operations.unary, "alone": operations.alone, "index": operations.index,
        "subscript": operations.subscript, "unpacked": operations.unpacked,
        "assigned": grammar.assigned, "known": grammar.known, "items": grammar.items, "text": grammar.text,
    }  # fmt: skip
    helpers = {_PREFIX + name: function for name, function in own.items()}
    comparison = getattr(interpreter, "_InterpreterComparison", None)
    if comparison is not None:
        helpers["_InterpreterComparison"] = comparison
    return helpers


def _loop(iterable: Iterable[Any]) -> Iterator[Any]:
    if isinstance(iterable, range):
        return (Whole(i) for i in iterable)
    if not type(iterable).__module__.startswith("triton"):
        raise references.refuse(f"loop over '{type(iterable).__name__}' inside a kernel")
    return iter(iterable)


def _condition(value: Any) -> bool:
    if _is_tensor(value) and value.handle.data.size != 1:
        raise ValueError(
            f"a block of shape {list(value.handle.data.shape)} is used as a condition; a chip's compiler refuses "
            "`if` and `while` on blocks: use tl.where"
        )
    if _is_tensor(value):
        return bool(value.handle.data.reshape(-1)[0])
    inner = plain(value)
    if type(inner) in (str, bytes, float, tuple, list, dict) or is_own(inner):
        raise references.refuse(f"condition of type '{type(inner).__name__}', which is no bool, int or None,")
    return bool(inner)


def _is_tensor(value: Any) -> bool:
    import triton.language as tl

    return isinstance(value, tl.tensor)


def _both(*thunks: Callable[[], Any]) -> Any:
    return _logical("logical_and", thunks, stop=lambda value: not value)


def _either(*thunks: Callable[[], Any]) -> Any:
    return _logical("logical_or", thunks, stop=bool)


def _logical(method: str, thunks: tuple[Callable[[], Any], ...], stop: Callable[[Any], bool]) -> Any:
    from kengine_triton.interpret.scalar import to_tensor

    result = operations.truth(thunks[0]())
    for thunk in thunks[1:]:
        if not _is_tensor(result) and stop(result):
            return result
        other = operations.truth(thunk())
        if _is_tensor(result):
            result = getattr(result, method)(other)
        elif _is_tensor(other):
            result = getattr(to_tensor(result), method)(other)
        else:
            result = other
    return result


def _negate(value: Any) -> Any:
    return value.__not__() if _is_tensor(value) else not operations.truth(value)


def _check(condition: Any, message: Any = "") -> None:
    from kengine_triton.interpret.assertion import check

    check(operations.truth(condition), message)
