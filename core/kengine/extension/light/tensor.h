// at::Tensor over the glue library. Sizes, strides and data come from torch's stable C interface, operators by name.
#pragma once
#include "names.h"
#include "scalar.h"

namespace light {
LIGHT_EXPORT void retain(Body* body);
LIGHT_EXPORT void release(Body* body);
LIGHT_EXPORT int64_t dim(const Body* body);
LIGHT_EXPORT int64_t numel(const Body* body);
LIGHT_EXPORT const int64_t* sizes(const Body* body);
LIGHT_EXPORT const int64_t* strides(const Body* body);
LIGHT_EXPORT c10::ScalarType dtype(const Body* body);
LIGHT_EXPORT c10::Device device(const Body* body);
LIGHT_EXPORT int64_t storage_offset(const Body* body);
LIGHT_EXPORT bool is_contiguous(const Body* body, c10::MemoryFormat format);
LIGHT_EXPORT bool is_same(const Body* a, const Body* b);
LIGHT_EXPORT void* data(const Body* body);
LIGHT_EXPORT bool attribute(const Body* body, const char* name);
LIGHT_EXPORT Body* contiguous(Body* body, c10::MemoryFormat format);
LIGHT_EXPORT Body* convert(Body* body, const Value* arguments, size_t count);
LIGHT_EXPORT Body* subscript(Body* body, const Value* index, size_t count);
LIGHT_EXPORT void zero(Body* body);
LIGHT_EXPORT Body* property(const Body* body, const char* name);
LIGHT_EXPORT void set_requires_grad(Body* body, bool value);
LIGHT_EXPORT std::string describe(const Body* body);
LIGHT_EXPORT void backward(Body* body);
[[noreturn]] LIGHT_EXPORT void raise_dtype(const Body* body, c10::ScalarType wanted);
[[noreturn]] LIGHT_EXPORT void raise_undefined();
}  // namespace light

namespace at {
namespace indexing {
struct TensorIndex;
}
template <class T, size_t N, template <class> class P, class I> class TensorAccessor;
template <class T> struct DefaultPtrTraits;
template <class T, size_t N, template <class> class P, class I> class GenericPackedTensorAccessor;

#define LIGHT_V ::light::Value
#define LIGHT_FIVE LIGHT_V a = {}, LIGHT_V b = {}, LIGHT_V c = {}, LIGHT_V d = {}, LIGHT_V e = {}

class Tensor {
 public:
  Tensor() = default;
  struct Adopt {};
  Tensor(::light::Body* body, Adopt) : body_(body) {}
  Tensor(const Tensor& o) : body_(o.body_) { if (body_) ::light::retain(body_); }
  Tensor(Tensor&& o) noexcept : body_(o.body_) { o.body_ = nullptr; }
  Tensor& operator=(const Tensor& o) { Tensor copy(o); std::swap(body_, copy.body_); return *this; }
  Tensor& operator=(Tensor&& o) noexcept { std::swap(body_, o.body_); return *this; }
  ~Tensor() { if (body_) ::light::release(body_); }

