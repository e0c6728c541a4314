#pragma once  // its content is always included
#ifndef SIMT_HIP
#error "hip/hip_runtime_api.h is no header of CUDA"
#endif
