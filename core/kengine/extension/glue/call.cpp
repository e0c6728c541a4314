// Operators by name, through torch.ops.aten: overloads, promotion of types and errors are torch's own.
#include "state.h"

namespace light {

PythonError::PythonError() : type(nullptr), value(nullptr), trace(nullptr) {
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Owned s(value ? PyObject_Str(value) : nullptr);
  const char* p = s ? PyUnicode_AsUTF8AndSize(s.get(), nullptr) : nullptr;
  if (!p) PyErr_Clear();
  text = p ? p : "a Python error";
}
PythonError::~PythonError() {
  for (PyObject* o : {type, value, trace})
    if (o) Py_DecRef(o);
}
PyObject* checked(PyObject* o) {
  if (!o) throw PythonError();
  return o;
}

PyObject* import_attribute(const char* module, const char* name) {
  Owned m(checked(PyImport_ImportModule(module)));
  return checked(PyObject_GetAttrString(m.get(), name));
}
PyObject* torch_module() {
  static PyObject* m = checked(PyImport_ImportModule("torch"));
  return m;
}
static PyObject* helper(const char* name) { return import_attribute("kengine.extension.operators", name); }

bool is_tensor(PyObject* o) {
  static PyObject* type = checked(PyObject_GetAttrString(torch_module(), "Tensor"));
  return PyObject_IsInstance(o, type) == 1;
}
static PyObject* call_with(PyObject* function, std::initializer_list<PyObject*> borrowed) {
  Owned args(PyTuple_New(static_cast<ptrdiff_t>(borrowed.size())));
  ptrdiff_t i = 0;
  for (PyObject* o : borrowed) PyTuple_SetItem(args.get(), i++, retained(o));
  return checked(PyObject_CallObject(function, args.get()));
}
PyObject* wrap(Handle handle) {
  static PyObject* make = import_attribute("torch._C._aoti", "alloc_tensor_by_stealing_from_void_ptr");
  Handle copy = nullptr;
  checked(aoti_torch_new_tensor_handle(handle, &copy));
  Owned capsule(checked(PyCapsule_New(copy, nullptr, nullptr)));
  return call_with(make, {capsule.get()});
}
Handle unwrap(PyObject* tensor) {
  static PyObject* take = import_attribute("torch._C._aoti", "unsafe_alloc_void_ptrs_from_tensors");
  Owned list(PyList_New(1));
  PyList_SetItem(list.get(), 0, retained(tensor));
  Owned out(call_with(take, {list.get()}));
  Owned capsule(checked(PySequence_GetItem(out.get(), 0)));
  return static_cast<Handle>(PyCapsule_GetPointer(capsule.get(), nullptr));
}

bool is_on_host(PyObject* tensor) {
  static PyObject* ask = helper("is_on_host");
  Owned answer(call_with(ask, {tensor}));
  return answer.get() == &_Py_TrueStruct;
}
void put_on_device(PyObject* tensor) {
  static PyObject* give = import_attribute("kengine.pretence", "give");
  Owned none(call_with(give, {tensor}));
}

PyObject* dtype_object(c10::ScalarType t) {
  static PyObject* known[32];
  static const char* const attribute[] = {"uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64", "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16",
                                          "quint4x2", "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64"};
  auto i = static_cast<size_t>(t);
  TORCH_CHECK(i < sizeof attribute / sizeof *attribute, "no such element type");
  if (!known[i]) known[i] = checked(PyObject_GetAttrString(torch_module(), attribute[i]));
  return known[i];
}
PyObject* device_object(const c10::Device& d) {
  static PyObject* make = checked(PyObject_GetAttrString(torch_module(), "device"));
  Owned text(py_make(emulator.on && d.is_cuda() ? std::string("cpu") : d.str()));
  return call_with(make, {text.get()});
}
static PyObject* memory_format_object(int64_t f) {
  static const char* const attribute[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  return checked(PyObject_GetAttrString(torch_module(), attribute[f & 3]));
}

template <class T, class F>
static PyObject* list_of(const T* items, size_t n, F make) {
  Owned list(PyList_New(static_cast<ptrdiff_t>(n)));
  for (size_t i = 0; i < n; ++i) PyList_SetItem(list.get(), static_cast<ptrdiff_t>(i), make(items[i]));
  return list.release();
}
static PyObject* tensor_object(const at::Tensor& t) { return t.defined() ? wrap(t.unsafe_body()->handle) : retained(&_Py_NoneStruct); }

PyObject* to_python(const Value& v) {
  switch (v.kind) {
    case Value::tensor: return wrap(static_cast<const Body*>(v.p)->handle);
    case Value::integer: return PyLong_FromLongLong(v.i);
    case Value::real: return PyFloat_FromDouble(v.d);
    case Value::boolean: return retained(v.i ? &_Py_TrueStruct : &_Py_FalseStruct);
    case Value::integers: return list_of(static_cast<const int64_t*>(v.p), v.n, [](int64_t i) { return PyLong_FromLongLong(i); });
    case Value::reals: return list_of(static_cast<const double*>(v.p), v.n, [](double d) { return PyFloat_FromDouble(d); });
    case Value::tensors: return list_of(static_cast<const at::Tensor*>(v.p), v.n, tensor_object);
    case Value::text: return PyUnicode_FromStringAndSize(static_cast<const char*>(v.p), static_cast<ptrdiff_t>(v.n));
    case Value::dtype: return retained(dtype_object(static_cast<c10::ScalarType>(v.i)));
    case Value::device: return device_object(c10::Device(static_cast<c10::DeviceType>(v.i), static_cast<int>(v.n) - 1));
    case Value::memory_format: return memory_format_object(v.i);
    default: return retained(&_Py_NoneStruct);
  }
}

static void set_keyword(PyObject* keywords, const char* name, PyObject* stolen) {
  Owned o(checked(stolen));
  PyDict_SetItemString(keywords, name, o.get());
}

// Where the result is: on the host only if everything that it is made from is.
struct Place {
  bool any = false, host = true, fixed = false;
  void see(const Body* b) {
    any = true;
    host = host && b->host;
  }
  void set(const c10::Device& d) {
    fixed = true;
    host = !d.is_cuda();
  }
  bool on_host() const { return fixed || any ? host : true; }
};

static Owned collect(const Value* v, size_t count, Owned* keywords, Place* place) {
  while (count && v[count - 1].kind == Value::absent) --count;
  std::vector<PyObject*> positional;
  *keywords = Owned(PyDict_New());
  for (size_t i = 0; i < count; ++i) {
    if (v[i].kind == Value::tensor) place->see(static_cast<const Body*>(v[i].p));
    if (v[i].kind == Value::tensors)
      for (size_t k = 0; k < v[i].n; ++k)
        if (static_cast<const at::Tensor*>(v[i].p)[k].defined()) place->see(static_cast<const at::Tensor*>(v[i].p)[k].unsafe_body());
    if (v[i].kind == Value::options) {
      const auto& o = *static_cast<const c10::TensorOptions*>(v[i].p);
      if (o.has_dtype()) set_keyword(keywords->get(), "dtype", retained(dtype_object(o.dtype().toScalarType())));
      if (o.has_device()) set_keyword(keywords->get(), "device", device_object(o.device())), place->set(o.device());
      if (o.memory_format_opt()) set_keyword(keywords->get(), "memory_format", memory_format_object(static_cast<int64_t>(*o.memory_format_opt())));
      if (o.pinned_memory_set() && !emulator.on) set_keyword(keywords->get(), "pin_memory", retained(&_Py_TrueStruct));
    } else if (v[i].kind == Value::dtype) {
      set_keyword(keywords->get(), "dtype", to_python(v[i]));
    } else if (v[i].kind == Value::memory_format) {
      set_keyword(keywords->get(), "memory_format", to_python(v[i]));
    } else if (v[i].kind == Value::device) {
      place->set(c10::Device(static_cast<c10::DeviceType>(v[i].i)));
      set_keyword(keywords->get(), "device", to_python(v[i]));
    } else {
      positional.push_back(checked(to_python(v[i])));
    }
  }
  Owned args(PyTuple_New(static_cast<ptrdiff_t>(positional.size())));
  for (size_t i = 0; i < positional.size(); ++i) PyTuple_SetItem(args.get(), static_cast<ptrdiff_t>(i), positional[i]);
  return args;
}

static PyObject* find_operator(const std::string& name) {
  static std::unordered_map<std::string, PyObject*> known;
  auto it = known.find(name);
  if (it != known.end()) return it->second;
  static PyObject* find = helper("find");
  Owned text(py_make(name));
  return known[name] = call_with(find, {text.get()});
}

// The order of a C++ signature is the schema's; Python makes some of the parameters keywords. When the plain call does
// not fit, the helper looks for the overload that takes the arguments in this order.
static PyObject* invoke(const char* name, const Value* v, size_t count, Place* place) {
  Owned keywords, args = collect(v, count, &keywords, place);
  PyObject* function = find_operator(name);
  PyObject* out = PyObject_Call(function, args.get(), keywords.get());
  if (out) return out;
  PythonError first;
  static PyObject* retry = helper("retry");
  Owned text(py_make(std::string(name)));
  Owned again(call_with(retry, {text.get(), args.get(), keywords.get(), first.value ? first.value : &_Py_NoneStruct}));
  return again.release();
}

static at::Tensor tensor_of(PyObject* o, bool host) { return o == &_Py_NoneStruct ? at::Tensor() : at::Tensor::own(adopt(unwrap(o), host)); }
static Body* release_body(at::Tensor t) {
  Body* b = t.unsafe_body();
  if (b) retain(b);
  return b;
}
static bool on_host(const Place& p) { return emulator.on && p.on_host(); }

// Host code gets the data of a tensor on the emulated device.
static void tell_fetched(const Body* b) {
  static PyObject* tell = helper("fetched");
  Owned t(wrap(b->handle)), done(call_with(tell, {t.get()}));
}

Body* call(const char* name, const Value* v, size_t count) {
  Place place;
  Owned out(invoke(name, v, count, &place));
  if (is_tensor(out.get())) return adopt(unwrap(out.get()), on_host(place));
  if (PyObject_IsInstance(out.get(), &PyBool_Type) == 1 || PyObject_IsInstance(out.get(), &PyFloat_Type) == 1) {
    static PyObject* make = checked(PyObject_GetAttrString(torch_module(), "tensor"));
    Owned t(call_with(make, {out.get()}));
    return adopt(unwrap(t.get()), true);
  }
  raise(str(name, " returns no tensor"));
}
void call_in_place(const char* name, const Value* v, size_t count) {
  Place place;
  if (emulator.on && count > 1 && v[0].kind == Value::tensor && v[1].kind == Value::tensor && !strcmp(name, "copy_")) {
    auto *to = static_cast<const Body*>(v[0].p), *from = static_cast<const Body*>(v[1].p);
    if (to->host && !from->host) tell_fetched(from);
  }
  Owned out(invoke(name, v, count, &place));
}
void call_many(const char* name, const Value* v, size_t count, std::vector<at::Tensor>* out) {
  Place place;
  Owned result(invoke(name, v, count, &place));
  ptrdiff_t n = PyObject_Size(result.get());
  for (ptrdiff_t i = 0; i < n; ++i) {
    Owned o(checked(PySequence_GetItem(result.get(), i)));
    out->push_back(tensor_of(o.get(), on_host(place)));
  }
}
c10::Scalar item(const Body* b) {
  Owned t(wrap(b->handle)), method(checked(PyObject_GetAttrString(t.get(), "item"))), o(checked(PyObject_CallObject(method.get(), nullptr)));
  if (PyObject_IsInstance(o.get(), &PyBool_Type) == 1) return c10::Scalar(o.get() == &_Py_TrueStruct);
  if (PyObject_IsInstance(o.get(), &PyLong_Type) == 1) return c10::Scalar(static_cast<int64_t>(PyLong_AsLongLong(o.get())));
  return c10::Scalar(PyFloat_AsDouble(o.get()));
}
// Tensor.to: the same order as in C++, options by keyword.
Body* convert(Body* b, const Value* v, size_t count) {
  while (count && v[count - 1].kind == Value::absent) --count;
  Place place;
  place.see(b);
  Owned keywords(PyDict_New());
  std::vector<PyObject*> positional;
  int booleans = 0;
  for (size_t i = 0; i < count; ++i) {
    if (v[i].kind == Value::tensor) place.set(device(static_cast<const Body*>(v[i].p)));
    if (v[i].kind == Value::device) place.set(c10::Device(static_cast<c10::DeviceType>(v[i].i)));
    if (v[i].kind == Value::options) {
      const auto& o = *static_cast<const c10::TensorOptions*>(v[i].p);
      if (o.has_dtype()) set_keyword(keywords.get(), "dtype", retained(dtype_object(o.dtype().toScalarType())));
      if (o.has_device()) set_keyword(keywords.get(), "device", device_object(o.device())), place.set(o.device());
    } else if (v[i].kind == Value::memory_format) {
      set_keyword(keywords.get(), "memory_format", to_python(v[i]));
    } else if (v[i].kind == Value::boolean) {
      set_keyword(keywords.get(), booleans++ ? "copy" : "non_blocking", to_python(v[i]));
    } else {
      positional.push_back(checked(to_python(v[i])));
    }
  }
  if (positional.empty() && PyDict_Size(keywords.get()) == 0) {
    retain(b);
    return b;
  }
  Owned args(PyTuple_New(static_cast<ptrdiff_t>(positional.size())));
  for (size_t i = 0; i < positional.size(); ++i) PyTuple_SetItem(args.get(), static_cast<ptrdiff_t>(i), positional[i]);
  Owned t(wrap(b->handle)), method(checked(PyObject_GetAttrString(t.get(), "to")));
  Owned out(checked(PyObject_Call(method.get(), args.get(), keywords.get())));
  if (emulator.on && place.on_host() != b->host) {
    // From the host to the device or back, which is always a copy.
    if (!b->host) tell_fetched(b);
    Body* moved = adopt(unwrap(out.get()), place.on_host());
    void *from = nullptr, *to = nullptr;
    checked(aoti_torch_get_data_ptr(b->handle, &from));
    checked(aoti_torch_get_data_ptr(moved->handle, &to));
    if (from != to) return moved;
    release(moved);
    Owned clone(checked(PyObject_GetAttrString(out.get(), "clone")));
    out = Owned(checked(PyObject_CallObject(clone.get(), nullptr)));
  }
  return adopt(unwrap(out.get()), on_host(place));
}
bool attribute(const Body* b, const char* name) {
  Owned t(wrap(b->handle)), o(checked(PyObject_GetAttrString(t.get(), name)));
  return PyObject_IsTrue(o.get()) == 1;
}
Body* property(const Body* b, const char* name) {
  Owned t(wrap(b->handle)), o(checked(PyObject_GetAttrString(t.get(), name)));
  return release_body(tensor_of(o.get(), b->host));
}
void set_requires_grad(Body* b, bool value) {
  Owned t(wrap(b->handle));
  if (PyObject_SetAttrString(t.get(), "requires_grad", value ? &_Py_TrueStruct : &_Py_FalseStruct)) throw PythonError();
}
void backward(Body* b) {
  Owned t(wrap(b->handle)), method(checked(PyObject_GetAttrString(t.get(), "backward"))), o(checked(PyObject_CallObject(method.get(), nullptr)));
}
std::string describe(const Body* b) {
  Owned t(wrap(b->handle));
  return py_text(t.get());
}
bool grad_mode(int change) {
  static PyObject* get = checked(PyObject_GetAttrString(torch_module(), "is_grad_enabled"));
  static PyObject* set = import_attribute("torch._C", "_set_grad_enabled");
  Owned before(checked(PyObject_CallObject(get, nullptr)));
  if (change >= 0) Owned done(call_with(set, {change ? &_Py_TrueStruct : &_Py_FalseStruct}));
  return before.get() == &_Py_TrueStruct;
}
void warn(const std::string& message) {
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1)) throw PythonError();
}

