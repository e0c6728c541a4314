// Memory that kernels may touch: guarded allocations, registered foreign buffers, shared memory, module variables.
#include <sys/mman.h>

#include <mutex>

#include "state.h"

namespace simt {

std::map<char*, Region*> allocations;
static std::multimap<size_t, std::pair<char*, size_t>> pooled;
static size_t pooled_bytes;
static std::recursive_mutex lock;
constexpr size_t guard = 16 << 20, pool_limit = 256u << 20;
constexpr unsigned char canary = 0xa5;
constexpr size_t canary_before = 64;

static uint8_t shift_of(size_t itemsize) { return itemsize <= 1 ? 0 : itemsize < 4 ? 1 : itemsize < 8 ? 2 : 3; }

Region* find_region(const char* p, size_t n) {
  auto holds = [&](const Region& r) { return p >= r.base && n <= r.size && static_cast<size_t>(p - r.base) <= r.size - n; };
  if (holds(S.stack)) return &S.stack;
  if (holds(S.dynamic)) return &S.dynamic;
  for (Region* r : S.shared) {
    if (p >= r->base - r->redzone && p < r->base + r->size + r->redzone) return holds(*r) ? r : nullptr;
  }
  auto it = allocations.upper_bound(const_cast<char*>(p));
  if (it != allocations.begin() && holds(*(--it)->second)) return it->second;
  for (Region* r : S.module_regions)
    if (holds(*r)) return r;
  return nullptr;
}

// The region that an address most likely missed. An index that wrapped around in 32 bits lands a multiple of
// 4 Gi elements away: such an address belongs to the buffer whose neighbourhood it would be in without the wrap.
Region* nearest_region(const char* p, int64_t* distance) {
  constexpr uint64_t near = 64u << 20;
  Region* best = nullptr;
  uint64_t gap = ~0ull;
  auto consider = [&](Region* r, const char* at) {
    uint64_t d = at < r->base ? static_cast<uint64_t>(r->base - at) : at >= r->base + r->size ? static_cast<uint64_t>(at - (r->base + r->size)) + 1 : 0;
    if (r->kind == Kind::shared && d > (1u << 20)) return;
    if (d < gap) gap = d, best = r;
  };
  auto consider_all = [&](const char* at) {
    for (auto& a : allocations) consider(a.second, at);
    for (Region* r : S.shared) consider(r, at);
    if (S.dynamic.size) consider(&S.dynamic, at);
  };
  consider_all(p);
  for (int shift = 0; gap > near && shift <= 4; ++shift) {
    const int64_t wrap = int64_t(1) << (32 + shift);
    consider_all(p - wrap);
    if (gap > near) consider_all(p + wrap);
  }
  if (!best || gap > (1ull << 36)) return nullptr;
  *distance = p - best->base;
  return best;
}

// The arena of dynamic shared memory ends at an inaccessible page, so that an overrun faults even outside check mode.
char* dynamic_base(size_t bytes) {
  static char* arena;
  static size_t capacity;
  size_t rounded = (bytes + 127) & ~size_t(127);
  if (!arena || rounded > capacity) {
    capacity = (rounded > (256u << 10) ? rounded : (256u << 10));
    capacity = (capacity + page - 1) & ~(page - 1);
    arena = static_cast<char*>(mmap(nullptr, capacity + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) + guard;
    mprotect(arena, capacity, PROT_READ | PROT_WRITE);
  }
  return arena + capacity - rounded;
}

void poison_shared(size_t dynamic_bytes) {
  if (dynamic_bytes) memset(S.dynamic.base, 0xff, dynamic_bytes);
  for (SharedEntry* e = S.module->shared; e; e = e->next) memset(e->base, 0xff, e->size);
}

static size_t shared_total() {
  size_t total = S.dynamic.size;
  for (SharedEntry* e = S.module->shared; e; e = e->next) total += e->size;
  return total;
}

void save_shared(Block& block) {
  block.saved_shared.resize(shared_total());
  char* to = block.saved_shared.data();
  memcpy(to, S.dynamic.base, S.dynamic.size);
  to += S.dynamic.size;
  for (SharedEntry* e = S.module->shared; e; e = e->next) memcpy(to, e->base, e->size), to += e->size;
}

void restore_shared(Block& block) {
  S.stamp = block.stamp;
  if (block.saved_shared.empty()) return;
  const char* from = block.saved_shared.data();
  memcpy(S.dynamic.base, from, S.dynamic.size);
  from += S.dynamic.size;
  for (SharedEntry* e = S.module->shared; e; e = e->next) memcpy(e->base, from, e->size), from += e->size;
}

static void set_canaries(Region& r) {
  char* first = r.mapping + guard;
  char* last = r.mapping + r.mapping_size - guard;
  size_t before = std::min<size_t>(static_cast<size_t>(r.base - first), canary_before);
  memset(r.base - before, canary, before);
  memset(r.base + r.size, canary, static_cast<size_t>(last - (r.base + r.size)));
}

// Bytes between a buffer's end and its guard page: a write there is seen after the launch.
const Region* find_broken_canary(int64_t* offset) {
  for (auto& a : allocations) {
    Region& r = *a.second;
    if (!r.owned) continue;
    char* last = r.mapping + r.mapping_size - guard;
    for (char* p = r.base + r.size; p < last; ++p)
      if (static_cast<unsigned char>(*p) != canary) {
        *offset = p - r.base;
        set_canaries(r);
        return &r;
      }
    char* first = r.mapping + guard;
    for (char* p = r.base - std::min<size_t>(static_cast<size_t>(r.base - first), canary_before); p < r.base; ++p)
      if (static_cast<unsigned char>(*p) != canary) {
        *offset = p - r.base;
        set_canaries(r);
        return &r;
      }
  }
  return nullptr;
}

static void drop_cells(Region* r) {
  if (r->cells) munmap(r->cells, r->cell_bytes);
  r->cells = nullptr;
}

}  // namespace simt

using namespace simt;

// A buffer of `bytes` whose base is `skew` bytes past a multiple of `align`, with inaccessible memory on both sides.
SIMT_PUBLIC void* simt_allocate_aligned(size_t bytes, size_t itemsize, size_t align, unsigned skew, const char* name) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  size_t body = (bytes + align + skew + page - 1) & ~(page - 1);
  size_t whole = body + 2 * guard;
  char* mapping = nullptr;
  auto it = pooled.find(whole);
  if (it != pooled.end()) {
    mapping = it->second.first;
    pooled_bytes -= body;
    pooled.erase(it);
  } else {
    mapping = static_cast<char*>(mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (mapping == MAP_FAILED) return nullptr;
    if (mprotect(mapping + guard, body, PROT_READ | PROT_WRITE)) {
      munmap(mapping, whole);
      return nullptr;
    }
  }
  uintptr_t end = reinterpret_cast<uintptr_t>(mapping + guard + body);
  auto* r = new Region;
  r->base = reinterpret_cast<char*>(((end - bytes - skew) & ~(uintptr_t(align) - 1)) + skew);
  r->size = bytes;
  r->kind = Kind::global;
  r->shift = shift_of(itemsize);
  r->name = name ? name : "";
  r->owned = true;
  r->mapping = mapping;
  r->mapping_size = whole;
  set_canaries(*r);
  allocations[r->base] = r;
  clear_sites();
  return r->base;
}

SIMT_PUBLIC void* simt_allocate(size_t bytes, size_t itemsize, unsigned skew, const char* name) {
  return simt_allocate_aligned(bytes, itemsize, 256, skew, name);
}

SIMT_PUBLIC int simt_free(void* p) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  auto it = allocations.find(static_cast<char*>(p));
  if (it == allocations.end()) return p ? 1 : 0;
  Region* r = it->second;
  allocations.erase(it);
  drop_cells(r);
  if (r->owned) {
    size_t body = r->mapping_size - 2 * guard;
    if (pooled_bytes + body <= pool_limit) {
      pooled.emplace(r->mapping_size, std::make_pair(r->mapping, r->mapping_size));
      pooled_bytes += body;
    } else {
      munmap(r->mapping, r->mapping_size);
    }
  }
  delete r;
  clear_sites();
  return 0;
}

