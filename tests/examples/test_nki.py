"""The shipped NKI examples get exactly the status that they say of themselves, on the interpreter."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from kengine import Engine, Status, tasks

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "nki"
EXPECTED = {
    "vector_add": Status.passed,
    "vector_add_whole_tiles": Status.launch_failed,
    "rmsnorm": Status.passed,
    "rmsnorm_subtracts_mean": Status.wrong_result,
    "matmul": Status.passed,
    "matmul_whole_contraction": Status.compile_failed,
    "softmax": Status.passed,
    "softmax_overflows": Status.wrong_result,
    "flash_attention": Status.passed,
    "flash_attention_stale_maximum": Status.wrong_result,
    "old_rmsnorm": Status.passed,
    "old_rmsnorm_unmasked": Status.launch_failed,
    "old_matmul": Status.passed,
    "old_matmul_overwrites": Status.wrong_result,
}

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ml_dtypes") is None, reason="needs ml_dtypes: pip install 'kernel-engine[nki]'"
)


@pytest.fixture(scope="module")
def verdict_of():
    """Verdicts by name, each reached once, lint rules included."""
    found = {}
    with Engine(backend="nki") as engine:

        def judge(name):
            if name not in found:
                path = FOLDER / f"{name}.py"
                if "import torch" in path.read_text() and importlib.util.find_spec("torch") is None:
                    pytest.skip("its task is written with torch")
                found[name] = engine.verify(tasks.load([path]))
            return found[name]

        yield judge


def test_every_example_has_an_expected_status() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)


def test_every_right_example_has_a_wrong_sibling() -> None:
    right = {name for name, status in EXPECTED.items() if status is Status.passed}
    for name in right:
        siblings = [n for n in EXPECTED if n.startswith(name + "_")]
        assert siblings and all(EXPECTED[n] is not Status.passed for n in siblings)
    subjects = {"vector_add", "rmsnorm", "matmul", "softmax", "flash_attention"}
    assert {name.removeprefix("old_") for name in right} == subjects
    assert sum(name.startswith("old_") for name in right) == 2


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_status(verdict_of, name) -> None:
    verdict = verdict_of(name)
    assert verdict.status is EXPECTED[name], verdict.message
    assert verdict.emulated and verdict.self_referenced and str(verdict.target) == "nki:sim"


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_example_says_its_status_itself(name) -> None:
    text = (FOLDER / f"{name}.py").read_text().split('"""')[1]
    if EXPECTED[name] is Status.passed:
        assert "Passes." in text
    else:
        assert re.search(rf"Expected: {EXPECTED[name]}\.", text)


@pytest.mark.parametrize("name", sorted(n for n, status in EXPECTED.items() if status is Status.passed))
def test_the_older_api_is_used_where_the_name_says_so(name) -> None:
    text = (FOLDER / f"{name}.py").read_text()
    assert ("import neuronxcc.nki" in text) == name.startswith("old_")
    assert ("import nki\n" in text) != name.startswith("old_")


@pytest.mark.parametrize(
    ("name", "part", "telling"),
    [
        ("vector_add_whole_tiles", "src=x[start:stop, :]", "index range [256, 383] exceed dimension size of 300"),
        ("matmul_whole_contraction", "left = nl.ndarray((k_size, m_size)", "number of partitions 256 exceed"),
        ("old_rmsnorm_unmasked", "tile = nl.load(x[i * 128 + p, f])", "index range [256, 383] exceed dimension size"),
    ],
)
def test_a_refusal_names_the_kernels_own_line(verdict_of, name, part, telling) -> None:
    verdict = verdict_of(name)
    assert telling in verdict.message
    assert part in verdict.candidate.main.text.splitlines()[verdict.line - 1]
    assert verdict.stage == ("compile" if verdict.status is Status.compile_failed else "launch")


def test_the_race_of_the_wrong_loop_is_told(verdict_of) -> None:
    (artifact,) = verdict_of("old_matmul_overwrites").stages.compile.artifacts
    assert "reverse order" in artifact.kernels[0].details["race"]


def test_the_overflow_shows_on_large_values_only(verdict_of) -> None:
    results = {c.case: c.ok for c in verdict_of("softmax_overflows").stages.compare.comparisons}
    assert list(results.values()) == [True, False]
    assert "got nan" in verdict_of("softmax_overflows").message


def test_rmsnorm_is_the_task_of_the_triton_example() -> None:
    def functions(path: Path) -> list[str]:
        text = path.read_text()
        return re.findall(r"^def (?:make_inputs|reference)\(.*?(?=^\S)", text, re.MULTILINE | re.DOTALL)

    triton = FOLDER.parent / "triton" / "rmsnorm" / "one_row.py"
    assert functions(FOLDER / "rmsnorm.py") == functions(triton) != []
