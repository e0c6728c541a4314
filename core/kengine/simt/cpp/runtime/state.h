// State of the one launch that runs at a time. The emulator is single-threaded: a launch holds a lock.
#pragma once
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../simt/abi.h"

#define SIMT_PUBLIC extern "C" __attribute__((visibility("default")))

namespace simt {

struct Fault {
  int kind;
  unsigned block[3], thread[3];
  int has_thread;
  int line;
  int64_t byte_offset;
  int has_offset;
  uint64_t pc;       // offset of the faulting instruction in its library, 0 if unknown
  char library[512];
  char file[256];
  char kernel[256];
  char argument[128];
  char message[768];
};

struct Fiber {
  void* sp = nullptr;
  char* base = nullptr;  // the guard page; the stack follows
  char* top = nullptr;
};

enum class Wait : uint8_t { fresh, running, ready, barrier, warp, grid, yielded, done };

struct Meeting {
  uint64_t mask = 0, arrived = 0, met[2] = {0, 0}, predicates[2] = {0, 0};
  uint64_t values[2][64];
  uint32_t generation = 0;
  int op = 0, line = 0;
  bool legacy = false;
};

struct Block;

struct Thread {
  uint3 index;
  uint16_t linear, lane, warp;
  Wait wait;
  bool early;
  Fiber* fiber;
  Meeting* meeting;
  Block* block;
  int line;
  const void* pc;
};

struct Warp {
  uint64_t live = 0;
  uint32_t epoch = 0;  // increments whenever lanes converge
  std::vector<Meeting*> meetings;
  unsigned used = 0;
};

struct Block {
  uint3 index;
  unsigned live = 0, fresh = 0, arrived = 0, count = 0;
  uint32_t generation = 0;
  int barrier_line = 0, op = 0, accumulated = 0, result[2] = {0, 0};
  unsigned fell_off = 0;
  const Thread* fell_off_thread = nullptr;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  Thread* thread_data = nullptr;  // of the two vectors, without their indirection
  Warp* warp_data = nullptr;
  std::vector<Thread*> waiting;
  std::vector<Thread*> grid_waiters;
  std::vector<char> saved_shared;  // shared memory of a block that is not the current one (cooperative launches)
  uint32_t first_stamp = 0;
  uint32_t stamp = 0;
  uint64_t number = 0;
};

enum class Kind : uint8_t { ignored, global, shared };

// One byte-exact record per granule: the last write and the last read(s), for race detection.
struct Cell {
  uint32_t written, read;            // stamps: a global clock that ticks at every barrier and block start
  uint16_t writer, reader;           // linear thread, and flags
  uint16_t writer_epoch, reader_epoch;  // warp epochs
};
constexpr uint16_t thread_bits = 0x3ff, many_lanes = 0x400, many_warps = 0x800, was_atomic = 0x1000, many_blocks = 0x2000;

struct Region {
  char* base = nullptr;
  size_t size = 0;
  Kind kind = Kind::ignored;
  uint8_t shift = 2;
  Cell* cells = nullptr;
  size_t cell_bytes = 0;
  size_t redzone = 0;
  std::string name;
  bool owned = false;           // allocated here, with guard pages
  char* mapping = nullptr;
  size_t mapping_size = 0;
};

struct Limits {
  unsigned threads_per_block = 1024, block[3] = {1024, 1024, 64}, grid[3] = {2147483647u, 65535, 65535};
  unsigned multiprocessors = 132, major = 9, minor = 0;
  uint64_t shared_per_block = 49152, shared_opt_in = 232448;
  double seconds = 60;
};

struct State {
  Module* module = nullptr;
  bool in_kernel = false;       // candidate device code is running
  bool checking = false;
  bool cooperative = false;
  Thread* current = nullptr;
  Block* block = nullptr;
  std::vector<Thread*> ready;
  size_t ready_head = 0;
  std::vector<Thread*> yielded;
  std::vector<Block*> blocks;
  size_t block_cursor = 0;
  unsigned grid_arrived = 0, grid_live = 0;
  Body body = nullptr;
  void* arguments = nullptr;
  dim3 grid_dim, block_dim;
  std::string kernel;
  std::vector<Fiber*> fibers, pool;
  void* launcher_sp = nullptr;
  sigjmp_buf escape;
  Fault fault{};
  int error = 0;
  int mode = 0;                 // 0 normal, 1 no-op, 2 raise
  Limits limits;
  uint64_t switches = 0;
  std::string output;           // device printf
  // check mode
  uint32_t stamp = 1, launch_stamp = 1;
  Region dynamic, stack;
  std::vector<Region*> shared, module_regions;

  // Cooperative launches: threads that wait for the whole grid; a negative line marks one that may go on.
  std::vector<Thread*>& grid_waiting_threads(Block* b);
  void release_grid(Block* b);
  void open_grid();
  void end_in_grid();
};

extern State S;

constexpr size_t page = 4096;

void raise_fault(FaultKind kind, const std::string& message, const void* pc, const Thread* thread);
[[noreturn]] void leave();
void locate(Fault& fault, const void* pc);
[[noreturn]] void fail_at(FaultKind kind, const std::string& message, const void* pc, int line = 0, const char* file = nullptr);
std::string describe(const uint3& v);
std::string describe_thread(const Block& block, unsigned linear);

void run_blocks(const std::vector<Block*>& blocks);

// fibers
Fiber* take_fiber();
void reset_fibers();
void switch_fiber(Fiber* from, Fiber* to);
void enter_first(Fiber* to);
void leave_to_launcher(Fiber* from);

// memory
Region* find_region(const char* p, size_t n);
Region* nearest_region(const char* p, int64_t* distance);
char* dynamic_base(size_t bytes);
void poison_shared(size_t dynamic_bytes);
void save_shared(Block& block);
void restore_shared(Block& block);
extern std::map<char*, Region*> allocations;

// check mode
void check_block_start(Block& block);
void check_thread_stop();
void check_barrier();
void check_launch_start();
void settle_uninitialised();
void stamp_grid();
void clear_sites();

struct FatalScope {  // signal handlers and the time budget, for the time of one launch
  FatalScope();
  ~FatalScope();
};

}  // namespace simt
