#pragma once
#include "light/everything.h"
#include "light/guard.h"
