#pragma once
#ifndef SIMT_HIP
#error "hip/hip_cooperative_groups.h is no header of CUDA"
#endif
#include "../cooperative_groups.h"
