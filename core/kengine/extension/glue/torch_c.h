// The functions of torch's stable C interface that are used, declared here so that none of torch's headers is needed.
// The weak ones are missing from older releases, or from builds without a device.
#pragma once
#include <cstdint>

struct AtenTensorOpaque;
using Handle = AtenTensorOpaque*;
extern "C" {
int aoti_torch_new_tensor_handle(Handle, Handle*);
int aoti_torch_delete_tensor_object(Handle);
int aoti_torch_get_dim(Handle, int64_t*);
int aoti_torch_get_numel(Handle, int64_t*);
int aoti_torch_get_sizes(Handle, int64_t**);
int aoti_torch_get_strides(Handle, int64_t**);
int aoti_torch_get_dtype(Handle, int32_t*);
int aoti_torch_get_device_type(Handle, int32_t*);
int aoti_torch_get_device_index(Handle, int32_t*);
int aoti_torch_get_storage_offset(Handle, int64_t*);
int aoti_torch_get_data_ptr(Handle, void**);
int aoti_torch_empty_strided(int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t, Handle*);
int aoti_torch_zero_(Handle);
int aoti_torch_copy_(Handle, Handle, int32_t);
int aoti_torch_create_tensor_from_blob(void*, int64_t, const int64_t*, const int64_t*, int64_t, int32_t, int32_t, int32_t, Handle*);
__attribute__((weak)) int torch_from_blob(void*, int64_t, const int64_t*, const int64_t*, int64_t, int32_t, int32_t, int32_t, Handle*, int32_t, const uint8_t*, int64_t, void (*)(void*, void*), void*);
__attribute__((weak)) const char* torch_exception_get_what_without_backtrace();
}
