# ruff: noqa: E501  (device sources)
"""The emulator's CUB: block-wide and warp-wide collectives against numpy, and the faults that their misuse raises."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kengine.simt import CompileError, Fault, Unsupported
from kengine.simt import unsupported as constructs
from kengine.simt.toolchain import SOURCES
from kengine.simt.unsupported import find_unsupported


def test_block_reductions(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cub/cub.cuh>
        typedef cub::BlockReduce<float, 96> Sums;
        __global__ void k(const float* x, float* out, int n) {
          __shared__ typename Sums::TempStorage temp;
          __shared__ union { typename cub::BlockReduce<int, 96>::TempStorage a; cub::BlockReduce<double, 96>::TempStorage b; } other;
          const float v = x[threadIdx.x];
          float s = Sums(temp).Sum(v);
          __syncthreads();
          float m = Sums(temp).Reduce(v, cuda::maximum<>{});
          __syncthreads();
          float part = Sums(temp).Sum(v, n);
          int low = cub::BlockReduce<int, 96>(other.a).Reduce((int)(v * 1000), [](int a, int b) { return a < b ? a : b; }, n);
          __syncthreads();
          double pairs[2] = {v, 1.0};
          double d = cub::BlockReduce<double, 96>(other.b).Sum(pairs);
          if (threadIdx.x == 0) { out[0] = s; out[1] = m; out[2] = part; out[3] = low; out[4] = (float)d; }
          if (threadIdx.x == 40) out[5] = s;
        }
        """,
        check=check,
    )
    x = np.random.default_rng(0).standard_normal(96).astype(np.float32)
    for n in (96, 70, 31, 1):
        out = np.zeros(6, np.float32)
        program.launch("k", 1, 96, (x, out, n))
        wanted = [
            x.sum(),
            x.max(),
            x[:n].sum(),
            int((x[:n] * 1000).astype(np.int32).min()),
            x.astype(np.float64).sum() + 96,
        ]
        np.testing.assert_allclose(out[:5], wanted, rtol=2e-6, atol=1e-5)
        assert out[5] != out[0]  # only thread 0 has the result


def test_argmin_over_a_block_of_two_dimensions(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cub/block/block_reduce.cuh>
        using Pair = cub::KeyValuePair<int, float>;
        __global__ void k(const float* x, float* v, int* at) {
          using Reduce = cub::BlockReduce<Pair, 16, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 8>;
          __shared__ typename Reduce::TempStorage temp;
          int t = threadIdx.y * 16 + threadIdx.x;
          Pair best = Reduce(temp).Reduce(Pair(t, x[t]), cub::ArgMin());
          if (t == 0) { *v = best.value; *at = best.key; }
        }
        """,
        check=check,
    )
    x = np.random.default_rng(1).integers(0, 9, 128).astype(np.float32)
    v, at = np.zeros(1, np.float32), np.zeros(1, np.int32)
    program.launch("k", 1, (16, 8), (x, v, at))
    assert (v[0], at[0]) == (x.min(), x.argmin())


def test_warp_collectives(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cub/warp/warp_reduce.cuh>
        #include <cub/warp/warp_scan.cuh>
        __global__ void k(const double* x, double* out, int n) {
          typedef cub::WarpReduce<double> Full;
          typedef cub::WarpReduce<double, 8> Eighth;
          typedef cub::WarpScan<double, 16> Scan;
          __shared__ typename Full::TempStorage full[2];
          __shared__ typename Eighth::TempStorage eighth[8];
          __shared__ typename Scan::TempStorage scan[4];
          int t = threadIdx.x;
          double v = x[t], in, ex, all;
          out[0 * n + t] = Full(full[t / 32]).Sum(v);
          out[1 * n + t] = Full(full[t / 32]).Reduce(v, cuda::maximum<>{}, 20);
          out[2 * n + t] = Eighth(eighth[t / 8]).Sum(v);
          Scan(scan[t / 16]).InclusiveSum(v, in, all);
          out[3 * n + t] = in; out[4 * n + t] = all;
          Scan(scan[t / 16]).ExclusiveScan(v, ex, 100.0, cuda::std::plus<>{});
          out[5 * n + t] = ex;
          out[6 * n + t] = Scan(scan[t / 16]).Broadcast(v, 3);
          out[7 * n + t] = Full(full[t / 32]).HeadSegmentedSum(v, t % 5 == 0);
          out[8 * n + t] = Full(full[t / 32]).TailSegmentedSum(v, t % 5 == 4);
        }
        """,
        check=check,
    )
    n = 64
    x = np.random.default_rng(2).integers(-50, 50, n).astype(np.float64)
    out = np.zeros((9, n))
    program.launch("k", 1, n, (x, out, n))
    np.testing.assert_array_equal(out[0, ::32], x.reshape(-1, 32).sum(1))
    np.testing.assert_array_equal(out[1, ::32], x.reshape(-1, 32)[:, :20].max(1))
    np.testing.assert_array_equal(out[2, ::8], x.reshape(-1, 8).sum(1))
    rows = x.reshape(-1, 16)
    np.testing.assert_array_equal(out[3].reshape(-1, 16), rows.cumsum(1))
    np.testing.assert_array_equal(out[4].reshape(-1, 16), np.repeat(rows.sum(1), 16).reshape(-1, 16))
    np.testing.assert_array_equal(out[5].reshape(-1, 16), rows.cumsum(1) - rows + 100)
    np.testing.assert_array_equal(out[6].reshape(-1, 16), np.repeat(rows[:, 3], 16).reshape(-1, 16))
    for warp in range(2):
        lanes = np.arange(32) + 32 * warp
        heads = [i for i in lanes if i % 5 == 0 or i == lanes[0]]
        for a, b in zip(heads, [*heads[1:], lanes[-1] + 1], strict=True):
            assert out[7, a] == x[a:b].sum()
        tails = [i for i in lanes if i % 5 == 4 or i == lanes[-1]]
        for a, b in zip([lanes[0], *[t + 1 for t in tails[:-1]]], tails, strict=True):
            assert out[8, a] == x[a : b + 1].sum()


