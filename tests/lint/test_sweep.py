"""Lint over every honest kernel that the project holds: examples, benchmarks, golden kernels, the extension corpus."""
# ruff: noqa: E501 - specimens stand on one line each

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from kengine.lint.rule import Rule
from kengine.lint.rules import RULES
from kengine.lint.runner import RULE_FAILED, run
from kengine.model import Candidate, SourceFile, Target, Task
from kengine.testing.golden import find_kernels
from kengine_cuda.lint import RULES as CUDA
from kengine_hip.lint import RULES as HIP
from kengine_nki.lint import RULES as NKI
from kengine_triton.lint import RULES as TRITON

ROOT = Path(__file__).resolve().parents[2]
PACKS: dict[str, tuple[tuple[Rule, ...], str]] = {
    "triton": (TRITON, "triton:interpret"), "cuda": (CUDA, "cuda:cpu"), "hip": (HIP, "hip:gfx942"), "nki": (NKI, "nki:trn2"),
}  # fmt: skip
NO_KERNEL = {"framework_code.py", "sham.py", "model.py", "broken.py"}
"""Examples that are there to be refused, or that are tasks."""
DELEGATING = {"conv2d_im2col.py": 16, "linear_gelu_library_gemm.py": 16}
"""Extensions of the corpus that call `at::matmul` on activations, with the line: a task has to allow that."""
FUNCTION = Task("t", "function", "def reference(x, w): return x\ndef make_inputs(seed, device): return 1, 2\n")
MODULE = Task("m", "module", "class Model:\n    def forward(self, x): return x\n")


def rejected(text: str, backend: str, name: str = "k.py", task: Task | None = None) -> list[tuple[str, int]]:
    rules, target = PACKS[backend]
    suffix = name.rpartition(".")[2]
    language = {"cu": "cuda", "hip": "hip"}.get(suffix, "python")
    module = "class ModelNew" in text
    candidate = Candidate((SourceFile(name, text),), "ModelNew" if module else "candidate", language)  # type: ignore[arg-type]
    record = run(candidate, task or (MODULE if module else FUNCTION), Target.parse(target), (*RULES, *rules))
    assert RULE_FAILED not in {f.code for f in record.findings}, record.findings
    return [(f.code, f.line) for f in record.findings if f.severity == "reject"]


def examples() -> list[Path]:
    found = []
    for backend in PACKS:
        for path in sorted((ROOT / "examples" / backend).rglob("*")):
            if path.suffix in (".py", ".cu", ".hip") and path.name not in NO_KERNEL and "task" not in path.name:
                found.append(path)
    return found


@pytest.mark.parametrize("path", examples(), ids=lambda p: str(p.relative_to(ROOT / "examples")))
def test_examples(path: Path) -> None:
    backend = path.relative_to(ROOT / "examples").parts[0]
    assert rejected(path.read_text(), backend, path.name) == []


def test_kernels_of_the_benchmarks() -> None:
    spec = importlib.util.spec_from_file_location("benchmark_kernels", ROOT / "benchmarks" / "kernels.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_kernels"] = module
    try:
        spec.loader.exec_module(module)
        texts = [module.candidate(name, 0) for name in module.TASKS]
    finally:
        del sys.modules["benchmark_kernels"]
    assert len(texts) >= 8
    assert [found for text in texts for found in rejected(text, "triton")] == []


@pytest.mark.parametrize("backend", PACKS)
def test_golden_kernels(backend: str) -> None:
    kernels = find_kernels(f"kengine_{backend}.plugin")
    assert {"add_ok", "softmax_ok"} <= set(kernels)
    for name, golden in kernels.items():
        if name != "compile_error":
            assert rejected(golden.candidate, backend, golden.file) == [], name


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "extension" / "corpus").glob("*.py")), ids=lambda p: p.stem)
def test_extensions(path: Path) -> None:
    text = path.read_text()
    expected = [("KE401", DELEGATING[path.name])] if path.name in DELEGATING else []
    assert rejected(text, "cuda") == expected
    if expected:
        from dataclasses import replace

        allowing = replace(MODULE, spec=replace(MODULE.spec, allow=("aten::matmul",)))
        assert rejected(text, "cuda", task=allowing) == []


def test_good_fixtures_of_all_rules_are_rejected_by_none_of_their_kind() -> None:
    own = re.compile(r"(KE|KT|KC|KH)(\d{3})_ok")
    for folder, backend in (("lint", "triton"), ("cuda", "cuda"), ("hip", "hip")):
        for path in sorted((ROOT / "tests" / folder / "fixtures").glob("*_ok.*")):
            match = own.match(path.name)
            if match:
                codes = {code for code, _ in rejected(path.read_text(), backend, path.name)}
                assert match[1] + match[2] not in codes, path.name
