// Everything a device source sees before its first line. Included by force, and precompiled.
#pragma once
// The mathematical special functions of C++17, which no device has, would be instantiated for every candidate: 20 ms.
#define _GLIBCXX_BITS_SPECFUN_H 1
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "abi.h"
#include "language.h"
#include "vector_types.h"
#include "ext_vector.h"
#include "launch.h"
#include "math.h"
#include "integer.h"
#include "convert.h"
#include "half.h"
#include "half_math.h"
#include "fp8.h"
#include "warp.h"
#include "atomic.h"
#include "host_types.h"
#include "host.h"
#include "hip.h"
