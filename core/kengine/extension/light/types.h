// Element types, devices, layouts, and the options of a new tensor.
#pragma once
#include "check.h"
#include "half.h"

namespace c10 {
enum class ScalarType : int8_t {
  Byte = 0, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16,
  QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16, Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64,
  Undefined = 127,
};
#define LIGHT_TYPE(k, s) constexpr ScalarType k = ScalarType::s;
LIGHT_TYPE(kByte, Byte) LIGHT_TYPE(kChar, Char) LIGHT_TYPE(kShort, Short) LIGHT_TYPE(kInt, Int) LIGHT_TYPE(kLong, Long) LIGHT_TYPE(kHalf, Half)
LIGHT_TYPE(kFloat, Float) LIGHT_TYPE(kDouble, Double) LIGHT_TYPE(kBool, Bool)
LIGHT_TYPE(kBFloat16, BFloat16) LIGHT_TYPE(kComplexFloat, ComplexFloat) LIGHT_TYPE(kComplexDouble, ComplexDouble) LIGHT_TYPE(kUInt16, UInt16)
LIGHT_TYPE(kUInt32, UInt32) LIGHT_TYPE(kUInt64, UInt64) LIGHT_TYPE(kFloat8_e4m3fn, Float8_e4m3fn) LIGHT_TYPE(kFloat8_e5m2, Float8_e5m2)
#undef LIGHT_TYPE

template <class T> struct CppTypeToScalarType;
template <ScalarType S> struct ScalarTypeToCPPType;
#define LIGHT_MAP(T, s)                                                                                             \
  template <> struct CppTypeToScalarType<T> : std::integral_constant<ScalarType, ScalarType::s> {};                 \
  template <> struct ScalarTypeToCPPType<ScalarType::s> { using type = T; };
LIGHT_MAP(uint8_t, Byte) LIGHT_MAP(int8_t, Char) LIGHT_MAP(int16_t, Short) LIGHT_MAP(int, Int) LIGHT_MAP(int64_t, Long) LIGHT_MAP(Half, Half)
LIGHT_MAP(float, Float) LIGHT_MAP(double, Double) LIGHT_MAP(bool, Bool) LIGHT_MAP(BFloat16, BFloat16) LIGHT_MAP(uint16_t, UInt16)
LIGHT_MAP(uint32_t, UInt32) LIGHT_MAP(uint64_t, UInt64) LIGHT_MAP(Float8_e4m3fn, Float8_e4m3fn) LIGHT_MAP(Float8_e5m2, Float8_e5m2)
#undef LIGHT_MAP
template <ScalarType S>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<S>::type;

LIGHT_EXPORT const char* toString(ScalarType t);
LIGHT_EXPORT size_t elementSize(ScalarType t);
inline std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << toString(t); }
inline bool isFloatingType(ScalarType t) { return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16 || t == kFloat8_e4m3fn || t == kFloat8_e5m2; }
inline bool isIntegralType(ScalarType t, bool with_bool = false) { return (t >= kByte && t <= kLong) || (t >= kUInt16 && t <= kUInt64) || (with_bool && t == kBool); }
inline bool isComplexType(ScalarType t) { return t >= ScalarType::ComplexHalf && t <= ScalarType::ComplexDouble; }
inline bool isReducedFloatingType(ScalarType t) { return t == kHalf || t == kBFloat16; }

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, HIP = 6, XLA = 9, MPS = 13, Meta = 14 };
enum class DispatchKey : uint16_t { Undefined, CPU, CUDA, HIP, Meta, Autograd, AutogradCPU, AutogradCUDA, CompositeImplicitAutograd, CompositeExplicitAutograd, BackendSelect, Dense };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kHIP = DeviceType::HIP, kMeta = DeviceType::Meta;
using DeviceIndex = int8_t;
struct Device {
  Device(DeviceType type, int index = -1) : type_(type), index_(static_cast<DeviceIndex>(index)) {}
  Device(const char* text) : Device(std::string(text)) {}
  Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
    size_t colon = text.find(':');
    std::string name = text.substr(0, colon);
    if (name == "cuda") type_ = DeviceType::CUDA;
    else if (name == "meta") type_ = DeviceType::Meta;
    else if (name != "cpu") light::raise("Expected one of cpu, cuda, meta device type at start of device string: " + text);
    if (colon != std::string::npos) index_ = static_cast<DeviceIndex>(std::atoi(text.c_str() + colon + 1));
  }
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_meta() const { return type_ == DeviceType::Meta; }
  std::string str() const { return std::string(is_cuda() ? "cuda" : is_cpu() ? "cpu" : "meta") + (index_ >= 0 ? ":" + std::to_string(index_) : ""); }
  bool operator==(const Device& o) const { return type_ == o.type_ && index_ == o.index_; }
  bool operator!=(const Device& o) const { return !(*this == o); }

 private:
  DeviceType type_;
  DeviceIndex index_;
};
inline std::ostream& operator<<(std::ostream& out, const Device& d) { return out << d.str(); }
inline std::ostream& operator<<(std::ostream& out, DeviceType t) { return out << Device(t).str(); }

enum class Layout : int8_t { Strided = 0, Sparse = 1 };
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;
enum class MemoryFormat : int8_t { Contiguous = 0, Preserve, ChannelsLast, ChannelsLast3d };
inline std::ostream& operator<<(std::ostream& out, MemoryFormat f) { return out << "memory format " << static_cast<int>(f); }
}  // namespace c10

