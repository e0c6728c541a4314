// Launches: limits of the real chip, knock-out modes, the record of completed launches.
#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "state.h"

namespace simt {

State S;
static std::recursive_mutex launch_lock;

struct Record {
  std::string kernel;
  unsigned grid[3], block[3];
  uint64_t shared_bytes;
  int completed;
  const void* address;
};
static std::vector<Record> records;
static const void* launched;
static uint64_t completed_launches;
constexpr size_t max_records = 65536;
constexpr int refused = 999;
constexpr uint64_t max_cooperative_threads = 24000;

const Region* find_broken_canary(int64_t* offset);
void note_region(Fault& f, const Region& r, int64_t offset);

static std::string base_name(const std::string& kernel) {
  size_t end = kernel.find('<');
  std::string s = kernel.substr(0, end);
  while (!s.empty() && (s.back() == ' ' || s.back() == '(')) s.pop_back();
  size_t start = s.find_last_of(":( ");
  return start == std::string::npos ? s : s.substr(start + 1);
}

// The template arguments in the compiler's description of a function: "... [with T = float; int N = 4]" -> "float, 4".
static std::string instance_of(const std::string& where) {
  size_t at = where.rfind(" [with ");
  if (at == std::string::npos) at = where.rfind(" [");
  if (at == std::string::npos) return "";
  std::string out, rest = where.substr(at, where.rfind(']') - at) + ";";
  for (size_t equals; (equals = rest.find(" = ")) != std::string::npos;) {
    size_t end = rest.find_first_of(";,", equals);
    out += (out.empty() ? "" : ", ") + rest.substr(equals + 3, end - equals - 3);
    rest = rest.substr(end);
  }
  return out;
}

// Static shared memory of the variables that a kernel itself declares (of a template whose instance is not known by
// name: of its largest).
uint64_t static_bytes(const Module& module, const std::string& kernel) {
  std::string wanted = base_name(kernel) + "(";
  std::string instance = kernel.find('<') == std::string::npos ? "" : kernel.substr(kernel.find('<') + 1, kernel.rfind('>') - kernel.find('<') - 1);
  std::map<std::string, uint64_t> largest, exact;
  for (SharedEntry* e = module.shared; e; e = e->next) {
    std::string where = e->where;
    size_t at = where.find(wanted);
    if (at == std::string::npos || (at && (isalnum(static_cast<unsigned char>(where[at - 1])) || where[at - 1] == '_'))) continue;
    uint64_t& v = largest[e->name];
    if (e->size > v) v = e->size;
    if (!instance.empty() && instance_of(where) == instance) exact[e->name] = e->size;
  }
  uint64_t sum = 0;
  for (auto& v : exact.empty() ? largest : exact) sum += v.second;
  return sum;
}

static KernelEntry* entry_of(const Module* module, const void* address) {
  for (KernelEntry* e = module->kernels; e; e = e->next)
    if (e->address == address) return e;
  return nullptr;
}

static std::map<const void*, uint64_t> dynamic_limits;

static std::string check_limits(const Module& module, const void* address, dim3 g, dim3 b, size_t shared, bool cooperative) {
  const Limits& l = S.limits;
  const unsigned bs[3] = {b.x, b.y, b.z}, gs[3] = {g.x, g.y, g.z};
  const char axis[] = "xyz";
  uint64_t threads = static_cast<uint64_t>(b.x) * b.y * b.z;
  for (int i = 0; i < 3; ++i) {
    if (!bs[i]) return std::string("block size 0 along ") + axis[i];
    if (!gs[i]) return std::string("grid size 0 along ") + axis[i];
    if (bs[i] > l.block[i]) return std::string("block size ") + std::to_string(bs[i]) + " along " + axis[i] + " exceeds " + std::to_string(l.block[i]);
    if (gs[i] > l.grid[i]) return std::string("grid size ") + std::to_string(gs[i]) + " along " + axis[i] + " exceeds " + std::to_string(l.grid[i]);
  }
  if (threads > l.threads_per_block) return std::to_string(threads) + " threads a block exceed " + std::to_string(l.threads_per_block);
  uint64_t fixed = static_bytes(module, S.kernel);
  if (fixed > l.shared_per_block) return std::to_string(fixed) + " bytes of static shared memory exceed " + std::to_string(l.shared_per_block);
  uint64_t allowed = l.shared_per_block;
  uint64_t raised = 0;
  for (auto& d : dynamic_limits)  // of a template launched by deduction only the instance is unknown: take the highest
    if (d.first == address || !address) raised = std::max(raised, d.second);
  if (raised && raised + fixed > allowed) allowed = std::min<uint64_t>(raised + fixed, l.shared_opt_in);
  if (shared + fixed > allowed)
    return std::to_string(shared + fixed) + " bytes of shared memory a block exceed " + std::to_string(allowed) +
           (shared + fixed <= l.shared_opt_in ? " (more needs the kernel's maximum dynamic shared memory raised)" : "");
  if (cooperative && threads * g.x * g.y * g.z > static_cast<uint64_t>(l.multiprocessors) * 2048) return "a cooperative launch of more threads than the device holds at once";
  return "";
}

static void shape_block(Block& block, dim3 b, unsigned lanes) {
  unsigned n = b.x * b.y * b.z;
  block.count = n;
  block.threads.resize(n);
  block.warps.resize((n + lanes - 1) / lanes);
  block.thread_data = block.threads.data();
  block.warp_data = block.warps.data();
  for (unsigned i = 0; i < n; ++i) {
    Thread& t = block.threads[i];
    t.index = {i % b.x, i / b.x % b.y, i / b.x / b.y};
    t.linear = static_cast<uint16_t>(i);
    t.lane = static_cast<uint16_t>(i % lanes);
    t.warp = static_cast<uint16_t>(i / lanes);
    t.wait = Wait::fresh;
    t.fiber = nullptr;
    t.block = &block;
  }
}

static void record(dim3 g, dim3 b, size_t shared, bool completed) {
  completed_launches += completed;
  if (records.size() < max_records) records.push_back({S.kernel, {g.x, g.y, g.z}, {b.x, b.y, b.z}, shared, completed, launched});
}

static int launch(Module* module, const void* address, dim3 grid, dim3 block, size_t shared_bytes, Body body, void* arguments, bool cooperative) {
  if (S.mode) {
    record(grid, block, shared_bytes, false);
    if (S.mode == 2) S.error = refused;
    return S.mode == 2 ? refused : 0;
  }
  if (S.fault.kind) return S.error = 719;
  S.module = module;
  S.block = nullptr;
  S.current = nullptr;
  std::string refusal = check_limits(*module, address, grid, block, shared_bytes, cooperative);
  if (!refusal.empty()) {
    raise_fault(launch_limit, refusal, nullptr, nullptr);
    return S.error = 9;
  }
  static Block single;
  static std::vector<Block> many;
  std::vector<Block*> blocks;
  S.cooperative = cooperative;
  if (cooperative) {
    uint64_t n = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
    if (n * block.x * block.y * block.z > max_cooperative_threads) {
      raise_fault(static_cast<FaultKind>(100), "a cooperative launch of more than " + std::to_string(max_cooperative_threads) + " threads", nullptr, nullptr);
      return S.error = 801;
    }
    many.clear();
    many.resize(n);
    for (Block& b : many) blocks.push_back(&b), shape_block(b, block, module->lanes);
  } else {
    blocks.push_back(&single);
    shape_block(single, block, module->lanes);
  }
  S.grid_dim = grid;
  S.block_dim = block;
  *module->grid_dim = grid;
  *module->block_dim = block;
  S.body = body;
  S.arguments = arguments;
  S.dynamic.size = shared_bytes;
  S.dynamic.base = dynamic_base(shared_bytes);
  S.dynamic.kind = Kind::shared;
  S.dynamic.name = "dynamic shared memory";
  *module->dynamic_shared = S.dynamic.base;
  S.checking = module->check != 0;
  if (S.checking) check_launch_start();
  {
    FatalScope scope;
    if (!sigsetjmp(S.escape, 1)) {
      S.in_kernel = true;
      run_blocks(blocks);
      if (S.checking) settle_uninitialised();
    } else {
      reset_fibers();
    }
    S.in_kernel = false;
  }
  S.current = nullptr;
  if (!S.fault.kind && !S.checking) {
    int64_t offset = 0;
    if (const Region* r = find_broken_canary(&offset)) {
      S.block = nullptr;
      raise_fault(out_of_bounds_write, "bytes just outside '" + r->name + "' (" + std::to_string(r->size) + " bytes) have been written", nullptr, nullptr);
      note_region(S.fault, *r, offset);
    }
  }
  S.block = nullptr;
  record(grid, block, shared_bytes, !S.fault.kind);
  return S.fault.kind ? S.error = 700 : 0;
}

void note_region(Fault& f, const Region& r, int64_t offset) {
  snprintf(f.argument, sizeof f.argument, "%s", r.name.c_str());
  f.byte_offset = offset;
  f.has_offset = 1;
}

}  // namespace simt

