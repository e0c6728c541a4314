#pragma once
#include <ATen/cuda/CUDAApplyUtils.cuh>
