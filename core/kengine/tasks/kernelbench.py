"""KernelBench's form: `Model`, `get_inputs()` and `get_init_inputs()`; candidates define `ModelNew`."""

from __future__ import annotations

import ast

from kengine.errors import TaskError
from kengine.model import TaskSpec
from kengine.tasks.form import top_level
from kengine.tasks.native import check_writes, describe_count
from kengine.tasks.signature import count_returned, find_method, read_signature
from kengine.tasks.source import Source


def check_task(source: Source, spec: TaskSpec) -> None:
    """Check what the text says of the model and its inputs. Raises TaskError."""
    names = top_level(source)
    check_getters(source, ("get_inputs", "get_init_inputs"), spec)
    forward = find_method(names["Model"], "forward")
    if isinstance(names["Model"], ast.ClassDef) and forward is None and not _inherits(names["Model"]):
        raise TaskError(f"{source.name}:{names['Model'].lineno}: Model has no method forward")
    for method, getter in (("forward", "get_inputs"), ("__init__", "get_init_inputs")):
        node = find_method(names["Model"], method)
        signature = read_signature(node, method=True) if node else None
        count = count_returned(names[getter])
        if node is not None and signature is not None and count is not None and not signature.accepts(count):
            raise TaskError(
                f"{source.name}:{node.lineno}: Model.{method} takes "
                f"{describe_count(signature.required, len(signature.names))}, {getter} returns {count}"
            )
    signature = read_signature(forward, method=True) if forward else None
    if signature is not None:
        check_writes(source, spec, signature.names, signature.varargs)


def check_getters(source: Source, getters: tuple[str, ...], spec: TaskSpec) -> None:
    """Check that functions without arguments take none, and that no case names parameters. Raises TaskError."""
    names = top_level(source)
    for getter in getters:
        signature = read_signature(names[getter])
        if signature is not None and not signature.accepts(0):
            raise TaskError(f"{source.name}:{names[getter].lineno}: {getter} must be callable without arguments")
    for case in spec.cases:
        if case.params:
            raise TaskError(
                f"{source.name}: case {case.name!r} gives {', '.join(case.params)}, but {getters[0]} takes no "
                "parameters; cases of this form may set dtype, layout, values and draw"
            )


def arity(source: Source) -> tuple[int, tuple[str, ...]] | None:
    """Number of inputs of forward and their names where the text says so, else None."""
    names = top_level(source)
    node = find_method(names.get("Model", ast.Pass()), "forward")
    signature = read_signature(node, method=True) if node else None
    count = count_returned(names.get("get_inputs", ast.Pass()))
    if count is None and signature is not None and not signature.varargs and signature.required == len(signature.names):
        count = len(signature.names)
    if count is None:
        return None
    return count, signature.names[:count] if signature else ()


def init_arity(source: Source) -> int | None:
    """Number of arguments of the constructor where the text says so."""
    return count_returned(top_level(source).get("get_init_inputs", ast.Pass()))


def _inherits(node: ast.ClassDef) -> bool:
    """Whether a base class other than Module may define forward."""
    return any((b.attr if isinstance(b, ast.Attribute) else getattr(b, "id", "")) != "Module" for b in node.bases)
