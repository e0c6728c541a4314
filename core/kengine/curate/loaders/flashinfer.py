"""flashinfer-bench and SOL-ExecBench: definitions, workloads, solutions and traces, as a folder or a file of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kengine.curate import table, taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, RowFormat, attempt, plain, tables, text
from kengine.curate.record import Loss, Outcome, Sample
from kengine.errors import UsageError
from kengine.model import Case, JsonValue, SourceFile, Task

_DEFINITION = ("name", "axes", "inputs", "outputs", "reference")
_SOLUTION = ("name", "definition", "spec", "sources")
_DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
           "float8_e4m3fn", "float8_e5m2")  # fmt: skip

_INPUTS = """

AXES = {axes!r}
INPUTS = {inputs!r}


def make_inputs(seed, device, **given):
    import torch

    draw = torch.Generator().manual_seed(seed)
    sizes = {{**AXES, **given}}
    made = []
    for name, shape, dtype in INPUTS:
        if shape is None:
            made.append(given[name])
            continue
        shape = [sizes[axis] for axis in shape]
        kind = getattr(torch, dtype)
        if dtype == "bool":
            value = torch.rand(shape, generator=draw) < 0.5
        elif dtype.startswith(("int", "uint")):
            value = torch.randint(0, 2, shape, generator=draw).to(kind)
        else:
            value = torch.randn(shape, generator=draw).to(kind)
        made.append(value.to(device))
    return tuple(made)


def reference(*inputs):
    return run(*inputs)
