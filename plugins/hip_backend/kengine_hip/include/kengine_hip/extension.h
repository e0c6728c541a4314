// What goes in front of torch's headers when an extension's host code is only read: device code uses c10's small floats.
#pragma once
#define TORCH_EXTENSION_NAME kengine_extension
#include "light/macros.h"
#pragma clang force_cuda_host_device begin
#include "light/half.h"
#pragma clang force_cuda_host_device end
