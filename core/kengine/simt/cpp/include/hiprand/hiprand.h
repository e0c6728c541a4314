// The host header: device names only.
#pragma once
#ifndef SIMT_HIP
#error "hiprand/hiprand.h is no header of CUDA"
#endif
#include "hiprand_kernel.h"
