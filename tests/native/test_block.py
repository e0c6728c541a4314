"""Launch blocks: what is read, what is refused, and what launches follow from arrays."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.errors import CandidateFault
from kengine.native.binding import Arrays, bind_host, kernel_names, plan
from kengine.native.block import read_recipe

SCALE = "template <typename T> __global__ void scale(const T* x, T* y, float factor, int n) { }\n"
TWO = """
__global__ void part(const float* x, float* p, int n) { }
__global__ void last(const float* p, float* y, int m) { }
"""
X, Y = np.zeros((4, 100), np.float32), np.zeros((4, 100), np.float32)


def arrays(*inputs, outputs=(Y,), **state) -> Arrays:
    return Arrays(inputs or (X,), outputs, state, lambda dtype, shape: np.full(shape, np.nan, dtype))


def test_arguments_by_name() -> None:
    recipe = read_recipe(
        {"grid": "ceil_div(n, 256)", "block": 256, "shared": "block_x * 4", "inputs": ("x",), "outputs": ("y",),
         "sizes": {"n": "x.numel()"}, "args": ("x", "y", "0.5", "n"), "kernel": "scale<{x}>"}, "scale")  # fmt: skip
    (step,) = plan(recipe, SCALE, "cuda", arrays())
    assert step.kernel == "scale<float>"
    assert (step.configuration.grid, step.configuration.block) == ((2, 1, 1), (256, 1, 1))
    assert step.configuration.shared == 1024
    assert step.arguments[0] is X and step.arguments[1] is Y and step.arguments[2:] == (0.5, 400)


def test_arguments_by_the_signature_alone() -> None:
    recipe = read_recipe({"grid": "ceil_div(x.numel(), 64)", "block": "64", "sizes": {"n": "x.numel()"}}, "scale")
    (step,) = plan(recipe, SCALE, "cuda", arrays(X, 2.5))
    assert step.arguments[0] is X and step.arguments[1] is Y
    assert step.arguments[2:] == (2.5, 400)
    assert step.configuration.grid == (7, 1, 1)


def test_what_is_written_in_place_is_an_input() -> None:
    recipe = read_recipe({"grid": 1, "block": 1, "sizes": {"n": "x.numel()"}}, "f")
    (step,) = plan(recipe, "__global__ void f(float* x, int n) { }", "cuda", arrays(X, outputs=()))
    assert step.arguments[0] is X and step.arguments[1] == 400


def test_several_launches_and_scratch() -> None:
    recipe = read_recipe(
        {"inputs": ("x",), "outputs": ("y",), "scratch": {"p": {"dtype": "float32", "shape": ("x.shape[0]", 8)}},
         "launch": ({"kernel": "part", "grid": "x.shape[0]", "block": (32, 2), "args": ("x", "p", "x.shape[1]")},
                    {"kernel": "last", "grid": 1, "block": 32, "args": ("p", "y", "p.numel()")})}, "part")  # fmt: skip
    first, second = plan(recipe, TWO, "cuda", arrays())
    assert first.kernel == "part" and first.configuration.block == (32, 2, 1)
    assert first.arguments[1] is second.arguments[0] and first.arguments[1].shape == (4, 8)
    assert second.arguments[2] == 32


@pytest.mark.parametrize(("dtype", "name"), [("float16", "__half"), ("int64", "long long"), ("float64", "double")])
def test_types_of_elements(dtype: str, name: str) -> None:
    recipe = read_recipe({"kernel": "scale<{x}, {n}>", "grid": 1, "block": 1, "inputs": ("x",), "outputs": ("y",),
                          "sizes": {"n": "x.shape[1] // 4"}}, "scale")  # fmt: skip
    assert kernel_names(recipe, SCALE, "cuda", arrays(X.astype(dtype))) == (f"scale<{name}, 25>",)


def test_bfloat16_is_named_as_the_vendor_does() -> None:
    torch = pytest.importorskip("torch")
    recipe = read_recipe({"kernel": "scale<{x}>", "grid": 1, "block": 1, "inputs": ("x",), "outputs": ("y",)}, "scale")
    given = arrays(torch.zeros(4, dtype=torch.bfloat16))
    assert kernel_names(recipe, SCALE, "cuda", given) == ("scale<__nv_bfloat16>",)
    assert kernel_names(recipe, SCALE, "hip", given) == ("scale<__hip_bfloat16>",)


def test_parameters_of_a_module_have_names() -> None:
    recipe = read_recipe({"grid": "fc_weight.numel()", "block": 1, "inputs": ("x",), "outputs": ("y",),
                          "args": ("x", "fc_weight", "y")}, "f")  # fmt: skip
    weight = np.ones(3, np.float32)
    (step,) = plan(recipe, "", "cuda", arrays(X, **{"fc.weight": weight}))
    assert step.arguments[1] is weight and step.configuration.grid == (3, 1, 1)


def test_host_functions() -> None:
    with pytest.raises(CandidateFault, match="grid: the entry 'run' is a host function"):
        read_recipe({"grid": 1}, "run", launches_itself=True)
    source = "__global__ void k(float* y) { }\nvoid run(const float* x, float* y, int n) { k<<<1, 1>>>(y); }"
    recipe = read_recipe({"sizes": {"n": "x.numel()"}}, "run", launches_itself=True)
    assert bind_host(source, "run", recipe, arrays())[2] == 400


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"block": 1}, "grid: missing"),
        ({"grid": 1}, "block: missing"),
        ({"grid": 1, "block": 1, "gird": 2}, "gird: unknown key; did you mean 'grid'?"),
        ({"grid": (1, 1, 1, 1), "block": 1}, "grid: want one to three"),
        ({"grid": True, "block": 1}, "grid[0]: True is not an expression"),
        ({"grid": 1, "block": 1, "inputs": ("x", "x")}, "inputs: a name stands there twice"),
        ({"grid": 1, "block": 1, "inputs": ("a b",)}, "inputs: 'a b' is not a name"),
        ({"grid": 1, "block": 1, "scratch": {"p": {"dtype": "f32", "shape": (1,)}}}, "scratch.p.dtype: 'f32'"),
        ({"launch": (), }, "launch: want 1 to"),
        ({"launch": ({"grid": 1, "block": 1},), "grid": 1}, "grid: stands beside"),
        ({"launch": ({"grid": 1, "block": 1, "argz": ()},)}, "launch[0].argz: unknown key; did you mean 'args'?"),
    ],
)  # fmt: skip
def test_what_is_refused_when_it_is_read(options, problem: str) -> None:
    with pytest.raises(CandidateFault) as caught:
        read_recipe(options, "scale")
    assert caught.value.status == "compile_failed" and problem in caught.value.message


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"grid": "m", "block": 1}, "grid: 'm': no value is called 'm'"),
        ({"grid": "0 - 1", "block": 1}, "is -1, below 0"),
        ({"grid": "1 / 2", "block": 1}, "is 0.5, not a whole number"),
        ({"grid": 1, "block": 1}, "no value for parameter 'factor' of scale"),
        ({"grid": 1, "block": 1, "inputs": ("x", "w")}, "names 2 inputs (x, w), the task has 1"),
        ({"grid": 1, "block": 1, "args": ("x + 1",), "inputs": ("x",)}, "args[0]: 'x + 1'"),
    ],
)
def test_what_is_refused_when_it_is_put_on_inputs(options, problem: str) -> None:
    with pytest.raises(CandidateFault) as caught:
        plan(read_recipe(options, "scale"), SCALE, "cuda", arrays())
    assert caught.value.status == "launch_failed" and problem in caught.value.message
