#pragma once  // its content is always included
#ifndef SIMT_HIP
#error "hip/hip_vector_types.h is no header of CUDA"
#endif
