// The host side of HIP's runtime, declared so that host code in the same file can be read. Nothing of it is compiled.
#pragma once

typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef void* hipDeviceptr_t;
typedef int hipDevice_t;
enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorMemoryAllocation = 2,
  hipErrorNotInitialized = 3,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidDevicePointer = 17,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchFailure = 719,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999,
};
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9 };
enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual };
enum hipDeviceAttribute_t {
  hipDeviceAttributeMaxThreadsPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock, hipDeviceAttributeWarpSize,
  hipDeviceAttributeMultiprocessorCount, hipDeviceAttributeMaxThreadsPerMultiProcessor, hipDeviceAttributeMaxGridDimX,
  hipDeviceAttributeMaxBlockDimX, hipDeviceAttributeClockRate, hipDeviceAttributeL2CacheSize,
  hipDeviceAttributeComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMinor, hipDeviceAttributeCooperativeLaunch,
};
#define hipStreamDefault 0u
#define hipStreamNonBlocking 1u
#define hipStreamPerThread ((hipStream_t)2)
#define hipEventDefault 0u
#define hipEventDisableTiming 2u
#define hipHostMallocDefault 0u
#define hipMemAttachGlobal 1u
struct hipFuncAttributes { int binaryVersion, cacheModeCA, maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes; size_t constSizeBytes, localSizeBytes, sharedSizeBytes; };
struct hipDeviceProp_t {
  char name[256], gcnArchName[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, sharedMemPerMultiprocessor, maxSharedMemoryPerMultiProcessor;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate, memoryBusWidth;
  int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, concurrentKernels, cooperativeLaunch;
};
typedef hipDeviceProp_t hipDeviceProp_tR0600;

extern "C" {
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = nullptr);
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char* hipGetErrorString(hipError_t);
const char* hipGetErrorName(hipError_t);
hipError_t hipDeviceSynchronize();
hipError_t hipDeviceReset();
hipError_t hipSetDevice(int);
hipError_t hipGetDevice(int*);
hipError_t hipGetDeviceCount(int*);
hipError_t hipMemGetInfo(size_t*, size_t*);
hipError_t hipFree(void*);
hipError_t hipHostFree(void*);
hipError_t hipFreeHost(void*);
hipError_t hipFreeAsync(void*, hipStream_t);
hipError_t hipMemcpy(void*, const void*, size_t, hipMemcpyKind);
hipError_t hipMemset(void*, int, size_t);
hipError_t hipStreamCreate(hipStream_t*);
hipError_t hipStreamCreateWithFlags(hipStream_t*, unsigned);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipStreamQuery(hipStream_t);
hipError_t hipEventCreate(hipEvent_t*);
hipError_t hipEventCreateWithFlags(hipEvent_t*, unsigned);
hipError_t hipEventSynchronize(hipEvent_t);
hipError_t hipEventQuery(hipEvent_t);
hipError_t hipEventElapsedTime(float*, hipEvent_t, hipEvent_t);
hipError_t hipEventDestroy(hipEvent_t);
hipError_t hipGetDeviceProperties(hipDeviceProp_t*, int);
hipError_t hipDeviceGetAttribute(int*, hipDeviceAttribute_t, int);
hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t);
hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, unsigned, hipStream_t);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void**, void**);
}
hipError_t hipMemcpyAsync(void*, const void*, size_t, hipMemcpyKind, hipStream_t = nullptr);
hipError_t hipMemsetAsync(void*, int, size_t, hipStream_t = nullptr);
hipError_t hipMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, hipMemcpyKind);
hipError_t hipMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, hipMemcpyKind, hipStream_t = nullptr);
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned = 0);
hipError_t hipEventRecord(hipEvent_t, hipStream_t = nullptr);
template <class T> hipError_t hipMalloc(T**, size_t);
template <class T> hipError_t hipMallocAsync(T**, size_t, hipStream_t = nullptr);
template <class T> hipError_t hipMallocManaged(T**, size_t, unsigned = hipMemAttachGlobal);
template <class T> hipError_t hipHostMalloc(T**, size_t, unsigned = 0);
template <class T> hipError_t hipHostAlloc(T**, size_t, unsigned);
template <class T> hipError_t hipMallocHost(T**, size_t, unsigned = 0);
template <class T> hipError_t hipMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, hipMemcpyKind = hipMemcpyHostToDevice);
template <class T> hipError_t hipMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, hipMemcpyKind = hipMemcpyDeviceToHost);
template <class T> hipError_t hipGetSymbolAddress(void**, const T&);
template <class F> hipError_t hipFuncSetAttribute(F, hipFuncAttribute, int);
template <class F> hipError_t hipFuncSetCacheConfig(F, hipFuncCache_t);
template <class F> hipError_t hipFuncGetAttributes(hipFuncAttributes*, F);
template <class F> hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int*, F, int, size_t);
template <class F> hipError_t hipOccupancyMaxPotentialBlockSize(int*, int*, F, size_t = 0, int = 0);
#define HIP_SYMBOL(x) x
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGLInternal(kernel, grid, block, shared, stream, ...) (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define hipLaunchKernelGGL(kernel, ...) hipLaunchKernelGGLInternal((kernel), __VA_ARGS__)
