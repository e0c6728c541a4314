// Streams, errors and properties of the device, for host code with the runtime's headers. Serves torch's own headers, too.
#pragma once
#include <cuda_runtime.h>

#ifndef LIGHT_FULL_HEADERS
#include "everything.h"
#endif
#include "stream.h"

namespace light {
#if defined(LIGHT_FULL_HEADERS) && defined(SIMT_LANES)
constexpr c10::DeviceType kDevice = c10::DeviceType::CPU;  // where torch's own headers see emulated tensors
#else
constexpr c10::DeviceType kDevice = c10::DeviceType::CUDA;
#endif
inline int current_device() {
  int d = 0;
  (void)cudaGetDevice(&d);
  return d;
}
inline void check_cuda(cudaError_t e, const char* file, int line) {
  if (e == cudaSuccess) return;
  (void)cudaGetLastError();
  TORCH_CHECK(false, "CUDA error: ", cudaGetErrorString(e), " (", file, ":", line, ")");
}
}  // namespace light

#define C10_CUDA_CHECK(expression) ::light::check_cuda((expression), __FILE__, __LINE__)
#define AT_CUDA_CHECK(expression) C10_CUDA_CHECK(expression)
#define C10_CUDA_CHECK_WARN(expression) ((void)(expression))
#define C10_CUDA_IGNORE_ERROR(expression) ((void)(expression))
#define C10_CUDA_ERROR_HANDLED(expression) (expression)
#define C10_CUDA_CLEAR_ERROR() ((void)cudaGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_DSA_KERNEL_LAUNCH(kernel, grid, block, shared, stream, ...) do { kernel<<<grid, block, shared, stream>>>(__VA_ARGS__); C10_CUDA_KERNEL_LAUNCH_CHECK(); } while (0)

namespace c10::cuda {
using DeviceIndex = c10::DeviceIndex;
class CUDAStream {
 public:
  explicit CUDAStream(cudaStream_t s = nullptr, int device = 0) : stream_(s), device_(device) {}
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
  DeviceIndex device_index() const { return static_cast<DeviceIndex>(device_); }
  DeviceType device_type() const { return device().type(); }
  Device device() const { return Device(::light::kDevice, static_cast<DeviceIndex>(device_)); }
  int64_t id() const { return static_cast<int64_t>(reinterpret_cast<intptr_t>(stream_)); }
  void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  bool query() const { return cudaStreamQuery(stream_) == cudaSuccess; }
  CUDAStream unwrap() const { return *this; }
  bool operator==(const CUDAStream& o) const { return stream_ == o.stream_; }
  bool operator!=(const CUDAStream& o) const { return stream_ != o.stream_; }

 private:
  cudaStream_t stream_;
  int device_;
};
inline CUDAStream getCurrentCUDAStream(int device = -1) {
  if (device < 0) device = ::light::current_device();
  return CUDAStream(static_cast<cudaStream_t>(::light::current_stream(device)), device);
}
inline CUDAStream getDefaultCUDAStream(int device = -1) { return CUDAStream(nullptr, device < 0 ? ::light::current_device() : device); }
inline CUDAStream getStreamFromPool(bool high_priority = false, int device = -1) {
  if (device < 0) device = ::light::current_device();
  return CUDAStream(static_cast<cudaStream_t>(::light::stream_from_pool(high_priority, device)), device);
}
inline CUDAStream getStreamFromExternal(cudaStream_t s, int device) { return CUDAStream(s, device); }
inline void setCurrentCUDAStream(const CUDAStream& s) { ::light::set_stream(s.stream(), s.device_index()); }
inline DeviceIndex current_device() { return static_cast<DeviceIndex>(::light::current_device()); }
inline void set_device(int d) { C10_CUDA_CHECK(cudaSetDevice(d)); }
inline DeviceIndex device_count() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess ? static_cast<DeviceIndex>(n) : DeviceIndex(0);
}
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }
inline std::ostream& operator<<(std::ostream& out, const CUDAStream& s) { return out << "stream " << s.id() << " on device " << s.device(); }
}  // namespace c10::cuda

namespace at::cuda {
using c10::cuda::CUDAStream;
using c10::cuda::current_device;
using c10::cuda::device_count;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromExternal;
using c10::cuda::getStreamFromPool;
using c10::cuda::set_device;
using c10::cuda::setCurrentCUDAStream;
inline bool is_available() { return device_count() > 0; }
inline cudaDeviceProp* getDeviceProperties(int device = -1) {
  static cudaDeviceProp properties[16];
  static bool known[16];
  if (device < 0) device = ::light::current_device();
  if (!known[device & 15]) {
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties[device & 15], device));
    known[device & 15] = true;
  }
  return &properties[device & 15];
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
}  // namespace at::cuda
#ifndef LIGHT_FULL_HEADERS
namespace torch::cuda {
inline bool is_available() { return at::cuda::is_available(); }
inline size_t device_count() { return static_cast<size_t>(at::cuda::device_count()); }
inline void synchronize(int64_t = -1) { c10::cuda::device_synchronize(); }
}  // namespace torch::cuda
#endif
