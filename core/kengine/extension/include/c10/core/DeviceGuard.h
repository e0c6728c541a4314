#pragma once
#include "light/guard.h"
