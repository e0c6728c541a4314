// The part of pybind11 that extensions use, over a few functions of the glue library.
#pragma once
#include "functions.h"

struct _object;
typedef _object PyObject;

namespace light {
LIGHT_EXPORT void py_retain(PyObject* o);
LIGHT_EXPORT void py_release(PyObject* o);
LIGHT_EXPORT PyObject* py_none();
// Loaders return false when the object is of another type.
LIGHT_EXPORT bool py_load(PyObject* o, bool* v);
LIGHT_EXPORT bool py_load(PyObject* o, int64_t* v, int64_t low, uint64_t high);
LIGHT_EXPORT bool py_load(PyObject* o, double* v);
LIGHT_EXPORT bool py_load(PyObject* o, std::string* v);
LIGHT_EXPORT bool py_load(PyObject* o, at::Tensor* v);
LIGHT_EXPORT bool py_load(PyObject* o, c10::Scalar* v);
LIGHT_EXPORT bool py_load(PyObject* o, c10::ScalarType* v);
LIGHT_EXPORT bool py_load(PyObject* o, c10::Device* v);
LIGHT_EXPORT PyObject* py_make(bool v);
LIGHT_EXPORT PyObject* py_make(int64_t v);
LIGHT_EXPORT PyObject* py_make(uint64_t v);
LIGHT_EXPORT PyObject* py_make(double v);
LIGHT_EXPORT PyObject* py_make(const std::string& v);
LIGHT_EXPORT PyObject* py_make(const at::Tensor& v);
LIGHT_EXPORT PyObject* py_make(c10::ScalarType v);
LIGHT_EXPORT PyObject* py_make(const c10::Device& v);
LIGHT_EXPORT bool py_is_none(PyObject* o);
LIGHT_EXPORT bool py_is(PyObject* o, const char* type);  // "list", "dict", "sequence", ...
LIGHT_EXPORT int64_t py_length(PyObject* o);
LIGHT_EXPORT PyObject* py_item(PyObject* o, int64_t i);
LIGHT_EXPORT PyObject* py_item(PyObject* o, PyObject* key);
LIGHT_EXPORT void py_set_item(PyObject* o, PyObject* key, PyObject* value);
LIGHT_EXPORT PyObject* py_attribute(PyObject* o, const char* name);
LIGHT_EXPORT PyObject* py_call(PyObject* o, PyObject* const* arguments, size_t count);
LIGHT_EXPORT PyObject* py_list(size_t count, bool tuple);  // filled by py_fill
LIGHT_EXPORT void py_fill(PyObject* list, size_t i, PyObject* stolen);
LIGHT_EXPORT void py_append(PyObject* list, PyObject* value);
LIGHT_EXPORT PyObject* py_dict();
LIGHT_EXPORT PyObject* py_keys(PyObject* dict);
LIGHT_EXPORT std::string py_text(PyObject* o);
LIGHT_EXPORT PyObject* py_import(const char* name);
[[noreturn]] LIGHT_EXPORT void py_bad_cast(PyObject* o, const char* type);
LIGHT_EXPORT void py_print(const std::string& text);
}  // namespace light

namespace pybind11 {
class handle {
 public:
  handle() = default;
  handle(PyObject* p) : p_(p) {}
  PyObject* ptr() const { return p_; }
  bool is_none() const { return ::light::py_is_none(p_); }
  explicit operator bool() const { return p_ != nullptr; }
  template <class T> T cast() const;
  class object attr(const char* name) const;
  class object operator[](const char* key) const;
  class object operator[](size_t i) const;
  template <class... A> class object operator()(A&&... a) const;
  bool is(const handle& o) const { return p_ == o.p_; }