using namespace simt;

// Told before and after each launch that runs, on the thread that set it only: another one may be waited for by code
// that holds what the observer needs. Never called with the lock held.
static void (*observer)(int begins, const char* kernel, const void* arguments, size_t bytes);
static pthread_t observing;
static size_t argument_bytes;

SIMT_PUBLIC void simt_observe(void (*told)(int, const char*, const void*, size_t)) {
  observer = told;
  observing = pthread_self();
}

// Told of each copy and each fill (without `from`) that host code asks for, on the thread that set it only, and makes it.
static void (*mover)(void* to, const void* from, size_t bytes, int kind_or_value);
static pthread_t moving;

SIMT_PUBLIC void simt_observe_copies(void (*made)(void*, const void*, size_t, int)) {
  mover = made;
  moving = pthread_self();
}
SIMT_PUBLIC void simt_copy(void* to, const void* from, size_t n, int kind) {
  if (n && from && mover && pthread_equal(moving, pthread_self())) mover(to, from, n, kind);
  else memmove(to, from, n);
}
SIMT_PUBLIC void simt_fill(void* to, int value, size_t n) {
  if (n && mover && pthread_equal(moving, pthread_self())) mover(to, nullptr, n, value & 0xff);
  else memset(to, value, n);
}

SIMT_PUBLIC int simt_launch(Module* module, const char* name, const void* address, dim3 grid, dim3 block, size_t shared_bytes, Body body, void* arguments, int cooperative) {
  if (S.in_kernel) fail_at(static_cast<FaultKind>(100), "a kernel launched from a kernel (dynamic parallelism)", __builtin_return_address(0));
  auto* told = !S.mode && !S.fault.kind && observer && pthread_equal(observing, pthread_self()) ? observer : nullptr;
  if (told) told(1, name, arguments, argument_bytes);
  int code;
  {
    std::lock_guard<std::recursive_mutex> hold(launch_lock);
    S.kernel = name;
    launched = address;
    code = launch(module, address, grid, block, shared_bytes, body, arguments, cooperative != 0);
  }
  if (told) told(0, name, arguments, argument_bytes);
  return code;
}

