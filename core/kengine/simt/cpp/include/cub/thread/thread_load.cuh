// Loads and stores with cache hints, which say nothing here.
#pragma once
#include "../util_type.cuh"

namespace cub {

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier, class I>
SIMT_MEMBER inline auto ThreadLoad(I from) { return *from; }
template <CacheStoreModifier, class I, class T>
SIMT_MEMBER inline void ThreadStore(I to, T v) { *to = v; }

}  // namespace cub