def test_block_scans(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cub/block/block_scan.cuh>
        struct Running {
          int total;
          __device__ Running(int t) : total(t) {}
          __device__ int operator()(int aggregate) { int old = total; total += aggregate; return old; }
        };
        __global__ void k(const int* x, int* out, int n) {
          typedef cub::BlockScan<int, 96, cub::BLOCK_SCAN_WARP_SCANS> Scan;
          __shared__ typename Scan::TempStorage temp;
          int t = threadIdx.x, v = x[t], r, all;
          Scan(temp).InclusiveSum(v, r, all); out[t] = r; out[n + t] = all;
          __syncthreads();
          Scan(temp).ExclusiveSum(v, r); out[2 * n + t] = r;
          __syncthreads();
          Scan(temp).ExclusiveScan(v, r, -1000, cuda::maximum<>{}); out[3 * n + t] = r;
          __syncthreads();
          Scan(temp).InclusiveScan(v, r, cuda::minimum<>{}); out[4 * n + t] = r;
          __syncthreads();
          Running running(7);
          for (int pass = 0; pass < 2; ++pass) {
            Scan(temp).ExclusiveSum(v, r, running); out[(5 + pass) * n + t] = r;
            __syncthreads();
          }
        }
        __global__ void items(const int* x, int* out, int n) {
          typedef cub::BlockScan<int, 64> Scan;
          __shared__ Scan::TempStorage temp;
          int a[3], b[3], all;
          for (int i = 0; i < 3; ++i) a[i] = b[i] = x[threadIdx.x * 3 + i];
          Scan(temp).ExclusiveSum(a, a, all);
          __syncthreads();
          Scan(temp).InclusiveScan(b, b, cuda::maximum<>{});
          for (int i = 0; i < 3; ++i) { out[threadIdx.x * 3 + i] = a[i]; out[n + threadIdx.x * 3 + i] = b[i]; }
          out[2 * n] = all;
        }
        """.replace("out[2 * n] = all;", "if (threadIdx.x == 0) out[2 * n] = all;"),
        check=check,
    )
    x = np.random.default_rng(3).integers(-9, 9, 192).astype(np.int32)
    out = np.zeros((7, 96), np.int32)
    program.launch("k", 1, 96, (x, out, 96))
    y = x[:96]
    np.testing.assert_array_equal(out[0], y.cumsum())
    assert (out[1] == y.sum()).all()
    np.testing.assert_array_equal(out[2], y.cumsum() - y)
    np.testing.assert_array_equal(out[3], [-1000, *np.maximum.accumulate(y)[:-1]])
    np.testing.assert_array_equal(out[4], np.minimum.accumulate(y))
    np.testing.assert_array_equal(out[5], y.cumsum() - y + 7)
    np.testing.assert_array_equal(out[6], y.cumsum() - y + 7 + y.sum())
    out = np.zeros((3, 192), np.int32)
    program.launch("items", 1, 64, (x, out, 192))
    np.testing.assert_array_equal(out[0], x.cumsum() - x)
    np.testing.assert_array_equal(out[1], np.maximum.accumulate(x))
    assert out[2, 0] == x.sum()


@pytest.mark.parametrize("how", ["DIRECT", "STRIPED", "VECTORIZE", "TRANSPOSE", "WARP_TRANSPOSE"])
def test_loads_and_stores(compile_source: Any, check: bool, how: str) -> None:
    program = compile_source(
        """
        #include <cub/block/block_load.cuh>
        #include <cub/block/block_store.cuh>
        __global__ void k(const float* x, float* seen, float* out, int n) {
          typedef cub::BlockLoad<float, 48, 4, cub::BLOCK_LOAD_HOW> Load;
          typedef cub::BlockStore<float, 48, 4, cub::BLOCK_STORE_HOW> Store;
          __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } temp;
          float items[4];
          Load(temp.load).Load(x, items, n, -1.0f);
          for (int i = 0; i < 4; ++i) seen[threadIdx.x * 4 + i] = items[i];
          __syncthreads();
          Store(temp.store).Store(out, items, n);
        }
        """.replace("HOW", how),
        check=check,
    )
    for n in (192, 101):
        x, seen, out = np.arange(n, dtype=np.float32), np.zeros(192, np.float32), np.zeros(n, np.float32)
        program.launch("k", 1, 48, (x, seen, out, n))
        np.testing.assert_array_equal(out, x)
        full = np.full(192, -1, np.float32)
        full[:n] = x
        np.testing.assert_array_equal(seen, full.reshape(4, 48).T.ravel() if how == "STRIPED" else full)


def test_exchanges(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cub/cub.cuh>
        __global__ void k(const short* x, short* out, int n) {
          typedef cub::BlockExchange<short, 64, 2> Exchange;
          __shared__ typename Exchange::TempStorage temp;
          short v[2] = {x[threadIdx.x * 2], x[threadIdx.x * 2 + 1]}, r[2];
          Exchange(temp).BlockedToStriped(v, r);
          for (int i = 0; i < 2; ++i) out[i * 64 + threadIdx.x] = r[i];
          __syncthreads();
          int ranks[2] = {127 - (int)threadIdx.x * 2, 126 - (int)threadIdx.x * 2};
          Exchange(temp).ScatterToBlocked(v, ranks);
          for (int i = 0; i < 2; ++i) out[n + threadIdx.x * 2 + i] = v[i];
        }
        """,
        check=check,
    )
    x = np.random.default_rng(4).integers(-99, 99, 128).astype(np.int16)
    out = np.zeros((2, 128), np.int16)
    program.launch("k", 1, 64, (x, out, 128))
    np.testing.assert_array_equal(out[0], x)
    np.testing.assert_array_equal(out[1], x[::-1])


