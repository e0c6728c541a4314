#pragma once
#include "thread_reduce.cuh"
