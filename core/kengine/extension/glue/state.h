// What the files of the glue library share.
#pragma once
#include <map>
#include <unordered_map>

#include "light/everything.h"
#include "light/stream.h"
#include "python_c.h"
#include "torch_c.h"

namespace light {
// A tensor. Under emulation all memory is the host's; `host` says that the candidate means the host.
struct Body {
  Handle handle;
  bool host;
  long references;
};

// A Python error that is set and passes through C++ as this.
struct PythonError : std::exception {
  PythonError();
  PythonError(const PythonError&) = delete;
  ~PythonError() override;
  const char* what() const noexcept override { return text.c_str(); }
  mutable PyObject *type, *value, *trace;
  std::string text;
};

// The emulator's runtime, or nothing on a device.
struct Emulator {
  bool on = false;
  size_t alignment = 16;
  void* (*allocate)(size_t, size_t, size_t, unsigned, const char*) = nullptr;
  int (*free)(void*) = nullptr;
  void (*remember)(const char*, void*, size_t, size_t) = nullptr;
  void (*forget)(void*) = nullptr;
  int (*holds)(const void*, size_t) = nullptr;
};
extern Emulator emulator;

Body* adopt(Handle handle, bool host);
PyObject* wrap(Handle handle);                  // a new torch.Tensor
Handle unwrap(PyObject* tensor);                // a new handle
bool is_tensor(PyObject* o);
bool is_on_host(PyObject* tensor);              // where a device is pretended: whether it would be the host's
void put_on_device(PyObject* tensor);           // have it say there that it is on the device
PyObject* torch_module();
PyObject* dtype_object(c10::ScalarType t);      // borrowed
PyObject* device_object(const c10::Device& d);  // new
PyObject* import_attribute(const char* module, const char* name);
PyObject* checked(PyObject* o);                 // throws PythonError for null
void checked(int status);                       // of torch's C interface
PyObject* to_python(const Value& v);            // new; not for options, dtype or device as keywords
void register_memory(Handle handle, const char* name);
void forget_memory();
std::string shape_text(const int64_t* sizes, int64_t n);
}  // namespace light
