// Guards that make a device or a stream current for a scope.
#pragma once
#include "cuda.h"

namespace light {
class Guard {
 public:
  Guard() : before_(::light::current_device()) {}
  explicit Guard(c10::Device d) : Guard() { set_device(d); }
  explicit Guard(std::optional<c10::Device> d) : Guard() { if (d) set_device(*d); }
  ~Guard() { (void)cudaSetDevice(before_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  void set_device(c10::Device d) { if (d.type() == c10::DeviceType::CUDA && d.index() >= 0) C10_CUDA_CHECK(cudaSetDevice(d.index())); }
  void reset_device(c10::Device d) { set_device(d); }
  void set_index(int i) { C10_CUDA_CHECK(cudaSetDevice(i)); }
  c10::Device original_device() const { return c10::Device(kDevice, static_cast<c10::DeviceIndex>(before_)); }
  c10::Device current_device() const { return c10::Device(kDevice, static_cast<c10::DeviceIndex>(::light::current_device())); }

 private:
  int before_;
};
}  // namespace light

namespace c10 {
namespace cuda {
struct CUDAGuard : ::light::Guard {
  explicit CUDAGuard(Device d) : Guard(d) {}
  explicit CUDAGuard(DeviceIndex i) { set_index(i); }
};
struct OptionalCUDAGuard : ::light::Guard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> d) : Guard(d) {}
  explicit OptionalCUDAGuard(Device d) : Guard(d) {}
  explicit OptionalCUDAGuard(DeviceIndex i) { set_index(i); }
};
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream s) : before_(getCurrentCUDAStream()) { setCurrentCUDAStream(s); }
  ~CUDAStreamGuard() { setCurrentCUDAStream(before_); }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;

 private:
  CUDAStream before_;
};
}  // namespace cuda
#ifndef LIGHT_FULL_HEADERS
struct DeviceGuard : ::light::Guard {
  explicit DeviceGuard(Device d) : Guard(d) {}
};
struct OptionalDeviceGuard : ::light::Guard {
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device d) : Guard(d) {}
  explicit OptionalDeviceGuard(std::optional<Device> d) : Guard(d) {}
};
#endif
}  // namespace c10
namespace at {
#ifndef LIGHT_FULL_HEADERS
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
inline std::optional<Device> device_of(const Tensor& t) { return t.defined() ? std::optional<Device>(t.device()) : std::nullopt; }
#endif
namespace cuda {
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::OptionalCUDAGuard;
}  // namespace cuda
}  // namespace at
