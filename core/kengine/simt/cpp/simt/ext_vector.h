// Clang's vectors of any length as a class: elements by index and, up to four, by name; operators element by element.
#pragma once

namespace simt {

constexpr size_t vector_alignment(size_t bytes) {
  size_t power = 1;
  while (power < bytes) power *= 2;
  return power > 64 ? 64 : power;
}

// Elements by name lie where those by index do. A vector of three takes the room of four.
template <class T, int N>
struct ext_elements {
  T v[N];
};
template <class T>
struct ext_elements<T, 2> {
  union {
    T v[2];
    struct { T x, y; };
  };
};
template <class T>
struct ext_elements<T, 3> {
  union {
    T v[4];
    struct { T x, y, z; };
  };
};
template <class T>
struct ext_elements<T, 4> {
  union {
    T v[4];
    struct { T x, y, z, w; };
  };
};

template <class T, int N>
struct alignas(vector_alignment(sizeof(T) * N)) ext_vector : ext_elements<T, N> {
  static_assert(N > 1 && std::is_arithmetic<T>::value, "vectors of numbers, of two or more");
  ext_vector() = default;
  ext_vector(T every) {
    for (int i = 0; i < N; i++) this->v[i] = every;
  }
  template <class A, class B, class... C>
  ext_vector(A a, B b, C... c) {
    static_assert(2 + sizeof...(c) <= N, "more elements than the vector has");
    T given[N] = {T(a), T(b), T(c)...};
    for (int i = 0; i < N; i++) this->v[i] = given[i];
  }
  T& operator[](int i) { return this->v[i]; }
  const T& operator[](int i) const { return this->v[i]; }
  ext_vector operator+() const { return *this; }
};

template <class T>
using ext_mask = std::conditional_t<sizeof(T) == 1, signed char,
    std::conditional_t<sizeof(T) == 2, short, std::conditional_t<sizeof(T) == 4, int, long long>>>;

#define SIMT_EXT_UNARY(op)                                        \
  template <class T, int N>                                       \
  ext_vector<T, N> operator op(const ext_vector<T, N>& a) {       \
    ext_vector<T, N> out;                                         \
    for (int i = 0; i < N; i++) out.v[i] = T(op a.v[i]);          \
    return out;                                                   \
  }
SIMT_EXT_UNARY(-)
SIMT_EXT_UNARY(~)

// The second operand is a vector of the same type, or a number that stands for all elements.
#define SIMT_EXT_BINARY(op)                                                                                        \
  template <class T, int N>                                                                                        \
  ext_vector<T, N> operator op(const ext_vector<T, N>& a, const ext_vector<T, N>& b) {                             \
    ext_vector<T, N> out;                                                                                          \
    for (int i = 0; i < N; i++) out.v[i] = T(a.v[i] op b.v[i]);                                                    \
    return out;                                                                                                    \
  }                                                                                                                \
  template <class T, int N, class S, class = std::enable_if_t<std::is_arithmetic<S>::value>>                       \
  ext_vector<T, N> operator op(const ext_vector<T, N>& a, S b) {                                                   \
    return a op ext_vector<T, N>(T(b));                                                                            \
  }                                                                                                                \
  template <class T, int N, class S, class = std::enable_if_t<std::is_arithmetic<S>::value>>                       \
  ext_vector<T, N> operator op(S a, const ext_vector<T, N>& b) {                                                   \
    return ext_vector<T, N>(T(a)) op b;                                                                            \
  }                                                                                                                \
  template <class T, int N, class S>                                                                               \
  ext_vector<T, N>& operator op##=(ext_vector<T, N>& a, const S& b) {                                              \
    return a = a op b;                                                                                             \
  }
SIMT_EXT_BINARY(+)
SIMT_EXT_BINARY(-)
SIMT_EXT_BINARY(*)
SIMT_EXT_BINARY(/)
SIMT_EXT_BINARY(%)
SIMT_EXT_BINARY(&)
SIMT_EXT_BINARY(|)
SIMT_EXT_BINARY(^)
SIMT_EXT_BINARY(<<)
SIMT_EXT_BINARY(>>)

// As on the devices a comparison gives -1 where it holds and 0 elsewhere.
#define SIMT_EXT_COMPARE(op)                                                                                       \
  template <class T, int N>                                                                                        \
  ext_vector<ext_mask<T>, N> operator op(const ext_vector<T, N>& a, const ext_vector<T, N>& b) {                   \
    ext_vector<ext_mask<T>, N> out;                                                                                \
    for (int i = 0; i < N; i++) out.v[i] = a.v[i] op b.v[i] ? -1 : 0;                                              \
    return out;                                                                                                    \
  }                                                                                                                \
  template <class T, int N, class S, class = std::enable_if_t<std::is_arithmetic<S>::value>>                       \
  ext_vector<ext_mask<T>, N> operator op(const ext_vector<T, N>& a, S b) {                                         \
    return a op ext_vector<T, N>(T(b));                                                                            \
  }
SIMT_EXT_COMPARE(<)
SIMT_EXT_COMPARE(>)
SIMT_EXT_COMPARE(<=)
SIMT_EXT_COMPARE(>=)
SIMT_EXT_COMPARE(==)
SIMT_EXT_COMPARE(!=)

#undef SIMT_EXT_UNARY
#undef SIMT_EXT_BINARY
#undef SIMT_EXT_COMPARE

}  // namespace simt
