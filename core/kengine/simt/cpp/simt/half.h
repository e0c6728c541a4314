// The 16-bit floating types and their operators. Both are defined by the same pattern from two conversions.
#pragma once

namespace simt {
#ifdef __FLT16_MAX__
SIMT_INLINE uint16_t half_bits(float f) { return bits<uint16_t>(static_cast<_Float16>(f)); }
SIMT_INLINE uint16_t half_bits(double d) { return bits<uint16_t>(static_cast<_Float16>(d)); }
SIMT_INLINE float half_value(uint16_t h) { return static_cast<float>(bits<_Float16>(h)); }
#else
// Rounds to nearest even: the significand is scaled so that the unit in the last place of the result is 1.
inline uint16_t half_bits(double d) {
  uint16_t sign = std::signbit(d) ? 0x8000 : 0;
  double a = std::fabs(d);
  if (a != a) return 0x7fff;
  if (a >= 65520.0) return sign | 0x7c00;
  int e = a == 0 ? -14 : std::max(std::ilogb(a), -14);
  auto m = static_cast<int>(std::nearbyint(std::ldexp(a, 10 - e)));
  return static_cast<uint16_t>(sign | ((e + 14) * 1024 + m));
}
inline uint16_t half_bits(float f) { return half_bits(static_cast<double>(f)); }
inline float half_value(uint16_t h) {
  int e = h >> 10 & 31, m = h & 1023;
  float v = e == 31 ? (m ? NAN : HUGE_VALF) : e ? std::ldexp(static_cast<float>(m + 1024), e - 25) : std::ldexp(static_cast<float>(m), -24);
  return h & 0x8000 ? -v : v;
}
#endif
SIMT_INLINE uint16_t bfloat_bits(float f) {
  uint32_t u = bits<uint32_t>(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
SIMT_INLINE uint16_t bfloat_bits(double d) {
  // Rounding twice goes wrong on ties only: make the float's last bit sticky.
  float f = static_cast<float>(d);
  uint32_t u = bits<uint32_t>(f);
  double back = static_cast<double>(f);
  if (back != d && d == d && (u & 0x7fffffffu) < 0x7f800000u) {
    if ((back > d) == (d > 0) && !(u & 1)) --u;
    u |= 1;
  }
  return bfloat_bits(bits<float>(u));
}
SIMT_INLINE float bfloat_value(uint16_t b) { return bits<float>(static_cast<uint32_t>(b) << 16); }
}  // namespace simt

#define SIMT_IF_ARITHMETIC(A) class A, class = std::enable_if_t<std::is_arithmetic<A>::value>

#define SIMT_SMALL_FLOAT(Type, Pair, encode, decode)                                                      \
  struct alignas(2) Type {                                                                                \
    unsigned short x;                                                                                     \
    Type() = default;                                                                                     \
    SIMT_MEMBER Type(float v) : x(encode(v)) {}                                                           \
    SIMT_MEMBER Type(double v) : x(encode(v)) {}                                                          \
    template <class A, class = std::enable_if_t<std::is_integral<A>::value>>                              \
    SIMT_MEMBER Type(A v) : x(encode(static_cast<double>(v))) {}                                          \
    SIMT_MEMBER operator float() const { return decode(x); }                                              \
    SIMT_MEMBER Type operator-() const { return from(static_cast<unsigned short>(x ^ 0x8000)); }           \
    SIMT_MEMBER Type operator+() const { return *this; }                                                  \
    SIMT_MEMBER static Type from(unsigned short b) { Type r; r.x = b; return r; }                          \
    SIMT_SMALL_ASSIGN(Type, +) SIMT_SMALL_ASSIGN(Type, -) SIMT_SMALL_ASSIGN(Type, *) SIMT_SMALL_ASSIGN(Type, /) \
    SIMT_MEMBER Type& operator++() { return *this = Type(decode(x) + 1.0f); }                              \
    SIMT_MEMBER Type& operator--() { return *this = Type(decode(x) - 1.0f); }                              \
  };                                                                                                      \
  SIMT_SMALL_OPERATOR(Type, +) SIMT_SMALL_OPERATOR(Type, -) SIMT_SMALL_OPERATOR(Type, *) SIMT_SMALL_OPERATOR(Type, /) \
  SIMT_SMALL_COMPARE(Type, ==) SIMT_SMALL_COMPARE(Type, !=) SIMT_SMALL_COMPARE(Type, <) SIMT_SMALL_COMPARE(Type, >)    \
  SIMT_SMALL_COMPARE(Type, <=) SIMT_SMALL_COMPARE(Type, >=)                                                \
  struct alignas(4) Pair {                                                                                \
    Type x, y;                                                                                            \
    Pair() = default;                                                                                     \
    SIMT_MEMBER Pair(Type a, Type b) : x(a), y(b) {}                                                      \
    SIMT_MEMBER Pair operator-() const { return Pair(-x, -y); }                                           \
    SIMT_PAIR_ASSIGN(Pair, +) SIMT_PAIR_ASSIGN(Pair, -) SIMT_PAIR_ASSIGN(Pair, *) SIMT_PAIR_ASSIGN(Pair, /) \
  };                                                                                                      \
  SIMT_PAIR_OPERATOR(Pair, +) SIMT_PAIR_OPERATOR(Pair, -) SIMT_PAIR_OPERATOR(Pair, *) SIMT_PAIR_OPERATOR(Pair, /) \
  SIMT_INLINE bool operator==(const Pair& a, const Pair& b) { return a.x == b.x && a.y == b.y; }            \
  SIMT_INLINE bool operator!=(const Pair& a, const Pair& b) { return !(a == b); }

#define SIMT_MEMBER __attribute__((always_inline))
#define SIMT_SMALL_ASSIGN(Type, op) \
  template <class A> SIMT_MEMBER Type& operator op##=(const A& o) { return *this = Type(static_cast<float>(*this) op static_cast<float>(o)); }
#define SIMT_PAIR_ASSIGN(Pair, op) \
  SIMT_MEMBER Pair& operator op##=(const Pair& o) { x op##= o.x; y op##= o.y; return *this; }
#define SIMT_SMALL_OPERATOR(Type, op)                                                                     \
  SIMT_INLINE Type operator op(const Type& a, const Type& b) { return Type(static_cast<float>(a) op static_cast<float>(b)); } \
  template <SIMT_IF_ARITHMETIC(A)> SIMT_INLINE auto operator op(const Type& a, A b) { return static_cast<float>(a) op b; } \
  template <SIMT_IF_ARITHMETIC(A)> SIMT_INLINE auto operator op(A a, const Type& b) { return a op static_cast<float>(b); }
#define SIMT_SMALL_COMPARE(Type, op)                                                                      \
  SIMT_INLINE bool operator op(const Type& a, const Type& b) { return static_cast<float>(a) op static_cast<float>(b); } \
  template <SIMT_IF_ARITHMETIC(A)> SIMT_INLINE bool operator op(const Type& a, A b) { return static_cast<float>(a) op b; } \
  template <SIMT_IF_ARITHMETIC(A)> SIMT_INLINE bool operator op(A a, const Type& b) { return a op static_cast<float>(b); }
#define SIMT_PAIR_OPERATOR(Pair, op) \
  SIMT_INLINE Pair operator op(const Pair& a, const Pair& b) { return Pair(a.x op b.x, a.y op b.y); }

SIMT_SMALL_FLOAT(__half, __half2, simt::half_bits, simt::half_value)
SIMT_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, simt::bfloat_bits, simt::bfloat_value)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
typedef __nv_bfloat16 hip_bfloat16;
struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };
struct __nv_bfloat16_raw { unsigned short x; };

namespace simt {
template <> struct TypeCode<__half> { static constexpr const char* get() { return "f2"; } };
template <> struct TypeCode<const __half> : TypeCode<__half> {};
template <> struct TypeCode<__nv_bfloat16> { static constexpr const char* get() { return "bf16"; } };
template <> struct TypeCode<const __nv_bfloat16> : TypeCode<__nv_bfloat16> {};
}  // namespace simt
