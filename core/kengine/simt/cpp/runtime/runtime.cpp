// The runtime library as one translation unit.
#include "launch.cpp"
#include "fiber.cpp"
#include "scheduler.cpp"
#include "memory.cpp"
#include "fault.cpp"
#include "check.cpp"
#include "hooks.cpp"
