"""Sixty candidates as machines write them, over thirty operators, through the light headers under emulation."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from kengine.extension import Settings, install  # noqa: E402

FOLDER = Path(__file__).parent / "corpus"
CANDIDATES = sorted(p.stem for p in FOLDER.glob("*.py"))


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def references() -> ModuleType:
    name = "extension_references"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "references.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def installed(settings: Settings) -> Iterator[None]:
    undo = install(settings)
    yield
    undo()


def test_the_corpus_is_sixty_candidates_over_thirty_operators(references: ModuleType) -> None:
    assert len(CANDIDATES) == 60
    assert len({references.operator_of(c) for c in CANDIDATES}) == 30


@pytest.mark.parametrize("name", CANDIDATES)
def test_candidate_computes_its_operator(name: str, installed: None, references: ModuleType) -> None:
    torch.manual_seed(0)
    reference = references.make(references.operator_of(name))
    module = _import(FOLDER / f"{name}.py")
    candidate = module.ModelNew(*reference.arguments)
    references.share_parameters(candidate, reference.module)
    with torch.no_grad():
        expected = reference.module(*reference.inputs)
    actual = candidate(*[x.clone() for x in reference.inputs])
    assert actual.dtype == expected.dtype
    torch.testing.assert_close(actual.detach(), expected, rtol=reference.tolerance, atol=reference.tolerance)
    built = [v for v in vars(module).values() if type(v).__name__ == "Extension"]
    assert all(e.path == "light" for e in built)
