// What torch itself allocates inside of an extension's functions lies in the emulator's memory, with inaccessible pages
// on both sides and NaN at first, as what the light headers allocate does. It stays known for as long as it lives.
#include <c10/core/CPUAllocator.h>

#include <cstring>

namespace {
void* (*emulated_allocate)(size_t, size_t, size_t, unsigned, const char*);
int (*emulated_free)(void*);
int (*emulated_holds)(const void*, size_t);
size_t alignment = 64;
c10::Allocator* before;
thread_local int depth;  // calls of extensions that this thread is in

// Memory is given back to where it came from, whoever asks at whatever time.
void release(void* p) {
  if (!p) return;
  if (emulated_holds(p, 1)) emulated_free(p);
  else before->raw_deleter()(p);
}

struct Guarded final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (!depth || !bytes) return before->allocate(bytes);
    void* p = emulated_allocate(bytes, 4, alignment, 0, "a tensor that torch made");
    if (!p) return before->allocate(bytes);
    std::memset(p, 0xff, bytes);
    return {p, p, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return before->raw_deleter() ? &release : nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
};
Guarded guarded;
}  // namespace

// The emulator's functions, in the order of light_emulate.
extern "C" __attribute__((visibility("default"))) void light_guard(void* const* functions, size_t least) {
  emulated_allocate = reinterpret_cast<decltype(emulated_allocate)>(functions[0]);
  emulated_free = reinterpret_cast<decltype(emulated_free)>(functions[1]);
  emulated_holds = reinterpret_cast<decltype(emulated_holds)>(functions[4]);
  alignment = least > 64 ? least : 64;  // as torch's own
  if (before) return;
  before = c10::GetCPUAllocator();
  c10::SetCPUAllocator(&guarded, 255);
}
extern "C" __attribute__((visibility("default"))) void light_enter(int by) { depth += by; }
