"""What calls do in the walk of `flow`: operators, layers, launches, functions of the file, and what cannot be seen."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from kengine.lint.flow_values import (
    NOTHING,
    Function,
    Scope,
    Thing,
    Value,
    Work,
    absorb,
    class_values,
    derive,
    is_framework,
    last_part,
    parameters,
    unite,
)
from kengine.lint.operators import MODULES, weigh
from kengine.lint.source import SourceTree

MAX_STEPS = 60_000
_PLAIN_DECORATORS = ("torch", "functools", "builtins", "contextlib", "staticmethod", "typing", "abc", "jaxtyping")
_ASKS = frozenset(
    {
        "size",
        "stride",
        "numel",
        "dim",
        "item",
        "is_contiguous",
        "element_size",
        "get_device",
        "tolist",
        "nelement",
        "storage_offset",
        "type",
        "is_floating_point",
        "requires_grad_",
        "dim_order",
    }
)
_FRESH = re.compile(
    r"(?:empty|zeros|ones|full|rand|randn|randint|arange|eye|linspace|tensor|tril_indices|new_\w+|scalar_tensor)"
    r"\w*\Z"
)
_VIEWS = frozenset(
    {
        "view",
        "reshape",
        "contiguous",
        "t",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
        "flatten",
        "unflatten",
        "expand",
        "expand_as",
        "view_as",
        "to",
        "float",
        "half",
        "bfloat16",
        "double",
        "int",
        "long",
        "detach",
        "cuda",
        "cpu",
        "chunk",
        "split",
        "unbind",
        "select",
        "narrow",
        "data_ptr",
        "as_strided",
        "movedim",
        "swapaxes",
        "clone",
        "cat",
        "stack",
        "pad",
        "repeat",
        "tile",
        "from_dlpack",
        "to_dlpack",
        "asarray",
        "as_tensor",
        "from_numpy",
        "numpy",
        "astype",
        "ravel",
        "roll",
        "copy",
        "flip",
        "index_select",
        "gather",
        "requires_grad",
        "type_as",
        "T",
        "items",
        "values",
        "keys",
        "array",
        "ascontiguousarray",
        "concat",
        "concatenate",
        "hstack",
        "vstack",
        "broadcast_to",
        "rearrange",
        "swapdims",
        "get",
        "reinterpret",
        "wrap_triton",
        "unfold",
        "repeat_interleave",
        "diagonal",
        "Tensor",
        "untyped_storage",
    }
)
_TAKERS = frozenset(
    {"builtins.map", "functools.reduce", "builtins.filter", "operator.call", "torch.vmap", "torch.func.vmap"}
)


@dataclass(frozen=True)
class Returned:
    """One returned value. conditional: it stands under an `if`, in a loop or in a handler."""

    node: ast.AST
    value: Value
    conditional: bool


class Spent(Exception):
    """The budget of the walk is used up."""


class Calls:
    """State of a walk, and what it makes of calls."""

    def __init__(self, source: SourceTree) -> None:
        self.source = source
        self.launches: list[tuple[ast.Call, frozenset[str]]] = []
        self.complete = True
        self._steps = 0
        self._stack: list[Function] = []
        self._attributes: Scope = {}
        self._class: ast.ClassDef | None = None
        self._collected: list[list[Returned]] = []
        self._conditions = 0  # conditions around the statement, in its function
        self._guards = 0  # conditions around the calls that led to it
        self._cached: dict[Function, Value] = {}
        self._globals: Scope = {}
        self._closures: dict[Function, Scope] = {}

    def _eval(self, node: ast.expr, scope: Scope) -> Value:
        raise NotImplementedError

    def _run(self, function: Function, scope: Scope, skip: int = 0) -> list[Returned]:
        raise NotImplementedError

    def _method(self, name: str, of: ast.ClassDef | None = None) -> ast.FunctionDef | None:
        owner = of or self._class
        if owner is None:
            return None
        return next((n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == name), None)

    def _apply(
        self, node: ast.Call, names: frozenset[str], functions: tuple[Function, ...], method: str, held: Value,
        given: list[Value],
    ) -> Value:  # fmt: skip
        every = [held, *given]
        if "functools.partial" in names and given:
            rest = Value(frozenset(t for g in given[1:] for t in g.things))
            return given[0] | rest
        results: list[Value] = []
        for function in functions:
            results.append(self._inline(function, node, given))
        for name in sorted(names):
            if name.startswith("self.") and (found := self._method(name[5:])) is not None:
                results.append(self._inline(found, node, given, skip=1))
            elif name.startswith("@"):
                results.append(self._own(name, node, given, every))
            elif name.endswith("()") and name.rpartition(".")[2][:-2] in MODULES:
                if method not in ("state_dict", "parameters", "to", "cuda", "half", "weight"):
                    results.append(self._work(node, MODULES[name.rpartition(".")[2][:-2]], every, name[:-2]))
            elif name.startswith("torch.nn.") and name.rpartition(".")[2] in MODULES:
                results.append(Value(frozenset({Thing()}), frozenset({name + "()"})))
            elif name.startswith("torch.nn.modules.container.") or name in (
                "torch.nn.Sequential",
                "torch.nn.ModuleList",
                "torch.nn.ModuleDict",
            ):
                results.append(unite(given))
            elif name in _TAKERS:
                results.append(self._taken(node, given))
            elif is_framework(name):
                results.append(self._framework(node, name, every))
        if results:
            return unite(results)
        if method and held.things:
            return self._on_tensor(node, method, held, every)
        if names and all(n.startswith("builtins.") for n in names):
            plain = names & {
                "builtins.tuple",
                "builtins.list",
                "builtins.zip",
                "builtins.enumerate",
                "builtins.reversed",
                "builtins.sorted",
                "builtins.iter",
                "builtins.next",
                "builtins.dict",
                "builtins.sum",
            }
            return unite(given) if plain else NOTHING
        if any(w for g in given for w in g.refs if weigh(last_part(w)) == "product" and is_framework(w)):
            return self._taken(node, given)
        return self._opaque(every)

    def _framework(self, node: ast.Call, name: str, every: list[Value]) -> Value:
        last = last_part(name)
        if name.startswith("torch.ops.") and not name.startswith("torch.ops.aten"):
            owners = [o for o in self.source.graph.owners.get(last, []) if isinstance(o, ast.FunctionDef)]
            if owners:
                return unite([self._inline(o, node, every[1:]) for o in owners])
            return self._opaque(every)
        if name.startswith(
            ("torch.library", "torch.utils.cpp_extension", "torch.cuda", "torch.autograd", "cupy.")
        ) and not weigh(last):
            return self._opaque(every) if unite(every).things else NOTHING
        weight = weigh(last)
        if weight and not name.startswith("math."):
            return self._work(node, last, every, name)
        if _FRESH.match(last):
            return Value(frozenset({Thing(fresh=True)}))
        if last in _VIEWS or last in ("Parameter", "Buffer", "no_grad", "inference_mode"):
            return Value(unite(every).things)
        things = unite(every).things
        return Value(things | {derive(things)}) if things else NOTHING

    def _on_tensor(self, node: ast.Call, method: str, held: Value, every: list[Value]) -> Value:
        if method in _ASKS:
            return NOTHING
        if method == "copy_":
            for thing in held.things:
                if isinstance(node.func, ast.Attribute) and self._is_whole(node.func.value):
                    thing.launched, thing.works = False, set()
                for given in unite(every[1:]).things:
                    absorb(thing, given)
            return held
        if weigh(method):
            made = self._work(node, method, every)
            if method.endswith("_") and not method.endswith("__"):
                for thing in held.things:
                    for result in made.things:
                        absorb(thing, result)
                return held
            return made
        if _FRESH.match(method):
            return Value(frozenset({Thing(fresh=True)}))
        if method in _VIEWS:
            return Value(unite(every).things)
        if method in ("run", "launch", "__call__", "forward", "apply"):
            return self._opaque(every)
        return Value(held.things | {derive(unite(every).things)})  # a view of it, or made of it

    def _is_whole(self, node: ast.expr) -> bool:
        """Whether writing to an expression certainly writes over all of a tensor: a name of what was made empty."""
        if not isinstance(node, ast.Name) or self._conditions or self._guards:
            return False
        bindings = self.source.scopes.lookup(node.id, node)
        return bool(bindings) and all(
            b.kind == "value"
            and isinstance(b.node, ast.Call)
            and isinstance(b.node.func, ast.Attribute)
            and _FRESH.match(b.node.func.attr) is not None
            for b in bindings
        )

    def _own(self, name: str, node: ast.Call, given: list[Value], every: list[Value]) -> Value:
        """A call of something that the file defines: a function, a kernel, a class, a method of one."""
        root, _, rest = name[1:].partition(".")
        results: list[Value] = []
        for owner in self.source.graph.owners.get(root, []):
            if isinstance(owner, ast.ClassDef):
                method = self._method(rest if rest != "apply" else "forward", owner)
                if method is not None and rest:
                    static = any(getattr(d, "id", "") == "staticmethod" for d in method.decorator_list)
                    extra = [NOTHING] if rest == "apply" else []
                    results.append(self._inline(method, node, [*extra, *given], 0 if static else 1))
                elif rest and (values := class_values(owner, rest)):
                    made = unite(self._eval(value, {}) for value in values)
                    results.append(self._apply(node, made.refs, made.functions, "", NOTHING, given))
                elif not rest:
                    results.append(self._opaque(every))
            elif isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                plain = is_plain(self.source, owner)
                results.append(
                    self._inline(owner, node, given) if plain else self._launch(node, every, frozenset({name}))
                )
        return unite(results) if results else self._opaque(every)

    def _local(self, name: str) -> list[Function]:
        owners = self.source.graph.owners.get(name[1:], []) if name.startswith("@") else []
        return [o for o in owners if isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef))]

    def _inline(self, function: Function, node: ast.Call, given: list[Value], skip: int = 0) -> Value:
        expected = parameters(function)[skip:]
        scope: Scope = {}
        everything = unite(given)
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        named = {k.arg: given[len(node.args) + i] for i, k in enumerate(node.keywords)} if len(given) == (
            len(node.args) + len(node.keywords)) else {}  # fmt: skip
        positional = given[: len(given) - len(named)] if named else given
        for i, parameter in enumerate(expected):
            if starred or parameter in (function.args.vararg, function.args.kwarg):
                scope[parameter.arg] = everything
            elif parameter.arg in named:
                scope[parameter.arg] = named[parameter.arg]
            elif i < len(positional):
                scope[parameter.arg] = positional[i]
        outer = self._closures.get(function, {})
        made = unite([r.value for r in self._run(function, {**outer, **scope}, skip)])
        if any("cache" in n for d in getattr(function, "decorator_list", ()) for n in self.source.resolve(
                d.func if isinstance(d, ast.Call) else d)):  # fmt: skip
            made = self._cached.setdefault(function, made)  # the same tensors again
        return made

    def _taken(self, node: ast.Call, given: list[Value]) -> Value:
        """`map(f, xs)`, `reduce(f, xs)`, `helper(torch.mm, x, w)`."""
        results = []
        for value in given:
            for name in value.refs:
                if is_framework(name) and weigh(last_part(name)):
                    results.append(self._work(node, last_part(name), [g for g in given if g is not value], name))
            results += [self._inline(f, node, [g for g in given if g is not value]) for f in value.functions]
        return unite(results) if results else self._opaque(given)

    def _launch(self, node: ast.Call, given: list[Value], names: frozenset[str]) -> Value:
        self.launches.append((node, names))
        things = unite(given).things
        together = derive(things)
        for thing in things:
            thing.given = True
            thing.launched |= not thing.entry
            thing.works |= together.works
            thing.activation |= thing.fresh and together.activation
        together.launched = True
        return Value(things | {together})

    def _opaque(self, given: list[Value]) -> Value:
        things = unite(given).things
        for thing in things:
            thing.opaque = True
        made = derive(things)
        made.opaque = True
        return Value(frozenset({made}))

    def _work(self, node: ast.AST, operator: str, given: list[Value], name: str = "") -> Value:
        things = unite(given).things
        if not things:
            return NOTHING
        made = derive(things)
        if made.activation:
            made.works.add(Work(node, name or operator, weigh(operator)))
        return Value(frozenset({made}))

    def _tick(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Spent


@lru_cache(maxsize=256)
def is_plain(source: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function runs on the host: no decorator, or none that makes a kernel of it."""
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        names = source.resolve(target)
        root = {n.partition(".")[0] for n in names}
        if not root or not root <= {*_PLAIN_DECORATORS}:
            return False
    return True
