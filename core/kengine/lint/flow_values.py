"""Values of the walk in `flow`: tensors, what they are made of, and names of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Union

from kengine.lint.operators import MODULES

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
FRAMEWORKS = frozenset(
    {
        "torch",
        "numpy",
        "jax",
        "functorch",
        "scipy",
        "cupy",
        "tensorflow",
        "operator",
        "math",
        "einops",
        "opt_einsum",
        "numba",
    }
)


@dataclass(frozen=True)
class Work:
    """An operator of the framework on activations. weight: `product`, `norm` or `arithmetic`."""

    node: ast.AST
    operator: str
    weight: str

    @property
    def bare(self) -> str:
        """The operator's own name: `linear` for `torch.nn.Linear`, `mm` for `torch.ops.aten.mm.default`."""
        last = last_part(self.operator)
        return MODULES.get(last, last)


@dataclass(eq=False)
class Thing:
    """A tensor. entry: it is an argument of the entry. given: a kernel was given it. launched: it may be what a kernel
    wrote. fresh: it was made empty or of constants. opaque: code that the text does not show was given it.
    """

    activation: bool = False
    entry: bool = False
    given: bool = False
    launched: bool = False
    opaque: bool = False
    fresh: bool = False
    works: set[Work] = field(default_factory=set)


@dataclass(frozen=True)
class Value:
    """What an expression may be: tensors, dotted names (`torch.nn.Linear()` for a layer), functions of the file."""

    things: frozenset[Thing] = frozenset()
    refs: frozenset[str] = frozenset()
    functions: tuple[Function, ...] = ()

    def __or__(self, other: Value) -> Value:
        functions = self.functions + tuple(f for f in other.functions if f not in self.functions)
        return Value(self.things | other.things, self.refs | other.refs, functions[:8])


NOTHING = Value()
Scope = dict[str, Value]


def derive(things: Iterable[Thing]) -> Thing:
    made = Thing()
    for thing in things:
        absorb(made, thing)
    return made


def absorb(thing: Thing, other: Thing) -> None:
    thing.activation |= other.activation
    thing.launched |= other.launched
    thing.opaque |= other.opaque
    thing.works |= other.works


def unite(values: Iterable[Value]) -> Value:
    total = NOTHING
    for value in values:
        total = total | value
    return total


def merge(scope: Scope, other: Scope) -> None:
    for name, value in other.items():
        if scope.get(name) is not value:
            scope[name] = scope.get(name, NOTHING) | value


def parameters(function: Function) -> list[ast.arg]:
    args = function.args
    every = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [a for a in every if a is not None]


def last_part(name: str) -> str:
    """The operator in a dotted name, overloads such as `.default` cut off."""
    parts = name.split(".")
    return parts[3] if name.startswith("torch.ops.aten.") and len(parts) > 3 else parts[-1]


def is_framework(name: str) -> bool:
    return name.partition(".")[0] in FRAMEWORKS


def class_values(owner: ast.ClassDef, name: str) -> list[ast.expr]:
    """What a class binds to a name in its body."""
    return [
        s.value
        for s in owner.body
        if isinstance(s, ast.Assign) and any(getattr(t, "id", "") == name for t in s.targets)
    ]
