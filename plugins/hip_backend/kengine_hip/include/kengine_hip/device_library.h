// The constants that AMD's device library is specialised by. An installation of ROCm has a bitcode file for each value;
// here they are defined in the compiled module itself. KENGINE_ISA is 1000 * major + 100 * minor + stepping.
#pragma once
#define KENGINE_CONSTANT(type, name, value) \
  extern "C" inline __attribute__((constant, used, visibility("hidden"))) const type __oclc_##name = value;
KENGINE_CONSTANT(int, ISA_version, KENGINE_ISA)
KENGINE_CONSTANT(int, ABI_version, 500)
KENGINE_CONSTANT(bool, wavefrontsize64, KENGINE_WAVE == 64)
KENGINE_CONSTANT(bool, finite_only_opt, false)
KENGINE_CONSTANT(bool, unsafe_math_opt, false)
KENGINE_CONSTANT(bool, daz_opt, false)
KENGINE_CONSTANT(bool, correctly_rounded_sqrt32, true)
