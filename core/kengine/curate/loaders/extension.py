"""AI CUDA Engineer and robust-kbench: modules that are given the function that does their work; torch extensions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from kengine.curate import adapters, taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, RowFormat, attempt, plain, text
from kengine.curate.loaders.kernelbench import operator
from kengine.curate.record import Outcome, Sample
from kengine.model import SourceFile, Task
from kengine.tasks.source import read_text


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Rows of the archive, and folders with func_forward.py and config_forward.json."""
    return [*_ROWS.recognise(glimpse), *_robust(glimpse)]


def functional_task(functional: str, module: str, name: str, **spec: Any) -> Task:
    """The task of a row: by its functional text where that names the function, else by its module."""
    if "def module_fn" in functional and "fn=module_fn" in functional.replace(" ", ""):
        return taskbook.make(adapters.functional(functional, "module_fn"), name, **spec)
    return taskbook.make(module or functional, name, **spec)


def _row(row: Mapping[str, Any], origin: str) -> Sample:
    name = text(row, "Op_Name")
    level = row.get("Level_ID")
    if type(level) is not int:
        raise RowError("malformed_row", f"field 'Level_ID': want a whole number, got {level!r}")
    functional = text(row, "PyTorch_Code_Functional", required=False)
    module = text(row, "PyTorch_Code_Module", required=not functional)
    task = functional_task(
        functional, module, name, level=level, license="CC-BY-4.0", origin="AI-CUDA-Engineer-Archive"
    )
    code = adapters.extension(text(row, "CUDA_Code"), "forward")
    claims = plain(row, "Correct", "Max_Diff", "CUDA_Runtime", "PyTorch_Native_Runtime", "CUDA_Speedup_Native",
                   "CUDA_Speedup_Compile", "Kernel_Name", "Task_ID", "Error")  # fmt: skip
    return Sample("", "", origin, task, files=(SourceFile("candidate.py", code),), entry="candidate", backend="cuda",
                  license="CC-BY-4.0", labels={"operator": operator(name), "level": level}, claims=claims)  # fmt: skip


_ROWS = RowFormat(
    "ai-cuda-engineer",
    ("Op_Name", "Level_ID", "CUDA_Code", "PyTorch_Code_Module|PyTorch_Code_Functional"),
    ("CUDA_Code", "PyTorch_Code_Functional", "PyTorch_Code_Module", "Kernel_Name"),
    _row,
)


def _robust(glimpse: Glimpse) -> list[Loader | NearMiss]:
    tasks = [f for f in glimpse.files if PurePath(f).name == "func_forward.py"]
    if not tasks:
        return []
    lacking = [f for f in tasks if str(PurePath(f).with_name("config_forward.json")) not in glimpse.files]
    if len(lacking) == len(tasks):
        return [NearMiss("robust-kbench", 2, f"{lacking[0]} has no config_forward.json beside it")]

    def make(file: str, origin: str) -> Sample:
        path = glimpse.path / file
        beside = path.with_name("config_forward.json")
        configs = _configs(read_text(beside), str(beside)) if beside.exists() else [{}]
        name = path.parent.name
        from dataclasses import replace

        from kengine.model import Case

        task = taskbook.make(
            adapters.functional(read_text(path), "forward_fn", configs), name, file, origin="robust-kbench"
        )
        cases = tuple(Case(f"config {i}", {"config": i}) for i in range(len(configs)))
        return Sample(
            "", "", origin, replace(task, spec=replace(task.spec, cases=cases)), labels={"operator": operator(name)}
        )

    def read() -> Iterator[Outcome]:
        for file in tasks:
            yield from attempt(make, file, file)

    return [Loader("robust-kbench", 4, read)]


def _configs(body: str, where: str) -> list[dict[str, Any]]:
    """Each way to make the module and its inputs; the `multi_` lists where there are some, else the single ones."""
    try:
        config = json.loads(body)
    except ValueError as error:
        raise RowError("broken_task", f"{where}: not JSON: {error}") from None
    if not isinstance(config, dict):
        raise RowError("broken_task", f"{where}: want an object, got {type(config).__name__}")

    def listed(kind: str) -> list[dict[str, Any]]:
        for key in (f"multi_{kind}_configs", f"single_{kind}_configs"):
            value = config.get(key)
            if value:
                return value if isinstance(value, list) else [value]
        return [{}]

    shared = listed("shared")
    made = []
    for n in range(max(len(listed("init")), len(listed("input")), len(shared))):
        init, inputs, both = (part[min(n, len(part) - 1)] for part in (listed("init"), listed("input"), shared))
        made.append({"init": {**both, **init}, "inputs": {**both, **inputs}})
    return made
