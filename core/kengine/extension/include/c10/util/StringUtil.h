#pragma once
#include "light/everything.h"
