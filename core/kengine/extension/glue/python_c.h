// The functions of Python's stable interface that are used, declared here so that no Python header is needed.
#pragma once
#include <cstddef>
#include <cstdint>

struct _object;
typedef struct _object PyObject;
extern "C" {
typedef PyObject* (*LightFunction)(PyObject* self, PyObject* args, PyObject* kwargs);
struct LightMethodDef {
  const char* name;
  LightFunction function;
  int flags;
  const char* documentation;
};
extern PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct, _Py_EllipsisObject;
extern PyObject PyBool_Type, PyLong_Type, PyFloat_Type, PyUnicode_Type, PyList_Type, PyTuple_Type, PyDict_Type, PyBytes_Type;
extern PyObject *PyExc_RuntimeError, *PyExc_TypeError, *PyExc_ValueError, *PyExc_IndexError, *PyExc_NotImplementedError, *PyExc_MemoryError, *PyExc_UserWarning;
void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);
PyObject* PyImport_ImportModule(const char*);
PyObject* PyObject_GetAttrString(PyObject*, const char*);
int PyObject_SetAttrString(PyObject*, const char*, PyObject*);
PyObject* PyObject_Call(PyObject*, PyObject*, PyObject*);
PyObject* PyObject_CallObject(PyObject*, PyObject*);
int PyObject_IsInstance(PyObject*, PyObject*);
int PyObject_IsTrue(PyObject*);
PyObject* PyObject_Str(PyObject*);
PyObject* PyObject_Repr(PyObject*);
PyObject* PyObject_GetItem(PyObject*, PyObject*);
int PyObject_SetItem(PyObject*, PyObject*, PyObject*);
ptrdiff_t PyObject_Size(PyObject*);
PyObject* PyLong_FromLongLong(long long);
PyObject* PyLong_FromUnsignedLongLong(unsigned long long);
long long PyLong_AsLongLong(PyObject*);
unsigned long long PyLong_AsUnsignedLongLong(PyObject*);
PyObject* PyNumber_Index(PyObject*);
PyObject* PyNumber_Float(PyObject*);
int PyNumber_Check(PyObject*);
int PyIndex_Check(PyObject*);
int PySequence_Check(PyObject*);
PyObject* PySequence_GetItem(PyObject*, ptrdiff_t);
PyObject* PyFloat_FromDouble(double);
double PyFloat_AsDouble(PyObject*);
PyObject* PyUnicode_FromStringAndSize(const char*, ptrdiff_t);
const char* PyUnicode_AsUTF8AndSize(PyObject*, ptrdiff_t*);
PyObject* PyTuple_New(ptrdiff_t);
int PyTuple_SetItem(PyObject*, ptrdiff_t, PyObject*);
PyObject* PyTuple_GetItem(PyObject*, ptrdiff_t);
ptrdiff_t PyTuple_Size(PyObject*);
PyObject* PyList_New(ptrdiff_t);
int PyList_SetItem(PyObject*, ptrdiff_t, PyObject*);
int PyList_Append(PyObject*, PyObject*);
PyObject* PyDict_New();
PyObject* PyDict_Keys(PyObject*);
PyObject* PyDict_GetItemString(PyObject*, const char*);
int PyDict_SetItemString(PyObject*, const char*, PyObject*);
ptrdiff_t PyDict_Size(PyObject*);
PyObject* PyCapsule_New(void*, const char*, void (*)(PyObject*));
void* PyCapsule_GetPointer(PyObject*, const char*);
PyObject* PyCFunction_NewEx(LightMethodDef*, PyObject*, PyObject*);
PyObject* PySlice_New(PyObject*, PyObject*, PyObject*);
void PyErr_SetString(PyObject*, const char*);
PyObject* PyErr_Occurred();
void PyErr_Clear();
void PyErr_Fetch(PyObject**, PyObject**, PyObject**);
void PyErr_Restore(PyObject*, PyObject*, PyObject*);
void PyErr_NormalizeException(PyObject**, PyObject**, PyObject**);
int PyErr_WarnEx(PyObject*, const char*, ptrdiff_t);
}

// An owned reference.
class Owned {
 public:
  explicit Owned(PyObject* p = nullptr) : p_(p) {}
  Owned(Owned&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  Owned& operator=(Owned&& o) noexcept {
    PyObject* p = p_;
    p_ = o.p_;
    o.p_ = p;
    return *this;
  }
  ~Owned() { if (p_) Py_DecRef(p_); }
  PyObject* get() const { return p_; }
  PyObject* release() {
    PyObject* p = p_;
    p_ = nullptr;
    return p;
  }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  PyObject* p_;
};
inline PyObject* retained(PyObject* o) {
  Py_IncRef(o);
  return o;
}
