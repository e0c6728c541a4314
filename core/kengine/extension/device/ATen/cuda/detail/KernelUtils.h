#pragma once
#include "light/kernel_utils.h"
