// The host header: device names only.
#pragma once
#include "hiprand_kernel.h"
