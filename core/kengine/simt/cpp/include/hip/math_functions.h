#pragma once  // its content is always included
#ifndef SIMT_HIP
#error "hip/math_functions.h is no header of CUDA"
#endif
