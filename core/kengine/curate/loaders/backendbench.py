"""BackendBench: `<op>__<overload>/<op>__<overload>_implementation_*.py`, each a kernel for one operator of aten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from kengine.curate import taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, attempt
from kengine.curate.record import Outcome, Sample
from kengine.model import Case, SourceFile
from kengine.tasks.source import read_text

CASES = 6
"""Sample inputs of an operator that become cases."""

_TASK = '''import torch

OPERATOR = torch.ops.aten.{op}.{overload}


def _positional(args, kwargs):
    """Arguments in the order of the operator's schema, up to the last one that is given."""
    schema = OPERATOR._schema.arguments
    values = list(args)
    for argument in schema[len(values):]:
        values.append(kwargs.get(argument.name, argument.default_value))
    return tuple(values)


def make_inputs(seed, device, sample=0):
    from torch.testing._internal.common_methods_invocations import op_db

    torch.manual_seed(seed)
    infos = [info for info in op_db if info.name in {names!r} or info.aten_name in {names!r}]
    if not infos:
        raise ValueError("torch has no sample inputs for {op}.{overload}")
    dtype = torch.float32 if torch.float32 in infos[0].dtypes else sorted(infos[0].dtypes, key=str)[0]
    fitting = []
    for made in infos[0].sample_inputs(device, dtype, requires_grad=False):
        values = _positional((made.input, *made.args), made.kwargs)
        try:
            OPERATOR(*values[: len([a for a in OPERATOR._schema.arguments if not a.kwarg_only])],
                     **{{a.name: v for a, v in zip(OPERATOR._schema.arguments, values) if a.kwarg_only}})
        except (RuntimeError, TypeError, ValueError):
            continue
        fitting.append(values)
        if len(fitting) > sample:
            return values
    if not fitting:
        raise ValueError("no sample input of torch fits {op}.{overload}")
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


def _folder(file: str) -> str:
    return PurePath(file).parent.name
