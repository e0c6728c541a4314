"""Real compiles for chips that are not here, of exactly what the wrapper launches."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest
import torch
from kengine_triton.chips import CHIPS
from triton_candidates import ADD, HEURISTIC, HONEST_CALLS, MODULE, NESTED, SEVERAL, TUNED, matmul

X = torch.arange(1000, dtype=torch.float32)
VERSION = tuple(map(int, metadata.version("triton").split(".")[:2]))

A = torch.zeros((256, 256), dtype=torch.float16)


@pytest.mark.parametrize("arch", CHIPS)
def test_every_chip(judge: Any, arch: str) -> None:
    if VERSION < (3, 4) and arch in ("gfx950", "sm_120"):
        pytest.skip("this Triton is older than the chip")
    artifact = judge.compile(arch, matmul(64, 64, 32), A, A).artifact
    (kernel,) = artifact.kernels
    assert kernel.name == "matmul"
    assert str(artifact.target) == f"triton:{arch}"
    assert 16 <= kernel.registers <= 512
    assert kernel.spills == 0
    assert 1024 <= kernel.shared_bytes <= CHIPS[arch].shared_block
    assert 0 < kernel.occupancy <= 1
    assert kernel.details["num_warps"] == 4
    assert artifact.details["launches"] == ("matmul[4, 4] x1",)
    assert artifact.log


def test_small_dot_is_refused_by_the_chip_only(judge: Any) -> None:
    source = matmul(4, 4, 4)
    assert judge.interpret(source, A[:4, :4].clone(), A[:4, :4].clone()).value.tolist() == [[0.0] * 4] * 4
    answer = judge.compile("sm_90", source, A[:4, :4].clone(), A[:4, :4].clone())
    assert answer.status == "compile_failed"
    assert "K >= 16" in answer.message
    assert answer.line == 3 + source.splitlines().index("        acc = tl.dot(a, b, acc)") + 1


def test_out_of_shared_memory_names_the_chip(judge: Any) -> None:
    source = matmul(128, 128, 128, stages=3)
    assert judge.compile("sm_90", source, A, A).artifact.kernels[0].shared_bytes > 102400
    answer = judge.compile("sm_120", source, A, A) if VERSION >= (3, 4) else judge.compile("gfx942", source, A, A)
    assert answer.status == "compile_failed"
    assert answer.message.startswith(
        "triton:sm_120: out of resource: shared memory" if VERSION >= (3, 4) else "triton:"
    )


def test_spills_are_counted(judge: Any) -> None:
    kernel = judge.compile("sm_80", matmul(128, 256, 32, warps=1, stages=2), A, A).artifact.kernels[0]
    assert kernel.spills > 0
    assert kernel.registers == 255


def test_occupancy_by_the_calculator(judge: Any) -> None:
    kernel = judge.compile(
        "sm_90", ADD + "def candidate(x):\n    kernel[(8,)](x, x, 1000, BLOCK=128)\n    return x\n", X
    )
    (record,) = kernel.artifact.kernels
    # 4 warps and few registers: 16 blocks of 4 warps fill all 64 warp slots.
    assert record.registers <= 32
    assert record.occupancy == 1.0


@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])
def test_every_configuration_of_a_tuned_kernel(judge: Any, arch: str) -> None:
    artifact = judge.compile(arch, TUNED, X).artifact
    assert len({kernel.details["num_warps"] for kernel in artifact.kernels}) == 2
    assert artifact.log.count("Compiling entry function") == 6 or arch == "gfx942"
    # What the wrapper launches after tuning is one launch.
    assert artifact.details["launches"] == ("kernel[16] x1",)


def test_configuration_without_room_is_dropped(judge: Any) -> None:
    source = (
        matmul(64, 64, 32)
        .replace(
            "@triton.jit",
            "@triton.autotune([triton.Config({'BM': 64, 'BN': 64, 'BK': 32}), "
            "triton.Config({'BM': 128, 'BN': 256, 'BK': 128}, num_stages=4)], key=['M'])\n@triton.jit",
        )
        .replace(", BM=64, BN=64, BK=32, num_warps=4, num_stages=3", "")
    )
    artifact = judge.compile("sm_80", source, A, A).artifact
    assert len(artifact.kernels) == 1
    assert artifact.kernels[0].shared_bytes < 100_000


def test_no_configuration_has_room(judge: Any) -> None:
    source = (
        matmul(64, 64, 32)
        .replace(
            "@triton.jit",
            "@triton.autotune([triton.Config({'BM': 256, 'BN': 128, 'BK': 128}, num_stages=4), "
            "triton.Config({'BM': 128, 'BN': 256, 'BK': 128}, num_stages=4)], key=['M'])\n@triton.jit",
        )
        .replace(", BM=64, BN=64, BK=32, num_warps=4, num_stages=3", "")
    )
    answer = judge.compile("sm_80", source, A, A)
    assert answer.status == "compile_failed"
    assert "out of resource: shared memory" in answer.message


@pytest.mark.parametrize(
    "source, names",
    [(HEURISTIC, ["kernel"]), (NESTED, ["kernel"]), (SEVERAL, ["kernel", "double"]), (HONEST_CALLS, ["kernel"])],
    ids=["heuristics", "nested", "several", "honest"],
)
def test_structures(judge: Any, source: str, names: list[str]) -> None:
    assert [kernel.name for kernel in judge.compile("sm_90", source, X).artifact.kernels] == names


def test_module_is_compiled(judge: Any) -> None:
    state = {"scale": torch.full((1000,), 5.0), "kept": torch.full((1000,), 2.0)}
    answer = judge.compile("sm_90", MODULE, X, entry="ModelNew", form="module", init=(3.0,), state=state)
    assert [kernel.name for kernel in answer.artifact.kernels] == ["kernel"]


def test_alignment_decides_what_is_compiled(judge: Any) -> None:
    source = (
        ADD
        + """
