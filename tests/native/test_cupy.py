"""The facade of CuPy: kernels of every kind, arguments as a driver takes them, and what is refused by name."""

from __future__ import annotations

import pytest
from kengine.errors import CandidateFault
from kengine.model import Mode

torch = pytest.importorskip("torch")

HEAD = '''import cupy as cp
import numpy as np
import torch

SOURCE = r"""
extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
"""
'''
SCALE = (
    HEAD
    + """
KERNEL = cp.RawKernel(SOURCE, "scale")

def candidate(x):
    y = torch.empty_like(x)
    KERNEL((4,), (64,), (cp.from_dlpack(x), cp.from_dlpack(y), {factor}, {n}))
    return y
"""
)
X = torch.arange(200, dtype=torch.float32)


def scale(factor: str = "cp.float32(2)", n: str = "x.numel()") -> str:
    return SCALE.replace("{factor}", factor).replace("{n}", n)


def fault(run, *args, **given) -> CandidateFault:
    with pytest.raises(CandidateFault) as caught:
        run(*args, **given)
    return caught.value


def test_a_raw_kernel(call) -> None:
    called = call(scale(), X)
    assert torch.equal(called.value, 2 * X)
    assert [(launch.kernel, launch.grid, launch.count) for launch in called.launches] == [("scale", (4,), 1)]
    assert (called.checked, called.unchecked) == (1, 0)


def test_modes(call) -> None:
    withheld = call(scale(), X, mode=Mode.noop)
    assert torch.isnan(withheld.value).all() and withheld.launches == ()
    refused = fault(call, scale(), X, mode=Mode.raises)
    assert refused.status == "launch_failed" and "'scale' was refused" in refused.message


@pytest.mark.parametrize(
    ("factor", "n", "message"),
    [
        ("2.0", "200", "argument 2 for 'float factor': a Python float is passed as 8 bytes of double"),
        ("2", "200", "argument 2 for 'float factor': a Python int is passed as 8 bytes of integer"),
        ("np.float64(2)", "200", "argument 2 for 'float factor': a numpy.float64 of 8 bytes is passed"),
        ("np.float16(2)", "200", "a numpy.float16 of 2 bytes is passed, the kernel reads float"),
        ("cp.float32(2)", "np.int16(5)", "argument 3 for 'int n': a numpy.int16 of 2 bytes is passed"),
        ("cp.float32(2)", "2.0", "argument 3 for 'int n': a Python float"),
        ("cp.float32(2)", "cp.zeros(3)", "argument 3 for 'int n': expected a number, got an array of float64"),
        ("cp.float32(2)", "2**40", "does not fit 32 bits"),
        ("cp.float32(2)", "200, 1", "scale takes 4 arguments (const float* x, float* y, float factor, int n), 5 given"),
    ],
)
def test_arguments_that_a_driver_would_misread(call, factor: str, n: str, message: str) -> None:
    found = fault(call, scale(factor, n), X)
    assert found.status == "launch_failed" and message in found.message


@pytest.mark.parametrize(
    "n", ["np.int32(200)", "np.int64(200)", "np.uint32(200)", "200", "np.array([200], dtype=np.int32)"]
)
def test_integers_that_a_driver_reads_right(call, n: str) -> None:
    assert torch.equal(call(scale(n=n), X).value, 2 * X)


def test_an_array_of_another_float_type(call) -> None:
    found = fault(call, scale(), X.double())
    assert found.message == "scale: argument 0 for 'const float* x': the array is of float64 (line 16)"


def test_a_torch_tensor_is_no_argument(call) -> None:
    text = scale().replace("cp.from_dlpack(x), ", "x, ")
    assert "TypeError: Unsupported type <class 'torch.Tensor'>" in fault(call, text, X).message


def test_addresses_are_used_in_place(call) -> None:
    text = scale().replace("cp.from_dlpack(x), cp.from_dlpack(y)", "x.data_ptr(), y[8:].data_ptr() - 32")
    assert torch.equal(call(text, X).value, 2 * X)
    bad = scale(n="x.numel() + 1").replace("cp.from_dlpack(x), cp.from_dlpack(y)", "x.data_ptr(), y.data_ptr()")
    assert "out-of-bounds read" in fault(call, bad, X).message and "'x' (800 bytes)" in fault(call, bad, X).message


