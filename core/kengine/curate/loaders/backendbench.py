"""BackendBench: `<op>__<overload>/<op>__<overload>_implementation_*.py`, each a kernel for one operator of aten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from kengine.curate import taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, attempt
from kengine.curate.record import Outcome, Sample
from kengine.model import Case, SourceFile
from kengine.syntax import parse_tree
from kengine.tasks.source import read_text

CASES = 6
"""Sample inputs of an operator that become cases."""

_TASK = '''import functools

import torch

OPERATOR = torch.ops.aten.{op}.{overload}


def _positional(args, kwargs):
    """Arguments in the order of the operator's schema, up to the last one that is given."""
    schema = OPERATOR._schema.arguments
    values = list(args)
    for argument in schema[len(values):]:
        values.append(kwargs.get(argument.name, argument.default_value))
    return tuple(values)


@functools.lru_cache
def _op_db():
    """What torch tests its operators with; () without the package expecttest, which that needs."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError:
        return ()
    return tuple(op_db)


def _from_torch(device):
    """The sample inputs that torch tests the operator with."""
    infos = [info for info in _op_db() if info.name in {names!r} or info.aten_name in {names!r}]
    for info in infos[:1]:
        dtype = torch.float32 if torch.float32 in info.dtypes else sorted(info.dtypes, key=str)[0]
        for made in info.sample_inputs(device, dtype, requires_grad=False):
            yield _positional((made.input, *made.args), made.kwargs)


def _from_schema(device):
    """Inputs by the types of the operator's arguments: tensors of a few shapes, defaults, small numbers."""
    for shape in ((8, 16), (33,), (4, 5, 6), (1, 7), (2, 3, 4, 5), (64, 64)):
        values = []
        for argument in OPERATOR._schema.arguments:
            kind = str(argument.type)
            if kind == "Tensor":
                values.append(torch.randn(shape, device=device))
            elif argument.has_default_value():
                values.append(argument.default_value)
            elif kind == "List[Tensor]":
                values.append([torch.randn(shape, device=device) for _ in range(2)])
            else:
                values.append({{"int": 0, "float": 0.5, "number": 2, "bool": False, "List[int]": [0]}}.get(kind))
        yield tuple(values)


def make_inputs(seed, device, sample=0):
    torch.manual_seed(seed)
    fitting = []
    for values in list(_from_torch(device)) or _from_schema(device):
        try:
            reference(*values)
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
        fitting.append(values)
        if len(fitting) > sample:
            return values
    if not fitting:
        raise ValueError("no sample input fits {op}.{overload}")
    return fitting[sample % len(fitting)]


def reference(*inputs):
    arguments = OPERATOR._schema.arguments
    keywords = {{a.name: v for a, v in zip(arguments, inputs) if a.kwarg_only}}
    return OPERATOR(*[v for a, v in zip(arguments, inputs) if not a.kwarg_only], **keywords)
'''


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Folders whose files are called as BackendBench wants them."""
    named = [f for f in glimpse.files if re.search(r"_implementation(_[^/]*)?\.py$", f)]
    fitting = [f for f in named if re.fullmatch(rf"{re.escape(_folder(f))}_implementation(_.*)?\.py", PurePath(f).name)]
    if not named:
        return []
    if not fitting:
        want = f"{_folder(named[0])}_implementation_v1.py"
        return [NearMiss("backendbench", 1, f"{named[0]} is not called after its folder, want {want}")]

    def make(file: str, origin: str) -> Sample:
        folder = _folder(file)
        op, _, overload = folder.partition("__")
        code = read_text(glimpse.path / file)
        entry = f"{folder}_kernel_impl"
        if not re.search(rf"^def {re.escape(entry)}\b", code, re.MULTILINE):
            raise RowError("no_code", f"defines no {entry}")
        code, entry = _positional(code, entry)
        names = (op, op.replace("_", "."), f"nn.functional.{op}")
        body = _TASK.format(op=op, overload=overload or "default", names=names)
        task = taskbook.make(body, folder, origin="BackendBench")
        cases = tuple(Case(f"sample {n}", {"sample": n}) for n in range(CASES))
        task = replace(task, spec=replace(task.spec, cases=cases))
        return Sample("", "", origin, task, files=(SourceFile("candidate.py", code),), entry=entry,
                      labels={"operator": op, "level": 1})  # fmt: skip

    def read() -> Iterator[Outcome]:
        for file in fitting:
            yield from attempt(make, file, file)

    return [Loader("backendbench", 4, read)]


def _positional(code: str, entry: str) -> tuple[str, str]:
    """A candidate and its entry that take keyword-only arguments by position: a task has no other."""
    try:
        found = [n for n in parse_tree(code).body if isinstance(n, ast.FunctionDef) and n.name == entry]
    except (SyntaxError, ValueError, RecursionError):
        return code, entry  # the judge says what is wrong with it
    if not found or not found[-1].args.kwonlyargs:
        return code, entry
    arguments = found[-1].args
    count, keywords = len(arguments.posonlyargs + arguments.args), [a.arg for a in arguments.kwonlyargs]
    return (
        f"{code.rstrip()}\n\n\ndef candidate(*inputs):\n"
        f"    return {entry}(*inputs[:{count}], **dict(zip({keywords!r}, inputs[{count}:])))\n",
        "candidate",
    )


def _folder(file: str) -> str:
    return PurePath(file).parent.name