def candidate(x):
    y = torch.empty_like(x)
    kernel[(8,)](x, y, x.numel(), BLOCK=1024)
    return y
"""
    )
    aligned = judge.compile("sm_90", source, X[:992].clone()).artifact
    shifted = judge.compile("sm_90", source, torch.arange(1000.0)[1:993]).artifact
    both = judge("triton:sm_90", source, [X[:992].clone()], [torch.arange(1000.0)[1:993]]).artifact
    assert len(aligned.kernels) == len(shifted.kernels) == 1
    assert aligned.kernels != shifted.kernels
    assert both.kernels == aligned.kernels + shifted.kernels


def test_do_not_specialize(judge: Any) -> None:
    source = ADD.replace("@triton.jit", "@triton.jit(do_not_specialize=['n'])") + (
        "def candidate(x):\n    y = torch.empty_like(x)\n    for n in (1, 16, 999):\n"
        "        kernel[(8,)](x, y, n, BLOCK=128)\n    return y\n"
    )
    artifact = judge.compile("sm_90", source, X).artifact
    assert artifact.log.count("Compiling entry function") == 1
    specialised = judge.compile("sm_90", source.replace("(do_not_specialize=['n'])", ""), X).artifact
    assert specialised.log.count("Compiling entry function") == 3


def test_garbage_results_do_not_fail_a_compile(judge: Any) -> None:
    source = (
        ADD
        + """
def candidate(x):
    y = torch.empty_like(x)
    kernel[(8,)](x, y, x.numel(), BLOCK=128)
    if y.sum().item() != 500500:
        raise ValueError("the first kernel did not compute")
    kernel[(8,)](y, y, x.numel(), BLOCK=256)
    return y
"""
    )
    artifact = judge.compile("sm_90", source, X).artifact
    assert [kernel.name for kernel in artifact.kernels] == ["kernel"]
    assert artifact.note == (
        "the wrapper raised ValueError after 1 launches whose results are not computed here; "
        "what it launches after that was not compiled"
    )


def test_wrapper_that_raises_before_any_launch(judge: Any) -> None:
    answer = judge.compile("sm_90", "def candidate(x):\n    raise ValueError('not today')", X)
    assert answer.status == "launch_failed"
    assert "ValueError: not today" in answer.message
    assert answer.line == 5


def test_swallowed_compile_error_is_told(judge: Any) -> None:
    source = (
        ADD.replace("BLOCK: tl.constexpr", "BLOCK")
        + """
def candidate(x):
    try:
        kernel[(8,)](x, x, x.numel(), 128)
        return x
    except Exception:
        return x + 1
"""
    )
    answer = judge.compile("sm_90", source, X)
    assert answer.status == "compile_failed"
    assert "constexpr" in answer.message
    assert answer.line == 7


def test_no_kernel_is_noted(judge: Any) -> None:
    artifact = judge.compile("sm_90", "def candidate(x):\n    return x + 1", X).artifact
    assert artifact.kernels == ()
    assert artifact.note == "the wrapper launched no kernel"


@pytest.mark.parametrize(
    "statement, message",
    [
        ("y = x + undefined_name", "undefined_name is not defined"),
        ("y = tl.nonsense(x)", "nonsense"),
        ("y = torch.sin(x)", ""),
        ("tl.static_assert(BLOCK == 3, 'three')\n    y = x", "three"),
        ("y = x[0]", ""),
    ],
)
def test_compile_errors_have_message_and_line(judge: Any, statement: str, message: str) -> None:
    source = f"""
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    {statement}
    tl.store(x_ptr + i, y)

def candidate(x):
    kernel[(1,)](x, BLOCK=128)
    return x
"""
    answer = judge.compile("sm_90", source, X)
    assert answer.status == "compile_failed", answer.reply
    assert message in answer.message
    # Triton looks at what a kernel refers to before it has a place in its text: then the launch is the line.
    assert answer.line in ((9, 13) if "torch" in statement or "nonsense" in statement else (9,))
    assert answer.reply["fault"][2]


def test_error_in_a_nested_function_points_there(judge: Any) -> None:
    source = NESTED.replace("return x + amount", "return x + tl.arange(0, x)")
    answer = judge.compile("sm_90", source, X)
    assert answer.status == "compile_failed"
    assert answer.line == 7


def test_missing_entry(judge: Any) -> None:
    answer = judge.compile("sm_90", "def candidat(x):\n    return x", X)
    assert answer.status == "compile_failed"
    assert "does not define 'candidate'" in answer.message


def test_syntax_error(judge: Any) -> None:
    for target in ("triton:sm_90", "triton:interpret"):
        answer = judge(target, "def candidate(x:\n    return x", [X])
        assert answer.status == "compile_failed"
        assert "SyntaxError" in answer.message
        assert answer.line == 4