SIMT_PUBLIC void* simt_argument_block(size_t bytes) {
  static void* block;
  static size_t capacity;
  argument_bytes = bytes;
  if (bytes > capacity) {
    free(block);
    capacity = bytes + 4096;
    block = aligned_alloc(64, (capacity + 63) & ~size_t(63));
  }
  return block;
}

SIMT_PUBLIC int simt_launch_entry(Module* module, KernelEntry* entry, const unsigned* dims, size_t shared_bytes, void** values, int cooperative) {
  void* block = simt_argument_block(entry->arguments_size);
  entry->pack(entry->address, block, values);
  return simt_launch(module, entry->name, entry->address, dim3(dims[0], dims[1], dims[2]), dim3(dims[3], dims[4], dims[5]), shared_bytes, entry->body, block, cooperative);
}

SIMT_PUBLIC int simt_launch_address(Module* module, const void* kernel, dim3 grid, dim3 block, void** values, size_t shared_bytes, int cooperative) {
  KernelEntry* entry = entry_of(module, kernel);
  if (!entry) {
    S.kernel = "?";
    if (!S.fault.kind) raise_fault(static_cast<FaultKind>(100), "a launch by address of a template kernel", nullptr, nullptr);
    return S.error = 98;
  }
  const unsigned dims[6] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  return simt_launch_entry(module, entry, dims, shared_bytes, values, cooperative);
}

