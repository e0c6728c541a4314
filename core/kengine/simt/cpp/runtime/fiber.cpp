// Fibers: one stack a thread, a guard page below each, a switch of a few instructions.
#include <sys/mman.h>

#include "state.h"
#if !defined(__x86_64__) || defined(SIMT_UCONTEXT)
#define SIMT_USE_UCONTEXT 1
#include <ucontext.h>
#endif

namespace simt {

constexpr size_t stack_bytes = 256 << 10;
constexpr size_t slab_fibers = 256;

void run_fiber(Fiber* self);

#ifdef SIMT_USE_UCONTEXT
struct Portable {
  ucontext_t context;
};
static ucontext_t launcher;
static void start(unsigned low, unsigned high) {
  run_fiber(reinterpret_cast<Fiber*>(static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 32));
}
static void prepare(Fiber* f) {
  if (!f->sp) f->sp = new Portable;
  auto* c = &static_cast<Portable*>(f->sp)->context;
  getcontext(c);
  c->uc_stack.ss_sp = f->base + page;
  c->uc_stack.ss_size = static_cast<size_t>(f->top - f->base) - page;
  c->uc_link = nullptr;
  auto value = reinterpret_cast<uintptr_t>(f);
  makecontext(c, reinterpret_cast<void (*)()>(start), 2, static_cast<unsigned>(value), static_cast<unsigned>(value >> 32));
}
void switch_fiber(Fiber* from, Fiber* to) { swapcontext(&static_cast<Portable*>(from->sp)->context, &static_cast<Portable*>(to->sp)->context); }
void enter_first(Fiber* to) { swapcontext(&launcher, &static_cast<Portable*>(to->sp)->context); }
void leave_to_launcher(Fiber* from) { swapcontext(&static_cast<Portable*>(from->sp)->context, &launcher); }
#else
extern "C" void simt_switch_stack(void** save, void* to) __attribute__((visibility("hidden")));
asm(R"(
.text
.hidden simt_switch_stack
.globl simt_switch_stack
.type simt_switch_stack,@function
simt_switch_stack:
 pushq %rbp
 pushq %rbx
 pushq %r12
 pushq %r13
 pushq %r14
 pushq %r15
 movq %rsp, (%rdi)
 movq %rsi, %rsp
 popq %r15
 popq %r14
 popq %r13
 popq %r12
 popq %rbx
 popq %rbp
 ret
.size simt_switch_stack, .-simt_switch_stack
.hidden simt_fiber_entry
.globl simt_fiber_entry
.type simt_fiber_entry,@function
simt_fiber_entry:
 movq %r12, %rdi
 call simt_fiber_start
 ud2
.size simt_fiber_entry, .-simt_fiber_entry
)");
extern "C" void simt_fiber_entry() __attribute__((visibility("hidden")));
extern "C" __attribute__((visibility("hidden"), used)) void simt_fiber_start(Fiber* f) { run_fiber(f); }
static void prepare(Fiber* f) {
  void** s = reinterpret_cast<void**>(f->top);
  *--s = nullptr;  // keeps the stack 16-byte aligned at the call
  *--s = nullptr;
  *--s = reinterpret_cast<void*>(simt_fiber_entry);
  *--s = nullptr;                     // rbp
  *--s = nullptr;                     // rbx
  *--s = f;                           // r12
  for (int i = 0; i < 3; ++i) *--s = nullptr;
  f->sp = s;
}
void switch_fiber(Fiber* from, Fiber* to) { simt_switch_stack(&from->sp, to->sp); }
void enter_first(Fiber* to) { simt_switch_stack(&S.launcher_sp, to->sp); }
void leave_to_launcher(Fiber* from) { simt_switch_stack(&from->sp, S.launcher_sp); }
#endif

static void add_slab() {
  size_t each = stack_bytes + page;
  char* memory = static_cast<char*>(mmap(nullptr, each * slab_fibers, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) fail_at(stack_overflow, "the machine has no memory left for thread stacks of this launch", nullptr);
  std::vector<Fiber*> fresh;
  for (size_t i = 0; i < slab_fibers; ++i) {
    auto* f = new Fiber;
    f->base = memory + i * each;
    mprotect(f->base, page, PROT_NONE);
    // Staggered tops: equal tops of all stacks would fall into the same cache sets.
    f->top = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(f->base + each - (S.fibers.size() % 29) * 128) & ~uintptr_t(63));
    prepare(f);
    S.fibers.push_back(f);
    fresh.push_back(f);
  }
  while (!fresh.empty()) {
    S.pool.push_back(fresh.back());
    fresh.pop_back();
  }
}

Fiber* take_fiber() {
  if (S.pool.empty()) add_slab();
  Fiber* f = S.pool.back();
  S.pool.pop_back();
  return f;
}

// After a fault the stacks hold half-run threads: start them all afresh.
void reset_fibers() {
  S.pool.clear();
  for (size_t i = S.fibers.size(); i-- > 0;) {
    prepare(S.fibers[i]);
    S.pool.push_back(S.fibers[i]);
  }
}

}  // namespace simt
