// From Python objects to the types of a C++ signature and back, by pybind11's rules.
#pragma once
#include <map>
#include <unordered_map>

#include "python.h"

namespace light {
template <class T, class = void>
struct Convert;  // specialised for every type that can cross

template <>
struct Convert<bool> {
  static bool load(PyObject* o, bool* v) { return py_load(o, v); }
  static PyObject* make(bool v) { return py_make(v); }
  static std::string name() { return "bool"; }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_integral<T>::value>> {
  static bool load(PyObject* o, T* v) {
    int64_t i = 0;
    constexpr int64_t low = std::is_signed<T>::value ? static_cast<int64_t>(std::numeric_limits<T>::min()) : 0;
    if (!py_load(o, &i, low, static_cast<uint64_t>(std::numeric_limits<T>::max()))) return false;
    *v = static_cast<T>(i);
    return true;
  }
  static PyObject* make(T v) {
    if constexpr (std::is_signed<T>::value) return py_make(static_cast<int64_t>(v));
    else return py_make(static_cast<uint64_t>(v));
  }
  static std::string name() { return "int"; }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_floating_point<T>::value>> {
  static bool load(PyObject* o, T* v) {
    double d = 0;
    if (!py_load(o, &d)) return false;
    *v = static_cast<T>(d);
    return true;
  }
  static PyObject* make(T v) { return py_make(static_cast<double>(v)); }
  static std::string name() { return "float"; }
};
#define LIGHT_CONVERT(T, text)                                        \
  template <>                                                         \
  struct Convert<T> {                                                 \
    static bool load(PyObject* o, T* v) { return py_load(o, v); }     \
    static PyObject* make(const T& v) { return py_make(v); }          \
    static std::string name() { return text; }                        \
  };
LIGHT_CONVERT(std::string, "str")
LIGHT_CONVERT(at::Tensor, "torch.Tensor")
LIGHT_CONVERT(c10::ScalarType, "torch.dtype")
#undef LIGHT_CONVERT
template <>
struct Convert<c10::Scalar> {
  static bool load(PyObject* o, c10::Scalar* v) { return py_load(o, v); }
  static PyObject* make(const c10::Scalar& v) { return v.isFloatingPoint() ? py_make(v.toDouble()) : v.isBoolean() ? py_make(v.toBool()) : py_make(v.toLong()); }
  static std::string name() { return "Union[int, float, complex]"; }
};
template <>
struct Convert<std::string_view> {  // results only
  static PyObject* make(std::string_view v) { return py_make(std::string(v)); }
  static std::string name() { return "str"; }
};
template <>
struct Convert<const char*> {
  static PyObject* make(const char* v) { return py_make(std::string(v)); }
  static std::string name() { return "str"; }
};
template <class T>
struct Convert<T, std::enable_if_t<std::is_base_of<pybind11::handle, T>::value>> {
  static const char* kind() {
    return std::is_base_of<pybind11::list, T>::value ? "list" : std::is_base_of<pybind11::tuple, T>::value ? "tuple" : std::is_base_of<pybind11::dict, T>::value ? "dict"
         : std::is_base_of<pybind11::str, T>::value ? "str" : std::is_base_of<pybind11::sequence, T>::value ? "sequence" : "object";
  }
  static bool load(PyObject* o, T* v) {
    if (!py_is(o, kind())) return false;
    if constexpr (std::is_same<T, pybind11::handle>::value) *v = pybind11::handle(o);
    else *v = T(pybind11::object(o, true));
    return true;
  }
  static PyObject* make(const T& v) {
    PyObject* o = v.ptr() ? v.ptr() : py_none();
    py_retain(o);
    return o;
  }
  static std::string name() { return kind(); }
};
template <class T>
struct Convert<std::optional<T>> {
  static bool load(PyObject* o, std::optional<T>* v) {
    if (py_is_none(o)) return *v = std::nullopt, true;
    T inner{};
    if (!Convert<T>::load(o, &inner)) return false;
    *v = std::move(inner);
    return true;
  }
  static PyObject* make(const std::optional<T>& v) {
    if (v) return Convert<T>::make(*v);
    py_retain(py_none());
    return py_none();
  }
  static std::string name() { return "Optional[" + Convert<T>::name() + "]"; }
};
template <>
struct Convert<std::optional<c10::Device>> {
  static bool load(PyObject* o, std::optional<c10::Device>* v) {
    if (py_is_none(o)) return *v = std::nullopt, true;
    c10::Device d(c10::kCPU);
    if (!py_load(o, &d)) return false;
    *v = d;
    return true;
  }
  static std::string name() { return "Optional[torch.device]"; }
};
template <class L, class T>
struct ConvertList {
  static bool load(PyObject* o, std::vector<T>* v) {
    if (!py_is(o, "sequence")) return false;
    int64_t n = py_length(o);
    v->clear();
    for (int64_t i = 0; i < n; ++i) {
      pybind11::object item = pybind11::steal(py_item(o, i));
      T one{};
      if (!Convert<T>::load(item.ptr(), &one)) return false;
      v->push_back(std::move(one));
    }
    return true;
  }
  static PyObject* make(const L& v) {
    PyObject* list = py_list(v.size(), false);
    for (size_t i = 0; i < v.size(); ++i) py_fill(list, i, Convert<T>::make(v[i]));
    return list;
  }
  static std::string name() { return "list[" + Convert<T>::name() + "]"; }
};
template <class T>
struct Convert<std::vector<T>> : ConvertList<std::vector<T>, T> {};
template <class T, size_t N>
struct Convert<std::array<T, N>> {
  static bool load(PyObject* o, std::array<T, N>* v) {
    std::vector<T> all;
    if (!Convert<std::vector<T>>::load(o, &all) || all.size() != N) return false;
    std::copy(all.begin(), all.end(), v->begin());
    return true;
  }
  static PyObject* make(const std::array<T, N>& v) { return Convert<std::vector<T>>::make(std::vector<T>(v.begin(), v.end())); }
  static std::string name() { return "list[" + Convert<T>::name() + "]"; }
};
// A sequence of exactly as many items, as pybind11 loads tuples and pairs.
template <class... T>
struct Convert<std::tuple<T...>> {
  static bool load(PyObject* o, std::tuple<T...>* v) { return py_is(o, "sequence") && py_length(o) == int64_t(sizeof...(T)) && load_all(o, v, std::index_sequence_for<T...>()); }
  template <size_t... I>
  static bool load_all(PyObject* o, std::tuple<T...>* v, std::index_sequence<I...>) { return (load_one(o, I, &std::get<I>(*v)) && ... && true); }
  template <class V>
  static bool load_one(PyObject* o, size_t i, V* v) { return Convert<V>::load(pybind11::steal(py_item(o, static_cast<int64_t>(i))).ptr(), v); }
  static PyObject* make(const std::tuple<T...>& v) {
    PyObject* out = py_list(sizeof...(T), true);
    fill(out, v, std::index_sequence_for<T...>());
    return out;
  }
  template <size_t... I>
  static void fill(PyObject* out, const std::tuple<T...>& v, std::index_sequence<I...>) { (py_fill(out, I, Convert<std::decay_t<T>>::make(std::get<I>(v))), ...); }
  static std::string name() {
    std::string s;
    ((s += (s.empty() ? "" : ", ") + Convert<std::decay_t<T>>::name()), ...);
    return "tuple[" + s + "]";
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> {
  static bool load(PyObject* o, std::pair<A, B>* v) {
    std::tuple<A, B> both;
    if (!Convert<std::tuple<A, B>>::load(o, &both)) return false;
    *v = {std::get<0>(std::move(both)), std::get<1>(std::move(both))};
    return true;
  }
  static PyObject* make(const std::pair<A, B>& v) { return Convert<std::tuple<A, B>>::make(std::make_tuple(v.first, v.second)); }
  static std::string name() { return Convert<std::tuple<A, B>>::name(); }
};
template <class M, class K, class V>
struct ConvertMap {
  static bool load(PyObject* o, M* v) {
    if (!py_is(o, "dict")) return false;
    pybind11::object keys = pybind11::steal(py_keys(o));
    v->clear();
    for (int64_t i = 0, n = py_length(keys.ptr()); i < n; ++i) {
      pybind11::object key = pybind11::steal(py_item(keys.ptr(), i)), value = pybind11::steal(py_item(o, key.ptr()));
      K k{};
      V e{};
      if (!Convert<K>::load(key.ptr(), &k) || !Convert<V>::load(value.ptr(), &e)) return false;
      v->emplace(std::move(k), std::move(e));
    }
    return true;
  }
  static PyObject* make(const M& v) {
    PyObject* d = py_dict();
    for (auto& e : v) {
      pybind11::object key = pybind11::steal(Convert<K>::make(e.first)), value = pybind11::steal(Convert<V>::make(e.second));
      py_set_item(d, key.ptr(), value.ptr());
    }
    return d;
  }
  static std::string name() { return "dict[" + Convert<K>::name() + ", " + Convert<V>::name() + "]"; }
};
template <class K, class V>
struct Convert<std::map<K, V>> : ConvertMap<std::map<K, V>, K, V> {};
template <class K, class V>
struct Convert<std::unordered_map<K, V>> : ConvertMap<std::unordered_map<K, V>, K, V> {};

// What holds an argument while the function runs; `Given` is the declared parameter type without reference and const.
template <class Given>
struct Held {
  using Stored = Given;
};
template <class T>
struct Held<c10::ArrayRef<T>> {
  using Stored = std::vector<T>;
};
template <class T>
struct Held<std::optional<c10::ArrayRef<T>>> {
  using Stored = std::optional<std::vector<T>>;
};
template <class A>
struct Loader {
  using Given = std::remove_cv_t<std::remove_reference_t<A>>;
  using Stored = typename Held<Given>::Stored;
  // A device has no default, every other type does.
  std::conditional_t<std::is_same<Given, c10::Device>::value, std::optional<c10::Device>, Stored> stored{};
  bool load(PyObject* o) { return Convert<decltype(stored)>::load(o, &stored) && (!std::is_same<Given, c10::Device>::value || !py_is_none(o)); }
  decltype(auto) get() {
    if constexpr (std::is_same<Given, c10::Device>::value) return Given(*stored);
    else if constexpr (!std::is_same<Given, Stored>::value) return Given(stored);
    else if constexpr (std::is_lvalue_reference<A>::value) return static_cast<Stored&>(stored);
    else return static_cast<Stored&&>(stored);
  }
  static std::string name() { return Convert<decltype(stored)>::name(); }
};
template <>
struct Loader<const char*> {
  std::string stored;
  bool load(PyObject* o) { return py_load(o, &stored); }
  const char* get() { return stored.c_str(); }
  static std::string name() { return "str"; }
};
template <>
struct Loader<std::string_view> : Loader<const char*> {
  std::string_view get() { return stored; }
};
}  // namespace light

namespace pybind11 {
template <class T>
T handle::cast() const {
  ::light::Loader<T> loader;
  if (!loader.load(p_)) ::light::py_bad_cast(p_, ::light::Loader<T>::name().c_str());
  return loader.get();
}
template <class T>
object cast(T&& v) { return steal(::light::Convert<std::decay_t<T>>::make(v)); }
template <class... A>
object handle::operator()(A&&... a) const {
  object all[] = {pybind11::cast(std::forward<A>(a))..., object()};
  PyObject* raw[sizeof...(A) + 1];
  for (size_t i = 0; i < sizeof...(A); ++i) raw[i] = all[i].ptr();
  return steal(::light::py_call(p_, raw, sizeof...(A)));
}
template <class... A>
tuple make_tuple(A&&... a) { return tuple(steal(::light::Convert<std::tuple<std::decay_t<A>...>>::make(std::make_tuple(std::forward<A>(a)...)))); }
template <class... A>
void print(A&&... a) { ::light::py_print(c10::str(a...)); }
}  // namespace pybind11
