"""What host wrappers do around their kernels, on the interpreter: tuning, devices, several kernels, modules."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from triton_candidates import ADD, DESTINATION, HEURISTIC, HONEST_CALLS, MODULE, NESTED, PERSISTENT, SEVERAL, TUNED

X = torch.arange(1000, dtype=torch.float32)


def test_autotune(judge: Any) -> None:
    answer = judge.interpret(TUNED, X)
    assert torch.equal(answer.value, X + 1)
    (launch,) = answer.launches
    assert (launch.kernel, launch.count) == ("kernel", 1) and launch.grid in [(16,), (8,), (4,)]


def test_autotune_in_every_mode(judge: Any) -> None:
    assert judge.interpret(TUNED, X, modes=("noop",)).value.isnan().all()
    assert "was refused" in judge.interpret(TUNED, X, modes=("raise",)).message


def test_autotune_finds_the_wrong_configuration(judge: Any) -> None:
    source = TUNED.replace("mask=i < n) + 1, mask=i < n)", "mask=i < n) + 1, mask=(i < n) | (BLOCK == 256))")
    answer = judge.interpret(source, X)
    assert answer.status == "launch_failed"
    assert "store of 4 bytes at byte offset 4000 of argument 'y_ptr' (4000 bytes), 24 of 256" in answer.message


def test_every_question_has_another_configuration(judge: Any) -> None:
    source = TUNED.replace("+ 1, mask=i < n)", "+ BLOCK, mask=i < n)").replace("for w in (2, 4)", "for w in (4,)")
    source = source.replace("def candidate(x):", "def one(x):") + (
        "\ndef candidate(x):\n    return tuple(one(x[:n].clone())[0] for n in (1000, 900, 800, 1000, 900, 800))\n"
    )
    values = [int(value) for value in judge.interpret(source, X).values]
    assert sorted(values[:3]) == [64, 128, 256] and values[3:] == values[:3]


def test_configurations_take_turns() -> None:
    from kengine_triton.interpret.autotune import turn

    assert [turn(n, 3, 4) for n in range(5)] == [1, 2, 0, 1, 2]
    assert turn(7, 1) == 0


def test_autotune_with_restored_arguments(judge: Any) -> None:
    source = (
        TUNED.replace('key=["n"]', 'key=["n"], restore_value=["x_ptr"], reset_to_zero=["y_ptr"]')
        .replace("y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1", "y_ptr + i, tl.load(y_ptr + i, mask=i < n) + 1")
        .replace("empty_like", "zeros_like")
    )
    assert torch.equal(judge.interpret(source, X).value, torch.ones(1000))


@pytest.mark.parametrize(
    "source, expected, names",
    [
        (HEURISTIC, X + 1, ["kernel"]),
        (NESTED, X + 1, ["kernel"]),
        (SEVERAL, (X + 1) * 8, ["kernel", "double"]),
    ],
    ids=["heuristics", "nested", "several"],
)
def test_structures(judge: Any, source: str, expected: torch.Tensor, names: list[str]) -> None:
    answer = judge.interpret(source, X)
    assert torch.equal(answer.value, expected)
    assert [launch.kernel for launch in answer.launches] == names
    if len(names) == 2:
        assert answer.launches[1].count == 3
        assert answer.launches[1].grid == (4,)


def test_destination_passing(judge: Any) -> None:
    answer = judge.interpret(DESTINATION, X, destination=(torch.full((1000,), float("nan")),))
    assert torch.equal(answer.value, X + 1)


def test_module(judge: Any) -> None:
    state = {"scale": torch.full((1000,), 5.0), "kept": torch.full((1000,), 2.0)}
    answer = judge.interpret(MODULE, X, entry="ModelNew", form="module", init=(3.0,), state=state)
    assert torch.equal(answer.value, 3 + X * 5)


def test_several_calls_of_one_candidate(judge: Any) -> None:
    answer = judge("triton:interpret", TUNED, [X], [X[:77].clone()], modes=("normal", "noop", "normal"))
    runs = answer.reply["runs"]
    assert torch.equal(runs[0][0][0], X + 1)
    assert torch.equal(runs[1][0][0], X[:77] + 1)
    assert runs[2][0][0].isnan().all()
    assert torch.equal(runs[4][0][0], X + 1)


def test_in_place(judge: Any) -> None:
    source = ADD + "def candidate(x):\n    kernel[(8,)](x, x, x.numel(), BLOCK=128)\n    return x\n"
    answer = judge.interpret(source, X)
    assert torch.equal(answer.value, X + 1)
    assert torch.equal(answer.arguments[0], X + 1)


def test_honest_calls_need_no_device(judge: Any) -> None:
    assert torch.equal(judge.interpret(HONEST_CALLS, X).value, X + 1)


def test_tensor_without_a_device_is_refused_as_on_a_chip(judge: Any) -> None:
    source = (
        ADD
        + """
def candidate(x):
    y = torch.empty(x.shape)
    kernel[(8,)](x, y, x.numel(), BLOCK=128)
    return y
"""
    )
    answer = judge.interpret(source, X)
    assert answer.status == "launch_failed"
    assert "Pointer argument 'y_ptr' cannot be accessed from Triton (cpu tensor?)" in answer.message
    assert answer.line == 3 + source.splitlines().index("    kernel[(8,)](x, y, x.numel(), BLOCK=128)") + 1
    compiled = judge.compile("sm_90", source, X)
    assert compiled.status == "launch_failed"
    assert "Pointer argument 'y_ptr'" in compiled.message


def test_graphs_cannot_be_judged(judge: Any) -> None:
    answer = judge.interpret("def candidate(x):\n    g = torch.cuda.CUDAGraph()\n    return x", X)
    assert answer.status == "unsupported"
    assert "CUDA graph" in answer.message


def test_wrong_arguments_of_a_kernel(judge: Any) -> None:
    source = ADD + "def candidate(x):\n    kernel[(8,)](x, torch.empty_like(x), BLOCK=128)\n"
    answer = judge.interpret(source, X)
    assert answer.status == "launch_failed"
    assert "'n'" in answer.message
    assert answer.line == 10


def test_grid_sized_by_a_warm_up(judge: Any) -> None:
    x = torch.randn(300, 70)
    answer = judge.interpret(PERSISTENT, x)
    torch.testing.assert_close(answer.value, x.softmax(1))
    assert answer.launches[0].grid == (300,)
    (kernel,) = judge.compile("sm_90", PERSISTENT, x).artifact.kernels
    assert kernel.details["num_warps"] == 8


def test_grid_of_nothing(judge: Any) -> None:
    source = (
        ADD + "def candidate(x):\n    y = torch.zeros_like(x)\n    kernel[(0,)](x, y, 0, BLOCK=128)\n    return y\n"
    )
    assert judge.interpret(source, X).value.tolist() == [0.0] * 1000
