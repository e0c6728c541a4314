"""Calls of NKI functions with their arguments bound to the parameters of the official signatures."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from kengine.lint.source import SourceTree

from kengine_nki.lint.api import Name, Signature, find_signature, split


@dataclass(frozen=True, eq=False)
class ApiCall:
    """One call of a function of `isa` or `language`. `spread`: it has `*args` or `**kwargs`, so arguments may hide."""

    node: ast.Call
    name: Name
    signature: Signature | None
    arguments: dict[str, ast.expr]
    spread: bool

    @property
    def member(self) -> str:
        """The function's name."""
        return self.name.member

    @property
    def is_new(self) -> bool:
        """Whether it is a function of the standalone package."""
        return self.name.generation == "new"

    @property
    def is_isa(self) -> bool:
        """Whether it is an instruction."""
        return self.name.module == "isa"

    def get(self, *names: str) -> ast.expr | None:
        """The first argument that is given among these parameters."""
        return next((self.arguments[n] for n in names if n in self.arguments), None)


@lru_cache(maxsize=16)
def find_calls(source: SourceTree) -> tuple[ApiCall, ...]:
    """All live calls whose function has one meaning."""
    found: list[ApiCall] = []
    for node, names in source.calls("live"):
        if len(names) != 1:
            continue
        call = bind(node, next(iter(names)))
        if call is not None:
            found.append(call)
    return tuple(found)


def bind(node: ast.Call, dotted: str) -> ApiCall | None:
    """The call with its arguments bound, None when it is not one of NKI's two modules."""
    name = split(dotted)
    if name is None or not name.module:
        return None
    signature = find_signature(name.generation, name.module, name.member)
    spread = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    arguments: dict[str, ast.expr] = {}
    if signature is not None and not any(isinstance(a, ast.Starred) for a in node.args):
        arguments.update(zip(signature.positional, node.args))
    arguments.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    return ApiCall(node, name, signature, arguments, spread)
