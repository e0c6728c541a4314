#pragma once
#include <ATen/ceil_div.h>
#include <ATen/cuda/ApplyGridUtils.cuh>
#include <ATen/cuda/Atomic.cuh>
