#pragma once  // its content is always included
#ifndef SIMT_HIP
#error "hip/hip_math_constants.h is no header of CUDA"
#endif
