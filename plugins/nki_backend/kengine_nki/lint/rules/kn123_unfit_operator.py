"""An operator that the instruction's engine does not have.

What it does:
Compares operators of instructions with what activations, reductions and ALU instructions can do: `nl.add` is no
activation, `nl.exp` is no ALU operator, and no engine of the standalone package divides.

Why is this bad:
The instruction is refused.

Example:
    nisa.tensor_tensor(dst=y, data1=a, data2=b, op=nl.divide)

Use instead:
    nisa.reciprocal(dst=r, data=b)
    nisa.tensor_tensor(dst=y, data1=a, data2=r, op=nl.multiply)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import members, split
from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.operators import ACTIVATIONS, ALIASES, ALU, allowed, operators


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at operators that are functions of nki.language."""
    for call in find_calls(source):
        for parameter, value in operators(call):
            names = [split(n) for n in source.resolve(value)]
            if len(names) != 1 or names[0] is None or names[0].module != "language":
                continue
            name = names[0]
            if name.generation != call.name.generation or name.member not in members(name.generation, "language"):
                continue
            fit, kind = allowed(call, parameter)
            if fit and ALIASES.get(name.member, name.member) not in fit:
                yield hit(value, f"{name.short} is no {kind} of {call.name.short}{_instead(name.member, kind)}")


def _instead(member: str, kind: str) -> str:
    if member == "divide":
        return "; multiply with the result of nisa.reciprocal"
    if member in ACTIVATIONS and kind != "activation function":
        return "; it is one of nisa.activation"
    if member in ALU and kind == "activation function":
        return "; it is one of nisa.tensor_tensor and nisa.tensor_scalar"
    return ""


RULE = Rule("KN123", "unfit-operator", "warn", check, __doc__)
