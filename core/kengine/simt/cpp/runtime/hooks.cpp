// Entry points that instrumented programs call: memory accesses, array bounds, alignment, division; and the wrapped
// library functions (memcpy, printf, assert, malloc).
#include <dlfcn.h>
#include <link.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "check.h"

using namespace simt;

#define CALLER __builtin_return_address(0)
#define ACTIVE (S.in_kernel && S.checking)

namespace simt {

// Data of the compiled program itself: device and constant variables may be read and written, tables only read.
void find_module_regions() {
  static std::map<Module*, std::vector<Region*>> known;
  auto it = known.find(S.module);
  if (it == known.end()) {
    std::vector<Region*> found;
    struct Query {
      Module* module;
      std::vector<Region*>* out;
    } query{S.module, &found};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
          auto* q = static_cast<Query*>(data);
          auto target = reinterpret_cast<uintptr_t>(q->module);
          bool mine = false;
          for (int k = 0; k < info->dlpi_phnum; ++k) {
            uintptr_t start = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
            mine |= info->dlpi_phdr[k].p_type == PT_LOAD && target >= start && target < start + info->dlpi_phdr[k].p_memsz;
          }
          if (!mine) return 0;
          for (int k = 0; k < info->dlpi_phnum; ++k) {
            if (info->dlpi_phdr[k].p_type != PT_LOAD) continue;
            auto* r = new Region;
            r->base = reinterpret_cast<char*>(info->dlpi_addr + info->dlpi_phdr[k].p_vaddr);
            r->size = info->dlpi_phdr[k].p_memsz;
            r->kind = info->dlpi_phdr[k].p_flags & PF_W ? Kind::global : Kind::ignored;
            r->name = "a device variable";
            q->out->push_back(r);
          }
          return 1;
        },
        &query);
    it = known.emplace(S.module, found).first;
  }
  S.module_regions = it->second;
}

static std::string misalignment(bool write, unsigned alignment) {
  return std::string(write ? "write" : "access") + " at an address that is not a multiple of " + std::to_string(alignment);
}

static void lockstep(const void* pc) {
  const uint64_t* values;
  simt_meet(~0ull, 0, &values, op_lockstep, 1, static_cast<int>(reinterpret_cast<uintptr_t>(pc) & 0x7fffffff));
}

static void volatile_access(void* p, size_t n, bool write, const void* pc) {
  if (!S.in_kernel) return;
  const char* c = static_cast<const char*>(p);
  Fiber* f = S.current->fiber;
  if (c >= f->base && c < f->top) return;
  lockstep(pc);
  if (S.checking) check_volatile(c, n, write, pc);
}

}  // namespace simt

#define ACCESS_HOOKS(n)                                                                                          \
  SIMT_PUBLIC void __tsan_read##n(void* p) {                                                                     \
    if (ACTIVE) check_alignment(static_cast<char*>(p), n, "read", CALLER), check_read(static_cast<char*>(p), n, CALLER); \
  }                                                                                                              \
  SIMT_PUBLIC void __tsan_write##n(void* p) {                                                                    \
    if (ACTIVE) check_alignment(static_cast<char*>(p), n, "write", CALLER), check_write(static_cast<char*>(p), n, CALLER); \
  }                                                                                                              \
  SIMT_PUBLIC void __tsan_unaligned_read##n(void* p) { if (ACTIVE) check_read(static_cast<char*>(p), n, CALLER); }  \
  SIMT_PUBLIC void __tsan_unaligned_write##n(void* p) { if (ACTIVE) check_write(static_cast<char*>(p), n, CALLER); } \
  SIMT_PUBLIC void __tsan_read_write##n(void* p) {                                                               \
    if (ACTIVE) check_read(static_cast<char*>(p), n, CALLER), check_write(static_cast<char*>(p), n, CALLER);       \
  }                                                                                                              \
  SIMT_PUBLIC void __tsan_volatile_read##n(void* p) { volatile_access(p, n, false, CALLER); }                     \
  SIMT_PUBLIC void __tsan_volatile_write##n(void* p) { volatile_access(p, n, true, CALLER); }                     \
  SIMT_PUBLIC void __tsan_unaligned_volatile_read##n(void* p) { volatile_access(p, n, false, CALLER); }           \
  SIMT_PUBLIC void __tsan_unaligned_volatile_write##n(void* p) { volatile_access(p, n, true, CALLER); }
ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)

