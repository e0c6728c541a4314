#pragma once
#include "hip_runtime.h"
#define HIP_INF_F (__builtin_inff())
#define HIP_NAN_F (__builtin_nanf(""))
#define HIP_INF (__builtin_inf())
#define HIP_NAN (__builtin_nan(""))
#define HIP_PI_F 3.141592654f
#define HIP_PI 3.1415926535897931
#define HIP_MAX_NORMAL_F 3.402823466e38f
#define HIP_L2E_F 1.442695041f
#define HIP_LN2_F 0.693147181f
#define HIP_SQRT_TWO_F 1.414213562f
