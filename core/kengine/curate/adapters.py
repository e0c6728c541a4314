"""Task texts for benchmarks whose references are written otherwise: each gives `reference` and `make_inputs`.

Texts only; nothing here executes them. The judge does, as it does any task.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from kengine.errors import TaskError
from kengine.syntax import parse_tree

PLACE = """
def _place(value, device):
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().to(device, copy=True)
    if isinstance(value, (list, tuple)):
        return type(value)(_place(v, device) for v in value)
    if isinstance(value, dict):
        return {key: _place(v, device) for key, v in value.items()}
    return value
"""
"""Moves arguments to the device of a case; parameters become plain tensors."""

_FUNCTIONAL = """

def make_inputs(seed, device, config=0):
    import torch

    torch.manual_seed(seed)
    chosen = CONFIGS[config]
    model = Model(*get_init_inputs(**chosen.get("init", {{}})))
    seen = []

    def record(*args, **kwargs):
        seen.append((*args, *kwargs.values()))
        return {function}(*args, **kwargs)

    with torch.no_grad():
        model(*get_inputs(**chosen.get("inputs", {{}})), fn=record)
    return tuple(_place(value, device) for value in seen[0])


def reference(*inputs):
    return {function}(*inputs)
"""


def functional(source: str, function: str, configs: Sequence[object] = ({},)) -> str:
    """A task for a module whose forward takes the function that does its work (`fn=`): its reference is that function.

    Inputs are what the module passes to it. configs: {"init": {...}, "inputs": {...}} for each case.
    """
    return f"{source.rstrip()}\n\n\nCONFIGS = {list(configs)!r}\n{PLACE}{_FUNCTIONAL.format(function=function)}"


def extension(code: str, function: str, entry: str = "candidate") -> str:
    """A candidate around the text of a torch extension that binds `function` itself with pybind11."""
    quote = "'''" if "'''" not in code else '"""'
    if quote in code:
        raise TaskError("the extension's text holds both kinds of triple quotes")
    body = f"r{quote}\n{code.strip()}\n{quote}" if not code.rstrip().endswith(("\\", quote[0])) else repr(code)
    return (
        f"from torch.utils.cpp_extension import load_inline\n\nSOURCE = {body}\n\n"
        f'extension = load_inline(name="kernel", cpp_sources="", cuda_sources=SOURCE)\n\n\n'
        f"def {entry}(*inputs):\n    return extension.{function}(*inputs)\n"
    )


_RECORDED = """

def make_inputs(seed, device, call=0):
    import inspect

    import torch

    global _device
    _device = str(device)
    torch.manual_seed(seed)
    seen = []
    original = {function}
    signature = inspect.signature(original)

    def record(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        seen.append(tuple(bound.arguments.values()))
        return original(*args, **kwargs)

    globals()[{function!r}] = record
    try:
        {test}()
    finally:
        globals()[{function!r}] = original
    # tests often hold numbers that are written out: one factor for all keeps their structure and follows the seed
    factor = float(torch.rand((), generator=torch.Generator().manual_seed(seed))) * 0.45 + 0.8
    return tuple(_place(_scale(value, factor), device) for value in seen[call])


def _scale(value, factor):
    import torch

    return value * factor if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def reference(*inputs):
    import inspect

    parameters = list(inspect.signature({function}).parameters.values())
    keywords = {{p.name: v for p, v in zip(parameters, inputs) if p.kind is p.KEYWORD_ONLY}}
    return {function}(*[v for p, v in zip(parameters, inputs) if p.kind is not p.KEYWORD_ONLY], **keywords)
"""


def recorded(source: str, test: str, function: str, runner: str) -> str:
    """A task from a function and a test that calls it: the inputs are what the test passes, on the case's device.

    `test` defines `runner()`; what it does at its top level besides defining things is left out.
    Raises TaskError when either text does not parse.
    """
    kept = move_device(definitions(test, "the test"))
    return (
        f'{source.rstrip()}\n\n\n_device = "cpu"\n\n\n{ast.unparse(kept)}\n\n{PLACE}'
        f"{_RECORDED.format(function=function, test=runner)}"
    )


def definitions(text: str, what: str) -> ast.Module:
    """A module with imports, functions and classes of a text only. Raises TaskError when it does not parse."""
    try:
        tree = parse_tree(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise TaskError(f"{what} does not parse: {error}") from None
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    kept = [node for node in tree.body if isinstance(node, kinds) or _is_plain(node)]
    return ast.Module(kept, [])


def move_device(tree: ast.Module) -> ast.Module:
    """The same module with every "cuda" and `.cuda()` put in terms of the variable `_device`."""
    moved: ast.Module = ast.fix_missing_locations(_Mover().visit(copy.deepcopy(tree)))
    return moved


class _Mover(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str) and node.value.partition(":")[0] in ("cuda", "npu", "xpu"):
            return ast.Name("_device", ast.Load())
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.args:
            return ast.Call(ast.Attribute(node.func.value, "to", ast.Load()), [ast.Name("_device", ast.Load())], [])
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node


def _is_plain(node: ast.stmt) -> bool:
    """A constant that functions may read."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    return not any(isinstance(inner, ast.Call) for inner in ast.walk(node.value))
