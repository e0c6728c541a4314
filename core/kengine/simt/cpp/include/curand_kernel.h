// Device side of cuRAND: XORWOW (Marsaglia 2003) and Philox4x32-10 (Salmon et al. 2011), seeded and skipped like the
// library's, and the distributions made from them.
#pragma once

struct curandStateXORWOW {
  unsigned d, v[5];
  float spare;
  int has_spare;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
struct curandStatePhilox4_32_10 {
  unsigned counter[4], key[2], output[4];
  int position, has_spare;
  float spare;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace simt {
namespace random {
struct Vector {
  unsigned w[5];
};
struct Matrix {
  Vector column[160];  // image of each unit vector
};
SIMT_RAW Vector step(Vector s) {
  unsigned t = s.w[0] ^ s.w[0] >> 2;
  Vector r{{s.w[1], s.w[2], s.w[3], s.w[4], 0}};
  r.w[4] = (s.w[4] ^ s.w[4] << 4) ^ (t ^ t << 1);
  return r;
}
SIMT_RAW Vector apply(const Matrix& m, const Vector& x) {
  Vector r{};
  for (int i = 0; i < 160; ++i)
    if (x.w[i / 32] >> (i % 32) & 1)
      for (int k = 0; k < 5; ++k) r.w[k] ^= m.column[i].w[k];
  return r;
}
SIMT_RAW void square(const Matrix& m, Matrix& out) {
  for (int i = 0; i < 160; ++i) out.column[i] = apply(m, m.column[i]);
}
// The generator is linear over bits: powers[k] skips 2^k numbers.
SIMT_RAW const Matrix* powers() {
  static Matrix* all;
  if (!all) {
    auto* m = static_cast<Matrix*>(calloc(131, sizeof(Matrix)));
    for (int i = 0; i < 160; ++i) {
      Vector unit{};
      unit.w[i / 32] = 1u << (i % 32);
      m[0].column[i] = step(unit);
    }
    for (int k = 1; k < 131; ++k) square(m[k - 1], m[k]);
    all = m;
  }
  return all;
}
SIMT_RAW Vector skip(Vector v, unsigned long long n, int shift) {
  if (!n) return v;
  const Matrix* m = powers();
  for (int k = 0; n; ++k, n >>= 1)
    if (n & 1) v = apply(m[k + shift], v);
  return v;
}
SIMT_RAW void philox(curandStatePhilox4_32_10* s) {
  unsigned c0 = s->counter[0], c1 = s->counter[1], c2 = s->counter[2], c3 = s->counter[3], k0 = s->key[0], k1 = s->key[1];
  for (int round = 0; round < 10; ++round) {
    uint64_t a = static_cast<uint64_t>(0xD2511F53u) * c0, b = static_cast<uint64_t>(0xCD9E8D57u) * c2;
    c0 = static_cast<unsigned>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<unsigned>(b);
    c2 = static_cast<unsigned>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<unsigned>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  s->output[0] = c0, s->output[1] = c1, s->output[2] = c2, s->output[3] = c3;
}
SIMT_RAW void advance(curandStatePhilox4_32_10* s, unsigned long long n, int word) {
  for (; n && word < 4; word += 2, n = 0) {
    uint64_t low = static_cast<uint64_t>(s->counter[word + 1]) << 32 | s->counter[word], sum = low + n;
    s->counter[word] = static_cast<unsigned>(sum);
    s->counter[word + 1] = static_cast<unsigned>(sum >> 32);
    if (sum < low && word == 0 && !++s->counter[2]) ++s->counter[3];
  }
}
SIMT_RAW void start(curandStateXORWOW* s, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
  unsigned s0 = static_cast<unsigned>(seed) ^ 0xaad26b49u, s1 = static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu;
  unsigned t0 = 1099087573u * s0, t1 = 2591861531u * s1;
  Vector v{{123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0}};
  v = skip(skip(v, subsequence, 67), offset, 0);
  memcpy(s->v, v.w, sizeof v.w);
  s->d = 6615241u + t1 + t0 + 362437u * static_cast<unsigned>(offset);
  s->has_spare = 0;
}
SIMT_RAW void start(curandStatePhilox4_32_10* s, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
  memset(s, 0, sizeof *s);
  s->key[0] = static_cast<unsigned>(seed);
  s->key[1] = static_cast<unsigned>(seed >> 32);
  advance(s, subsequence, 2);
  advance(s, offset / 4, 0);
  s->position = static_cast<int>(offset & 3);
  philox(s);
}
SIMT_RAW unsigned draw(curandStateXORWOW* s) {
  Vector v;
  memcpy(v.w, s->v, sizeof v.w);
  v = step(v);
  memcpy(s->v, v.w, sizeof v.w);
  s->d += 362437u;
  return v.w[4] + s->d;
}
SIMT_RAW unsigned draw(curandStatePhilox4_32_10* s) {
  unsigned r = s->output[s->position++];
  if (s->position == 4) {
    advance(s, 1, 0);
    philox(s);
    s->position = 0;
  }
  return r;
}
SIMT_INLINE float uniform(unsigned x) { return static_cast<float>(x) * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
SIMT_INLINE double uniform_double(unsigned x, unsigned y) {
  unsigned long long z = static_cast<unsigned long long>(x) ^ static_cast<unsigned long long>(y) << (53 - 32);
  return static_cast<double>(z) * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}
SIMT_INLINE float2 box_muller(unsigned x, unsigned y) {
  float u = uniform(x), v = static_cast<float>(y) * (2.3283064e-10f * 6.2831855f) + 2.3283064e-10f * 6.2831855f / 2.0f;
  float s = sqrtf(-2.0f * logf(u));
  return make_float2(s * sinf(v), s * cosf(v));
}
}  // namespace random
}  // namespace simt

template <class S> SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, S* s) {
  SIMT_NOTE(simt_note_write(s, sizeof(S)));
  simt::random::start(s, seed, subsequence, offset);
}
template <class S> SIMT_INLINE unsigned curand(S* s) {
  SIMT_NOTE(simt_note_read(s, sizeof(S)));
  SIMT_NOTE(simt_note_write(s, sizeof(S)));
  return simt::random::draw(s);
}
template <class S> SIMT_INLINE float curand_uniform(S* s) { return simt::random::uniform(curand(s)); }
template <class S> SIMT_INLINE double curand_uniform_double(S* s) { unsigned x = curand(s), y = curand(s); return simt::random::uniform_double(x, y); }
template <class S> SIMT_INLINE float2 curand_normal2(S* s) { unsigned x = curand(s), y = curand(s); return simt::random::box_muller(x, y); }
template <class S> SIMT_INLINE float curand_normal(S* s) {
  if (s->has_spare) { s->has_spare = 0; return s->spare; }
  float2 pair = curand_normal2(s);
  s->spare = pair.y;
  s->has_spare = 1;
  return pair.x;
}
template <class S> SIMT_INLINE double curand_normal_double(S* s) {
  double u = curand_uniform_double(s), v = curand_uniform_double(s);
  return ::sqrt(-2.0 * ::log(u)) * ::sin(6.283185307179586 * v);
}
template <class S> SIMT_INLINE float curand_log_normal(S* s, float mean, float deviation) { return expf(mean + deviation * curand_normal(s)); }
SIMT_INLINE uint4 curand4(curandStatePhilox4_32_10* s) { unsigned a = curand(s), b = curand(s), c = curand(s), d = curand(s); return make_uint4(a, b, c, d); }
SIMT_INLINE float4 curand_uniform4(curandStatePhilox4_32_10* s) {
  uint4 r = curand4(s);
  return make_float4(simt::random::uniform(r.x), simt::random::uniform(r.y), simt::random::uniform(r.z), simt::random::uniform(r.w));
}
SIMT_INLINE float4 curand_normal4(curandStatePhilox4_32_10* s) {
  uint4 r = curand4(s);
  float2 p = simt::random::box_muller(r.x, r.y), q = simt::random::box_muller(r.z, r.w);
  return make_float4(p.x, p.y, q.x, q.y);
}
template <class S> SIMT_INLINE void skipahead(unsigned long long n, S* s) { for (; n; --n) curand(s); }
