#pragma once
#include "light/numeric_limits.h"
