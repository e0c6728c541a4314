// Check mode: programs are compiled with -fsanitize=thread, whose library is not linked; these are the hooks that the
// instrumented code calls before every memory access. They check bounds exactly, and races and uninitialised shared
// memory per granule. A region's granule starts at its element size and is refined at the first smaller access, which
// keeps the records exact to the byte.
#include <sys/mman.h>

#include <algorithm>

#include "check.h"

namespace simt {

static Region* sites[4096];
static std::vector<Span> spans;
static std::vector<Release> releases;
static std::vector<const void*> acquired;
static uint32_t next_stamp = 1, fence_stamp;
static bool fenced;
static PendingWrite pending;
static std::vector<PendingRead> pending_reads;
static Unwritten unwritten;
// A plain read that the same thread follows up with an atomic operation on the same address is the guess of a
// compare-and-swap loop: wherever such a read is made, it is no race with atomic operations.
static const char* last_read;
static const void* last_read_pc;
static std::vector<const void*> guesses;

void clear_sites() { memset(sites, 0, sizeof sites); }

static void set_stamp(Block& b) {
  S.stamp = b.stamp = ++next_stamp;
  if (S.cooperative) spans.push_back({S.stamp, b.number, b.index});
}

void check_launch_start() {
  for (Region* r : S.shared) {
    if (r->cells) munmap(r->cells, r->cell_bytes);
    delete r;
  }
  S.shared.clear();
  for (SharedEntry* e = S.module->shared; e; e = e->next) {
    auto* r = new Region;
    r->base = e->base;
    r->size = e->size;
    r->redzone = e->redzone;
    r->kind = Kind::shared;
    r->shift = e->granule >= 8 ? 3 : e->granule >= 4 ? 2 : e->granule >= 2 ? 1 : 0;
    r->name = e->name;
    S.shared.push_back(r);
  }
  S.dynamic.shift = 2;
  // Allocated anew at the first access: this launch may have more dynamic shared memory than the last.
  if (S.dynamic.cells) munmap(S.dynamic.cells, S.dynamic.cell_bytes);
  S.dynamic.cells = nullptr;
  S.dynamic.cell_bytes = 0;
  find_module_regions();
  clear_sites();
  spans.clear();
  releases.clear();
  pending.size = 0;
  unwritten.active = false;
  pending_reads.clear();
  guesses.clear();
  last_read = nullptr;
  S.launch_stamp = ++next_stamp;
}

void check_block_start(Block& b) {
  if (unwritten.active) {
    settle_uninitialised();
    leave();
  }
  acquired.clear();
  fenced = false;
  set_stamp(b);
  b.first_stamp = S.stamp;
  if (!S.cooperative) spans.push_back({S.stamp, b.number, b.index});
}

void check_barrier() {
  if (unwritten.active) {
    settle_uninitialised();
    leave();
  }
  set_stamp(*S.block);
}

void stamp_grid() {
  S.launch_stamp = ++next_stamp;
  for (Block* b : S.blocks) {
    b->stamp = ++next_stamp;
    spans.push_back({b->stamp, b->number, b->index});
  }
  S.stamp = S.block->stamp;
}

static const Span& span_of(uint32_t stamp) {
  auto it = std::upper_bound(spans.begin(), spans.end(), stamp, [](uint32_t s, const Span& p) { return s < p.stamp; });
  return *(it == spans.begin() ? it : it - 1);
}

static inline bool other_block(uint32_t stamp) {
  if (!S.cooperative) return stamp < S.block->first_stamp;
  return span_of(stamp).block != S.block->number;
}

// Whether an access of another block at `stamp` happens before now: that block released (fence, then atomic) an
// address that this block has since acquired.
static bool handed_over(uint32_t stamp) {
  uint64_t block = span_of(stamp).block;
  auto it = std::lower_bound(releases.begin(), releases.end(), stamp, [](const Release& r, uint32_t s) { return r.stamp < s; });
  for (; it != releases.end() && it->block == block; ++it)
    if (std::find(acquired.begin(), acquired.end(), it->address) != acquired.end()) return true;
  return false;
}

static void synchronise(const void* p) {
  if (std::find(acquired.begin(), acquired.end(), p) == acquired.end() && acquired.size() < 64) acquired.push_back(p);
  if (fenced && releases.size() < (1u << 22)) releases.push_back({fence_stamp, S.block->number, p});
}

[[noreturn]] static void report_bounds(const char* p, size_t n, bool write, const void* pc) {
  FaultKind kind = write ? out_of_bounds_write : out_of_bounds_read;
  if (reinterpret_cast<uintptr_t>(p) < 65536) {
    raise_fault(null_pointer, std::string(write ? "write" : "read") + " through a null pointer", pc, S.current);
    leave();
  }
  Fiber* f = S.current->fiber;
  if (p >= f->base && p < f->base + 4096) {
    raise_fault(stack_overflow, "the thread's stack is exhausted: endless recursion or very large local arrays", pc, S.current);
    leave();
  }
  std::string where = describe_address(p, &kind);
  raise_fault(kind, std::string("out-of-bounds ") + (write ? "write" : "read") + " of " + std::to_string(n) + " bytes at " + where, pc, S.current);
  note_address(S.fault, p);
  leave();
}

[[noreturn]] static void report_race(const Region& r, const char* p, size_t n, const char* what, const char* other, uint32_t stamp, uint16_t thread, const void* pc) {
  std::string who;
  if (r.kind == Kind::global && other_block(stamp)) {
    who = "block " + describe(span_of(stamp).index) + ", " + describe_thread(*S.block, thread & thread_bits);
  } else {
    who = describe_thread(*S.block, thread & thread_bits) + " of the same block";
  }
  raise_fault(r.kind == Kind::shared ? race_shared : race_global,
              std::string(what) + " of " + std::to_string(n) + " bytes at byte offset " + std::to_string(p - r.base) + " of " + (r.kind == Kind::shared ? "shared " : "") + "'" +
                  r.name + "', " + other + " by " + who + " with nothing that orders the two",
              pc, S.current);
  snprintf(S.fault.argument, sizeof S.fault.argument, "%s", r.name.c_str());
  S.fault.byte_offset = p - r.base;
  S.fault.has_offset = 1;
  leave();
}

// A write that conflicts is harmless when it stores the value that is there already, as in "all threads set a flag".
static void settle() {
  PendingWrite w = pending;
  pending.size = 0;
  if (memcmp(w.address, w.before, w.size)) {
    for (Cell* c = w.first; c != w.last; ++c) {
      c->written = S.stamp;
      c->writer = S.current->linear;
    }
    report_race(*w.region, w.address, w.size, "write", w.other, w.stamp, w.thread, w.pc);
  }
}

void check_thread_stop() {
  last_read = nullptr;
  if (pending.size) settle();
  if (!pending_reads.empty()) {
    PendingRead r = pending_reads.front();
    pending_reads.clear();
    report_race(*r.region, r.address, r.size, "read", "changed by an atomic operation", r.stamp, r.thread, r.pc);
  }
}

static inline bool same_warp_ordered(uint16_t thread, uint16_t epoch, const Thread& me) {
  unsigned lanes = S.module->lanes;
  return (thread & thread_bits) / lanes == me.warp && epoch != static_cast<uint16_t>(S.block->warps[me.warp].epoch);
}

static __attribute__((noinline)) void slow_read(Region& r, Cell& c, const char* p, size_t n, const void* pc) {
  const Thread& me = *S.current;
  bool conflict = false;
  if (c.written == S.stamp) {
    bool foreign = (c.writer & thread_bits) != me.linear || (c.writer & many_lanes);
    conflict = foreign && !same_warp_ordered(c.writer, c.writer_epoch, me);
  } else if (r.kind == Kind::global && c.written >= S.launch_stamp && other_block(c.written)) {
    conflict = !handed_over(c.written);
  }
  if (!conflict) return;
  if (c.writer & was_atomic) {
    if (r.kind == Kind::shared && std::find(guesses.begin(), guesses.end(), pc) == guesses.end()) pending_reads.push_back({&r, p, n, c.written, c.writer, pc});
    return;
  }
  report_race(r, p, n, "read", "written", c.written, c.writer, pc);
}

static inline void read_cell(Region& r, Cell& c, const char* p, size_t n, const void* pc) {
  const Thread& me = *S.current;
  bool suspicious = r.kind == Kind::shared ? c.written == S.stamp : c.written >= S.launch_stamp;
  if (__builtin_expect(suspicious && !(c.written == S.stamp && (c.writer & (thread_bits | many_lanes)) == me.linear), 0)) slow_read(r, c, p, n, pc);
  uint16_t epoch = static_cast<uint16_t>(S.block->warps[me.warp].epoch);
  if (c.read != S.stamp) {
    bool earlier_block = r.kind == Kind::global && c.read >= S.launch_stamp && (other_block(c.read) || (c.reader & many_blocks));
    c.reader = static_cast<uint16_t>(me.linear | (earlier_block ? many_blocks : 0));
    c.read = S.stamp;
    c.reader_epoch = epoch;
  } else if ((c.reader & thread_bits) != me.linear || (c.reader & (many_lanes | many_warps))) {
    if ((c.reader & thread_bits) / S.module->lanes != me.warp) {
      c.reader |= many_warps;
    } else {
      c.reader |= many_lanes;
      c.reader_epoch = epoch;
    }
  } else {
    c.reader_epoch = epoch;
  }
}

// Returns whether the write conflicts, and with what.
static bool write_conflict(Region& r, Cell& c, const char** other, uint32_t* stamp, uint16_t* thread) {
  const Thread& me = *S.current;
  if (c.written == S.stamp ? (c.writer & thread_bits) != me.linear && !same_warp_ordered(c.writer, c.writer_epoch, me)
                           : r.kind == Kind::global && c.written >= S.launch_stamp && other_block(c.written) && !handed_over(c.written)) {
    *other = "also written", *stamp = c.written, *thread = c.writer;
    return true;
  }
  bool read_conflict = false;
  if (c.read == S.stamp) {
    bool same_warp = (c.reader & thread_bits) / S.module->lanes == me.warp;
    if (c.reader & many_warps) {
      read_conflict = true;
    } else if (c.reader & many_lanes) {
      read_conflict = !same_warp || c.reader_epoch == static_cast<uint16_t>(S.block->warps[me.warp].epoch);
    } else {
      read_conflict = (c.reader & thread_bits) != me.linear && !same_warp_ordered(c.reader, c.reader_epoch, me);
    }
  }
  if (!read_conflict && r.kind == Kind::global && c.read >= S.launch_stamp) read_conflict = (other_block(c.read) || (c.reader & many_blocks)) && !handed_over(c.read);
  if (read_conflict) *other = "also read", *stamp = c.read, *thread = c.reader;
  return read_conflict;
}

static inline Region* region_at(const char* p, size_t n, bool write, const void* pc) {
  if (__builtin_expect(pending.size != 0, 0)) settle();
  auto h = reinterpret_cast<uintptr_t>(pc);
  Region*& site = sites[(h ^ h >> 12) & 4095];
  Region* r = site;
  size_t offset = r ? static_cast<size_t>(p - r->base) : 0;
  if (__builtin_expect(!r || offset >= r->size || offset + n > r->size, 0)) {
    r = find_region(p, n);
    if (!r) report_bounds(p, n, write, pc);
    site = r;
    offset = static_cast<size_t>(p - r->base);
  }
  if (r->kind == Kind::ignored) return nullptr;
  if (__builtin_expect(((offset | n) & ((size_t(1) << r->shift) - 1)) != 0, 0)) {
    uint8_t shift = r->shift;
    while (shift && ((offset | n) & ((size_t(1) << shift) - 1))) --shift;
    refine(*r, shift);
  }
  if (__builtin_expect(!r->cells, 0)) {
    allocate_cells(*r);
    if (!r->cells) return nullptr;
  }
  return r;
}

static bool uninitialised(const Region& r, const Cell* c, const Cell* end) {
  if (r.kind != Kind::shared || S.cooperative) return false;
  for (; c != end; ++c)
    if (c->written >= S.block->first_stamp) return false;
  return true;
}

// A read of shared memory that nothing has written yet is a race when another thread writes it before the next
// barrier, else a read of uninitialised memory: decided at that barrier, or at any other fault that follows.
static void defer_uninitialised(const Region& r, const char* p, size_t n, const void* pc) {
  if (unwritten.active) return;
  unwritten = {true, r.name, p - r.base, n, pc, *S.current, S.block->index};
}

void settle_uninitialised() {
  if (!unwritten.active) return;
  unwritten.active = false;
  const Unwritten& u = unwritten;
  raise_fault(uninitialised_shared, "read of " + std::to_string(u.size) + " bytes at byte offset " + std::to_string(u.offset) + " of shared '" + u.name + "', which nothing has written in this block", u.pc, &u.thread);
  S.fault.block[0] = u.block.x, S.fault.block[1] = u.block.y, S.fault.block[2] = u.block.z;
  snprintf(S.fault.argument, sizeof S.fault.argument, "%s", u.name.c_str());
  S.fault.byte_offset = u.offset;
  S.fault.has_offset = 1;
}

void check_read(const char* p, size_t n, const void* pc) {
  Region* r = region_at(p, n, false, pc);
  if (!r) return;
  size_t offset = static_cast<size_t>(p - r->base);
  Cell *c = r->cells + (offset >> r->shift), *end = r->cells + ((offset + n) >> r->shift);
  if (r->kind == Kind::shared && c->written < S.block->first_stamp && uninitialised(*r, c, end)) defer_uninitialised(*r, p, n, pc);
  if (r->kind == Kind::shared) last_read = p, last_read_pc = pc;
  do read_cell(*r, *c, p, n, pc);
  while (++c != end);
}

void check_constant(const char* p, size_t n, const void* pc) {
  Region* r = region_at(p, n, false, pc);
  if (!r || r->kind != Kind::global) return;
  size_t offset = static_cast<size_t>(p - r->base);
  for (Cell *c = r->cells + (offset >> r->shift), *end = r->cells + ((offset + n) >> r->shift); c != end; ++c)
    if (c->written >= S.launch_stamp) report_race(*r, p, n, "read through the read-only cache", "written", c->written, c->writer, pc);
}

// Compilers call the hooks of aligned accesses where the type promises the alignment, of at most 8 bytes.
void check_alignment(const char* p, size_t n, const char* what, const void* pc) {
  const size_t align = n < 8 ? n : 8;
  auto address = reinterpret_cast<uintptr_t>(p);
  if (address % align == 0 || address < 65536) return;
  raise_fault(misaligned, std::string(what) + " of " + std::to_string(n) + " bytes at an address that is not a multiple of " + std::to_string(align), pc, S.current);
  note_address(S.fault, p);
  leave();
}

void check_write(const char* p, size_t n, const void* pc) {
  Region* r = region_at(p, n, true, pc);
  if (!r) return;
  size_t offset = static_cast<size_t>(p - r->base);
  Cell *first = r->cells + (offset >> r->shift), *end = r->cells + ((offset + n) >> r->shift);
  const Thread& me = *S.current;
  uint16_t epoch = static_cast<uint16_t>(S.block->warps[me.warp].epoch);
  const uint32_t low = r->kind == Kind::shared ? S.stamp : S.launch_stamp;
  for (Cell* c = first; c != end; ++c) {
    const char* other = nullptr;
    uint32_t stamp = 0;
    uint16_t thread = 0;
    if (__builtin_expect((c->written >= low || c->read >= low) && write_conflict(*r, *c, &other, &stamp, &thread), 0)) {
      if (n > sizeof pending.before) report_race(*r, p, n, "write", other, stamp, thread, pc);
      pending = {r, p, n, first, end, other, stamp, thread, pc, {}};
      memcpy(pending.before, p, n);
      return;
    }
  }
  for (Cell* c = first; c != end; ++c) {
    c->written = S.stamp;
    c->writer = me.linear;
    c->writer_epoch = epoch;
  }
}

void check_atomic(const char* p, size_t n, const void* pc) {
  Region* r = region_at(p, n, true, pc);
  if (!r) return;
  if (n & (n - 1) || reinterpret_cast<uintptr_t>(p) % n) {
    raise_fault(misaligned, "atomic operation of " + std::to_string(n) + " bytes at a misaligned address", pc, S.current);
    note_address(S.fault, p);
    leave();
  }
  size_t offset = static_cast<size_t>(p - r->base);
  Cell *first = r->cells + (offset >> r->shift), *end = r->cells + ((offset + n) >> r->shift);
  if (uninitialised(*r, first, end)) defer_uninitialised(*r, p, n, pc);
  const Thread& me = *S.current;
  if (last_read == p && std::find(guesses.begin(), guesses.end(), last_read_pc) == guesses.end()) guesses.push_back(last_read_pc);
  if (!pending_reads.empty()) pending_reads.erase(std::remove_if(pending_reads.begin(), pending_reads.end(), [&](const PendingRead& q) { return q.address == p; }), pending_reads.end());
  if (r->kind == Kind::global) synchronise(p);
  for (Cell* c = first; c != end; ++c) {
    bool plain_write = c->written && !(c->writer & was_atomic);
    if (plain_write && (c->written == S.stamp ? (c->writer & thread_bits) != me.linear && !same_warp_ordered(c->writer, c->writer_epoch, me)
                                              : r->kind == Kind::global && c->written >= S.launch_stamp && other_block(c->written) && !handed_over(c->written)))
      report_race(*r, p, n, "atomic operation", "also written (not atomically)", c->written, c->writer, pc);
    bool several = c->written == S.stamp && (c->writer & was_atomic) && ((c->writer & thread_bits) != me.linear || (c->writer & many_lanes));
    c->written = S.stamp;
    c->writer = static_cast<uint16_t>(me.linear | was_atomic | (several ? many_lanes : 0));
    c->writer_epoch = static_cast<uint16_t>(S.block->warps[me.warp].epoch);
  }
}

void check_volatile(const char* p, size_t n, bool write, const void* pc) {
  Region* r = region_at(p, n, write, pc);
  if (!r) return;
  if (r->kind == Kind::global) synchronise(p);
  if (!write) return;
  size_t offset = static_cast<size_t>(p - r->base);
  for (Cell *c = r->cells + (offset >> r->shift), *end = r->cells + ((offset + n) >> r->shift); c != end; ++c) {
    c->written = S.stamp;
    c->writer = static_cast<uint16_t>(S.current->linear | was_atomic);
    c->writer_epoch = static_cast<uint16_t>(S.block->warps[S.current->warp].epoch);
  }
}

void check_fence() {
  fenced = true;
  fence_stamp = S.stamp;
}

}  // namespace simt
