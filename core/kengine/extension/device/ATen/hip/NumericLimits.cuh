#pragma once
#include <ATen/cuda/NumericLimits.cuh>
