#pragma once
#include "hip_fp16.h"
#include "../kengine_hip/bfloat16.h"
