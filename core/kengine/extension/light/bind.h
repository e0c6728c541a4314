// PYBIND11_MODULE, module.def, TORCH_LIBRARY: functions become entries of a table that the glue library turns into
// Python functions.
#pragma once
#include <memory>

#include "convert.h"

namespace light {
struct Argument {
  const char* name = nullptr;
  PyObject* value = nullptr;  // default, owned
};
struct Entry {
  std::string name, documentation, signature;
  std::vector<Argument> arguments;
  size_t arity = 0;
  bool takes_all = false;  // (py::args) or (py::args, py::kwargs)
  std::shared_ptr<void> function;
  // Null with no Python error set: the arguments do not fit.
  PyObject* (*invoke)(void* function, PyObject* const* values) = nullptr;
};
struct Attribute {
  std::string name;
  PyObject* value;
};
struct Registration {
  std::string library, name, schema, key;
  int entry;  // index in entries, -1 for a definition alone
};
struct Table {
  std::vector<Entry> entries;
  std::vector<Attribute> attributes;
  std::vector<Registration> registrations;
  std::string documentation;
};
LIGHT_EXPORT void translate_exception();  // of the current catch block, into a Python error
LIGHT_EXPORT PyObject* publish(Table* table);

template <class F>
struct Callable : Callable<decltype(&F::operator())> {};
template <class R, class... A>
struct Callable<R (*)(A...)> {
  static constexpr size_t arity = sizeof...(A);
  static constexpr bool takes_scalar = (std::is_same<std::decay_t<A>, c10::Scalar>::value || ... || false);
  template <class T>
  static constexpr bool is_last_args = (std::is_same<std::decay_t<A>, T>::value || ... || false);
  static std::string signature() {
    std::string s;
    size_t i = 0;
    ((s += (s.empty() ? "(arg" : ", arg") + std::to_string(i++) + ": " + Loader<A>::name()), ...);
    if constexpr (std::is_void<R>::value) return (s.empty() ? "(" : s) + ") -> None";
    else return (s.empty() ? "(" : s) + ") -> " + Convert<std::decay_t<R>>::name();
  }
  template <class F, size_t... I>
  static PyObject* run(F& f, PyObject* const* values, std::index_sequence<I...>) {
    std::tuple<Loader<A>...> loaders;
    (void)values;
    if (!(std::get<I>(loaders).load(values[I]) && ... && true)) return nullptr;
    if constexpr (std::is_void<R>::value) {
      f(std::get<I>(loaders).get()...);
      py_retain(py_none());
      return py_none();
    } else {
      return Convert<std::decay_t<R>>::make(f(std::get<I>(loaders).get()...));
    }
  }
  template <class F>
  static PyObject* invoke(void* function, PyObject* const* values) {
    try {
      return run(*static_cast<F*>(function), values, std::index_sequence_for<A...>());
    } catch (...) {
      translate_exception();
      return nullptr;
    }
  }
};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...) const> : Callable<R (*)(A...)> {};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...)> : Callable<R (*)(A...)> {};
template <class R, class... A>
struct Callable<R(A...)> : Callable<R (*)(A...)> {};
template <class R, class... A>
struct Callable<R (*)(A...) noexcept> : Callable<R (*)(A...)> {};

template <class F>
Entry make_entry(const char* name, F&& function) {
  using D = std::decay_t<F>;
  using C = Callable<D>;
  Entry e;
  e.name = name;
  e.arity = C::arity;
  e.takes_all = C::template is_last_args<pybind11::args>;
  e.signature = C::signature();
  e.function = std::make_shared<D>(std::forward<F>(function));
  e.invoke = &C::template invoke<D>;
  return e;
}
// Torch's own binding of a c10::Scalar makes one into an object, but takes none.
inline PyObject* refuse_scalar(void*, PyObject* const*) {
  try {
    TORCH_INTERNAL_ASSERT(false, "pybind11 loading for c10::Scalar NYI (file a bug if you need it)");
  } catch (...) {
    translate_exception();
  }
  return nullptr;
}
}  // namespace light

