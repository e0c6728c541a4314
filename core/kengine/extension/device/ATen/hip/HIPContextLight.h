#pragma once
#include <ATen/cuda/CUDAContextLight.h>
