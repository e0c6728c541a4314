// Launches of extensions, seen and withheld: extensions are linked with --wrap for these functions of the runtime.
#include <cstddef>
#include <cstring>
#include <mutex>

struct Dim3 { unsigned x, y, z; };
extern "C" {
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t, void*) __attribute__((weak));
int __cudaLaunchKernel(void*, Dim3, Dim3, void**, size_t, void*) __attribute__((weak));
int __cudaLaunchKernel_ptsz(void*, Dim3, Dim3, void**, size_t, void*) __attribute__((weak));
int cudaLaunchCooperativeKernel(const void*, Dim3, Dim3, void**, size_t, void*) __attribute__((weak));
int cudaFuncGetName(const char**, const void*) __attribute__((weak));
int cudaKernelGetName(const char**, void*) __attribute__((weak));

struct Record { char name[256]; unsigned grid[3]; };
static Record records[4096];
static unsigned count, total, refused, mode;
static std::mutex lock;

void kengine_launches_begin(unsigned wanted) { count = total = refused = 0; mode = wanted; }
unsigned kengine_launches_count() { return count; }
unsigned kengine_launches_total() { return total; }
unsigned kengine_launches_refused() { return refused; }
const char* kengine_launches_name(unsigned i) { return i < count ? records[i].name : ""; }
void kengine_launches_grid(unsigned i, unsigned* grid) { if (i < count) memcpy(grid, records[i].grid, sizeof records[i].grid); }

static bool withheld(int* code) {
  if (mode == 1) { *code = 0; return true; }
  if (mode == 2) { ++refused; *code = 999; return true; }
  return false;
}
static void note(const char* name, Dim3 grid) {
  std::lock_guard<std::mutex> hold(lock);
  ++total;
  if (count == sizeof records / sizeof *records) return;
  Record& r = records[count++];
  strncpy(r.name, name ? name : "kernel", sizeof r.name - 1);
  r.name[sizeof r.name - 1] = 0;
  r.grid[0] = grid.x, r.grid[1] = grid.y, r.grid[2] = grid.z;
}

int __wrap_cudaLaunchKernel(const void* f, Dim3 g, Dim3 b, void** a, size_t s, void* t) {
  int code;
  if (withheld(&code)) return code;
  code = cudaLaunchKernel(f, g, b, a, s, t);
  const char* name = nullptr;
  if (!code && cudaFuncGetName) cudaFuncGetName(&name, f);
  if (!code) note(name, g);
  return code;
}
int __wrap___cudaLaunchKernel(void* k, Dim3 g, Dim3 b, void** a, size_t s, void* t) {
  int code;
  if (withheld(&code)) return code;
  code = __cudaLaunchKernel(k, g, b, a, s, t);
  const char* name = nullptr;
  if (!code && cudaKernelGetName) cudaKernelGetName(&name, k);
  if (!code) note(name, g);
  return code;
}
int __wrap___cudaLaunchKernel_ptsz(void* k, Dim3 g, Dim3 b, void** a, size_t s, void* t) {
  int code;
  if (withheld(&code)) return code;
  code = __cudaLaunchKernel_ptsz(k, g, b, a, s, t);
  const char* name = nullptr;
  if (!code && cudaKernelGetName) cudaKernelGetName(&name, k);
  if (!code) note(name, g);
  return code;
}
int __wrap_cudaLaunchCooperativeKernel(const void* f, Dim3 g, Dim3 b, void** a, size_t s, void* t) {
  int code;
  if (withheld(&code)) return code;
  code = cudaLaunchCooperativeKernel(f, g, b, a, s, t);
  const char* name = nullptr;
  if (!code && cudaFuncGetName) cudaFuncGetName(&name, f);
  if (!code) note(name, g);
  return code;
}
}
