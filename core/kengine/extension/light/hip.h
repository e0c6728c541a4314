// The names that HIP sources use for the same streams and guards.
#pragma once
#include "guard.h"

#define C10_HIP_CHECK(expression) C10_CUDA_CHECK(expression)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
namespace c10::hip {
using HIPStream = c10::cuda::CUDAStream;
using HIPStreamMasqueradingAsCUDA = c10::cuda::CUDAStream;
using HIPGuard = c10::cuda::CUDAGuard;
using HIPGuardMasqueradingAsCUDA = c10::cuda::CUDAGuard;
using OptionalHIPGuard = c10::cuda::OptionalCUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = c10::cuda::OptionalCUDAGuard;
using HIPStreamGuard = c10::cuda::CUDAStreamGuard;
using c10::cuda::current_device;
using c10::cuda::device_count;
using c10::cuda::set_device;
inline HIPStream getCurrentHIPStream(int d = -1) { return c10::cuda::getCurrentCUDAStream(d); }
inline HIPStream getCurrentHIPStreamMasqueradingAsCUDA(int d = -1) { return c10::cuda::getCurrentCUDAStream(d); }
inline HIPStream getDefaultHIPStream(int d = -1) { return c10::cuda::getDefaultCUDAStream(d); }
inline HIPStream getStreamFromPool(bool high_priority = false, int d = -1) { return c10::cuda::getStreamFromPool(high_priority, d); }
}  // namespace c10::hip
namespace at::hip {
using namespace c10::hip;
using at::cuda::getCurrentDeviceProperties;
using at::cuda::warp_size;
}  // namespace at::hip
