// Factories, free functions and operators of tensors.
#pragma once
#include "tensor.h"

namespace light {
LIGHT_EXPORT Body* empty(c10::IntArrayRef sizes, const c10::TensorOptions& options, bool zeroed);
LIGHT_EXPORT Body* from_blob(void* data, c10::IntArrayRef sizes, const int64_t* strides, const c10::TensorOptions& options, void (*deleter)(void*, void*), void* context);
LIGHT_EXPORT Body* from_values(const void* data, size_t count, c10::ScalarType type, const c10::TensorOptions& options, bool scalar);
LIGHT_EXPORT bool grad_mode(int change);  // -1 asks, 0 and 1 set; the mode before

inline c10::TensorOptions merge(c10::TensorOptions base, const c10::TensorOptions& over) {
  if (over.has_dtype()) base = base.dtype(over.dtype());
  if (over.has_device()) base = base.device(over.device());
  return base;
}
}  // namespace light

namespace at {
#define LIGHT_OPTIONS const TensorOptions &o = {}
inline Tensor empty(IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::own(::light::empty(sizes, o, false)); }
inline Tensor empty(IntArrayRef sizes, const TensorOptions& o, MemoryFormat f) { return Tensor::own(::light::empty(sizes, o.memory_format(f), false)); }
inline Tensor zeros(IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::own(::light::empty(sizes, o, true)); }
inline Tensor ones(IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::apply("ones", {sizes, o}); }
inline Tensor full(IntArrayRef sizes, Scalar v, LIGHT_OPTIONS) { return Tensor::apply("full", {sizes, v, o}); }
inline Tensor rand(IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::apply("rand", {sizes, o}); }
inline Tensor randn(IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::apply("randn", {sizes, o}); }
inline Tensor randint(int64_t high, IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::apply("randint", {high, sizes, o}); }
inline Tensor randint(int64_t low, int64_t high, IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::apply("randint", {low, high, sizes, o}); }
inline Tensor randperm(int64_t n, LIGHT_OPTIONS) { return Tensor::apply("randperm", {n, o}); }
inline Tensor eye(int64_t n, LIGHT_OPTIONS) { return Tensor::apply("eye", {n, o}); }
inline Tensor arange(Scalar end, LIGHT_OPTIONS) { return Tensor::apply("arange", {end, o}); }
inline Tensor arange(Scalar start, Scalar end, LIGHT_OPTIONS) { return Tensor::apply("arange", {start, end, o}); }
inline Tensor arange(Scalar start, Scalar end, Scalar step, LIGHT_OPTIONS) { return Tensor::apply("arange", {start, end, step, o}); }
inline Tensor linspace(Scalar start, Scalar end, int64_t steps, LIGHT_OPTIONS) { return Tensor::apply("linspace", {start, end, steps, o}); }
inline Tensor logspace(Scalar start, Scalar end, int64_t steps, double base = 10.0, LIGHT_OPTIONS) { return Tensor::apply("logspace", {start, end, steps, base, o}); }
inline Tensor eye(int64_t n, int64_t m, LIGHT_OPTIONS) { return Tensor::apply("eye", {n, m, o}); }
inline Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset = 0, const TensorOptions& o = kLong) { return Tensor::apply("tril_indices", {rows, columns, offset, o}); }
inline Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset = 0, const TensorOptions& o = kLong) { return Tensor::apply("triu_indices", {rows, columns, offset, o}); }
inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, LIGHT_OPTIONS) { return Tensor::apply("empty_strided", {sizes, strides, o}); }
inline Tensor scalar_tensor(Scalar v, LIGHT_OPTIONS) { return Tensor::apply("scalar_tensor", {v, o}); }

