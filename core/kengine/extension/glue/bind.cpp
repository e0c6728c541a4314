// From the table of an extension to Python functions.
#include "state.h"

namespace light {
struct Function {
  std::string name, documentation;
  std::vector<Entry> overloads;
  std::vector<std::vector<std::string>> names;  // of the parameters, for faults
  LightMethodDef method;
};

void translate_exception() {
  PyObject* type = PyExc_RuntimeError;
  try {
    throw;
  } catch (PythonError& e) {
    PyErr_Restore(e.type, e.value, e.trace);
    e.type = e.value = e.trace = nullptr;
    return;
  } catch (const c10::IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const c10::ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const c10::TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const c10::NotImplementedError& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const c10::Error& e) {
    PyErr_SetString(type, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "std::bad_alloc");
  } catch (const std::out_of_range& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const std::invalid_argument& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::domain_error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::length_error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(type, e.what());
  } catch (...) {
    PyErr_SetString(type, "Caught an unknown exception!");
  }
}

// The objects for the parameters of one overload, borrowed; false when they do not fit by number or name.
static bool arrange(const Entry& e, PyObject* args, PyObject* kwargs, std::vector<PyObject*>* out) {
  auto given = static_cast<size_t>(PyTuple_Size(args));
  size_t named = kwargs ? static_cast<size_t>(PyDict_Size(kwargs)) : 0;
  if (given > e.arity) return false;
  out->clear();
  for (size_t i = 0; i < given; ++i) out->push_back(PyTuple_GetItem(args, static_cast<ptrdiff_t>(i)));
  size_t used = 0;
  for (size_t i = given; i < e.arity; ++i) {
    if (i >= e.arguments.size()) return false;
    PyObject* o = named && e.arguments[i].name ? PyDict_GetItemString(kwargs, e.arguments[i].name) : nullptr;
    used += o != nullptr;
    if (!o) o = e.arguments[i].value;
    if (!o) return false;
    out->push_back(o);
  }
  return used == named;
}

static std::string names_of(PyObject* args, PyObject* kwargs) {
  static PyObject* describe = import_attribute("kengine.extension.operators", "describe");
  Owned call(PyTuple_New(2));
  PyTuple_SetItem(call.get(), 0, retained(args));
  PyTuple_SetItem(call.get(), 1, retained(kwargs ? kwargs : &_Py_NoneStruct));
  Owned text(checked(PyObject_CallObject(describe, call.get())));
  return py_text(text.get());
}

static PyObject* call_function(PyObject* self, PyObject* args, PyObject* kwargs) {
  auto* f = static_cast<Function*>(PyCapsule_GetPointer(self, nullptr));
  std::vector<PyObject*> values;
  try {
    for (size_t k = 0; k < f->overloads.size(); ++k) {
      const Entry& e = f->overloads[k];
      Owned empty;
      if (e.takes_all) {
        values = {args};
        if (e.arity > 1) values.push_back(kwargs ? kwargs : (empty = Owned(PyDict_New()), empty.get()));
      } else if (!arrange(e, args, kwargs, &values)) {
        continue;
      }
      if (emulator.on) {
        for (size_t i = 0; i < values.size(); ++i)
          if (is_tensor(values[i])) {
            Handle h = unwrap(values[i]);
            const auto& names = f->names[k];
            std::string name = i < names.size() && !names[i].empty() ? names[i] : "arg" + std::to_string(i);
            register_memory(h, name.c_str());
            aoti_torch_delete_tensor_object(h);
          }
      }
      PyObject* out = e.invoke(e.function.get(), values.data());
      if (emulator.on) forget_memory();
      if (out || PyErr_Occurred()) return out;
    }
    std::string text = f->name + "(): incompatible function arguments. The following argument types are supported:\n";
    for (size_t k = 0; k < f->overloads.size(); ++k) text += "    " + std::to_string(k + 1) + ". " + f->overloads[k].signature + "\n";
    text += "\nInvoked with: " + names_of(args, kwargs);
    PyErr_SetString(PyExc_TypeError, text.c_str());
  } catch (...) {
    translate_exception();
  }
  if (emulator.on) forget_memory();
  return nullptr;
}

static PyObject* make_function(Function* f) {
  const std::string& s = f->overloads[0].signature;
  f->documentation = f->name + s + "\n\n" + f->overloads[0].documentation;
  f->method = {f->name.c_str(), call_function, 3, f->documentation.c_str()};
  Owned self(checked(PyCapsule_New(f, nullptr, nullptr)));
  return checked(PyCFunction_NewEx(&f->method, self.get(), nullptr));
}

// {"functions": {name: function}, "attributes": {...}, "registrations": [(library, name, schema, key, function)]}
PyObject* publish(Table* t) {
  Owned functions(PyDict_New()), attributes(PyDict_New()), registrations(PyList_New(0)), out(PyDict_New());
  std::map<std::string, Function*> by_name;
  for (Entry& e : t->entries) {
    if (e.name.empty()) continue;
    auto& f = by_name[e.name];
    if (!f) f = new Function{e.name, "", {}, {}, {}};  // lives as long as the process, like the extension
    std::vector<std::string> names;
    for (const Argument& a : e.arguments) names.push_back(a.name ? a.name : "");
    f->names.push_back(names);
    f->overloads.push_back(e);
  }
  for (auto& f : by_name) {
    Owned function(make_function(f.second));
    PyDict_SetItemString(functions.get(), f.first.c_str(), function.get());
  }
  for (const Attribute& a : t->attributes) PyDict_SetItemString(attributes.get(), a.name.c_str(), a.value);
  for (const Registration& r : t->registrations) {
    PyObject* function = retained(&_Py_NoneStruct);
    std::string schema = r.schema;
    if (r.entry >= 0) {
      auto* f = new Function{r.name, "", {t->entries[static_cast<size_t>(r.entry)]}, {{}}, {}};
      Py_DecRef(function);
      function = make_function(f);
      if (schema.find('(') == std::string::npos) schema = schema.empty() ? "" : schema + "|" + f->overloads[0].signature;
    }
    Owned row(PyTuple_New(5));
    PyTuple_SetItem(row.get(), 0, py_make(r.library));
    PyTuple_SetItem(row.get(), 1, py_make(r.name));
    PyTuple_SetItem(row.get(), 2, py_make(schema));
    PyTuple_SetItem(row.get(), 3, py_make(r.key));
    PyTuple_SetItem(row.get(), 4, function);
    PyList_Append(registrations.get(), row.get());
  }
  PyDict_SetItemString(out.get(), "functions", functions.get());
  PyDict_SetItemString(out.get(), "attributes", attributes.get());
  PyDict_SetItemString(out.get(), "registrations", registrations.get());
  Owned text(py_make(t->documentation));
  PyDict_SetItemString(out.get(), "documentation", text.get());
  return out.release();
}

// The names of the parameters of a function, as the sources declare them, for the messages of faults.
extern "C" LIGHT_EXPORT int light_name_parameters(PyObject* function_self, const char* names) {
  auto* f = static_cast<Function*>(PyCapsule_GetPointer(function_self, nullptr));
  if (!f) return PyErr_Clear(), 1;
  std::vector<std::string> all;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) all.push_back(name);
  for (auto& n : f->names)
    if (n.empty()) n = all;
  return 0;
}

// Let kernels touch a tensor until light_forget is called.
extern "C" LIGHT_EXPORT void light_remember(PyObject* tensor, const char* name) {
  if (!emulator.on) return;
  Handle h = unwrap(tensor);
  register_memory(h, name);
  aoti_torch_delete_tensor_object(h);
}
extern "C" LIGHT_EXPORT void light_forget() { forget_memory(); }
}  // namespace light
