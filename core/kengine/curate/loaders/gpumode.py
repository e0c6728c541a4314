"""GPU MODE problems: a folder with `task.yml`, `reference.py` (ref_kernel, generate_input) and submissions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from kengine.curate import adapters, taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, attempt
from kengine.curate.record import Outcome, Sample
from kengine.errors import UsageError
from kengine.model import Case, SourceFile, Task
from kengine.syntax import parse_tree
from kengine.tasks.source import read_text

_LOCAL = ("task", "utils", "reference", "submission")

_TYPES = re.compile(r"^from task import ([\w, ]+)$", re.MULTILINE)

_INPUTS = """

def make_inputs(seed, device, **test):
    global _device
    _device = str(device)
    return (_place(generate_input(**test, seed=seed), device),)


def reference(data):
    return ref_kernel(data)
"""


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Folders with at least one task.yml that has tests, and reference.py beside it."""
    problems = [f for f in glimpse.files if PurePath(f).name in ("task.yml", "task.yaml")]
    if not problems:
        return []
    lacking = [f for f in problems if not (glimpse.path / f).with_name("reference.py").exists()]
    if len(lacking) == len(problems):
        return [NearMiss("gpu-mode", 2, f"there is no reference.py beside {lacking[0]}")]
    first = _yaml(glimpse.path / problems[0])
    if "tests" not in first:
        return [NearMiss("gpu-mode", 2, f"{problems[0]} lacks the field 'tests'")]

    def make(file: str, origin: str) -> list[Sample]:
        return list(_problem(glimpse, file))

    def read() -> Iterator[Outcome]:
        for file in problems:
            yield from attempt(make, file, file)

    return [Loader("gpu-mode", 4, read)]


def _problem(glimpse: Glimpse, file: str) -> Iterator[Sample]:
    folder = (glimpse.path / file).parent
    spec = _yaml(glimpse.path / file)
    name = folder.name if folder.name else "problem"
    task = _task(folder, spec, name)
    language = "cuda" if spec.get("lang") == "cu" else "triton"
    base = PurePath(file).parent
    solutions = [
        f for f in glimpse.files
        if PurePath(f).is_relative_to(base) and re.match(r"(?:submissions?|solutions?)(?:[_-].*)?(?:/|\.py$|\.cu$)",
                                                         str(PurePath(f).relative_to(base)))
        and f.endswith((".py", ".cu"))
    ]  # fmt: skip
    labels = {"operator": name.lower()}
    yield Sample("", "", file, task, labels=labels)
    for solution in solutions:
        code = _TYPES.sub(_untyped, read_text(glimpse.path / solution))
        backend = "cuda" if solution.endswith(".cu") or "load_inline" in code else language
        yield Sample("", "", solution, task, files=(SourceFile("candidate" + PurePath(solution).suffix, code),),
                     entry="custom_kernel", backend=backend, labels=labels)  # fmt: skip


def _task(folder: Path, spec: Mapping[str, Any], name: str) -> Task:
    parts = [_part(folder, spec, name) for name in ("task.py", "utils.py", "reference.py")]
    body = "\n\n\n".join(_without_local_imports(read_text(p)) for p in parts if p.exists())
    if "def ref_kernel" not in body or "def generate_input" not in body:
        raise RowError("broken_task", "reference.py defines no ref_kernel or no generate_input")
    said = spec.get("description")
    head = ""
    if isinstance(said, str) and said.strip():
        head = ast.unparse(ast.Module([ast.Expr(ast.Constant(said.strip()))], [])) + "\n\n"
    text = f'{head}_device = "cpu"\n\n\n{body}\n\n{adapters.PLACE}{_INPUTS}'
    tests = spec.get("tests")
    if not isinstance(tests, list) or not tests or not all(isinstance(t, dict) for t in tests):
        raise RowError("broken_task", "field 'tests': want a list of objects")
    cases: list[Case] = []
    for test in tests:
        params = {k: v for k, v in test.items() if k != "seed"}
        if not all(isinstance(v, (bool, int, float, str)) for v in params.values()):
            raise RowError("broken_task", "field 'tests': want numbers and texts as values")
        label = ",".join(f"{k}={v}" for k, v in params.items()) or "default"
        if label not in (c.name for c in cases):
            cases.append(Case(label, params))
    task = taskbook.make(text, name, "reference.py", origin="GPU MODE")
    timeout = spec.get("test_timeout")
    seconds = float(timeout) if isinstance(timeout, (int, float)) and timeout > 0 else None
    return replace(task, spec=replace(task.spec, cases=tuple(cases), timeout_s=seconds))


def _untyped(found: re.Match[str]) -> str:
    """The import of task.py's types, without that file: a candidate stands alone, and they only annotate."""
    return "from typing import " + ", ".join(f"Any as {name.strip()}" for name in found[1].split(",") if name.strip())


def _part(folder: Path, spec: Mapping[str, Any], name: str) -> Path:
    """Where `files` of a task.yml says that a file lies: beside it, or in the folder above, as those of several do."""
    files = spec.get("files")
    for entry in files if isinstance(files, list) else ():
        source = entry.get("source") if isinstance(entry, dict) and entry.get("name") == name else None
        if isinstance(source, str) and PurePath(source).parent in (PurePath(), PurePath("..")):
            return folder / source
    return folder / name


def _without_local_imports(text: str) -> str:
    """The text without imports of its neighbours, `from __future__`, and with "cuda" in terms of the case's device."""
    try:
        tree = parse_tree(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RowError("broken_task", f"does not parse: {error}") from None
    kept = [
        node for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and (node.level or (node.module or "") in (*_LOCAL, "__future__")))
        and not (isinstance(node, ast.Import) and any(a.name in _LOCAL for a in node.names))
    ]  # fmt: skip
    return ast.unparse(adapters.move_device(ast.Module(kept, [])))


def _yaml(path: Path) -> Mapping[str, Any]:
    try:
        import yaml
    except ImportError:
        raise UsageError(
            f"{path}: YAML needs PyYAML, which is not installed: pip install 'kernel-engine[curate]'"
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Takes tags of other programs as plain text."""

    Loader.add_multi_constructor("!", lambda loader, suffix, node: str(node.value))
    try:
        value = yaml.load(read_text(path), Loader)
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: want a mapping, got {type(value).__name__}")
    return value
