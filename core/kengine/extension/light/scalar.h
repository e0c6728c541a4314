// c10::Scalar, and Value: any argument of an operator.
#pragma once
#include "array_ref.h"

namespace c10 {
class Scalar {
 public:
  Scalar() : Scalar(int64_t(0)) {}
  Scalar(bool v) : kind_(kBoolean) { v_.i = v; }
  template <class T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int> = 0>
  Scalar(T v) : kind_(kInteger) { v_.i = static_cast<int64_t>(v); }
  template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
  Scalar(T v) : kind_(kReal) { v_.d = static_cast<double>(v); }
  Scalar(Half v) : Scalar(static_cast<float>(v)) {}
  Scalar(BFloat16 v) : Scalar(static_cast<float>(v)) {}
  bool isFloatingPoint() const { return kind_ == kReal; }
  bool isIntegral(bool with_bool) const { return kind_ == kInteger || (with_bool && kind_ == kBoolean); }
  bool isBoolean() const { return kind_ == kBoolean; }
  template <class T>
  T to() const { return kind_ == kReal ? static_cast<T>(static_cast<float_if<T>>(v_.d)) : static_cast<T>(static_cast<float_if<T, int64_t>>(v_.i)); }
  float toFloat() const { return to<float>(); }
  double toDouble() const { return to<double>(); }
  int toInt() const { return to<int>(); }
  int64_t toLong() const { return to<int64_t>(); }
  bool toBool() const { return kind_ == kReal ? v_.d != 0 : v_.i != 0; }
  Half toHalf() const { return Half(toFloat()); }
  ScalarType type() const { return kind_ == kReal ? kDouble : kind_ == kBoolean ? kBool : kLong; }
  Scalar operator-() const { return kind_ == kReal ? Scalar(-v_.d) : Scalar(-v_.i); }

 private:
  template <class T, class Other = double>
  using float_if = std::conditional_t<std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value, float, Other>;
  enum Kind { kInteger, kReal, kBoolean } kind_;
  union {
    int64_t i;
    double d;
  } v_;
};
inline std::ostream& operator<<(std::ostream& out, const Scalar& s) { return s.isFloatingPoint() ? out << s.toDouble() : out << s.toLong(); }
}  // namespace c10

namespace at {
class Tensor;
using TensorList = c10::ArrayRef<Tensor>;
using ITensorListRef = TensorList;
struct Generator {};
}  // namespace at

namespace light {
struct Body;  // a reference-counted tensor, owned by the glue library

// An argument of an operator. Borrows what it is made from: it lives as long as the call.
struct Value {
  enum Kind { absent, none, tensor, integer, real, boolean, integers, reals, tensors, optional_tensors, text, dtype, device, memory_format, options, ellipsis };
  Kind kind = absent;
  union {
    int64_t i;
    double d;
    const void* p;
  };
  size_t n = 0;
  Value() : i(0) {}
  Value(std::nullopt_t) : kind(none), i(0) {}
  Value(bool v) : kind(boolean), i(v) {}
  template <class T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int> = 0>
  Value(T v) : kind(integer), i(static_cast<int64_t>(v)) {}
  template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
  Value(T v) : kind(real), d(static_cast<double>(v)) {}
  Value(const c10::Scalar& v) : kind(v.isFloatingPoint() ? real : v.isBoolean() ? boolean : integer), i(0) {
    if (kind == real) d = v.toDouble();
    else i = v.toLong();
  }
  Value(c10::Half v) : Value(static_cast<float>(v)) {}
  Value(c10::BFloat16 v) : Value(static_cast<float>(v)) {}
  inline Value(const at::Tensor& v);
  inline Value(at::TensorList v);
  inline Value(const std::vector<at::Tensor>& v);
  inline Value(std::initializer_list<at::Tensor> v);
  Value(c10::IntArrayRef v) : kind(integers), p(v.data()), n(v.size()) {}
  Value(const std::vector<int64_t>& v) : kind(integers), p(v.data()), n(v.size()) {}
  Value(const std::vector<double>& v) : kind(reals), p(v.data()), n(v.size()) {}
  template <size_t N>
  Value(const std::array<int64_t, N>& v) : kind(integers), p(v.data()), n(N) {}
  Value(std::initializer_list<int64_t> v) : kind(integers), p(v.begin()), n(v.size()) {}
  Value(const char* v) : kind(text), p(v), n(strlen(v)) {}
  Value(const std::string& v) : kind(text), p(v.data()), n(v.size()) {}
  Value(c10::ScalarType v) : kind(dtype), i(static_cast<int>(v)) {}
  Value(caffe2::TypeMeta v) : Value(v.toScalarType()) {}
  Value(const c10::Device& v) : kind(device), i(static_cast<int>(v.type())), n(static_cast<size_t>(v.index() + 1)) {}
  Value(c10::DeviceType v) : Value(c10::Device(v)) {}
  Value(c10::MemoryFormat v) : kind(memory_format), i(static_cast<int>(v)) {}
  Value(const c10::TensorOptions& v) : kind(options), p(&v) {}
  template <class T>
  Value(const std::optional<T>& v) : i(0) {
    if (v) *this = Value(*v);
    else kind = none;
  }
};

LIGHT_EXPORT Body* call(const char* name, const Value* arguments, size_t count);
LIGHT_EXPORT void call_in_place(const char* name, const Value* arguments, size_t count);
LIGHT_EXPORT void call_many(const char* name, const Value* arguments, size_t count, std::vector<at::Tensor>* out);
LIGHT_EXPORT c10::Scalar item(const Body* body);
}  // namespace light
