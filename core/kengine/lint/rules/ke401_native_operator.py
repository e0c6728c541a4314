"""C++ code has an operator of the framework do the work.

What it does:
Finds operators of ATen in host functions of C++ sources: `at::mm`, `torch::softmax`, `x.matmul(w)`, `at::native::...`,
layers of `torch::nn`, through namespaces, aliases, macros and pasted tokens. Making, viewing, casting and padding
tensors is not meant. Products, convolutions and attention are rejected; norms, losses and arithmetic are too when no
kernel of the source does more than copy, and where they are called past the dispatcher (`at::cpu::`, `at::cuda::`,
`at::native::`), which nothing sees while the candidate runs; otherwise they are a warning. So is a product of weights.

Why is this bad:
The operator's own kernel does that part; what is judged is then the framework's. A task may permit operators:
`allow = ["aten::mm"]`.

Example:
    auto y = torch::matmul(x, w);

Use instead:
    A kernel that multiplies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import CppSource, Native, find_native
from kengine.lint.cpp.strength import only_copies, writes
from kengine.lint.cpp.unit import Function, Name
from kengine.lint.operators import MODULES, spellings, weigh
from kengine.lint.rule import ALL, Context, Hit, Rule, Severity
from kengine.lint.source import SourceTree

_SPACES = frozenset({"at", "torch", "aten"})
_TENSOR = re.compile(r"[Tt]ensor")
_WEIGHT = re.compile(r"(?:w|b|bias|gamma|beta|scale|kernel)\d*\Z|w_|weight|\w+_w\Z|bias")
_WORDS = frozenset({"t", "view", "reshape", "contiguous", "transpose", "to", "true", "false", "permute", "torch", "at",
                    "kFloat", "kFloat32", "kHalf", "unsqueeze", "squeeze", "const", "mul", "size"})  # fmt: skip
_OTHER = frozenset({"_nn", "native", "_ops", "redispatch"})
_PAST = frozenset({"cpu", "cuda", "native", "compositeexplicitautograd"})
"""Namespaces of `at` whose functions are an operator's code itself."""


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at every name in host functions."""
    native = find_native(source)
    idle = not any(_works(cpp, kernel) for cpp, kernel in native.kernels)
    for cpp, function, name in native.host_names():
        operator = _operator(native, cpp, function, name)
        if not operator or context.allows(*spellings(operator), name.text):
            continue
        weight = weigh(operator) or "product"
        past = len(name.parts) > 2 and name.parts[0] in _SPACES and name.parts[1] in _PAST
        severity: Severity = "reject" if weight == "product" or past or (idle and _answers(native)) else "warn"
        if severity == "reject" and weight == "product" and _of_weights(cpp, name):
            severity = "warn"
        yield cpp.hit(
            name.at, f"{name.text} is a kernel of the framework; compute it in a kernel of your own", severity
        )


def _answers(native: Native) -> bool:
    """Whether the sources hold an extension (not only kernels that Python launches)."""
    return any(not f.is_kernel and not f.is_device for s in native.sources for f in s.unit.functions)


def _works(cpp: CppSource, kernel: Function) -> bool:
    return writes(cpp.unit, kernel) and not only_copies(cpp.unit, kernel)


def _operator(native: Native, cpp: CppSource, function: Function, name: Name) -> str:
    """The operator that a name stands for, "" for anything else."""
    own = name.parts[2] if name.parts[:2] == ("at", "_ops") and len(name.parts) > 3 else name.parts[-1]
    last = own.removesuffix("_out").removesuffix("_symint")
    if name.member:
        tensor = name.arguments is not None and last not in native.declared and weigh(last) in ("product", "norm")
        return last if tensor and last not in ("norm", "sort", "dot", "inner", "median", "var", "std") else ""
    root = name.parts[0]
    if len(name.parts) > 1 and root in _SPACES:
        if "nn" in name.parts and last.removesuffix("Impl") in MODULES:
            return MODULES[last.removesuffix("Impl")]
        if weigh(last) and (name.arguments is not None or weigh(last) == "product"):
            return last
        return last if _OTHER & set(name.parts[1:-1]) and name.arguments is not None and weigh(last) else ""
    if len(name.parts) == 1 and name.arguments is not None and last not in native.declared:
        opened = any(space.split("::")[0] in _SPACES for space in cpp.unit.opened)
        known = weigh(last) == "product" or (opened and weigh(last) == "norm" and last not in ("norm", "sort", "fft"))
        if known and last not in ("dot", "inner", "outer", "fft") and _takes_tensors(cpp, function):
            return last  # found by the types of its arguments
    return ""


def _takes_tensors(cpp: CppSource, function: Function) -> bool:
    words = cpp.unit.tokens[function.head : min(function.body[1], function.head + 4000)]
    return any(t.kind == "id" and _TENSOR.search(t.text) for t in words)


def _of_weights(cpp: CppSource, name: Name) -> bool:
    """Whether all that goes in are weights by their names: folding them once is honest."""
    if name.arguments is None or name.member:
        return False
    words = {t.text for t in cpp.unit.tokens[slice(*name.arguments)] if t.kind == "id"} - _WORDS
    return bool(words) and all(_WEIGHT.match(word) for word in words)


RULE = Rule("KE401", "native-operator", "reject", check, __doc__, ALL)
