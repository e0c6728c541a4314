"""The candidate executes text that it decodes or builds.

What it does:
Finds `exec`, `eval` and `compile`, and text that comes out of a decoder (base64, zlib, marshal, hex, rot13, ...). Both
are rejected; unpickling is a warning. A function of the candidate's own with such a name is not meant.

Why is this bad:
Code that is made at run time is not in the text that is judged, and encoded code exists to keep a reader from reading
it. Nothing in a kernel needs either.

Example:
    exec(zlib.decompress(base64.b64decode("eJxLT...")))

Use instead:
    Write the code where the text was. Kernels that differ in a constant take it as a `constexpr` argument.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_RUNNERS = frozenset(
    {"builtins.exec", "builtins.eval", "builtins.compile", "code.InteractiveInterpreter", "runpy.run_path"}
)
_DECODERS = ("base64", "zlib", "gzip", "bz2", "lzma", "marshal", "binascii", "codecs", "builtins.bytes.fromhex",
             "builtins.bytearray.fromhex")  # fmt: skip
_UNPICKLERS = ("pickle.loads", "pickle.load", "dill", "cloudpickle", "types.FunctionType", "types.CodeType")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what is executed and where it comes from."""
    for call, names in source.calls():
        if names & _RUNNERS:
            function = next(iter(names & _RUNNERS)).rpartition(".")[2]
            if any(_is_decoded(source, argument, 0) for argument in call.args):
                yield hit(call, f"{function} runs text that was encoded; write the code out", "reject")
            else:
                yield hit(call, f"{function} runs text as code; write the code out", "reject")
        elif names & {"marshal.loads", "marshal.load"}:
            yield hit(call, "loads compiled code with marshal; write the code out", "reject")
        elif any(is_within(name, _UNPICKLERS) for name in names):
            yield hit(call, f"{min(names)} makes code or objects from data; write them out", "warn")


def _is_decoded(source: SourceTree, node: ast.AST, depth: int) -> bool:
    """Whether a decoder lies on the way from constants to this expression."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            if any(is_within(name, _DECODERS) for name in source.resolve(inner.func)):
                return True
            if isinstance(inner.func, ast.Attribute) and inner.func.attr == "fromhex":
                return True
        if isinstance(inner, ast.Name) and depth < 8:
            for binding in source.scopes.lookup(inner.id, inner):
                if (
                    binding.kind == "value"
                    and binding.node is not None
                    and binding.node is not node
                    and _is_decoded(source, binding.node, depth + 1)
                ):
                    return True
                if (
                    binding.kind == "definition"
                    and isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef))
                    and _is_decoded(source, binding.node, depth + 8)
                ):
                    return True
    return False


RULE = Rule("KE106", "runs-built-text", "reject", check, __doc__)
