// Atomic operations. One thread runs at a time, so a read-modify-write is a read and a write; in check mode the
// runtime is told of it. An operation that waits for another thread lets the others run now and then.
#pragma once

namespace simt {
template <class T, class F>
SIMT_FAST T modify(T* p, F f) {
  T old = *p;
  *p = f(old);
  return old;
}
static unsigned spins __attribute__((unused));
SIMT_FAST void spin() {
  if (++spins >= 256) {
    spins = 0;
    simt_yield();
  }
}
template <class T>
struct Same {
  using type = T;
};
template <class T>
using Exactly = typename Same<T>::type;  // not deduced: the pointer decides the type
template <class T>
SIMT_FAST bool equal_bits(const T& a, const T& b) {
  return __builtin_memcmp(&a, &b, sizeof(T)) == 0;
}
}  // namespace simt

#define SIMT_ATOMIC(name, expression)                                    \
  template <class T>                                                     \
  SIMT_INLINE T name(T* p, simt::Exactly<T> v) {                         \
    SIMT_NOTE(simt_note_atomic(p, sizeof(T)));                           \
    return simt::modify(p, [=](T o) { return static_cast<T>(expression); }); \
  }                                                                      \
  template <class T>                                                     \
  SIMT_INLINE T name##_block(T* p, simt::Exactly<T> v) { return name(p, v); } \
  template <class T>                                                     \
  SIMT_INLINE T name##_system(T* p, simt::Exactly<T> v) { return name(p, v); } \
  template <class T>                                                     \
  SIMT_INLINE T name(volatile T* p, simt::Exactly<T> v) { return name(const_cast<T*>(p), v); }
SIMT_ATOMIC(atomicSub, o - v)
SIMT_ATOMIC(atomicMin, v < o ? v : o)
SIMT_ATOMIC(atomicMax, o < v ? v : o)
SIMT_ATOMIC(atomicAnd, o & v)
SIMT_ATOMIC(atomicXor, o ^ v)
SIMT_ATOMIC(atomicInc, o >= v ? 0 : o + 1)
SIMT_ATOMIC(atomicDec, o == 0 || o > v ? v : o - 1)

// Polling a flag is written as an exchange, a compare-and-swap, or an addition of zero.
#define SIMT_POLLING(name, operation, polls)                             \
  template <class T>                                                     \
  SIMT_INLINE T name(T* p, simt::Exactly<T> v) {                         \
    if (polls) simt::spin();                                             \
    SIMT_NOTE(simt_note_atomic(p, sizeof(T)));                           \
    return operation(p, v);                                              \
  }                                                                      \
  template <class T>                                                     \
  SIMT_INLINE T name(volatile T* p, simt::Exactly<T> v) { return name(const_cast<T*>(p), v); } \
  template <class T>                                                     \
  SIMT_INLINE T name##_block(T* p, simt::Exactly<T> v) { return name(p, v); } \
  template <class T>                                                     \
  SIMT_INLINE T name##_system(T* p, simt::Exactly<T> v) { return name(p, v); }
namespace simt {
template <class T>
SIMT_INLINE bool is_zero(const T& v) { T zero{}; return equal_bits(v, zero); }
template <class T>
SIMT_INLINE T plain_add(T* p, T v) { return modify(p, [=](T o) { return static_cast<T>(o + v); }); }
template <class T>
SIMT_INLINE T plain_or(T* p, T v) { return modify(p, [=](T o) { return static_cast<T>(o | v); }); }
template <class T>
SIMT_INLINE T plain_exchange(T* p, T v) { return modify(p, [=](T) { return v; }); }
}  // namespace simt
SIMT_POLLING(atomicAdd, simt::plain_add, simt::is_zero(v))
SIMT_POLLING(atomicOr, simt::plain_or, v == 0)
SIMT_POLLING(atomicExch, simt::plain_exchange, true)

template <class T>
SIMT_INLINE T atomicCAS(T* p, simt::Exactly<T> expected, simt::Exactly<T> v) {
  simt::spin();
  SIMT_NOTE(simt_note_atomic(p, sizeof(T)));
  return simt::modify(p, [=](T o) { return simt::equal_bits(o, expected) ? v : o; });
}
template <class T>
SIMT_INLINE T atomicCAS(volatile T* p, simt::Exactly<T> e, simt::Exactly<T> v) { return atomicCAS(const_cast<T*>(p), e, v); }
template <class T>
SIMT_INLINE T atomicCAS_block(T* p, simt::Exactly<T> e, simt::Exactly<T> v) { return atomicCAS(p, e, v); }
template <class T>
SIMT_INLINE T atomicCAS_system(T* p, simt::Exactly<T> e, simt::Exactly<T> v) { return atomicCAS(p, e, v); }

template <class T>
SIMT_INLINE T unsafeAtomicAdd(T* p, simt::Exactly<T> v) { return atomicAdd(p, v); }
template <class T>
SIMT_INLINE T safeAtomicAdd(T* p, simt::Exactly<T> v) { return atomicAdd(p, v); }
template <class T>
SIMT_INLINE void atomicAddNoRet(T* p, simt::Exactly<T> v) { atomicAdd(p, v); }

// Clang's scoped atomics, as HIP code uses them.
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#define __hip_atomic_fetch_add(p, v, order, scope) atomicAdd(p, v)
#define __hip_atomic_fetch_min(p, v, order, scope) atomicMin(p, v)
#define __hip_atomic_fetch_max(p, v, order, scope) atomicMax(p, v)
#define __hip_atomic_fetch_and(p, v, order, scope) atomicAnd(p, v)
#define __hip_atomic_fetch_or(p, v, order, scope) atomicOr(p, v)
#define __hip_atomic_fetch_xor(p, v, order, scope) atomicXor(p, v)
#define __hip_atomic_exchange(p, v, order, scope) atomicExch(p, v)
#define __hip_atomic_load(p, order, scope) simt_atomic_load(p)
#define __hip_atomic_store(p, v, order, scope) ((void)atomicExch(p, v))
template <class T>
SIMT_INLINE T simt_atomic_load(T* p) {
  simt::spin();
  SIMT_NOTE(simt_note_atomic(p, sizeof(T)));
  return simt::modify(p, [](T o) { return o; });
}
