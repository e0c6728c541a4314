// Host side of the runtime API. Work is done at once, in the order of the calls: streams and events are order only.
#pragma once
#include <ctime>

namespace simt {
SIMT_INLINE cudaError_t result(int code) { return static_cast<cudaError_t>(code); }
SIMT_RAW double now_ms() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}
SIMT_RAW cudaError_t allocate(void** p, size_t n, const char* name) {
  *p = simt_allocate(n ? n : 1, 4, 0, name);
  if (!*p) return cudaErrorMemoryAllocation;
  memset(*p, 0xff, n);  // fresh device memory holds anything: NaN shows a read before a write
  return cudaSuccess;
}
}  // namespace simt

SIMT_INLINE cudaError_t cudaGetLastError() { return simt::result(simt_error(0, 0)); }
SIMT_INLINE cudaError_t cudaPeekAtLastError() { return simt::result(simt_error(2, 0)); }
SIMT_INLINE const char* cudaGetErrorString(cudaError_t e) { return simt_error_text(e); }
SIMT_INLINE const char* cudaGetErrorName(cudaError_t e) { return simt_error_text(e); }
SIMT_INLINE cudaError_t cudaDeviceSynchronize() { return simt::result(simt_error(2, 0)); }
SIMT_INLINE cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
SIMT_INLINE cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
SIMT_INLINE cudaError_t cudaDeviceReset() { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaSetDevice(int d) { return d ? cudaErrorInvalidDevice : cudaSuccess; }
SIMT_INLINE cudaError_t cudaGetDevice(int* d) { *d = 0; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaGetDeviceCount(int* n) { *n = 1; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaGetDeviceFlags(unsigned* f) { *f = 0; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDriverGetVersion(int* v) { *v = 12080; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaRuntimeGetVersion(int* v) { *v = 12080; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { *can = 0; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { if (least) *least = 0; if (greatest) *greatest = -5; return cudaSuccess; }

template <class T> SIMT_INLINE cudaError_t cudaMalloc(T** p, size_t n) { return simt::allocate(reinterpret_cast<void**>(p), n, "cudaMalloc"); }
template <class T> SIMT_INLINE cudaError_t cudaMallocAsync(T** p, size_t n, cudaStream_t = nullptr) { return cudaMalloc(p, n); }
template <class T> SIMT_INLINE cudaError_t cudaMallocManaged(T** p, size_t n, unsigned = 1) { return simt::allocate(reinterpret_cast<void**>(p), n, "cudaMallocManaged"); }
template <class T> SIMT_INLINE cudaError_t cudaMallocHost(T** p, size_t n, unsigned = 0) { return simt::allocate(reinterpret_cast<void**>(p), n, "cudaMallocHost"); }
template <class T>
SIMT_INLINE cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * height);
}
template <class T> SIMT_INLINE cudaError_t cudaHostAlloc(T** p, size_t n, unsigned) { return simt::allocate(reinterpret_cast<void**>(p), n, "cudaHostAlloc"); }
SIMT_INLINE cudaError_t cudaFree(void* p) { return simt::result(simt_free(p)); }
SIMT_INLINE cudaError_t cudaFreeAsync(void* p, cudaStream_t = nullptr) { return cudaFree(p); }
SIMT_INLINE cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }
SIMT_INLINE cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
template <class T> SIMT_INLINE cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned) { *p = static_cast<T*>(host); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  *a = {cudaMemoryTypeDevice, 0, const_cast<void*>(p), nullptr};
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemGetInfo(size_t* available, size_t* total) { *available = *total = size_t(80) << 30; return cudaSuccess; }

SIMT_INLINE cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind) { simt_copy(to, from, n, kind); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t = nullptr) { simt_copy(to, from, n, kind); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemset(void* p, int v, size_t n) { simt_fill(p, v, n); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemsetAsync(void* p, int v, size_t n, cudaStream_t = nullptr) { simt_fill(p, v, n); return cudaSuccess; }
SIMT_RAW cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  for (size_t i = 0; i < height; ++i) simt_copy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width, kind);
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaMemcpy2DAsync(void* to, size_t tp, const void* from, size_t fp, size_t w, size_t h, cudaMemcpyKind k, cudaStream_t = nullptr) { return cudaMemcpy2D(to, tp, from, fp, w, h, k); }
SIMT_INLINE cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t n) { simt_copy(to, from, n, cudaMemcpyDeviceToDevice); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t n, cudaStream_t = nullptr) { simt_copy(to, from, n, cudaMemcpyDeviceToDevice); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemset2D(void* p, size_t pitch, int v, size_t width, size_t height) {
  for (size_t i = 0; i < height; ++i) simt_fill(static_cast<char*>(p) + i * pitch, v, width);
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaMemset2DAsync(void* p, size_t pitch, int v, size_t width, size_t height, cudaStream_t = nullptr) { return cudaMemset2D(p, pitch, v, width, height); }
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t n, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  if (offset + n > sizeof(T)) return cudaErrorInvalidValue;
  simt_copy(reinterpret_cast<char*>(const_cast<std::remove_cv_t<T>*>(&symbol)) + offset, from, n, kind);
  return cudaSuccess;
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t n, size_t offset, cudaMemcpyKind kind, cudaStream_t = nullptr) { return cudaMemcpyToSymbol(symbol, from, n, offset, kind); }
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t n, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset + n > sizeof(T)) return cudaErrorInvalidValue;
  simt_copy(to, reinterpret_cast<const char*>(&symbol) + offset, n, kind);
  return cudaSuccess;
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t n, size_t offset, cudaMemcpyKind kind, cudaStream_t = nullptr) { return cudaMemcpyFromSymbol(to, symbol, n, offset, kind); }
template <class T> SIMT_INLINE cudaError_t cudaGetSymbolAddress(void** p, const T& symbol) { *p = const_cast<void*>(static_cast<const void*>(&symbol)); return cudaSuccess; }
template <class T> SIMT_INLINE cudaError_t cudaGetSymbolSize(size_t* n, const T&) { *n = sizeof(T); return cudaSuccess; }
#define HIP_SYMBOL(x) x

SIMT_INLINE cudaError_t cudaStreamCreate(cudaStream_t* s) { *s = nullptr; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { *s = nullptr; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) { *s = nullptr; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) { *priority = 0; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* flags) { *flags = 0; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void* data, unsigned) { f(s, cudaSuccess, data); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = 4) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) { *status = cudaStreamCaptureStatusNone; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t f, void* data) { f(data); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaEventCreate(cudaEvent_t* e) { *e = new simt_event{0}; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
SIMT_INLINE cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t = nullptr) { e->when = simt::now_ms(); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s = nullptr, unsigned = 0) { return cudaEventRecord(e, s); }
SIMT_INLINE cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) { *ms = static_cast<float>(b->when - a->when); return cudaSuccess; }
SIMT_INLINE cudaError_t cudaEventDestroy(cudaEvent_t e) { delete e; return cudaSuccess; }

SIMT_RAW cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  memset(p, 0, sizeof *p);
  snprintf(p->name, sizeof p->name, "kengine SIMT emulator");
  p->totalGlobalMem = size_t(80) << 30;
  p->totalConstMem = 65536;
  p->sharedMemPerBlock = static_cast<size_t>(simt_device_limit(1));
  p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor = static_cast<size_t>(simt_device_limit(2));
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = SIMT_LANES;
  p->maxThreadsPerBlock = simt_device_limit(0);
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->multiProcessorCount = simt_device_limit(3);
  p->major = simt_device_limit(4), p->minor = simt_device_limit(5);
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->clockRate = 1500000, p->memoryClockRate = 2000000, p->memoryBusWidth = 5120, p->l2CacheSize = 50 << 20;
  p->concurrentKernels = p->cooperativeLaunch = 1;
  return cudaSuccess;
}
SIMT_RAW cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  switch (a) {
    case cudaDevAttrMaxThreadsPerBlock: *v = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *v = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *v = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *v = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *v = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *v = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *v = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *v = static_cast<int>(p.sharedMemPerBlock); break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *v = static_cast<int>(p.sharedMemPerBlockOptin); break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *v = static_cast<int>(p.sharedMemPerMultiprocessor); break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *v = 1024; break;
    case cudaDevAttrTotalConstantMemory: *v = static_cast<int>(p.totalConstMem); break;
    case cudaDevAttrWarpSize: *v = p.warpSize; break;
    case cudaDevAttrMaxPitch: *v = 2147483647; break;
    case cudaDevAttrMaxRegistersPerBlock: *v = p.regsPerBlock; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *v = p.regsPerMultiprocessor; break;
    case cudaDevAttrClockRate: *v = p.clockRate; break;
    case cudaDevAttrMemoryClockRate: *v = p.memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *v = p.memoryBusWidth; break;
    case cudaDevAttrMultiProcessorCount: *v = p.multiProcessorCount; break;
    case cudaDevAttrComputeCapabilityMajor: *v = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *v = p.minor; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *v = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *v = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrL2CacheSize: *v = p.l2CacheSize; break;
    case cudaDevAttrIntegrated: *v = 0; break;
    case cudaDevAttrCanMapHostMemory: case cudaDevAttrConcurrentKernels: case cudaDevAttrUnifiedAddressing: case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch: case cudaDevAttrMemoryPoolsSupported: *v = 1; break;
    default: *v = 0; return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
template <class F>
SIMT_INLINE cudaError_t cudaFuncSetAttribute(F* kernel, int attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value > simt_device_limit(2)) { simt_error(1, cudaErrorInvalidValue); return cudaErrorInvalidValue; }
    simt_set_dynamic_limit(&simt_module, reinterpret_cast<const void*>(kernel), static_cast<uint64_t>(value));
  }
  return cudaSuccess;
}
template <class F> SIMT_INLINE cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> SIMT_INLINE cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* c) { *c = cudaFuncCachePreferNone; return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceSetLimit(int, size_t) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaDeviceGetLimit(size_t* n, cudaLimit which) { *n = which == cudaLimitStackSize ? 1024 : which == cudaLimitMallocHeapSize ? size_t(8) << 20 : size_t(1) << 20; return cudaSuccess; }
template <class F> SIMT_INLINE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, F) { memset(a, 0, sizeof *a); a->maxThreadsPerBlock = simt_device_limit(0); a->numRegs = 32; return cudaSuccess; }
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, F, int threads, size_t) { *n = threads > 0 && threads <= 2048 ? 2048 / threads : 0; return cudaSuccess; }
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, F f, int threads, size_t shared, unsigned) { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared); }
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* n, F, int, int) { *n = static_cast<size_t>(simt_device_limit(1)); return cudaSuccess; }
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F, size_t = 0, int limit = 0) { *block = limit ? limit : 256; *grid = simt_device_limit(3) * 8; return cudaSuccess; }
template <class F, class S>
SIMT_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F f, S, int limit = 0) { return cudaOccupancyMaxPotentialBlockSize(grid, block, f, 0, limit); }
template <class F>
SIMT_INLINE cudaError_t cudaLaunchKernel(F* f, dim3 g, dim3 b, void** values, size_t shared = 0, cudaStream_t = nullptr) { return simt::result(simt_launch_address(&simt_module, reinterpret_cast<const void*>(f), g, b, values, shared, 0)); }
template <class F>
SIMT_INLINE cudaError_t cudaLaunchCooperativeKernel(F* f, dim3 g, dim3 b, void** values, size_t shared = 0, cudaStream_t = nullptr) { return simt::result(simt_launch_address(&simt_module, reinterpret_cast<const void*>(f), g, b, values, shared, 1)); }
