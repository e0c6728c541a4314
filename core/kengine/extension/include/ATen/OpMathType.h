#pragma once
#include "light/op_math_type.h"