def test_faults_have_kernel_block_thread_and_line(call) -> None:
    found = fault(call, scale(n="x.numel() + 1"), X)
    assert found.status == "launch_failed" and found.line == 8
    assert found.message.startswith("out-of-bounds read of 4 bytes at byte offset 800 of 'x' (800 bytes)")
    assert found.message.endswith("[kernel scale, block (3,0,0), thread (8,0,0), line 8]")


def test_a_swallowed_fault_is_not_lost(call) -> None:
    text = (
        scale(n="x.numel() + 1")
        .replace("    KERNEL", "    try: KERNEL")
        .replace("    return y", "    except Exception: pass\n    return 2 * x")
    )
    assert fault(call, text, X).message.startswith("out-of-bounds read")


def test_a_view_may_be_read_up_to_the_end_of_its_storage(call) -> None:
    text = scale(n="100").replace("cp.from_dlpack(x)", "cp.from_dlpack(x[100:])")
    assert torch.equal(call(text, X).value[:100], 2 * X[100:])


def test_strided_and_inplace_arrays(call) -> None:
    text = (
        HEAD
        + """
KERNEL = cp.RawKernel(SOURCE, "scale")

def candidate(x):
    held = cp.from_dlpack(x)
    KERNEL((4,), (64,), (held, held, cp.float32(3), 200))
    return x
"""
    )
    assert torch.equal(call(text, X.clone()).value, 3 * X)


def test_compile_errors_have_the_candidates_line(session) -> None:
    with pytest.raises(CandidateFault) as caught:
        session(scale().replace("x[i] * factor;", "x[i] * factr;"))
    assert caught.value.status == "compile_failed" and caught.value.line == 8
    assert "factr" in caught.value.message and "k.py:8" in caught.value.log


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"scale")', '"scal")', "the source defines no kernel 'scal'; did you mean 'scale'?; kernels in it: scale"),
        ('extern "C" ', "", "kernel 'scale' is not extern \"C\""),
        (
            "x[i] * factor;",
            'x[i] * factor; asm volatile("bar.sync 0;");',
            "the emulator does not run inline assembly (line 8)",
        ),
    ],
)
def test_what_is_wrong_with_the_source(session, old: str, new: str, message: str) -> None:
    with pytest.raises(CandidateFault) as caught:
        session(scale().replace(old, new))
    assert caught.value.message.startswith(message)
    assert caught.value.status == ("unsupported" if "asm" in new else "compile_failed")


def test_a_kernel_that_does_not_compile_and_is_never_used_does_no_harm(call) -> None:
    text = scale().replace("def candidate", 'UNUSED = cp.RawKernel("nonsense", "f")\n\ndef candidate')
    assert torch.equal(call(text, X).value, 2 * X)


def test_modules_templates_and_variables(call) -> None:
    text = '''import cupy as cp
import torch

SOURCE = r"""
__constant__ float weights[4];
template <typename T, int N> __global__ void mix(const T* x, T* y) {
  int i = threadIdx.x;
  y[i] = x[i] * T(weights[i % N]);
}
"""
MODULE = cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=["mix<float, 4>", "mix<double, 2>"])

def candidate(x):
    y = torch.empty_like(x)
    place = cp.ndarray(4, cp.float32, MODULE.get_global("weights"))
    place[...] = cp.array([1, 2, 3, 4], dtype=cp.float32)
    name = "mix<float, 4>" if x.dtype == torch.float32 else "mix<double, 2>"
    MODULE.get_function(name)((1,), (x.numel(),), (cp.asarray(x), cp.asarray(y)))
    return y
'''
    ones = torch.ones(8)
    assert call(text, ones).value.tolist() == [1, 2, 3, 4] * 2
    assert call(text, ones.double()).value.tolist() == [1, 2] * 4


