"""TritonBench-G and -T, and ROCmBench: a file is an implementation, a line of 146 `#`, and the code that tests it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from kengine.curate import adapters, table, taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import ROW_SUFFIXES, RowError, attempt, plain
from kengine.curate.record import Outcome, Sample
from kengine.errors import TaskError
from kengine.model import Case, JsonValue, SourceFile, Task
from kengine.syntax import parse_tree
from kengine.tasks.source import read_text

RULE = "#" * 146
"""The line between implementation and test."""

_INSTRUCTION_KEYS = ("comp_instru", "simp_instru", "instruction", "description")


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Folders of such files, told apart by what is tested; instructions from the JSON files beside them."""
    python = [f for f in glimpse.files if f.endswith(".py")]
    if not python:
        return []
    texts = [read_text(glimpse.path / f) for f in python[:3]]
    ruled = [re.search(r"^#{40,}$", t, re.MULTILINE) for t in texts]
    if not any(ruled):
        return []
    if not any(RULE in t.split("\n") for t in texts):
        found = next(r for r in ruled if r)
        return [
            NearMiss(
                "tritonbench-g", 1, f"{python[0]} has a rule of {len(found[0])} `#`, and the rule is {len(RULE)} long"
            )
        ]
    whole = "\n".join(texts)
    if "pytest" in whole or ("result_gold" in whole and "_CALL_SUCCESS_" in whole):
        name = "rocmbench"
    else:
        name = "tritonbench-g" if "@triton.jit" in whole or "triton.language" in whole else "tritonbench-t"

    def read() -> Iterator[Outcome]:
        instructions = _instructions(glimpse)

        def make(file: str, origin: str) -> Sample:
            return _sample(glimpse, name, file, origin, instructions.get(PurePath(file).name, {}))

        for file in python:
            yield from attempt(make, file, file)

    return [Loader(name, 4, read)]


def _sample(glimpse: Glimpse, kind: str, file: str, origin: str, told: Mapping[str, Any]) -> Sample:
    text = read_text(glimpse.path / file)
    head, rule, test = text.partition(f"{RULE}\n")
    if not rule:
        raise RowError("malformed_row", f"has no line of {len(RULE)} `#` between implementation and test")
    name = PurePath(file).stem
    function, runner, calls = _called(head, test, name)
    task: Task | None = None
    if function and runner:
        task = taskbook.make(adapters.recorded(head, test, function, runner), name, file, origin=kind)
        cases = tuple(Case(f"call {i}", {"call": i}) for i in range(max(calls, 1)))
        device = "" if kind == "tritonbench-t" else "cuda"
        # the implementation of -G and ROCmBench is candidate and reference at once
        task = replace(task, spec=replace(task.spec, cases=cases, device=device), self_referenced=device != "")
    labels: dict[str, JsonValue] = {"operator": name.lower()}
    difficulty = told.get("difficulty")
    if isinstance(difficulty, (int, str)) and str(difficulty).isdigit():
        labels["difficulty"] = int(difficulty)
    said = next((told[k] for k in _INSTRUCTION_KEYS if isinstance(told.get(k), str)), "")
    claims = plain(told, "repo", "star", "name", "torch_cnt", "params_cnt")
    if kind == "tritonbench-t":  # what stands above the rule is the reference in torch, and no kernel
        return Sample("", "", origin, task, instruction=said, labels=labels, claims=claims)
    return Sample("", "", origin, task, files=(SourceFile("candidate.py", head.rstrip() + "\n"),), entry=function,
                  backend="triton", instruction=said, labels=labels, claims=claims)  # fmt: skip


def _called(head: str, test: str, stem: str) -> tuple[str, str, int]:
    """The function under test, the test that takes no arguments, and how many results it stores; "" where unknown."""
    try:
        defined = {n.name for n in parse_tree(head).body if isinstance(n, ast.FunctionDef) and not _is_kernel(n)}
        tree = parse_tree(test)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise TaskError(f"does not parse: {error}") from None
    for node in tree.body:
        if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.args.args):
            continue
        if node.decorator_list:
            continue
        calls = [c.func.id for c in ast.walk(node) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)]
        known = [c for c in calls if c in defined]
        if known:
            function = stem if stem in known else known[0]
            return function, node.name, known.count(function)
    return "", "", 0


def _is_kernel(node: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(d) for d in node.decorator_list)


def _instructions(glimpse: Glimpse) -> dict[str, Mapping[str, Any]]:
    """Records of the JSON files in the folder and in the one above it, by the name of the file they are about."""
    found: dict[str, Mapping[str, Any]] = {}
    beside = [p for p in sorted(glimpse.path.parent.iterdir()) if p.is_file()]
    inside = [glimpse.path / f for f in glimpse.files]
    for path in [*beside, *inside]:
        if not path.name.lower().endswith(ROW_SUFFIXES):
            continue
        for _, row in table.read(path):
            if isinstance(row, str):
                continue
            name = row.get("file") or row.get("filename")
            if isinstance(name, str):
                found.setdefault(PurePath(name).name, row)
    return found