  bool defined() const { return body_ != nullptr; }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& o) const { return body_ == o.body_ || (body_ && o.body_ && ::light::is_same(body_, o.body_)); }
  int64_t dim() const { return ::light::dim(get()); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return ::light::numel(get()); }
  IntArrayRef sizes() const { return IntArrayRef(::light::sizes(get()), static_cast<size_t>(dim())); }
  IntArrayRef strides() const { return IntArrayRef(::light::strides(get()), static_cast<size_t>(dim())); }
  IntArrayRef sym_sizes() const { return sizes(); }
  int64_t size(int64_t i) const { return ::light::sizes(get())[wrap(i)]; }
  int64_t stride(int64_t i) const { return ::light::strides(get())[wrap(i)]; }
  int64_t storage_offset() const { return ::light::storage_offset(get()); }
  ScalarType scalar_type() const { return ::light::dtype(get()); }
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(scalar_type()); }
  DeprecatedTypeProperties type() const { return DeprecatedTypeProperties(scalar_type(), device().type()); }
  bool has_storage() const { return defined(); }
  Layout layout() const { return kStrided; }
  size_t element_size() const { return elementSize(scalar_type()); }
  size_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(); }
  Device device() const { return ::light::device(get()); }
  DeviceIndex get_device() const { return is_cuda() ? device().index() : DeviceIndex(-1); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_hip() const { return false; }
  bool is_meta() const { return device().is_meta(); }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  bool is_complex() const { return isComplexType(scalar_type()); }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const { return ::light::is_contiguous(get(), f); }
  bool is_neg() const { return false; }
  bool is_conj() const { return false; }
  bool is_same_size(const Tensor& o) const { return sizes() == o.sizes(); }
  // Memory is given back in the order of the streams' work here.
  template <class Stream> void record_stream(const Stream&) const {}
  bool is_contiguous_or_false() const { return is_contiguous(); }
  bool is_non_overlapping_and_dense() const { return ::light::attribute(get(), "is_non_overlapping_and_dense"); }
  MemoryFormat suggest_memory_format() const { return dim() == 4 && !is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast) ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous; }
  bool requires_grad() const { return ::light::attribute(get(), "requires_grad"); }
  const Tensor& set_requires_grad(bool v) const { ::light::set_requires_grad(get(), v); return *this; }
  const Tensor& requires_grad_(bool v = true) const { return set_requires_grad(v); }
  bool is_leaf() const { return ::light::attribute(get(), "is_leaf"); }
  Tensor grad() const { return own(::light::property(get(), "grad")); }
  void backward() const { ::light::backward(get()); }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  std::string toString() const { return ::light::describe(get()); }

  void* data_ptr() const { return ::light::data(get()); }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T> T* data_ptr() const {
    constexpr ScalarType wanted = CppTypeToScalarType<std::remove_const_t<T>>::value;
    if (C10_UNLIKELY(scalar_type() != wanted)) ::light::raise_dtype(get(), wanted);
    return static_cast<T*>(::light::data(get()));
  }
  template <class T> T* mutable_data_ptr() const { return data_ptr<T>(); }
  template <class T> const T* const_data_ptr() const { return data_ptr<std::remove_const_t<T>>(); }
  template <class T> T* data() const { return data_ptr<T>(); }
  Tensor data() const { return detach(); }
  Tensor variable_data() const { return detach(); }
  Scalar item() const { return ::light::item(get()); }
  template <class T> T item() const { return item().to<T>(); }

  template <class T, size_t N> TensorAccessor<T, N, DefaultPtrTraits, int64_t> accessor() const&;
  template <class T, size_t N, template <class> class P, class I> GenericPackedTensorAccessor<T, N, P, I> generic_packed_accessor() const&;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> GenericPackedTensorAccessor<T, N, P, int32_t> packed_accessor32() const& {
    TORCH_CHECK(numel() <= std::numeric_limits<int32_t>::max(), "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
    return generic_packed_accessor<T, N, P, int32_t>();
  }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> GenericPackedTensorAccessor<T, N, P, int64_t> packed_accessor64() const& { return generic_packed_accessor<T, N, P, int64_t>(); }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const& { return generic_packed_accessor<T, N, P, I>(); }

  Tensor contiguous(MemoryFormat f = MemoryFormat::Contiguous) const { return own(::light::contiguous(get(), f)); }
  Tensor to(LIGHT_FIVE) const { return changed({a, b, c, d, e}); }
  Tensor to(ScalarType t, bool non_blocking = false, bool copy = false) const { return changed({t, non_blocking, copy}); }
  Tensor toType(ScalarType t) const { return changed({t}); }
  Tensor cpu() const { return changed({Device(kCPU)}); }
  Tensor cuda() const { return changed({Device(kCUDA)}); }
  Tensor& zero_() const { ::light::zero(get()); return self(); }
  Tensor& copy_(const Tensor& from, bool non_blocking = false) const { return in_place("copy_", {*this, from, non_blocking}); }
  Tensor& resize_(IntArrayRef sizes) const { return in_place("resize_", {*this, sizes}); }
  Tensor operator[](int64_t i) const { return apply("select", {*this, int64_t(0), i}); }
  Tensor operator[](const Tensor& i) const { LIGHT_V v(i); return own(::light::subscript(get(), &v, 1)); }
  Tensor index(std::initializer_list<indexing::TensorIndex> i) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> i, LIGHT_V value) const;

  Tensor max() const { return apply("max", {*this}); }
  Tensor max(const Tensor& o) const { return apply("max", {*this, o}); }
  std::tuple<Tensor, Tensor> max(int64_t d, bool keepdim = false) const { return two("max", {*this, d, keepdim}); }
  Tensor min() const { return apply("min", {*this}); }
  Tensor min(const Tensor& o) const { return apply("min", {*this, o}); }
  std::tuple<Tensor, Tensor> min(int64_t d, bool keepdim = false) const { return two("min", {*this, d, keepdim}); }
  Tensor median() const { return apply("median", {*this}); }
  std::tuple<Tensor, Tensor> median(int64_t d, bool keepdim = false) const { return two("median", {*this, d, keepdim}); }
  Tensor where(const Tensor& condition, LIGHT_V other) const { return apply("where", {condition, *this, other}); }
  bool equal(const Tensor& o) const { return apply_flag("equal", {*this, o}); }
  bool allclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8) const { return apply_flag("allclose", {*this, o, rtol, atol}); }

