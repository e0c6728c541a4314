"""A way to start kernels that this generation does not have.

What it does:
Finds `nki.jit(mode=...)`, `nki.jit(platform_target=...)`, `nki.simulate_kernel`, `nki.baremetal`, `nki.benchmark` and
`nki.profile` of the standalone package, and `simulate` of the old one.

Why is this bad:
Release 0.3 removed the first; the standalone package runs a kernel by calling it, or `nki.simulate(kernel)(...)`.

Example:
    @nki.jit(mode="simulation")
    def kernel(x): ...

Use instead:
    @nki.jit
    def kernel(x): ...
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import split
from kengine_nki.lint.history import belongs_to_other

_GONE = ("mode", "platform_target")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names of the package, and at the options of jit."""
    for node, dotted in source.references():
        name = split(dotted)
        if name is None or name.module:
            continue
        head = name.member.partition(".")[0]
        if not belongs_to_other(name.generation, "", head):
            continue
        if name.generation == "new":
            yield hit(
                node, f"nki.{head} belongs to neuronxcc.nki; call the kernel itself, or nki.simulate(kernel)(...)"
            )
        else:
            yield hit(node, f"neuronxcc.nki has no {head}; it has jit, simulate_kernel, baremetal and benchmark")
    for call, names in source.calls():
        options = [call, *_partial(call)] if names & {"nki.jit"} or _wraps_jit(source, call) else []
        for keyword in (k for c in options for k in c.keywords):
            if keyword.arg in _GONE:
                yield hit(keyword.value, f"nki.jit({keyword.arg}=) was removed in NKI 0.3; leave it out")


def _wraps_jit(source: SourceTree, call: ast.Call) -> bool:
    """`functools.partial(nki.jit, mode=...)`."""
    return bool(call.args) and "nki.jit" in source.resolve(call.args[0])


def _partial(call: ast.Call) -> list[ast.Call]:
    return [call.func] if isinstance(call.func, ast.Call) else []


RULE = Rule("KN119", "removed-entry-point", "warn", check, __doc__)