namespace pybind11 {
struct arg_v {
  const char* name;
  object value;
};
struct arg {
  constexpr explicit arg(const char* n) : name(n) {}
  const char* name;
  template <class T> arg_v operator=(T&& v) const { return {name, value(std::forward<T>(v))}; }
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }

 private:
  static object value(std::nullopt_t) { return pybind11::none(); }
  static object value(std::nullptr_t) { return pybind11::none(); }
  template <size_t N> static object value(const char (&v)[N]) { return pybind11::str(v); }
  template <class T> static object value(T&& v) { return pybind11::cast(std::forward<T>(v)); }
};
struct kw_only {};
struct doc { const char* text; };
inline namespace literals {
constexpr arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

class module_ {
 public:
  explicit module_(::light::Table* t) : table_(t) {}
  template <class F, class... Extra>
  module_& def(const char* name, F&& f, const Extra&... extra) {
    ::light::Entry e = ::light::make_entry(name, std::forward<F>(f));
    if (::light::Callable<std::decay_t<F>>::takes_scalar) e.invoke = &::light::refuse_scalar;
    (take(e, extra), ...);
    table_->entries.push_back(std::move(e));
    return *this;
  }
  struct slot {
    ::light::Table* table;
    std::string name;
    template <class T> slot& operator=(T&& v) {
      table->attributes.push_back({name, pybind11::cast(std::forward<T>(v)).release()});
      return *this;
    }
    slot& operator=(const char* v) { return *this = std::string(v); }
  };
  slot attr(const char* name) { return {table_, name}; }
  std::string& doc() { return table_->documentation; }
  static object import(const char* name) { return steal(::light::py_import(name)); }

 private:
  static void take(::light::Entry& e, const char* text) { e.documentation = text; }
  static void take(::light::Entry& e, const ::pybind11::doc& d) { e.documentation = d.text; }
  static void take(::light::Entry& e, const arg& a) { e.arguments.push_back({a.name, nullptr}); }
  static void take(::light::Entry& e, const arg_v& a) {
    ::light::py_retain(a.value.ptr());
    e.arguments.push_back({a.name, a.value.ptr()});
  }
  template <class T> static void take(::light::Entry&, const T&) {}
  ::light::Table* table_;
};
using module = module_;
}  // namespace pybind11

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
#define PYBIND11_MODULE(name, variable, ...)                                                          \
  static void light_define_module(::pybind11::module_&);                                              \
  extern "C" LIGHT_EXPORT PyObject* light_extension() {                                               \
    ::light::Table table;                                                                             \
    try {                                                                                             \
      ::pybind11::module_ m(&table);                                                                  \
      light_define_module(m);                                                                         \
      return ::light::publish(&table);                                                                \
    } catch (...) {                                                                                   \
      ::light::translate_exception();                                                                 \
      return nullptr;                                                                                 \
    }                                                                                                 \
  }                                                                                                   \
  static void light_define_module(::pybind11::module_& variable)