// ---- x.index({...}) ----
static PyObject* index_object(const at::indexing::TensorIndex* index, size_t count) {
  using I = at::indexing::TensorIndex;
  auto bound = [](const std::optional<int64_t>& v) { return v ? PyLong_FromLongLong(*v) : retained(&_Py_NoneStruct); };
  Owned tuple(PyTuple_New(static_cast<ptrdiff_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    const I& x = index[i];
    PyObject* o = nullptr;
    if (x.kind == I::none) o = retained(&_Py_NoneStruct);
    else if (x.kind == I::ellipsis) o = retained(&_Py_EllipsisObject);
    else if (x.kind == I::integer) o = PyLong_FromLongLong(x.i);
    else if (x.kind == I::tensor) o = tensor_object(x.t);
    else {
      Owned a(bound(x.s.start)), b(bound(x.s.stop)), c(bound(x.s.step));
      o = PySlice_New(a.get(), b.get(), c.get());
    }
    PyTuple_SetItem(tuple.get(), static_cast<ptrdiff_t>(i), checked(o));
  }
  return tuple.release();
}
Body* take_index(Body* b, const at::indexing::TensorIndex* index, size_t count) {
  Owned t(wrap(b->handle)), i(index_object(index, count)), out(checked(PyObject_GetItem(t.get(), i.get())));
  return adopt(unwrap(out.get()), b->host);
}
void put_index(Body* b, const at::indexing::TensorIndex* index, size_t count, const Value& value) {
  Owned t(wrap(b->handle)), i(index_object(index, count)), v(checked(to_python(value)));
  if (PyObject_SetItem(t.get(), i.get(), v.get())) throw PythonError();
}
Body* subscript(Body* b, const Value* index, size_t) {
  Owned t(wrap(b->handle)), i(checked(to_python(*index))), out(checked(PyObject_GetItem(t.get(), i.get())));
  return adopt(unwrap(out.get()), b->host);
}
}  // namespace light
