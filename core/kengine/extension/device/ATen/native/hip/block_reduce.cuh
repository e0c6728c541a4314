#pragma once
#include <ATen/native/cuda/block_reduce.cuh>