#define LIGHT_X(name) Tensor name(LIGHT_FIVE) const { return apply(#name, {*this, a, b, c, d, e}); }
  LIGHT_BOTH(LIGHT_X) LIGHT_METHODS(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) Tensor name() const { return apply(#name, {*this}); }
  LIGHT_UNARY(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) Tensor& name(LIGHT_FIVE) const { return in_place(#name, {*this, a, b, c, d, e}); }
  LIGHT_IN_PLACE(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) std::tuple<Tensor, Tensor> name(LIGHT_FIVE) const { return two(#name, {*this, a, b, c, d, e}); }
  LIGHT_PAIRS(LIGHT_X)
#undef LIGHT_X
#define LIGHT_X(name) std::vector<Tensor> name(LIGHT_FIVE) const { return many(#name, {*this, a, b, c, d, e}); }
  LIGHT_LISTS(LIGHT_X)
#undef LIGHT_X

  Tensor& operator+=(LIGHT_V o) { return in_place("add_", {*this, o}); }
  Tensor& operator-=(LIGHT_V o) { return in_place("sub_", {*this, o}); }
  Tensor& operator*=(LIGHT_V o) { return in_place("mul_", {*this, o}); }
  Tensor& operator/=(LIGHT_V o) { return in_place("div_", {*this, o}); }
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }

  ::light::Body* unsafe_body() const { return body_; }
  using Arguments = std::initializer_list<LIGHT_V>;
  static Tensor own(::light::Body* body) { return Tensor(body, Adopt()); }
  static Tensor apply(const char* name, Arguments v) { return own(::light::call(name, v.begin(), v.size())); }
  static std::vector<Tensor> many(const char* name, Arguments v) {
    std::vector<Tensor> out;
    ::light::call_many(name, v.begin(), v.size(), &out);
    return out;
  }
  static std::tuple<Tensor, Tensor> two(const char* name, Arguments v) {
    auto out = many(name, v);
    return std::make_tuple(out.at(0), out.at(1));
  }
  static std::tuple<Tensor, Tensor, Tensor> three(const char* name, Arguments v) {
    auto out = many(name, v);
    return std::make_tuple(out.at(0), out.at(1), out.at(2));
  }
  static bool apply_flag(const char* name, Arguments v);

 private:
  ::light::Body* get() const {
    if (C10_UNLIKELY(!body_)) ::light::raise_undefined();
    return body_;
  }
  size_t wrap(int64_t i) const {
    int64_t n = dim();
    TORCH_CHECK_INDEX(i >= -n && i < n, "Dimension out of range (expected to be in range of [", -std::max<int64_t>(n, 1), ", ", std::max<int64_t>(n, 1) - 1, "], but got ", i, ")");
    return static_cast<size_t>(i < 0 ? i + n : i);
  }
  Tensor& self() const { return const_cast<Tensor&>(*this); }
  Tensor& in_place(const char* name, Arguments v) const { ::light::call_in_place(name, v.begin(), v.size()); return self(); }
  Tensor changed(Arguments v) const { return own(::light::convert(get(), v.begin(), v.size())); }
  ::light::Body* body_ = nullptr;
};
inline std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << (t.defined() ? t.toString() : "[ Tensor (undefined) ]"); }
using OptionalTensorRef = std::optional<Tensor>;
using OptionalIntArrayRef = std::optional<IntArrayRef>;
}  // namespace at

namespace c10 {
using at::Tensor;
using at::OptionalIntArrayRef;
}
namespace light {
inline Value::Value(const at::Tensor& v) : kind(v.defined() ? tensor : none), p(v.unsafe_body()) {}
inline Value::Value(at::TensorList v) : kind(tensors), p(v.data()), n(v.size()) {}
inline Value::Value(const std::vector<at::Tensor>& v) : kind(tensors), p(v.data()), n(v.size()) {}
inline Value::Value(std::initializer_list<at::Tensor> v) : kind(tensors), p(v.begin()), n(v.size()) {}
}  // namespace light
namespace at {
inline bool Tensor::apply_flag(const char* name, Arguments v) { return apply(name, v).item().toBool(); }
}  // namespace at
