#pragma once
#include "hip_runtime.h"
#include "../kengine_hip/small_float.h"
#include "../kengine_hip/half.h"