SIMT_PUBLIC void simt_set_dynamic_limit(Module*, const void* kernel, uint64_t bytes) { dynamic_limits[kernel] = bytes; }
SIMT_PUBLIC uint64_t simt_static_bytes(Module* module, const char* kernel) { return static_bytes(*module, kernel); }
SIMT_PUBLIC unsigned simt_dynamic_bytes() { return static_cast<unsigned>(S.dynamic.size); }
// The code of a refusal that the host code has not read is no error of the launches after it.
SIMT_PUBLIC void simt_set_mode(int mode) {
  if (S.mode == 2 && mode != 2 && S.error == refused) S.error = 0;
  S.mode = mode;
}
SIMT_PUBLIC uint64_t simt_completed() { return completed_launches; }
SIMT_PUBLIC size_t simt_record_count() { return records.size(); }
SIMT_PUBLIC uint64_t simt_switches() { return S.switches; }
SIMT_PUBLIC void simt_forget_records() {
  records.clear();
  completed_launches = 0;
}
SIMT_PUBLIC int simt_record_at(size_t i, const char** kernel, unsigned* dims, uint64_t* shared_bytes) {
  if (i >= records.size()) return -1;
  const Record& r = records[i];
  *kernel = r.kernel.c_str();
  for (int k = 0; k < 3; ++k) dims[k] = r.grid[k], dims[3 + k] = r.block[k];
  *shared_bytes = r.shared_bytes;
  return r.completed;
}
SIMT_PUBLIC const void* simt_record_address(size_t i) { return i < records.size() ? records[i].address : nullptr; }

SIMT_PUBLIC void simt_set_limits(const unsigned* v, uint64_t shared, uint64_t opt_in, double seconds) {
  Limits& l = S.limits;
  l.threads_per_block = v[0];
  for (int i = 0; i < 3; ++i) l.block[i] = v[1 + i], l.grid[i] = v[4 + i];
  l.multiprocessors = v[7], l.major = v[8], l.minor = v[9];
  l.shared_per_block = shared;
  l.shared_opt_in = opt_in;
  l.seconds = seconds;
}

SIMT_PUBLIC int simt_device_limit(int which) {
  const Limits& l = S.limits;
  const uint64_t values[] = {l.threads_per_block, l.shared_per_block, l.shared_opt_in, l.multiprocessors, l.major, l.minor};
  return which >= 0 && which < 6 ? static_cast<int>(values[which]) : 0;
}

SIMT_PUBLIC int simt_error(int action, int value) {
  int old = S.error;
  if (action == 1) S.error = value;
  if (action == 0 && !S.fault.kind) S.error = 0;
  return old;
}

SIMT_PUBLIC const char* simt_error_text(int code) {
  switch (code) {
    case 0: return "no error";
    case 1: return "invalid argument";
    case 2: return "out of memory";
    case 9: return "invalid configuration argument";
    case 98: return "invalid device function";
    case 100: return "no CUDA-capable device is detected";
    case 101: return "invalid device ordinal";
    case 700: return "an illegal memory access was encountered";
    case 719: return "unspecified launch failure";
    case 801: return "operation not supported";
    default: return "unknown error";
  }
}
