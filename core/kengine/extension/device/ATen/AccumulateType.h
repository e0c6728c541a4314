// Torch's own, before which the device's names for the CPU end: it tells both kinds of device apart.
#pragma once
#pragma push_macro("CUDA")
#pragma push_macro("cuda")
#undef CUDA
#undef cuda
#include_next <ATen/AccumulateType.h>
#pragma pop_macro("CUDA")
#pragma pop_macro("cuda")
