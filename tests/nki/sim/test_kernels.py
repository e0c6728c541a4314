"""Whole kernels of both generations against numpy, and wrong siblings that must differ."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kengine_nki.sim import Options, load, run_twice_and_compare, session
from sim_harness import random
from sim_kernels import NEW, OLD

SOURCES = {"new": NEW, "old": OLD}


def softmax(x: Any) -> Any:
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def attention(q: Any, k: Any, v: Any, causal: bool) -> Any:
    s = q.astype(np.float64) @ k.T.astype(np.float64) / np.sqrt(q.shape[1])
    if causal:
        s = np.where(np.tri(len(q), dtype=bool), s, -np.inf)
    return softmax(s) @ v.astype(np.float64)


def rms(x: Any, w: Any) -> Any:
    wide = x.astype(np.float64)
    return wide / np.sqrt((wide * wide).mean(1, keepdims=True) + 1e-6) * w.astype(np.float64)


CASES: dict[str, Any] = {
    "vector_add": (lambda d: [random(300, 70).astype(d), random(300, 70, seed=1).astype(d)],
                   lambda a, b: a.astype(np.float64) + b),
    "rms_norm": (lambda d: [random(300, 96).astype(d), random(96).astype(d)], rms),
    "tiled_matmul": (lambda d: [random(256, 256).astype(d), random(256, 1024).astype(d)],
                     lambda a, b: a.T.astype(np.float64) @ b.astype(np.float64)),
    "softmax": (lambda d: [random(300, 96).astype(d) * 4], softmax),
    "flash_attention": (lambda d: [random(256, 64, seed=i).astype(d) for i in range(3)],
                        lambda q, k, v: attention(q, k, v, True)),
}  # fmt: skip


@pytest.mark.parametrize("generation", ["new", "old"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("strict", [False, True])
def test_kernel(generation: str, name: str, strict: bool) -> None:
    make, reference = CASES[name]
    arrays = make(np.float32)
    kernel = getattr(load(SOURCES[generation], f"{generation}.py"), name)
    if strict and generation == "old" and name in ("vector_add", "rms_norm", "softmax"):
        pytest.skip("computes on rows that the masked load leaves unwritten, as old kernels may")
    with session(Options(strict=strict)) as run:
        out = kernel(*arrays)
    np.testing.assert_allclose(out, reference(*arrays), rtol=2e-4, atol=2e-4)
    assert out.dtype == np.float32
    assert run.warnings == []
    assert [launch.kernel for launch in run.launches] == [name]


@pytest.mark.parametrize("generation", ["new", "old"])
def test_attention_without_mask(generation: str) -> None:
    q, k, v = (random(256, 32, seed=i) for i in range(3))
    with session():
        out = load(SOURCES[generation], f"{generation}.py").flash_attention(q, k, v, causal=False)
    np.testing.assert_allclose(out, attention(q, k, v, False), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("generation", ["new", "old"])
@pytest.mark.parametrize("name", ["vector_add", "rms_norm", "softmax"])
def test_bfloat16(generation: str, name: str) -> None:
    make, reference = CASES[name]
    arrays = make(ml_dtypes.bfloat16)
    with session():
        out = getattr(load(SOURCES[generation], f"{generation}.py"), name)(*arrays)
    assert out.dtype == ml_dtypes.bfloat16
    want = np.asarray(reference(*arrays), np.float64)
    error = np.linalg.norm(out.astype(np.float64) - want) / np.linalg.norm(want)
    assert 1e-5 < error < 6e-3  # rounded to 8 bits, and no better


@pytest.mark.parametrize("generation", ["new", "old"])
@pytest.mark.parametrize("name", CASES)
def test_no_race_is_reported(generation: str, name: str) -> None:
    arrays = CASES[name][0](np.float32)
    kernel = getattr(load(SOURCES[generation], f"{generation}.py"), name)
    _, races, _ = run_twice_and_compare(kernel, arrays)
    assert races == []


WRONG = {
    ("new", "op=nl.greater_equal", "op=nl.greater"): "flash_attention",
    ("new", "operand0=1.0 / d,", "operand0=2.0 / d,"): "rms_norm",
    ("new", "nisa.reciprocal(dst=total, data=total)\n        nisa.tensor_scalar", "nisa.tensor_scalar"): "softmax",
    ("old", "axis=[1]) / d", "axis=[1]) / (d * 2)"): "rms_norm",
    ("old", "acc += nisa", "acc = nisa"): "tiled_matmul",
    ("old", "i_q >= j", "i_q > j"): "flash_attention",
}  # fmt: skip


@pytest.mark.parametrize("change", WRONG)
def test_wrong_sibling_differs(change: tuple[str, str, str]) -> None:
    generation, right, wrong = change
    name = WRONG[change]
    assert right in SOURCES[generation]
    make, reference = CASES[name]
    arrays = make(np.float32)
    with session():
        out = getattr(load(SOURCES[generation].replace(right, wrong), "wrong.py"), name)(*arrays)
    assert not np.allclose(out, reference(*arrays), rtol=1e-2, atol=1e-2)


def test_host_wrapper_and_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(random(130, 40))
    with session() as run:
        out = load(NEW, "new.py").host_softmax(x)
        half = load(NEW, "new.py").host_softmax(x.to(torch.bfloat16))
    assert isinstance(out, torch.Tensor) and out.dtype == torch.float32
    torch.testing.assert_close(out, torch.softmax(x, 1))
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), torch.softmax(x, 1), rtol=1e-2, atol=1e-2)
    assert [launch.kernel for launch in run.launches] == ["softmax", "softmax"]


def test_kernels_run_without_an_open_session() -> None:
    a, b = random(8, 8), random(8, 8, seed=1)
    np.testing.assert_array_equal(load(NEW, "new.py").vector_add(a, b), a + b)
