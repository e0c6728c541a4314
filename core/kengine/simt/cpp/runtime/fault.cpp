// Faults: what went wrong, where, and how to get back to the launcher.
#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "state.h"

namespace simt {

std::string describe(const uint3& v) { return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")"; }

std::string describe_thread(const Block& block, unsigned linear) { return "thread " + describe(block.threads[linear].index); }

static void copy_text(char* to, size_t room, const std::string& text) {
  size_t n = std::min(room - 1, text.size());
  memcpy(to, text.data(), n);
  to[n] = 0;
}

void locate(Fault& fault, const void* pc) {
  Dl_info info;
  if (!pc || !dladdr(pc, &info) || !info.dli_fname) return;
  copy_text(fault.library, sizeof fault.library, info.dli_fname);
  fault.pc = static_cast<uint64_t>(static_cast<const char*>(pc) - static_cast<const char*>(info.dli_fbase));
}

void raise_fault(FaultKind kind, const std::string& message, const void* pc, const Thread* thread) {
  Fault& f = S.fault;
  f = Fault{};
  f.kind = kind;
  copy_text(f.message, sizeof f.message, message);
  copy_text(f.kernel, sizeof f.kernel, S.kernel);
  if (S.block) f.block[0] = S.block->index.x, f.block[1] = S.block->index.y, f.block[2] = S.block->index.z;
  if (thread) {
    f.has_thread = 1;
    f.thread[0] = thread->index.x, f.thread[1] = thread->index.y, f.thread[2] = thread->index.z;
  }
  locate(f, pc);
}

void leave() {
  // Of a read of uninitialised shared memory and what it leads to, the cause is reported.
  if (S.checking && S.fault.kind != race_shared && S.fault.kind != race_global) settle_uninitialised();
  S.in_kernel = false;
  siglongjmp(S.escape, 1);
}

void fail_at(FaultKind kind, const std::string& message, const void* pc, int line, const char* file) {
  raise_fault(kind, message, pc, S.current);
  S.fault.line = line;
  if (file) copy_text(S.fault.file, sizeof S.fault.file, file);
  leave();
}

void note_address(Fault& f, const char* p) {
  int64_t offset = 0;
  Region* r = nearest_region(p, &offset);
  if (!r) return;
  copy_text(f.argument, sizeof f.argument, r->name);
  f.byte_offset = offset;
  f.has_offset = 1;
}

std::string describe_address(const char* p, FaultKind* kind) {
  int64_t offset = 0;
  Region* r = nearest_region(p, &offset);
  char text[256];
  if (!r) {
    snprintf(text, sizeof text, "address %p, far from every buffer", static_cast<const void*>(p));
    return text;
  }
  if (r->kind == Kind::shared) *kind = shared_out_of_bounds;
  snprintf(text, sizeof text, "byte offset %lld of %s'%s' (%zu bytes)", static_cast<long long>(offset), r->kind == Kind::shared ? "shared " : "", r->name.c_str(), r->size);
  return text;
}

#if defined(__x86_64__)
// Whether an instruction is one of the vector moves that trap on a misaligned address.
static bool is_aligned_move(const unsigned char* i) {
  for (int k = 0; k < 4 && (*i == 0x66 || *i == 0xf2 || *i == 0xf3 || (*i & 0xf0) == 0x40); ++k) ++i;
  if (i[0] == 0x0f) return i[1] == 0x28 || i[1] == 0x29 || i[1] == 0x6f || i[1] == 0x7f || i[1] == 0xe7 || i[1] == 0x2b;
  if (i[0] == 0xc5) return i[2] == 0x28 || i[2] == 0x29 || i[2] == 0x6f || i[2] == 0x7f || i[2] == 0xe7 || i[2] == 0x2b;
  if (i[0] == 0xc4) return i[3] == 0x28 || i[3] == 0x29 || i[3] == 0x6f || i[3] == 0x7f;
  if (i[0] == 0x62) return i[4] == 0x28 || i[4] == 0x29 || i[4] == 0x6f || i[4] == 0x7f;
  return true;  // an arithmetic instruction with a memory operand
}
#endif

static void on_signal(int signal_number, siginfo_t* info, void* context) {
  if (!S.in_kernel) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return;
  }
  const void* pc = nullptr;
  bool write = false, general_protection = false;
#if defined(__x86_64__)
  auto* u = static_cast<ucontext_t*>(context);
  pc = reinterpret_cast<const void*>(u->uc_mcontext.gregs[REG_RIP]);
  write = u->uc_mcontext.gregs[REG_ERR] & 2;
  general_protection = signal_number == SIGSEGV && info->si_code == SI_KERNEL;
#elif defined(__aarch64__)
  pc = reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#endif
  const char* p = static_cast<const char*>(info->si_addr);
  FaultKind kind = write ? out_of_bounds_write : out_of_bounds_read;
  std::string message;
  Fiber* f = S.current ? S.current->fiber : nullptr;
  bool addressed = false;
  if (signal_number == SIGFPE) {
    kind = division_by_zero;
    message = "integer division by zero";
  } else if (signal_number == SIGILL || signal_number == SIGTRAP) {
    kind = assert_failed;
    message = "the kernel executed a trap";
  } else if (signal_number != SIGSEGV && signal_number != SIGBUS) {
    kind = endless_loop;
    message = "the kernel has used its whole time budget of " + std::to_string(S.limits.seconds) + " s";
  } else if (f && p >= f->base && p < f->base + 4096) {
    kind = stack_overflow;
    message = "the thread's stack is exhausted: endless recursion or very large local arrays";
#if defined(__x86_64__)
  } else if (general_protection && is_aligned_move(static_cast<const unsigned char*>(pc))) {
    kind = misaligned;
    message = "a vector access at an address that is not a multiple of its size";
#endif
  } else if (general_protection) {
    message = "access through a wild pointer";
  } else if (reinterpret_cast<uintptr_t>(p) < 65536) {
    kind = null_pointer;
    message = std::string(write ? "write" : "read") + " through a null pointer";
  } else {
    addressed = true;
    message = std::string("out-of-bounds ") + (write ? "write" : "read") + " at " + describe_address(p, &kind);
  }
  raise_fault(kind, message, static_cast<const char*>(pc) + 1, S.current);  // one further, like a return address
  if (addressed) note_address(S.fault, p);
  leave();
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static struct sigaction previous[5], previous_timer;
static stack_t previous_stack;
static timer_t timer;
static bool timer_armed;

FatalScope::FatalScope() {
  static thread_local char* stack;
  constexpr size_t size = 64 << 10;
  if (!stack) stack = new char[size];
  stack_t s{};
  s.ss_sp = stack;
  s.ss_size = size;
  sigaltstack(&s, &previous_stack);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int i = 0; i < 5; ++i) sigaction(caught[i], &action, &previous[i]);
  sigaction(SIGRTMIN + 7, &action, &previous_timer);
  timer_armed = false;
  if (S.limits.seconds > 0) {
    struct sigevent event {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 7;
#ifdef sigev_notify_thread_id
    event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
#else
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
#endif
    if (!timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer)) {
      struct itimerspec when {};
      when.it_value.tv_sec = static_cast<time_t>(S.limits.seconds);
      when.it_value.tv_nsec = static_cast<long>((S.limits.seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9) + 1;
      timer_settime(timer, 0, &when, nullptr);
      timer_armed = true;
    }
  }
}

FatalScope::~FatalScope() {
  if (timer_armed) timer_delete(timer);
  for (int i = 0; i < 5; ++i) sigaction(caught[i], &previous[i], nullptr);
  sigaction(SIGRTMIN + 7, &previous_timer, nullptr);
  sigaltstack(&previous_stack, nullptr);
}

}  // namespace simt

using namespace simt;

SIMT_PUBLIC void simt_fail(int kind, const char* message, const char* file, int line) {
  fail_at(static_cast<FaultKind>(kind), message, __builtin_return_address(0), line, file);
}

SIMT_PUBLIC const Fault* simt_fault() { return S.fault.kind ? &S.fault : nullptr; }

SIMT_PUBLIC void simt_clear_fault() {
  S.fault.kind = 0;
  S.error = 0;
}
