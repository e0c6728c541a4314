#pragma once
#include <ATen/native/cuda/KernelUtils.cuh>
