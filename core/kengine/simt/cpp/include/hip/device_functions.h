#pragma once  // its content is always included
#ifndef SIMT_HIP
#error "hip/device_functions.h is no header of CUDA"
#endif