SIMT_PUBLIC void __tsan_init() {}
SIMT_PUBLIC void __tsan_func_entry(void*) {}
SIMT_PUBLIC void __tsan_func_exit() {}
SIMT_PUBLIC void __tsan_vptr_update(void**, void*) {}
SIMT_PUBLIC void __tsan_vptr_read(void**) {}
SIMT_PUBLIC void __tsan_atomic_thread_fence(int) { simt_fence(); }
SIMT_PUBLIC void __tsan_atomic_signal_fence(int) {}
SIMT_PUBLIC void __tsan_read_range(void* p, unsigned long n) { if (ACTIVE && n) check_read(static_cast<char*>(p), n, CALLER); }
SIMT_PUBLIC void __tsan_write_range(void* p, unsigned long n) { if (ACTIVE && n) check_write(static_cast<char*>(p), n, CALLER); }

#define ATOMIC_HOOKS(bits, T)                                                                                       \
  SIMT_PUBLIC T __tsan_atomic##bits##_load(const volatile T* p, int) { simt_note_atomic(const_cast<const T*>(p), sizeof(T)); return *p; } \
  SIMT_PUBLIC void __tsan_atomic##bits##_store(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); *p = v; } \
  SIMT_PUBLIC T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; *p = v; return o; } \
  SIMT_PUBLIC T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; *p = static_cast<T>(o + v); return o; } \
  SIMT_PUBLIC T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; *p = static_cast<T>(o - v); return o; } \
  SIMT_PUBLIC T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; *p = static_cast<T>(o & v); return o; } \
  SIMT_PUBLIC T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; *p = static_cast<T>(o | v); return o; } \
  SIMT_PUBLIC T __tsan_atomic##bits##_fetch_xor(volatile T* p, T v, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; *p = static_cast<T>(o ^ v); return o; } \
  SIMT_PUBLIC int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* e, T v, int, int) {                 \
    simt_note_atomic(const_cast<T*>(p), sizeof(T));                                                                 \
    if (*p == *e) { *p = v; return 1; }                                                                             \
    *e = *p; return 0;                                                                                              \
  }                                                                                                                 \
  SIMT_PUBLIC int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* e, T v, int a, int b) { return __tsan_atomic##bits##_compare_exchange_strong(p, e, v, a, b); } \
  SIMT_PUBLIC T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T e, T v, int, int) { simt_note_atomic(const_cast<T*>(p), sizeof(T)); T o = *p; if (o == e) *p = v; return o; }
ATOMIC_HOOKS(8, uint8_t)
ATOMIC_HOOKS(16, uint16_t)
ATOMIC_HOOKS(32, uint32_t)
ATOMIC_HOOKS(64, uint64_t)

SIMT_PUBLIC void simt_note_read(const void* p, size_t n) { if (ACTIVE && n) check_read(static_cast<const char*>(p), n, CALLER); }
SIMT_PUBLIC void simt_note_constant(const void* p, size_t n) { if (ACTIVE && n) check_constant(static_cast<const char*>(p), n, CALLER); }
SIMT_PUBLIC void simt_note_write(const void* p, size_t n) { if (ACTIVE && n) check_write(static_cast<const char*>(p), n, CALLER); }
SIMT_PUBLIC void simt_note_atomic(const void* p, size_t n) { if (ACTIVE) check_atomic(static_cast<const char*>(p), n, CALLER); }
SIMT_PUBLIC void simt_note_alignment(const void* p, size_t alignment, size_t write) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (!ACTIVE || address % alignment == 0 || address < 65536) return;
  raise_fault(misaligned, misalignment(write, static_cast<unsigned>(alignment)), CALLER, S.current);
  note_address(S.fault, static_cast<const char*>(p));
  leave();
}
SIMT_PUBLIC void simt_fence() { if (ACTIVE) check_fence(); }

// ---- -fsanitize=bounds,alignment,null,integer-divide-by-zero ----
struct SourceLocation {
  const char* file;
  uint32_t line, column;
};
struct TypeDescriptor {
  uint16_t kind, info;
  char name[1];
};
struct OutOfBoundsData {
  SourceLocation location;
  const TypeDescriptor *array, *index;
};
struct MismatchData {
  SourceLocation location;
  const TypeDescriptor* type;
  unsigned char log_alignment, check;
};

SIMT_PUBLIC void __ubsan_handle_out_of_bounds(OutOfBoundsData* d, unsigned long index) {
  if (!S.in_kernel) return;
  int64_t value = static_cast<int64_t>(index);
  unsigned bits = 1u << (d->index->info >> 1);
  if ((d->index->info & 1) && bits < 64) value = static_cast<int64_t>(index << (64 - bits)) >> (64 - bits);
  char text[320];
  snprintf(text, sizeof text, "index %lld is outside an array of type %.200s (column %u)", static_cast<long long>(value), d->array->name, d->location.column);
  raise_fault(out_of_bounds_read, text, CALLER, S.current);
  S.fault.line = static_cast<int>(d->location.line);
  snprintf(S.fault.file, sizeof S.fault.file, "%s", d->location.file);
  S.fault.byte_offset = value;  // the index: the reader knows the element size
  S.fault.has_offset = 2;
  leave();
}

