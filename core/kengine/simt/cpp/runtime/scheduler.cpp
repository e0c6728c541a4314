// Which thread runs next. Threads that can go on come first, then threads not yet started; a fiber whose thread has
// ended goes straight on with the next one, so that a kernel without synchronisation never switches stacks.
#include "state.h"

namespace simt {

static inline void activate(Thread* t) {
  S.current = t;
  *S.module->thread_index = t->index;
  t->wait = Wait::running;
  if (S.checking) {
    S.stack.base = t->fiber->base;
    S.stack.size = static_cast<size_t>(t->fiber->top - t->fiber->base);
  }
}

static inline Thread* pop_ready() {
  if (S.ready_head == S.ready.size()) return nullptr;
  Thread* t = S.ready[S.ready_head++];
  if (S.ready_head == S.ready.size()) {
    S.ready.clear();
    S.ready_head = 0;
  }
  return t;
}

static inline void begin_fresh(Fiber* self) {
  Block& b = *S.block;
  Thread* t = &b.threads[b.fresh++];
  t->fiber = self;
  t->early = false;
  activate(t);
}

static void start_block(Block& b) {
  const unsigned lanes = S.module->lanes;
  b.live = b.count;
  b.fresh = b.arrived = b.fell_off = 0;
  b.generation = 0;
  b.waiting.clear();
  for (size_t i = 0; i < b.warps.size(); ++i) {
    unsigned n = b.count - static_cast<unsigned>(i) * lanes;
    Warp& w = b.warps[i];
    w.live = n >= 64 ? ~0ull : (1ull << n) - 1;
    if (n > lanes) w.live = lanes == 64 ? ~0ull : (1ull << lanes) - 1;
    w.epoch = 0;
    for (unsigned k = 0; k < w.used; ++k) w.meetings[k]->arrived = 0, w.meetings[k]->mask = 0;
    w.used = 0;
  }
  *S.module->block_index = b.index;
  if (S.checking) check_block_start(b);
}

static uint3 block_at(uint64_t i) {
  return {static_cast<unsigned>(i % S.grid_dim.x), static_cast<unsigned>(i / S.grid_dim.x % S.grid_dim.y),
          static_cast<unsigned>(i / S.grid_dim.x / S.grid_dim.y)};
}

static bool advance_block() {
  uint64_t total = static_cast<uint64_t>(S.grid_dim.x) * S.grid_dim.y * S.grid_dim.z;
  if (S.cooperative || ++S.block->number >= total) return false;
  S.block->index = block_at(S.block->number);
  poison_shared(simt_dynamic_bytes());
  start_block(*S.block);
  return true;
}

static void release_barrier(Block& b) {
  b.arrived = 0;
  b.result[b.generation & 1] = b.accumulated;
  b.generation++;
  for (Thread* t : b.waiting) S.ready.push_back(t);
  b.waiting.clear();
  if (S.checking) check_barrier();
}

static void complete(Warp& w, Meeting& m) {
  m.met[m.generation & 1] = m.arrived;
  m.arrived = 0;
  m.generation++;
  w.epoch++;
}

static void wake(Block& b, Meeting& m, unsigned warp, uint64_t lanes) {
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    Thread& t = b.threads[warp * S.module->lanes + static_cast<unsigned>(__builtin_ctzll(rest))];
    if (t.wait == Wait::warp && t.meeting == &m) S.ready.push_back(&t);
  }
}

// Cooperative launches: another block that can run, made the current one.
static bool change_block() {
  if (!S.cooperative) return false;
  for (size_t k = 1; k <= S.blocks.size(); ++k) {
    Block* b = S.blocks[(S.block_cursor + k) % S.blocks.size()];
    bool released = false;
    for (Thread* t : S.grid_waiting_threads(b)) released |= t->line < 0;
    if (b->live && (b->fresh < b->count || released)) {
      if (b != S.block) {
        save_shared(*S.block);
        restore_shared(*b);
        S.block = b;
        S.block_cursor = (S.block_cursor + k) % S.blocks.size();
        *S.module->block_index = b->index;
      }
      S.release_grid(b);
      return true;
    }
  }
  return false;
}

static void report_stuck() {
  Block& b = *S.block;
  unsigned at_barrier = 0, at_warp = 0, at_grid = 0, ended = 0;
  Thread *first_warp = nullptr, *first = nullptr;
  for (unsigned i = 0; i < b.fresh; ++i) {
    Thread& t = b.threads[i];
    ended += t.wait == Wait::done;
    at_barrier += t.wait == Wait::barrier;
    at_grid += t.wait == Wait::grid;
    if (t.wait == Wait::warp) {
      at_warp++;
      if (!first_warp) first_warp = &t;
    }
    if (!first && t.wait != Wait::done) first = &t;
  }
  S.current = first_warp ? first_warp : first;
  char text[512];
  if (first_warp) {
    Meeting& m = *first_warp->meeting;
    uint64_t missing = m.mask & b.warps[first_warp->warp].live & ~m.arrived;
    snprintf(text, sizeof text,
             "a warp operation with mask 0x%llx waits for lanes 0x%llx that never take part (%u threads wait in warp "
             "operations, %u at __syncthreads, %u have ended)",
             static_cast<unsigned long long>(m.mask), static_cast<unsigned long long>(missing), at_warp, at_barrier, ended);
    fail_at(bad_shuffle_mask, text, nullptr, first_warp->line);
  }
  snprintf(text, sizeof text, "no thread can go on: %u wait at __syncthreads (line %d), %u at a grid-wide barrier, %u have ended", at_barrier,
           b.barrier_line, at_grid, ended);
  fail_at(deadlock, text, nullptr, first ? first->line : 0);
}

