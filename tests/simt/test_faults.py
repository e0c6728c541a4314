# ruff: noqa: E501  (device sources)
"""Each kind of fault, with its exact place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine.simt import DeviceLimits, FaultKind, KernelFault


def zeros(n: int, dtype: Any = np.float32) -> Any:
    return np.zeros(n, dtype)


def test_read_beyond_the_end(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        """
        __global__ void k(const float* x, float* y, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          y[i % n] =
            x[i];
        }
        """,
        2, 64, (zeros(100), zeros(100), 100), check=check,
    )  # fmt: skip
    assert (fault.kind, fault.block, fault.thread) == (FaultKind.OUT_OF_BOUNDS_READ, (1, 0, 0), (36, 0, 0))
    assert (fault.argument, fault.byte_offset, fault.file, fault.line) == ("x", 400, "kernel.cu", 5)
    assert fault.kernel == "k" and "byte offset 400 of 'x' (400 bytes)" in fault.message


def test_write_at_a_negative_index(fault_of: Any) -> None:
    fault = fault_of(
        """
        __global__ void k(float* y) {
          int i = (int)threadIdx.x - 3;
          y[i] = 1.0f;
        }
        """,
        1, 8, (zeros(8),), check=True,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.argument, fault.byte_offset, fault.line) == (
        FaultKind.OUT_OF_BOUNDS_WRITE, (0, 0, 0), "y", -12, 4,
    )  # fmt: skip


def test_index_that_wraps_around_in_unsigned_arithmetic(fault_of: Any, check: bool) -> None:
    fault = fault_of("__global__ void k(float* y) { y[threadIdx.x - 1] = 1.0f; }", 1, 8, (zeros(8),), check=check)
    assert (fault.kind, fault.argument, fault.byte_offset, fault.line) == (
        FaultKind.OUT_OF_BOUNDS_WRITE,
        "y",
        4 * (2**32 - 1),
        1,
    )


def test_small_overrun_in_a_two_byte_type(fault_of: Any) -> None:
    fault = fault_of(
        "__global__ void k(__half* y) { y[threadIdx.x] = __float2half(1.0f); }",
        1,
        8,
        (zeros(7, np.float16),),
        check=True,
    )
    assert (fault.kind, fault.thread, fault.byte_offset) == (FaultKind.OUT_OF_BOUNDS_WRITE, (7, 0, 0), 14)


def test_write_into_the_slack_is_seen_without_checks(fault_of: Any) -> None:
    fault = fault_of(
        "__global__ void k(__half* y) { y[threadIdx.x] = __float2half(1.0f); }", 1, 8, (zeros(7, np.float16),)
    )
    assert (fault.kind, fault.argument, fault.byte_offset, fault.thread) == (
        FaultKind.OUT_OF_BOUNDS_WRITE,
        "y",
        14,
        None,
    )


def test_atomic_out_of_bounds(fault_of: Any) -> None:
    fault = fault_of(
        "\n__global__ void k(int* y) {\n  atomicAdd(&y[threadIdx.x * 2], 1);\n}",
        1,
        8,
        (zeros(8, np.int32),),
        check=True,
    )
    assert (fault.kind, fault.thread, fault.byte_offset, fault.line) == (
        FaultKind.OUT_OF_BOUNDS_WRITE,
        (4, 0, 0),
        32,
        3,
    )


SHARED = """
template <typename T>
__global__ void in_template(T* y, int d) {
  __shared__ T s[32];
  T* p = s;
  p[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = p[threadIdx.x + d];
}
"""


def test_shared_overrun_through_a_pointer_in_a_template(compile_source: Any) -> None:
    program = compile_source(SHARED, check=True, instances=["in_template<float>", "in_template<double>"])
    with pytest.raises(KernelFault) as caught:
        program.launch("in_template<double>", 1, 32, (zeros(32, np.float64), 8))
    fault = caught.value.fault
    assert (fault.kind, fault.argument, fault.line) == (FaultKind.SHARED_OUT_OF_BOUNDS, "s", 8)
    assert fault.byte_offset == 8 * (fault.thread[0] + 8) and fault.byte_offset >= 256


def test_shared_index_beyond_its_declaration(fault_of: Any) -> None:
    fault = fault_of(
        """
        __global__ void k(float* y) {
          __shared__ float tile[16][17];
          tile[threadIdx.x][17] = 1.0f;
          y[threadIdx.x] = tile[threadIdx.x][0];
        }
        """,
        1, 16, (zeros(16),), check=True,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.argument, fault.line) == (
        FaultKind.SHARED_OUT_OF_BOUNDS,
        (0, 0, 0),
        "tile",
        4,
    )


@pytest.mark.parametrize("check_dynamic", [False, True])
def test_dynamic_shared_overrun(fault_of: Any, check_dynamic: bool) -> None:
    fault = fault_of(
        """
        __global__ void k(float* y) {
          extern __shared__ float s[];
          s[threadIdx.x] = 1.0f;
          __syncthreads();
          s[threadIdx.x + 32] = 2.0f;
          y[threadIdx.x] = s[threadIdx.x];
        }
        """,
        1, 32, (zeros(32),), shared_bytes=128, check=check_dynamic,
    )  # fmt: skip
    assert (fault.kind, fault.byte_offset, fault.line) == (FaultKind.SHARED_OUT_OF_BOUNDS, 128 + 4 * fault.thread[0], 6)


def test_local_array_index(fault_of: Any) -> None:
    fault = fault_of(
        """
        __global__ void k(float* y, int n) {
          float local[4] = {0, 1, 2, 3};
          for (int i = 0; i < n; ++i) local[i] += 1.0f;
          y[0] = local[n % 4];
        }
        """,
        1, 1, (zeros(1), 5), check=True,
    )  # fmt: skip
    assert (fault.kind, fault.argument, fault.byte_offset, fault.line) == (
        FaultKind.OUT_OF_BOUNDS_WRITE,
        "local",
        16,
        4,
    )


def test_misaligned_vector_access(fault_of: Any) -> None:
    fault = fault_of(
        """
        __global__ void k(const float* x, float* y) {
          float4 v = *reinterpret_cast<const float4*>(x + threadIdx.x);
          y[threadIdx.x] = v.x + v.y + v.z + v.w;
        }
        """,
        1, 4, (zeros(16), zeros(4)), check=True,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.argument, fault.byte_offset, fault.line) == (
        FaultKind.MISALIGNED,
        (1, 0, 0),
        "x",
        4,
        3,
    )


COPIES = {
    "load": ("float4 v = *(const float4*)(x + i); y[i] = v.x + v.w;", "x", 4, 16, "access"),
    "assigned": ("float4 v; v = ((const float4*)(x + i))[0]; y[i] = v.x + v.w;", "x", 4, 16, "access"),
    "store": ("float4 v = make_float4(1, 2, 3, 4); *reinterpret_cast<float4*>(y + i) = v;", "y", 4, 16, "write"),
    "by two floats": ("float4 v = *(const float4*)(x + 2 * i); y[i] = v.x + v.w;", "x", 8, 16, "access"),
    "stored by two floats": ("*(float4*)(y + 2 * i) = make_float4(1, 2, 3, 4);", "y", 8, 16, "write"),
    "both": ("*(float2*)(y + i) = *(const float2*)(x + 2 * i);", "y", 4, 8, "write"),
    "pair": ("float2 v = *(const float2*)(x + i); y[i] = v.x + v.y;", "x", 4, 8, "access"),
    "own": ("struct alignas(16) Four { float f[4]; }; Four v = *(const Four*)(x + i); y[i] = v.f[1];", "x", 4, 16, "access"),
    "member": ("y[i] = ((const float4*)(x + i))->y;", "x", 4, 16, "access"),
}


@pytest.mark.parametrize("name", COPIES)
def test_misaligned_copies_of_whole_objects(fault_of: Any, name: str) -> None:
    body, argument, offset, multiple, what = COPIES[name]
    source = f"__global__ void k(const float* x, float* y) {{\n  int i = threadIdx.x;\n  {body}\n}}"
    fault = fault_of(source, 1, 2, (zeros(32), zeros(32)), check=True)
    assert (fault.kind, fault.thread, fault.argument, fault.byte_offset, fault.line) == (
        FaultKind.MISALIGNED, (1, 0, 0), argument, offset, 3,
    )  # fmt: skip
    assert f"{what} at an address that is not a multiple of {multiple}" in fault.message


def test_an_aligned_vector_and_a_misaligned_pointer_that_nobody_follows_are_right(compile_source: Any) -> None:
    program = compile_source(
        """
        struct Packed { float a; float4 v; };
        __global__ void k(const float* x, float* y) {
          __shared__ float4 tile[4];
          const float4* odd = reinterpret_cast<const float4*>(x + 1);
          float4 v = ((unsigned long long)odd & 15) ? *reinterpret_cast<const float4*>(x) : *odd;
          tile[threadIdx.x] = v;
          Packed p{1.0f, tile[threadIdx.x]};
          Packed q = p;
          reinterpret_cast<float4*>(y)[threadIdx.x] = q.v;
        }
        """,
        check=True,
    )
    x, y = np.arange(16, dtype=np.float32), zeros(16)
    program.launch("k", 1, 4, (x, y))
    assert np.array_equal(y.reshape(4, 4), np.tile(x[:4], (4, 1)))


def test_view_at_an_odd_offset_is_misaligned_as_on_a_device(compile_source: Any) -> None:
    program = compile_source("__global__ void k(float2* x) { x[threadIdx.x] = make_float2(1, 2); }", check=True)
    with pytest.raises(KernelFault, match="misaligned"):
        program.launch("k", 1, 2, (zeros(9)[1:],))
    program.launch("k", 1, 2, (zeros(9)[:8],))


LDG = """
__global__ void k(float* x, float* y) {
  int i = threadIdx.x;
  x[i] = 2.0f * i;
  __syncthreads();
  y[i] = %s;
}
"""


def test_the_read_only_cache_does_not_see_what_the_launch_writes(fault_of: Any, compile_source: Any) -> None:
    arguments = (zeros(64), zeros(64))
    fault = fault_of(LDG % "__ldg(&x[i ^ 1])", 1, 64, arguments, check=True)
    assert (fault.kind, fault.argument, fault.line) == (FaultKind.RACE_GLOBAL, "x", 6)
    assert "read through the read-only cache" in fault.message
    # An ordinary load does, and HIP's __ldg is one.
    for source, how in ((LDG % "x[i ^ 1]", {}), (LDG % "__ldg(&x[i ^ 1])", {"dialect": "hip", "lanes": 64})):
        compile_source(source, check=True, **how).launch("k", 1, 64, arguments)
        assert np.array_equal(arguments[1], 2.0 * (np.arange(64) ^ 1))


def test_null(fault_of: Any, check: bool) -> None:
    fault = fault_of("\n__global__ void k(float* y) {\n  y[threadIdx.x] = 1.0f;\n}", 1, 4, (None,), check=check)
    assert (fault.kind, fault.block, fault.thread, fault.line) == (FaultKind.NULL, (0, 0, 0), (0, 0, 0), 3)


def test_division_by_zero(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        "__global__ void k(int* y, int d) {\n  int b = d - (int)threadIdx.x;\n  y[threadIdx.x] = 100 % b;\n}",
        1, 8, (zeros(8, np.int32), 5), check=check,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.DIVISION_BY_ZERO, (5, 0, 0), 3)


def test_stack_overflow_by_recursion_and_by_size(fault_of: Any, check: bool) -> None:
    recursion = """
    __device__ __noinline__ int deeper(int n) { int a[32]; a[n & 31] = n; int r = deeper(n + 1); return r + a[(n + 1) & 31]; }
    __global__ void k(int* y) { y[threadIdx.x] = deeper(threadIdx.x); }
    """
    fault = fault_of(recursion, 1, 2, (zeros(2, np.int32),), check=check)
    assert (fault.kind, fault.thread) == (FaultKind.STACK_OVERFLOW, (0, 0, 0))
    big = "__global__ void k(int* y, int n) { int a[1000000]; for (int i = 0; i < n; ++i) a[i * 7] = i; y[0] = a[n]; }"
    fault = fault_of(big, 1, 1, (zeros(1, np.int32), 100000), check=check)
    assert fault.kind is FaultKind.STACK_OVERFLOW


def test_barrier_that_some_threads_pass_by(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        """
        __global__ void k(float* y) {
          if (threadIdx.x < 16) {
            __syncthreads();
          }
          y[threadIdx.x] = 1;
        }
        """,
        1, 32, (zeros(32),), check=check,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.BARRIER_DIVERGENCE, (16, 0, 0), 4)


def test_barrier_reached_after_others_have_ended(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        "__global__ void k(float* y) {\n  if (threadIdx.x >= 16)\n    __syncthreads();\n}",
        1,
        32,
        (zeros(32),),
        check=check,
    )
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.BARRIER_DIVERGENCE, (16, 0, 0), 3)


def test_different_barriers(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        "__global__ void k(float* y) {\n  if (threadIdx.x & 1)\n    __syncthreads();\n  else\n    __syncthreads();\n  y[0] = 1;\n}",
        1, 32, (zeros(32),), check=check,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.BARRIER_DIVERGENCE, (1, 0, 0), 3)
    assert "line 5 and line 3" in fault.message


def test_grid_barrier_in_an_ordinary_launch(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        "#include <cooperative_groups.h>\n__global__ void k(int* y) {\n  cooperative_groups::this_grid().sync();\n}",
        2, 32, (zeros(1, np.int32),), check=check,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.DEADLOCK, (0, 0, 0), 3)


def test_lanes_named_in_a_mask_never_come(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        """
        __global__ void k(int* y) {
          int v = threadIdx.x;
          if (threadIdx.x < 16)
            v += __shfl_down_sync(0xffffffff, v, 8);
          __syncthreads();
          y[threadIdx.x] = v;
        }
        """,
        1, 32, (zeros(32, np.int32),), check=check,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.BAD_SHUFFLE_MASK, (0, 0, 0), 5)
    assert "lanes 0xffff0000" in fault.message


def test_mask_without_the_caller(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        "__global__ void k(int* y) {\n  y[threadIdx.x] = __shfl_sync(0x0f, 1, 0);\n}",
        1,
        32,
        (zeros(32, np.int32),),
        check=check,
    )
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.BAD_SHUFFLE_MASK, (4, 0, 0), 2)


def test_uninitialised_shared(fault_of: Any) -> None:
    fault = fault_of(
        """
        __global__ void k(float* y) {
          __shared__ float s[64];
          if (threadIdx.x != 7) s[threadIdx.x] = 1;
          __syncthreads();
          y[threadIdx.x] = s[threadIdx.x];
        }
        """,
        1, 32, (zeros(32),), check=True,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.argument, fault.byte_offset, fault.line) == (
        FaultKind.UNINITIALISED_SHARED,
        (7, 0, 0),
        "s",
        28,
        6,
    )


def test_uninitialised_counter_of_a_shared_atomic(fault_of: Any) -> None:
    fault = fault_of(
        "__global__ void k(int* y) {\n  __shared__ int n;\n  atomicAdd(&n, 1);\n  __syncthreads();\n  y[0] = n;\n}",
        1, 32, (zeros(1, np.int32),), check=True,
    )  # fmt: skip
    assert (fault.kind, fault.thread, fault.argument, fault.line) == (FaultKind.UNINITIALISED_SHARED, (0, 0, 0), "n", 3)


@pytest.mark.parametrize(
    "loop",
    [
        "while (atomicAdd(y, 0) == 0) {}",
        "unsigned i = 1; while (i) { i += 2; y[1] = i; }",
        "while (*(volatile int*)y == 0) {}",
    ],
)
def test_endless_loop(fault_of: Any, check: bool, loop: str) -> None:
    fault = fault_of(f"__global__ void k(int* y) {{ {loop} }}", 1, 1, (zeros(2, np.int32),), check=check, seconds=0.3)
    assert fault.kind is FaultKind.ENDLESS_LOOP and fault.block == (0, 0, 0)


KERNEL = "__global__ void k(float* y) { __shared__ float s[16]; s[threadIdx.x % 16] = 0; y[0] = 1; }"


@pytest.mark.parametrize(
    "grid,block,shared,text",
    [
        (1, 1025, 0, "block size 1025 along x exceeds 1024"),
        (1, (32, 33), 0, "1056 threads a block exceed 1024"),
        (1, (1, 1, 65), 0, "block size 65 along z exceeds 64"),
        ((1, 65536), 1, 0, "grid size 65536 along y exceeds 65535"),
        (0, 1, 0, "grid size 0 along x"),
        (1, 1, 48 * 1024, "49216 bytes of shared memory a block exceed 49152"),
    ],
)
def test_launch_limits(fault_of: Any, check: bool, grid: Any, block: Any, shared: int, text: str) -> None:
    fault = fault_of(KERNEL, grid, block, (zeros(1),), shared_bytes=shared, check=check)
    assert (fault.kind, fault.block, fault.thread) == (FaultKind.LAUNCH_LIMIT, None, None)
    assert text in fault.message


def test_dynamic_shared_limit_can_be_raised_to_the_chips(compile_source: Any) -> None:
    program = compile_source(
        "__global__ void k(float* y) { extern __shared__ float s[]; s[0] = 3; y[0] = s[0]; }",
        limits=DeviceLimits.of("sm_80"),
    )
    y = zeros(1)
    with pytest.raises(KernelFault, match="launch_limit"):
        program.launch("k", 1, 1, (y,), 160 << 10)
    program.launch("k", 1, 1, (y,), 160 << 10, max_dynamic_shared=160 << 10)
    assert y[0] == 3
    with pytest.raises(KernelFault, match="launch_limit"):
        program.launch("k", 1, 1, (y,), 164 << 10, max_dynamic_shared=164 << 10)


def test_assertion_and_trap(fault_of: Any, check: bool) -> None:
    fault = fault_of(
        "#include <cassert>\n__global__ void k(int* y) {\n  assert(threadIdx.x < 3);\n}",
        1,
        8,
        (zeros(1, np.int32),),
        check=check,
    )
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.ASSERT_FAILED, (3, 0, 0), 3)
    assert "threadIdx.x < 3" in fault.message
    fault = fault_of(
        "__global__ void k(int* y) {\n  if (threadIdx.x == 2)\n    __trap();\n}",
        1,
        8,
        (zeros(1, np.int32),),
        check=check,
    )
    assert (fault.kind, fault.thread, fault.line) == (FaultKind.ASSERT_FAILED, (2, 0, 0), 3)


def test_a_program_runs_on_after_a_fault(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(float* y, int bad) {
          __shared__ float s[64];
          s[threadIdx.x] = threadIdx.x;
          __syncthreads();
          if (bad && threadIdx.x == 40) y[1 << 20] = 0;
          y[threadIdx.x] = s[63 - threadIdx.x];
        }
        """,
        check=check,
    )
    y = zeros(64)
    for _ in range(3):
        with pytest.raises(KernelFault):
            program.launch("k", 3, 64, (y, 1))
        assert not y.any()
        program.launch("k", 1, 64, (y, 0))
        np.testing.assert_array_equal(y, np.arange(64)[::-1])
        y[:] = 0
