#pragma once
#include "light/hip.h"
