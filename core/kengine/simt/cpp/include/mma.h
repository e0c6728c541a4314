// Warp matrix operations, by their meaning: a fragment's elements are spread over the lanes in an order of our own.
#pragma once

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision

namespace detail {
template <class T> struct Stored { using type = T; };
template <> struct Stored<precision::tf32> { using type = float; };
template <class Use, int M, int N, int K> struct Shape;
template <int M, int N, int K> struct Shape<matrix_a, M, N, K> { static constexpr int rows = M, columns = K; };
template <int M, int N, int K> struct Shape<matrix_b, M, N, K> { static constexpr int rows = K, columns = N; };
template <int M, int N, int K> struct Shape<accumulator, M, N, K> { static constexpr int rows = M, columns = N; };
// Sums are kept in float, double or int and rounded once.
template <class T> struct Wide { using type = float; };
template <> struct Wide<double> { using type = double; };
template <> struct Wide<int> { using type = int; };
constexpr uint64_t lanes = 0xffffffffull;
}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using element_type = typename detail::Stored<T>::type;
  using storage_element_type = element_type;
  static constexpr int rows = detail::Shape<Use, M, N, K>::rows, columns = detail::Shape<Use, M, N, K>::columns;
  static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
  static_assert(rows * columns % 32 == 0, "not a shape of warp matrices");
  element_type x[num_elements];
};

template <class F, class V>
SIMT_INLINE void fill_fragment(F& f, V v) {
  for (int i = 0; i < F::num_elements; ++i) f.x[i] = static_cast<typename F::element_type>(v);
}

namespace detail {
template <class F>
SIMT_INLINE size_t offset(int i, unsigned stride, bool by_rows) {
  int e = i * 32 + simt::lane() % 32, r = e / F::columns, c = e % F::columns;
  return by_rows ? static_cast<size_t>(r) * stride + static_cast<size_t>(c) : static_cast<size_t>(c) * stride + static_cast<size_t>(r);
}
template <class F, class T>
SIMT_RAW void take(F& f, const T* p, unsigned stride, bool by_rows, int line) {
  for (int i = 0; i < F::num_elements; ++i) f.x[i] = static_cast<typename F::element_type>(p[offset<F>(i, stride, by_rows)]);
  simt_sync_warp(lanes, line);
}
template <class F, class T>
SIMT_RAW void put(T* p, const F& f, unsigned stride, bool by_rows, int line) {
  for (int i = 0; i < F::num_elements; ++i) p[offset<F>(i, stride, by_rows)] = static_cast<T>(f.x[i]);
  simt_sync_warp(lanes, line);
}
template <class F, class T>
SIMT_INLINE void load(F& f, const T* p, unsigned stride, bool by_rows, int line) {
  for (int i = 0; i < F::num_elements; ++i) SIMT_NOTE(simt_note_read(p + offset<F>(i, stride, by_rows), sizeof(T)));
  take(f, p, stride, by_rows, line);
}
// Every lane shows the others its fragments, and computes the elements that it holds itself.
template <class D, class A, class B, class C>
SIMT_RAW void multiply(D& d, const A& a, const B& b, const C& c, int line) {
  using Sum = typename Wide<typename D::element_type>::type;
  const void* mine[2] = {&a, &b};
  const uint64_t* values;
  simt_meet(lanes, reinterpret_cast<uint64_t>(mine), &values, simt::op_sync, 0, line);
  const A* as[32];
  const B* bs[32];
  for (int l = 0; l < 32; ++l) {
    auto** theirs = reinterpret_cast<const void**>(values[l]);
    as[l] = static_cast<const A*>(theirs[0]);
    bs[l] = static_cast<const B*>(theirs[1]);
  }
  Sum out[D::num_elements];
  for (int i = 0; i < D::num_elements; ++i) {
    int e = i * 32 + simt::lane() % 32, r = e / D::columns, col = e % D::columns;
    Sum sum = static_cast<Sum>(c.x[i]);
    for (int k = 0; k < A::columns; ++k) {
      int ea = r * A::columns + k, eb = k * B::columns + col;
      sum += static_cast<Sum>(as[ea % 32]->x[ea / 32]) * static_cast<Sum>(bs[eb % 32]->x[eb / 32]);
    }
    out[i] = sum;
  }
  simt_sync_warp(lanes, line);
  for (int i = 0; i < D::num_elements; ++i) d.x[i] = static_cast<typename D::element_type>(out[i]);
}
}  // namespace detail

template <class Use, int M, int N, int K, class T, class Layout, class V>
SIMT_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const V* p, unsigned stride, SIMT_LINE) { detail::load(f, p, stride, std::is_same<Layout, row_major>::value, line); }
template <int M, int N, int K, class T, class V>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const V* p, unsigned stride, layout_t layout, SIMT_LINE) { detail::load(f, p, stride, layout == mem_row_major, line); }
template <int M, int N, int K, class T, class V>
SIMT_INLINE void store_matrix_sync(V* p, const fragment<accumulator, M, N, K, T>& f, unsigned stride, layout_t layout, SIMT_LINE) {
  using F = fragment<accumulator, M, N, K, T>;
  for (int i = 0; i < F::num_elements; ++i) SIMT_NOTE(simt_note_write(p + detail::offset<F>(i, stride, layout == mem_row_major), sizeof(V)));
  detail::put(p, f, stride, layout == mem_row_major, line);
}
template <class D, class A, class B, class C>
SIMT_INLINE void mma_sync(D& d, const A& a, const B& b, const C& c, bool = false, SIMT_LINE) { detail::multiply(d, a, b, c, line); }
SIMT_INLINE float __float_to_tf32(float v) {
  uint32_t u = simt::bits<uint32_t>(v);
  return simt::bits<float>((u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu);
}

}  // namespace wmma
}  // namespace nvcuda
