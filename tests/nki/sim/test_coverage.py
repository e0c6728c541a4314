"""The coverage table, the signatures, and the generated page."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from kengine_nki.sim.coverage import coverage, render
from kengine_nki.sim.facade.signatures import load_api
from kengine_nki.sim.loader import modules

ROOT = Path(__file__).resolve().parents[3]
FREE_KEYWORDS = {"affine_range", "sequential_range", "static_range", "arange", "ds"}


def test_every_supported_function_has_a_formula() -> None:
    assert [e.full_name for e in coverage() if e.supported and not e.formula] == []


def test_unsupported_functions_say_why() -> None:
    unsupported = [e for e in coverage() if not e.supported]
    assert all(e.note for e in unsupported)
    assert {e.full_name for e in unsupported if e.module != "collectives"} == {
        "nki.isa.rand_get_state", "nki.isa.topk", "neuronxcc.nki.language.all_reduce",
        "neuronxcc.nki.isa.builtin_custom_op",
    }  # fmt: skip


def test_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "nki-functions.md").read_text(encoding="utf-8") == render()
    script = ROOT / "scripts" / "nki_coverage.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("generation", ["new", "old"])
@pytest.mark.parametrize("module", ["language", "isa"])
def test_signatures_are_the_official_ones(generation: str, module: str) -> None:
    facade = modules()[f"{'nki' if generation == 'new' else 'neuronxcc.nki'}.{module}"]
    for name, entry in load_api()[generation][module].items():
        value = vars(facade)[name]
        if entry["kind"] != "function" or hasattr(value, "unsupported") or name in FREE_KEYWORDS:
            continue
        params = inspect.signature(value).parameters
        assert [n for n, p in params.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == entry["params"], name
        assert [n for n, p in params.items() if p.kind is p.KEYWORD_ONLY] == entry["keyword_only"], name
        required = {n for n, p in params.items() if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
        assert required == set(entry["required"]), name


@pytest.mark.parametrize("generation", ["new", "old"])
def test_constants_and_classes_exist(generation: str) -> None:
    root = "nki" if generation == "new" else "neuronxcc.nki"
    for module, names in load_api()[generation].items():
        for name, entry in names.items():
            value = vars(modules()[f"{root}.{module}"])[name]
            for member in entry.get("members", []):
                if name == "NkiTensor":
                    continue
                assert hasattr(value, member), f"{module}.{name}.{member}"


def test_tensor_has_the_official_members() -> None:
    from kengine_nki.sim.tensor_new import NewTensor

    members = load_api()["new"]["language"]["NkiTensor"]["members"]
    assert [m for m in members if not hasattr(NewTensor, m)] == []
