// What the check-mode hooks share.
#pragma once
#include "state.h"

namespace simt {

struct Span {  // from this stamp on, that block ran
  uint32_t stamp;
  uint64_t block;
  uint3 index;
};
struct Release {
  uint32_t stamp;
  uint64_t block;
  const void* address;
};
struct PendingWrite {
  Region* region;
  const char* address;
  size_t size;
  Cell *first, *last;
  const char* other;
  uint32_t stamp;
  uint16_t thread;
  const void* pc;
  char before[16];
};
struct PendingRead {
  Region* region;
  const char* address;
  size_t size;
  uint32_t stamp;
  uint16_t thread;
  const void* pc;
};

struct Unwritten {
  bool active;
  std::string name;
  int64_t offset;
  size_t size;
  const void* pc;
  Thread thread;
  uint3 block;
};

void allocate_cells(Region& r);
void refine(Region& r, uint8_t shift);
void check_read(const char* p, size_t n, const void* pc);
void check_constant(const char* p, size_t n, const void* pc);
void check_alignment(const char* p, size_t n, const char* what, const void* pc);
void check_write(const char* p, size_t n, const void* pc);
void check_atomic(const char* p, size_t n, const void* pc);
void check_volatile(const char* p, size_t n, bool write, const void* pc);
void check_fence();
void find_module_regions();
void note_address(Fault& fault, const char* p);
std::string describe_address(const char* p, FaultKind* kind);

}  // namespace simt
