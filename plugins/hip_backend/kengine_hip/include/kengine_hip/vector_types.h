// float4, int2, uchar3, … with the alignment of HIP, their constructors and component-wise operators.
#pragma once

#define KENGINE_VECTOR(T, N, A2, A4)                                                          \
  struct N##1 { T x; };                                                                       \
  struct __attribute__((aligned(A2))) N##2 { T x, y; };                                       \
  struct N##3 { T x, y, z; };                                                                 \
  struct __attribute__((aligned(A4))) N##4 { T x, y, z, w; };                                 \
  KENGINE_VECTOR_FUNCTIONS(T, N)
#define KENGINE_VECTOR_FUNCTIONS(T, N)                                                        \
  KENGINE_HD N##1 make_##N##1(T x) { return {x}; }                                            \
  KENGINE_HD N##2 make_##N##2(T x, T y) { return {x, y}; }                                    \
  KENGINE_HD N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                            \
  KENGINE_HD N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }                    \
  KENGINE_VECTOR_OPERATOR(T, N, +) KENGINE_VECTOR_OPERATOR(T, N, -)                           \
  KENGINE_VECTOR_OPERATOR(T, N, *) KENGINE_VECTOR_OPERATOR(T, N, /)                           \
  KENGINE_HD bool operator==(const N##2& a, const N##2& b) { return a.x == b.x && a.y == b.y; } \
  KENGINE_HD bool operator==(const N##3& a, const N##3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; } \
  KENGINE_HD bool operator==(const N##4& a, const N##4& b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; } \
  KENGINE_HD N##2 operator-(const N##2& a) { return {(T)-a.x, (T)-a.y}; }                      \
  KENGINE_HD N##3 operator-(const N##3& a) { return {(T)-a.x, (T)-a.y, (T)-a.z}; }             \
  KENGINE_HD N##4 operator-(const N##4& a) { return {(T)-a.x, (T)-a.y, (T)-a.z, (T)-a.w}; }
#define KENGINE_VECTOR_OPERATOR(T, N, op)                                                     \
  KENGINE_HD N##2 operator op(const N##2& a, const N##2& b) { return {(T)(a.x op b.x), (T)(a.y op b.y)}; } \
  KENGINE_HD N##3 operator op(const N##3& a, const N##3& b) { return {(T)(a.x op b.x), (T)(a.y op b.y), (T)(a.z op b.z)}; } \
  KENGINE_HD N##4 operator op(const N##4& a, const N##4& b) { return {(T)(a.x op b.x), (T)(a.y op b.y), (T)(a.z op b.z), (T)(a.w op b.w)}; } \
  KENGINE_HD N##2 operator op(const N##2& a, T s) { return {(T)(a.x op s), (T)(a.y op s)}; }   \
  KENGINE_HD N##3 operator op(const N##3& a, T s) { return {(T)(a.x op s), (T)(a.y op s), (T)(a.z op s)}; } \
  KENGINE_HD N##4 operator op(const N##4& a, T s) { return {(T)(a.x op s), (T)(a.y op s), (T)(a.z op s), (T)(a.w op s)}; } \
  KENGINE_HD N##2 operator op(T s, const N##2& a) { return {(T)(s op a.x), (T)(s op a.y)}; }   \
  KENGINE_HD N##3 operator op(T s, const N##3& a) { return {(T)(s op a.x), (T)(s op a.y), (T)(s op a.z)}; } \
  KENGINE_HD N##4 operator op(T s, const N##4& a) { return {(T)(s op a.x), (T)(s op a.y), (T)(s op a.z), (T)(s op a.w)}; } \
  KENGINE_HD N##2& operator op##=(N##2& a, const N##2& b) { return a = a op b; }               \
  KENGINE_HD N##3& operator op##=(N##3& a, const N##3& b) { return a = a op b; }               \
  KENGINE_HD N##4& operator op##=(N##4& a, const N##4& b) { return a = a op b; }               \
  KENGINE_HD N##2& operator op##=(N##2& a, T s) { return a = a op s; }                         \
  KENGINE_HD N##3& operator op##=(N##3& a, T s) { return a = a op s; }                         \
  KENGINE_HD N##4& operator op##=(N##4& a, T s) { return a = a op s; }

KENGINE_VECTOR(signed char, char, 2, 4)
KENGINE_VECTOR(unsigned char, uchar, 2, 4)
KENGINE_VECTOR(short, short, 4, 8)
KENGINE_VECTOR(unsigned short, ushort, 4, 8)
KENGINE_VECTOR(int, int, 8, 16)
KENGINE_VECTOR(long, long, 16, 32)
KENGINE_VECTOR(unsigned long, ulong, 16, 32)
KENGINE_VECTOR(long long, longlong, 16, 32)
KENGINE_VECTOR(unsigned long long, ulonglong, 16, 32)
KENGINE_VECTOR(float, float, 8, 16)
KENGINE_VECTOR(double, double, 16, 32)
struct uint1 { unsigned x; };
struct __attribute__((aligned(8))) uint2 { unsigned x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
KENGINE_VECTOR_FUNCTIONS(unsigned, uint)
