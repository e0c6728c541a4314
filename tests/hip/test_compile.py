"""Real compiles without a device: what the code object says, host code beside kernels, templates, headers."""

from __future__ import annotations

import pytest
from kengine.native.driver import Configuration
from kengine_hip import resources
from kengine_hip.chips import CHIPS

ADD = """
#include <hip/hip_runtime.h>
extern "C" __global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + expf(y[i]);
}
"""


@pytest.mark.parametrize("arch", sorted(CHIPS))
def test_every_chip(build, arch) -> None:
    module = build(ADD, arch)
    (kernel,) = module.code
    assert (kernel.name, kernel.lanes) == ("add", CHIPS[arch].lanes)
    assert 2 <= kernel.vector <= 16 and 4 <= kernel.scalar <= 32
    assert (kernel.vector_spills, kernel.scratch, kernel.shared) == (0, 0, 0)
    assert kernel.threads == 1024 and kernel.arguments == ("global_buffer", "global_buffer", "by_value")
    record = resources.describe(kernel, CHIPS[arch], module.waves[kernel.name], ())
    assert record.occupancy == 1.0 and record.spills == 0 and record.details["wavefront_size"] == CHIPS[arch].lanes
    assert record.details["compiler_waves"] == CHIPS[arch].waves


def test_local_memory_scratch_and_bounds(build) -> None:
    text = """
    __global__ __launch_bounds__(128) void k(const float* x, float* y, int n) {
      __shared__ float tile[256];
      float own[300];
      for (int i = 0; i < 300; ++i) own[(i * n) % 300] = x[i * n];
      tile[threadIdx.x] = own[n % 300];
      __syncthreads();
      y[threadIdx.x] = tile[127 - threadIdx.x] + own[threadIdx.x % 300];
    }
    """
    (kernel,) = build(text).code
    assert kernel.shared >= 512 and kernel.threads == 128
    assert kernel.scratch >= 1200, "an array with a varying index lies in private memory"
    assert kernel.vector_spills == 0


def test_spills_are_counted(build) -> None:
    lines = "\n".join(f"  float v{i} = x[{i} * n] * x[{i} + n];" for i in range(200))
    total = " + ".join(f"v{i} * x[{i}]" for i in range(200))
    text = f"""
    __global__ __attribute__((amdgpu_num_vgpr(24), amdgpu_flat_work_group_size(1, 1024))) void k(
        const float* x, float* y, int n) {{
    {lines}
      __syncthreads();
      asm volatile("" ::: "memory");
      y[threadIdx.x] = {total};
    }}
    """
    module = build(text, "gfx90a")
    (kernel,) = module.code
    assert kernel.vector_spills > 0 and kernel.scratch > 0
    record = resources.describe(kernel, CHIPS["gfx90a"], None, ())
    assert record.spills == 4 * kernel.vector_spills


def test_dynamic_local_memory_limits_occupancy(build) -> None:
    module = build(ADD)
    launched = Configuration((8, 1, 1), (64, 1, 1), shared=32 << 10)
    module.launch("add", launched, (None, None, 1), False)
    record = resources.describe(module.code[0], CHIPS["gfx942"], None, module.configurations["add"])
    assert record.shared_bytes == 32 << 10
    assert record.occupancy == pytest.approx(2 * 1 / 4 / 8), "two groups of one wave on four units of eight waves"


@pytest.mark.parametrize(
    ("block", "shared", "part"),
    [((1025, 1, 1), 0, "1025 threads"), ((64, 1, 1), 70000, "70000 bytes of local memory"), ((0, 1, 1), 0, "without")],
)
def test_launch_limits_of_the_chip(build, block, shared, part) -> None:
    from kengine.errors import CandidateFault

    module = build(ADD)
    with pytest.raises(CandidateFault, match=part) as caught:
        module.launch("add", Configuration((1, 1, 1), block, shared), (None, None, 1), False)
    assert caught.value.status == "launch_failed"


def test_wrong_number_of_arguments_and_unknown_kernel(build) -> None:
    from kengine.errors import CandidateFault

    module = build(ADD)
    with pytest.raises(CandidateFault, match=r"add takes 3 arguments \(const float\* x, float\* y, int n\), 2 given"):
        module.launch("add", Configuration((1, 1, 1), (64, 1, 1)), (None, None), False)
    with pytest.raises(CandidateFault, match="has no kernel 'sub'; it has add"):
        module.launch("sub", Configuration((1, 1, 1), (64, 1, 1)), (), False)


HOST = """
#include <hip/hip_runtime.h>
#include <iostream>
#include <vector>
template <typename T> __global__ void scale(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * T(2);
}
__global__ void plain(float* y) { y[threadIdx.x] = 1.0f; }
int main() {
  std::vector<float> v(16);
  float* d = nullptr;
  if (hipMalloc(&d, 64) != hipSuccess) return 1;
  hipMemcpy(d, v.data(), 64, hipMemcpyHostToDevice);
  scale<float><<<dim3(1), dim3(16), 0, 0>>>(d, d, 16);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<double>), dim3(1), dim3(16), 0, 0, (double*)d, (double*)d, 16);
  hipLaunchKernelGGL(plain, dim3(1), dim3(16), 0, 0, d);
  std::cout << hipGetErrorString(hipDeviceSynchronize()) << std::endl;
}
"""