SIMT_PUBLIC void simt_register_memory(const char* name, void* base, size_t bytes, size_t itemsize) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  if (!base || !bytes) return;
  char* first = static_cast<char*>(base);
  char* last = first + bytes;
  // Foreign memory that this covers in whole or in part has been freed and given out anew, unless it contains it.
  auto it = allocations.upper_bound(first);
  if (it != allocations.begin()) {
    Region* before = std::prev(it)->second;
    if (before->base + before->size >= last && (before->owned || before->base < first || before->size == bytes)) {
      if (before->base == first) before->name = name ? name : "";
      return;
    }
    if (!before->owned && before->base + before->size > first) simt_free(before->base);
  }
  for (it = allocations.lower_bound(first); it != allocations.end() && it->first < last; it = allocations.lower_bound(first)) {
    if (it->second->owned) break;
    simt_free(it->first);
  }
  auto* r = new Region;
  r->base = static_cast<char*>(base);
  r->size = bytes;
  r->kind = Kind::global;
  r->shift = shift_of(itemsize);
  r->name = name ? name : "";
  allocations[r->base] = r;
  clear_sites();
}

// Memory of our own that was registered under a name stays: it is freed by who has it.
SIMT_PUBLIC void simt_forget_memory(void* base) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  auto it = allocations.find(static_cast<char*>(base));
  if (it != allocations.end() && !it->second->owned) simt_free(base);
}

SIMT_PUBLIC int simt_holds_memory(const void* base, size_t bytes) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  auto it = allocations.upper_bound(static_cast<char*>(const_cast<void*>(base)));
  if (it == allocations.begin()) return 0;
  --it;
  const char* p = static_cast<const char*>(base);
  return it->second->owned && p >= it->second->base && p + bytes <= it->second->base + it->second->size;
}

SIMT_PUBLIC size_t simt_memory_count() { return allocations.size(); }

SIMT_PUBLIC int simt_memory_at(size_t index, const char** name, void** base, size_t* bytes) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  if (index >= allocations.size()) return 1;
  auto it = allocations.begin();
  std::advance(it, static_cast<long>(index));
  *name = it->second->name.c_str();
  *base = it->second->base;
  *bytes = it->second->size;
  return 0;
}