namespace torch {
template <class F>
F wrap_pybind_function(F f) { return f; }
template <class F>
F wrap_pybind_function_no_gil(F f) { return f; }

// A function with the key that it serves: torch::dispatch(key, function).
template <class F>
struct Dispatched {
  c10::DispatchKey key;
  F function;
};
template <class F>
Dispatched<std::decay_t<F>> dispatch(c10::DispatchKey key, F&& f) { return {key, std::forward<F>(f)}; }
template <class F>
Dispatched<std::decay_t<F>> dispatch(c10::DeviceType key, F&& f) {
  return {key == c10::kCUDA ? c10::DispatchKey::CUDA : key == c10::kMeta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU, std::forward<F>(f)};
}
using c10::DispatchKey;

// torch.ops.<library>.<name>, defined through Python's torch.library when the extension is loaded.
class Library {
 public:
  Library(::light::Table* t, const char* name, const char* key) : table_(t), name_(name), key_(key) {}
  Library& def(const char* schema) { return add("", schema, -1); }
  template <class F>
  Library& def(const char* schema, F&& f) { return add(schema, schema, entry(schema, std::forward<F>(f))); }
  template <class F>
  Library& impl(const char* name, F&& f) { return add(name, "", entry(name, std::forward<F>(f))); }
  template <class F>
  Library& impl(const char* name, c10::DeviceType key, F&& f) {
    return implement(name, key == c10::kCUDA ? "CUDA" : key == c10::kMeta ? "Meta" : "CPU", std::forward<F>(f));
  }
  template <class F>
  Library& impl(const char* name, c10::DispatchKey key, F&& f) {
    static constexpr const char* names[] = {"", "CPU", "CUDA", "CUDA", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "BackendSelect", ""};
    return implement(name, names[static_cast<int>(key)], std::forward<F>(f));
  }
  template <class F>
  Library& impl(const char* name, Dispatched<F> d) { return impl(name, d.key, std::move(d.function)); }

 private:
  template <class F>
  Library& implement(const char* name, const char* key, F&& f) {
    int i = entry(name, std::forward<F>(f));
    table_->registrations.push_back({name_, name, "", key, i});
    return *this;
  }
  template <class F>
  int entry(const char* name, F&& f) {
    table_->entries.push_back(::light::make_entry(name, std::forward<F>(f)));
    table_->entries.back().name = "";  // no attribute of the module
    return static_cast<int>(table_->entries.size()) - 1;
  }
  Library& add(const char* name, const char* schema, int index) {
    table_->registrations.push_back({name_, name, schema, key_, index});
    return *this;
  }
  ::light::Table* table_;
  const char* name_;
  const char* key_;
};
using CppFunction = int;
}  // namespace torch
#define TORCH_FN(f) (&(f))
namespace light {
struct LibraryBlock {
  void (*define)(torch::Library&);
  const char *name, *key;
  LibraryBlock* next;
};
inline LibraryBlock*& library_blocks() {
  static LibraryBlock* first = nullptr;
  return first;
}
struct LibraryRegistrar {
  LibraryBlock block;
  LibraryRegistrar(void (*define)(torch::Library&), const char* name, const char* key) : block{define, name, key, library_blocks()} { library_blocks() = &block; }
};
}  // namespace light
#define LIGHT_LIBRARY(ns, key, m, id)                                                                    \
  static void C10_CONCATENATE(light_library_, id)(torch::Library&);                                      \
  static ::light::LibraryRegistrar C10_CONCATENATE(light_registrar_, id)(&C10_CONCATENATE(light_library_, id), #ns, key); \
  static void C10_CONCATENATE(light_library_, id)(torch::Library & m)
#define TORCH_LIBRARY(ns, m) LIGHT_LIBRARY(ns, "", m, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(ns, m) LIGHT_LIBRARY(ns, "", m, __COUNTER__)
#define TORCH_LIBRARY_IMPL(ns, key, m) LIGHT_LIBRARY(ns, #key, m, __COUNTER__)
// Written behind the sources when they contain such a block.
#define LIGHT_LIBRARIES()                                                                               \
  extern "C" LIGHT_EXPORT PyObject* light_libraries() {                                                 \
    ::light::Table table;                                                                               \
    try {                                                                                               \
      for (auto* b = ::light::library_blocks(); b; b = b->next) {                                       \
        ::torch::Library library(&table, b->name, b->key);                                              \
        b->define(library);                                                                             \
      }                                                                                                 \
      return ::light::publish(&table);                                                                  \
    } catch (...) {                                                                                     \
      ::light::translate_exception();                                                                   \
      return nullptr;                                                                                   \
    }                                                                                                   \
  }
