"""NKIBench's form: `forward(*inputs)` and `get_inputs()` on numpy arrays."""

from __future__ import annotations

import ast

from kengine.errors import TaskError
from kengine.model import TaskSpec
from kengine.tasks.form import top_level
from kengine.tasks.kernelbench import check_getters
from kengine.tasks.native import check_writes, describe_count
from kengine.tasks.signature import count_returned, read_signature
from kengine.tasks.source import Source


def check_task(source: Source, spec: TaskSpec) -> None:
    """Check what the text says of forward and its inputs. Raises TaskError."""
    names = top_level(source)
    check_getters(source, ("get_inputs",), spec)
    forward = read_signature(names["forward"])
    count = count_returned(names["get_inputs"])
    if forward is None:
        return
    if count is not None and not forward.accepts(count):
        raise TaskError(
            f"{source.name}:{names['forward'].lineno}: forward takes "
            f"{describe_count(forward.required, len(forward.names))}, get_inputs returns {count}"
        )
    check_writes(source, spec, forward.names, forward.varargs)


def arity(source: Source) -> tuple[int, tuple[str, ...]] | None:
    """Number of arrays that a kernel is given, and their names; None where the text does not say.

    A task with `transform_to_nki_inputs` gives what that function returns.
    """
    names = top_level(source)
    transform = names.get("transform_to_nki_inputs")
    if transform is not None:
        count = count_returned(transform)
        return None if count is None else (count, ())
    count = count_returned(names.get("get_inputs", ast.Pass()))
    forward = read_signature(names.get("forward", ast.Pass()))
    if count is None and forward is not None and not forward.varargs and forward.required == len(forward.names):
        count = len(forward.names)
    return None if count is None else (count, forward.names[:count] if forward else ())
