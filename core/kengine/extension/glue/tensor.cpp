// Tensors: life time, attributes, memory.
#include <dlfcn.h>

#include "state.h"

namespace light {
Emulator emulator;

struct Range {
  char *low, *high;
  size_t itemsize;
  std::string name;
};
static std::vector<Range> ranges;  // foreign memory that this call lets kernels touch

void checked(int status) {
  if (!status) return;
  const char* what = torch_exception_get_what_without_backtrace ? torch_exception_get_what_without_backtrace() : nullptr;
  raise(what && *what ? what : "an operation of torch failed; its message is on standard error");
}
Body* adopt(Handle handle, bool host) { return new Body{handle, host, 1}; }
void retain(Body* body) { ++body->references; }
void release(Body* body) {
  if (--body->references) return;
  aoti_torch_delete_tensor_object(body->handle);
  delete body;
}
void raise_undefined() { raise("expected a tensor, but it is undefined"); }
void raise_dtype(const Body* body, c10::ScalarType wanted) {
  raise(str("expected scalar type ", c10::toString(wanted), " but found ", c10::toString(dtype(body))));
}

int64_t dim(const Body* b) {
  int64_t n = 0;
  checked(aoti_torch_get_dim(b->handle, &n));
  return n;
}
int64_t numel(const Body* b) {
  int64_t n = 0;
  checked(aoti_torch_get_numel(b->handle, &n));
  return n;
}
const int64_t* sizes(const Body* b) {
  int64_t* p = nullptr;
  checked(aoti_torch_get_sizes(b->handle, &p));
  return p;
}
const int64_t* strides(const Body* b) {
  int64_t* p = nullptr;
  checked(aoti_torch_get_strides(b->handle, &p));
  return p;
}
static c10::ScalarType type_of(Handle h) {
  int32_t t = 0;
  checked(aoti_torch_get_dtype(h, &t));
  return static_cast<c10::ScalarType>(t);
}
c10::ScalarType dtype(const Body* b) { return type_of(b->handle); }
c10::Device device(const Body* b) {
  if (emulator.on) return b->host ? c10::Device(c10::kCPU) : c10::Device(c10::kCUDA, 0);
  int32_t type = 0, index = 0;
  checked(aoti_torch_get_device_type(b->handle, &type));
  checked(aoti_torch_get_device_index(b->handle, &index));
  return c10::Device(static_cast<c10::DeviceType>(type), type ? index : -1);
}
int64_t storage_offset(const Body* b) {
  int64_t n = 0;
  checked(aoti_torch_get_storage_offset(b->handle, &n));
  return n;
}
bool is_contiguous(const Body* b, c10::MemoryFormat format) {
  int64_t n = dim(b), expected = 1;
  const int64_t *size = sizes(b), *stride = strides(b);
  static const int orders[3][5] = {{}, {1, 3, 2, 0}, {1, 4, 3, 2, 0}};
  int which = format == c10::MemoryFormat::ChannelsLast ? 1 : format == c10::MemoryFormat::ChannelsLast3d ? 2 : 0;
  if (which && n != which + 3) return false;
  if (!numel(b)) return true;
  for (int64_t k = 0; k < n; ++k) {
    int64_t i = which ? orders[which][k] : n - 1 - k;
    if (size[i] != 1 && stride[i] != expected) return false;
    expected *= size[i];
  }
  return true;
}
bool is_same(const Body* a, const Body* b) {
  void *p = nullptr, *q = nullptr;
  if (numel(a) != numel(b) || dim(a) != dim(b) || dtype(a) != dtype(b)) return false;
  checked(aoti_torch_get_data_ptr(a->handle, &p));
  checked(aoti_torch_get_data_ptr(b->handle, &q));
  return p == q && std::equal(sizes(a), sizes(a) + dim(a), sizes(b)) && std::equal(strides(a), strides(a) + dim(a), strides(b));
}

// ---- memory under emulation ----
std::string shape_text(const int64_t* size, int64_t n) {
  std::string s = "tensor of shape [";
  for (int64_t i = 0; i < n; ++i) s += (i ? ", " : "") + std::to_string(size[i]);
  return s + "]";
}
// Kernels may touch what the tensor's elements span. Overlapping tensors are one range: the emulator knows disjoint ones.
void register_memory(Handle handle, const char* name) {
  Body view{handle, false, 1};
  if (!numel(&view)) return;
  void* data = nullptr;
  checked(aoti_torch_get_data_ptr(handle, &data));
  size_t itemsize = c10::elementSize(type_of(handle));
  int64_t last = 0, n = dim(&view);
  const int64_t *size = sizes(&view), *stride = strides(&view);
  for (int64_t i = 0; i < n; ++i) last += (size[i] - 1) * stride[i];
  Range r{static_cast<char*>(data), static_cast<char*>(data) + (static_cast<size_t>(last) + 1) * itemsize, itemsize, name ? name : ""};
  size_t bytes = static_cast<size_t>(r.high - r.low);
  if (emulator.holds(r.low, bytes)) {
    if (name) emulator.remember(name, r.low, bytes, itemsize);
    return;
  }
  for (const Range& known : ranges)
    if (r.low >= known.low && r.high <= known.high) return;
  for (size_t i = 0; i < ranges.size();) {
    Range& known = ranges[i];
    if (r.low < known.high && known.low < r.high) {
      r.low = std::min(r.low, known.low), r.high = std::max(r.high, known.high);
      r.itemsize = std::min(r.itemsize, known.itemsize);
      if (r.name.empty()) r.name = known.name;
      emulator.forget(known.low);
      ranges.erase(ranges.begin() + static_cast<long>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  if (r.name.empty()) r.name = shape_text(size, n);
  emulator.remember(r.name.c_str(), r.low, static_cast<size_t>(r.high - r.low), r.itemsize);
  ranges.push_back(r);
}
void forget_memory() {
  for (const Range& r : ranges) emulator.forget(r.low);
  ranges.clear();
}

void* data(const Body* b) {
  void* p = nullptr;
  checked(aoti_torch_get_data_ptr(b->handle, &p));
  if (emulator.on && !b->host) register_memory(b->handle, nullptr);
  return p;
}

static void free_guarded(void* p, void*) { emulator.free(p); }

static Handle allocate(c10::IntArrayRef sizes, c10::ScalarType type, c10::Device device) {
  std::vector<int64_t> stride(sizes.size());
  int64_t count = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    TORCH_CHECK(sizes[i] >= 0, "Trying to create tensor with negative dimension ", sizes[i], ": ", sizes);
    stride[i] = count;
    count *= std::max<int64_t>(sizes[i], 1);
  }
  for (int64_t s : sizes) count = s ? count : 0;
  auto n = static_cast<int64_t>(sizes.size());
  Handle h = nullptr;
  size_t bytes = static_cast<size_t>(count) * c10::elementSize(type);
  if (emulator.on && device.is_cuda() && torch_from_blob && bytes) {
    // Memory with inaccessible pages on both sides; filled with NaN, as fresh device memory may hold anything.
    std::string name = shape_text(sizes.data(), n);
    void* p = emulator.allocate(bytes, c10::elementSize(type), emulator.alignment, 0, name.c_str());
    TORCH_CHECK(p != nullptr, "CUDA out of memory. Tried to allocate ", bytes, " bytes");
    memset(p, 0xff, bytes);
    checked(torch_from_blob(p, n, sizes.data(), stride.data(), 0, static_cast<int32_t>(type), 0, -1, &h, 0, nullptr, 0, free_guarded, nullptr));
    return h;
  }
  int index = device.is_cuda() ? device.index() : 0;
  if (!emulator.on && device.is_cuda() && index < 0) {
    static auto* current = reinterpret_cast<int (*)(int32_t*)>(dlsym(RTLD_DEFAULT, "aoti_torch_get_current_device_index"));
    int32_t i = 0;
    if (current && !current(&i)) index = i;
    else index = 0;
  }
  checked(aoti_torch_empty_strided(n, sizes.data(), stride.data(), static_cast<int32_t>(type), emulator.on ? 0 : static_cast<int32_t>(device.type()), index, &h));
  if (emulator.on && device.is_cuda() && bytes) {
    void* p = nullptr;
    checked(aoti_torch_get_data_ptr(h, &p));
    memset(p, 0xff, bytes);
  }
  return h;
}

Body* empty(c10::IntArrayRef sizes, const c10::TensorOptions& o, bool zeroed) {
  bool plain = !o.requires_grad_set() && !o.pinned_memory_set() && o.layout() == c10::kStrided;
  auto format = o.memory_format_opt();
  if (!plain || (format && *format != c10::MemoryFormat::Contiguous && *format != c10::MemoryFormat::Preserve)) {
    Value v[] = {sizes, o};
    return call(zeroed ? "zeros" : "empty", v, 2);
  }
  Body* b = adopt(allocate(sizes, o.has_dtype() ? o.dtype().toScalarType() : c10::kFloat, o.device()), !o.device().is_cuda());
  if (zeroed) zero(b);
  return b;
}
void zero(Body* b) { checked(aoti_torch_zero_(b->handle)); }

Body* contiguous(Body* b, c10::MemoryFormat format) {
  if (is_contiguous(b, format)) {
    retain(b);
    return b;
  }
  if (format != c10::MemoryFormat::Contiguous || attribute(b, "requires_grad")) {
    at::Tensor t = at::Tensor::own((retain(b), b));
    Value v[] = {t, format};
    return call("contiguous", v, 2);
  }
  Body* out = adopt(allocate(c10::IntArrayRef(sizes(b), static_cast<size_t>(dim(b))), dtype(b), device(b)), b->host);
  checked(aoti_torch_copy_(out->handle, b->handle, 0));
  return out;
}

Body* from_blob(void* data, c10::IntArrayRef sizes, const int64_t* strides, const c10::TensorOptions& o, void (*deleter)(void*, void*), void* context) {
  std::vector<int64_t> stride(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0; step *= sizes[i]) stride[i] = step;
  if (strides) stride.assign(strides, strides + sizes.size());
  auto type = static_cast<int32_t>(o.has_dtype() ? o.dtype().toScalarType() : c10::kFloat);
  auto n = static_cast<int64_t>(sizes.size());
  bool on_device = o.device().is_cuda() && !emulator.on;
  int index = on_device ? std::max<int>(o.device().index(), 0) : -1;
  Handle h = nullptr;
  if (deleter) {
    TORCH_CHECK(torch_from_blob != nullptr, "from_blob with a deleter needs torch 2.11");
    checked(torch_from_blob(data, n, sizes.data(), stride.data(), 0, type, on_device ? 1 : 0, index, &h, 0, nullptr, 0, deleter, context));
  } else {
    checked(aoti_torch_create_tensor_from_blob(data, n, sizes.data(), stride.data(), 0, type, on_device ? 1 : 0, index, &h));
  }
  return adopt(h, !o.device().is_cuda());
}
Body* from_values(const void* values, size_t count, c10::ScalarType type, const c10::TensorOptions& o, bool scalar) {
  int64_t n = static_cast<int64_t>(count);
  bool is_double = type == c10::kDouble && !o.has_dtype();  // literals of floating point become the default type
  Body* host = adopt(allocate(scalar ? c10::IntArrayRef() : c10::IntArrayRef(&n, 1), type, c10::kCPU), true);
  void* p = nullptr;
  checked(aoti_torch_get_data_ptr(host->handle, &p));
  if (count) memcpy(p, values, count * c10::elementSize(type));
  at::Tensor t = at::Tensor::own(host);
  c10::TensorOptions wanted = o.has_dtype() ? o : o.dtype(is_double ? c10::kFloat : type);
  Value v(wanted);
  return convert(t.unsafe_body(), &v, 1);
}

const char* const names[] = {"Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool", "QInt8", "QUInt8", "QInt32", "BFloat16",
                             "QUInt4x2", "QUInt2x4", "Bits1x8", "Bits2x4", "Bits4x2", "Bits8", "Bits16", "Float8_e5m2", "Float8_e4m3fn", "Float8_e5m2fnuz", "Float8_e4m3fnuz", "UInt16", "UInt32", "UInt64"};
const unsigned char widths[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 4, 8};

// Device functions of builds with CUDA live in a library that the glue is not linked to.
template <class F>
static F find_cuda(const char* name) {
  static void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
}
void* current_stream(int device) {
  static auto get = find_cuda<int (*)(int32_t, void**)>("aoti_torch_get_current_cuda_stream");
  void* s = nullptr;
  if (get && !emulator.on) checked(get(device, &s));
  return s;
}
void* stream_from_pool(bool high, int device) {
  static auto get = find_cuda<int (*)(bool, int32_t, void**)>("torch_get_cuda_stream_from_pool");
  void* s = nullptr;
  if (emulator.on) return s;
  TORCH_CHECK(get != nullptr, "getStreamFromPool needs torch 2.10 with CUDA");
  checked(get(high, device, &s));
  return s;
}
void set_stream(void* stream, int device) {
  static auto set = find_cuda<int (*)(void*, int32_t)>("torch_set_current_cuda_stream");
  if (emulator.on) return;
  TORCH_CHECK(set != nullptr, "setCurrentCUDAStream needs torch 2.10 with CUDA");
  checked(set(stream, device));
}
}  // namespace light

namespace c10 {
const char* toString(ScalarType t) {
  auto i = static_cast<size_t>(t);
  return i < sizeof light::names / sizeof *light::names ? light::names[i] : "Undefined";
}
size_t elementSize(ScalarType t) {
  auto i = static_cast<size_t>(t);
  TORCH_CHECK(i < sizeof light::widths, "no element size of ", toString(t));
  return light::widths[i];
}
}  // namespace c10

// Called by Python once: the emulator's functions, in the order of Emulator.
extern "C" LIGHT_EXPORT void light_emulate(void* const* functions, size_t alignment) {
  using namespace light;
  emulator.on = functions != nullptr;
  emulator.alignment = alignment;
  if (!functions) return;
  emulator.allocate = reinterpret_cast<decltype(emulator.allocate)>(functions[0]);
  emulator.free = reinterpret_cast<decltype(emulator.free)>(functions[1]);
  emulator.remember = reinterpret_cast<decltype(emulator.remember)>(functions[2]);
  emulator.forget = reinterpret_cast<decltype(emulator.forget)>(functions[3]);
  emulator.holds = reinterpret_cast<decltype(emulator.holds)>(functions[4]);
}
