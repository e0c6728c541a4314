"""The two corpora of extension candidates: loading one, its inputs, and what it must compute."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

HERE = Path(__file__).resolve().parents[1] / "extension"
FIRST = tuple(sorted(p.stem for p in (HERE / "corpus").glob("*.py")))
SECOND = tuple(sorted(p.stem for p in (HERE / "corpus" / "second").glob("*.py")))

WHOLE = bool(os.environ.get("KENGINE_TEST_WHOLE_CORPUS"))
"""Set to test all candidates in every way; without it, the slower ways take a sample."""


def import_file(path: Path, name: str | None = None) -> ModuleType:
    """Import a file under a name that nothing else has."""
    known = name or path.stem
    spec = importlib.util.spec_from_file_location(known, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if name:
        sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


first_references = import_file(HERE / "references.py", "extension_references")
second_references = import_file(HERE / "second_references.py", "extension_second_references")


@dataclass
class Run:
    """A candidate's answer on its inputs, what is expected, and the extensions that it built."""

    actual: Any
    expected: Any
    tolerance: float
    extensions: list[Any]


def run(name: str) -> Run:
    """Load a candidate of either corpus under what `kengine.extension.install` says, and call it once."""
    torch.manual_seed(0)
    if name in FIRST:
        reference = first_references.make(first_references.operator_of(name))
        module = import_file(HERE / "corpus" / f"{name}.py")
        candidate = module.ModelNew(*reference.arguments)
        first_references.share_parameters(candidate, reference.module)
        inputs, tolerance = reference.inputs, reference.tolerance
        with torch.no_grad():
            expected = reference.module(*inputs)
    else:
        function, inputs, arguments, tolerance = second_references.make(name)
        module = import_file(HERE / "corpus" / "second" / f"{name}.py")
        candidate = module.ModelNew(*arguments)
        parameters = [p.detach() for p in candidate.parameters()] + list(candidate.buffers())
        with torch.no_grad():
            expected = function(*_cloned(inputs), *parameters)
    actual = candidate(*_cloned(inputs)).detach()
    built = [v for v in vars(module).values() if type(v).__name__ == "Extension"]
    return Run(actual, expected, tolerance, built)


def collect(file: Path) -> list[Any]:
    """The sources of the extensions that a candidate asks for, of which nothing is built."""
    from kengine.native.unrun import collecting

    found: dict[int, Any] = {}
    with collecting(lambda _unit, sources: found.setdefault(id(sources), sources), "cuda"):
        import_file(file)
    return list(found.values())


@dataclass
class Answer:
    """A candidate's answer, byte by byte, and the headers that its extensions were built with."""

    paths: set[str]
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    content: bytes


def answer(name: str, settings: Any) -> Answer:
    """What `run` gives in a process of its own, whose extensions are built by these settings: operators that two
    libraries register under one name would end it."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_answer, (name, settings))


def _answer(name: str, settings: Any) -> Answer:
    from kengine.extension import builder, install

    torch.set_num_threads(1)
    build = builder.build
    paths: set[str] = set()

    def noted(sources: Any, how: Any) -> Any:
        made = build(sources, how)
        paths.add(made.path)
        return made

    builder.build = noted  # type: ignore[assignment]
    install(settings)
    actual = run(name).actual
    content = bytes(actual.contiguous().flatten().view(torch.uint8).numpy())
    return Answer(paths, str(actual.dtype), tuple(actual.shape), tuple(actual.stride()), content)


def _cloned(inputs: tuple[Any, ...]) -> list[Any]:
    return [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
