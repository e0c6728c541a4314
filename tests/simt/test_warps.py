# ruff: noqa: E501  (device sources)
"""Warp operations, against their definition computed with numpy, for 32 and 64 lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine.simt import CompileError

SHUFFLES = """
__global__ void k(const int* x, int* out, int n) {
  int t = threadIdx.x, v = x[t];
  out[0 * n + t] = __shfl_sync(FULL, v, t * 3);
  out[1 * n + t] = __shfl_up_sync(FULL, v, 2);
  out[2 * n + t] = __shfl_down_sync(FULL, v, 5);
  out[3 * n + t] = __shfl_xor_sync(FULL, v, 6);
  out[4 * n + t] = __shfl_sync(FULL, v, 3, 8);
  out[5 * n + t] = __shfl_up_sync(FULL, v, 3, 16);
  out[6 * n + t] = __shfl_down_sync(FULL, v, 1, 4);
  out[7 * n + t] = __shfl_xor_sync(FULL, v, 1, 2);
  out[8 * n + t] = (int)__shfl_sync(FULL, (double)v, 1);
  out[9 * n + t] = (int)__shfl_xor_sync(FULL, (long long)v << 33, 1) + (int)(__shfl_xor_sync(FULL, (long long)v << 33, 1) >> 33);
}
"""


@pytest.mark.parametrize("lanes", [32, 64])
def test_shuffles(compile_source: Any, check: bool, lanes: int) -> None:
    full = "0xffffffffu" if lanes == 32 else "0xffffffffffffffffull"
    program = compile_source(
        SHUFFLES, check=check, lanes=lanes, dialect="hip" if lanes == 64 else "cuda", defines={"FULL": full}
    )
    n = 2 * lanes
    x = np.random.default_rng(1).integers(-1000, 1000, n).astype(np.int32)
    out = np.zeros((10, n), np.int32)
    program.launch("k", 1, n, (x, out, n))
    t = np.arange(n)
    lane, base = t % lanes, t // lanes * lanes

    def source(width: int, index: Any, valid: Any) -> Any:
        segment = base + lane // width * width
        return x[np.where(valid, segment + index, t)]

    def up(d: int, width: int) -> Any:
        i = lane % width - d
        return source(width, i, i >= 0)

    def down(d: int, width: int) -> Any:
        i = lane % width + d
        return source(width, i, i < width)

    expected = [
        x[base + (t * 3) % lanes], up(2, lanes), down(5, lanes), x[t ^ 6], source(8, 3, t >= 0), up(3, 16), down(1, 4), x[t ^ 1], x[base + 1], x[t ^ 1],
    ]  # fmt: skip
    for i, row in enumerate(expected):
        np.testing.assert_array_equal(out[i], row, err_msg=f"row {i}")


def test_votes_and_matches(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(unsigned* out) {
          int t = threadIdx.x, p;
          out[t] = __ballot_sync(0xffffffff, t % 3 == 0);
          out[32 + t] = __any_sync(0xffffffff, t == 9) | __all_sync(0xffffffff, t < 31) << 1 | __all_sync(0xffffffff, t < 32) << 2 | __any_sync(0xffffffff, t > 31) << 3;
          out[64 + t] = __match_any_sync(0xffffffff, t / 5);
          out[96 + t] = __match_all_sync(0xffffffff, 4.0f, &p) + p;
          out[128 + t] = __match_all_sync(0xffffffff, t, &p) + p;
          out[160 + t] = __popc(__activemask());
        }
        """,
        check=check,
    )
    out = np.zeros((6, 32), np.uint32)
    program.launch("k", 1, 32, (out,))
    assert (out[0] == sum(1 << i for i in range(0, 32, 3))).all()
    assert (out[1] == 0b0101).all()
    assert out[2].tolist() == [sum(1 << j for j in range(32) if j // 5 == i // 5) for i in range(32)]
    assert (out[3] == np.uint32(0)).all()  # all lanes, plus the predicate, wraps to 0
    assert (out[4] == 0).all() and (out[5] == 32).all()


def test_reduce_and_partial_masks(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(const int* x, int* out) {
          int t = threadIdx.x, v = x[t];
          out[t] = __reduce_add_sync(0xffffffff, v);
          out[32 + t] = __reduce_max_sync(0xffffffff, v);
          out[64 + t] = __reduce_min_sync(0xffffffff, v);
          out[96 + t] = __reduce_xor_sync(0xffffffff, (unsigned)v);
          if (t < 12) out[128 + t] = __reduce_add_sync(0xfff, v);
          else out[128 + t] = __shfl_sync(0xfffff000, v, 31);
        }
        """,
        check=check,
    )
    x = np.random.default_rng(5).integers(-99, 99, 32).astype(np.int32)
    out = np.zeros((5, 32), np.int32)
    program.launch("k", 1, 32, (x, out))
    assert (out[0] == x.sum()).all() and (out[1] == x.max()).all() and (out[2] == x.min()).all()
    assert (out[3] == np.bitwise_xor.reduce(x)).all()
    assert (out[4, :12] == x[:12].sum()).all() and (out[4, 12:] == x[31]).all()


def test_maskless_operations_of_a_branch_meet_only_those_that_came(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <hip/hip_runtime.h>
        __global__ void k(int* out) {
          int t = threadIdx.x, v = t;
          if (t < 10) v = __popcll(__ballot(1));
          else v = -__popcll(__ballot(1));
          out[t] = v + 100 * __shfl_down(v, 1);
        }
        """,
        check=check,
        lanes=64,
        dialect="hip",
    )
    out = np.zeros(64, np.int32)
    program.launch("k", 1, 64, (out,))
    v = np.where(np.arange(64) < 10, 10, -54)
    np.testing.assert_array_equal(out, v + 100 * np.append(v[1:], v[-1]))


def test_lanes_that_ended_are_not_waited_for(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(int* out) {
          int t = threadIdx.x;
          if (t >= 20) return;
          int v = t;
          for (int d = 16; d; d /= 2) { int o = __shfl_down_sync(0xffffffff, v, d); if (t + d < 20) v += o; }
          if (t == 0) out[0] = v;
        }
        """,
        check=check,
    )
    out = np.zeros(1, np.int32)
    program.launch("k", 1, 32, (out,))
    assert out[0] == 190


def test_answer_that_depends_on_the_width_differs(compile_source: Any) -> None:
    source = """
    __global__ void k(const float* x, float* out) {
      float v = x[threadIdx.x];
      for (int d = 16; d > 0; d >>= 1) v += __shfl_down(v, d, 32);
      if (threadIdx.x % warpSize == 0) atomicAdd(out, v);
    }
    """
    totals = []
    for lanes in (32, 64):
        out = np.zeros(1, np.float32)
        compile_source(source, lanes=lanes, dialect="hip").launch("k", 1, 64, (np.ones(64, np.float32), out))
        totals.append(float(out[0]))
    assert totals == [64.0, 32.0]


COOPERATIVE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const int* x, int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto four = cg::tiled_partition<4>(warp);
  int t = block.thread_rank(), v = x[t];
  out[t] = cg::reduce(warp, v, cg::plus<int>());
  out[64 + t] = four.shfl(v, 0) + 1000 * four.thread_rank() + 10000 * four.meta_group_rank();
  out[128 + t] = cg::inclusive_scan(warp, v, cg::plus<int>());
  out[192 + t] = cg::exclusive_scan(four, v);
  out[256 + t] = four.ballot(v > 0) + 100 * four.any(v > 40) + 1000 * warp.meta_group_size();
  if (t % 2) {
    cg::coalesced_group odd = cg::coalesced_threads();
    out[320 + t] = odd.size() * 100 + odd.thread_rank() + 10000 * odd.shfl(t, 1);
  }
  block.sync();
}
"""


def test_cooperative_groups(compile_source: Any, check: bool) -> None:
    program = compile_source(COOPERATIVE, check=check)
    x = np.random.default_rng(2).integers(-50, 50, 64).astype(np.int32)
    out = np.zeros((6, 64), np.int32)
    program.launch("k", 1, 64, (x, out))
    warps, fours, t = x.reshape(2, 32), x.reshape(16, 4), np.arange(64)
    np.testing.assert_array_equal(out[0], np.repeat(warps.sum(axis=1), 32))
    np.testing.assert_array_equal(out[1], np.repeat(fours[:, 0], 4) + 1000 * (t % 4) + 10000 * (t % 32 // 4))
    np.testing.assert_array_equal(out[2], np.cumsum(warps, axis=1).ravel())
    np.testing.assert_array_equal(out[3], (np.cumsum(fours, axis=1) - fours).ravel())
    bits = ((fours > 0) * [1, 2, 4, 8]).sum(axis=1) + 100 * (fours > 40).any(axis=1) + 2000
    np.testing.assert_array_equal(out[4], np.repeat(bits, 4))
    odd = t % 2 == 1
    np.testing.assert_array_equal(out[5][odd], (1600 + t % 32 // 2 + 10000 * (t // 32 * 32 + 3))[odd])


def test_grid_barrier_of_a_cooperative_launch(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cooperative_groups.h>
        using namespace cooperative_groups;
        __global__ void k(const int* x, int* partial, int* out, int rounds) {
          __shared__ int s[32];
          grid_group grid = this_grid();
          int t = threadIdx.x;
          for (int r = 0; r < rounds; ++r) {
            s[t] = x[grid.thread_rank()] + r;
            __syncthreads();
            if (t == 0) { int sum = 0; for (int i = 0; i < 32; ++i) sum += s[i]; partial[blockIdx.x] = sum; }
            grid.sync();
            if (t == 0) { int sum = 0; for (int b = 0; b < gridDim.x; ++b) sum += partial[b]; out[r * gridDim.x + blockIdx.x] = sum * 1000 + s[31]; }
            grid.sync();
          }
        }
        """,
        check=check,
    )
    x = np.arange(128, dtype=np.int32)
    partial, out = np.zeros(4, np.int32), np.zeros((3, 4), np.int32)
    program.launch("k", 4, 32, (x, partial, out, 3), cooperative=True)
    for r in range(3):
        np.testing.assert_array_equal(out[r], (x.sum() + 128 * r) * 1000 + x[31::32] + r)


OLD = {
    "__shfl": "__shfl(t, 0)",
    "__shfl_up": "__shfl_up(t, 1)",
    "__shfl_down": "__shfl_down(t, 1)",
    "__shfl_xor": "__shfl_xor(t, 1, 16)",
    "__ballot": "(int)__ballot(t > 3)",
    "__any": "__any(t > 3)",
    "__all": "__all(t > 3)",
}


@pytest.mark.parametrize("name", OLD)
def test_maskless_operations_are_hips_alone(compile_source: Any, check: bool, name: str) -> None:
    source = f"__global__ void k(int* y) {{\n  int t = threadIdx.x;\n  y[t] = {OLD[name]};\n}}"
    with pytest.raises(
        CompileError, match=rf"kernel.cu:3: .*{name}\(\) does not exist .* use {name}_sync\(\)"
    ) as caught:
        compile_source(source, check=check)
    assert caught.value.line == 3
    assert "k" in compile_source(source, check=check, dialect="hip", lanes=64).kernels


def test_a_macro_or_function_of_that_name_is_the_candidates(compile_source: Any) -> None:
    y = np.zeros(32, np.int32)
    compile_source(
        "#define __any(p) __any_sync(0xffffffffu, p)\n__device__ int __all(int p) { return 5 + p; }\n"
        "__global__ void k(int* y) { y[threadIdx.x] = 10 * __any(threadIdx.x == 3) + __all(1); }"
    ).launch("k", 1, 32, (y,))
    assert (y == 16).all()
