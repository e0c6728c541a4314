// The objects of one compiled program. Included once, after simt.h and before the candidate.
#pragma once
extern "C" {
__attribute__((weak, visibility("hidden"))) void* __dso_handle = &__dso_handle;  // programs are linked without start files
__attribute__((visibility("hidden"))) uint3 simt_thread_index;
__attribute__((visibility("hidden"))) uint3 simt_block_index;
__attribute__((visibility("hidden"))) dim3 simt_block_dim;
__attribute__((visibility("hidden"))) dim3 simt_grid_dim;
__attribute__((visibility("hidden"))) char* simt_dynamic_pointer;
__attribute__((visibility("hidden"))) simt::Module simt_module = {
    &simt_thread_index, &simt_block_index, &simt_block_dim, &simt_grid_dim, &simt_dynamic_pointer, SIMT_LANES,
#ifdef SIMT_CHECK
    1,
#else
    0,
#endif
    SIMT_STRICT_EXIT, 0, nullptr, nullptr};
__attribute__((visibility("default"))) simt::Module* simt_program() { return &simt_module; }
}