def test_dynamic_shared_memory_above_the_default_must_be_asked_for(call) -> None:
    text = '''import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void f(float* y) {
  extern __shared__ float s[];
  s[threadIdx.x * 500] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = s[(31 - threadIdx.x) * 500];
}
"""
KERNEL = cp.RawKernel(SOURCE, "f")
#LIMIT

def candidate(x):
    y = torch.empty(32, device=x.device)
    KERNEL((1,), (32,), (cp.from_dlpack(y),), shared_mem=64000)
    return y
'''
    assert fault(call, text, X).message.startswith("launch limit: 64000 bytes of shared memory a block exceed 49152")
    raised = text.replace("#LIMIT", "KERNEL.max_dynamic_shared_size_bytes = 64000")
    assert call(raised, X).value.tolist() == list(range(31, -1, -1))


def test_generated_kernels(call) -> None:
    text = """import cupy as cp
import torch

SQUARED = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")
SHIFT = cp.ElementwiseKernel("raw T x, int32 n", "T z", "z = x[(i + 1) % n]", "shift")
NORM = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")

def candidate(x):
    held = cp.from_dlpack(x).reshape(8, 25)
    column = cp.arange(8, dtype=cp.float32).reshape(8, 1)
    return [torch.from_dlpack(v) for v in (
        SQUARED(held, column), SHIFT(held, 200, cp.empty(200, dtype=cp.float32)), NORM(held, axis=1), NORM(held))]
"""
    called = call(text, X)
    wide = X.reshape(8, 25)
    squared, shifted, rows, whole = called.value
    assert torch.equal(squared, (wide - torch.arange(8.0)[:, None]) ** 2)
    assert torch.equal(shifted, X.roll(-1))
    assert torch.allclose(rows, wide.norm(dim=1)) and torch.allclose(whole, X.norm())
    assert [launch.kernel for launch in called.launches] == ["squared", "shift", "norm"]


def test_arrays_are_numpys_and_fresh_memory_is_nan(call) -> None:
    text = """import cupy as cp

def candidate(x):
    a = cp.asarray(x).reshape(20, 10)
    total = a.sum()
    assert isinstance(total, cp.ndarray) and total.shape == () and float(total) == 19900
    assert cp.isnan(cp.empty(5)).all() and int(cp.empty(3, dtype=cp.int32)[0]) != 0
    assert cp.asnumpy(a[1]).tolist() == list(range(10, 20)) and a.get().shape == (20, 10)
    assert cp.maximum(a, 5).min() == 5 and (a + 1)[0, 0] == 1
    with cp.cuda.Stream(non_blocking=True) as stream:
        stream.synchronize()
    device = cp.cuda.Device()
    assert device.compute_capability == "90" and device.attributes["WarpSize"] == 32
    assert cp.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"] == 132
    return x
"""
    assert call(text, X).launches == ()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("cp.random.rand(3)", "cupy.random is not part"),
        ("cp.cuda.Graph()", "cupy.cuda.Graph is not part"),
        ("import cupyx.scipy.sparse", "the module cupyx.scipy"),
        ("from cupy.cuda import nccl", "cupy.cuda.nccl"),
        ("cp.RawModule(path='a.cubin')", "RawModule(path=...) of a compiled file"),
        ("cp.ElementwiseKernel('complex64 x', 'float32 y', 'y = 1')", "the dtype complex64 in a generated kernel"),
        ("torch.cuda.CUDAGraph()", "the emulator does not run a CUDA graph"),
    ],
)
def test_what_the_facade_lacks_is_unsupported_by_name(call, line: str, what: str) -> None:
    found = fault(call, f"import cupy as cp\nimport torch\n\ndef candidate(x):\n    {line}\n    return x\n", X)
    assert found.status == "unsupported" and what in found.message
    guarded = f"    try:\n        {line}\n    except Exception:\n        pass\n    return x\n"
    swallowed = f"import cupy as cp\nimport torch\n\ndef candidate(x):\n{guarded}"
    assert fault(call, swallowed, X).status == "unsupported"


def test_host_tensors_are_refused_as_on_a_device(call) -> None:
    text = "import cupy as cp\nimport torch\n\ndef candidate(x):\n    cp.from_dlpack(torch.zeros(3))\n    return x\n"
    assert "the tensor is on the host" in fault(call, text, X).message


def test_memory_of_somebody_else(call) -> None:
    text = scale().replace(
        "cp.from_dlpack(x), cp",
        "cp.ndarray((200,), cp.float32, cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(x.data_ptr(), 800, x), 0)), cp",
    )
    assert torch.equal(call(text, X).value, 2 * X)
