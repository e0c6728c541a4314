// Events of the device.
#pragma once
#include "light/guard.h"

namespace at::cuda {
class CUDAEvent {
 public:
  explicit CUDAEvent(unsigned int flags = cudaEventDisableTiming) : flags_(flags) {}
  ~CUDAEvent() { if (event_) (void)cudaEventDestroy(event_); }
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&& o) noexcept : flags_(o.flags_), event_(o.event_), recorded_(o.recorded_) { o.event_ = nullptr, o.recorded_ = false; }
  CUDAEvent& operator=(CUDAEvent&& o) noexcept {
    std::swap(flags_, o.flags_), std::swap(event_, o.event_), std::swap(recorded_, o.recorded_);
    return *this;
  }
  operator cudaEvent_t() const { return event_; }
  cudaEvent_t event() const { return event_; }
  bool isCreated() const { return event_ != nullptr; }
  bool query() const { return !recorded_ || cudaEventQuery(event_) == cudaSuccess; }
  void record() { record(getCurrentCUDAStream()); }
  void recordOnce(const CUDAStream& stream) { if (!recorded_) record(stream); }
  void record(const CUDAStream& stream) {
    if (!event_) C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    C10_CUDA_CHECK(cudaEventRecord(event_, stream));
    recorded_ = true;
  }
  void block(const CUDAStream& stream) { if (recorded_) C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0)); }
  void synchronize() const { if (recorded_) C10_CUDA_CHECK(cudaEventSynchronize(event_)); }
  float elapsed_time(const CUDAEvent& end) const {
    TORCH_CHECK(recorded_ && end.recorded_, "Both events must be recorded before calculating elapsed time.");
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, event_, end.event_));
    return ms;
  }

 private:
  unsigned int flags_;
  cudaEvent_t event_ = nullptr;
  bool recorded_ = false;
};
}  // namespace at::cuda
