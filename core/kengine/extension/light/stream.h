// Streams by their handles; null on the emulator.
#pragma once
#include "macros.h"

namespace light {
LIGHT_EXPORT void* current_stream(int device);
LIGHT_EXPORT void* stream_from_pool(bool high_priority, int device);
LIGHT_EXPORT void set_stream(void* stream, int device);
}  // namespace light
