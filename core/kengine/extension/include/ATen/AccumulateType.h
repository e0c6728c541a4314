#pragma once
#include "light/accumulate_type.h"
