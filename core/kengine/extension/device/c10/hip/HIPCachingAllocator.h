#pragma once
#include <c10/cuda/CUDACachingAllocator.h>

namespace c10::hip {
namespace HIPCachingAllocator = c10::cuda::CUDACachingAllocator;
}
