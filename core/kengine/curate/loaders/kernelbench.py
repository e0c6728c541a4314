"""KernelBench in rows and in files, MultiKernelBench, and CUDA-Agent-Ops: tasks with `Model` and `get_inputs`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from kengine.curate import taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, RowFormat, attempt, text
from kengine.curate.record import Outcome, Sample
from kengine.model import JsonValue
from kengine.tasks.source import read_text

_LEVEL = re.compile(r"level[_ ]?(\d)", re.IGNORECASE)


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """KernelBench and CUDA-Agent-Ops rows; folders of task files by level or by category."""
    return [*_ROWS.recognise(glimpse), *_OPS.recognise(glimpse), *_files(glimpse)]


def _row(row: Mapping[str, Any], origin: str) -> Sample:
    level, number = row.get("level"), row.get("problem_id")
    if type(level) is not int:
        raise RowError("malformed_row", f"field 'level': want a whole number, got {level!r}")
    name = text(row, "name").removesuffix(".py")
    task = taskbook.make(text(row, "code"), name, level=level, origin="KernelBench")
    return Sample("", "", origin, task, labels={"operator": operator(name), "level": level, "problem": str(number)})


def _ops(row: Mapping[str, Any], origin: str) -> Sample:
    ops = row.get("ops")
    if isinstance(ops, str):
        ops = re.findall(r"[\w.]+", ops)
    if not isinstance(ops, (list, tuple)) or not all(isinstance(op, str) for op in ops):
        raise RowError("malformed_row", f"field 'ops': want a list of texts, got {type(ops).__name__}")
    code = text(row, "code")
    task = taskbook.make(code, f"ops_{origin.rpartition(':')[2]}", license="CC-BY-4.0", origin="CUDA-Agent-Ops-6K")
    labels: dict[str, JsonValue] = {"operator": "+".join(ops), "level": 1 if len(ops) == 1 else 2}
    return Sample("", "", origin, task, license="CC-BY-4.0", labels=labels, claims={"ops": len(ops)})


_ROWS = RowFormat("kernelbench", ("code", "level", "name", "problem_id"), ("problem_id",), _row)
_OPS = RowFormat("cuda-agent-ops", ("ops", "data_source", "code"), ("ops",), _ops)


def operator(name: str) -> str:
    """`1_Square_matrix_multiplication_` -> `square_matrix_multiplication`."""
    return re.sub(r"^\d+_|_+$", "", name).lower()


def _files(glimpse: Glimpse) -> list[Loader | NearMiss]:
    python = [f for f in glimpse.files if f.endswith(".py")]
    leveled = [f for f in python if _LEVEL.search(f) or _LEVEL.search(glimpse.path.name)]
    categorised = [f for f in python if re.match(r"(?:.*/)?reference/[^/]+/[^/]+\.py$", f)]
    if categorised and not leveled:
        return _check(glimpse, "multikernelbench", categorised)
    return _check(glimpse, "kernelbench-files", leveled) if leveled else []


def _check(glimpse: Glimpse, name: str, files: list[str]) -> list[Loader | NearMiss]:
    first = read_text(glimpse.path / files[0])
    missing = [n for n in ("class Model", "def get_inputs", "def get_init_inputs") if n not in first]
    if len(missing) == 3:
        return []
    if missing:
        return [NearMiss(name, 3 - len(missing), f"{files[0]} lacks `{missing[0]}`")]

    def make(file: str, origin: str) -> Sample:
        path = PurePath(file)
        found = _LEVEL.search(file) or _LEVEL.search(glimpse.path.name)
        level = int(found[1]) if found else None
        category = path.parent.name if name == "multikernelbench" else ""
        origin_name = "KernelBench" if found else "MultiKernelBench"
        task = taskbook.make(
            read_text(glimpse.path / file), path.stem, file, level=level, category=category, origin=origin_name
        )
        labels: dict[str, JsonValue] = {"operator": operator(path.stem)}
        labels |= {"level": level} if level is not None else {}
        labels |= {"category": category} if category else {}
        return Sample("", "", origin, task, labels=labels)

    def read() -> Iterator[Outcome]:
        for file in files:
            yield from attempt(make, file, file)

    return [Loader(name, 4, read)]
