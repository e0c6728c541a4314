#pragma once
#include "hip_runtime.h"
#include "../kengine_hip/groups.h"
