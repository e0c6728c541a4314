// What threads wait for: barriers of the block and of the grid, and operations of a warp.
#include "state.h"

using namespace simt;

SIMT_PUBLIC void simt_early_exit() {
  if (S.in_kernel) S.current->early = true;
}

SIMT_PUBLIC int simt_barrier(int op, int predicate, int line) {
  if (!S.in_kernel) return 0;
  Block& b = *S.block;
  Thread* t = S.current;
  if (b.fell_off && S.module->strict_exit) {
    fail_at(barrier_divergence, "the thread waits at __syncthreads (line " + std::to_string(line) + ") which " + describe_thread(b, b.fell_off_thread->linear) + " has passed by and ended", nullptr, line);
  }
  if (!b.arrived) {
    b.barrier_line = line;
    b.op = op;
    b.accumulated = op == 1;
  } else if (b.barrier_line != line) {
    fail_at(barrier_divergence, "threads of one block wait at different __syncthreads: line " + std::to_string(b.barrier_line) + " and line " + std::to_string(line), nullptr, line);
  }
  if (op == 0) b.accumulated += predicate != 0;
  if (op == 1) b.accumulated = b.accumulated && predicate;
  if (op == 2) b.accumulated = b.accumulated || predicate;
  unsigned slot = b.generation & 1;
  if (++b.arrived == b.live) {
    if (S.checking) check_thread_stop();
    release_barrier(b);
  } else {
    t->wait = Wait::barrier;
    t->line = line;
    b.waiting.push_back(t);
    wait_here();
  }
  return b.result[slot];
}

SIMT_PUBLIC uint64_t simt_meet(uint64_t mask, uint64_t value, const uint64_t** values, int op, int legacy, int line) {
  Thread* t = S.current;
  Block& b = *S.block;
  Warp& w = b.warps[t->warp];
  const uint64_t bit = 1ull << t->lane;
  if (S.module->lanes == 32) mask &= 0xffffffffull;
  if (!(mask & bit)) {
    char text[160];
    snprintf(text, sizeof text, "the mask 0x%llx of a warp operation leaves out the calling lane %u", static_cast<unsigned long long>(mask), t->lane);
    fail_at(bad_shuffle_mask, text, __builtin_return_address(0), line);
  }
  Meeting* m = nullptr;
  for (unsigned k = 0; k < w.used && !m; ++k) {
    Meeting* c = w.meetings[k];
    if (c->mask == mask && c->legacy == (legacy != 0) && (!legacy || (c->op == op && c->line == line))) m = c;
  }
  if (!m) {
    if (w.used == w.meetings.size()) w.meetings.push_back(new Meeting);
    m = w.meetings[w.used++];
    m->mask = mask;
    m->arrived = 0;
    m->legacy = legacy != 0;
    m->op = op;
    m->line = line;
  }
  if (m->arrived & bit) fail_at(bad_shuffle_mask, "a lane meets itself in a warp operation", nullptr, line);
  if (m->arrived && m->op != op && !legacy)
    fail_at(bad_shuffle_mask, "lanes of one warp take part in different operations at the same time: line " + std::to_string(m->line) + " and line " + std::to_string(line), nullptr, line);
  unsigned slot = m->generation & 1;
  if (!m->arrived) {
    m->op = op;
    m->line = line;
  }
  m->values[slot][t->lane] = value;
  m->arrived |= bit;
  if (m->arrived == (mask & w.live)) {
    uint64_t lanes = m->arrived & ~bit;
    if (S.checking) check_thread_stop();
    complete(w, *m);
    wake(b, *m, t->warp, lanes);
  } else {
    t->wait = Wait::warp;
    t->meeting = m;
    t->line = line;
    wait_here();
  }
  *values = m->values[slot];
  return m->met[slot];
}

SIMT_PUBLIC void simt_yield() {
  if (!S.in_kernel) return;
  S.current->wait = Wait::yielded;
  S.yielded.push_back(S.current);
  wait_here();
}

SIMT_PUBLIC void simt_grid_sync(int line) {
  if (!S.cooperative) fail_at(deadlock, "a grid-wide barrier in a launch that is not cooperative: use cudaLaunchCooperativeKernel", nullptr, line);
  Thread* t = S.current;
  t->wait = Wait::grid;
  t->line = line;
  S.block->grid_waiters.push_back(t);
  S.grid_arrived++;
  if (S.checking) check_thread_stop();
  if (S.grid_arrived == S.grid_live) {
    S.open_grid();
    S.release_grid(S.block);
  }
  wait_here();
}

SIMT_PUBLIC int simt_in_kernel() { return S.in_kernel; }
