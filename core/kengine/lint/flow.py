"""Where the returned value comes from: operators of the framework, kernels, or what the text does not show.

Walks host code from the entry as if it were called, with sets of tensors in place of values. Arguments of the entry
are activations; attributes of a module, and arguments that the task names like weights, are parameters.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kengine.lint.flow_calls import Calls, Returned, Spent, is_plain
from kengine.lint.flow_values import (
    NOTHING,
    Function,
    Scope,
    Thing,
    Value,
    Work,
    absorb,
    is_framework,
    merge,
    parameters,
    unite,
)
from kengine.lint.source import SourceTree
from kengine.syntax import parse_tree

_MAX_CALLS = 12
WEIGHT = re.compile(
    r"(?:weights?|bias|biases|gamma|beta|w|b|scale|params?|kernel|filters?)\d*\Z|w_\w+|weight\w*|bias_\w+|"
    r"\w+_(?:weight|bias|w|b)\Z"
)
_SIZES = frozenset(
    {"shape", "dtype", "device", "ndim", "is_cuda", "requires_grad", "layout", "itemsize", "nbytes", "training"}
)


class Flow(Calls):
    """The walk from one entry. complete: everything was walked within the budget."""

    def __init__(self, source: SourceTree, weights: Sequence[str] = ()) -> None:
        super().__init__(source)
        self.returns: list[Returned] = []
        try:
            self._enter(weights)
        except (Spent, RecursionError):
            self.complete = False

    @property
    def result(self) -> frozenset[Thing]:
        """Every tensor that may be returned."""
        return frozenset(t for r in self.returns for t in r.value.things)

    @property
    def bypassed(self) -> bool:
        """Whether it is certain that nothing of what is returned was written by a kernel or by unseen code."""
        things = self.result
        seen = any(t.launched or t.opaque or (t.entry and t.given) for t in things)
        return self.complete and bool(things) and not seen

    @property
    def works(self) -> list[Work]:
        """Operators on activations that went into what is returned, in order of appearance."""
        found = {w for t in self.result for w in t.works}
        return sorted(found, key=lambda w: (getattr(w.node, "lineno", 0), getattr(w.node, "col_offset", 0), w.operator))

    def _enter(self, weights: Sequence[str]) -> None:
        owners = self.source.graph.owners.get(self.source.entry, [])
        owner = owners[0] if owners else None
        if isinstance(owner, (ast.Assign, ast.AnnAssign)) and owner.value is not None:
            functions = self._eval(owner.value, {})
            names = [n for n in functions.refs if n.startswith("@")]
            owner = next((o for n in names for o in self.source.graph.owners.get(n[1:], [])), None)
            owner = owner or next(iter(functions.functions), None)
        if isinstance(owner, ast.ClassDef):
            self._class = owner
            begin, forward = self._method("__init__"), self._method("forward") or self._method("__call__")
            if begin is not None:
                self._run(begin, {a.arg: NOTHING for a in parameters(begin)}, skip=1)
            if forward is not None:
                scope = {a.arg: Value(frozenset({Thing(True, True)})) for a in parameters(forward)[1:]}
                self.returns = self._run(forward, scope, skip=1)
        elif isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            scope = {}
            for i, argument in enumerate(parameters(owner)):
                name = weights[i] if i < len(weights) else argument.arg
                scope[argument.arg] = Value(frozenset({Thing(WEIGHT.match(name) is None, True)}))
            self.returns = self._run(owner, scope)

    def _run(self, function: Function, scope: Scope, skip: int = 0) -> list[Returned]:
        """Walk a function; its first `skip` parameters are the object itself."""
        if function in self._stack or len(self._stack) >= _MAX_CALLS:
            self.complete = self.complete and function in self._stack
            return [Returned(function, Value(frozenset({Thing(opaque=True)})), False)]
        if skip and parameters(function):
            scope = {**scope, parameters(function)[0].arg: Value(refs=frozenset({"self"}))}
        self._stack.append(function)
        outside, self._conditions = self._conditions, 0
        self._guards += outside
        self._collected.append([])
        try:
            if isinstance(function, ast.Lambda):
                self._collected[-1].append(Returned(function, self._eval(function.body, scope), False))
            else:
                self._block(function.body, scope)
        finally:
            self._stack.pop()
            self._conditions = outside
            self._guards -= outside
            found = self._collected.pop()
        return found

    def _block(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        self._tick()
        if isinstance(node, ast.Return):
            value = self._eval(node.value, scope) if node.value is not None else NOTHING
            self._collected[-1].append(Returned(node, value, self._conditions > 0))
        elif isinstance(node, ast.Assign):
            value = self._eval(node.value, scope)
            for target in node.targets:
                self._bind(target, value, scope, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, self._eval(node.value, scope), scope, node.value)
        elif isinstance(node, ast.AugAssign):
            base, value = self._eval(node.target, scope), self._eval(node.value, scope)
            operator = "matmul" if isinstance(node.op, ast.MatMult) else "add"
            made = self._work(node, operator, [base, value])
            for thing in base.things:
                for result in made.things:
                    absorb(thing, result)
            if isinstance(node.op, ast.MatMult):
                self._bind(node.target, made, scope, node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._bind(node.target, self._eval(node.iter, scope), scope, node.iter)
            self._branch([node.body, node.body, node.orelse], scope)
        elif isinstance(node, ast.While):
            self._eval(node.test, scope)
            self._branch([node.body, node.body, node.orelse], scope)
        elif isinstance(node, ast.If):
            self._eval(node.test, scope)
            before = dict(scope)
            self._branch([node.body], scope)
            other = before
            self._branch([node.orelse], other)
            merge(scope, other)
        elif isinstance(node, ast.Try):
            self._block(node.body, scope)
            for handler in node.handlers:
                other = dict(scope)
                self._branch([handler.body], other)
                merge(scope, other)
            self._block(node.orelse, scope)
            self._block(node.finalbody, scope)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = self._eval(item.context_expr, scope)
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, value, scope, item.context_expr)
            self._block(node.body, scope)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._closures[node] = scope
            scope[node.name] = Value(functions=(node,)) if is_plain(self.source, node) else Value(
                refs=frozenset({f"@{node.name}"}))  # fmt: skip
        elif isinstance(node, ast.Expr):
            self._eval(node.value, scope)
        elif isinstance(node, ast.Match):
            self._eval(node.subject, scope)
            for case in node.cases:
                self._branch([case.body], scope)

    def _branch(self, bodies: Sequence[list[ast.stmt]], scope: Scope) -> None:
        self._conditions += 1
        try:
            for body in bodies:
                self._block(body, scope)
        finally:
            self._conditions -= 1

    def _bind(self, target: ast.expr, value: Value, scope: Scope, made: ast.expr) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = value
            if target.id in self.source.scopes.bindings[self.source.tree]:
                self._globals[target.id] = self._globals.get(target.id, NOTHING) | value
        elif isinstance(target, (ast.Tuple, ast.List)):
            paired = isinstance(made, (ast.Tuple, ast.List)) and len(made.elts) == len(target.elts)
            for i, one in enumerate(target.elts):
                part = self._eval(made.elts[i], scope) if paired and isinstance(made, (ast.Tuple, ast.List)) else value
                self._bind(one, part, scope, made)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, value, scope, made)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.attr != "data":
            if "self" in scope.get(target.value.id, NOTHING).refs:
                self._attributes[target.attr] = self._attributes.get(target.attr, NOTHING) | value
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            for thing in self._eval(target.value, scope).things:
                for given in value.things:
                    absorb(thing, given)

    def _eval(self, node: ast.expr, scope: Scope) -> Value:
        self._tick()
        if isinstance(node, ast.Name):
            if node.id in scope:
                return scope[node.id]
            return self._global(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        if isinstance(node, ast.BinOp):
            operator = "matmul" if isinstance(node.op, ast.MatMult) else "add"
            return self._work(node, operator, [self._eval(node.left, scope), self._eval(node.right, scope)])
        if isinstance(node, ast.UnaryOp):
            inner = self._eval(node.operand, scope)
            return self._work(node, "neg", [inner]) if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.Subscript):
            refs = self.source.resolve(node)
            return self._eval(node.value, scope) | Value(refs=refs)
        if isinstance(node, ast.Lambda):
            self._closures[node] = scope
            return Value(functions=(node,))
        if isinstance(node, ast.NamedExpr):
            value = self._eval(node.value, scope)
            self._bind(node.target, value, scope, node.value)
            return value
        if isinstance(node, ast.IfExp):
            self._eval(node.test, scope)
            return self._eval(node.body, scope) | self._eval(node.orelse, scope)
        if isinstance(node, (ast.Starred, ast.Await)):
            return self._eval(node.value, scope)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            own = dict(scope)
            for made in node.generators:
                self._bind(made.target, self._eval(made.iter, own), own, made.iter)
            return self._eval(node.value if isinstance(node, ast.DictComp) else node.elt, own)
        if isinstance(node, ast.Compare):
            return NOTHING
        value = NOTHING
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                value = value | self._eval(child, scope)
        return value

    def _global(self, node: ast.Name) -> Value:
        """A name of the module: what it was bound to, walked once."""
        refs = Value(refs=self.source.resolve(node))
        if node.id not in self._globals:
            self._globals[node.id] = NOTHING
            values = [b.node for b in self.source.scopes.lookup(node.id, node) if b.kind in ("value", "item")]
            for bound in values[:8]:
                if isinstance(bound, ast.expr) and not isinstance(bound, ast.Constant):
                    self._globals[node.id] = self._globals[node.id] | self._eval(bound, {})
        return self._globals[node.id] | refs

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        base = self._eval(node.value, scope)
        if "self" in base.refs:
            known = self._attributes.get(node.attr)
            if known is not None:
                return known
            method = self._method(node.attr)
            if method is not None:
                return Value(refs=frozenset({f"self.{node.attr}"}))
            for statement in self._class.body if self._class else ():
                if isinstance(statement, ast.Assign) and any(
                    getattr(t, "id", "") == node.attr for t in statement.targets
                ):
                    return self._eval(statement.value, {})
            return self._attributes.setdefault(node.attr, Value(frozenset({Thing()})))
        if node.attr in _SIZES:
            return NOTHING
        of_type = isinstance(node.value, ast.Call) and "builtins.type" in self.source.resolve(node.value.func)
        if of_type or (node.attr == "__class__" and base.things):
            return Value(refs=frozenset({f"torch.Tensor.{node.attr}" if of_type else "torch.Tensor"}))
        layers = frozenset(r for r in base.refs if r.endswith("()"))
        refs = self.source.resolve(node) | frozenset(f"{r}.{node.attr}" for r in base.refs - layers if r != "self")
        return Value(base.things, refs | (frozenset() if node.attr in ("weight", "bias") else layers))

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        given = [self._eval(a, scope) for a in (*node.args, *(k.value for k in node.keywords))]
        called = self._eval(node.func, scope)
        method = ""
        if isinstance(node.func, ast.Attribute):
            method = node.func.attr
        names = called.refs | self.source.resolve(node.func)
        names |= frozenset(f"self.{n.partition('.')[2]}" for n in names if n.startswith("self."))
        held = Value(called.things) if called.things else NOTHING
        if isinstance(node.func, ast.Call) and node.func.args:
            inner = self.source.resolve(node.func.func)
            if "builtins.getattr" in inner and len(node.func.args) > 1:  # getattr(x, "mat" + "mul")(w)
                method, held = self.source.fold(node.func.args[1]) or "", self._eval(node.func.args[0], scope)
            elif "operator.methodcaller" in inner and given:
                method, held = self.source.fold(node.func.args[0]) or "", unite(given) | called
                names = frozenset()
            elif not called.refs and not called.functions and called.things:
                return self._launch(node, [called, *given], called.refs)  # a launcher that holds its tensors
        if isinstance(node.func, ast.Subscript) and not any(is_framework(n) for n in names) and not called.functions:
            hosts = [o for n in names for o in self._local(n)]
            if not hosts or any(not is_plain(self.source, h) for h in hosts if not isinstance(h, ast.Lambda)):
                return self._launch(node, given, names)
        out = next((v for k, v in zip(node.keywords, given[len(node.args) :]) if k.arg == "out"), None)
        whole = any(k.arg == "out" and self._is_whole(k.value) for k in node.keywords)
        inputs = [g for g in given if g is not out]
        value = self._apply(node, names, called.functions, method, held, inputs)
        if out is not None and out.things and any(w for t in value.things for w in t.works):
            for thing in out.things:
                thing.launched &= not whole
                for result in value.things:
                    absorb(thing, result)
            return out
        return value


@lru_cache(maxsize=16)
def find_flow(source: SourceTree, weights: tuple[str, ...] = ()) -> Flow:
    """The walk from the entry of a file. weights: names of the reference's parameters, by position."""
    return Flow(source, weights)


@lru_cache(maxsize=64)
def weight_names(task: str) -> tuple[str, ...]:
    """Names of the parameters of a task's reference, by position; () where it has none that can be read."""
    try:
        tree = parse_tree(task)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "reference":
            return tuple(a.arg for a in parameters(node))
    return ()
