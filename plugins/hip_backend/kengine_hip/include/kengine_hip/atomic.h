// Atomic operations: on the device's scope, on the block's, and on the system's.
#pragma once

#define KENGINE_ATOMIC(name, suffix, scope, operation)                                          \
  template <class T>                                                                            \
  KENGINE_D T name##suffix(T* p, kengine::Exactly<T> v) {                                       \
    return __hip_atomic_##operation(p, v, __ATOMIC_RELAXED, scope);                             \
  }
// What no single instruction does for every type: read, compute, exchange if unchanged.
#define KENGINE_ATOMIC_LOOP(name, suffix, scope, expression)                                    \
  template <class T>                                                                            \
  KENGINE_D T name##suffix(T* p, kengine::Exactly<T> v) {                                       \
    T old = __hip_atomic_load(p, __ATOMIC_RELAXED, scope);                                      \
    while (!__hip_atomic_compare_exchange_strong(p, &old, (T)(expression), __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope)) {} \
    return old;                                                                                 \
  }
#define KENGINE_ATOMICS(suffix, scope)                                                          \
  KENGINE_ATOMIC(atomicAdd, suffix, scope, fetch_add)                                           \
  KENGINE_ATOMIC(atomicMin, suffix, scope, fetch_min)                                           \
  KENGINE_ATOMIC(atomicMax, suffix, scope, fetch_max)                                           \
  KENGINE_ATOMIC(atomicAnd, suffix, scope, fetch_and)                                           \
  KENGINE_ATOMIC(atomicOr, suffix, scope, fetch_or)                                             \
  KENGINE_ATOMIC(atomicXor, suffix, scope, fetch_xor)                                           \
  KENGINE_ATOMIC(atomicExch, suffix, scope, exchange)                                           \
  template <class T> KENGINE_D T atomicSub##suffix(T* p, kengine::Exactly<T> v) {               \
    return __hip_atomic_fetch_add(p, (T)-v, __ATOMIC_RELAXED, scope);                           \
  }                                                                                             \
  KENGINE_ATOMIC_LOOP(atomicInc, suffix, scope, old >= v ? 0 : old + 1)                         \
  KENGINE_ATOMIC_LOOP(atomicDec, suffix, scope, old == 0 || old > v ? v : old - 1)              \
  template <class T> KENGINE_D T atomicCAS##suffix(T* p, kengine::Exactly<T> expected, kengine::Exactly<T> v) { \
    T old = expected;                                                                           \
    __hip_atomic_compare_exchange_strong(p, &old, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
    return old;                                                                                 \
  }
KENGINE_ATOMICS(, __HIP_MEMORY_SCOPE_AGENT)
KENGINE_ATOMICS(_block, __HIP_MEMORY_SCOPE_WORKGROUP)
KENGINE_ATOMICS(_system, __HIP_MEMORY_SCOPE_SYSTEM)
template <class T> KENGINE_D T unsafeAtomicAdd(T* p, kengine::Exactly<T> v) { return atomicAdd(p, v); }
template <class T> KENGINE_D T safeAtomicAdd(T* p, kengine::Exactly<T> v) { return atomicAdd(p, v); }
template <class T> KENGINE_D void atomicAddNoRet(T* p, kengine::Exactly<T> v) { atomicAdd(p, v); }
template <class T> KENGINE_D T unsafeAtomicMax(T* p, kengine::Exactly<T> v) { return atomicMax(p, v); }
template <class T> KENGINE_D T unsafeAtomicMin(T* p, kengine::Exactly<T> v) { return atomicMin(p, v); }

namespace kengine {
// A sum in memory of a type that has no atomic addition of its own, by the 32-bit word around it.
template <class T>
KENGINE_D T add_small(T* p, T v) {
  auto address = (unsigned long long)p;
  auto* word = (unsigned*)(address & ~3ull);
  unsigned shift = sizeof(T) == 2 ? (unsigned)(address & 2) * 8 : 0, mask = sizeof(T) == 2 ? 0xffffu << shift : ~0u;
  unsigned old = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    unsigned part = (old & mask) >> shift;
    T before;
    __builtin_memcpy(&before, &part, sizeof(T));
    T after = before + v;
    unsigned bits = 0;
    __builtin_memcpy(&bits, &after, sizeof(T));
    if (__hip_atomic_compare_exchange_strong(word, &old, (old & ~mask) | bits << shift, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) return before;
  }
}
}  // namespace kengine
