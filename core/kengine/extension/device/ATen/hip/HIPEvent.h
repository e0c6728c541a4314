#pragma once
#include <ATen/cuda/CUDAEvent.h>

namespace at::cuda {
using HIPEvent = CUDAEvent;
}