"""


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """A folder (or one file) whose rows are definitions, solutions, workloads and traces."""
    rows = [row for _, path in tables(glimpse)[:20] for row in _head(path)] if glimpse.files else list(glimpse.rows)
    kinds = {_kind(row) for row in rows}
    if "definition" in kinds:
        return [Loader("flashinfer-bench", 6, lambda: _read(glimpse))]
    if "solution" in kinds:
        return [NearMiss("flashinfer-bench", 4, "there are solutions, and no definition that they are for")]
    probe = RowFormat("flashinfer-bench", _DEFINITION, ("axes", "op_type"), lambda row, origin: [])
    misses = [m for m in probe.recognise(Glimpse(glimpse.path, (), tuple(rows))) if isinstance(m, NearMiss)]
    return list(misses)


def _head(path: Path) -> list[Mapping[str, Any]]:
    try:
        return table.head(path, 2)
    except UsageError:  # some other format's file; whoever reads it says what is wrong with it
        return []


def _kind(row: Mapping[str, Any]) -> str:
    if all(k in row for k in _SOLUTION):
        return "solution"
    if all(k in row for k in _DEFINITION):
        return "definition"
    if "definition" in row and "evaluation" in row:
        return "trace"
    return "workload" if "definition" in row and "workload" in row else ""


def _read(glimpse: Glimpse) -> Iterator[Outcome]:
    """Definitions and workloads are held in memory, solutions pass; a definition without one is a task alone."""
    definitions: dict[str, Mapping[str, Any]] = {}
    workloads: dict[str, list[Mapping[str, Any]]] = {}
    traces: dict[str, Mapping[str, Any]] = {}
    for origin, row in _rows(glimpse):
        if isinstance(row, str):
            yield Loss(origin, "malformed_row", f"{origin}: {row}")
            continue
        kind = _kind(row)
        if kind == "definition":
            definitions[str(row["name"])] = row
        if kind in ("workload", "trace") and isinstance(row.get("workload"), Mapping):
            listed = workloads.setdefault(str(row["definition"]), [])
            if row["workload"] not in listed:
                listed.append(row["workload"])
        if kind == "trace" and isinstance(row.get("evaluation"), Mapping):
            traces[str(row.get("solution"))] = row["evaluation"]
    tasks: dict[str, Task | RowError] = {}
    for name, definition in definitions.items():
        try:
            tasks[name] = _task(name, definition, workloads.get(name, []))
        except RowError as error:
            tasks[name] = error
    solved = set()

    def solution(row: Mapping[str, Any], origin: str) -> Sample:
        name = text(row, "definition")
        if name not in tasks:
            raise RowError("no_task", f"field 'definition': there is no definition {name!r}")
        task = tasks[name]
        if isinstance(task, RowError):
            raise task
        solved.add(name)
        return _solution(row, origin, task, definitions[name], traces.get(str(row["name"]), {}))

    for origin, row in _rows(glimpse):
        if not isinstance(row, str) and _kind(row) == "solution":
            yield from attempt(solution, row, origin)
    for name, task in tasks.items():
        if isinstance(task, RowError):
            yield Loss(f"definition {name}", task.reason, task.detail)
        elif name not in solved:
            yield Sample("", "", f"definition {name}", task, labels=_labels(definitions[name]))


def _rows(glimpse: Glimpse) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    for name, path in tables(glimpse):
        for number, row in table.read(path):
            yield f"{name}:{number}", row


def _labels(definition: Mapping[str, Any]) -> dict[str, JsonValue]:
    kind = definition.get("op_type")
    return {"operator": kind if isinstance(kind, str) and kind else str(definition["name"])}


def _task(name: str, definition: Mapping[str, Any], workloads: list[Mapping[str, Any]]) -> Task:
    axes, inputs = definition["axes"], definition["inputs"]
    if not isinstance(axes, Mapping) or not isinstance(inputs, Mapping):
        raise RowError("broken_task", f"definition {name}: fields 'axes' and 'inputs': want objects")
    constant = {k: a["value"] for k, a in axes.items() if isinstance(a, Mapping) and a.get("type") == "const"}
    listed = []
    for key, spec in inputs.items():
        dtype = spec.get("dtype") if isinstance(spec, Mapping) else None
        if dtype not in _DTYPES:
            raise RowError(
                "broken_task", f"definition {name}: inputs.{key}.dtype: {dtype!r}; known: {', '.join(_DTYPES)}"
            )
        shape = spec.get("shape")
        unknown = [axis for axis in shape or () if axis not in axes]
        if unknown:
            raise RowError("broken_task", f"definition {name}: inputs.{key}.shape: there is no axis {unknown[0]!r}")
        listed.append((key, None if shape is None else list(shape), dtype))
    body = text(definition, "reference").rstrip() + "\n" + _INPUTS.format(axes=constant, inputs=listed)
    cases = {case.name: case for w in workloads if (case := _case(w, listed)) is not None}
    if workloads and not cases:
        raise RowError("broken_task", f"definition {name}: every workload needs a safetensors file, which is not read")
    missing = [a for a in axes if a not in constant] + [key for key, shape, _ in listed if shape is None]
    if missing and not cases:
        raise RowError("broken_task", f"definition {name}: no workload says how large {', '.join(missing)} is")
    task = taskbook.make(body, name, f"{name}.py", origin="flashinfer-bench")
    return replace(task, spec=replace(task.spec, cases=tuple(cases.values())[:64]))


def _case(workload: Mapping[str, Any], inputs: list[tuple[str, Any, str]]) -> Case | None:
    """One set of sizes; None where inputs come from a file."""
    axes, given = workload.get("axes", {}), workload.get("inputs", {})
    params: dict[str, JsonValue] = {k: v for k, v in axes.items() if isinstance(v, int)}
    for key, shape, _ in inputs:
        spec = given.get(key, {})
        if spec.get("type") == "safetensors":
            return None
        if shape is None:
            value = spec.get("value")
            if not isinstance(value, (bool, int, float)):
                return None
            params[key] = value
    return Case(",".join(f"{k}={v}" for k, v in params.items()) or "default", params)


def _solution(
    row: Mapping[str, Any], origin: str, task: Task, definition: Mapping[str, Any], evaluation: Mapping[str, Any]
) -> Sample:
    spec, sources = row["spec"], row["sources"]
    if not isinstance(spec, Mapping) or not isinstance(sources, (list, tuple)) or not sources:
        raise RowError("malformed_row", "fields 'spec' and 'sources': want an object and a list of {path, content}")
    entry = text(spec, "entry_point")
    file, _, function = entry.rpartition("::")
    files = [SourceFile(text(s, "path"), text(s, "content")) for s in sources]
    files.sort(key=lambda f: f.path != file)
    languages = spec.get("languages") or [spec.get("language")]
    language = str(languages[0]).lower() if languages else ""
    backend = {"triton": "triton", "cuda": "cuda", "cpp": "cuda", "cuda_cpp": "cuda", "hip": "hip"}.get(
        language, language
    )
    performance = evaluation.get("performance")
    claims = plain(row, "name", "author") | plain(evaluation, "status")
    claims |= plain(performance, "latency_ms", "speedup_factor") if isinstance(performance, Mapping) else {}
    return Sample("", "", origin, task, files=tuple(files), entry=function, backend=backend, labels=_labels(definition),
                  model=text(row, "author", required=False), claims=claims)  # fmt: skip
