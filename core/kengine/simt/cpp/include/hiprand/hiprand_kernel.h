// hipRAND's names for the same generators.
#pragma once
#ifndef SIMT_HIP
#error "hiprand/hiprand_kernel.h is no header of CUDA"
#endif
#include "../curand_kernel.h"
typedef curandState hiprandState;
typedef curandState hiprandState_t;
typedef curandStatePhilox4_32_10_t hiprandStatePhilox4_32_10_t;
#define hiprand_init curand_init
#define hiprand curand
#define hiprand_uniform curand_uniform
#define hiprand_uniform4 curand_uniform4
#define hiprand_uniform_double curand_uniform_double
#define hiprand_normal curand_normal
#define hiprand_normal2 curand_normal2
#define hiprand_normal4 curand_normal4