 protected:
  PyObject* p_ = nullptr;
};
class object : public handle {
 public:
  object() = default;
  object(PyObject* p, bool borrowed) : handle(p) { if (borrowed && p) ::light::py_retain(p); }
  object(const object& o) : object(o.p_, true) {}
  object(object&& o) noexcept : handle(o.p_) { o.p_ = nullptr; }
  object& operator=(object o) { std::swap(p_, o.p_); return *this; }
  ~object() { if (p_) ::light::py_release(p_); }
  PyObject* release() { PyObject* p = p_; p_ = nullptr; return p; }
};
inline object steal(PyObject* p) { return object(p, false); }
template <class T = object> T reinterpret_borrow(handle h) { return T(object(h.ptr(), true)); }
template <class T = object> T reinterpret_steal(handle h) { return T(object(h.ptr(), false)); }
struct none : object { none() : object(::light::py_none(), true) {} };
#define LIGHT_OBJECT(Name) Name(const object& o) : object(o) {} Name(object&& o) : object(std::move(o)) {}
struct str : object {
  LIGHT_OBJECT(str)
  str(const std::string& s) : object(::light::py_make(s), false) {}
  str(const char* s) : str(std::string(s)) {}
  operator std::string() const { return ::light::py_text(p_); }
};
struct int_ : object {
  LIGHT_OBJECT(int_)
  int_(int64_t v) : object(::light::py_make(v), false) {}
  operator int64_t() const { int64_t v = 0; ::light::py_load(p_, &v, INT64_MIN, INT64_MAX); return v; }
};
struct float_ : object {
  LIGHT_OBJECT(float_)
  float_(double v) : object(::light::py_make(v), false) {}
  operator double() const { double v = 0; ::light::py_load(p_, &v); return v; }
};
struct bool_ : object {
  LIGHT_OBJECT(bool_)
  bool_(bool v) : object(::light::py_make(v), false) {}
};
template <class T> object cast(T&& v);
struct iterator {
  PyObject* p;
  int64_t i;
  object operator*() const { return steal(::light::py_item(p, i)); }
  iterator& operator++() { ++i; return *this; }
  bool operator!=(const iterator& o) const { return i != o.i; }
};
struct sequence : object {
  sequence() : object(::light::py_list(0, false), false) {}
  sequence(PyObject* p, bool borrowed) : object(p, borrowed) {}
  LIGHT_OBJECT(sequence)
  size_t size() const { return static_cast<size_t>(::light::py_length(p_)); }
  bool empty() const { return !size(); }
  iterator begin() const { return {p_, 0}; }
  iterator end() const { return {p_, ::light::py_length(p_)}; }
};
struct list : sequence {
  using sequence::sequence;
  list() = default;
  template <class T> void append(T&& v) { ::light::py_append(p_, cast(std::forward<T>(v)).ptr()); }
};
struct tuple : sequence {
  using sequence::sequence;
  tuple() : sequence(::light::py_list(0, true), false) {}
};
struct args : tuple { using tuple::tuple; };
struct dict : object {
  dict() : object(::light::py_dict(), false) {}
  LIGHT_OBJECT(dict)
  size_t size() const { return static_cast<size_t>(::light::py_length(p_)); }
  bool contains(const char* key) const {
    list keys(steal(::light::py_keys(p_)));
    for (object k : keys) if (::light::py_text(k.ptr()) == key) return true;
    return false;
  }
  struct slot {
    PyObject* dict;
    object key;
    template <class T> slot& operator=(T&& v) { ::light::py_set_item(dict, key.ptr(), ::pybind11::cast(std::forward<T>(v)).ptr()); return *this; }
    operator object() const { return steal(::light::py_item(dict, key.ptr())); }
    template <class T> T cast() const { return steal(::light::py_item(dict, key.ptr())).template cast<T>(); }
  };
  slot operator[](const char* key) const { return {p_, str(key)}; }
};
using kwargs = dict;
inline size_t len(handle h) { return static_cast<size_t>(::light::py_length(h.ptr())); }
inline object handle::attr(const char* name) const { return steal(::light::py_attribute(p_, name)); }
inline object handle::operator[](const char* key) const { return steal(::light::py_item(p_, str(key).ptr())); }
inline object handle::operator[](size_t i) const { return steal(::light::py_item(p_, static_cast<int64_t>(i))); }
struct gil_scoped_release { gil_scoped_release() {} ~gil_scoped_release() {} };  // one thread runs at a time
struct gil_scoped_acquire { gil_scoped_acquire() {} ~gil_scoped_acquire() {} };
template <class... T> struct call_guard {};
template <size_t, size_t> struct keep_alive {};
enum class return_value_policy { automatic, automatic_reference, take_ownership, copy, move, reference, reference_internal };
struct index_error : c10::IndexError { index_error(const char* m = "") : IndexError(std::string(m)) {} };
struct value_error : c10::ValueError { value_error(const char* m = "") : ValueError(std::string(m)) {} };
struct type_error : c10::TypeError { type_error(const char* m = "") : TypeError(std::string(m)) {} };
using cast_error = c10::Error;
}  // namespace pybind11
namespace py = pybind11;
