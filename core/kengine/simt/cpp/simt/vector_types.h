// float4, int2, uchar3, ... with the alignment the devices require, and their constructors.
#pragma once

#define SIMT_VECTOR(T, N, A1, A2, A4)                                                   \
  struct alignas(A1) N##1 { T x; };                                                     \
  struct alignas(A2) N##2 { T x, y; };                                                  \
  struct N##3 { T x, y, z; };                                                           \
  struct alignas(A4) N##4 { T x, y, z, w; };                                            \
  SIMT_INLINE N##1 make_##N##1(T x) { return {x}; }                                     \
  SIMT_INLINE N##2 make_##N##2(T x, T y) { return {x, y}; }                             \
  SIMT_INLINE N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                     \
  SIMT_INLINE N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SIMT_VECTOR(signed char, char, 1, 2, 4)
SIMT_VECTOR(unsigned char, uchar, 1, 2, 4)
SIMT_VECTOR(short, short, 2, 4, 8)
SIMT_VECTOR(unsigned short, ushort, 2, 4, 8)
SIMT_VECTOR(int, int, 4, 8, 16)
SIMT_VECTOR(long, long, 8, 16, 16)
SIMT_VECTOR(unsigned long, ulong, 8, 16, 16)
SIMT_VECTOR(long long, longlong, 8, 16, 16)
SIMT_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
SIMT_VECTOR(float, float, 4, 8, 16)
SIMT_VECTOR(double, double, 8, 16, 16)
struct alignas(4) uint1 { unsigned x; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
SIMT_INLINE uint1 make_uint1(unsigned x) { return {x}; }
SIMT_INLINE uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
SIMT_INLINE uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
SIMT_INLINE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

SIMT_INLINE bool operator==(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
SIMT_INLINE bool operator!=(const dim3& a, const dim3& b) { return !(a == b); }

#ifdef SIMT_HIP
// HIP's vector types have component-wise operators; CUDA's have none, and candidates there write their own.
#define SIMT_VECTOR_OPERATOR(N, op)                                                                                        \
  SIMT_INLINE N##2 operator op(const N##2& a, const N##2& b) { N##2 r; r.x = a.x op b.x; r.y = a.y op b.y; return r; }      \
  SIMT_INLINE N##3 operator op(const N##3& a, const N##3& b) { N##3 r; r.x = a.x op b.x; r.y = a.y op b.y; r.z = a.z op b.z; return r; } \
  SIMT_INLINE N##4 operator op(const N##4& a, const N##4& b) { N##4 r; r.x = a.x op b.x; r.y = a.y op b.y; r.z = a.z op b.z; r.w = a.w op b.w; return r; } \
  SIMT_INLINE N##2& operator op##=(N##2& a, const N##2& b) { return a = a op b; }                                          \
  SIMT_INLINE N##3& operator op##=(N##3& a, const N##3& b) { return a = a op b; }                                          \
  SIMT_INLINE N##4& operator op##=(N##4& a, const N##4& b) { return a = a op b; }
#define SIMT_SCALAR_OPERATOR(T, N, op)                                                                                     \
  SIMT_INLINE N##2 operator op(const N##2& a, T s) { N##2 r; r.x = a.x op s; r.y = a.y op s; return r; }                     \
  SIMT_INLINE N##4 operator op(const N##4& a, T s) { N##4 r; r.x = a.x op s; r.y = a.y op s; r.z = a.z op s; r.w = a.w op s; return r; } \
  SIMT_INLINE N##2& operator op##=(N##2& a, T s) { return a = a op s; }                                                    \
  SIMT_INLINE N##4& operator op##=(N##4& a, T s) { return a = a op s; }
#define SIMT_VECTOR_OPERATORS(T, N) \
  SIMT_VECTOR_OPERATOR(N, +) SIMT_VECTOR_OPERATOR(N, -) SIMT_VECTOR_OPERATOR(N, *) SIMT_VECTOR_OPERATOR(N, /) SIMT_SCALAR_OPERATOR(T, N, *) SIMT_SCALAR_OPERATOR(T, N, +) SIMT_SCALAR_OPERATOR(T, N, -) SIMT_SCALAR_OPERATOR(T, N, /)
SIMT_VECTOR_OPERATORS(float, float)
SIMT_VECTOR_OPERATORS(double, double)
SIMT_VECTOR_OPERATORS(int, int)
SIMT_VECTOR_OPERATORS(unsigned, uint)
#endif