@pytest.mark.parametrize(
    ("code", "dtype"), [("float", "f4"), ("int", "i4"), ("unsigned char", "u1"), ("double", "f8"), ("long long", "i8")]
)
def test_radix_sorts(compile_source: Any, check: bool, code: str, dtype: str) -> None:
    program = compile_source(
        """
        #include <cub/block/block_radix_sort.cuh>
        __global__ void k(const KEY* x, KEY* keys, int* at, KEY* down) {
          typedef cub::BlockRadixSort<KEY, 32, 3, int> Sort;
          __shared__ typename Sort::TempStorage temp;
          KEY a[3], b[3];
          int place[3];
          for (int i = 0; i < 3; ++i) { place[i] = threadIdx.x * 3 + i; a[i] = b[i] = x[place[i]]; }
          Sort(temp).Sort(a, place);
          __syncthreads();
          Sort(temp).SortDescendingBlockedToStriped(b);
          for (int i = 0; i < 3; ++i) {
            keys[threadIdx.x * 3 + i] = a[i]; at[threadIdx.x * 3 + i] = place[i]; down[i * 32 + threadIdx.x] = b[i];
          }
        }
        """.replace("KEY", code),
        check=check,
    )
    draw = np.random.default_rng(5).standard_normal(96) * 40
    x = np.abs(draw).astype(dtype) if dtype == "u1" else draw.astype(dtype)
    keys, at, down = np.zeros_like(x), np.zeros(96, np.int32), np.zeros_like(x)
    program.launch("k", 1, 32, (x, keys, at, down))
    np.testing.assert_array_equal(at, np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(keys, np.sort(x))
    np.testing.assert_array_equal(down, np.sort(x)[::-1])


def test_storage_that_is_used_again_without_a_barrier_is_a_race(fault_of: Callable[..., Fault]) -> None:
    fault = fault_of(
        """
        #include <cub/cub.cuh>
        __global__ void k(const float* x, float* out) {
          typedef cub::BlockReduce<float, 128> Reduce;
          __shared__ typename Reduce::TempStorage temp;
          float s = Reduce(temp).Sum(x[threadIdx.x]);
          float m = Reduce(temp).Reduce(x[threadIdx.x], cuda::maximum<>{});
          if (threadIdx.x == 0) { out[0] = s; out[1] = m; }
        }
        """,
        1,
        128,
        (np.ones(128, np.float32), np.zeros(2, np.float32)),
        check=True,
    )
    assert fault.kind.value == "race_shared"
    assert fault.line in (6, 7)


def test_a_block_that_is_smaller_than_declared_reads_what_nobody_wrote(fault_of: Callable[..., Fault]) -> None:
    fault = fault_of(
        """
        #include <cub/cub.cuh>
        __global__ void k(const float* x, float* out) {
          typedef cub::BlockReduce<float, 128> Reduce;
          __shared__ typename Reduce::TempStorage temp;
          float s = Reduce(temp).Sum(x[threadIdx.x]);
          if (threadIdx.x == 0) out[0] = s;
        }
        """,
        1,
        64,
        (np.ones(64, np.float32), np.zeros(1, np.float32)),
        check=True,
    )
    assert fault.kind.value == "uninitialised_shared"
    assert fault.line == 6


def test_collectives_behind_a_branch_diverge(fault_of: Callable[..., Fault]) -> None:
    fault = fault_of(
        """
        #include <cub/cub.cuh>
        __global__ void k(const float* x, float* out) {
          typedef cub::BlockReduce<float, 64> Reduce;
          __shared__ typename Reduce::TempStorage temp;
          if (threadIdx.x < 32) out[threadIdx.x] = Reduce(temp).Sum(x[threadIdx.x]);
          else out[threadIdx.x] = 0;
        }
        """,
        1,
        64,
        (np.ones(64, np.float32), np.zeros(64, np.float32)),
        check=True,
    )
    assert fault.kind.value == "barrier_divergence"


def test_hipcub_has_waves_of_64(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <hipcub/hipcub.hpp>
        __global__ void k(const float* x, float* out) {
          using Reduce = hipcub::BlockReduce<float, 256>;
          __shared__ typename Reduce::TempStorage temp;
          float s = Reduce(temp).Sum(x[threadIdx.x]);
          __shared__ typename hipcub::WarpReduce<float>::TempStorage warps[4];
          float w = hipcub::WarpReduce<float>(warps[threadIdx.x / 64]).Sum(x[threadIdx.x]);
          if (threadIdx.x == 0) { out[0] = s; out[1] = w; }
        }
        """,
        check=check,
        lanes=64,
        dialect="hip",
    )
    x, out = np.arange(256, dtype=np.float32), np.zeros(2, np.float32)
    program.launch("k", 1, 256, (x, out))
    assert out.tolist() == [x.sum(), x[:64].sum()]


def test_the_standard_library_of_libcudacxx(compile_source: Any) -> None:
    program = compile_source(
        """
        #include <cuda/std/limits>
        #include <cuda/std/type_traits>
        #include <cuda/std/utility>
        #include <cuda/functional>
        #include <cuda/cmath>
        __global__ void k(float* out) {
          float low = cuda::std::numeric_limits<float>::lowest();
          static_assert(cuda::std::is_same_v<decltype(low), float>);
          cuda::std::pair<int, float> p{3, 4.0f};
          out[0] = low; out[1] = cuda::maximum<>{}(2.0f, 5.0f); out[2] = cuda::minimum<float>{}(2.0f, 5.0f);
          out[3] = p.first; out[4] = cuda::ceil_div(10, 4);
        }
        """
    )
    out = np.zeros(5, np.float32)
    program.launch("k", 1, 1, (out,))
    assert out.tolist() == [np.finfo(np.float32).min, 5, 2, 3, 3]


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("void f() { cub::DeviceReduce::Sum(a, b, c, d, n); }", "CUB's device-wide algorithms"),
        ("#include <cub/device/device_scan.cuh>", "CUB's device-wide algorithms"),
        ("__device__ void f() { cub::BlockHistogram<int, 64, 1, 8> h; }", "CUB"),
        ("#include <cub/block/block_histogram.cuh>", "CUB"),
        ("__device__ void f() { rocprim::block_reduce<int> r; }", "rocPRIM"),
        ("__shared__ cuda::barrier<cuda::thread_scope_block> b;", "libcu++"),
        ("__device__ cuda::std::atomic<int> a;", "libcu++"),
    ],
)
def test_what_the_emulator_lacks_is_unsupported(compile_source: Any, text: str, construct: str) -> None:
    with pytest.raises(Unsupported) as caught:
        compile_source(text)
    assert caught.value.construct == construct


def test_every_header_and_name_of_ours_is_let_through() -> None:
    folder = SOURCES / "include" / "cub"
    names: set[str] = set()
    for path in sorted(folder.rglob("*.cuh")):
        assert find_unsupported(f"#include <{path.relative_to(folder.parent)}>") == [], path.name
        text = re.sub(r"namespace detail \{.*?\n\}  // namespace detail", "", Path(path).read_text(), flags=re.S)
        names.update(re.findall(r"^(?:class|struct|enum) (\w+)", text, re.M))
        names.update(re.findall(r"^SIMT_(?:INLINE|MEMBER inline) [\w ]+? (\w+)\(", text, re.M))
    assert {"BlockReduce", "WarpScan", "LaneId", "ThreadReduce", "KeyValuePair"} <= names
    unknown = {name for name in names if find_unsupported(f"auto a = cub::{name}();")}
    assert unknown == set()
    for name in re.findall(r"\b[A-Z]\w+", re.sub(r"\(.*?\)\S*|\\w\+", "", constructs._CUB)):
        text = "\n".join(path.read_text() for path in folder.rglob("*.cuh"))
        assert re.search(rf"\b{name}", text), name


GONE = {
    "Sum": ("y[t] = B(s).Reduce(t, cub::Sum());", r"cuda::std::plus<>"),
    "Max": ("y[t] = B(s).Reduce(t, cub::Max());", r"cuda::maximum<>"),
    "Min": ("y[t] = B(s).Reduce(t, cub::Min());", r"cuda::minimum<>"),
    "Equality": ("y[t] = cub::Equality()(t, 1);", r"cuda::std::equal_to<>"),
    "Inequality": ("y[t] = cub::Inequality()(t, 1);", r"cuda::std::not_equal_to<>"),
    "Difference": ("y[t] = cub::Difference()(t, 1);", r"cuda::std::minus<>"),
    "Division": ("y[t] = cub::Division()(t, 1);", r"cuda::std::divides<>"),
    "Int2Type": ("y[t] = cub::Int2Type<3>::VALUE;", r"cuda::std::integral_constant<int, N>"),
    "LaneId": ("y[t] = cub::LaneId();", r"threadIdx.x % 32"),
    "WarpId": ("y[t] = cub::WarpId();", r"threadIdx.x / 32"),
    "CTA_SYNC": ("cub::CTA_SYNC();", r"__syncthreads"),
    "WARP_SYNC": ("cub::WARP_SYNC(~0u);", r"__syncwarp"),
}


@pytest.mark.parametrize("name", GONE)
def test_what_the_cub_of_cuda_13_has_lost(compile_source: Any, name: str) -> None:
    use, instead = GONE[name]
    source = (
        "#include <cub/cub.cuh>\n__global__ void k(int* y) {\n  int t = threadIdx.x;\n"
        f"  typedef cub::BlockReduce<int, 64> B; __shared__ B::TempStorage s;\n  {use}\n}}"
    )
    with pytest.raises(
        CompileError, match=rf"kernel.cu:5: .*cub::{name} is not in the CUB of CUDA 13: use {instead}"
    ) as caught:
        compile_source(source)
    assert caught.value.line == 5
    hip = "#include <hip/hip_runtime.h>\n" + source.replace("cub/cub.cuh", "hipcub/hipcub.hpp")
    assert "k" in compile_source(hip.replace("cub::", "hipcub::"), dialect="hip", lanes=64).kernels