inline Tensor empty_like(const Tensor& x, LIGHT_OPTIONS) {
  if (x.is_contiguous()) return Tensor::own(::light::empty(x.sizes(), ::light::merge(x.options(), o), false));
  return Tensor::apply("empty_like", {x, o});
}
inline Tensor empty_like(const Tensor& x, const TensorOptions& o, MemoryFormat f) { return empty(x.sizes(), ::light::merge(x.options(), o), f); }
inline Tensor zeros_like(const Tensor& x, LIGHT_OPTIONS) {
  if (x.is_contiguous()) return Tensor::own(::light::empty(x.sizes(), ::light::merge(x.options(), o), true));
  return Tensor::apply("zeros_like", {x, o});
}
inline Tensor ones_like(const Tensor& x, LIGHT_OPTIONS) { return Tensor::apply("ones_like", {x, o}); }
inline Tensor rand_like(const Tensor& x, LIGHT_OPTIONS) { return Tensor::apply("rand_like", {x, o}); }
inline Tensor randn_like(const Tensor& x, LIGHT_OPTIONS) { return Tensor::apply("randn_like", {x, o}); }
inline Tensor randint_like(const Tensor& x, int64_t high, LIGHT_OPTIONS) { return Tensor::apply("randint_like", {x, high, o}); }
inline Tensor randint_like(const Tensor& x, int64_t low, int64_t high, LIGHT_OPTIONS) { return Tensor::apply("randint_like", {x, low, high, o}); }
inline Tensor full_like(const Tensor& x, Scalar v, LIGHT_OPTIONS) { return Tensor::apply("full_like", {x, v, o}); }

inline Tensor from_blob(void* data, IntArrayRef sizes, LIGHT_OPTIONS) { return Tensor::own(::light::from_blob(data, sizes, nullptr, o, nullptr, nullptr)); }
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, LIGHT_OPTIONS) { return Tensor::own(::light::from_blob(data, sizes, strides.data(), o, nullptr, nullptr)); }
template <class F, class = decltype(std::declval<F&>()(static_cast<void*>(nullptr)))>
inline Tensor from_blob(void* data, IntArrayRef sizes, F deleter, LIGHT_OPTIONS) {
  auto run = [](void* p, void* f) {
    (*static_cast<F*>(f))(p);
    delete static_cast<F*>(f);
  };
  return Tensor::own(::light::from_blob(data, sizes, nullptr, o, run, new F(std::move(deleter))));
}

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
inline Tensor tensor(T v, LIGHT_OPTIONS) { return Tensor::own(::light::from_values(&v, 1, CppTypeToScalarType<T>::value, o, true)); }
template <class T>
inline Tensor tensor(std::initializer_list<T> v, LIGHT_OPTIONS) { return Tensor::own(::light::from_values(v.begin(), v.size(), CppTypeToScalarType<T>::value, o, false)); }
template <class T>
inline Tensor tensor(const std::vector<T>& v, LIGHT_OPTIONS) { return Tensor::own(::light::from_values(v.data(), v.size(), CppTypeToScalarType<T>::value, o, false)); }
template <class T>
inline Tensor tensor(ArrayRef<T> v, LIGHT_OPTIONS) { return Tensor::own(::light::from_values(v.data(), v.size(), CppTypeToScalarType<T>::value, o, false)); }

