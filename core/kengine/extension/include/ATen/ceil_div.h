#pragma once
#include "light/ceil_div.h"
