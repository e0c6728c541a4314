#pragma once
#include "hip_bf16.h"
#include "../kengine_hip/fp8.h"
