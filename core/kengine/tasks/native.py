"""kengine's own form: `reference(*inputs)` and `make_inputs(seed, device, **params)`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from kengine.errors import TaskError
from kengine.model import TaskSpec
from kengine.tasks.block import suggest
from kengine.tasks.form import top_level
from kengine.tasks.signature import count_returned, read_signature
from kengine.tasks.source import Source


def check_task(source: Source, spec: TaskSpec) -> None:
    """Check what the text says of reference and inputs: calls that cannot bind, unknown parameters and writes.

    Raises TaskError. What decorators or imports hide is left to the judge.
    """
    names = top_level(source)
    _check_make_inputs(source, names["make_inputs"], spec)
    reference = read_signature(names["reference"])
    if reference is None:
        return
    line = names["reference"].lineno
    if reference.required_keywords:
        raise TaskError(
            f"{source.name}:{line}: reference needs the keyword arguments {', '.join(reference.required_keywords)}, "
            "but inputs are passed by position"
        )
    count = count_returned(names["make_inputs"])
    if count is not None and not reference.accepts(count):
        raise TaskError(
            f"{source.name}:{line}: reference takes {describe_count(reference.required, len(reference.names))}, "
            f"make_inputs returns {count}"
        )
    check_writes(source, spec, reference.names, reference.varargs)


def check_writes(source: Source, spec: TaskSpec, parameters: tuple[str, ...], open_ended: bool) -> None:
    """Check that `writes` names parameters of the reference. Raises TaskError."""
    for name in spec.writes:
        if name not in parameters and not open_ended:
            raise TaskError(
                f"{source.name}: writes: the reference has no argument {name!r}{suggest(name, parameters)}; "
                f"it has {', '.join(parameters) or 'none'}"
            )


def arity(source: Source) -> tuple[int, tuple[str, ...]] | None:
    """Number of inputs and their names where the text says so, else None."""
    names = top_level(source)
    reference = read_signature(names.get("reference", ast.Pass()))
    count = count_returned(names.get("make_inputs", ast.Pass()))
    if reference is None:
        return (count, ()) if count is not None else None
    if count is None and (reference.varargs or reference.required != len(reference.names)):
        return None
    count = len(reference.names) if count is None else count
    return count, reference.names[:count]


def outputs(source: Source) -> int | None:
    """Number of values that the reference returns where the text says so."""
    return count_returned(top_level(source).get("reference", ast.Pass()), single=True)


def describe_count(low: int, high: int) -> str:
    """`2 arguments`, or `2 to 4 arguments`."""
    if low == high:
        return f"{low} argument{'' if low == 1 else 's'}"
    return f"{low} to {high} arguments"


def _check_make_inputs(source: Source, node: ast.stmt, spec: TaskSpec) -> None:
    made = read_signature(node)
    if made is None:
        return
    where = f"{source.name}:{node.lineno}: make_inputs"
    if not made.varargs and len(made.names) < 2:
        raise TaskError(f"{where} takes {describe_count(made.required, len(made.names))}; expected "
                        "make_inputs(seed, device) and, after these, the parameters of the cases")  # fmt: skip
    own = set(made.names[2:]) | set(made.keywords)
    needed = set(made.names[2 : made.required]) | set(made.required_keywords)
    all_params: list[tuple[str, Mapping[str, object]]] = [(f"case {c.name!r}", c.params) for c in spec.cases]
    for name, params in all_params or [("", {})]:
        for key in params:
            if key not in own and not made.varkw:
                raise TaskError(f"{where} has no parameter {key!r} of {name}{suggest(key, own)}; it has "
                                f"{', '.join(sorted(own)) or 'none besides seed and device'}")  # fmt: skip
        missing = sorted(needed - set(params))
        if missing:
            problem = f"{name} does not give" if name else "no case gives"
            raise TaskError(
                f"{where} needs {', '.join(missing)}, which {problem}; add to a [[cases]] table or give defaults"
            )
