#pragma once
#include "thread_load.cuh"
