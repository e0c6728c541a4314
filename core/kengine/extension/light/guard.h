// Guards that make a device or a stream current for a scope.
#pragma once
#include "cuda.h"

namespace c10 {
class DeviceGuard {
 public:
  explicit DeviceGuard(Device d) { enter(d); }
  ~DeviceGuard() { (void)cudaSetDevice(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  void set_device(Device d) { if (d.is_cuda() && d.index() >= 0) C10_CUDA_CHECK(cudaSetDevice(d.index())); }
  void reset_device(Device d) { set_device(d); }
  void set_index(int i) { set_device(Device(kCUDA, i)); }
  Device original_device() const { return Device(kCUDA, before_); }
  Device current_device() const { return Device(kCUDA, ::light::current_device()); }

 protected:
  DeviceGuard() { enter(Device(kCPU)); }
  void enter(Device d) {
    before_ = ::light::current_device();
    set_device(d);
  }
  int before_ = 0;
};
class OptionalDeviceGuard : public DeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device d) : DeviceGuard(d) {}
  explicit OptionalDeviceGuard(std::optional<Device> d) { if (d) set_device(*d); }
};
namespace cuda {
class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(Device d) : DeviceGuard(d) {}
  explicit CUDAGuard(int i) : DeviceGuard(Device(kCUDA, i)) {}
};
class OptionalCUDAGuard : public DeviceGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> d) { if (d) set_device(*d); }
  explicit OptionalCUDAGuard(Device d) : DeviceGuard(d) {}
  explicit OptionalCUDAGuard(int i) : DeviceGuard(Device(kCUDA, i)) {}
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
}  // namespace c10
namespace at {
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;
inline std::optional<Device> device_of(const Tensor& t) { return t.defined() ? std::optional<Device>(t.device()) : std::nullopt; }
namespace cuda {
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::OptionalCUDAGuard;
}  // namespace cuda
}  // namespace at
