// Python objects for the headers: loading by pybind11's rules, making, and what the small wrappers need.
#include "state.h"

namespace light {
void py_retain(PyObject* o) { Py_IncRef(o); }
void py_release(PyObject* o) { Py_DecRef(o); }
PyObject* py_none() { return &_Py_NoneStruct; }
bool py_is_none(PyObject* o) { return o == &_Py_NoneStruct; }

static bool is(PyObject* o, PyObject& type) { return PyObject_IsInstance(o, &type) == 1; }
static bool fail() {
  PyErr_Clear();
  return false;
}

bool py_load(PyObject* o, bool* v) {
  if (o == &_Py_TrueStruct || o == &_Py_FalseStruct) return *v = o == &_Py_TrueStruct, true;
  if (is(o, PyUnicode_Type) || is(o, PyList_Type) || is(o, PyTuple_Type) || is(o, PyDict_Type)) return false;
  int t = PyObject_IsTrue(o);
  if (t < 0) return fail();
  return *v = t == 1, true;
}
// No floating number is taken for an integer.
bool py_load(PyObject* o, int64_t* v, int64_t low, uint64_t high) {
  if (is(o, PyFloat_Type)) return false;
  Owned i(is(o, PyLong_Type) ? retained(o) : PyIndex_Check(o) ? PyNumber_Index(o) : nullptr);
  if (!i) return fail();
  long long n = PyLong_AsLongLong(i.get());
  if (n == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    unsigned long long u = PyLong_AsUnsignedLongLong(i.get());
    if ((u == ~0ull && PyErr_Occurred()) || u > high || low < 0) return fail();
    return *v = static_cast<int64_t>(u), true;
  }
  if (n < low || (n > 0 && static_cast<uint64_t>(n) > high)) return false;
  return *v = n, true;
}
bool py_load(PyObject* o, double* v) {
  if (is(o, PyUnicode_Type)) return false;
  Owned f(is(o, PyFloat_Type) ? retained(o) : PyNumber_Check(o) ? PyNumber_Float(o) : nullptr);
  if (!f) return fail();
  return *v = PyFloat_AsDouble(f.get()), true;
}
bool py_load(PyObject* o, std::string* v) {
  if (!is(o, PyUnicode_Type)) return false;
  ptrdiff_t n = 0;
  const char* p = PyUnicode_AsUTF8AndSize(o, &n);
  if (!p) return fail();
  v->assign(p, static_cast<size_t>(n));
  return true;
}
bool py_load(PyObject* o, at::Tensor* v) {
  if (!is_tensor(o)) return false;
  const bool host = emulator.on && is_on_host(o);
  *v = at::Tensor::own(adopt(unwrap(o), host));
  if (emulator.on && !host) register_memory(v->unsafe_body()->handle, nullptr);
  return true;
}
bool py_load(PyObject* o, c10::Scalar* v) {
  if (o == &_Py_TrueStruct || o == &_Py_FalseStruct) return *v = c10::Scalar(o == &_Py_TrueStruct), true;
  if (is_tensor(o)) {
    at::Tensor t = at::Tensor::own(adopt(unwrap(o), false));
    if (t.numel() != 1) return false;
    return *v = t.item(), true;
  }
  if (is(o, PyLong_Type)) {
    int64_t i = 0;
    if (!py_load(o, &i, INT64_MIN, INT64_MAX)) return false;
    return *v = c10::Scalar(i), true;
  }
  double d = 0;
  if (!py_load(o, &d)) return false;
  return *v = c10::Scalar(d), true;
}
bool py_load(PyObject* o, c10::ScalarType* v) {
  for (int i = 0; i < 30; ++i)
    if (o == dtype_object(static_cast<c10::ScalarType>(i))) return *v = static_cast<c10::ScalarType>(i), true;
  return false;
}
bool py_load(PyObject* o, c10::Device* v) {
  static PyObject* type = checked(PyObject_GetAttrString(torch_module(), "device"));
  if (PyObject_IsInstance(o, type) != 1 && !is(o, PyUnicode_Type)) return false;
  *v = c10::Device(py_text(o));
  if (emulator.on) *v = c10::Device(c10::kCUDA, 0);
  return true;
}

PyObject* py_make(bool v) { return retained(v ? &_Py_TrueStruct : &_Py_FalseStruct); }
PyObject* py_make(int64_t v) { return checked(PyLong_FromLongLong(v)); }
PyObject* py_make(uint64_t v) { return checked(PyLong_FromUnsignedLongLong(v)); }
PyObject* py_make(double v) { return checked(PyFloat_FromDouble(v)); }
PyObject* py_make(const std::string& v) { return checked(PyUnicode_FromStringAndSize(v.data(), static_cast<ptrdiff_t>(v.size()))); }
PyObject* py_make(const at::Tensor& v) {
  if (!v.defined()) return retained(&_Py_NoneStruct);
  Owned made(wrap(v.unsafe_body()->handle));
  if (emulator.on && !v.unsafe_body()->host) put_on_device(made.get());
  return made.release();
}
PyObject* py_make(c10::ScalarType v) { return retained(dtype_object(v)); }
PyObject* py_make(const c10::Device& v) { return device_object(v); }

bool py_is(PyObject* o, const char* type) {
  std::string t = type;
  if (t == "list") return is(o, PyList_Type);
  if (t == "tuple") return is(o, PyTuple_Type);
  if (t == "dict") return is(o, PyDict_Type);
  if (t == "str") return is(o, PyUnicode_Type);
  if (t == "sequence") return PySequence_Check(o) && !is(o, PyUnicode_Type) && !is(o, PyBytes_Type) && !is(o, PyDict_Type);
  return true;
}
int64_t py_length(PyObject* o) {
  ptrdiff_t n = PyObject_Size(o);
  if (n < 0) throw PythonError();
  return n;
}
PyObject* py_item(PyObject* o, int64_t i) { return checked(PySequence_GetItem(o, i)); }
PyObject* py_item(PyObject* o, PyObject* key) { return checked(PyObject_GetItem(o, key)); }
void py_set_item(PyObject* o, PyObject* key, PyObject* value) {
  if (PyObject_SetItem(o, key, value)) throw PythonError();
}
PyObject* py_attribute(PyObject* o, const char* name) { return checked(PyObject_GetAttrString(o, name)); }
PyObject* py_call(PyObject* o, PyObject* const* arguments, size_t count) {
  Owned args(PyTuple_New(static_cast<ptrdiff_t>(count)));
  for (size_t i = 0; i < count; ++i) PyTuple_SetItem(args.get(), static_cast<ptrdiff_t>(i), retained(arguments[i]));
  return checked(PyObject_CallObject(o, args.get()));
}
PyObject* py_list(size_t count, bool tuple) { return checked((tuple ? PyTuple_New : PyList_New)(static_cast<ptrdiff_t>(count))); }
void py_fill(PyObject* list, size_t i, PyObject* stolen) {
  if (is(list, PyTuple_Type)) PyTuple_SetItem(list, static_cast<ptrdiff_t>(i), stolen);
  else PyList_SetItem(list, static_cast<ptrdiff_t>(i), stolen);
}
void py_append(PyObject* list, PyObject* value) {
  if (PyList_Append(list, value)) throw PythonError();
}
PyObject* py_dict() { return checked(PyDict_New()); }
PyObject* py_keys(PyObject* dict) { return checked(PyDict_Keys(dict)); }
std::string py_text(PyObject* o) {
  Owned s(checked(PyObject_Str(o)));
  std::string out;
  py_load(s.get(), &out);
  return out;
}
PyObject* py_import(const char* name) { return checked(PyImport_ImportModule(name)); }
void py_bad_cast(PyObject* o, const char* type) { raise<c10::TypeError>(str("Unable to cast Python instance ", py_text(o), " to C++ type '", type, "'")); }
void py_print(const std::string& text) {
  static PyObject* print = import_attribute("builtins", "print");
  Owned t(py_make(text)), args(PyTuple_New(1));
  PyTuple_SetItem(args.get(), 0, t.release());
  Owned done(checked(PyObject_CallObject(print, args.get())));
}
}  // namespace light
