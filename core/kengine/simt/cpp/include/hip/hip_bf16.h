#pragma once  // its content is always included
#ifndef SIMT_HIP
#error "hip/hip_bf16.h is no header of CUDA"
#endif