// Nothing is ready and nothing is left to start: let the lanes of maskless warp operations go on with whoever came,
// wake threads that yielded, turn to another block, or report that all of them wait for ever.
static void resolve_stuck() {
  Block& b = *S.block;
  bool released = false;
  for (size_t wi = 0; wi < b.warps.size(); ++wi) {
    Warp& w = b.warps[wi];
    Meeting* chosen = nullptr;
    for (unsigned k = 0; k < w.used; ++k) {
      Meeting* m = w.meetings[k];
      if (m->legacy && m->arrived && (!chosen || m->line < chosen->line)) chosen = m;
    }
    if (!chosen) continue;
    uint64_t lanes = chosen->arrived;
    complete(w, *chosen);
    wake(b, *chosen, static_cast<unsigned>(wi), lanes);
    released = true;
  }
  if (released) return;
  if (!S.yielded.empty()) {
    for (Thread* t : S.yielded) S.ready.push_back(t);
    S.yielded.clear();
    return;
  }
  if (change_block()) return;
  report_stuck();
}

static void wait_here() {
  Fiber* mine = S.current->fiber;
  if (S.checking) check_thread_stop();
  for (;;) {
    if (Thread* next = pop_ready()) {
      Fiber* to = next->fiber;
      activate(next);
      if (to != mine) {
        S.switches++;
        switch_fiber(mine, to);
      }
      return;
    }
    if (S.block->fresh < S.block->count) {
      S.switches++;
      switch_fiber(mine, take_fiber());
      return;
    }
    resolve_stuck();
  }
}

static inline void end_thread() {
  Thread* t = S.current;
  Block& b = *S.block;
  Warp& w = b.warps[t->warp];
  if (S.checking) check_thread_stop();
  t->wait = Wait::done;
  b.live--;
  w.live &= ~(1ull << t->lane);
  for (unsigned k = 0; k < w.used; ++k) {
    Meeting& m = *w.meetings[k];
    if (m.arrived && m.arrived == (m.mask & w.live)) {
      uint64_t lanes = m.arrived;
      complete(w, m);
      wake(b, m, t->warp, lanes);
    }
  }
  if (b.arrived) {
    if (!t->early && S.module->strict_exit) {
      char text[256];
      snprintf(text, sizeof text, "the thread ends while %u threads of its block wait at __syncthreads (line %d): not all threads reach it",
               b.arrived, b.barrier_line);
      t->wait = Wait::running;
      fail_at(barrier_divergence, text, nullptr, b.barrier_line);
    }
    if (b.arrived == b.live) release_barrier(b);
  } else if (!t->early) {
    b.fell_off++;
    b.fell_off_thread = t;
  }
  if (S.cooperative) S.end_in_grid();
}

void run_fiber(Fiber* self) {
  for (;;) {
    begin_fresh(self);
    S.body(S.arguments);
    S.pool.push_back(self);
    for (;;) {
      if (Thread* next = pop_ready()) {
        activate(next);
        S.switches++;
        switch_fiber(self, next->fiber);
        break;
      }
      if (S.block->fresh < S.block->count || (!S.block->live && advance_block())) {
        S.pool.pop_back();
        break;
      }
      if (!S.block->live && !change_block()) {
        S.current = nullptr;
        leave_to_launcher(self);
        break;
      }
      if (S.ready.empty() && S.block->fresh == S.block->count) resolve_stuck();
    }
  }
}

std::vector<Thread*>& State::grid_waiting_threads(Block* b) { return b->grid_waiters; }

void State::release_grid(Block* b) {
  for (Thread* t : b->grid_waiters)
    if (t->line < 0) ready.push_back(t);
  if (!b->grid_waiters.empty() && b->grid_waiters.front()->line < 0) b->grid_waiters.clear();
}

void State::open_grid() {
  grid_arrived = 0;
  for (Block* b : blocks)
    for (Thread* t : b->grid_waiters) t->line = -1;
  if (checking) stamp_grid();
}

void State::end_in_grid() {
  grid_live--;
  if (grid_arrived && grid_arrived == grid_live) open_grid();
}

void run_blocks(const std::vector<Block*>& blocks) {
  S.blocks = blocks;
  S.block_cursor = 0;
  S.ready.clear();
  S.ready_head = 0;
  S.yielded.clear();
  S.grid_arrived = 0;
  S.grid_live = 0;
  for (size_t i = blocks.size(); i-- > 0;) {
    S.block = blocks[i];
    S.block->number = i;
    S.block->index = block_at(i);
    S.block->grid_waiters.clear();
    S.grid_live += S.block->count;
    poison_shared(simt_dynamic_bytes());
    start_block(*S.block);
    if (S.cooperative) save_shared(*S.block);
  }
  enter_first(take_fiber());
}

}  // namespace simt

using namespace simt;

SIMT_PUBLIC int simt_next_thread() {
  Block& b = *S.block;
  Thread* t = S.current;
  Warp& w = b.warp_data[t->warp];
  if (__builtin_expect(!(b.arrived | w.used) && !S.checking && !S.cooperative && S.ready.empty() && b.fresh < b.count, 1)) {
    // No thread of the block waits for anything: what end_thread and begin_fresh come to.
    t->wait = Wait::done;
    b.live--;
    w.live &= ~(1ull << t->lane);
    if (!t->early) {
      b.fell_off++;
      b.fell_off_thread = t;
    }
    Thread* next = &b.thread_data[b.fresh++];
    next->fiber = t->fiber;
    next->early = false;
    next->wait = Wait::running;
    S.current = next;
    *S.module->thread_index = next->index;
    return 1;
  }
  end_thread();
  if (S.ready.empty() && S.block->fresh < S.block->count) {
    begin_fresh(S.current->fiber);
    return 1;
  }
  return 0;
}
