// HIP for a bare clang: everything that device code may name, and the host side as declarations.
#pragma once
#include "../kengine_hip/language.h"
#include "../kengine_hip/vector_types.h"
#include "../kengine_hip/math.h"
#include "../kengine_hip/integer.h"
#include "../kengine_hip/warp.h"
#include "../kengine_hip/atomic.h"
#include "../kengine_hip/host_api.h"