#define LIGHT_X(name) inline Tensor name(const Tensor& self) { return Tensor::apply(#name, {self}); }
LIGHT_UNARY(LIGHT_X)
#undef LIGHT_X
// Templates, so that a candidate's own function of the same name is preferred.
#define LIGHT_X(name) template <class = void> inline Tensor name(const Tensor& self, LIGHT_FIVE, LIGHT_V f = {}, LIGHT_V g = {}, LIGHT_V h = {}) { return Tensor::apply(#name, {self, a, b, c, d, e, f, g, h}); }
LIGHT_BOTH(LIGHT_X) LIGHT_FUNCTIONS(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) template <class = void> inline std::tuple<Tensor, Tensor> name(const Tensor& self, LIGHT_FIVE) { return Tensor::two(#name, {self, a, b, c, d, e}); }
LIGHT_PAIRS(LIGHT_X) LIGHT_PAIR_FUNCTIONS(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) template <class = void> inline std::tuple<Tensor, Tensor, Tensor> name(const Tensor& self, LIGHT_FIVE, LIGHT_V f = {}, LIGHT_V g = {}, LIGHT_V h = {}) { return Tensor::three(#name, {self, a, b, c, d, e, f, g, h}); }
LIGHT_TRIPLES(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) template <class = void> inline std::vector<Tensor> name(const Tensor& self, LIGHT_FIVE) { return Tensor::many(#name, {self, a, b, c, d, e}); }
LIGHT_LISTS(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) inline Tensor& name(Tensor& self, LIGHT_FIVE) { ::light::Value v[] = {self, a, b, c, d, e}; ::light::call_in_place(#name, v, 6); return self; }
LIGHT_X(relu_) LIGHT_X(sigmoid_) LIGHT_X(tanh_) LIGHT_X(exp_) LIGHT_X(sqrt_) LIGHT_X(clamp_) LIGHT_X(leaky_relu_) LIGHT_X(elu_) LIGHT_X(silu_) LIGHT_X(hardtanh_) LIGHT_X(fill_)
#undef LIGHT_X
#define LIGHT_X(name) inline Tensor& name(Tensor& out, LIGHT_V a, LIGHT_V b = {}, LIGHT_V c = {}, LIGHT_V d = {}) { ::light::Value v[] = {out, a, b, c, d}; ::light::call_in_place(#name, v, 5); return out; }
LIGHT_X(add_out) LIGHT_X(sub_out) LIGHT_X(mul_out) LIGHT_X(div_out) LIGHT_X(mm_out) LIGHT_X(matmul_out) LIGHT_X(bmm_out) LIGHT_X(addmm_out) LIGHT_X(sum_out) LIGHT_X(exp_out) LIGHT_X(relu_out) LIGHT_X(cat_out)
#undef LIGHT_X
#define LIGHT_X(name)                                                                                          \
  inline Tensor name(const Tensor& x) { return x.name(); }                                                     \
  inline Tensor name(const Tensor& x, const Tensor& o) { return x.name(o); }                                   \
  inline std::tuple<Tensor, Tensor> name(const Tensor& x, int64_t d, bool keepdim = false) { return x.name(d, keepdim); }
LIGHT_X(max) LIGHT_X(min)
#undef LIGHT_X
inline Tensor median(const Tensor& x) { return x.median(); }
inline std::tuple<Tensor, Tensor> median(const Tensor& x, int64_t d, bool keepdim = false) { return x.median(d, keepdim); }
inline Tensor cat(TensorList l, int64_t d = 0) { return Tensor::apply("cat", {l, d}); }
inline Tensor concat(TensorList l, int64_t d = 0) { return cat(l, d); }
inline Tensor stack(TensorList l, int64_t d = 0) { return Tensor::apply("stack", {l, d}); }
inline Tensor concatenate(TensorList l, int64_t d = 0) { return cat(l, d); }
inline Tensor dstack(TensorList l) { return Tensor::apply("dstack", {l}); }
inline Tensor row_stack(TensorList l) { return Tensor::apply("row_stack", {l}); }
inline Tensor column_stack(TensorList l) { return Tensor::apply("column_stack", {l}); }
inline Tensor chain_matmul(TensorList l) { return Tensor::apply("chain_matmul", {l}); }
inline Tensor hstack(TensorList l) { return Tensor::apply("hstack", {l}); }
inline Tensor vstack(TensorList l) { return Tensor::apply("vstack", {l}); }
inline Tensor block_diag(TensorList l) { return Tensor::apply("block_diag", {l}); }
inline std::vector<Tensor> broadcast_tensors(TensorList l) { return Tensor::many("broadcast_tensors", {l}); }
inline std::vector<Tensor> meshgrid(TensorList l, const char* indexing = "ij") { return Tensor::many("meshgrid", {l, indexing}); }
inline Tensor einsum(const std::string& equation, TensorList l) { return Tensor::apply("einsum", {equation, l}); }
inline Tensor where(const Tensor& condition, LIGHT_V a, LIGHT_V b) { return Tensor::apply("where", {condition, a, b}); }
inline Tensor pow(Scalar base, const Tensor& exponent) { return Tensor::apply("pow", {base, exponent}); }
inline bool equal(const Tensor& a, const Tensor& b) { return a.equal(b); }
inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8) { return a.allclose(b, rtol, atol); }
inline std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& x, LIGHT_V shape, LIGHT_V weight, LIGHT_V bias, double eps) {
  return Tensor::three("native_layer_norm", {x, shape, weight, bias, eps});
}
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, LIGHT_FIVE) { return Tensor::two("max_pool2d_with_indices", {x, a, b, c, d, e}); }
inline std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& x, LIGHT_V size) { return Tensor::two("adaptive_max_pool2d", {x, size}); }

#define LIGHT_X(op, name)                                                                                     \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return Tensor::apply(name, {a, b}); }         \
  inline Tensor operator op(const Tensor& a, Scalar b) { return Tensor::apply(name, {a, b}); }
LIGHT_X(+, "add") LIGHT_X(-, "sub") LIGHT_X(*, "mul") LIGHT_X(/, "div") LIGHT_X(%, "remainder") LIGHT_X(==, "eq") LIGHT_X(!=, "ne") LIGHT_X(<, "lt") LIGHT_X(>, "gt")
LIGHT_X(<=, "le") LIGHT_X(>=, "ge") LIGHT_X(&, "bitwise_and") LIGHT_X(|, "bitwise_or") LIGHT_X(^, "bitwise_xor")
#undef LIGHT_X
inline Tensor operator+(Scalar a, const Tensor& b) { return Tensor::apply("add", {b, a}); }
inline Tensor operator*(Scalar a, const Tensor& b) { return Tensor::apply("mul", {b, a}); }
inline Tensor operator-(Scalar a, const Tensor& b) { return Tensor::apply("rsub", {b, a}); }
inline Tensor operator/(Scalar a, const Tensor& b) { return Tensor::apply("mul", {b.reciprocal(), a}); }

// Tensor::index and at::indexing.
namespace indexing {
enum class EllipsisIndexType { Ellipsis };
constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;
constexpr std::nullopt_t None = std::nullopt;
struct Slice {
  std::optional<int64_t> start, stop, step;
  Slice(std::optional<int64_t> a = std::nullopt, std::optional<int64_t> b = std::nullopt, std::optional<int64_t> c = std::nullopt) : start(a), stop(b), step(c) {}
};
struct TensorIndex {
  enum Kind { none, ellipsis, integer, tensor, slice } kind;
  int64_t i = 0;
  Tensor t;
  Slice s;
  TensorIndex(std::nullopt_t) : kind(none) {}
  TensorIndex(EllipsisIndexType) : kind(ellipsis) {}
  TensorIndex(const char*) : kind(ellipsis) {}
  template <class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>
  TensorIndex(I v) : kind(integer), i(static_cast<int64_t>(v)) {}
  TensorIndex(const Tensor& v) : kind(tensor), t(v) {}
  TensorIndex(Slice v) : kind(slice), s(v) {}
};
}  // namespace indexing
}  // namespace at

namespace light {
LIGHT_EXPORT Body* take_index(Body* body, const at::indexing::TensorIndex* index, size_t count);
LIGHT_EXPORT void put_index(Body* body, const at::indexing::TensorIndex* index, size_t count, const Value& value);
}  // namespace light

namespace at {
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> i) const { return own(::light::take_index(get(), i.begin(), i.size())); }
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> i, LIGHT_V value) const {
  ::light::put_index(get(), i.begin(), i.size(), value);
  return self();
}
struct NoGradGuard {
  NoGradGuard() : before(::light::grad_mode(0)) {}
  ~NoGradGuard() { ::light::grad_mode(before); }
  bool before;
};
using AutoDispatchBelowADInplaceOrView = NoGradGuard;
using InferenceMode = NoGradGuard;
struct AutoGradMode {
  explicit AutoGradMode(bool enabled) : before(::light::grad_mode(enabled)) {}
  ~AutoGradMode() { ::light::grad_mode(before); }
  bool before;
};
struct GradMode {
  static bool is_enabled() { return ::light::grad_mode(-1); }
  static void set_enabled(bool enabled) { (void)::light::grad_mode(enabled); }
};
}  // namespace at
namespace c10 {
using at::AutoGradMode;
using at::GradMode;
using at::InferenceMode;
using at::NoGradGuard;
}
namespace torch {
namespace indexing = at::indexing;
using at::NoGradGuard;
}
