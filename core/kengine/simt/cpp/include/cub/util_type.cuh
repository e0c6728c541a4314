// Types that the collectives share.
#pragma once

// The CUB of CUDA 13 has lost names that older ones and hipCUB have.
#if defined(SIMT_HIP) || CUDA_VERSION < 13000
#define CUB_HAS_OLD_NAMES
#endif
#define CUB_GONE(name, instead) "cub::" #name " is not in the CUB of CUDA 13: use " instead

namespace cub {

namespace detail {
template <class>
constexpr bool never = false;
}  // namespace detail

struct NullType {
  using value_type = NullType;
  SIMT_MEMBER bool operator==(const NullType&) const { return true; }
  SIMT_MEMBER bool operator!=(const NullType&) const { return false; }
};

template <int A>
struct Int2Type {
#ifndef CUB_HAS_OLD_NAMES
  static_assert(detail::never<Int2Type>, CUB_GONE(Int2Type, "cuda::std::integral_constant<int, N>"));
#endif
  enum { VALUE = A };
};

// Memory for a T that is not constructed: may be a member of a union.
template <class T>
struct Uninitialized {
  alignas(alignof(T)) unsigned char simt_bytes[sizeof(T)];
  SIMT_MEMBER T& Alias() { return *reinterpret_cast<T*>(simt_bytes); }
};

template <class K, class V>
struct KeyValuePair {
  typedef K Key;
  typedef V Value;
  K key;
  V value;
  SIMT_MEMBER KeyValuePair() {}
  SIMT_MEMBER KeyValuePair(const K& k, const V& v) : key(k), value(v) {}
  SIMT_MEMBER bool operator==(const KeyValuePair& b) const { return key == b.key && value == b.value; }
  SIMT_MEMBER bool operator!=(const KeyValuePair& b) const { return !(*this == b); }
};

namespace detail {
// The candidate's line, in a type of its own so that it is never taken for a number of items.
struct Line {
  int value;
  explicit constexpr Line(int v) : value(v) {}
};
#define CUB_LINE ::cub::detail::Line line = ::cub::detail::Line(__builtin_LINE())

// A collective that is made without storage has one shared by all of its type.
template <class Owner, class Storage>
struct PrivateStorage {
  struct Tag {
    static constexpr const char* simt_name() { return "TempStorage"; }
    static constexpr const char* simt_where() { return __PRETTY_FUNCTION__; }
  };
  SIMT_MEMBER static Storage& get() { return ::simt::SharedVariable<Storage, Tag>::storage.inner.value; }
};
}  // namespace detail
}  // namespace cub
