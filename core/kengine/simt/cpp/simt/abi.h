// The interface between a compiled program (candidate source plus these headers) and the runtime library.
#pragma once
#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

namespace simt {

enum FaultKind : int {
  no_fault = 0,
  out_of_bounds_read,
  out_of_bounds_write,
  shared_out_of_bounds,
  misaligned,
  null_pointer,
  division_by_zero,
  stack_overflow,
  barrier_divergence,
  deadlock,
  bad_shuffle_mask,
  uninitialised_shared,
  endless_loop,
  launch_limit,
  race_shared,
  race_global,
  assert_failed,
};

// What a *_sync operation computes; lanes that meet must agree on it.
enum WarpOp : int { op_sync, op_shuffle, op_vote, op_match, op_reduce, op_active, op_lockstep };

struct ParameterInfo {
  const char* code;  // numpy-like code of the pointee or value: f4, i8, u1, f2, bf16, e4m3, e5m2, b1, v<size>
  unsigned size;     // bytes of the value (8 for pointers)
  unsigned is_pointer;
  unsigned is_const;
  unsigned align;
};

// Runs threads of the current block until none is left to start: do { kernel(args...); } while (simt_next_thread());
using Body = void (*)(void* arguments);

struct KernelEntry {
  const char* name;
  const void* address;
  Body body;
  unsigned parameter_count;
  const ParameterInfo* parameters;
  size_t arguments_size;
  void (*pack)(const void* function, void* arguments, void** values);  // fills the argument block
  uint64_t max_dynamic_shared;  // raised by cudaFuncSetAttribute
  unsigned is_host;             // a host function exported by name; body is unused
  void (*call_host)(void** values, void* result);
  ParameterInfo result;
  KernelEntry* next;
};

struct SharedEntry {
  char* base;         // first byte of the variable
  size_t size;
  size_t redzone;     // bytes of unused memory before and after
  unsigned granule;   // size of an element, for race detection
  const char* name;   // of the variable
  const char* where;  // pretty name of the tag, which holds the enclosing function
  SharedEntry* next;
};

struct Module {
  uint3 *thread_index, *block_index;
  dim3 *block_dim, *grid_dim;
  char** dynamic_shared;
  unsigned lanes;
  unsigned check;
  unsigned strict_exit;
  unsigned reserved;
  KernelEntry* kernels;
  SharedEntry* shared;
};

struct LaunchConfig {
  dim3 grid, block;
  size_t shared_bytes;
  const void* stream;
  LaunchConfig(dim3 g, dim3 b, size_t s = 0, const void* st = nullptr) : grid(g), block(b), shared_bytes(s), stream(st) {}
};

}  // namespace simt

extern "C" {
int simt_launch(simt::Module* module, const char* name, const void* address, dim3 grid, dim3 block, size_t shared_bytes,
                simt::Body body, void* arguments, int cooperative);
int simt_next_thread();                       // ends the current thread; 1 when another one has been started in its place
void simt_early_exit();                       // the current thread leaves by an explicit return
void* simt_argument_block(size_t bytes);      // memory for the arguments of the next launch
int simt_barrier(int op, int predicate, int line);
uint64_t simt_meet(uint64_t mask, uint64_t value, const uint64_t** values, int op, int legacy, int line);
void simt_yield();
int simt_in_kernel();
void simt_grid_sync(int line);
void simt_fence();
void simt_note_read(const void* p, size_t n);
void simt_note_constant(const void* p, size_t n);  // a load that needs memory which the launch does not write
void simt_note_write(const void* p, size_t n);
void simt_note_atomic(const void* p, size_t n);
[[noreturn]] void simt_fail(int kind, const char* message, const char* file, int line);
int simt_error(int action, int value);        // 0 take, 1 set, 2 peek
const char* simt_error_text(int code);
void* simt_allocate(size_t bytes, size_t itemsize, unsigned skew, const char* name);
void* simt_allocate_aligned(size_t bytes, size_t itemsize, size_t align, unsigned skew, const char* name);
int simt_free(void* p);
void simt_copy(void* to, const void* from, size_t n, int kind);  // what host code copies, by way of who wants to know of it
void simt_fill(void* to, int value, size_t n);
void simt_register_memory(const char* name, void* base, size_t bytes, size_t itemsize);
void simt_forget_memory(void* base);
unsigned simt_dynamic_bytes();
int simt_device_limit(int which);             // 0 threads a block, 1 shared, 2 shared opt-in, 3 multiprocessors, 4 major, 5 minor
void simt_set_dynamic_limit(simt::Module* module, const void* kernel, uint64_t bytes);
int simt_launch_address(simt::Module* module, const void* kernel, dim3 grid, dim3 block, void** values, size_t shared_bytes,
                        int cooperative);
}