SIMT_PUBLIC void __ubsan_handle_type_mismatch_v1(MismatchData* d, unsigned long address) {
  if (!S.in_kernel) return;
  char text[320];
  if (!address) {
    snprintf(text, sizeof text, "%s through a null pointer of type %.200s", d->check == 1 ? "write" : "access", d->type->name);
  } else {
    snprintf(text, sizeof text, "%s", misalignment(d->check == 1, 1u << d->log_alignment).c_str());
  }
  raise_fault(address ? misaligned : null_pointer, text, CALLER, S.current);
  S.fault.line = static_cast<int>(d->location.line);
  snprintf(S.fault.file, sizeof S.fault.file, "%s", d->location.file);
  if (address) note_address(S.fault, reinterpret_cast<const char*>(address));
  leave();
}

SIMT_PUBLIC void __ubsan_handle_divrem_overflow(SourceLocation* d, unsigned long, unsigned long) {
  if (!S.in_kernel) return;
  fail_at(division_by_zero, "integer division by zero", CALLER, static_cast<int>(d->line), d->file);
}
SIMT_PUBLIC void __ubsan_handle_out_of_bounds_abort(OutOfBoundsData* d, unsigned long i) { __ubsan_handle_out_of_bounds(d, i); }
SIMT_PUBLIC void __ubsan_handle_type_mismatch_v1_abort(MismatchData* d, unsigned long a) { __ubsan_handle_type_mismatch_v1(d, a); }
SIMT_PUBLIC void __ubsan_handle_divrem_overflow_abort(SourceLocation* d, unsigned long a, unsigned long b) { __ubsan_handle_divrem_overflow(d, a, b); }

// ---- library functions of the program, by the linker's --wrap ----
SIMT_PUBLIC void* __wrap_memcpy(void* to, const void* from, size_t n) {
  if (ACTIVE && n) check_read(static_cast<const char*>(from), n, CALLER), check_write(static_cast<char*>(to), n, CALLER);
  return memmove(to, from, n);
}
SIMT_PUBLIC void* __wrap_memmove(void* to, const void* from, size_t n) {
  if (ACTIVE && n) check_read(static_cast<const char*>(from), n, CALLER), check_write(static_cast<char*>(to), n, CALLER);
  return memmove(to, from, n);
}
SIMT_PUBLIC void* __wrap_memset(void* to, int value, size_t n) {
  if (ACTIVE && n) check_write(static_cast<char*>(to), n, CALLER);
  return memset(to, value, n);
}
SIMT_PUBLIC void* __tsan_memcpy(void* to, const void* from, size_t n) { return __wrap_memcpy(to, from, n); }
SIMT_PUBLIC void* __tsan_memmove(void* to, const void* from, size_t n) { return __wrap_memmove(to, from, n); }
SIMT_PUBLIC void* __tsan_memset(void* to, int value, size_t n) { return __wrap_memset(to, value, n); }

SIMT_PUBLIC int __wrap_vprintf(const char* format, va_list list) {
  if (!S.in_kernel) return vprintf(format, list);
  constexpr size_t room = 1 << 20;  // as much as a device keeps by default
  char text[1024];
  int n = vsnprintf(text, sizeof text, format, list);
  if (n > 0 && S.output.size() < room) S.output.append(text, std::min<size_t>(static_cast<size_t>(n), sizeof text - 1));
  return n;
}
SIMT_PUBLIC int __wrap_printf(const char* format, ...) {
  va_list list;
  va_start(list, format);
  int n = __wrap_vprintf(format, list);
  va_end(list);
  return n;
}
SIMT_PUBLIC const char* simt_output() { return S.output.c_str(); }
SIMT_PUBLIC void simt_forget_output() { S.output.clear(); }

SIMT_PUBLIC void __wrap___assert_fail(const char* expression, const char* file, unsigned line, const char* function) {
  if (!S.in_kernel) {
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function, expression);
    abort();
  }
  fail_at(assert_failed, std::string("assertion failed: ") + expression, CALLER, static_cast<int>(line), file);
}

SIMT_PUBLIC void* __wrap_malloc(size_t n) { return S.in_kernel ? simt_allocate(n ? n : 1, 4, 0, "device heap") : malloc(n); }
SIMT_PUBLIC void __wrap_free(void* p) {
  if (S.in_kernel) simt_free(p);
  else free(p);
}
SIMT_PUBLIC void __wrap_abort() {
  if (S.in_kernel) fail_at(assert_failed, "the kernel called abort", CALLER);
  abort();
}