namespace caffe2 {
class TypeMeta {
 public:
  TypeMeta(c10::ScalarType t = c10::ScalarType::Undefined) : type_(t) {}
  template <class T>
  static TypeMeta Make() { return TypeMeta(c10::CppTypeToScalarType<T>::value); }
  template <class T>
  bool Match() const { return *this == Make<T>(); }
  c10::ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return c10::elementSize(type_); }
  std::string name() const { return c10::toString(type_); }
  friend bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend bool operator!=(TypeMeta a, TypeMeta b) { return a.type_ != b.type_; }
  friend std::ostream& operator<<(std::ostream& out, TypeMeta t) { return out << c10::toString(t.type_); }

 private:
  c10::ScalarType type_;
};
}  // namespace caffe2

namespace c10 {
using caffe2::TypeMeta;
inline ScalarType typeMetaToScalarType(TypeMeta t) { return t.toScalarType(); }
inline TypeMeta scalarTypeToTypeMeta(ScalarType t) { return TypeMeta(t); }

// What the old Tensor::type() gives: an element type and the kind of device.
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(ScalarType t, DeviceType d) : type_(t), device_(d) {}
  ScalarType scalarType() const { return type_; }
  TypeMeta typeMeta() const { return TypeMeta(type_); }
  DeviceType device_type() const { return device_; }
  bool is_cuda() const { return device_ == DeviceType::CUDA; }
  bool is_hip() const { return false; }
  bool is_sparse() const { return false; }
  std::string toString() const { return std::string(is_cuda() ? "CUDA" : "CPU") + c10::toString(type_) + "Type"; }
  friend bool operator==(const DeprecatedTypeProperties& a, const DeprecatedTypeProperties& b) { return a.type_ == b.type_ && a.device_ == b.device_; }
  friend bool operator!=(const DeprecatedTypeProperties& a, const DeprecatedTypeProperties& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& t) { return out << t.toString(); }

 private:
  ScalarType type_;
  DeviceType device_;
};

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType t) : dtype_(t) {}
  TensorOptions(TypeMeta t) : dtype_(t.toScalarType()) {}
  TensorOptions(const DeprecatedTypeProperties& t) : dtype_(t.scalarType()), device_(Device(t.device_type())) {}
  TensorOptions(Device d) : device_(d) {}
  TensorOptions(DeviceType t) : device_(Device(t)) {}
  TensorOptions(Layout l) : layout_(l) {}
  TensorOptions(MemoryFormat f) : memory_format_(f) {}
  TensorOptions dtype(ScalarType t) const { return with([&](TensorOptions& o) { o.dtype_ = t; }); }
  TensorOptions dtype(TypeMeta t) const { return dtype(t.toScalarType()); }
  TensorOptions dtype(std::optional<ScalarType> t) const { return with([&](TensorOptions& o) { o.dtype_ = t; }); }
  template <class T>
  TensorOptions dtype() const { return dtype(CppTypeToScalarType<T>::value); }
  TensorOptions device(Device d) const { return with([&](TensorOptions& o) { o.device_ = d; }); }
  TensorOptions device(DeviceType t, int index = -1) const { return device(Device(t, index)); }
  TensorOptions device(const char* text) const { return device(Device(text)); }
  TensorOptions device_index(int index) const { return device(Device(DeviceType::CUDA, index)); }
  TensorOptions layout(Layout l) const { return with([&](TensorOptions& o) { o.layout_ = l; }); }
  TensorOptions memory_format(MemoryFormat f) const { return with([&](TensorOptions& o) { o.memory_format_ = f; }); }
  TensorOptions requires_grad(bool r = true) const { return with([&](TensorOptions& o) { o.requires_grad_ = r; }); }
  TensorOptions pinned_memory(bool p = true) const { return with([&](TensorOptions& o) { o.pinned_ = p; }); }
  TypeMeta dtype() const { return TypeMeta(dtype_.value_or(ScalarType::Float)); }
  Device device() const { return device_.value_or(Device(DeviceType::CPU)); }
  Layout layout() const { return layout_.value_or(kStrided); }
  bool requires_grad_set() const { return requires_grad_; }
  bool pinned_memory_set() const { return pinned_; }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }

 private:
  template <class F>
  TensorOptions with(F change) const {
    TensorOptions o = *this;
    change(o);
    return o;
  }
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<MemoryFormat> memory_format_;
  bool requires_grad_ = false, pinned_ = false;
};
inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions dtype(TypeMeta t) { return TensorOptions(t); }
template <class T>
inline TensorOptions dtype() { return TensorOptions(CppTypeToScalarType<T>::value); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions layout(Layout l) { return TensorOptions(l); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }
}  // namespace c10

namespace torch {
using Dtype = c10::ScalarType;
// These are torch's only: ATen has kFloat, and no kFloat32.
constexpr c10::ScalarType kUInt8 = c10::kByte, kInt8 = c10::kChar, kInt16 = c10::kShort, kInt32 = c10::kInt, kInt64 = c10::kLong;
constexpr c10::ScalarType kFloat16 = c10::kHalf, kFloat32 = c10::kFloat, kFloat64 = c10::kDouble;
constexpr c10::ScalarType kU8 = kUInt8, kI8 = kInt8, kI16 = kInt16, kI32 = kInt32, kI64 = kInt64, kF16 = kFloat16, kF32 = kFloat32, kF64 = kFloat64;
constexpr c10::ScalarType kU16 = c10::kUInt16, kU32 = c10::kUInt32, kU64 = c10::kUInt64;
}  // namespace torch