def test_host_code_does_not_stop_the_device_compile(build) -> None:
    assert sorted(build(HOST).kernels()) == ["plain", "scale<double>", "scale<float>"]


def test_broken_host_code_is_not_the_devices_business(build) -> None:
    module = build(HOST.replace("hipMalloc(&d, 64)", "no_such_function(&d, 64)"))
    assert sorted(module.kernels()) == ["plain", "scale<double>", "scale<float>"]


def test_deduced_templates_are_found_by_reading_the_host_code(build) -> None:
    text = HOST.replace("scale<float><<<", "scale<<<")
    assert sorted(build(text).kernels()) == ["plain", "scale<double>", "scale<float>"]


def test_an_instance_by_name(build) -> None:
    text = "template <class T, int N> __global__ void fill(T* y) { y[threadIdx.x] = T(N); }"
    module = build(text, instances=("fill<float, 4>", "fill<__half, 2>"))
    assert sorted(module.kernels()) == ["fill<__half, 2>", "fill<float, 4>"]
    assert module.find("fill<float,4>") is not None


def test_the_headers_cover_what_kernels_use(build) -> None:
    text = """
    #include <hip/hip_runtime.h>
    #include <hip/hip_fp16.h>
    #include <hip/hip_bf16.h>
    #include <hip/hip_fp8.h>
    #include <hip/hip_cooperative_groups.h>
    #include <cmath>
    namespace cg = cooperative_groups;
    extern __shared__ float dynamic[];
    __constant__ float table[16];
    __global__ void k(const float* x, float* y, half* h, __hip_bfloat16* b, half2* p, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float v = std::exp(x[i]) + std::sqrt(x[i]) + tanh(x[i]) + powf(x[i], 2.5f) + rsqrtf(x[i]) + fmaxf(x[i], 1.0f);
      for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
      v += __shfl_xor_sync(0xffffffffffffffffULL, v, 1) + __popcll(__ballot(v > 1)) + max(i, 3u) + INFINITY;
      v += dynamic[threadIdx.x] + table[i % 16] + __syncthreads_count(v > 0);
      cg::thread_block block = cg::this_thread_block();
      auto tile = cg::tiled_partition<32>(block);
      v += tile.shfl_down(v, 1) + tile.any(v > 2);
      block.sync();
      atomicAdd(y, v); atomicMax((int*)y, i); atomicCAS((unsigned*)y, 1u, 2u); atomicMin(y, v); atomicAdd(p, p[1]);
      float s, c; sincosf(v, &s, &c);
      h[0] = hexp(h[1]) * h[2] + __float2half(s); h[3] = h[1] * 2.0f; b[0] += b[1]; p[0] = __hfma2(p[1], p[2], p[3]);
      y[1] = (float)__hip_fp8_e4m3_fnuz(c) + __bfloat162float(b[2]) + float4(make_float4(1, 2, 3, 4) * 2.0f).w;
      if (threadIdx.x == 0) printf("%f %d", v, i);
      assert(i >= 0);
    }
    """
    for arch in sorted(CHIPS):
        (kernel,) = build(text, arch).code
        assert kernel.lanes == CHIPS[arch].lanes and not kernel.vector_spills


def test_cuda_text_is_compiled_as_hip(build) -> None:
    text = """
    #include <cuda_runtime.h>
    #include <cuda_bf16.h>
    #include <math_constants.h>
    __global__ void k(const __nv_bfloat16* x, float* y) { y[0] = __bfloat162float(x[0]) + CUDART_PI_F; }
    void run(__nv_bfloat16* x, float* y, cudaStream_t s) { k<<<1, 64, 0, s>>>(x, y); cudaStreamSynchronize(s); }
    """
    assert build(text, name="k.cu").kernels() == ("k",)


def test_a_rocm_that_does_not_know_the_chip(tmp_path, toolchain) -> None:
    from kengine.errors import CandidateFault
    from kengine.model import Candidate, SourceFile
    from kengine.native.driver import Unit
    from kengine.native.lines import locate
    from kengine_hip import offline
    from kengine_hip.offline import Offline
    from kengine_hip.toolchain import Toolchain, pip_problem

    old = tmp_path / "hipcc"
    old.write_text("#!/bin/sh\necho \"clang: error: invalid target ID 'gfx942'; format is\" >&2\nexit 1\n")
    old.chmod(0o755)
    candidate = Candidate((SourceFile("k.hip", ADD),), "add", "hip")
    rocm = Toolchain("rocm", (str(old),), None, "hipcc 5.2")
    driver = Offline(CHIPS["gfx942"], rocm, candidate, tmp_path)
    unit = Unit(ADD, "k.hip", locate(ADD, ADD))
    if not pip_problem():
        assert driver.build(unit).kernels() == ("add",) and driver.toolchain.kind == "pip"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offline, "pip_problem", lambda: "no packages")
        alone = Offline(CHIPS["gfx942"], rocm, candidate, tmp_path)
        with pytest.raises(CandidateFault, match=r"hipcc 5\.2 cannot compile for gfx942") as caught:
            alone.build(unit)
    assert caught.value.status == "unsupported", "that is nothing against the candidate"
